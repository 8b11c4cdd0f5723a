"""Judges: what each expectation of a case means.

A judge yields a sentence for each thing that is not as stated. Those about windows look at the
first trim; bounds, groups and validity are judged after every step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.history import groups, load, plan
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing.codes import CODES, found_at, has_rule, stands_for
from lockstitch.testing.trials import Unsupported
from lockstitch.transcript import Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from lockstitch.rules.report import Violation
    from lockstitch.testing.trials import Trial

__all__ = ["table"]

Judge = Callable[["Trial", Any], Iterator[str]]
_JUDGES: dict[str, Judge] = {}


def table() -> dict[str, Judge]:
    """Return every judge under the key that it judges."""
    return dict(_JUDGES)


def _judges(judge: Judge) -> Judge:
    _JUDGES[judge.__name__] = judge
    return judge


# --- which messages stay -------------------------------------------------------------------------


def _kept(trial: Trial) -> list[int]:
    """Return what stays of the input: the first window, or all of it where nothing was cut."""
    return trial.steps[0].kept if trial.steps else list(range(trial.count))


@_judges
def kept_indices(trial: Trial, value: list[int]) -> Iterator[str]:
    if _kept(trial) != value:
        yield f"kept {_kept(trial)}, expected {value}"


@_judges
def kept_indices_one_of(trial: Trial, value: list[list[int]]) -> Iterator[str]:
    if _kept(trial) not in value:
        yield f"kept {_kept(trial)}, expected one of {value}"


@_judges
def must_keep(trial: Trial, value: list[int]) -> Iterator[str]:
    gone = [at for at in value if at not in _kept(trial)]
    if gone:
        yield f"{gone} must stay, kept {_kept(trial)}"


unchanged = _JUDGES["unchanged"] = must_keep


@_judges
def must_drop(trial: Trial, value: list[int]) -> Iterator[str]:
    left = [at for at in value if at in _kept(trial)]
    if left:
        yield f"{left} must go, kept {_kept(trial)}"


@_judges
def groups_atomic(trial: Trial, value: list[list[int]]) -> Iterator[str]:
    units = {at: unit.members for unit in trial.groups() for at in unit.members}
    for group in value:
        if len({units[at] for at in group}) > 1:
            yield f"{group} is not one group: {sorted({units[at] for at in group})}"
        for step in trial.steps:
            inside = [at for at in group if at in step.kept]
            if inside and len(inside) < len(group):
                yield f"of the group {group} only {inside} stay"


@_judges
def order_preserved(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and any(step.kept != sorted(step.kept) for step in trial.steps):
        yield f"the order changed: {_kept(trial)}"


@_judges
def kept_deep_equal(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and not trial.is_unchanged():
        yield "a kept message differs from the input's"


no_synthetic_results = _JUDGES["no_synthetic_results"] = order_preserved


@_judges
def result_equals_input(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    same = _kept(trial) == list(range(trial.count)) and trial.is_unchanged()
    if value and not same:
        yield f"the result is not the input, kept {_kept(trial)}"


nothing_lost = _JUDGES["nothing_lost"] = result_equals_input


@_judges
def index_in_result(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    kept = _kept(trial)
    for at, place in value.items():
        if int(at) not in kept or kept.index(int(at)) != place:
            yield f"message {at} is not at {place} of {kept}"


# --- bounds and steps ----------------------------------------------------------------------------


@_judges
def max_messages(trial: Trial, value: int) -> Iterator[str]:
    for number, step in enumerate(trial.steps):
        if len(step.result) > value:
            yield f"step {number}: {len(step.result)} messages, {value} are allowed"


@_judges
def max_size(trial: Trial, value: int) -> Iterator[str]:
    for number, step in enumerate(trial.steps):
        size = trial.size(step.kept)
        if size > value:
            yield f"step {number}: the size is {size}, {value} is allowed"


def _oldest(trial: Trial, positions: Sequence[int]) -> int | None:
    """Return the oldest message after the system part."""
    roles = [message.role for message in load(trial.source(positions), format=trial.format)]
    said = (at for at, role in zip(positions, roles, strict=True) if role != "system")
    return next(said, None)


@_judges
def first_kept_changes_at_most(trial: Trial, value: int) -> Iterator[str]:
    firsts = [_oldest(trial, range(trial.count)), *(_oldest(trial, s.kept) for s in trial.steps)]
    changes = sum(one != other for one, other in itertools.pairwise(firsts))
    if changes > value:
        yield f"the oldest kept message changed {changes} times: {firsts}"


@_judges
def after_step(trial: Trial, value: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
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


# --- what is accepted ----------------------------------------------------------------------------


def _known(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target not in PROFILES:
            raise Unsupported(f"the target {target} is not in this release")
    return list(targets)


@_judges
def result_valid_for(trial: Trial, value: list[str]) -> Iterator[str]:
    for target in _known(value):
        for step in trial.steps:
            for found in trial.report(step.kept, target, trial.tail()).errors:
                yield f"for {target}: {found.rule} at {found.path} of the result"


@_judges
def input_valid_for(trial: Trial, value: list[str]) -> Iterator[str]:
    for target in _known(value):
        if not trial.report(None, target, "closed").ok:
            yield f"the input is not valid for {target}"
    refuses = trial.op == "validate" and trial.profile not in value
    if refuses and trial.report(None, trial.profile, "closed").ok:
        yield f"the input is valid for {trial.profile}"


@_judges
def valid(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    errors = [found for found in trial.findings() if found.severity == "error"]
    if value is bool(errors):
        yield f"valid is {not errors}: {[f'{found.rule} at {found.index}' for found in errors]}"


@_judges
def no_violation_codes(trial: Trial, value: list[str]) -> Iterator[str]:
    for step in trial.steps:
        report = trial.report(step.kept, trial.profile, trial.tail())
        for code in value:
            for found in found_at(report.violations, code, None):
                yield f"{code}: {found.rule} at {found.path} of the result"


# --- findings ------------------------------------------------------------------------------------


def _asked(trial: Trial, stated: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the findings that this release has a rule for; refuse the case if it has none."""
    for finding in stated:
        if finding["code"] not in CODES:
            raise ValueError(f"the finding code {finding['code']!r} is unknown")
    ruled = [one for one in stated if has_rule(one["code"], trial.profile, trial.format)]
    if stated and not ruled:
        codes = sorted({one["code"] for one in stated})
        raise Unsupported(f"no rule of {trial.profile} in this release finds {', '.join(codes)}")
    return ruled


