"""Reading: what the model is shown, what was recorded, and why the one is not the other.

Knows: that a reader is never shown more than the limit, an orphan or half a group, whatever the
writers are at: it decides about what it read as a writer would.

Must not know: any backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lockstitch.accepting import check, repair
from lockstitch.errors import CannotFit, CorruptRow, FormatError
from lockstitch.history import plan
from lockstitch.stores.appending import counted
from lockstitch.stores.conversation import PAGE, Conversation
from lockstitch.stores.cutting import NeedsPayloads, cut_by_facts, is_over, shown
from lockstitch.stores.head import Entry, Head, Held, View
from lockstitch.stores.messages import natives_of, transcript_of
from lockstitch.stores.objects import revived
from lockstitch.stores.rows import native_of, read_meta
from lockstitch.stores.settings import directive_of
from lockstitch.stores.stepping import cut_by_steps
from lockstitch.stores.telling import told
from lockstitch.stores.values import Recorded, SessionEvent, Window
from lockstitch.strategies.payloads import find
from lockstitch.strategies.pins import sayings
from lockstitch.writing import WRITERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.rules.account import Repair
    from lockstitch.stores.base import Effect, Stored
    from lockstitch.stores.cutting import Cut
    from lockstitch.stores.settings import Terms
    from lockstitch.stores.values import State
    from lockstitch.strategies.named import HistoryStrategy

__all__ = ["Reading", "States"]

PURGED = "the retention of the session, or a purge"
UNREADABLE = "an event cannot be read"
"""How the failure of an event begins that stands for one that is damaged."""

_MENDS = 4
"""How often a window is mended and cut again, until it is both accepted and within the limit."""


class Reading(Conversation):
    """What reads."""

    def window(
        self,
        profile: str | None = None,
        *,
        strategy: HistoryStrategy | None = None,
        max_messages: int | None = None,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        model: str | None = None,
        tail: Literal["open", "closed"] = "open",
    ) -> Effect[Window]:
        """Return what the model is shown: within the limits, in a shape that the target accepts.

        Args:
            profile: the target; the session's by default.
            strategy: decides for this call instead of the session's strategy; likewise the limits.
            max_messages: most messages, and `max_tokens`, `max_chars` as for `trim`.
            model: the name of the model; the session's by default.
            tail: `open` shows calls at the end that still wait for their results; `closed` hides
                them: the model is about to be called.

        Returns:
            A list of messages as they were handed over, with attributes that say what is hidden,
            damaged, repaired or left out, and why. Nothing is written.

        Raises:
            CannotFit: what must stay does not fit, and the session was told to raise then.
            StoreUnavailable: no answer came in time.

        >>> from lockstitch import open_store
        >>> from lockstitch.testing import assistant, call, result, user
        >>> chat = open_store("memory://").session("s", max_messages=4)
        >>> _ = chat.append([user("1"), assistant("2"), user("3"), call("a"), result("a")])
        >>> [message["role"] for message in chat.window()]
        ['user', 'assistant', 'tool']
        """
        self.take_view()
        limits = (max_messages, max_tokens, max_chars)
        plain = all(one is None for one in (strategy, profile, model, *limits))

        def asked() -> Terms:
            if plain:
                return self.terms()
            directive = directive_of(strategy or self.settings().directive, *limits)
            return self.terms(profile=profile, model=model, directive=directive)

        view = yield from self.read(payloads=True, terms=asked)
        if view is None:
            return Window([])
        if plain or not view.passed:
            bare = [Entry(one.seq, one.meta, one.item) for one in view.entries]
            held = View(view.version, view.head, bare, view.damaged, view.named, view.passed)
            self.keep_view(held)
        window = yield from self._shown(view, asked(), closed=tail == "closed")
        window.version = view.version
        return window

    def _shown(self, view: View, terms: Terms, *, closed: bool) -> Effect[Window]:
        """Decide what of a view is shown, and return it."""
        if terms.limits.nothing:
            return Window([])
        cut, natives = yield from self._cut_for_now(view, terms)
        if cut is not None:
            head = Head(abandoned=cut.abandoned)
            view = View(view.version, head, cut.entries, view.damaged, view.named)
        if natives is None:
            yield from self._filled(view)
            natives = natives_of(view)
        seen = shown(view, terms, closed=closed)
        order = seen.order
        window = _accepted([natives[at] for at in order], view.format, terms, closed=closed)
        window.seqs = [
            view.entries[order[origin]].seq if origin is not None else 0 for origin in window.seqs
        ]
        visible = set(order)
        window.hidden = [
            entry.seq for at, entry in enumerate(view.entries) if at not in visible and entry.seq
        ]
        window.damaged = dict(view.damaged)
        window.dropped = cut.gone if cut else []
        return window

    def _cut_for_now(self, view: View, terms: Terms) -> Effect[tuple[Cut | None, list[Any] | None]]:
        """Decide what a writer would; with the messages of the view where they still hold."""
        if terms.by_facts:
            try:
                return cut_by_facts(view, terms), None
            except NeedsPayloads:
                counted(view, terms)
                return cut_by_facts(view, terms), None
        natives = counted(view, terms)
        if not is_over(view, terms):
            return None, natives
        # A summarizer is asked by who writes; what a reader is shown is not kept.
        cut = yield from cut_by_steps(view, natives, terms)
        return cut, natives if cut is None else None

    def _filled(self, view: View) -> Effect[None]:
        """Read the payloads of entries that were read without."""
        bare = [at for at, entry in enumerate(view.entries) if entry.seq and entry.stored is None]
        for at in bare:
            entry = view.entries[at]
            rows = yield from self.rows_of(entry.seq, entry.seq, payloads=True)
            view.entries[at] = msgspec.structs.replace(entry, stored=rows[0] if rows else None)

    # --- the record ------------------------------------------------------------------------------

    def states(self) -> Effect[States]:
        """Read what became of every message."""
        self.take_view()
        view = yield from self.read(payloads=False)
        happened = yield from self.events()
        return States(view, happened, self.terms())

    def page(self, states: States, first: int, last: int) -> Effect[list[Recorded]]:
        """Read messages of the record, with what became of each."""
        rows = yield from self.rows_of(first, last, payloads=True)
        return [states.recorded(row) for row in rows]

    def events(self) -> Effect[list[SessionEvent]]:
        """Return what happened to the session, in order: cuts, late results, rewinds, and so on.

        >>> from lockstitch import open_store
        >>> from lockstitch.testing import assistant, user
        >>> chat = open_store("memory://").session("s", max_messages=2)
        >>> for number in range(3):
        ...     _ = chat.append([user(str(number)), assistant("ok")])
        >>> [event.kind for event in chat.events()]
        ['cut', 'cut']
        """
        found: list[SessionEvent] = []
        while True:
            page: tuple[bytes, ...] = yield from self.patiently(
                lambda: self.backend.events(self.key, len(found), PAGE)
            )
            for data in page:
                try:
                    found.append(SessionEvent.read(data))
                except CorruptRow as error:
                    found.append(SessionEvent(kind="set", at=0.0, failure=str(error)))
            if len(page) < PAGE:
                return found

    def explain(self) -> Effect[str]:
        """Say what the model is shown, what it is not, and why.

        >>> from lockstitch import open_store
        >>> from lockstitch.testing import assistant, user
        >>> chat = open_store("memory://").session("s", max_messages=2)
        >>> for number in range(2):
        ...     _ = chat.append([user(str(number)), assistant("ok")])
        >>> print(chat.explain())
        session 's': 2 of 4 messages are shown
          3-4       shown
          1-2       dropped: the limit is reached; oldest groups go first (over 2 messages)
        """
        states = yield from self.states()
        return told(self.id, states)

    def search(self, text: str, *, limit: int = 50, case: bool = False) -> Effect[list[Recorded]]:
        """Return the messages of the record that say a text, the newest first.

        Args:
            text: what is looked for, as a part of what is said.
            limit: most messages.
            case: whether upper and lower case differ.

        The record is read from its end, in pages: it costs what is looked through.
        """
        if not isinstance(text, str) or not text:
            raise ValueError(f"search takes a text to look for, got {text!r:.60}")
        wanted = text if case else text.casefold()
        states = yield from self.states()
        found: list[Recorded] = []
        last = states.newest
        while last > 0 and len(found) < limit:
            page = yield from self.page(states, max(1, last - PAGE + 1), last)
            for one in reversed(page):
                said = _sayings(one, states.format)
                if wanted in (said if case else said.casefold()):
                    found.append(one)
            last -= PAGE
        return found[:limit]

    def recall(self, handle: str | int) -> Effect[Any]:
        """Return what a cut took out of the view: a payload by its handle, a message by its number.

        Args:
            handle: from a stub in the window, or the number of a message.

        Raises:
            FormatError: nothing in the record has that handle or number.
            CorruptRow: the message is there and cannot be read.
        """
        states = yield from self.states()
        if isinstance(handle, int):
            page = yield from self.page(states, handle, handle)
            if not page or page[0].state == "purged":
                raise FormatError(f"no message of session {self.id!r} has the number {handle}")
            if page[0].state == "damaged":
                raise CorruptRow(page[0].reason, seq=handle)
            return page[0].message
        for first in states.places_of(handle):
            page = yield from self.page(states, max(1, first - PAGE), first)
            try:
                return _found(page, states.format, handle)
            except FormatError:
                continue
        raise FormatError(f"nothing in the record of session {self.id!r} has the handle {handle}")


def _found(page: list[Recorded], format: str, handle: str) -> Any:
    natives = [one.message for one in page if one.message is not None]
    return find(transcript_of(natives, format), handle)


def _sayings(one: Recorded, format: str) -> str:
    if one.message is None:
        return ""
    return "\n".join(sayings(transcript_of([one.message], format), 0))


class States:
    """What became of every message of the record.

    Args:
        view: the view; `None` where there is no session.
        happened: what happened to the session.
        terms: what the model is shown it by.
    """

    def __init__(self, view: View | None, happened: list[SessionEvent], terms: Terms) -> None:
        self.view = view
        self.happened = happened
        self.newest = view.version.seq if view else 0
        self.format = view.format if view else "openai-chat"
        self._shown: dict[int, tuple[State, str]] = {}
        if view is not None:
            seen = shown(view, terms)
            visible = set(seen.order)
            late = set(seen.orphans)
            for at, entry in enumerate(view.entries):
                self._shown[entry.seq] = _state_of(entry, at in visible, at in late)
            for seq, why in view.damaged.items():
                self._shown[seq] = ("damaged", why)
        # What went last is why it is gone: later events are painted over earlier ones.
        self._gone: list[tuple[str, tuple[str, ...]]] = [("", ())] * (self.newest + 1)
        for event in happened:
            for first, last, reason in event.gone:
                for seq in range(first, min(last, self.newest) + 1):
                    self._gone[seq] = (reason, event.fired)
            for first, last in zip(event.emptied[::2], event.emptied[1::2], strict=True):
                for seq in range(first, min(last, self.newest) + 1):
                    self._shown[seq] = ("purged", PURGED)

    def of(self, seq: int) -> tuple[State, str]:
        """Return the state of a message, and why it is in it."""
        found = self._shown.get(seq)
        if found is not None:
            return found
        return "dropped", self._gone[seq][0]

    def fired(self, seq: int) -> tuple[str, ...]:
        """Return why there was something to do when a message was dropped."""
        return () if seq in self._shown else self._gone[seq][1]

    def recorded(self, row: Stored) -> Recorded:
        """Return a row with what became of it."""
        state, reason = self.of(row.seq)
        message, format = None, ""
        if not row.meta:
            state, reason = "purged", PURGED
        else:
            try:
                meta = read_meta(row)
                message, format = revived(native_of(row, meta)), meta.format
            except CorruptRow as error:
                state, reason = "damaged", error.why
        return Recorded(
            seq=row.seq,
            message=message,
            state=state,
            reason=reason,
            at=row.at,
            batch=row.mark,
            format=format,
        )

    def pages(self, first: int, last: int | None) -> Iterator[tuple[int, int]]:
        """Yield the pages of a part of the record: the numbers of the first and the last row."""
        stop = self.newest if last is None else min(last, self.newest)
        for start in range(max(1, first), stop + 1, PAGE):
            yield start, min(stop, start + PAGE - 1)

    def places_of(self, handle: str) -> list[int]:
        """Return the rows to look at for a handle, the likeliest first."""
        heads = [self.view.head] if self.view else []
        heads += [event.head for event in reversed(self.happened) if event.head]
        named = [
            item.seq
            for head in heads
            for item in head.items
            if isinstance(item, Held) and any(put.handle == handle for put in item.puts)
        ]
        return [*dict.fromkeys(named), *range(self.newest, 0, -PAGE)]


def _state_of(entry: Entry, visible: bool, late: bool) -> tuple[State, str]:  # noqa: FBT001
    if not visible:
        return "hidden", "late" if late else "open"
    if isinstance(entry.item, Held):
        return "changed", entry.item.reason
    return "shown", ""


def _accepted(natives: list[Any], format: str, terms: Terms, *, closed: bool) -> Window:
    """Mend what the target would refuse, within the limits; `seqs` are positions for now."""
    window = Window(natives)
    window.seqs = list(range(len(natives)))
    if not natives or format not in WRITERS:
        return window
    options: dict[str, Any] = {
        "profile": terms.profile.name,
        "format": format,
        "model": terms.model or None,
        "tail": "closed" if closed else "open",
    }
    origins: list[int | None] = list(window.seqs)
    for attempt in range(_MENDS):
        if check(natives, **options).ok:
            break
        if attempt == _MENDS // 2:
            # A call that may stay open can be what keeps the rest from being mended.
            options["tail"] = "closed"
        mended: Repair = repair(natives, **options)
        window.changes += mended.changes
        window.system = mended.system or window.system
        origins = [
            None if at is None else origins[at] for at in mended.origins or range(len(natives))
        ]
        natives = list(mended.messages)
        kept = _within(natives, format, terms)
        origins = [origins[at] for at in kept]
        natives = [natives[at] for at in kept]
    window[:] = natives
    window.seqs = origins  # type: ignore[assignment]
    return window


def _within(natives: list[Any], format: str, terms: Terms) -> list[int]:
    """Return which messages of a mended window stay within the limits."""
    limits = terms.limits
    if not limits.units:
        return list(range(len(natives)))
    try:
        decision = plan(
            natives,
            max_messages=limits.max_messages,
            max_tokens=limits.max_tokens,
            max_chars=limits.max_chars,
            profile=terms.profile.name,
            format=format,
            counter=terms.counter,
            reserve=limits.reserve,
            on_overflow="smallest" if terms.overflow == "smallest" else "raise",
        )
    except CannotFit:
        return []
    return decision.kept
