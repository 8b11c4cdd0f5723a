"""Judges of windows: which messages stay, within which bounds, over which steps.

A judge yields a sentence for each thing that is not as stated. Which messages stay is judged of the
first trim; bounds and groups after every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lockstitch.history import load

if TYPE_CHECKING:
    from lockstitch.testing.trials import Trial

__all__ = ["JUDGES_OF_WINDOWS", "Judge", "kept_of"]

Judge = Callable[["Trial", Any], Iterator[str]]
"""What judges one expectation: takes the trial and the stated value."""


def kept_of(trial: Trial) -> list[int]:
    """Return what stays of the input: the first window, or all of it where nothing was cut."""
    if trial.condensed:
        return trial.condensed[0].plan.kept
    return trial.steps[0].kept if trial.steps else list(range(trial.count))


def _kept_indices(trial: Trial, value: list[int]) -> Iterator[str]:
    if kept_of(trial) != value:
        yield f"kept {kept_of(trial)}, expected {value}"


def _kept_indices_one_of(trial: Trial, value: list[list[int]]) -> Iterator[str]:
    if kept_of(trial) not in value:
        yield f"kept {kept_of(trial)}, expected one of {value}"


def _must_keep(trial: Trial, value: list[int]) -> Iterator[str]:
    gone = [at for at in value if at not in kept_of(trial)]
    if gone:
        yield f"{gone} must stay, kept {kept_of(trial)}"


def _must_drop(trial: Trial, value: list[int]) -> Iterator[str]:
    left = [at for at in value if at in kept_of(trial)]
    if left:
        yield f"{left} must go, kept {kept_of(trial)}"


def _groups_atomic(trial: Trial, value: list[list[int]]) -> Iterator[str]:
    units = {at: unit.members for unit in trial.groups() for at in unit.members}
    for group in value:
        if len({units[at] for at in group}) > 1:
            yield f"{group} is not one group: {sorted({units[at] for at in group})}"
        for kept in [step.kept for step in trial.steps] or [kept_of(trial)]:
            inside = [at for at in group if at in kept]
            if inside and len(inside) < len(group):
                yield f"of the group {group} only {inside} stay"


def _order_preserved(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and any(step.kept != sorted(step.kept) for step in trial.steps):
        yield f"the order changed: {kept_of(trial)}"


def _kept_deep_equal(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and not trial.is_unchanged():
        yield "a kept message differs from the input's"


def _index_in_result(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    kept = kept_of(trial)
    for at, place in value.items():
        if int(at) not in kept or kept.index(int(at)) != place:
            yield f"message {at} is not at {place} of {kept}"


# --- bounds and steps ----------------------------------------------------------------------------


def _max_messages(trial: Trial, value: int) -> Iterator[str]:
    for number, step in enumerate(trial.steps):
        if len(step.result) > value:
            yield f"step {number}: {len(step.result)} messages, {value} are allowed"
    if len(trial.result()) > value:
        yield f"{len(trial.result())} messages, {value} are allowed"


def _max_size(trial: Trial, value: int) -> Iterator[str]:
    for number, step in enumerate(trial.steps):
        size = trial.size(step.kept)
        if size > value:
            yield f"step {number}: the size is {size}, {value} is allowed"


def _oldest(trial: Trial, positions: Sequence[int]) -> int | None:
    """Return the oldest message after the system part."""
    roles = [message.role for message in load(trial.source(positions), format=trial.format)]
    said = (at for at, role in zip(positions, roles, strict=True) if role != "system")
    return next(said, None)


def _first_kept_changes_at_most(trial: Trial, value: int) -> Iterator[str]:
    firsts = [_oldest(trial, range(trial.count)), *(_oldest(trial, s.kept) for s in trial.steps)]
    changes = sum(one != other for one, other in itertools.pairwise(firsts))
    if changes > value:
        yield f"the oldest kept message changed {changes} times: {firsts}"


def _after_step(trial: Trial, value: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for number, expected in value.items():
        at = int(number)
        if at >= len(trial.steps):
            yield f"there is no step {at}"
            continue
        step = trial.steps[at]
        for key, stated in expected.items():
            if key == "max_size":
                wrong = trial.size(step.kept) > stated
            elif key == "max_messages":
                wrong = len(step.kept) > stated
            elif key == "kept_indices":
                wrong = step.kept != stated
            elif key == "kept_indices_one_of":
                wrong = step.kept not in stated
            elif key == "must_keep":
                wrong = not set(stated) <= set(step.kept)
            elif key == "must_drop":
                wrong = bool(set(stated) & set(step.kept))
            elif key == "first_kept_stable_while_under_limit":
                wrong = stated and _moved_under_limit(trial, at)
            else:
                yield f"the expectation {key!r} after a step is unknown"
                continue
            if wrong:
                yield f"after step {at}: {key} is not {stated}, kept {step.kept}"


def _moved_under_limit(trial: Trial, last: int) -> bool:
    """Whether the oldest message moved at a step that had no need to cut."""
    op = trial.operation
    for step in trial.steps[: last + 1]:
        by_count = op["by"] == "messages"
        size = len(step.before) if by_count else trial.size(step.before)
        if size <= op["limit"] and _oldest(trial, step.before) != _oldest(trial, step.kept):
            return True
    return False


JUDGES_OF_WINDOWS: Final[dict[str, Judge]] = {
    "after_step": _after_step,
    "first_kept_changes_at_most": _first_kept_changes_at_most,
    "groups_atomic": _groups_atomic,
    "index_in_result": _index_in_result,
    "kept_deep_equal": _kept_deep_equal,
    "kept_indices": _kept_indices,
    "kept_indices_one_of": _kept_indices_one_of,
    "max_messages": _max_messages,
    "max_size": _max_size,
    "must_drop": _must_drop,
    "must_keep": _must_keep,
    "order_preserved": _order_preserved,
}
