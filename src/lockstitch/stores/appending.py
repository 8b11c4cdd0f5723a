"""Appending: a batch lands whole, in order, in one round trip; a cut rides along.

Knows: what an append promises, and what becomes of a cut when another writer was quicker: rows land
all the same, and the cut is planned again from what the reply says.

Must not know: any backend.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lockstitch.document.objects import LIST_KEYS, NESTED, is_message
from lockstitch.errors import CannotFit, Conflict, CorruptRow, FormatError
from lockstitch.facts import TOOL
from lockstitch.formats import ALL, is_distinct
from lockstitch.formats.base import DEFINITE, LIKELY, NO
from lockstitch.grouping import run_start
from lockstitch.opening import Opened
from lockstitch.pairing import pair
from lockstitch.stores.base import TAIL
from lockstitch.stores.conversation import Conversation
from lockstitch.stores.cutting import (
    Cut,
    NeedsPayloads,
    counter_name,
    cut_by_facts,
    is_over,
    sizers_of,
)
from lockstitch.stores.head import Entry, View
from lockstitch.stores.messages import natives_of, transcript_of
from lockstitch.stores.rows import Meta, make_rows
from lockstitch.stores.running import Pause
from lockstitch.stores.showing import orphans_of
from lockstitch.stores.stepping import cut_by_steps
from lockstitch.stores.values import Receipt, SessionEvent
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.stores.base import Change, Commit, Committed, Effect, Row
    from lockstitch.stores.settings import Terms

__all__ = ["Appending"]

_CUTS = 3
"""How often a cut is tried that other writers keep from landing; the next append tries again."""


class Appending(Conversation):
    """What appends."""

    def append(self, messages: Any, key: str | None = None) -> Effect[Receipt]:
        """Append messages to the record: all of them or none, in order, nothing between them.

        Args:
            messages: one message, a list of them, any iterable, or a request body that holds them;
                in any format, as for `lockstitch.load`. They are not changed.
            key: names this batch. The same key again stores nothing and returns the same numbers,
                however late; equal text never counts as the same.

        Returns:
            A `Receipt`: the numbers of the messages, and what a cut that came with it did.

        Raises:
            Conflict: the session is exclusive, and somebody else has written to it since this
                handle looked.
            FormatError: the messages are of no known format, or of another than the session's, or
                hold what cannot be stored and read back the same.
            StoreUnavailable: no answer came in time; the batch is stored whole or not at all.
            StoreError: the store refused; nothing was stored.

        >>> from lockstitch import open_store
        >>> chat = open_store("memory://").session("user-42", max_messages=50)
        >>> chat.append([{"role": "user", "content": "hi"}], key="turn-1").count
        1
        >>> chat.append([{"role": "user", "content": "hi"}], key="turn-1").replayed
        True
        """
        if key is not None and not isinstance(key, str):
            raise TypeError(f"key must be a text or None, got {key!r:.60}")
        transcript, sure = self._opened(messages)
        if not len(transcript) or self.terms().limits.nothing:
            return Receipt()
        view = self.take_view()
        if self.mode == "exclusive" and not self._looked:
            view = yield from self.read(payloads=False, terms=self.terms)
        terms = self.terms()
        rows, metas = make_rows(transcript, sizers_of(transcript, terms), key=key, sure=sure)
        sent = self._prepared(view, rows, metas, terms, key)
        done = yield from self.commit(sent.commit)
        return (yield from self._landed(view, sent, done, metas))

    # --- before ----------------------------------------------------------------------------------

    def _opened(self, messages: Any) -> tuple[Transcript, bool]:
        """Open a batch in the session's format; whether its shape says which format it is."""
        if type(messages) is not list:
            if isinstance(messages, Transcript):
                messages = [*messages.natives]
            elif _is_one(messages):
                messages = [messages]
            elif not isinstance(messages, (str, bytes, Mapping)) and isinstance(messages, Iterable):
                messages = list(messages)
        ours = self._format or self.settings().format
        if not ours:
            transcript = Opened(messages, None, look=ALL).transcript
            strength = max(map(transcript.format.evidence, transcript.natives), default=0)
            return transcript, strength >= LIKELY
        if type(messages) is list:
            transcript = transcript_of(messages, ours)
        else:
            transcript = Opened(messages, ours, look=ALL).transcript
        evidence = transcript.format.evidence
        for at, native in enumerate(transcript.natives):
            if evidence(native) == NO:
                self._refuse_foreign(native, transcript, at)
        return transcript, True

    def _refuse_foreign(self, native: Any, transcript: Transcript, at: int) -> None:
        """Refuse a message of another format than the session's."""
        other = is_distinct(native, transcript.format)
        if other is not None and other.evidence(native) == DEFINITE:
            raise FormatError(
                f"the session holds {transcript.format.name} messages, this is {other.name}: "
                "convert it first",
                where=f"{transcript.path}[{at}]",
            )

    def _prepared(
        self,
        view: View | None,
        rows: tuple[Row, ...],
        metas: list[Meta],
        terms: Terms,
        key: str | None,
    ) -> _Sent:
        """Make the commit of a batch, with the cut that it calls for as far as that is known."""
        change: Change | None = None
        cut: Cut | None = None
        judged = False
        late: list[int] = []
        note = b""
        if view is not None and terms.bounded:
            late = late_among(view.entries, len(view.entries), metas)
            note = _note_of(late, view.version.seq) if late else b""
            cut, judged = _planned(view, metas, terms)
            if cut is not None:
                change = self.change_to(view, cut.entries, "cut", new=len(rows), cut=cut)
        commit = self.new_commit(
            format=next((meta.format for meta in metas if meta.format), ""),
            expected=self._met if self.mode == "exclusive" else view.version if view else None,
            rows=rows,
            idempotency=key,
            exclusive=self.mode == "exclusive",
            change=change,
            note=note,
            look=terms.bounded,
        )
        return _Sent(commit, cut, judged, late)

    # --- after -----------------------------------------------------------------------------------

    def _landed(
        self, view: View | None, sent: _Sent, done: Committed, metas: list[Meta]
    ) -> Effect[Receipt]:
        """Take in what the store replied, and cut where that is still to be done."""
        if done.outcome == "conflict":
            raise self._conflict(sent.commit, done)
        reading = done.now
        self._learn(reading)
        now = self._grown(view, done, metas) if sent.commit.look else None
        if done.outcome == "stored":
            self.settle(next((meta.format for meta in metas if meta.format), ""))
        terms = self.terms()
        if now is None and terms.bounded:
            # The store knew of a limit, and this handle did not: from now on it does.
            now = yield from self.read(payloads=False, terms=self.terms)
        if now is None or done.outcome == "replayed":
            self.keep_view(now)
            return Receipt(
                first=done.first,
                count=done.count,
                version=reading.version,
                replayed=done.outcome == "replayed",
            )
        cut, late, pending = sent.cut, sent.late, False
        alone = view is not None and reading.head is None and not reading.rows
        if not alone:
            late = late_among(now.entries, len(now.entries) - len(metas), metas)
        if done.changed and cut is not None and sent.commit.change is not None:
            self.tell("append", cut, len(now.entries))
            cut = apply_cut(now, cut, strict=sent.commit.change.strict)
        elif terms.bounded and not (alone and sent.judged and cut is None):
            cut, now, pending = yield from self._settled(now, terms)
        self.keep_view(now)
        return Receipt(
            first=done.first,
            count=done.count,
            version=now.version if now else reading.version,
            dropped=len(cut.gone) + cut.passed if cut else 0,
            late=tuple([done.first + at for at in late]),
            overflow=cut.overflow if cut else "",
            pending=pending,
        )

    def _conflict(self, sent: Commit, done: Committed) -> Conflict:
        found = done.now.version
        expected = sent.expected.seq if sent.expected else None
        return Conflict(
            f"session {self.id!r} was written to by somebody else: it was expected at row "
            f"{expected or 0} and is {'gone' if found is None else f'at row {found.seq}'}. "
            "Read its window and decide again",
            expected=expected,
            found=found.seq if found else None,
        )

    def _grown(self, view: View | None, done: Committed, metas: list[Meta]) -> View | None:
        """Return the view as it is now, before a cut that came with the batch."""
        reading = done.now
        if reading.version is None:
            return None
        if reading.head is not None:
            newest = done.first - 1 if done.outcome == "stored" else reading.version.seq
            if newest - reading.through > TAIL:
                return None  # more than a reply holds
            try:
                now = self.view_of(reading, newest)
            except CorruptRow:
                return None  # the batch has landed; who reads the view finds another head
        elif view is not None:
            now = view
            now.follow(reading.version, reading.rows)
        else:
            return None
        if done.outcome == "stored":
            now.grow(reading.version, done.first, metas)
        return now

    def _settled(self, view: View, terms: Terms) -> Effect[tuple[Cut | None, View | None, bool]]:
        """Cut a view that is over its limit, and write that.

        Where other writers keep it from landing it is left to the next append.

        Returns:
            The cut, the view as it is then, and whether it is over its limit still.
        """
        for attempt in range(_CUTS):
            try:
                cut = yield from self._decided(view, terms)
            except CannotFit:
                break
            if cut is None:
                return None, view, False
            if cut.failure and cut.entries is view.entries:
                self.tell("append", cut, len(view.entries))
                return None, view, False
            change = self.change_to(view, cut.entries, "cut", cut=cut)
            sent = self.new_commit(expected=view.version, change=change)
            done = yield from self.commit(sent)
            self._learn(done.now)
            now = self._grown(view, done, [])
            if now is None:
                return None, None, False
            if done.changed:
                self.tell("append", cut, len(now.entries))
                return apply_cut(now, cut, strict=change.strict), now, False
            view = now
            yield Pause(random.random() * 0.002 * 2**attempt)  # noqa: S311 - jitter
        return None, view, True

    def _decided(self, view: View, terms: Terms) -> Effect[Cut | None]:
        """Decide about a view, reading the payloads where that is needed."""
        try:
            if not is_over(view, terms):
                return None
            if terms.by_facts:
                return cut_by_facts(view, terms)
        except NeedsPayloads:
            pass
        read = yield from self.read(payloads=True)
        if read is None:
            return None
        view.version, view.head, view.damaged = read.version, read.head, read.damaged
        view.show(read.entries, read.head.abandoned)
        natives = counted(view, terms)
        if terms.by_facts:
            return cut_by_facts(view, terms)
        return (
            yield from cut_by_steps(
                view, natives, terms, summarizer=self._summarizer, blobs=self._blobs
            )
        )


