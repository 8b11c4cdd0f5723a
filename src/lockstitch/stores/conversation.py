"""A conversation: what every operation on a session starts from, written once for both worlds.

Knows: which session, what it was given, what it has seen of it; how a commit is repeated when no
answer came, and until when. Operations are effects; `store` has the two thin classes that run them.

What a handle has seen is taken out while an operation runs, so that several tasks or threads may
share one handle: each then works with its own view or with none, and a cancelled operation leaves
nothing that could be wrong.

Must not know: any backend, threads, event loops.
"""

from __future__ import annotations

import random
import secrets
import time
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lockstitch.errors import Conflict, CorruptRow, StoreError, StoreUnavailable
from lockstitch.events import Event, telling
from lockstitch.plan import Size
from lockstitch.stores.base import (
    TAIL,
    Change,
    Commit,
    Committed,
    Effect,
    Key,
    Reading,
    Stored,
    Version,
)
from lockstitch.stores.cutting import NeedsPayloads, is_over
from lockstitch.stores.head import Head, View, items_of, ranges_of
from lockstitch.stores.passing import Passing
from lockstitch.stores.rows import SEALED
from lockstitch.stores.running import Pause
from lockstitch.stores.settings import Settings, Terms
from lockstitch.stores.values import EventKind, SessionEvent, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lockstitch.blobs import BlobStore
    from lockstitch.stores.base import Backend
    from lockstitch.stores.cutting import Cut
    from lockstitch.stores.head import Entry
    from lockstitch.strategies.asking import AsyncSummarizer

__all__ = ["PAGE", "Conversation", "Mode", "new_mark"]

Mode = Literal["merge", "exclusive"]

PAGE = 500
"""How many rows of the record are read at a time."""

# The first pause before a commit is tried again, and the longest, in seconds; drawn between half
# and all of it, so that writers who met once do not meet again.
_FIRST_PAUSE = 0.01
_LONGEST_PAUSE = 1.0


