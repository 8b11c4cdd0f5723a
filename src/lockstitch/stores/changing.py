"""Changing: what rewrites the view, and never the record.

Knows: going back, putting another message in the place of one, taking the last group back, clearing
the view, summarising, and the retention that a session was given. Each is a new revision, written
only if the view is still the one that was looked at; all but a purge can be undone.

Must not know: any backend.
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import Conflict
from lockstitch.formats import FORMATS
from lockstitch.grouping import group
from lockstitch.stores.appending import Appending, counted
from lockstitch.stores.base import Change
from lockstitch.stores.conversation import PAGE, new_mark
from lockstitch.stores.cutting import sizers_of
from lockstitch.stores.head import Entry, Head, Run, View, items_of, ranges_of
from lockstitch.stores.messages import natives_of
from lockstitch.stores.reading import Reading
from lockstitch.stores.rows import make_rows
from lockstitch.stores.running import Pause
from lockstitch.stores.settings import Settings, Terms, check_ttl, directive_of
from lockstitch.stores.showing import ties_of
from lockstitch.stores.stepping import cut_by_steps
from lockstitch.stores.values import Receipt, SessionEvent, spans
from lockstitch.strategies.directive import HistoryDirective
from lockstitch.strategies.steps import Summarize

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.stores.base import Committed, Effect, Row
    from lockstitch.stores.settings import Retention
    from lockstitch.strategies.asking import AsyncSummarizer
    from lockstitch.strategies.named import HistoryStrategy

__all__ = ["Changing", "head_at"]

_TAKE_OUT = ("rewind", "pop", "clear", "compact")

Made = tuple[Change, Any, tuple["Row", ...]]


class Changing(Appending, Reading):
    """What changes the view."""

    def rewind(self, to: int) -> Effect[int]:
        """Go back to how the session was when a message was its newest.

        The view becomes what it was then, cuts made since included. The record keeps everything,
        and what is appended next follows.

        Args:
            to: the number of the message that is the last one again; 0 for before the first.

        Returns:
            How many messages left the view.

        Raises:
            ValueError: the record has no such message.
            Conflict: others kept writing, for as long as this handle is patient.

        >>> from lockstitch import open_store
        >>> from lockstitch.testing import assistant, user
        >>> chat = open_store("memory://").session("s")
        >>> _ = chat.append([user("1"), assistant("2"), user("3")])
        >>> chat.rewind(to=2)
        1
        >>> len(chat.window())
        2
        """
        happened = yield from self.events()

        def make(view: View) -> Made:
            if not 0 <= to <= view.version.seq:
                raise ValueError(
                    f"session {self.id!r} has messages 1 to {view.version.seq}, not {to}"
                )
            head = head_at(happened, to)
            behind = (Run(head.through + 1, to),) if head.through < to else ()
            items = (*head.items, *behind)
            there = set(_numbers(ranges_of(items)))
            gone = [
                (one.seq, "rewound") for one in view.entries if one.seq and one.seq not in there
            ]
            return (
                self._head(view, items, head.abandoned, "rewind", gone, note=f"to {to}"),
                len(gone),
                (),
            )

        gone: int = yield from self._changed(make)
        return gone

    def edit(self, seq: int, message: Any) -> Effect[Receipt]:
        """Put another message in the place of one; the record keeps both.

        Args:
            seq: the number of the message that is replaced; it must be in the view.
            message: what stands there from now on.

        Raises:
            ValueError: the message is not in the view.
            Conflict: others kept writing, for as long as this handle is patient.
        """
        transcript, sure = self._opened([message])
        terms = self.terms()
        rows, metas = make_rows(transcript, sizers_of(transcript, terms), sure=sure)

        def make(view: View) -> Made:
            at = next((at for at, one in enumerate(view.entries) if one.seq == seq), None)
            if at is None:
                raise ValueError(f"message {seq} is not in the view of session {self.id!r}")
            new = view.version.seq + 1
            entries = [*view.entries]
            entries[at] = Entry(new, metas[0])
            items = items_of(entries)
            change = self._head(
                view, items, view.head.abandoned, "edit", [(seq, "edited")], new=1, note=f"as {new}"
            )
            return change, new, rows

        first = yield from self._changed(make)
        return Receipt(first=first, count=1, version=self._met)

    def pop(self) -> Effect[list[Any]]:
        """Take the last group back, a call with its results or one message, and return it.

        The record keeps them. Of an empty session nothing is taken.
        """

        def make(view: View) -> Made:
            natives = natives_of(view)
            if not view.entries:
                return self._head(view, (), (), "pop", []), [], ()
            facts = [one.meta.facts for one in view.entries]
            terms = self.terms()
            groups = group(facts, 0, ties_of(FORMATS[view.format], terms.profile), detail=False)
            last = groups.names[-1]
            taken = {at for at, name in enumerate(groups.names) if name == last}
            kept = [one for at, one in enumerate(view.entries) if at not in taken]
            gone = [(view.entries[at].seq, "popped") for at in taken]
            change = self._head(view, items_of(kept), view.head.abandoned, "pop", gone)
            return change, [natives[at] for at in sorted(taken)], ()

        taken: list[Any] = yield from self._changed(make, payloads=True, empty=[])
        return taken

    def clear(self) -> Effect[int]:
        """Empty the view; the record keeps everything. Returns how many messages left it."""

        def make(view: View) -> Made:
            gone = [(one.seq, "cleared-view") for one in view.entries if one.seq]
            return self._head(view, (), (), "clear", gone), len(gone), ()

        gone: int = yield from self._changed(make, empty=0)
        return gone

    def purge(self, retention: Retention | None = None) -> Effect[int]:
        """Empty the rows that the retention does not keep; what the view shows always stays.

        This cannot be undone. It is written down as an event.

        Args:
            retention: what is kept; the session's own by default.

        Returns:
            How many messages were emptied.

        Raises:
            ValueError: neither the call nor the session says what is kept.
        """
        view = yield from self.read(payloads=False)
        if view is None:
            return 0
        keep = retention or self.settings().retention
        if keep is None:
            raise ValueError("nothing says what is kept: give a Retention, or one to the session")
        there = yield from self._old(view, keep)

        def make(view: View) -> Made:
            shown_now = {one.seq for one in view.entries}
            old = [seq for seq in there if seq not in shown_now]
            ranges = tuple(
                at for first, last, _ in spans([(s, "") for s in old]) for at in (first, last)
            )
            change = self._head(
                view,
                items_of(view.entries),
                view.head.abandoned,
                "purge",
                [],
                purge=ranges,
                note=f"{len(old)} messages emptied: {_words(ranges)}",
            )
            return change, len(old), ()

        emptied: int = (yield from self._changed(make)) if there else 0
        return emptied

    def compact(
        self,
        summarizer: AsyncSummarizer | None = None,
        *,
        keep_recent: int = 10,
        max_summary_chars: int = 4_000,
        instructions: str = "",
    ) -> Effect[Receipt]:
        """Put a summary in the place of older messages of the view, now.

        The summary is written while nothing is locked; it is taken if the view still begins with
        what it was made of, whatever was appended meanwhile.

        Args:
            summarizer: who writes it; the session's, or the built-in `digest`, by default.
            keep_recent: the newest messages that stay word by word.
            max_summary_chars: the most characters of the summary.
            instructions: what the summarizer is told besides.

        Raises:
            Conflict: others kept changing the view, for as long as this handle is patient.
        """
        step = Summarize(
            keep_recent=keep_recent, max_chars=max_summary_chars, instructions=instructions
        )
        directive = HistoryDirective(kind="summarizing", summarize=True, steps=(step,))
        began = time.monotonic()
        while True:
            view = yield from self.read(payloads=True)
            if view is None:
                return Receipt()
            plain = msgspec.structs.replace(self.settings(), directive=directive)
            terms = Terms.of(plain, self._counter)
            natives = counted(view, terms)
            cut = yield from cut_by_steps(
                view, natives, terms, summarizer=summarizer or self._summarizer, now=True
            )
            if cut is None or not cut.summary:
                return Receipt(version=view.version, overflow=cut.failure if cut else "")
            change = self.change_to(view, cut.entries, "compact", cut=cut)
            change = msgspec.structs.replace(change, strict=False)
            done = yield from self.commit(self.new_commit(expected=view.version, change=change))
            self._learn(done.now)
            if done.changed:
                self.tell("compact", cut, len(view.entries))
                return Receipt(version=done.now.version, dropped=len(cut.gone))
            yield from self._again(began, done)

    def configure(
        self,
        *,
        strategy: HistoryStrategy | None = None,
        max_messages: int | None = None,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        profile: str | None = None,
        model: str | None = None,
        retention: Retention | None = None,
        on_overflow: str | None = None,
        ttl: float | None = None,
    ) -> Effect[Settings]:
        """Store other settings with the session, for every handle from now on.

        Args:
            strategy: decides what is shown; likewise the limits, which overrule it.
            max_messages: most messages, and `max_tokens`, `max_chars` as for `trim`.
            profile: the target.
            model: the name of the model.
            retention: how much of the record a purge keeps.
            on_overflow: `drop`, `smallest` or `raise`, as for `session`.
            ttl: seconds until the session expires after its last commit; 0 for never.

        Returns:
            The settings as they are stored now.

        Raises:
            TypeError, ValueError: one of them is not what it must be; nothing was changed.
        """
        check_ttl(ttl)
        yield from self.read(payloads=False)
        self.take_view()
        given: dict[str, Any] = {
            "directive": directive_of(strategy, max_messages, max_tokens, max_chars),
            "profile": profile,
            "model": model,
            "retention": retention,
            "overflow": on_overflow,
        }
        given = {name: value for name, value in given.items() if value is not None}
        settings = msgspec.structs.replace(self._stored or Settings(), **given)
        Terms.of(settings, self._counter)
        self.give(**given)
        told = [*given] if ttl is None else [*given, "ttl"]
        note = SessionEvent(kind="set", at=time.time(), note=", ".join(sorted(told)))
        sent = self.new_commit(settings=settings.written(), note=note.written())
        if ttl is not None:
            sent = msgspec.structs.replace(sent, ttl=ttl)
        done = yield from self.commit(sent)
        self._learn(done.now)
        return settings

    def touch(self, ttl: float | None = None) -> Effect[bool]:
        """Let the session's time begin anew, or give it another; say whether it is there.

        Args:
            ttl: seconds until it expires after its last commit; 0 for never, `None` for as before.
        """
        check_ttl(ttl)
        there: bool = yield from self.patiently(lambda: self.backend.touch(self.key, ttl))
        return there

    def delete(self) -> Effect[bool]:
        """Remove the session with its record; say whether there was one. It cannot be undone."""
        self.forget()
        there: bool = yield from self.patiently(lambda: self.backend.delete(self.key))
        return there

    # --- how a change is written -----------------------------------------------------------------

    def _head(
        self,
        view: View,
        items: Any,
        abandoned: tuple[int, ...],
        kind: Any,
        gone: list[tuple[int, str]],
        *,
        new: int = 0,
        purge: tuple[int, ...] = (),
        note: str = "",
    ) -> Change:
        """Write a head that names every row it keeps."""
        through = view.version.seq + new
        head = Head(items=tuple(items), through=through, abandoned=abandoned, mark=new_mark())
        event = SessionEvent(
            kind=kind,
            at=time.time(),
            seq=through,
            revision=view.version.revision + 1,
            head=head,
            gone=spans(sorted(gone)),
            emptied=purge,
            note=note,
        )
        return Change(
            head=head.written(),
            ranges=ranges_of(items),
            through=through,
            strict=True,
            event=event.written(),
            purge=purge,
        )

    def _changed(
        self, make: Callable[[View], Made], *, payloads: bool = False, empty: Any = 0
    ) -> Effect[Any]:
        """Read the view, make a change of it, and write that if nothing has come in between."""
        began = time.monotonic()
        met, looked = self._met, self._looked
        while True:
            self.take_view()
            view = yield from self.read(payloads=payloads)
            if view is None:
                return empty
            if self.mode == "exclusive" and looked and met != view.version:
                self._met = met
                raise Conflict(
                    f"session {self.id!r} was written to by somebody else: read its window and "
                    "decide again",
                    expected=met.seq if met else None,
                    found=view.version.seq,
                )
            change, outcome, rows = make(view)
            done = yield from self.commit(
                self.new_commit(expected=view.version, change=change, rows=rows, exclusive=True)
            )
            self._learn(done.now)
            if done.changed or done.outcome == "replayed":
                return outcome
            yield from self._again(began, done)

    def _again(self, began: float, done: Committed) -> Effect[None]:
        """Wait a little before a change is made again.

        Raises:
            Conflict: the patience is at its end.
        """
        if time.monotonic() - began > self._patience:
            found = done.now.version
            raise Conflict(
                f"others kept writing to session {self.id!r} for {self._patience:g} seconds",
                expected=None,
                found=found.seq if found else None,
            )
        yield Pause(0.001 + random.random() * 0.004)  # noqa: S311 - jitter

    def _old(self, view: View, keep: Retention) -> Effect[list[int]]:
        """Return the rows that a retention does not keep and that are not empty yet."""
        newest = view.version.seq
        count = newest if keep.messages is None else keep.messages
        oldest = time.time() - keep.seconds if keep.seconds is not None else None
        found: list[int] = []
        first = 1
        while first <= newest:
            upto = min(newest, first + PAGE - 1)
            rows = yield from self.rows_of(first, upto, payloads=False)
            for row in rows:
                aged = oldest is not None and row.at < oldest
                if row.meta and (row.seq <= newest - count or aged):
                    found.append(row.seq)
            first = upto + 1
        return found


def _numbers(ranges: tuple[int, ...]) -> list[int]:
    return [
        seq
        for first, last in zip(ranges[::2], ranges[1::2], strict=True)
        for seq in range(first, last + 1)
    ]


def head_at(happened: list[SessionEvent], to: int) -> Head:
    """Return the head that the view had when a message was the newest.

    A cut that came with later messages does not count, though its head may go through earlier ones
    alone; nor does what took that very message out of the view.
    """
    found = Head()
    for event in happened:
        if event.head is None or event.seq > to:
            continue
        if event.seq < to or event.kind not in _TAKE_OUT:
            found = event.head
    return found


def _words(ranges: tuple[int, ...]) -> str:
    pairs = zip(ranges[::2], ranges[1::2], strict=True)
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in pairs)