class _Sent(NamedTuple):
    """A batch that is sent: with the cut that rides along, if one is called for.

    `judged`: it is known whether there is something to cut. `late`: which messages answer calls
    that are not in the view.
    """

    commit: Commit
    cut: Cut | None
    judged: bool
    late: list[int]


def _planned(view: View, metas: list[Meta], terms: Terms) -> tuple[Cut | None, bool]:
    """Decide what a batch calls for, as far as that can be known without payloads."""
    if not terms.by_facts:
        return None, False
    try:
        if not is_over(view, terms, metas):
            return None, True
        grown = View(view.version, view.head, [*view.entries], view.damaged, view.named)
        grown.grow(view.version, view.version.seq + 1, metas)
        return cut_by_facts(grown, terms), True
    except (NeedsPayloads, CannotFit):
        # The rows land in any case; what does not fit is raised to who asks for the window.
        return None, False


def late_among(entries: Sequence[Entry], count: int, metas: list[Meta]) -> list[int]:
    """Return which messages of a batch hold nothing but answers to calls that are not there.

    Most calls stand at the end of a view, so ever more of it is paired with the batch until nothing
    in the batch lacks its other half.

    Args:
        entries: of the view; the batch itself may follow in it.
        count: how many of them stood before the batch.
        metas: of the batch.
    """
    if all(meta.facts.role != TOOL for meta in metas):
        return []
    start = count
    facts = [meta.facts for meta in metas]
    while True:
        pairing = pair(facts, start, detail=not start)
        if not any(at >= count for at in pairing.unmet):
            return []
        if not start:
            return [at - count for at in orphans_of(pairing, facts) if at >= count]
        before = start
        wanted = max(0, min(start - 2, 2 * start - count))
        start = run_start(lambda at: entries[at].meta.facts, wanted)
        facts[:0] = [entry.meta.facts for entry in entries[start:before]]


