"""Explain: plans and reports as sentences. The one place where a finding is phrased.

Knows: what a reader wants to see of a decision or of a finding. Rows are worked out once, as data
(`rows_of`); `render_text`, `render_table` and `render_json` write them down, and the command line
draws the same rows in colour.

Must not know: terminals, files, how a decision was reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from lockstitch.document import open_document
from lockstitch.formats import get_format
from lockstitch.grouping import group, ties_for
from lockstitch.measure.counters import BYTES, ESTIMATE, sizer_for, texts_of
from lockstitch.measure.limits import CHARS, TOKENS
from lockstitch.plan import REASONS, Plan, Size, apply_plan
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.report import Report
from lockstitch.transcript import Media, Transcript

if TYPE_CHECKING:
    from lockstitch.measure.counters import Sizer
    from lockstitch.transcript import Part

__all__ = [
    "Explanation",
    "FindingRow",
    "MessageRow",
    "RangeRow",
    "cells_of",
    "explain",
    "preview",
    "render_json",
    "render_table",
    "render_text",
    "rows_of",
]

PREVIEW: Final = 40
# A plan's size follows what it keeps, but a reader's patience does not: past this many ranges, text
# and table show the first and the last ones. JSON has them all.
MOST_RANGES: Final = 200

_SURE: Final = {
    "exact": "as counted by {counter}",
    "estimate": "{counter}: the upper edge of an estimate, rarely exceeded",
    "bound": "{counter}: an upper bound, never exceeded",
}


class RangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a stretch of messages, `[start, stop)`, and why.

    `tokens` and `chars` are known where the plan was explained with its messages.
    """

    action: str
    start: int
    stop: int
    messages: int
    reason: str
    why: str


class MessageRow(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one message, and why.

    `group` is the first position of its group and `state` that group's state; `tokens` is there
    where the plan counted tokens with a counter that is known by name.
    """

    position: int
    action: str
    pinned: bool
    role: str
    group: int
    state: str
    chars: int
    tokens: int | None
    reason: str
    why: str
    preview: str


class FindingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One violation, ready to be shown. `index` is -1 where the list as a whole is meant."""

    index: int
    path: str
    severity: str
    rule: str
    message: str
    provider_error: str
    source: str
    preview: str = ""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say about a plan or a report.

    Args:
        kind: `ranges` and `messages` are about a plan, `findings` about a report.
        summary: all of it in one line.
        head: what is true of the whole, by name; the keys of the JSON document.
        rows: one for each range, message or finding.
    """

    kind: Literal["ranges", "messages", "findings"]
    summary: str
    head: dict[str, Any]
    rows: Sequence[RangeRow | MessageRow | FindingRow]


def explain(
    subject: Plan | Report,
    messages: Any = None,
    *,
    as_: Literal["text", "table", "json"] = "text",
    format: str | None = None,
) -> str:
    """Say what a plan decided, or what a report found, and why.

    Args:
        subject: a plan or a report.
        messages: the messages it was made for, in any form that `load` takes. A plan is then
            explained message by message instead of range by range, and a finding shows the
            beginning of the message it is about.
        as_: `text` for aligned plain text, `table` for a Markdown table, `json` for a document.
        format: the format of the messages; that of the subject by default.

    Raises:
        PlanMismatch: the plan was made for other messages.
        TypeError: the subject is neither a plan nor a report.
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
    subject: Plan | Report, messages: Any = None, *, format: str | None = None
) -> Explanation:
    """Work out the rows of an explanation. Takes and raises what `explain` does.

    >>> from lockstitch import check
    >>> from lockstitch.testing import user
    >>> rows_of(check([user()])).summary
    '1 message in 1 group: accepted by portable (format openai-chat)'
    """
    if not isinstance(subject, (Plan, Report)):
        raise TypeError(f"expected a Plan or a Report, got {type(subject).__name__}")
    transcript = None if messages is None else _opened(messages, format or subject.format)
    if isinstance(subject, Report):
        return _findings(subject, transcript)
    if transcript is None:
        return _ranges(subject)
    return _messages(subject, transcript)