class Conversation:
    """What operations share.

    Args:
        backend: where the session is.
        key: which it is.
        given: settings that this handle was given; they overrule the stored ones.
        mode: `merge`: an append always lands; `exclusive`: only if nobody else wrote.
        format: the format of the messages, where it is not to be found by their shape.
        counter: what counts tokens, as for `trim`.
        summarizer: who writes summaries; the built-in `digest` by default.
        blobs: where large results go; without it the record alone has them.
        patience: how many seconds an operation may take before it gives up.
        ttl: seconds until the session expires after its last commit; `None` for what is stored.
    """

    def __init__(
        self,
        backend: Backend,
        key: Key,
        given: Mapping[str, Any],
        *,
        mode: Mode = "merge",
        format: str | None = None,
        counter: Any = None,
        summarizer: AsyncSummarizer | None = None,
        blobs: BlobStore | None = None,
        patience: float = 10.0,
        ttl: float | None = None,
    ) -> None:
        self.backend = backend
        self.key = key
        self.mode = mode
        self._given = dict(given)
        self._format = format
        self._counter = counter
        self._summarizer = summarizer
        self._blobs = blobs
        self._patience = patience
        self._ttl = ttl
        self._stored: Settings | None = None
        self._written = b""
        # Why the stored settings could not be read; empty where they could.
        self._unread = ""
        # What holds where a call says nothing itself; worked out when something is learned.
        self._holding: tuple[Settings, Terms, bytes] | None = None
        self._view: View | None = None
        # What this handle has seen last: what an exclusive append must find.
        self._met: Version | None = None
        self._looked = False

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.key.id

    # --- settings --------------------------------------------------------------------------------

    def settings(self, **overrides: Any) -> Settings:
        """Return the settings that hold for a call: its own, the handle's, the stored ones."""
        if not overrides and self._holding is not None:
            return self._holding[0]
        given = {**self._given, **{name: v for name, v in overrides.items() if v is not None}}
        found = self._stored or Settings()
        return msgspec.structs.replace(found, **given) if given else found

    def terms(self, **overrides: Any) -> Terms:
        """Return what a cut is decided by."""
        if overrides:
            return Terms.of(self.settings(**overrides), self._counter)
        if self._holding is None:
            settings = self.settings()
            terms = Terms.of(settings, self._counter)
            self._holding = settings, terms, settings.written()
        return self._holding[1]

    def give(self, **settings: Any) -> None:
        """Give this handle settings of its own; they overrule the stored ones."""
        self._given |= settings
        self._holding = None

    def _learn(self, reading: Reading) -> None:
        """Remember the settings of a reading, and what was seen last.

        Settings that cannot be read are none: what the handle was given holds, and a view says so.

        Raises:
            StoreError: the session is still being copied here.
            CorruptRow: it is encrypted, and this store has no keys.
        """
        if reading.settings and reading.settings != self._written:
            self._unread = ""
            try:
                stored = Settings.read(reading.settings)
            except CorruptRow as error:
                if reading.settings.startswith(SEALED):
                    raise
                stored, self._unread = Settings(), error.why
            if stored.copying:
                raise StoreError(
                    f"session {self.id!r} is not all here yet: run again the copy, import or fork "
                    "that makes it; it goes on where it was"
                )
            self._stored, self._written = stored, reading.settings
            self._holding = None
        self._met = reading.version
        self._looked = True

    def forget(self) -> None:
        """Forget what this handle has seen."""
        self.take_view()
        self._stored, self._written, self._holding = None, b"", None
        self._met, self._looked = None, False

    # --- asking the backend ----------------------------------------------------------------------

    def take_view(self) -> View | None:
        """Take out what this handle has seen."""
        view, self._view = self._view, None
        return view

    def keep_view(self, view: View | None) -> None:
        """Remember what was seen, where there is anything that a cut would need it for."""
        if view is not None and self.terms().bounded:
            self._view = view

    def patiently(self, ask: Any) -> Effect[Any]:
        """Ask the backend until it answers, with jittered pauses, within the handle's patience.

        Args:
            ask: makes the effect anew for each attempt.

        Raises:
            StoreUnavailable: no answer came in time. A commit is known by its mark, so that one
                which was asked for twice is not done twice.
        """
        began = time.monotonic()
        attempts = 0
        while True:
            try:
                return (yield from ask())
            except StoreError as error:
                if not error.retryable or isinstance(error, Conflict):
                    raise
                attempts += 1
                longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (attempts - 1))
                pause = longest * (0.5 + random.random() / 2)  # noqa: S311 - jitter
                if time.monotonic() - began + pause > self._patience:
                    raise StoreUnavailable(
                        f"gave up after {attempts} attempts within {self._patience:g} seconds: "
                        f"{error}",
                        attempts=attempts,
                    ) from error
            yield Pause(pause)

    def commit(self, change: Commit) -> Effect[Committed]:
        """Have a commit carried out.

        Where the answer to a first attempt was lost, the second one finds what the first has done:
        rows by their mark, a head by being the very one that was sent.
        """
        done: Committed = yield from self.patiently(partial(self.backend.commit, change))
        if change.change is not None and not done.changed and done.now.head == change.change.head:
            return msgspec.structs.replace(done, changed=True)
        return done

    def read(
        self, *, payloads: bool, terms: Callable[[], Terms] | None = None
    ) -> Effect[View | None]:
        """Read the view; `None` where there is no session.

        Args:
            payloads: read what the messages say as well.
            terms: says by what it will be cut, once the settings are read: of a view that was
                never cut and is long, what no cut could keep is passed over then. By default all of
                it is read.
        """
        reading: Reading = yield from self.patiently(
            lambda: self.backend.view(self.key, payloads=payloads)
        )
        self._learn(reading)
        version = reading.version
        if version is None:
            return None
        newest = version.seq
        long = newest - reading.through > TAIL
        try:
            if long and terms is not None and _surely_over(reading, terms()):
                return (yield from self._passed_over(reading, newest))
            if long:
                reading = yield from self._lengthened(reading, newest, payloads=payloads)
            return self.view_of(reading, newest)
        except CorruptRow as error:
            whole = yield from self._recovered(version, payloads=payloads)
            view = self.view_of(whole, newest)
            told = f"{error.why}; it was taken from the events instead"
            view.damaged[0] = f"{self._unread}; {told}" if self._unread else told
            return view

    def _lengthened(self, reading: Reading, newest: int, *, payloads: bool) -> Effect[Reading]:
        """Read the rows that a reading had no room for."""
        rows: list[Stored] = []
        for first in range(reading.through + 1, newest - TAIL + 1, PAGE):
            last = min(first + PAGE - 1, newest - TAIL)
            rows += yield from self.rows_of(first, last, payloads=payloads)
        return msgspec.structs.replace(reading, rows=(*reading.rows, *rows))

    def _passed_over(self, reading: Reading, newest: int) -> Effect[View]:
        """Make the view of a long reading without the older rows that no cut could keep."""
        since = newest - TAIL + 1
        view = View.of(reading, newest, self._format or self.settings().format, since=since)
        older = View(view.version, view.head, [], view.damaged, view.named)
        passing = Passing()
        for first in range(reading.through + 1, since, PAGE):
            last = min(first + PAGE - 1, since - 1)
            rows = yield from self.rows_of(first, last, payloads=False)
            for row in rows:
                older.add(row.seq, row)
            for entry in older.entries:
                passing.take(entry)
            older.entries = []
        head = [entry for entry in view.entries if entry.seq < since]
        tail = [entry for entry in view.entries if entry.seq >= since]
        view.show([*head, *passing.held(), *tail], view.head.abandoned)
        view.named = view.named or older.named
        view.passed = tuple(passing.passed)
        self.settle(view.named)
        return view

    def rows_of(self, first: int, last: int, *, payloads: bool) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record."""
        found: tuple[Stored, ...] = yield from self.patiently(
            partial(self.backend.rows, self.key, first, last, payloads=payloads)
        )
        return found

    def view_of(self, reading: Reading, newest: int) -> View:
        """Make a view of a whole reading whose newest row has the number `newest`.

        Raises:
            CorruptRow: the head cannot be read.
        """
        view = View.of(reading, newest, self._format or self.settings().format)
        if self._unread:
            view.damaged[0] = self._unread
        self.settle(view.named)
        return view

    def _recovered(self, version: Version, *, payloads: bool) -> Effect[Reading]:
        """Read the view by the newest head among the events that can be read.

        Every head is written with an event that repeats it. What was appended since simply follows.
        """
        happened: tuple[bytes, ...] = yield from self.patiently(
            lambda: self.backend.events(self.key, 0, 1_000_000)
        )
        head = Head()
        for data in happened:
            with suppress(CorruptRow):
                head = SessionEvent.read(data).head or head
        rows: list[Stored] = []
        ranges = (*ranges_of(head.items), head.through + 1, version.seq)
        for first, last in zip(ranges[::2], ranges[1::2], strict=True):
            rows += yield from self.rows_of(first, last, payloads=payloads)
        return Reading(version=version, head=head.written(), through=head.through, rows=tuple(rows))

    def settle(self, format: str) -> None:
        """Remember the format that messages of the session are in, where nobody wrote it down.

        What settled it may have been appended by a handle that had not looked.
        """
        if format and not self.settings().format:
            self._stored = msgspec.structs.replace(self._stored or Settings(), format=format)
            self._holding = None

    def new_commit(self, *, format: str = "", **fields: Any) -> Commit:
        """Make a commit of this session, marked.

        Args:
            format: of its rows, where they say which: it becomes the session's.
            fields: of the commit.
        """
        self.terms()
        settings, _, initial = self._holding or (self.settings(), None, b"")
        if format and not settings.format:
            initial = msgspec.structs.replace(settings, format=format).written()
            if self._stored is not None and "settings" not in fields:
                stored = msgspec.structs.replace(self._stored, format=format)
                fields["settings"] = stored.written()
        mark = new_mark()
        return Commit(
            key=self.key,
            mark=mark,
            # A session that was seen to be there may be gone by now, and is made again then.
            epoch=mark,
            initial=initial,
            ttl=self._ttl,
            **fields,
        )

    # --- heads -----------------------------------------------------------------------------------

    def change_to(
        self,
        view: View,
        entries: list[Entry],
        kind: EventKind,
        *,
        new: int = 0,
        cut: Cut | None = None,
        gone: Iterable[tuple[int, str]] = (),
        abandoned: tuple[int, ...] = (),
        note: str = "",
    ) -> Change:
        """Write entries as the new head of a view, and what is remembered of it.

        Args:
            view: the view as it is, without rows that are only being appended.
            entries: what is shown from now on.
            kind: of what is remembered.
            new: how many rows are being appended with it; where all of them stay, in order, they
                simply follow the head, whoever else appends in between.
            cut: the decision behind it.
            gone: the rows that leave the view, where no cut says so.
            abandoned: rows whose calls nobody waits for any more.
            note: what else there is to say.
        """
        base = view.version.seq
        follow = [entry.seq for entry in entries[len(entries) - new :]]
        loose = follow == list(range(base + 1, base + new + 1)) and all(
            entry.item is None for entry in entries[len(entries) - new :]
        )
        through = base if loose else base + new
        items = items_of(entries[: len(entries) - new] if loose else entries)
        abandoned = cut.abandoned if cut else abandoned
        head = Head(items=items, through=through, abandoned=abandoned, mark=new_mark())
        event = SessionEvent(
            kind=kind,
            at=time.time(),
            seq=base + new,
            revision=view.version.revision + 1,
            head=head,
            gone=_with_passed(spans(sorted(cut.gone if cut else gone)), view.passed),
            fired=cut.fired if cut else (),
            abandoned=cut.newly if cut else (),
            overflow=cut.overflow if cut else "",
            summary=cut.summary if cut else "",
            failure=cut.failure if cut else "",
            note=note,
        )
        return Change(
            head=head.written(),
            ranges=ranges_of(items),
            through=through,
            strict=not loose,
            event=event.written(),
        )

    def tell(self, operation: str, cut: Cut, before: int) -> None:
        """Tell who listens of a cut."""
        terms = self.terms()
        with telling(operation, failing=bool(cut.overflow or cut.failure)) as told:
            told.event = Event(
                operation=operation,
                profile=terms.profile.name,
                format=self.settings().format or "openai-chat",
                strategy=terms.directive.kind,
                model=terms.model,
                fired=cut.fired,
                before=Size(before),
                after=Size(len(cut.entries)),
                limit=terms.ceilings,
                messages_dropped=len(cut.gone),
                messages_inserted=1 if cut.summary else 0,
                summary_chars=len(cut.summary),
                failure=cut.overflow or cut.failure,
            )


def _surely_over(reading: Reading, terms: Terms) -> bool:
    """Whether the newest rows alone pass a limit by far: then older ones are of no account."""
    version = reading.version
    if version is None or not terms.by_facts:
        return False
    try:
        view = View.of(reading, version.seq, since=version.seq - TAIL + 1)
        most = terms.limits.max_messages
        return bool(is_over(view, terms)) and (most is None or most <= TAIL // 2)
    except NeedsPayloads:
        return False


def _with_passed(
    gone: tuple[tuple[int, int, str], ...], passed: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int, str], ...]:
    """Put rows that were passed over among those that a cut drops: they go as the oldest do."""
    return tuple(sorted([*gone, *((first, last, "oldest") for first, last in passed)]))


def new_mark() -> str:
    """Return a name that nobody else has: 72 bits of chance."""
    return secrets.token_hex(9)
