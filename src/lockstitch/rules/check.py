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
    from lockstitch.rules.profiles import Profile
    from lockstitch.transcript import Transcript

__all__ = ["check_transcript"]


def check_transcript(
    transcript: Transcript,
    profile: Profile,
    *,
    tail: str = "open",
) -> Report:
    """Check a transcript against a profile.

    Args:
        transcript: the messages.
        profile: the acceptance rules.
        tail: `open` while tools run (a call at the end may lack its result), `closed` when the
            model is about to be called.
    """
    ties = ties_for(
        transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
    )
    groups = group(transcript.facts_from(0), 0, ties)
    adjacency = profile.adjacency
    if adjacency == "message" and transcript.format.joins:
        adjacency = "run"
    view = View(transcript, groups, adjacency=adjacency, closed=tail == "closed")
    found = [
        _violation(rule, finding, transcript)
        for rule in rules_of(profile.name, transcript.format.name)
        for finding in CHECKS[rule.check](view)
    ]
    found.sort(key=lambda violation: violation.index)
    return Report(
        profile=profile.name,
        format=transcript.format.name,
        messages=len(transcript),
        groups=len(set(groups.names)),
        violations=tuple(found),
    )


def _violation(rule: Rule, finding: Finding, transcript: Transcript) -> Violation:
    path = transcript.path if finding.index < 0 else f"{transcript.path}[{finding.index}]"
    inside = f".{finding.path}" if finding.path else ""
    return Violation(
        rule=rule.id,
        severity=rule.severity,
        index=finding.index,
        path=path + inside,
        message=finding.message,
        provider_error=rule.error,
        source=rule.source,
        related=finding.related,
    )