def _opened(messages: Any, format_name: str) -> Transcript:
    if isinstance(messages, Transcript):
        return messages
    document = open_document(messages)
    return Transcript(
        document.natives, get_format(format_name), context=document.context, path=document.path
    )


# --- a plan ---------------------------------------------------------------------------------------


def _ranges(plan: Plan) -> Explanation:
    rows = [
        RangeRow(
            action=_PAST[edit.action],
            start=edit.start,
            stop=edit.stop,
            messages=edit.count,
            reason=edit.reason,
            why=REASONS[edit.reason],
        )
        for edit in plan.edits
    ]
    return Explanation(
        kind="ranges", summary=_plan_summary(plan, plan.before), head=_plan_head(plan), rows=rows
    )


_PAST: Final = {"keep": "kept", "drop": "dropped"}


def _messages(plan: Plan, transcript: Transcript) -> Explanation:
    apply_plan(plan, transcript)  # refuses messages that the plan was not made for
    profile = get_profile(plan.profile)
    ties = ties_for(
        transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
    )
    groups = group(transcript.facts_from(0), 0, ties)
    chars = sizer_for(transcript, CHARS)
    tokens = _token_sizer(plan, transcript)
    rows: list[MessageRow] = []
    for edit in plan.edits:
        for position in range(edit.start, edit.stop):
            name = groups.name_of(position)
            rows.append(
                MessageRow(
                    position=position,
                    action=_PAST[edit.action],
                    pinned=edit.reason == "pinned",
                    role=transcript.facts_at(position).role,
                    group=name,
                    state=groups.state_of(name),
                    chars=chars.size(position),
                    tokens=tokens.size(position) if tokens else None,
                    reason=edit.reason,
                    why=REASONS[edit.reason],
                    preview=preview(transcript, position),
                )
            )
    before = Size(
        plan.length,
        tokens.around + sum(row.tokens or 0 for row in rows) if tokens else None,
        chars.around + sum(row.chars for row in rows),
    )
    return Explanation(
        kind="messages",
        summary=_plan_summary(plan, before),
        head={**_plan_head(plan), "before": msgspec.to_builtins(before)},
        rows=rows,
    )


def _token_sizer(plan: Plan, transcript: Transcript) -> Sizer | None:
    """Count again as the plan counted, where its counter is one that is known by name."""
    if plan.counter in {ESTIMATE.name, BYTES.name}:
        return sizer_for(transcript, TOKENS, plan.counter)
    return None


def _plan_head(plan: Plan) -> dict[str, Any]:
    kept = plan.after.messages
    return {
        "format": plan.format,
        "profile": plan.profile,
        "length": plan.length,
        "kept": kept,
        "dropped": plan.length - kept,
        "limit": dict(plan.limit),
        "counter": plan.counter,
        "counter_kind": plan.counter_kind,
        "before": msgspec.to_builtins(plan.before),
        "after": msgspec.to_builtins(plan.after),
        "changed_from": plan.changed_from,
    }


def _plan_summary(plan: Plan, before: Size) -> str:
    kept, length = plan.after.messages, plan.length
    if kept == length:
        said = f"kept all {count(length, 'message')}"
    elif not kept:
        said = f"kept none of {count(length, 'message')}"
    else:
        said = f"kept {kept:,} of {count(length, 'message')}, dropped {length - kept:,}"
    for unit in (TOKENS, CHARS):
        now: int | None = getattr(plan.after, unit)
        was: int | None = getattr(before, unit)
        if now is not None and (kept or now):
            said += f", {now:,}{f' of {was:,}' if was is not None else ''} {unit}"
    limits = ", ".join(f"{limit:,} {unit}" for unit, limit in plan.limit.items())
    details = [f"limit: {limits}"] if limits else ["no limit"]
    if plan.counter is not None and plan.counter_kind is not None:
        sure = _SURE.get(plan.counter_kind, "{counter}: " + plan.counter_kind)
        details.append(f"tokens {sure.format(counter=plan.counter)}")
    details.append(f"profile {plan.profile}, format {plan.format}")
    return f"{said} ({'; '.join(details)})"


