"""Plans, explained: a row for each range, or for each message where the messages are there.

Must not know: how a plan was reached, how rows are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.explain.rows import Explanation, MessageRow, RangeRow
from lockstitch.explain.words import PREVIEW, count, one_line, preview
from lockstitch.grouping import group, ties_for
from lockstitch.measure.counters import BYTES, ESTIMATE, sizer_for
from lockstitch.measure.limits import CHARS, TOKENS
from lockstitch.plan import REASONS, Edit, Plan, Size, ensure_made_for
from lockstitch.rules.profiles import get_profile

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = ["by_message", "by_range"]

_PAST: Final = {
    "keep": "kept",
    "strip": "stripped",
    "replace": "changed",
    "drop": "dropped",
    "insert": "put in",
}
_SURE: Final = {
    "exact": "as counted by {}",
    "estimate": "by {}, the upper edge of an estimate, rarely exceeded",
    "bound": "by {}, an upper bound, never exceeded",
}


def by_range(plan: Plan) -> Explanation:
    """Work out a row for each range of a plan."""
    rows = [
        RangeRow(
            _PAST[edit.action],
            edit.start,
            edit.stop,
            edit.count or 1,
            edit.reason,
            REASONS[edit.reason],
        )
        for edit in plan.edits
    ]
    return Explanation(
        kind="ranges",
        summary=_plan_summary(plan, plan.before),
        head=_plan_head(plan, plan.before),
        rows=rows,
    )


def by_message(plan: Plan, transcript: Transcript) -> Explanation:
    """Work out a row for each message of the history that a plan was made for."""
    ensure_made_for(plan, transcript)
    rules = get_profile(plan.profile)
    ties = ties_for(
        transcript, whole_response=rules.whole_response, bound_system=rules.bound_system
    )
    groups = group(transcript.facts_from(0), 0, ties)
    chars = sizer_for(transcript, CHARS)
    # Counted again as the plan counted, where its counter is one that is known by name.
    named = plan.counter in {ESTIMATE.name, BYTES.name}
    tokens = sizer_for(transcript, TOKENS, plan.counter) if named else None
    rows: list[MessageRow] = []
    for edit in plan.edits:
        if edit.action == "insert":
            rows.append(_put_in(edit))
        for position in range(edit.start, edit.stop):
            name = groups.name_of(position)
            rows.append(
                MessageRow(
                    position,
                    _PAST[edit.action],
                    edit.reason == "pinned",
                    transcript.facts_at(position).role,
                    name,
                    groups.state_of(name),
                    chars.size(position),
                    tokens.size(position) if tokens else None,
                    edit.reason,
                    REASONS[edit.reason],
                    preview(transcript, position),
                )
            )
    given = [row for row in rows if row.position >= 0]
    before = Size(
        plan.length,
        tokens.around + sum(row.tokens or 0 for row in given) if tokens else None,
        chars.around + sum(row.chars for row in given),
    )
    return Explanation(
        kind="messages",
        summary=_plan_summary(plan, before),
        head=_plan_head(plan, before),
        rows=rows,
    )


def _put_in(edit: Edit) -> MessageRow:
    """Work out the row of a message that was not in the input."""
    return MessageRow(
        position=-1,
        action=_PAST[edit.action],
        pinned=False,
        role=edit.role,
        group=-1,
        state="",
        chars=len(edit.text),
        tokens=None,
        reason=edit.reason,
        why=REASONS[edit.reason],
        preview=one_line(edit.text, PREVIEW),
    )


def _plan_head(plan: Plan, before: Size) -> dict[str, Any]:
    kept = len(plan.kept)
    return {
        "format": plan.format,
        "profile": plan.profile,
        "length": plan.length,
        "kept": kept,
        "dropped": plan.length - kept,
        "changed": len(plan.replaced) + len(plan.stripped),
        "inserted": len(plan.inserted),
        "strategy": plan.strategy,
        "fired": list(plan.fired),
        "steps": msgspec.to_builtins(plan.steps),
        "limit": plan.limit,
        "counter": plan.counter,
        "counter_kind": plan.counter_kind,
        "before": msgspec.to_builtins(before),
        "after": msgspec.to_builtins(plan.after),
        "changed_from": plan.changed_from,
    }


def _plan_summary(plan: Plan, before: Size) -> str:
    kept, length = len(plan.kept), plan.length
    if kept == length:
        said = f"kept all {count(length, 'message')}"
    else:
        stayed = f"{kept:,}" if kept else "none"
        said = f"kept {stayed} of {count(length, 'message')}, dropped {length - kept:,}"
    if plan.stripped:
        said += f", {len(plan.stripped):,} of them without their thinking"
    if plan.replaced:
        said += f", {len(plan.replaced):,} of them with stubs in"
    if plan.inserted:
        said += f", put {len(plan.inserted):,} in"
    for unit in (TOKENS, CHARS):
        was, now = getattr(before, unit), getattr(plan.after, unit)
        if now is not None:
            said += f", {now:,}{'' if was is None else f' of {was:,}'} {unit}"
    limits = ", ".join(f"{limit:,} {unit}" for unit, limit in plan.limit.items())
    details = [f"limit: {limits}" if limits else "no limit"]
    if plan.counter is not None:
        details.append("tokens " + _SURE.get(plan.counter_kind or "", "by {}").format(plan.counter))
    details.append(f"profile {plan.profile}, format {plan.format}")
    if plan.strategy:
        details += [f"because: {reason}" for reason in plan.fired]
    details += [
        f"{step.step}: {step.why_not or count(step.changed, 'message')}" for step in plan.steps
    ]
    return f"{said} ({'; '.join(details)})"
