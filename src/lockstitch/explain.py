"""Explain: plans and reports as sentences. The one place where a finding is phrased.

Knows: what a reader wants to see of a decision or of a finding. Rows are worked out once, as data
(`rows_of`); `render_text`, `render_table` and `render_json` write them down, and the command line
draws the same rows in colour.

Must not know: terminals, files, how a decision was reached.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from lockstitch.document import open_document
from lockstitch.formats import get_format
from lockstitch.grouping import group, ties_for
from lockstitch.measure.counters import BYTES, ESTIMATE, sizer_for, texts_of
from lockstitch.measure.limits import CHARS, TOKENS
from lockstitch.plan import REASONS, Plan, Size, apply_plan, phrase_with
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.report import Report, Violation
from lockstitch.transcript import Media, Reasoning, Transcript

if TYPE_CHECKING:
    from lockstitch.transcript import Part

__all__ = [
    "Explanation",
    "MessageRow",
    "RangeRow",
    "cells_of",
    "document_of",
    "explain",
    "preview",
    "render_json",
    "render_table",
    "render_text",
    "rows_of",
]

PREVIEW: Final = 40
# A plan's size follows what it keeps, a reader's patience does not: past this many rows, text and
# table show the first and the last ranges. JSON has them all.
MOST_RANGES: Final = 200

_PAST: Final = {"keep": "kept", "strip": "stripped", "drop": "dropped"}
_SURE: Final = {
    "exact": "as counted by {}",
    "estimate": "by {}, the upper edge of an estimate, rarely exceeded",
    "bound": "by {}, an upper bound, never exceeded",
}


class RangeRow(msgspec.Struct, frozen=True):
    """What becomes of the messages in `[start, stop)`, and why."""

    action: str
    start: int
    stop: int
    messages: int
    reason: str
    why: str


class MessageRow(msgspec.Struct, frozen=True):
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


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say about a plan or a report.

    Args:
        kind: `ranges` and `messages` are about a plan, `violations` about a report.
        summary: all of it in one line.
        head: what is true of the whole; keys of the JSON document.
        rows: one for each range, message or violation.
        previews: how the messages begin that violations are about, where the messages were given.
    """

    kind: Literal["ranges", "messages", "violations"]
    summary: str
    head: dict[str, Any]
    rows: Sequence[RangeRow | MessageRow | Violation]
    previews: Mapping[int, str] = {}


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
            explained message by message instead of range by range, and a violation shows the
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
    # Told by what it is, not by its annotation: callers without a type checker get it wrong too.
    if not isinstance(subject, (Plan, Report)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected a Plan or a Report, got {type(subject).__name__}")
    transcript = None if messages is None else _opened(messages, format or subject.format)
    if isinstance(subject, Report):
        return _of_report(subject, transcript)
    return _by_range(subject) if transcript is None else _by_message(subject, transcript)


def _opened(messages: Any, name: str) -> Transcript:
    if isinstance(messages, Transcript):
        return messages
    return Transcript(open_document(messages), get_format(name))


# --- a plan ---------------------------------------------------------------------------------------


def _by_range(plan: Plan) -> Explanation:
    rows = [
        RangeRow(
            _PAST[edit.action], edit.start, edit.stop, edit.count, edit.reason, REASONS[edit.reason]
        )
        for edit in plan.edits
    ]
    return Explanation(
        kind="ranges",
        summary=_plan_summary(plan, plan.before),
        head=_plan_head(plan, plan.before),
        rows=rows,
    )


def _by_message(plan: Plan, transcript: Transcript) -> Explanation:
    apply_plan(plan, transcript)  # refuses messages that the plan was not made for
    rules = get_profile(plan.profile)
    ties = ties_for(
        transcript, whole_response=rules.whole_response, bound_system=rules.bound_system
    )
    groups = group(transcript.facts_from(0), 0, ties)
    chars = sizer_for(transcript, CHARS)
    # Counted again as the plan counted, where its counter is one that is known by name.
    named = plan.counter in {ESTIMATE.name, BYTES.name}
    tokens = sizer_for(transcript, TOKENS, plan.counter) if named else None
    rows = [
        MessageRow(
            position,
            _PAST[edit.action],
            edit.reason == "pinned",
            transcript.facts_at(position).role,
            groups.name_of(position),
            groups.state_of(groups.name_of(position)),
            chars.size(position),
            tokens.size(position) if tokens else None,
            edit.reason,
            REASONS[edit.reason],
            preview(transcript, position),
        )
        for edit in plan.edits
        for position in range(edit.start, edit.stop)
    ]
    before = Size(
        plan.length,
        tokens.around + sum(row.tokens or 0 for row in rows) if tokens else None,
        chars.around + sum(row.chars for row in rows),
    )
    return Explanation(
        kind="messages",
        summary=_plan_summary(plan, before),
        head=_plan_head(plan, before),
        rows=rows,
    )


def _plan_head(plan: Plan, before: Size) -> dict[str, Any]:
    kept = plan.after.messages
    return {
        "format": plan.format,
        "profile": plan.profile,
        "length": plan.length,
        "kept": kept,
        "dropped": plan.length - kept,
        "limit": plan.limit,
        "counter": plan.counter,
        "counter_kind": plan.counter_kind,
        "before": msgspec.to_builtins(before),
        "after": msgspec.to_builtins(plan.after),
        "changed_from": plan.changed_from,
    }


def _plan_summary(plan: Plan, before: Size) -> str:
    kept, length = plan.after.messages, plan.length
    if kept == length:
        said = f"kept all {count(length, 'message')}"
    else:
        stayed = f"{kept:,}" if kept else "none"
        said = f"kept {stayed} of {count(length, 'message')}, dropped {length - kept:,}"
    if plan.stripped:
        said += f", {len(plan.stripped):,} of them without their thinking"
    for unit in (TOKENS, CHARS):
        was, now = getattr(before, unit), getattr(plan.after, unit)
        if now is not None:
            said += f", {now:,}{'' if was is None else f' of {was:,}'} {unit}"
    limits = ", ".join(f"{limit:,} {unit}" for unit, limit in plan.limit.items())
    details = [f"limit: {limits}" if limits else "no limit"]
    if plan.counter is not None:
        details.append("tokens " + _SURE.get(plan.counter_kind or "", "by {}").format(plan.counter))
    details.append(f"profile {plan.profile}, format {plan.format}")
    return f"{said} ({'; '.join(details)})"


# --- a report -------------------------------------------------------------------------------------


def _of_report(report: Report, transcript: Transcript | None) -> Explanation:
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


# --- words ----------------------------------------------------------------------------------------


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "message"), count(1200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def preview(transcript: Transcript, position: int, width: int = PREVIEW) -> str:
    r"""Show the beginning of what a message says, on one line.

    Calls are shown as `name(arguments)`, media as their kind. Characters that would move a cursor,
    or that cannot be written, are shown as escapes.

    >>> from lockstitch import load
    >>> print(preview(load([{"role": "user", "content": "two\nlines"}]), 0))
    two\nlines
    """
    said = ""
    for part in transcript.format.parts(transcript.natives[position]):
        said = f"{said} {_words_of(part)}".strip()
        if len(said) > width:
            break
    said = said or "[empty]"
    shown = ""
    for sign in said[: width + 1].rstrip():
        shown += sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        if len(shown) > width:
            return shown[: width - 1] + "…"
    return shown


def _words_of(part: Part) -> str:
    if isinstance(part, Media):
        return f"[{part.kind}]"
    if isinstance(part, Reasoning):
        return part.text[: 2 * PREVIEW] or "[reasoning]"
    texts = [text[: 2 * PREVIEW] for text in texts_of(part)]
    if hasattr(part, "arguments") and texts:
        return f"{texts[0]}({' '.join(texts[1:])})"
    return " ".join(texts)


# --- renderers ------------------------------------------------------------------------------------

_TITLES: Final[Mapping[str, tuple[str, ...]]] = {
    "ranges": ("what", "where", "messages", "why"),
    "messages": ("at", "what", "role", "group", "state", "chars", "tokens", "why", "text"),
    "violations": ("where", "severity", "rule", "finding", "provider answers", "source", "text"),
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
    lines = [_cells(row, told.previews) for row in rows]
    titles = _TITLES[told.kind]
    used = [at for at in range(len(titles)) if any(line[at] for line in lines)]
    lines = [[line[at] for at in used] for line in lines]
    if cut > 0:
        lines.insert(half, ["...", "", f"{cut:,}", "more ranges; JSON lists them all"])
    return [titles[at] for at in used], lines


def _cells(row: RangeRow | MessageRow | Violation, previews: Mapping[int, str]) -> list[str]:
    if isinstance(row, RangeRow):
        last = f"..{row.stop - 1}" if row.stop - row.start > 1 else ""
        return [row.action, f"[{row.start}{last}]", f"{row.messages:,}", row.why]
    if isinstance(row, Violation):
        said = (row.path, row.severity, row.rule, row.message, row.provider_error, row.source)
        return [*said, previews.get(row.index, "")]
    marker = "pinned" if row.pinned else row.action
    tokens = "" if row.tokens is None else f"{row.tokens:,}"
    sizes = (str(row.group), row.state, f"{row.chars:,}", tokens)
    return [str(row.position), marker, row.role, *sizes, row.why, row.preview]


def render_text(told: Explanation) -> str:
    """Write an explanation as aligned plain text, the summary first."""
    if told.kind == "violations":
        return "\n".join([told.summary, *_violation_lines(told)])
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


def _violation_lines(told: Explanation) -> Iterator[str]:
    before: int | None = None
    for row in violations_of(told):
        if row.index != before:
            before = row.index
            head = row.path.partition("]")[0] + "]" if row.index >= 0 else row.path
            yield f"{head}  {told.previews.get(row.index, '')}".rstrip()
        yield f"  {row.severity:<7}  {row.path}: {row.message} [{row.rule}]"
        if row.provider_error:
            yield f"           the provider answers: {row.provider_error}"
        if row.source:
            yield f"           source: {row.source}"


def violations_of(told: Explanation) -> list[Violation]:
    """Return the rows of an explanation that are violations: all of a report's."""
    return [row for row in told.rows if isinstance(row, Violation)]


def render_table(told: Explanation) -> str:
    """Write an explanation as a Markdown table, the summary above it."""
    titles, lines = cells_of(told)
    if not lines:
        return told.summary
    rule = ["---:" if title in NUMBERS else "---" for title in titles]
    # A bar inside a cell would end it.
    safe = [[cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines]
    written = [f"| {' | '.join(line)} |" for line in [titles, rule, *safe]]
    return "\n".join([told.summary, "", *written])


def render_json(told: Explanation) -> str:
    """Write an explanation as a JSON document: `document_of` on one line."""
    return json.dumps(document_of(told))


def document_of(told: Explanation) -> dict[str, Any]:
    """Return an explanation as plain values.

    The keys are `kind` (`plan` or `report`), `summary`, those of `Explanation.head`, and the rows
    under `ranges`, `messages` or `violations`, each with the fields of its row. In a report
    `messages` is a number: how many there are.
    """
    kind = "report" if told.kind == "violations" else "plan"
    rows = [msgspec.to_builtins(row) for row in told.rows]
    return {"kind": kind, "summary": told.summary, **told.head, told.kind: rows}


phrase_with(explain)
