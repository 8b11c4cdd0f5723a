"""Judges of summaries: what went into them, how often somebody was asked, what came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import SYSTEM
from lockstitch.grouping import ORPHAN
from lockstitch.history import groups, load
from lockstitch.plan.pending import MARK
from lockstitch.testing.codes import found_at
from lockstitch.testing.judges_windows import kept_of
from lockstitch.transcript import Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.testing.judges_windows import Judge
    from lockstitch.testing.trials import Trial

__all__ = ["JUDGES_OF_SUMMARIES"]


def _summarized(trial: Trial) -> list[int]:
    """Return the positions of the input that the first summary stands for."""
    return [
        at
        for edit in trial.condensed[0].plan.edits
        if edit.reason == "summarized"
        for at in range(edit.start, edit.stop)
    ]


def _summaries(trial: Trial) -> list[int]:
    """Return where summaries stand in the result."""
    found: list[int] = []
    for at, message in enumerate(load(trial.result(), format=trial.format)):
        first = message.parts[0] if message.parts else None
        if isinstance(first, Text) and MARK.match(first.text or ""):
            found.append(at)
    return found


def _summary_count(trial: Trial, value: int) -> Iterator[str]:
    if len(_summaries(trial)) != value:
        yield f"there are {len(_summaries(trial))} summaries, expected {value}"


def _max_summaries(trial: Trial, value: int) -> Iterator[str]:
    if len(_summaries(trial)) > value:
        yield f"there are {len(_summaries(trial))} summaries, {value} are allowed"


def _summary_not_before_system(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    roles = [message.role for message in load(trial.result(), format=trial.format)]
    for at in _summaries(trial) if value else ():
        if SYSTEM in roles[at:]:
            yield f"the summary at {at} stands before a system message"


def _summarized_subset_of(trial: Trial, value: list[int]) -> Iterator[str]:
    beyond = sorted(set(_summarized(trial)) - set(value))
    if beyond:
        yield f"{beyond} went into the summary, only {value} may"


def _disjoint(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    both = sorted(set(_summarized(trial)) & set(kept_of(trial)))
    if value and both:
        yield f"{both} are kept and summarised"


def _cover_all(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    neither = sorted(set(range(trial.count)) - set(_summarized(trial)) - set(kept_of(trial)))
    if value and neither:
        yield f"{neither} are neither kept nor summarised"


def _no_message_lost(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    """Without a limit nothing goes but into a summary; with one the plan names what went."""
    for edit in trial.condensed[0].plan.edits if value else ():
        told = edit.reason in {"summarized", "superseded"} or "limit" in trial.operation
        if edit.action == "drop" and not told:
            yield f"the messages {edit.start} to {edit.stop - 1} are lost: {edit.reason}"


def _unchanged_on_failure(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and not trial.is_unchanged():
        yield "the input was changed"
    done = trial.condensed[0]
    limited = "limit" in trial.operation
    if value and done.failure and not limited and trial.result() != trial.natives[: trial.count]:
        yield "the summary failed and the history is not what it was"


def _terminates(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    pieces = sum(len(prompt.lines) for prompt in trial.prompts)
    if value and len(trial.prompts) > 2 * (pieces + 1):
        yield f"the summarizer was asked {len(trial.prompts)} times"


def _max_summarizer_calls(trial: Trial, value: int) -> Iterator[str]:
    if len(trial.prompts) > value:
        yield f"the summarizer was asked {len(trial.prompts)} times, {value} are allowed"


def _each_input(trial: Trial, value: int) -> Iterator[str]:
    sizes = [len(prompt) for prompt in trial.prompts]
    if not sizes or max(sizes) > value:
        yield f"the prompts have {sizes} characters, {value} are allowed"


def _not_as_result(trial: Trial, value: list[int]) -> Iterator[str]:
    natives = [trial.natives[at] for at in value]
    for native, message in zip(
        trial.result(), load(trial.result(), format=trial.format), strict=True
    ):
        if native in natives and any(isinstance(part, ToolResult) for part in message.parts):
            yield f"{native} is kept as a result"


# --- what is appended -----------------------------------------------------------------------------


def _appended(trial: Trial) -> list[Any]:
    return [*trial.result(), *trial.case["expected"].get("then_append", ())]


def _then_append(trial: Trial, value: list[Any]) -> Iterator[str]:
    """Say nothing: what follows is judged by the keys that begin with `after_append`."""
    yield from ()


def _after_append_valid(trial: Trial, value: list[str]) -> Iterator[str]:
    for target in value:
        for found in trial.report_of(_appended(trial), target, "closed").errors:
            yield f"with what is appended, for {target}: {found.rule} at {found.path}"


def _after_append_codes(trial: Trial, value: list[str]) -> Iterator[str]:
    """A result that stands far from its call has it all the same, and is no orphan."""
    whole = trial.as_source(_appended(trial))
    if any(unit.state == ORPHAN for unit in groups(whole, format=trial.format)):
        yield "with what is appended: a result has no call"
    report = trial.report_of(_appended(trial), trial.profile, "closed")
    for code in value:
        for found in found_at(report.violations, code, None):
            if code != "orphan-tool-result":
                yield f"with what is appended: {found.rule} at {found.path}"


JUDGES_OF_SUMMARIES: Final[dict[str, Judge]] = {
    "after_append_no_violation_codes": _after_append_codes,
    "after_append_valid_for": _after_append_valid,
    "each_summarizer_input_max_chars": _each_input,
    "kept_and_summarized_cover_all": _cover_all,
    "kept_and_summarized_disjoint": _disjoint,
    "max_summaries": _max_summaries,
    "max_summarizer_calls": _max_summarizer_calls,
    "must_not_keep_as_tool_result": _not_as_result,
    "no_message_lost": _no_message_lost,
    "store_unchanged_on_failure": _unchanged_on_failure,
    "summarized_subset_of": _summarized_subset_of,
    "summary_count": _summary_count,
    "summary_not_before_system": _summary_not_before_system,
    "terminates": _terminates,
    "then_append": _then_append,
}
