"""Sides: whose turn it is on either hand of a hole, for targets that join nothing or refuse to.

Knows: that such a target refuses two turns of one side beside each other, and that some want the
user's side to have the last word. What must stay is bridged by what stood between; what was kept
because it fits goes, the earlier of two neighbours first. Only holes are looked at: what stood side
by side in the input is the input's own.

Must not know: limits, profiles by name, why a hole is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, TOOL, USER
from lockstitch.plan import KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.facts import Facts
    from lockstitch.strategies.planner import Window

__all__ = ["bridge_floor", "part_sides"]

_SIDES = {USER: USER, TOOL: USER, ASSISTANT: ASSISTANT}


# --- what must stay -------------------------------------------------------------------------------


def bridge_floor(window: Window) -> int | None:
    """Keep what stood between where two turns of one side must both stay.

    Returns an earlier start to try from, or `None` when the floor is legal.
    """
    if not _takes_sides(window):
        return None
    while True:
        between = _missing(window)
        if between is None or window.is_kept(between):
            return None
        wanted = window.reach(between)
        if wanted is not None:
            return wanted
        window.keep(between, "between")


def _missing(window: Window) -> int | None:
    """Return the position that must be kept for the first bad hole of the floor."""
    last = -1
    newest = _newest_user(window)
    for first, following in _spoken(window):
        if first < newest and not window.is_kept(newest):
            return newest
        if last >= 0 and _clash(window, last, first):
            return _between(window, last, first)
        last = following
    end = _last_kept(window)
    if end >= 0 and _closes(window, end) and _ends_with_user(window):
        return next((at for at in range(end, window.count) if _hands_over(window, at)), None)
    return None


def _between(window: Window, last: int, position: int) -> int:
    """Return which position between two that clash is to be kept."""
    if (window.role(last), window.role(position)) == (TOOL, USER):
        while position > last and window.role(position) != ASSISTANT:
            position -= 1
        return position
    if _side(window, last) == ASSISTANT:
        # The first word of the user's side: it stays the first when what stood before it has gone.
        for at in range(last + 1, position):
            if _side(window, at) == USER:
                return at
    return _next(window, position, -1)


def _spoken(window: Window) -> Iterator[tuple[int, int]]:
    """Yield where a side first and last speaks in each kept stretch without a hole."""
    for start, stop in _stretches(window):
        first = next((at for at in range(start, stop) if _side(window, at)), None)
        if first is not None:
            yield first, _next(window, stop, -1)


def _stretches(window: Window) -> Iterator[tuple[int, int]]:
    for position in sorted(window.early):
        yield position, position + 1
    begin = -1
    for start, reason in window.units.along(window.why):
        if reason in KEPT:
            begin = start if begin < 0 else begin
        elif begin >= 0:
            yield begin, start
            begin = -1
    if begin >= 0:
        yield begin, window.count


# --- what was kept because it fits ----------------------------------------------------------------


def part_sides(window: Window) -> None:
    """Let groups go until no hole puts two turns of one side beside each other."""
    if not _takes_sides(window):
        return
    _let_turn_go(window)
    if _settled(window):
        return
    while not _parted(window):
        # A group that went stood at another place too: look at all of it again.
        pass


def _let_turn_go(window: Window) -> None:
    """Where the newest user message does not stay, let go what stands before it."""
    newest = _newest_user(window)
    if newest < window.start or window.is_kept(newest):
        return
    for unit, first in enumerate(window.units.firsts):
        if first < newest and _recent(window, unit):
            window.let_go(unit, "start")


def _settled(window: Window) -> bool:
    """Whether every hole is legal, which is nearly always so, and cheap to see."""
    last = -1
    for first, following in _spoken(window):
        if last < 0:
            legal = window.role(first) == USER or not _starts_with_user(window)
        else:
            legal = not _clash(window, last, first)
        if not legal:
            return False
        last = following
    end = _last_kept(window)
    return end < 0 or not _closes(window, end) or not _ends_with_user(window)


def _parted(window: Window) -> bool:
    """Walk once over what is kept; say whether everything that went went in one piece."""
    whole = True
    # Of what is kept so far: the last position that speaks, and its unit (-1 before the window).
    kept: list[tuple[int, int]] = [
        (position, -1) for position in sorted(window.early) if _side(window, position)
    ]

    def let_go(unit: int) -> None:
        nonlocal whole
        window.let_go(unit, "neighbour")
        whole = whole and window.units.ordered

    for start, stop, unit in window.units.pieces():
        spoken = [position for position in range(start, stop) if _side(window, position)]
        if not spoken or window.why[unit] not in KEPT:
            continue
        while (
            kept
            and _clash(window, kept[-1][0], spoken[0])
            and (_recent(window, kept[-1][1]) or _idle_lead(window, kept[-1][1], unit))
        ):
            earlier = kept.pop()[1]
            let_go(earlier)
            # The tool rounds of a turn go with it, where they do not speak for themselves.
            for beside in range(earlier + 1, unit):
                if _recent(window, beside) and window.request.profile.rounds_apart:
                    let_go(beside)
        misplaced = (
            _clash(window, kept[-1][0], spoken[0])
            if kept
            else _starts_with_user(window) and window.role(spoken[0]) != USER
        )
        if misplaced and _recent(window, unit):
            let_go(unit)
        else:
            kept.append((spoken[-1], unit))
    if _ends_with_user(window):
        while (end := _last_kept(window)) >= 0 and _closes(window, end):
            if end < window.start or not _recent(window, window.units.of(end)):
                break
            let_go(window.units.of(end))
    return whole


def _takes_sides(window: Window) -> bool:
    profile = window.request.profile
    return bool(profile.parted) or profile.end != "any" or profile.answers_results


def _last_kept(window: Window) -> int:
    """Return the last kept position at which anyone speaks, -1 where there is none."""
    for start, stop, unit in reversed(window.units.pieces()):
        if window.why[unit] in KEPT:
            for position in range(stop - 1, start - 1, -1):
                if window.role(position) in _SIDES:
                    return position
    return max((at for at in window.early if window.role(at) in _SIDES), default=-1)


def _idle_lead(window: Window, unit: int, following: int) -> bool:
    """Whether a user message leads nothing up to another unit but rounds that were kept to fit."""
    return (
        unit >= 0
        and window.why[unit] == "lead"
        and window.request.profile.rounds_apart
        and all(
            window.why[beside] not in KEPT or _recent(window, beside)
            for beside in range(unit + 1, following)
        )
    )


def _recent(window: Window, unit: int) -> bool:
    return unit >= 0 and window.why[unit] == "recent"


# --- sides ----------------------------------------------------------------------------------------


def _side(window: Window, position: int) -> str:
    role = window.role(position)
    if window.request.profile.rounds_apart and (role == TOOL or _facts(window, position).calls):
        return ""
    return _SIDES.get(role, "")


def _facts(window: Window, position: int) -> Facts:
    if position >= window.start:
        return window.facts[position - window.start]
    return window.transcript.facts_at(position)


def _next(window: Window, position: int, step: int) -> int:
    """Return the nearest position before or behind one at which a side speaks."""
    position += step
    while not _side(window, position):
        position += step
    return position


def _clash(window: Window, last: int, position: int) -> bool:
    """Whether a hole between two kept positions puts two turns of one side beside each other."""
    roles = (window.role(last), window.role(position))
    if window.request.profile.answers_results and roles == (TOOL, USER):
        return window.role(_next(window, position, -1)) != TOOL
    side = _side(window, position)
    if side != _side(window, last) or side not in window.request.profile.parted:
        return False
    before = _next(window, position, -1)
    if before == last:
        return False
    # Where the input had a neighbour of that side there too, nothing is made that was not there.
    alike = _side(window, before) == side
    return not (alike and _facts(window, before).calls == _facts(window, last).calls)


def _newest_user(window: Window) -> int:
    """Return the position of the newest user message where a cut must spare it, else -1."""
    if not window.request.profile.current_turn:
        return -1
    position = window.count - 1
    while position >= 0 and window.role(position) != USER:
        position -= 1
    return position


def _starts_with_user(window: Window) -> bool:
    head = window.head
    return (
        window.request.profile.start == "user" and head < window.count and window.role(head) == USER
    )


def _ends_with_user(window: Window) -> bool:
    """Whether the user's side must have the last word.

    Not where the model has it in the input and keeps it: other words of the model are another end.
    """
    if window.request.profile.end != "user":
        return False
    position = window.count - 1
    while position >= 0 and window.role(position) not in _SIDES:
        position -= 1
    return position >= 0 and not (_closes(window, position) and window.is_kept(position))


def _hands_over(window: Window, position: int) -> bool:
    """Whether a window may end with a message: the user's side speaks, or the model asks for it."""
    return window.role(position) in _SIDES and not _closes(window, position)


def _closes(window: Window, position: int) -> bool:
    """Whether a message is the model's last word; a call is none where rounds are looked at."""
    profile = window.request.profile
    rounds = profile.rounds_apart or profile.answers_results
    return window.role(position) == ASSISTANT and not (rounds and _facts(window, position).calls)
