"""Stepping: a cut by the steps of a strategy, which read what messages say.

Knows: how a plan about the messages that stand becomes references to rows. A summary is asked for
while nothing is locked.

Must not know: backends, when a cut is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.blobs import write_blobs
from lockstitch.directing import Direction
from lockstitch.errors import CannotFit
from lockstitch.measure.counters import sizer_for
from lockstitch.opening import Opened
from lockstitch.plan import put_in, said_in
from lockstitch.stores.cutting import Cut, counter_name, shown, still_there
from lockstitch.stores.head import Entry, Held, Said, Sizes, resized
from lockstitch.stores.messages import transcript_of
from lockstitch.stores.rows import Meta
from lockstitch.stores.running import Ask
from lockstitch.strategies.digesting import digest
from lockstitch.writing import stripped

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from lockstitch.blobs import BlobStore
    from lockstitch.errors import SummaryFailed
    from lockstitch.plan import Edit, Plan
    from lockstitch.stores.base import Effect
    from lockstitch.stores.head import View
    from lockstitch.stores.settings import Terms
    from lockstitch.strategies.asking import AsyncSummarizer, SummaryPrompt
    from lockstitch.transcript import Transcript

__all__ = ["cut_by_steps"]


def cut_by_steps(
    view: View,
    natives: Sequence[Any],
    terms: Terms,
    *,
    summarizer: AsyncSummarizer | None = None,
    blobs: BlobStore | None = None,
    now: bool = False,
) -> Effect[Cut | None]:
    """Decide by the steps of the strategy; `None` where there is nothing to do.

    Args:
        view: the view.
        natives: its messages, in order.
        terms: what is decided by.
        summarizer: who writes a summary; the built-in `digest` by default.
        blobs: where large results go; without it the record alone has them.
        now: act whether or not a limit is passed.

    Raises:
        CannotFit: what must stay does not fit, and the session says that this is to be raised.
    """
    seen = shown(view, terms)
    transcript = transcript_of([natives[at] for at in seen.standing], view.format)
    place = {at: position for position, at in enumerate(seen.standing)}
    pins = [place[at] for members in (*seen.open, seen.fresh) for at in members]
    try:
        way = _way(transcript, terms, pins, now=now)
        decision, failure = yield from _talk(way, summarizer)
        told = ""
    except CannotFit as error:
        if terms.overflow == "raise":
            raise
        told = f"what must stay is over the limit: {error.needed:,} {error.unit} of {error.limit:,}"
        way = _way(transcript, terms, (), now=now, floor=False)
        decision, failure = yield from _talk(way, summarizer)
    if not decision.changes:
        # That a summary was wanted and could not be had is told, although nothing comes of it.
        return Cut(entries=view.entries, gone=[], failure=failure.brief) if failure else None
    if blobs is not None:
        yield Ask(write_blobs, (decision, transcript, blobs))
    entries, gone = _as_entries(view, seen.standing, transcript, terms, decision)
    gone += [(view.entries[at].seq, "late") for at in seen.orphans]
    return Cut(
        entries=entries,
        gone=sorted(gone),
        abandoned=still_there(view.head.abandoned, entries),
        fired=decision.fired,
        overflow=told,
        summary=next((edit.text for edit in decision.edits if edit.reason == "summary"), ""),
        failure=failure.brief if failure else "",
    )


def _way(
    transcript: Transcript,
    terms: Terms,
    pins: Sequence[int],
    *,
    now: bool,
    floor: bool = True,
) -> Direction:
    low = terms.limits.low_water
    overrides: dict[str, Any] = {} if low is None else {"low_water": low}
    if not floor:
        overrides["on_overflow"] = "empty"
    return Direction(
        Opened(transcript, None),
        terms.directive,
        overrides,
        profile=terms.profile.name,
        model=terms.model or None,
        pins=pins,
        counter=terms.counter,
        floor=floor,
        now=now,
    )


def _talk(
    way: Direction, summarizer: AsyncSummarizer | None
) -> Effect[tuple[Plan, SummaryFailed | None]]:
    """Let the summarizer answer what the direction asks."""
    talk: Generator[SummaryPrompt, Any, tuple[Plan, SummaryFailed | None]] = way.finishing()
    try:
        prompt = next(talk)
        while True:
            try:
                answer = yield Ask(summarizer or digest, (prompt,))
            except Exception as error:  # noqa: BLE001 - handed on, and raised when it stays
                prompt = talk.throw(error)
            else:
                prompt = talk.send(answer)
    except StopIteration as done:
        outcome: tuple[Plan, SummaryFailed | None] = done.value
        return outcome


def _as_entries(
    view: View, standing: Sequence[int], transcript: Transcript, terms: Terms, decision: Plan
) -> tuple[list[Entry], list[tuple[int, str]]]:
    """Write the edits of a plan as what stays and what goes."""
    entries: list[Entry] = []
    gone: list[tuple[int, str]] = []
    for edit in decision.edits:
        rows = [view.entries[at] for at in standing[edit.start : edit.stop]]
        if edit.action == "keep":
            entries += rows
        elif edit.action == "drop":
            gone += [(row.seq, edit.reason) for row in rows if row.seq]
        elif edit.action == "insert":
            entries.append(_said(edit, transcript, terms))
        else:
            for at, row in enumerate(rows, edit.start):
                entries.append(_changed(row, edit, at, transcript, terms))
    return entries, gone


def _changed(row: Entry, edit: Edit, at: int, transcript: Transcript, terms: Terms) -> Entry:
    """Return an entry with what an edit puts into it, measured anew."""
    # Never a summary: those are put in and taken out whole.
    before = row.item if isinstance(row.item, Held) else Held(row.seq)
    native = transcript.natives[at]
    bare = edit.action == "strip" or edit.bare
    form = transcript.format
    native = put_in(native, form, edit.puts, bare=bare) if edit.puts else stripped(native, form)
    sizes = _sizes(native, form.name, terms)
    item = Held(row.seq, (*before.puts, *edit.puts), before.bare or bare, edit.reason, sizes)
    return msgspec.structs.replace(row, item=item, meta=resized(row.meta, sizes))


def _said(edit: Edit, transcript: Transcript, terms: Terms) -> Entry:
    native = said_in(transcript, edit.role, edit.text)
    sizes = _sizes(native, transcript.format.name, terms)
    meta = Meta(format="", facts=transcript.format.facts(native))
    return Entry(0, resized(meta, sizes), Said(edit.role, edit.text, edit.reason, sizes))


def _sizes(native: Any, format: str, terms: Terms) -> Sizes:
    """Count a message as it is now."""
    alone = transcript_of([native], format)
    if "tokens" not in terms.units:
        tokens, name = None, ""
    else:
        tokens, name = (
            sizer_for(alone, "tokens", terms.counter).size(0),
            counter_name(terms.counter),
        )
    chars = sizer_for(alone, "chars").size(0) if "chars" in terms.units else None
    return Sizes(chars, tokens, name)