# --- a report -------------------------------------------------------------------------------------


def _findings(report: Report, transcript: Transcript | None) -> Explanation:
    shown: dict[int, str] = {}
    if transcript is not None:
        places = {found.index for found in report.violations}
        shown = {at: preview(transcript, at) for at in places if 0 <= at < len(transcript)}
    rows = [
        FindingRow(
            index=found.index,
            path=found.path,
            severity=found.severity,
            rule=found.rule,
            message=found.message,
            provider_error=found.provider_error,
            source=found.source,
            preview=shown.get(found.index, ""),
        )
        for found in report.violations
    ]
    errors = len(report.errors)
    return Explanation(
        kind="findings",
        summary=_report_summary(report, errors),
        head={
            "ok": report.ok,
            "profile": report.profile,
            "format": report.format,
            "messages": report.messages,
            "groups": report.groups,
            "errors": errors,
            "warnings": len(rows) - errors,
        },
        rows=rows,
    )


def _report_summary(report: Report, errors: int) -> str:
    warnings = len(report.violations) - errors
    said = f"{count(report.messages, 'message')} in {count(report.groups, 'group')}: "
    if errors:
        said += f"refused by {report.profile}, {count(errors, 'error')}"
        said += f" and {count(warnings, 'warning')}" if warnings else ""
    else:
        said += f"accepted by {report.profile}"
        said += f", with {count(warnings, 'warning')}" if warnings else ""
    return f"{said} (format {report.format})"


