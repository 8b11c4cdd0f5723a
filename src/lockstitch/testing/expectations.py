"""Expectations: every key a case may state about what came of it, and how it is judged.

A judge takes the trial and the stated value, and yields a sentence for each thing that is not so.
A key that is not in the table is a failure of the case: nothing passes because nobody looked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import CannotFit, FormatError, SummaryFailed
from lockstitch.measure.limits import MESSAGES
from lockstitch.testing.judges_findings import JUDGES_OF_FINDINGS
from lockstitch.testing.judges_repairs import JUDGES_OF_REPAIRS
from lockstitch.testing.judges_repairs import conventions as of_repairs
from lockstitch.testing.judges_results import JUDGES_OF_RESULTS
from lockstitch.testing.judges_summaries import JUDGES_OF_SUMMARIES
from lockstitch.testing.judges_windows import JUDGES_OF_WINDOWS, Judge
from lockstitch.testing.trials import Unsupported

if TYPE_CHECKING:
    from lockstitch.testing.trials import Trial

__all__ = ["EXPECTATIONS", "judge"]

# The names that cases give to errors, and what raises under each.
_ERRORS: Final[dict[str, tuple[type[Exception], ...]]] = {
    "invalid-format": (FormatError,),
    "invalid-limit": (TypeError, ValueError),
    "limit-too-small": (CannotFit,),
    "summarizer-failed": (SummaryFailed,),
    "summary-does-not-fit": (CannotFit, SummaryFailed),
}
# What an error must be able to say, and the attribute that says it.
_SAYS: Final = {
    "floor": "floor",
    "limit": "limit",
    "needed": "needed",
    "pinned": "floor",
    "required": "needed",
    "unit": "unit",
}
# Said for people, or judged elsewhere in this module.
_SILENT: Final = frozenset(
    {"why", "note", "may_raise", "must_raise", "must_not_raise", "error_names", "or", "either"}
    | {"if_returned"}
)

EXPECTATIONS: Final[dict[str, tuple[Judge, ...]]] = {}
"""The judges of every key; some have one for windows and one for repairs."""
for _judges in (
    JUDGES_OF_WINDOWS,
    JUDGES_OF_FINDINGS,
    JUDGES_OF_RESULTS,
    JUDGES_OF_REPAIRS,
    JUDGES_OF_SUMMARIES,
):
    for _key, _judge in _judges.items():
        EXPECTATIONS[_key] = (*EXPECTATIONS.get(_key, ()), _judge)


def judge(trial: Trial, expected: Mapping[str, Any]) -> list[str]:
    """List everything in which a trial is not what was expected.

    `or` and `either` are other outcomes that pass as well: expectations of their own, or words that
    describe one this release has no means to bring about.

    Raises:
        Unsupported: nothing is wrong as far as this release can tell, and something it cannot.
    """
    problems, untold = _judge_all(trial, expected)
    if problems and any(not _judge_all(trial, other)[0] for other in _others(expected)):
        return []
    if untold and not problems:
        raise Unsupported("; ".join(untold))
    return problems


def _others(expected: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("or", "either"):
        stated: Any = expected.get(key)
        others: list[Any] = stated if isinstance(stated, list) else [stated]
        yield from (other for other in others if isinstance(other, Mapping))


def _judge_all(trial: Trial, expected: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return what is not as expected, and what this release cannot tell."""
    problems = [f"the expectation {key!r} is unknown" for key in _strange(expected)]
    untold: list[str] = []
    if trial.error is not None:
        return problems + list(_raised(trial, trial.error, expected)), untold
    if "must_raise" in expected:
        return [*problems, f"nothing was raised, expected {expected['must_raise']}"], untold
    problems += _conventions(trial)
    problems += of_repairs(trial)
    for stated in (expected, _if_returned(expected)):
        for key, value in stated.items():
            for judges in EXPECTATIONS.get(key, ()):
                try:
                    problems += judges(trial, value)
                except Unsupported as reason:
                    untold.append(str(reason))
    return problems, untold


def _if_returned(expected: Mapping[str, Any]) -> Mapping[str, Any]:
    nested: Mapping[str, Any] = expected.get("if_returned") or {}
    return nested


def _strange(expected: Mapping[str, Any]) -> list[str]:
    stated = (*expected, *_if_returned(expected))
    return [key for key in stated if key not in EXPECTATIONS and key not in _SILENT]


def _raised(trial: Trial, error: Exception, expected: Mapping[str, Any]) -> Iterator[str]:
    stated: Any = expected.get("must_raise") or expected.get("may_raise") or []
    names: list[str] = [stated] if isinstance(stated, str) else stated
    said = f"{type(error).__name__}: {error}"
    strange = [name for name in names if name not in _ERRORS]
    if strange:
        yield f"the errors {strange} are unknown"
    elif not any(isinstance(error, _ERRORS[name]) for name in names):
        yield f"raised {said}" + (f", expected {' or '.join(names)}" if names else "")
    for what in expected.get("error_names") or ():
        value = getattr(error, _SAYS.get(what, ""), None)
        if value is None or (isinstance(value, int) and str(value) not in str(error)):
            yield f"the error does not name its {what}: {said}"
    if not trial.is_unchanged():
        yield "the input was changed although an error was raised"


def _conventions(trial: Trial) -> Iterator[str]:
    """Judge what holds for every trim, stated or not."""
    op = trial.operation
    for number, step in enumerate(trial.steps):
        beside = (op.get("reserve") or 0) + (op.get("fixed_overhead") or 0)
        if op["by"] == MESSAGES:
            size, most = len(step.kept), op["limit"]
        else:
            size, most = trial.size(step.kept), op["limit"] - beside
        if step.kept and size > most:
            yield f"step {number}: {size} {op['by']} are kept, {most} are allowed"
        if step.kept != sorted(step.kept) or len(step.kept) != len(step.result):
            yield f"step {number}: the result is no part of the input in its order: {step.kept}"
        if sorted([*step.kept, *step.dropped]) != step.before:
            yield f"step {number}: kept and dropped do not make up the input"
    if trial.mended is None and not trial.is_unchanged():
        yield "the input was changed"
