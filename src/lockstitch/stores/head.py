"""Heads and views: what the model is shown, as references into the record.

Knows: a head lists runs of rows, rows with something put in their place, and messages that are in
no row (summaries); rows with higher numbers than it goes through simply follow. A view is a head
with what is known of its rows.

Must not know: payloads, what a model accepts (`showing`), why anything was cut (`cutting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from lockstitch.errors import CorruptRow, SchemaTooNew, StoreError
from lockstitch.facts import ASSISTANT, ASSISTANT_FACTS, USER, USER_FACTS, Facts
from lockstitch.plan.edits import Put
from lockstitch.stores.base import Reading, Stored, Version
from lockstitch.stores.codec import read_as, write
from lockstitch.stores.rows import Meta, read_meta

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "Entry",
    "Head",
    "Held",
    "Item",
    "Run",
    "Said",
    "Sizes",
    "View",
    "items_of",
    "ranges_of",
    "resized",
]

HEAD: Final = 1


class Run(msgspec.Struct, frozen=True, tag="run", tag_field="is", array_like=True):
    """Rows as they were recorded, from `first` to `last`."""

    first: int
    last: int


class Sizes(msgspec.Struct, frozen=True, array_like=True):
    """What a message comes to that is not as it was recorded."""

    chars: int | None = None
    tokens: int | None = None
    counter: str = ""


class Held(msgspec.Struct, frozen=True, tag="held", tag_field="is", array_like=True):
    """A row with things put in the place of parts of it, and without its reasoning if `bare`."""

    seq: int
    puts: tuple[Put, ...] = ()
    bare: bool = False
    reason: str = ""
    sizes: Sizes = Sizes()


class Said(msgspec.Struct, frozen=True, tag="said", tag_field="is", array_like=True):
    """A message that is in no row."""

    role: str
    text: str
    reason: str
    sizes: Sizes = Sizes()


Item = Run | Held | Said


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What a view begins with.

    Args:
        items: in the order in which they are shown.
        through: the rows up to this number are in `items` or out of the view.
        abandoned: rows whose calls nobody waits for any more.
        mark: tells it from any other, so that who wrote it knows it again.
        version: of this shape.
    """

    items: tuple[Item, ...] = ()
    through: int = 0
    abandoned: tuple[int, ...] = ()
    mark: str = ""
    version: int = HEAD

    @classmethod
    def read(cls, data: bytes, through: int) -> Head:
        """Read a head; nothing is the head of a view that was never cut.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote it.
            CorruptRow: it cannot be read.
        """
        if not data:
            return cls(through=through)
        try:
            found = read_as(data, cls)
        except ValueError as error:
            version = _version_of(data)
            if version > HEAD:
                raise SchemaTooNew(found=version, known=HEAD, where="the view") from None
            raise CorruptRow(f"the head of the view cannot be read: {error}") from None
        if found.version != HEAD:
            raise SchemaTooNew(found=found.version, known=HEAD, where="the view")
        return found

    def written(self) -> bytes:
        """Write it."""
        return write(self)


def _version_of(data: bytes) -> int:
    try:
        return read_as(data, _Versioned).version
    except ValueError:
        return 0


class _Versioned(msgspec.Struct):
    version: int


def ranges_of(items: Iterable[Item]) -> tuple[int, ...]:
    """Return the rows that items refer to: first, last, first, last.

    >>> ranges_of([Run(1, 2), Held(5), Said("user", "so far", "summary")])
    (1, 2, 5, 5)
    """
    found: list[int] = []
    for item in items:
        if isinstance(item, Run):
            found += (item.first, item.last)
        elif isinstance(item, Held):
            found += (item.seq, item.seq)
    return tuple(found)


class Entry(msgspec.Struct, frozen=True):
    """One message of a view.

    Args:
        seq: the number of its row; 0 for one that is in none.
        meta: what is known of it.
        item: how it is changed, where it is.
        stored: its row, as far as it was read.
    """

    seq: int
    meta: Meta
    item: Held | Said | None = None
    stored: Stored | None = None