# --- words ----------------------------------------------------------------------------------------


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "message"), count(1200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def preview(transcript: Transcript, position: int, width: int = PREVIEW) -> str:
    """Show the beginning of what a message says, on one line.

    Text comes first; a message without any shows its calls, results or kinds of parts. Characters
    that would move a cursor, or that cannot be written, are shown as escapes.

    >>> from lockstitch import load
    >>> preview(load([{"role": "user", "content": "two\\nlines"}]), 0)
    'two\\\\nlines'
    """
    shown = ""
    for part in transcript.format.parts(transcript.natives[position]):
        shown = f"{shown} {_part_words(part)}" if shown else _part_words(part)
        if len(shown) > width:
            break
    return _one_line(shown, width)


def _part_words(part: Part) -> str:
    name = getattr(part, "name", None)
    if isinstance(part, Media):
        return f"[{part.kind}]"
    words = " ".join(text[: 2 * PREVIEW] for text in texts_of(part))
    if name and hasattr(part, "arguments"):
        return f"{name}({words.removeprefix(name).lstrip()})"
    return words.lstrip() or f"[{type(part).__name__.lower()}]"


def _one_line(text: str, width: int) -> str:
    shown = ""
    for sign in text[: width + 1].rstrip():
        step = sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        if len(shown) + len(step) > width:
            return shown[: width - 1] + "…"
        shown += step
    return shown


# --- renderers ------------------------------------------------------------------------------------


def cells_of(told: Explanation) -> tuple[list[str], list[list[str]]]:
    """Return the column titles and the cells of an explanation, as text.

    Columns that say nothing in any row (tokens that nobody counted) are left out.
    """
    titles = list(_TITLES[told.kind])
    lines = [_cells(row) for row in told.rows]
    used = [any(line[at] for line in lines) for at in range(len(titles))]
    return (
        [title for title, keep in zip(titles, used, strict=True) if keep],
        [[cell for cell, keep in zip(line, used, strict=True) if keep] for line in lines],
    )


_TITLES: Final[Mapping[str, Sequence[str]]] = {
    "ranges": ("what", "where", "messages", "why"),
    "messages": (*("at", "what", "role", "group", "state", "chars", "tokens", "why", "text"),),
    "findings": (
        *("where", "severity", "rule", "what is wrong", "the provider answers", "source", "text"),
    ),
}
NUMBERS: Final = frozenset({"messages", "at", "group", "chars", "tokens"})
"""The titles of the columns that hold numbers."""


def _cells(row: RangeRow | MessageRow | FindingRow) -> list[str]:
    if isinstance(row, RangeRow):
        last = row.stop - 1
        where = f"[{row.start}]" if last == row.start else f"[{row.start}..{last}]"
        return [row.action, where, f"{row.messages:,}", row.why]
    if isinstance(row, MessageRow):
        return [
            str(row.position),
            "pinned" if row.pinned else row.action,
            row.role,
            str(row.group),
            row.state,
            f"{row.chars:,}",
            "" if row.tokens is None else f"{row.tokens:,}",
            row.why,
            row.preview,
        ]
    return [
        *(row.path, row.severity, row.rule, row.message),
        *(row.provider_error, row.source, row.preview),
    ]


def render_text(told: Explanation) -> str:
    """Write an explanation as aligned plain text, the summary first."""
    if told.kind == "findings":
        return "\n".join([told.summary, *_finding_lines(told.rows)])
    titles, lines = cells_of(told)
    lines, left_out = _shortened(told, lines)
    if told.kind == "messages" and lines:
        lines = [titles, *lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    written = [
        "  ".join(
            cell.rjust(width) if title in NUMBERS else cell.ljust(width)
            for cell, width, title in zip(line, widths, titles, strict=True)
        ).rstrip()
        for line in lines
    ]
    if left_out:
        written.insert(len(written) // 2, _left_out(left_out))
    return "\n".join([told.summary, *written])


def _finding_lines(rows: Sequence[Any]) -> list[str]:
    lines: list[str] = []
    before: int | None = None
    for row in rows:
        if row.index != before:
            before = row.index
            head = row.path.partition("]")[0] + "]" if row.index >= 0 else row.path
            lines.append(f"{head}  {row.preview}".rstrip())
        lines.append(f"  {row.severity:<7}  {row.rule}  {row.path}")
        lines.append(f"           {row.message}")
        if row.provider_error:
            lines.append(f"           the provider answers: {row.provider_error}")
        if row.source:
            lines.append(f"           source: {row.source}")
    return lines


def render_table(told: Explanation) -> str:
    """Write an explanation as a Markdown table, the summary above it."""
    titles, lines = cells_of(told)
    if not lines:
        return told.summary
    lines, left_out = _shortened(told, lines)
    rule = ["---:" if title in NUMBERS else "---" for title in titles]
    written = [_table_line(line) for line in lines]
    if left_out:
        written.insert(
            len(written) // 2, _table_line([_left_out(left_out), *[""] * (len(titles) - 1)])
        )
    return "\n".join([told.summary, "", _table_line(titles), _table_line(rule), *written])


def _table_line(cells: Sequence[str]) -> str:
    # A bar inside a cell would end it.
    return f"| {' | '.join(cell.replace('|', chr(92) + '|').replace(chr(10), ' ') for cell in cells)} |"


def _shortened(told: Explanation, lines: list[list[str]]) -> tuple[list[list[str]], int]:
    if told.kind != "ranges" or len(lines) <= MOST_RANGES:
        return lines, 0
    half = MOST_RANGES // 2
    return [*lines[:half], *lines[-half:]], len(lines) - MOST_RANGES


def _left_out(ranges: int) -> str:
    return f"... {count(ranges, 'more range')} (JSON lists them all)"


def render_json(told: Explanation) -> str:
    """Write an explanation as a JSON document.

    Its keys: `kind` (`plan` or `report`), `summary`, what `Explanation.head` holds, and the rows
    under `ranges`, `messages` or `violations`, each with the fields of its row.
    """
    return json.dumps(document_of(told), ensure_ascii=False)


def document_of(told: Explanation) -> dict[str, Any]:
    """Return what `render_json` writes, as plain values."""
    return {
        "kind": "report" if told.kind == "findings" else "plan",
        "summary": told.summary,
        **told.head,
        "violations" if told.kind == "findings" else told.kind: [
            msgspec.to_builtins(row) for row in told.rows
        ],
    }
