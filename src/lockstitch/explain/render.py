"""Render: an explanation as aligned text, as a Markdown table, as JSON.

Must not know: terminals, files, how rows were worked out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.explain.rows import Explanation, RangeRow, Row
from lockstitch.explain.words import plain, shortened
from lockstitch.rules.account import Change
from lockstitch.rules.report import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = [
    "MOST_RANGES",
    "NUMBERS",
    "cells_of",
    "document_of",
    "render_json",
    "render_table",
    "render_text",
    "sides_of",
]

# A plan's size follows what it keeps, a reader's patience does not: past this many rows, text and
# table show the first and the last ranges. JSON has them all.
MOST_RANGES: Final = 200

_TITLES: Final[Mapping[str, tuple[str, ...]]] = {
    "ranges": ("what", "where", "messages", "why"),
    "messages": ("at", "what", "role", "group", "state", "chars", "tokens", "why", "text"),
    "violations": ("where", "severity", "rule", "finding", "provider answers", "source", "text"),
    "changes": ("change", "where", "rule", "what was done", "before", "after"),
}
NUMBERS: Final = frozenset({"messages", "at", "group", "chars", "tokens"})
"""The titles of the columns that hold numbers."""


def cells_of(told: Explanation) -> tuple[list[str], list[list[str]]]:
    """Return the column titles and the cells of an explanation, as text.

    Columns that are empty in every row (tokens that nobody counted) are left out, and so are the
    ranges in the middle where there are too many to be read.
    """
    rows = told.rows
    half = MOST_RANGES // 2
    cut = len(rows) - MOST_RANGES if told.kind == "ranges" else 0
    if cut > 0:
        rows = [*rows[:half], *rows[-half:]]
    titles, lines = _used(_TITLES[told.kind], [_cells(row, told.previews) for row in rows])
    if cut > 0:
        lines.insert(half, ["...", "", f"{cut:,}", "more ranges; JSON lists them all"])
    return titles, lines


def _used(titles: Sequence[str], lines: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Leave out the columns that are empty in every row."""
    used = [at for at in range(len(titles)) if any(line[at] for line in lines)]
    return [titles[at] for at in used], [[line[at] for at in used] for line in lines]


def _cells(row: Row, previews: Mapping[int, str]) -> list[str]:
    if isinstance(row, RangeRow):
        last = f"..{row.stop - 1}" if row.stop - row.start > 1 else ""
        where = f"[{row.start}{last}]" if row.stop > row.start else f"before [{row.start}]"
        return [row.action, where, f"{row.messages:,}", row.why]
    if isinstance(row, Violation):
        said = (row.path, row.severity, row.rule, row.message, row.provider_error, row.source)
        return [*said, previews.get(row.index, "")]
    if isinstance(row, Change):
        done = (row.kind, row.path, row.rule, row.message)
        return [*done, *(shown for _, shown in sides_of(row, missing=""))]
    marker = "pinned" if row.pinned else row.action
    tokens = "" if row.tokens is None else f"{row.tokens:,}"
    group = "" if row.group < 0 else str(row.group)
    sizes = (group, row.state, f"{row.chars:,}", tokens)
    at = "" if row.position < 0 else str(row.position)
    return [at, marker, row.role, *sizes, row.why, row.preview]


def sides_of(change: Change, missing: str = "nothing") -> list[tuple[str, str]]:
    """Return what was there before a change and what is there after it, shortened."""
    sides = (("before", change.before), ("after", change.after))
    return [(side, missing if value is None else shortened(value)) for side, value in sides]


def render_text(told: Explanation) -> str:
    """Write an explanation as aligned plain text, the summary first."""
    if told.kind == "violations":
        return "\n".join([told.summary, *_violation_lines(told)])
    if told.kind == "changes":
        return "\n".join([told.summary, *_change_lines(told), *_violation_lines(told)])
    titles, lines = cells_of(told)
    if told.kind == "messages":
        lines.insert(0, titles)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        "  ".join(
            cell.rjust(width) if title in NUMBERS else cell.ljust(width)
            for cell, width, title in zip(line, widths, titles, strict=True)
        ).rstrip()
        for line in lines
    ]
    return "\n".join([told.summary, *written])


def _change_lines(told: Explanation) -> Iterator[str]:
    for change in told.changes:
        place = f"{change.path}: " if change.path else ""
        yield f"  {change.kind:<10}  {place}{change.message} [{change.rule}]"
        (_, before), (_, after) = sides_of(change)
        if before == after:
            yield f"              as it was: {before}"
        else:
            yield f"              before: {before}"
            yield f"              after:  {after}"


def _violation_lines(told: Explanation) -> Iterator[str]:
    before: int | None = None
    for row in told.violations:
        if row.index != before:
            before = row.index
            head = row.path.partition("]")[0] + "]" if row.index >= 0 else row.path
            yield f"{head}  {told.previews.get(row.index, '')}".rstrip()
        yield f"  {row.severity:<7}  {row.path}: {row.message} [{row.rule}]"
        if row.provider_error:
            yield f"           the provider answers: {row.provider_error}"
        if row.source:
            yield f"           source: {row.source}"


def render_table(told: Explanation) -> str:
    """Write an explanation as a Markdown table, the summary above it.

    What a repair left has a table of its own below.
    """
    tables = [_markdown(*cells_of(told))] if told.rows else []
    if told.remaining:
        left = [_cells(row, told.previews) for row in told.remaining]
        tables.append(_markdown(*_used(_TITLES["violations"], left)))
    return "\n\n".join([told.summary, *tables])


def _markdown(titles: list[str], lines: list[list[str]]) -> str:
    rule = ["---:" if title in NUMBERS else "---" for title in titles]
    # A bar inside a cell would end it.
    safe = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in [titles, rule, *safe])


def render_json(told: Explanation) -> str:
    """Write an explanation as a JSON document: `document_of` on one line."""
    return json.dumps(document_of(told))


def document_of(told: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values.

    The keys are `kind` (`plan`, `report` or `repair`), `summary`, those of `Explanation.head`, and
    the rows under `ranges`, `messages`, `violations` or `changes`, each with the fields of its row;
    a repair has `remaining` beside them. In a report `messages` is a number: how many there are.
    """
    kind = {"violations": "report", "changes": "repair"}.get(told.kind, "plan")
    document = {"kind": kind, "summary": told.summary, **told.head}
    document[told.kind] = [_plain_row(row) for row in told.rows]
    if told.kind == "changes":
        document["remaining"] = [_plain_row(row) for row in told.remaining]
    return document


def _plain_row(row: Row) -> Any:
    if not isinstance(row, Change):
        return msgspec.to_builtins(row)
    fields = msgspec.structs.asdict(row)
    return fields | {side: plain(fields[side]) for side in ("before", "after")}
