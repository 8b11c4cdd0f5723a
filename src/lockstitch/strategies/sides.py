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
    for position in _spoken(window):
        if last >= 0 and _clash(window, last, position):
            return _between(window, last, position)
        last = position
    end = _last_kept(window)
    if end >= 0 and _closes(window, end) and _ends_with_user(window):
        while window.role(end) not in _SIDES or _closes(window, end):
            end += 1
        return end
    return None


def _between(window: Window, last: int, position: int) -> int:
    """Return which position between two that clash is to be kept."""
    if (window.role(last), window.role(position)) == (TOOL, USER):
        while position > last and window.role(position) != ASSISTANT:
            position -= 1
        return position
    after = _next(window, last, 1)
    other = _side(window, after) != _side(window, last)
    if other and _side(window, last) == ASSISTANT:
        return after
    return _next(window, position, -1)


def _spoken(window: Window) -> Iterator[int]:
    """Yield the kept positions at which a side speaks, in order."""
    for position in sorted(window.early):
        if _side(window, position):
            yield position
    for start, stop, unit in window.units.pieces():
        if window.why[unit] in KEPT:
            for position in range(start, stop):
                if _side(window, position):
                    yield position


# --- what was kept because it fits ----------------------------------------------------------------


def part_sides(window: Window) -> None:
    """Let groups go until no hole puts two turns of one side beside each other."""
    if not _takes_sides(window):
        return
    while not _parted(window):
        # A group that went stood at another place too: look at all of it again.
        pass


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
        while kept and _clash(window, kept[-1][0], spoken[0]) and _recent(window, kept[-1][1]):
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


def _starts_with_user(window: Window) -> bool:
    head = window.head
    return (
        window.request.profile.start == "user" and head < window.count and window.role(head) == USER
    )


def _ends_with_user(window: Window) -> bool:
    """Whether the user's side must have the last word, and has it in the input."""
    if window.request.profile.end != "user":
        return False
    position = window.count - 1
    while position >= 0 and window.role(position) not in _SIDES:
        position -= 1
    return position >= 0 and not _closes(window, position)


def _closes(window: Window, position: int) -> bool:
    """Whether a message is the model's last word; a call is none where rounds are looked at."""
    profile = window.request.profile
    rounds = profile.rounds_apart or profile.answers_results
    return window.role(position) == ASSISTANT and not (rounds and _facts(window, position).calls)
