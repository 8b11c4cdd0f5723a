"""Breakages: the ways in which real histories are broken, as functions from steps to steps.

Each takes the steps and a number that chooses the place, and gives new steps; where there is
nothing to break it gives them back as they are.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Final

import msgspec

from lockstitch.testing.steps import Calls, Result, Say, Step, User

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["BREAKAGES", "interleave", "move_results_away", "without_ids"]


def _places(steps: Sequence[Step], kind: type) -> list[int]:
    return [at for at, step in enumerate(steps) if isinstance(step, kind)]


def _chosen(steps: Sequence[Step], kind: type, number: int) -> int | None:
    places = _places(steps, kind)
    return places[number % len(places)] if places else None


def _call_of(steps: Sequence[Step], at: int) -> int | None:
    """Return where the call of the result at a place stands, the nearest one before it."""
    result = steps[at]
    if not isinstance(result, Result):
        return None
    for before in range(at - 1, -1, -1):
        step = steps[before]
        if isinstance(step, Calls) and any(call.id == result.id for call in step.calls):
            return before
    return None


def delete_result(steps: list[Step], number: int) -> list[Step]:
    """Delete a result: its call is left without an answer."""
    at = _chosen(steps, Result, number)
    return steps if at is None else steps[:at] + steps[at + 1 :]


def delete_call(steps: list[Step], number: int) -> list[Step]:
    """Delete a call, and its message if it holds no other: its result is an orphan."""
    at = _chosen(steps, Calls, number)
    if at is None:
        return steps
    message = steps[at]
    assert isinstance(message, Calls)
    calls = message.calls
    left = calls[: number % len(calls)] + calls[number % len(calls) + 1 :]
    rest: list[Step] = [msgspec.structs.replace(message, calls=left)] if left else []
    return steps[:at] + rest + steps[at + 1 :]


def double_result(steps: list[Step], number: int) -> list[Step]:
    """Answer a call twice, at once or a little later."""
    at = _chosen(steps, Result, number)
    if at is None:
        return steps
    later = at + 1 + number % 3
    return [*steps[:later], steps[at], *steps[later:]]


def answer_late(steps: list[Step], number: int) -> list[Step]:
    """Move a result behind a later user message."""
    at = _chosen(steps, Result, number)
    if at is None:
        return steps
    rest = steps[:at] + steps[at + 1 :]
    users = [place for place in _places(rest, User) if place >= at]
    if not users:
        return [*rest, User("are you there?"), steps[at]]
    return [*rest[: users[0] + 1], steps[at], *rest[users[0] + 1 :]]


def interrupt(steps: list[Step], number: int) -> list[Step]:
    """Put a user message between a call and its result."""
    at = _chosen(steps, Calls, number)
    return steps if at is None else [*steps[: at + 1], User("wait"), *steps[at + 1 :]]


def answer_early(steps: list[Step], number: int) -> list[Step]:
    """Move a result before its call."""
    at = _chosen(steps, Result, number)
    before = None if at is None else _call_of(steps, at)
    if at is None or before is None:
        return steps
    return [*steps[:before], steps[at], *steps[before:at], *steps[at + 1 :]]


def _nameless(step: Step) -> Step:
    if isinstance(step, Calls):
        calls = tuple(msgspec.structs.replace(call, id=None) for call in step.calls)
        return msgspec.structs.replace(step, calls=calls)
    return msgspec.structs.replace(step, id=None) if isinstance(step, Result) else step


def without_ids(steps: Sequence[Step]) -> list[Step]:
    """Take the ids from every call and result, as Gemini may leave them out.

    >>> without_ids([Calls.of("a"), Result("a")])[1].id is None
    True
    """
    return [_nameless(step) for step in steps]


def lose_ids(steps: list[Step], number: int) -> list[Step]:
    """Take the ids from a message of calls, from a result, or from both."""
    changed = list(steps)
    for kind, spared in ((Calls, 0), (Result, 1)):
        at = _chosen(steps, kind, number)
        if at is not None and number % 3 != spared:
            changed[at] = _nameless(steps[at])
    return changed


def say_nothing(steps: list[Step], number: int) -> list[Step]:
    """Put in a message without content, of the user's or the model's."""
    nothing: tuple[Step, ...] = (User(""), User(" \n"), Say(""), User("", blocks=True))
    at = number % (len(steps) + 1)
    return [*steps[:at], nothing[number % len(nothing)], *steps[at:]]


BREAKAGES: Final[dict[str, Callable[[list[Step], int], list[Step]]]] = {
    "answer early": answer_early,
    "answer late": answer_late,
    "delete call": delete_call,
    "delete result": delete_result,
    "double result": double_result,
    "interrupt": interrupt,
    "lose ids": lose_ids,
    "say nothing": say_nothing,
}
"""Every breakage by its name."""


def move_results_away(steps: list[Step], distances: Sequence[int]) -> list[Step]:
    """Move each result some steps further down, the distances taken in turn.

    >>> [
    ...     type(step).__name__
    ...     for step in move_results_away([Calls.of("a"), Result("a"), User()], [1])
    ... ]
    ['Calls', 'User', 'Result']
    """
    distance = cycle(distances)
    # Between two steps there is room for everything that lands there, in order.
    places: list[tuple[int, int, Step]] = [
        (at + (next(distance) if isinstance(step, Result) else 0), at, step)
        for at, step in enumerate(steps)
    ]
    moved = sorted(places, key=lambda place: (place[0], place[1] != place[0], place[1]))
    return [step for _, _, step in moved]


def interleave(one: Sequence[Step], other: Sequence[Step], turns: Sequence[bool]) -> list[Step]:
    """Take from two histories in turn, `turns` saying from which, over and over.

    >>> [step.text for step in interleave([User("1"), User("2")], [User("a")], [True, False])]
    ['1', 'a', '2']
    """
    rest, others = list(one), list(other)
    merged: list[Step] = []
    for first in cycle(turns):
        if not rest or not others:
            return merged + rest + others
        merged.append(rest.pop(0) if first else others.pop(0))
    return merged