class View(msgspec.Struct):
    """A view: the entries that the model may be shown, in order, and which version they are of.

    `damaged` lists the rows that are in the view and cannot be read, with the reason; `named` is
    the format of the session, empty while it holds plain text alone. `passed` are ranges of rows
    that are in the view and were passed over: no cut could keep them.
    """

    version: Version
    head: Head
    entries: list[Entry]
    damaged: dict[int, str]
    named: str = ""
    passed: tuple[tuple[int, int], ...] = ()
    totals: dict[tuple[str, str], int] = {}

    @classmethod
    def of(cls, reading: Reading, newest: int, format: str = "", *, since: int = 0) -> View:
        """Make the view that a whole reading shows.

        Args:
            reading: with its head.
            newest: the number of the newest row that there was.
            format: of the session, where it is known.
            since: leave the rows behind the head out that are older than this one.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote some of it.
        """
        if reading.version is None or reading.head is None:
            raise StoreError("the backend replied with no head where one was asked for")
        head = Head.read(reading.head, reading.through)
        view = cls(reading.version, head, [], {}, format)
        rows = {row.seq: row for row in reading.rows}
        for item in head.items:
            if isinstance(item, Said):
                view.entries.append(Entry(0, _meta_of(item), item))
            elif isinstance(item, Held):
                view.add(item.seq, rows.get(item.seq), item)
            else:
                for seq in range(item.first, item.last + 1):
                    view.add(seq, rows.get(seq))
        for seq in range(max(head.through, since - 1) + 1, newest + 1):
            view.add(seq, rows.get(seq))
        return view

    def add(self, seq: int, row: Stored | None, item: Held | None = None) -> None:
        """Add a row; one that cannot be read is put down as damaged."""
        if row is None or not row.meta:
            self.damaged[seq] = "it is not there"
            return
        try:
            meta = read_meta(row)
        except CorruptRow as error:
            self.damaged[seq] = error.why
            return
        if meta.format and meta.format != (self.named or meta.format):
            self.damaged[seq] = f"it is {meta.format}, and the session holds {self.named} messages"
            return
        self.named = self.named or meta.format
        if item is not None:
            meta = resized(meta, item.sizes)
        self._add_up((meta,))
        self.entries.append(Entry(seq, meta, item, None if row.payload is None else row))

    @property
    def format(self) -> str:
        """The format of its messages; of plain text alone, any will do."""
        return self.named or "openai-chat"

    def follow(self, version: Version, rows: Iterable[Stored]) -> None:
        """Grow by rows that follow."""
        for row in rows:
            self.add(row.seq, row)
        self.version = version

    def grow(self, version: Version, first: int, metas: Sequence[Meta]) -> None:
        """Grow by rows that were just appended."""
        self._add_up(metas)
        self.entries += [Entry(seq, meta) for seq, meta in enumerate(metas, first)]
        self.named = self.named or next((meta.format for meta in metas if meta.format), "")
        self.version = version

    def show(self, entries: list[Entry], abandoned: tuple[int, ...]) -> None:
        """Show other entries from now on."""
        self.entries = entries
        self.head = Head(through=self.head.through, abandoned=abandoned)
        self.totals = {}

    def size(self, unit: str, counter: str) -> int | None:
        """Return its tokens or characters, `None` where some entry was not counted."""
        found = self.totals.get((unit, counter))
        if found is None:
            sizes = [entry.meta.size(unit, counter) for entry in self.entries]
            found = _sum(sizes)
            if found is not None:
                self.totals[unit, counter] = found
        return found

    def _add_up(self, metas: Sequence[Meta]) -> None:
        """Keep the sums true while it grows: to add up all of it at each append would not be."""
        for (unit, counter), total in [*self.totals.items()]:
            more = _sum([meta.size(unit, counter) for meta in metas])
            if more is None:
                del self.totals[unit, counter]
            else:
                self.totals[unit, counter] = total + more


def _sum(sizes: list[int | None]) -> int | None:
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


def _meta_of(item: Said) -> Meta:
    if item.role == USER:
        facts = USER_FACTS
    else:
        facts = ASSISTANT_FACTS if item.role == ASSISTANT else Facts(item.role)
    return resized(Meta(format="", facts=facts), item.sizes)


def resized(meta: Meta, sizes: Sizes) -> Meta:
    """Return what is known of a message with its sizes as they are now."""
    return msgspec.structs.replace(
        meta, chars=sizes.chars, tokens=sizes.tokens, counter=sizes.counter
    )


def items_of(entries: Iterable[Entry]) -> tuple[Item, ...]:
    """Write entries as items; rows in a row are one run.

    >>> from lockstitch.facts import USER_FACTS
    >>> meta = Meta(format="openai-chat", facts=USER_FACTS)
    >>> items_of([Entry(1, meta), Entry(2, meta), Entry(7, meta)])
    (Run(first=1, last=2), Run(first=7, last=7))
    """
    items: list[Item] = []
    for entry in entries:
        last = items[-1] if items else None
        if entry.item is not None:
            items.append(entry.item)
        elif isinstance(last, Run) and last.last + 1 == entry.seq:
            items[-1] = Run(last.first, entry.seq)
        else:
            items.append(Run(entry.seq, entry.seq))
    return tuple(items)
