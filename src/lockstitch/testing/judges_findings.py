"""Judges of findings: what is accepted, and what a check finds at which place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.history import load
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing.codes import CODES, found_at, has_rule, stands_for
from lockstitch.testing.trials import Unsupported
from lockstitch.transcript import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lockstitch.rules.report import Violation
    from lockstitch.testing.judges_windows import Judge
    from lockstitch.testing.trials import Trial

__all__ = ["JUDGES_OF_FINDINGS"]


def _known(targets: Sequence[str]) -> list[str]:
    for target in targets:
        if target not in PROFILES:
            raise Unsupported(f"the target {target} is not in this release")
    return list(targets)


def _result_valid_for(trial: Trial, value: list[str]) -> Iterator[str]:
    for target in _known(value):
        if trial.mended is not None:
            for found in trial.report_of(trial.result(), target, trial.closing()).errors:
                yield f"for {target}: {found.rule} at {found.path} of the result"
        if trial.condensed:
            for found in trial.report_of(trial.result(), target, trial.tail()).errors:
                yield f"for {target}: {found.rule} at {found.path} of the result"
        for step in trial.steps:
            for found in trial.report(step.kept, target, trial.tail()).errors:
                yield f"for {target}: {found.rule} at {found.path} of the result"


def _input_valid_for(trial: Trial, value: list[str]) -> Iterator[str]:
    for target in _known(value):
        if not trial.report(None, target, "closed").ok:
            yield f"the input is not valid for {target}"
    refuses = trial.op == "validate" and trial.profile not in value
    if refuses and trial.report(None, trial.profile, "closed").ok:
        yield f"the input is valid for {trial.profile}"


def _valid(trial: Trial, value: bool) -> Iterator[str]:  # noqa: FBT001 - as in a case
    errors = [found for found in trial.findings() if found.severity == "error"]
    if value is bool(errors):
        yield f"valid is {not errors}: {[f'{found.rule} at {found.index}' for found in errors]}"


def _no_violation_codes(trial: Trial, value: list[str]) -> Iterator[str]:
    strange = [code for code in value if code not in CODES]
    if strange:
        yield f"the finding codes {strange} are unknown"
        return
    reports = [trial.report(step.kept, trial.profile, trial.tail()) for step in trial.steps]
    if trial.mended is not None:
        reports.append(trial.report_of(trial.result(), trial.profile, trial.closing()))
    for report in reports:
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
        met = [one for one in met if _part_of(one) == finding["block"]]
    if "severity" in finding:
        met = [one for one in met if one.severity in finding["severity"]]
    return met


def _part_of(violation: Violation) -> int | None:
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


def _violations_include(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    yield from _included(trial, trial.findings(), value)


def _violations_include_any_of(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    findings = trial.findings()
    if not any(_met(findings, finding) for finding in _asked(trial, value)):
        yield f"none of {[one['code'] for one in value]} was found"


def _input_violations_include(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    yield from _included(trial, trial.report(None, trial.profile, "closed").violations, value)


def _input_violations_include_any_of(trial: Trial, value: list[dict[str, Any]]) -> Iterator[str]:
    violations = trial.report(None, trial.profile, "closed").violations
    if not any(_met(violations, finding) for finding in _asked(trial, value)):
        yield f"none of {[one['code'] for one in value]} was found in the input"


def _violations_exclude_indices(trial: Trial, value: list[int]) -> Iterator[str]:
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
    return [one for finding in _asked(trial, stated) for one in _met(violations, finding)]


def _block(trial: Trial, value: int) -> Iterator[str]:
    places = [_part_of(found) for found in _expected_findings(trial)]
    if value not in places:
        yield f"no finding names the content part {value}, only {places}"


def _severity(trial: Trial, value: str) -> Iterator[str]:
    for found in _expected_findings(trial):
        if found.severity not in value:
            yield f"{found.rule} is of severity {found.severity}, expected {value}"


def _missing_ids(trial: Trial, value: list[str]) -> Iterator[str]:
    named = {
        part.id
        for found in trial.findings()
        if stands_for("dangling-tool-call", found)
        for part in load(trial.source(), format=trial.format).message(found.index).parts
        if isinstance(part, ToolCall) and found.path.endswith(f"].{part.path}")
    }
    if named != set(value):
        yield f"the calls found unanswered are {sorted(map(str, named))}, expected {value}"


JUDGES_OF_FINDINGS: Final[dict[str, Judge]] = {
    "block": _block,
    "input_valid_for": _input_valid_for,
    "input_violations_include": _input_violations_include,
    "input_violations_include_any_of": _input_violations_include_any_of,
    "missing_ids": _missing_ids,
    "no_violation_codes": _no_violation_codes,
    "result_valid_for": _result_valid_for,
    "severity": _severity,
    "valid": _valid,
    "violations_exclude_indices": _violations_exclude_indices,
    "violations_include": _violations_include,
    "violations_include_any_of": _violations_include_any_of,
}
