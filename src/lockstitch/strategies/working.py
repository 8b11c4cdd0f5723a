"""The working copy: a history while steps change it, and what has become of each message so far.

Knows: rows, each a message of the input or one that was put in; what stands in the place of their
parts; their sizes, counted again where something changed. It turns into the edits of a plan.

Must not know: any step, any limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lockstitch.measure.counters import Sizer, sizer_for
from lockstitch.measure.limits import TOKENS
from lockstitch.plan import KEPT, STRIPPED, Edit, Put, put_in, said_in
from lockstitch.transcript import Transcript
from lockstitch.writing import stripped

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Row", "Working"]


class Row:
    """One message of the window: where it comes from, and what was done to it.

    `origin` is its position in the input, -1 for one that was put in. `reserved` is the size that
    is held free for a message whose text is not written yet.
    """

    __slots__ = ("bare", "native", "origin", "puts", "reason", "reserved", "role", "sizes", "text")

    def __init__(self, origin: int, native: Any) -> None:
        self.origin = origin
        self.native = native
        self.puts: list[Put] = []
        self.bare = False
        self.reason = "all"
        self.role = self.text = ""
        self.reserved: dict[str, int] = {}
        self.sizes: dict[str, int] = {}

    @property
    def changed(self) -> bool:
        """Whether it is another message than the one of the input."""
        return bool(self.puts) or self.bare or self.origin < 0


class Working:
    """A history while steps change it.

    Args:
        transcript: the input.
        units: the units that are bounded.
        counter: what counts tokens, as for `trim`.
    """

    def __init__(self, transcript: Transcript, units: Sequence[str], counter: Any) -> None:
        self.source = transcript
        self.units = tuple(units)
        self.rows = [Row(at, native) for at, native in enumerate(transcript.natives)]
        self.gone: dict[int, str] = {}
        self._counter = counter
        self._counted = {unit: self._sizer(transcript, unit) for unit in self.units}
        self._transcript: Transcript | None = transcript

    # --- looking ---------------------------------------------------------------------------------

    @property
    def transcript(self) -> Transcript:
        """The rows as a transcript."""
        if self._transcript is None:
            document = self.source.document
            self._transcript = Transcript(
                type(document)(
                    natives=[row.native for row in self.rows],
                    path=document.path,
                    context=document.context,
                    rebuild=document.rebuild,
                ),
                self.source.format,
            )
        return self._transcript

    def sizers(self) -> list[Sizer]:
        """Return what tells the size of each row, in each bounded unit."""
        return [self._of_rows(unit) for unit in self.units]

    def total(self, unit: str) -> int:
        """Return the size of the window in a unit, with what the request carries beside it."""
        sizer = self._of_rows(unit)
        return sizer.around + sum(map(sizer.size, range(len(self.rows))))

    def totals(self) -> dict[str, int]:
        """Return the size of the window in each bounded unit."""
        return {unit: self.total(unit) for unit in self.units}

    def _of_rows(self, unit: str) -> Sizer:
        counted = self._counted[unit]
        rows = self.rows

        def size(at: int) -> int:
            row = rows[at]
            found = row.sizes.get(unit)
            if found is None:
                found = row.sizes[unit] = self._size(row, unit)
            return found

        return Sizer(unit, counted.counter, counted.kind, size, counted.around)

    def _size(self, row: Row, unit: str) -> int:
        if unit in row.reserved:
            return row.reserved[unit]
        if not row.changed:
            return self._counted[unit].size(row.origin)
        alone = Transcript(
            type(self.source.document)(
                natives=[row.native],
                path=self.source.path,
                context={},
                rebuild=self.source.document.rebuild,
            ),
            self.source.format,
        )
        return self._sizer(alone, unit, listed=False).size(0)

    def _sizer(self, transcript: Transcript, unit: str, *, listed: bool = True) -> Sizer:
        """Make a sizer; where sizes were handed in, a changed message is estimated."""
        counter = self._counter if unit == TOKENS else None
        if not listed and isinstance(counter, Sequence) and not isinstance(counter, str):
            counter = None
        return sizer_for(transcript, unit, counter)

    # --- changing --------------------------------------------------------------------------------

    def put(self, at: int, puts: Iterable[Put], reason: str) -> None:
        """Put things in the place of parts of a row."""
        row = self.rows[at]
        row.puts += puts
        row.reason = reason
        self._rewrite(row)

    def strip(self, at: int, reason: str) -> None:
        """Leave the reasoning of a row out."""
        row = self.rows[at]
        row.bare = True
        row.reason = reason
        self._rewrite(row)

    def _rewrite(self, row: Row) -> None:
        native = self.source.natives[row.origin]
        form = self.source.format
        if row.puts:
            row.native = put_in(native, form, row.puts, bare=row.bare)
        else:
            row.native = stripped(native, form)
        row.sizes = {}
        self._transcript = None

    def drop(self, gone: dict[int, str]) -> None:
        """Take rows out; `gone` is the reason of each, by its place."""
        kept: list[Row] = []
        for at, row in enumerate(self.rows):
            if at not in gone:
                kept.append(row)
            elif row.origin >= 0:
                self.gone[row.origin] = gone[at]
        self.rows = kept
        self._transcript = None

    def insert(self, at: int, role: str, text: str, reason: str, reserved: dict[str, int]) -> Row:
        """Put a message in front of a row."""
        row = Row(-1, said_in(self.source, role, text or " "))
        row.role, row.text, row.reason, row.reserved = role, text, reason, reserved
        self.rows.insert(at, row)
        self._transcript = None
        return row

    def label(self, start: int, stop: int, reason: str) -> None:
        """Give rows that nothing was done to the reason that a planner kept them for."""
        for row in self.rows[start:stop]:
            if not row.changed:
                row.reason = reason

    # --- going back ------------------------------------------------------------------------------

    def snapshot(self) -> Any:
        """Remember how things stand."""
        rows = [
            (row, row.native, [*row.puts], row.bare, row.reason, dict(row.sizes))
            for row in self.rows
        ]
        return rows, dict(self.gone)

    def restore(self, held: Any) -> None:
        """Go back to how things stood."""
        rows, gone = held
        self.rows = []
        for row, native, puts, bare, reason, sizes in rows:
            row.native, row.puts, row.bare, row.reason, row.sizes = (
                native,
                puts,
                bare,
                reason,
                sizes,
            )
            self.rows.append(row)
        self.gone = gone
        self._transcript = None

    # --- the outcome -----------------------------------------------------------------------------

    def edits(self) -> list[Edit]:
        """Write down what became of every message of the input, in order, without gaps."""
        edits: list[Edit] = []
        at = 0
        for row in self.rows:
            if row.origin < 0:
                edits.append(Edit("insert", at, at, row.reason, text=row.text, role=row.role))
                continue
            self._left(edits, at, row.origin)
            at = row.origin + 1
            edits_row(edits, row)
        self._left(edits, at, len(self.source))
        return edits

    def _left(self, edits: list[Edit], start: int, stop: int) -> None:
        """Write down the messages that went between two that stay."""
        for at in range(start, stop):
            extend(edits, Edit("drop", at, at + 1, self.gone[at]))


def edits_row(edits: list[Edit], row: Row) -> None:
    """Write down a message that stays."""
    at, after = row.origin, row.origin + 1
    if row.puts:
        puts = tuple(row.puts)
        edits.append(Edit("replace", at, after, row.reason, puts=puts, bare=row.bare))
    elif row.bare and row.reason in STRIPPED:
        extend(edits, Edit("strip", at, after, row.reason))
    else:
        extend(edits, Edit("keep", at, after, row.reason if row.reason in KEPT else "all"))


def extend(edits: list[Edit], edit: Edit) -> None:
    """Append an edit, joining it to the one before where that says the same."""
    last = edits[-1] if edits else None
    if (
        last is not None
        and (last.action, last.reason, last.stop) == (edit.action, edit.reason, edit.start)
        and edit.action in {"keep", "strip", "drop"}
    ):
        edits[-1] = Edit(edit.action, last.start, edit.stop, edit.reason)
        return
    edits.append(edit)
