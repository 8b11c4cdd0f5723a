"""Check: a transcript against a profile, one pass, nothing changed.

Knows: which checks a profile calls for, and how a finding becomes a violation. Must not know how a
breach is found (`checks`) or mended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.grouping import group, ties_for
from lockstitch.rules.catalog import Rule, rules_of
from lockstitch.rules.checks import CHECKS
from lockstitch.rules.report import Report, Violation
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockstitch.rules.profiles import Profile
    from lockstitch.transcript import Transcript

__all__ = ["check_transcript", "findings", "view_of"]


def view_of(
    transcript: Transcript,
    profile: Profile,
    *,
    tail: str,
    known: Mapping[str, bool] | None = None,
    record: Transcript | None = None,
) -> View:
    """Look at a transcript as the checks of a profile see it."""
    ties = ties_for(
        transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
    )
    adjacency = profile.adjacency
    if adjacency == "message" and transcript.format.joins:
        adjacency = "run"
    return View(
        transcript,
        group(transcript.facts_from(0), 0, ties),
        adjacency=adjacency,
        closed=tail == "closed",
        ids=profile.ids,
        known=known,
        record=record,
    )


def findings(view: View, profile: Profile) -> Iterator[tuple[Rule, str, Finding]]:
    """Yield every breach with its rule and how grave it is for this model."""
    for rule in rules_of(profile.name, view.transcript.format.name):
        severity = _severity(rule, view.known)
        if severity is not None and rule.check:
            for finding in CHECKS[rule.check](view):
                yield rule, "warning" if finding.maybe else severity, finding


def _severity(rule: Rule, known: Mapping[str, bool]) -> str | None:
    """Say how grave a breach is, `None` where the rule is not for this model."""
    applies = rule.applies(known)
    if applies is None:
        return "warning"
    return rule.severity if applies else None


def check_transcript(
    transcript: Transcript,
    profile: Profile,
    *,
    tail: str = "open",
    known: Mapping[str, bool] | None = None,
    record: Transcript | None = None,
) -> Report:
    """Check a transcript against a profile.

    Args:
        transcript: the messages.
        profile: the acceptance rules.
        tail: `open` while tools run (a call at the end may lack its result), `closed` when the
            model is about to be called.
        known: what is known of the model.
        record: the history as it was first recorded; some breaches show only beside it.
    """
    view = view_of(transcript, profile, tail=tail, known=known, record=record)
    found = [
        _violation(rule, severity, finding, transcript)
        for rule, severity, finding in findings(view, profile)
    ]
    found.sort(key=lambda violation: violation.index)
    return Report(
        profile=profile.name,
        format=transcript.format.name,
        messages=len(transcript),
        groups=len(set(view.groups.names)),
        violations=tuple(found),
    )


def _violation(rule: Rule, severity: str, finding: Finding, transcript: Transcript) -> Violation:
    path = transcript.path if finding.index < 0 else f"{transcript.path}[{finding.index}]"
    inside = f".{finding.path}" if finding.path else ""
    return Violation(
        rule=rule.id,
        severity=severity,
        index=finding.index,
        path=path + inside,
        message=finding.message,
        provider_error=rule.error,
        source=rule.source,
        related=finding.related,
    )
