"""Explain: plans, reports and repairs as sentences. The one place where a finding is phrased.

Knows: what a reader wants to see of a decision, a finding or a change. Rows are worked out once, as
data (`rows_of`); `render_text`, `render_table` and `render_json` write them down, and the command
line draws the same rows in colour.

Must not know: terminals, files, how a decision was reached.
"""

from __future__ import annotations

from typing import Any, Literal

from lockstitch.document import open_document
from lockstitch.explain.of_plan import by_message, by_range
from lockstitch.explain.of_repair import of_repair
from lockstitch.explain.of_report import of_report
from lockstitch.explain.render import (
    MOST_RANGES,
    NUMBERS,
    cells_of,
    document_of,
    render_json,
    render_table,
    render_text,
    sides_of,
)
from lockstitch.explain.rows import Explanation, MessageRow, RangeRow
from lockstitch.explain.words import count, one_line, preview
from lockstitch.formats import get_format
from lockstitch.plan import Plan, phrase_with
from lockstitch.rules.account import Repair
from lockstitch.rules.report import Report
from lockstitch.transcript import Transcript

__all__ = [
    "MOST_RANGES",
    "NUMBERS",
    "Explanation",
    "MessageRow",
    "RangeRow",
    "cells_of",
    "count",
    "document_of",
    "explain",
    "one_line",
    "preview",
    "render_json",
    "render_table",
    "render_text",
    "rows_of",
    "sides_of",
]


def explain(
    subject: Plan | Report | Repair,
    messages: Any = None,
    *,
    as_: Literal["text", "table", "json"] = "text",
    format: str | None = None,
) -> str:
    """Say what a plan decided, what a report found, or what a repair changed, and why.

    Args:
        subject: a plan, a report, or what `repair` or `export` returned.
        messages: the messages it was made for, in any form that `load` takes. A plan is then
            explained message by message instead of range by range, and a violation shows the
            beginning of the message it is about. A repair carries what it changed and needs none.
        as_: `text` for aligned plain text, `table` for a Markdown table, `json` for a document.
        format: the format of the messages; that of the subject by default.

    Raises:
        PlanMismatch: the plan was made for other messages.
        TypeError: the subject is none of the three.
        ValueError: `as_` is none of the three.

    >>> from lockstitch import plan
    >>> from lockstitch.testing import assistant, system, user
    >>> history = [system(), user("1"), assistant("2"), user("3")]
    >>> print(explain(plan(history, max_messages=2)))
    kept 2 of 4 messages, dropped 2 (limit: 2 messages; profile portable, format openai-chat)
    kept     [0]     1  the system part stays
    dropped  [1..2]  2  the limit is reached; oldest groups go first
    kept     [3]     1  the newest user message stays
    """
    renderers = {"text": render_text, "table": render_table, "json": render_json}
    if as_ not in renderers:
        raise ValueError(f'as_ must be "text", "table" or "json", got {as_!r}')
    return renderers[as_](rows_of(subject, messages, format=format))


def rows_of(
    subject: Plan | Report | Repair, messages: Any = None, *, format: str | None = None
) -> Explanation:
    """Work out the rows of an explanation. Takes and raises what `explain` does.

    >>> from lockstitch import check
    >>> from lockstitch.testing import user
    >>> rows_of(check([user()])).summary
    '1 message in 1 group: accepted by portable (format openai-chat)'
    """
    if isinstance(subject, Repair):
        return of_repair(subject)
    # Told by what it is, not by its annotation: callers without a type checker get it wrong too.
    if not isinstance(subject, (Plan, Report)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected a Plan, a Report or a Repair, got {type(subject).__name__}")
    transcript = None if messages is None else _opened(messages, format or subject.format)
    if isinstance(subject, Report):
        return of_report(subject, transcript)
    return by_range(subject) if transcript is None else by_message(subject, transcript)


def _opened(messages: Any, name: str) -> Transcript:
    if isinstance(messages, Transcript):
        return messages
    return Transcript(open_document(messages), get_format(name))


phrase_with(explain)
