"""Judges of results: what the report of a trim names, and what the messages that come out say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from lockstitch.formats.base import mapping
from lockstitch.history import load, plan
from lockstitch.testing.judges_windows import kept_of
from lockstitch.testing.pieces import strings
from lockstitch.transcript import Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockstitch.testing.judges_windows import Judge
    from lockstitch.testing.trials import Trial

__all__ = ["JUDGES_OF_RESULTS"]


def _report_dropped(trial: Trial, value: list[int]) -> Iterator[str]:
    if trial.steps[0].dropped != value:
        yield f"the report says that {trial.steps[0].dropped} go, expected {value}"


def _report_dropped_includes(trial: Trial, value: list[int]) -> Iterator[str]:
    if not set(value) <= set(trial.steps[0].dropped):
        yield f"the report says that {trial.steps[0].dropped} go, expected {value} among them"


def _report_dropped_equals_complement(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    for number, step in enumerate(trial.steps):
        gone = [at for at in step.before if at not in step.kept]
        if value and step.dropped != gone:
            yield f"step {number}: the report says that {step.dropped} go, {gone} went"


def _report_flags(trial: Trial, value: list[str]) -> Iterator[str]:
    for flag in value:
        if flag != "newest-group-dropped":
            yield f"the flag {flag!r} is unknown"
            continue
        newest = max(trial.groups(), key=lambda unit: unit.members[-1])
        decision = trial.steps[0].decision
        reasons = {
            edit.reason
            for edit in decision.edits
            if edit.action == "drop" and edit.start <= newest.first < edit.stop
        }
        if not reasons - {"oldest"}:
            yield f"the report does not say that the newest group was dropped: {sorted(reasons)}"


def _store_unchanged(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and not trial.is_unchanged():
        yield "the input was changed"


# --- what the result says ------------------------------------------------------------------------


def _must_preserve_text(trial: Trial, value: list[str]) -> Iterator[str]:
    said = list(strings(trial.result()))
    for text in value:
        if not any(text in one for one in said):
            yield f"{text!r} is lost"


def _must_not_contain(trial: Trial, value: list[str]) -> Iterator[str]:
    written = json.dumps(trial.result(), ensure_ascii=False, default=str)
    for text in value:
        if text in written or any(text in one for one in strings(trial.result())):
            yield f"{text!r} is still there"


def _must_contain_json_string(trial: Trial, value: list[str]) -> Iterator[str]:
    said = set(strings(trial.result()))
    for text in value:
        if text not in said:
            yield f"the string {text!r} is lost"


def _result_length(trial: Trial, value: int) -> Iterator[str]:
    if len(trial.result()) != value:
        yield f"{len(trial.result())} messages, expected {value}"


def _roles_of(trial: Trial) -> list[str]:
    return [
        str(mapping(native).get("role") or mapping(native).get("type")) for native in trial.result()
    ]


def _roles(trial: Trial, value: list[str]) -> Iterator[str]:
    if _roles_of(trial) != value:
        yield f"the roles are {_roles_of(trial)}, expected {value}"


def _roles_one_of(trial: Trial, value: list[list[str]]) -> Iterator[str]:
    if _roles_of(trial) not in value:
        yield f"the roles are {_roles_of(trial)}, expected one of {value}"


def _last_role(trial: Trial, value: str) -> Iterator[str]:
    if _roles_of(trial)[-1:] != [value]:
        yield f"the last role is {_roles_of(trial)[-1:]}, expected {value}"


def _first_role(trial: Trial, value: str) -> Iterator[str]:
    if _roles_of(trial)[:1] != [value]:
        yield f"the first role is {_roles_of(trial)[:1]}, expected {value}"


def _parts(trial: Trial) -> Iterator[Any]:
    for message in load(trial.as_source(trial.result()), format=trial.format):
        yield from message.parts


def _no_empty_text(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    blank = [
        part
        for part in _parts(trial)
        if isinstance(part, Text) and part.text is not None and not part.text.strip()
    ]
    if value and blank:
        yield "the result holds blank text"


def _call_count_for_id(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    yield from _counted(trial, ToolCall, value)


def _result_count_for_id(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    yield from _counted(trial, ToolResult, value)


def _counted(trial: Trial, kind: type, value: Mapping[str, int]) -> Iterator[str]:
    ids = [part.id for part in _parts(trial) if isinstance(part, kind)]  # type: ignore[attr-defined]
    for one, times in value.items():
        if ids.count(one) != times:
            yield f"{one} is there {ids.count(one)} times, expected {times}"


def _idempotent(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and trial.steps:
        again = plan(
            trial.source(kept_of(trial)), format=trial.format, **trial.arguments(kept_of(trial))
        )
        if again.dropped:
            yield f"a second trim drops {again.dropped} more"


JUDGES_OF_RESULTS: Final[dict[str, Judge]] = {
    "call_count_for_id": _call_count_for_id,
    "first_role": _first_role,
    "idempotent": _idempotent,
    "last_role": _last_role,
    "must_contain_json_string": _must_contain_json_string,
    "must_keep_text": _must_preserve_text,
    "must_not_contain": _must_not_contain,
    "must_preserve_text": _must_preserve_text,
    "never_silent": _report_dropped_equals_complement,
    "no_empty_text": _no_empty_text,
    "report_dropped": _report_dropped,
    "report_dropped_equals_complement": _report_dropped_equals_complement,
    "report_dropped_includes": _report_dropped_includes,
    "report_flags": _report_flags,
    "result_count_for_id": _result_count_for_id,
    "result_length": _result_length,
    "roles": _roles,
    "roles_one_of": _roles_one_of,
    "store_unchanged": _store_unchanged,
}
