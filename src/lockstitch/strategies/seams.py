"""Seams: turns of the model that lie side by side once what parted them has gone.

Knows: that neighbouring messages of the model are read as one turn, and that a result goes to the
first call of its id there. Where two turns that share an id would be joined, one of the two groups
goes: the earlier one, if nothing protects it.

Must not know: limits, profiles, why a hole is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, CALL, TOOL, USER
from lockstitch.plan import KEPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.facts import Facts
    from lockstitch.strategies.planner import Window

__all__ = ["part_turns"]

# Roles that end the model's turn.
_PARTING = frozenset({USER, TOOL})


def part_turns(window: Window) -> None:
    """Let groups go until no two kept turns are joined that share an id.

    Groups that must both stay are left as they are.
    """
    if window.units.groups is None:
        # Every call is settled at once, so the results part each turn with a call from the next.
        return
    # What has gone may have parted two other turns, so look again from the start.
    while (loser := _first_to_go(window)) is not None:
        if window.request.cut == "prefix":
            # No hole but the one before the boundary: what stands before the group goes with it.
            for unit in range(loser):
                if window.why[unit] == "recent":
                    window.let_go(unit, "joined")
        window.let_go(loser, "joined")


def _first_to_go(window: Window) -> int | None:
    """Return the unit that must go from the first two turns that are joined, `None` if none are."""
    # For each id of the turn so far the unit that uses it, and after how many holes.
    users: dict[object, tuple[int, int]] = {}
    holes = 0
    parted = False
    for start, stop, unit in window.units.pieces():
        facts = window.facts[start - window.start : stop - window.start]
        if window.why[unit] not in KEPT:
            parted = parted or any(fact.role in _PARTING for fact in facts)
            continue
        holes += parted
        parted = False
        for one in _leading_ids(facts):
            other, before = users.get(one, (unit, holes))
            if other == unit or before == holes:
                continue
            for loser in (other, unit):
                if window.why[loser] == "recent":
                    return loser
        for fact in facts:
            if fact.role in _PARTING:
                users = {}
            elif fact.role == ASSISTANT:
                users.update((one, (unit, holes)) for one in _called(fact))
    return None


def _leading_ids(facts: Sequence[Facts]) -> list[object]:
    """Return the ids of calls in the messages that continue the turn before."""
    found: list[object] = []
    for fact in facts:
        if fact.role in _PARTING:
            break
        if fact.role == ASSISTANT:
            found += _called(fact)
    return found


def _called(fact: Facts) -> list[object]:
    return [end.key for end in fact.ends if end.kind == CALL]