def _note_of(late: list[int], seq: int) -> bytes:
    """Write down that results came whose call is not in the view any more."""
    told = f"{len(late)} results of calls that are not in the view"
    return SessionEvent(kind="late", at=time.time(), seq=seq, note=told).written()


def counted(view: View, terms: Terms) -> list[Any]:
    """Read the messages of a view, and count those that nobody has counted yet."""
    natives = natives_of(view)
    name = counter_name(terms.counter)
    if any(e.meta.size(unit, name) is None for unit in terms.units for e in view.entries):
        sizers = {one.unit: one for one in sizers_of(transcript_of(natives, view.format), terms)}
        for at, entry in enumerate(view.entries):
            sizes = {unit: sizer.size(at) for unit, sizer in sizers.items()}
            meta = msgspec.structs.replace(
                entry.meta, counter=name if "tokens" in sizes else "", **sizes
            )
            view.entries[at] = msgspec.structs.replace(entry, meta=meta)
    return natives


def apply_cut(view: View, cut: Cut, *, strict: bool) -> Cut:
    """Let a view be what a cut that has landed made of it; return the cut with all that went.

    Args:
        view: as it was before, grown by everything that was appended since.
        cut: the cut.
        strict: whether it named every row; else the newest follow in the order of their numbers.
    """
    entries = cut.entries
    if not strict:
        gone = {seq for seq, _ in cut.gone}
        known = {entry.seq for entry in entries}
        behind = [one for one in view.entries if one.seq not in known and one.seq not in gone]
        base = min((one.seq for one in behind), default=view.version.seq + 1)
        kept = [one for one in entries if one.item is not None or one.seq < base]
        tail = [one for one in entries if one.item is None and one.seq >= base]
        entries = [*kept, *sorted([*behind, *tail], key=_seq)]
    passed = sum(last - first + 1 for first, last in view.passed)
    view.show(entries, cut.abandoned)
    view.passed = ()
    return msgspec.structs.replace(cut, passed=passed) if passed else cut


def _seq(entry: Entry) -> int:
    return entry.seq


def _is_one(messages: Any) -> bool:
    """Whether something is one message rather than several."""
    if isinstance(messages, Mapping):
        held = isinstance(messages.get(NESTED), (Mapping, list, tuple)) or any(
            isinstance(messages.get(key), (list, tuple)) for key in LIST_KEYS
        )
        return is_message(messages) or not held
    if isinstance(messages, msgspec.Raw):
        return True
    return not isinstance(messages, Iterable) or hasattr(messages, "model_dump")
