"""Keeping the newest: whole groups go, oldest first, by the planner that `trim` uses.

Knows: how the rows of a working copy are handed to the planner, and how its answer comes back; how
many messages the newest turns or groups are.

Must not know: how the planner decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lockstitch.errors import CannotFit
from lockstitch.facts import SYSTEM, USER
from lockstitch.grouping import OPEN
from lockstitch.measure.counters import sizer_for
from lockstitch.measure.limits import MESSAGES, Limits
from lockstitch.strategies.planner import Outcome, Request, plan_edits
from lockstitch.strategies.standing import replies, summaries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.measure.counters import Sizer
    from lockstitch.plan import FloorItem
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.steps import KeepLast
    from lockstitch.strategies.working import Working

__all__ = ["drop_oldest", "head_of", "is_over", "keep_last"]


def drop_oldest(work: Working, request: Request, asked: Asked) -> int:
    """Drop whole groups until the limits hold; return how many messages went.

    Raises:
        CannotFit: what must stay is over a limit and `on_overflow` is `raise`.
    """
    bounded = [sizer for sizer in work.sizers() if sizer.unit in request.limits.units]
    return _planned(work, request, asked, bounded, {})


def keep_last(work: Working, step: KeepLast, asked: Asked) -> int:
    """Drop what stands before the newest turns or groups; return how many messages went.

    The user message that the first of them answers stays as well, where the target wants one.
    """
    newest, wanted = _wanted(work, step, asked)
    request = Request(
        limits=Limits(max_messages=len(wanted)),
        profile=asked.profile,
        pins=newest,
        on_overflow="smallest",
    )
    words = {"pinned": "last", "recent": "last", "oldest": "beyond"}
    return _planned(work, request, asked, [sizer_for(work.transcript, MESSAGES)], words)


def is_over(work: Working, step: KeepLast, asked: Asked) -> str:
    """Say how many turns or groups there are, where that is more than are to be kept."""
    count, most, what = len(_turns(work)), step.turns, "turns"
    if step.groups is not None:
        beside = head_of(work) + len(_standing(work))
        count, most, what = len(asked.groups(work)) - beside, step.groups, "groups"
    return f"{count} {what}, {most} are kept" if most is not None and count > most else ""


def head_of(work: Working) -> int:
    """Return how many rows the system part is."""
    transcript = work.transcript
    at = 0
    while at < len(work.rows) and transcript.facts_at(at).role == SYSTEM:
        at += 1
    return at


def _turns(work: Working) -> list[int]:
    """Return the rows at which turns begin; a summary opens none."""
    transcript = work.transcript
    standing = set(summaries(transcript))
    return [
        at
        for at in range(len(work.rows))
        if at not in standing and transcript.facts_at(at).role == USER
    ]


def _wanted(work: Working, step: KeepLast, asked: Asked) -> tuple[frozenset[int], set[int]]:
    """Return the rows at which the newest groups begin, and all rows that are to stay."""
    units = asked.groups(work)
    head = head_of(work)
    standing = _standing(work)
    if step.turns is not None:
        turns = _turns(work)
        since = turns[-step.turns] if 0 < step.turns <= len(turns) else len(work.rows)
        newest = [unit for unit in units if unit.members[-1] >= since]
    else:
        ordered = sorted(units, key=lambda unit: unit.members[-1])
        ordered = [unit for unit in ordered if not standing.issuperset(unit.members)]
        newest = ordered[len(ordered) - (step.groups or 0) :]
    if not newest:
        return frozenset(), set()
    wanted = {at for unit in newest for at in unit.members} | standing
    for unit in units:
        if unit.state == OPEN or unit.first < head:
            wanted.update(unit.members)
    return frozenset(unit.first for unit in newest), wanted


def _planned(
    work: Working, request: Request, asked: Asked, sizers: Sequence[Sizer], words: dict[str, str]
) -> int:
    """Let the planner decide over the rows, and carry out what it decides.

    A summary that stands stays where there is room for it at all.
    """
    pins = {at for at, row in enumerate(work.rows) if row.origin in asked.pins or row.origin < 0}
    request = msgspec.structs.replace(request, pins=request.pins | pins)
    with_summary = msgspec.structs.replace(request, pins=request.pins | _standing(work))
    try:
        outcome = plan_edits(work.transcript, with_summary, sizers)
    except CannotFit as error:
        if with_summary.pins != request.pins:
            outcome = _without_summary(work, request, sizers)
        else:
            raise _in_input(work, error) from None
    gone: dict[int, str] = {}
    for edit in outcome.edits:
        reason = words.get(edit.reason, edit.reason)
        if edit.action == "drop":
            gone.update(dict.fromkeys(range(edit.start, edit.stop), reason))
        else:
            work.label(edit.start, edit.stop, reason)
    for row in work.rows:
        if row.origin in asked.pinned and not row.changed:
            row.reason = "pinned"
    if gone:
        work.drop(gone)
    return len(gone)


def _standing(work: Working) -> set[int]:
    """Return the rows of summaries that stand, and of the replies behind them."""
    earlier = summaries(work.transcript)
    return {*earlier, *replies(work.transcript, earlier)}


def _without_summary(work: Working, request: Request, sizers: Sequence[Sizer]) -> Outcome:
    try:
        return plan_edits(work.transcript, request, sizers)
    except CannotFit as error:
        raise _in_input(work, error) from None


def _in_input(work: Working, error: CannotFit) -> CannotFit:
    """Say what must stay in positions of the input."""
    floor = list(_items(work, error.floor))
    return CannotFit(needed=error.needed, limit=error.limit, unit=error.unit, floor=floor)


def _items(work: Working, floor: Sequence[FloorItem]) -> Iterator[FloorItem]:
    for item in floor:
        origins = [row.origin for row in work.rows[item.start : item.stop] if row.origin >= 0]
        if origins:
            yield msgspec.structs.replace(item, start=origins[0], stop=origins[-1] + 1)
        else:
            yield msgspec.structs.replace(item, start=0, stop=0)
