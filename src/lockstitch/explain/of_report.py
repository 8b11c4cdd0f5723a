"""Reports, explained: a row for each violation.

Must not know: how a breach is found, how rows are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.explain.rows import Explanation
from lockstitch.explain.words import count, preview

if TYPE_CHECKING:
    from lockstitch.rules.report import Report
    from lockstitch.transcript import Transcript

__all__ = ["of_report"]


def of_report(report: Report, transcript: Transcript | None) -> Explanation:
    """Work out the rows of a report; the transcript shows how the messages begin."""
    places = {found.index for found in report.violations} if transcript is not None else ()
    errors = len(report.errors)
    warnings = len(report.violations) - errors
    if errors:
        verdict = f"refused by {report.profile}, {count(errors, 'error')}"
        verdict += f" and {count(warnings, 'warning')}" if warnings else ""
    else:
        verdict = f"accepted by {report.profile}"
        verdict += f", with {count(warnings, 'warning')}" if warnings else ""
    size = f"{count(report.messages, 'message')} in {count(report.groups, 'group')}"
    return Explanation(
        kind="violations",
        summary=f"{size}: {verdict} (format {report.format})",
        head={
            "ok": report.ok,
            "profile": report.profile,
            "format": report.format,
            "messages": report.messages,
            "groups": report.groups,
            "errors": errors,
            "warnings": warnings,
        },
        rows=report.violations,
        previews={at: preview(transcript, at) for at in places if transcript and at >= 0},
    )