def _met(violations: Sequence[Violation], finding: Mapping[str, Any]) -> list[Violation]:
    met = found_at(violations, finding["code"], finding.get("index"))
    if "block" in finding:
        met = [one for one in met if _block(one) == finding["block"]]
    if "severity" in finding:
        met = [one for one in met if one.severity in finding["severity"]]
    return met


def _block(violation: Violation) -> int | None:
    """Return the content part that a violation is at: the last index of its path."""
    inside = violation.path.partition("]")[2]
    return int(inside.rpartition("[")[2].rstrip("]")) if inside.endswith("]") else None


def _included(
    trial: Trial, violations: Sequence[Violation], stated: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    if len(_asked(trial, stated)) < len(stated):
        strange = [one["code"] for one in stated if one not in _asked(trial, stated)]
        raise Unsupported(f"no rule of {trial.profile} in this release finds {', '.join(strange)}")
    for finding in stated:
        if not _met(violations, finding):
            found = [f"{one.rule} at {one.index}" for one in violations]
            yield f"{finding['code']} at {finding.get('index')} was not found, only {found}"


@_judges
def violations_include(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    yield from _included(trial, trial.findings(), value)


@_judges
def violations_include_any_of(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    findings = trial.findings()
    if not any(_met(findings, finding) for finding in _asked(trial, value)):
        yield f"none of {[one['code'] for one in value]} was found"


@_judges
def input_violations_include(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    yield from _included(trial, trial.report(None, trial.profile, "closed").violations, value)


@_judges
def input_violations_include_any_of(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    violations = trial.report(None, trial.profile, "closed").violations
    if not any(_met(violations, finding) for finding in _asked(trial, value)):
        yield f"none of {[one['code'] for one in value]} was found in the input"


@_judges
def violations_exclude_indices(trial: Trial, value: list[int]) -> Iterator[str]:
    for found in trial.findings():
        if found.index in value:
            yield f"{found.rule} was found at {found.index}"


def _expected_findings(trial: Trial) -> list[Violation]:
    """Return the violations that the case's own findings mean."""
    expected = trial.case["expected"]
    stated = [
        *(expected.get("violations_include") or ()),
        *(expected.get("violations_include_any_of") or ()),
    ]
    violations = trial.findings()
    return [
        one for finding in stated for one in found_at(violations, finding["code"], finding["index"])
    ]


@_judges
def block(trial: Trial, value: int) -> Iterator[str]:
    places = [_block(found) for found in _expected_findings(trial)]
    if value not in places:
        yield f"no finding names the content part {value}, only {places}"


@_judges
def severity(trial: Trial, value: str) -> Iterator[str]:
    for found in _expected_findings(trial):
        if found.severity not in value:
            yield f"{found.rule} is of severity {found.severity}, expected {value}"


@_judges
def missing_ids(trial: Trial, value: list[str]) -> Iterator[str]:
    named = {
        part.id
        for found in trial.findings()
        if stands_for("dangling-tool-call", found)
        for part in load(trial.source(), format=trial.format).message(found.index).parts
        if isinstance(part, ToolCall) and found.path.endswith(f"].{part.path}")
    }
    if named != set(value):
        yield f"the calls found unanswered are {sorted(map(str, named))}, expected {value}"


# --- reports -------------------------------------------------------------------------------------


@_judges
def report_dropped(trial: Trial, value: list[int]) -> Iterator[str]:
    if trial.steps[0].dropped != value:
        yield f"the report says that {trial.steps[0].dropped} go, expected {value}"


@_judges
def report_dropped_includes(trial: Trial, value: list[int]) -> Iterator[str]:
    if not set(value) <= set(trial.steps[0].dropped):
        yield f"the report says that {trial.steps[0].dropped} go, expected {value} among them"


@_judges
def report_dropped_equals_complement(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    for number, step in enumerate(trial.steps):
        gone = [at for at in step.before if at not in step.kept]
        if value and step.dropped != gone:
            yield f"step {number}: the report says that {step.dropped} go, {gone} went"


never_silent = _JUDGES["never_silent"] = report_dropped_equals_complement


@_judges
def report_mentions(trial: Trial, value: list[int]) -> Iterator[str]:
    named = {*trial.steps[0].dropped} if trial.steps else set[int]()
    named |= {found.index for found in trial.findings()} if trial.op == "validate" else set()
    if not set(value) <= named:
        yield f"the report names {sorted(named)}, expected {value} among them"


@_judges
def report_flags(trial: Trial, value: list[str]) -> Iterator[str]:
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


@_judges
def store_unchanged(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and not trial.is_unchanged():
        yield "the input was changed"


# --- what the result says ------------------------------------------------------------------------


def _strings(value: Any) -> Iterator[str]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            todo.extend(item.values())
        elif isinstance(item, (list, tuple)):
            todo.extend(item)


def _results(trial: Trial) -> list[Any]:
    return [trial.natives[at] for at in _kept(trial)]


@_judges
def must_preserve_text(trial: Trial, value: list[str]) -> Iterator[str]:
    said = list(_strings(_results(trial)))
    for text in value:
        if not any(text in one for one in said):
            yield f"{text!r} is lost"


must_keep_text = _JUDGES["must_keep_text"] = must_preserve_text


@_judges
def must_not_contain(trial: Trial, value: list[str]) -> Iterator[str]:
    for text in value:
        if any(text in one for one in _strings(_results(trial))):
            yield f"{text!r} is still there"


@_judges
def must_contain_json_string(trial: Trial, value: list[str]) -> Iterator[str]:
    said = set(_strings(_results(trial)))
    for text in value:
        if text not in said:
            yield f"the string {text!r} is lost"


@_judges
def result_length(trial: Trial, value: int) -> Iterator[str]:
    if len(_kept(trial)) != value:
        yield f"{len(_kept(trial))} messages, expected {value}"


def _roles(trial: Trial) -> list[str]:
    return [
        str(mapping(native).get("role") or mapping(native).get("type"))
        for native in _results(trial)
    ]


@_judges
def roles(trial: Trial, value: list[str]) -> Iterator[str]:
    if _roles(trial) != value:
        yield f"the roles are {_roles(trial)}, expected {value}"


@_judges
def roles_one_of(trial: Trial, value: list[list[str]]) -> Iterator[str]:
    if _roles(trial) not in value:
        yield f"the roles are {_roles(trial)}, expected one of {value}"


@_judges
def last_role(trial: Trial, value: str) -> Iterator[str]:
    if _roles(trial)[-1:] != [value]:
        yield f"the last role is {_roles(trial)[-1:]}, expected {value}"


@_judges
def first_role(trial: Trial, value: str) -> Iterator[str]:
    if _roles(trial)[:1] != [value]:
        yield f"the first role is {_roles(trial)[:1]}, expected {value}"


def _parts(trial: Trial) -> Iterator[Any]:
    for message in load(trial.source(_kept(trial)), format=trial.format):
        yield from message.parts


@_judges
def no_empty_text(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    blank = [
        part for part in _parts(trial) if isinstance(part, Text) and not (part.text or "").strip()
    ]
    if value and blank:
        yield "the result holds blank text"


@_judges
def call_count_for_id(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    yield from _counted(trial, ToolCall, value)


@_judges
def result_count_for_id(trial: Trial, value: Mapping[str, int]) -> Iterator[str]:
    yield from _counted(trial, ToolResult, value)


def _counted(trial: Trial, kind: type, value: Mapping[str, int]) -> Iterator[str]:
    ids = [part.id for part in _parts(trial) if isinstance(part, kind)]  # type: ignore[attr-defined]
    for one, times in value.items():
        if ids.count(one) != times:
            yield f"{one} is there {ids.count(one)} times, expected {times}"


@_judges
def pair_kept(trial: Trial, value: list[str]) -> Iterator[str]:
    kept = _kept(trial)
    ids = {
        part.id: unit.members
        for unit in groups(trial.source(kept), format=trial.format, profile=trial.profile)
        for at in unit.members
        for part in load(trial.source([kept[at]]), format=trial.format).message(0).parts
        if isinstance(part, ToolResult) and unit.calls
    }
    for one in value:
        if one not in ids:
            yield f"the call {one} and its result are not both there"


@_judges
def synthetic_results_for(trial: Trial, value: list[str]) -> Iterator[str]:
    if value:
        yield f"no result was made for {value}"


@_judges
def idempotent(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    if value and trial.steps:
        again = plan(
            trial.source(_kept(trial)), format=trial.format, **trial.arguments(_kept(trial))
        )
        if again.dropped:
            yield f"a second trim drops {again.dropped} more"
