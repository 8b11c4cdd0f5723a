"""SARIF: what a check found as a log that code scanning reads (OASIS SARIF 2.1.0).

One run. A rule is listed once, with help; a breach is one result, with its file, the line of its
message where the text shows it, and its place in the history. A breach of a rule that several
profiles share is one result that names them.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from lockstitch.cli.sources import links_of
from lockstitch.rules.catalog import RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.cli.files import Input
    from lockstitch.rules.report import Report, Violation
    from lockstitch.rules.rule import Rule
    from lockstitch.transcript import Transcript

__all__ = ["Log"]

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
NAME: Final = "lockstitch"


class Log:
    """A SARIF log that is being filled, file by file."""

    def __init__(self) -> None:
        self._rules: dict[str, int] = {}
        self._results: list[dict[str, Any]] = []
        self._failures: list[dict[str, Any]] = []

    def add(self, source: Input, transcript: Transcript, reports: Sequence[Report]) -> None:
        """Add what was found in one file, under one profile or several."""
        lines = _lines_of(source, transcript)
        known: dict[tuple[str, str, str], dict[str, Any]] = {}
        for report in reports:
            for found in report.violations:
                key = (found.rule, found.path, found.message)
                if key not in known:
                    line = lines[found.index] if 0 <= found.index < len(lines) else None
                    known[key] = self._result(source.name, found, line)
                    self._results.append(known[key])
                result = known[key]
                result["properties"]["profiles"].append(report.profile)
                if found.severity == "error":
                    result["level"] = "error"

    def fail(self, name: str, message: str) -> None:
        """Add a file that could not be used."""
        self._failures.append(
            {
                "level": "error",
                "message": {"text": _text(message)},
                "locations": [{"physicalLocation": {"artifactLocation": _artifact(name)}}],
            }
        )

    def document(self) -> dict[str, Any]:
        """Return the log as plain values."""
        import lockstitch

        invocation: dict[str, Any] = {"executionSuccessful": not self._failures}
        if self._failures:
            invocation["toolExecutionNotifications"] = self._failures
        driver = {
            "name": NAME,
            "version": lockstitch.__version__,
            "rules": [_descriptor(RULES[name]) for name in self._rules],
        }
        run = {
            "tool": {"driver": driver},
            "invocations": [invocation],
            "columnKind": "unicodeCodePoints",
            "results": self._results,
        }
        return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}

    def _result(self, name: str, found: Violation, line: int | None) -> dict[str, Any]:
        place: dict[str, Any] = {"artifactLocation": _artifact(name)}
        if line is not None:
            place["region"] = {"startLine": line}
        said = found.message
        if found.provider_error:
            said += f"\nThe provider answers: {found.provider_error}"
        return {
            "ruleId": found.rule,
            "ruleIndex": self._rules.setdefault(found.rule, len(self._rules)),
            "level": found.severity,
            "message": {"text": _text(f"{found.path}: {said}")},
            "locations": [
                {
                    "physicalLocation": place,
                    "logicalLocations": [{"fullyQualifiedName": _text(found.path)}],
                }
            ],
            "properties": {"profiles": [], "related": list(found.related)},
        }


def _descriptor(rule: Rule) -> dict[str, Any]:
    help_text, markdown = rule.statement, rule.statement
    if rule.error:
        help_text += f"\n\nThe provider answers: {rule.error}"
        markdown += f"\n\nThe provider answers:\n\n```text\n{rule.error}\n```"
    if rule.repairs:
        mending = f"\n\nRepairs, least loss first: {', '.join(rule.repairs)}."
        help_text, markdown = help_text + mending, markdown + mending
    known = f"\n\nKnown from ({rule.status}): {rule.source or 'no source'}"
    described: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.statement},
        "help": {"text": help_text + known, "markdown": markdown + known},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "tags": list(rule.profiles),
            "status": rule.status,
            "source": rule.source,
            "repairs": list(rule.repairs),
        },
    }
    links = links_of(rule.source)
    return described | {"helpUri": links[0]} if links else described


def _artifact(name: str) -> dict[str, str]:
    if name == "-":
        return {"uri": "stdin"}
    # A name may hold bytes that are no text; `quote` writes each byte as it is.
    written = quote(PurePath(name).as_posix(), errors="surrogateescape")
    return {"uri": f"file://{written}" if written.startswith("/") else written}


def _lines_of(source: Input, transcript: Transcript) -> list[int]:
    """Return the line on which each message begins; none where the text does not show it.

    Messages are slices of what was read, in their order, so that each is found behind the one
    before it. What came compressed has no lines that anyone could look at.
    """
    natives = transcript.natives
    if source.zipped or not all(isinstance(native, msgspec.Raw) for native in natives):
        return []
    lines: list[int] = []
    line, at, behind = 1, 0, 0
    for native in natives:
        begin = source.data.index(bytes(native), behind)
        line += source.data.count(b"\n", at, begin)
        lines.append(line)
        at, behind = begin, begin + len(bytes(native))
    return lines


def _text(text: str) -> str:
    """Write what cannot be encoded, half a surrogate pair, as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()
