"""Applying: the one place that carries a plan out.

Knows: how edits become messages, by the writer of the format.

Must not know: how the decision was reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.errors import PlanMismatch
from lockstitch.plan.plan import fingerprint
from lockstitch.transcript import ToolResult
from lockstitch.writing import edited, stripped, without, writer_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.formats.base import Format
    from lockstitch.plan.edits import Edit, Put
    from lockstitch.plan.plan import Plan
    from lockstitch.transcript import Transcript

__all__ = ["apply_plan", "ensure_made_for", "kept_natives", "put_in", "said_in"]


def apply_plan(plan: Plan, transcript: Transcript) -> list[Any]:
    """Carry a plan out: the kept native messages, the very objects that went in.

    A message that something in it changes of is a new one.

    Raises:
        PlanMismatch: the plan was made for other messages.
        ValueError: its summary has not been written.
    """
    ensure_made_for(plan, transcript)
    if plan.pending is not None:
        raise ValueError(
            "the summary of this plan has not been written: apply plan.summarized(text), or let "
            "lockstitch.summarize do both"
        )
    return kept_natives(plan.edits, transcript)


def ensure_made_for(plan: Plan, transcript: Transcript) -> None:
    """Refuse messages that a plan was not made for.

    Raises:
        PlanMismatch: these are others.
    """
    if plan.length != len(transcript) or plan.format != transcript.format.name:
        raise PlanMismatch(
            f"the plan was made for {plan.length} {plan.format} messages, these are "
            f"{len(transcript)} in {transcript.format.name}: make a new plan"
        )
    if plan.fingerprint and plan.fingerprint != fingerprint(transcript, plan.edits):
        raise PlanMismatch(
            "the plan was made for other messages (roles or ids of the kept ones differ): make a "
            "new plan"
        )


def kept_natives(edits: Sequence[Edit], transcript: Transcript) -> list[Any]:
    """Return the native messages that edits keep, in order."""
    kept: list[Any] = []
    form = transcript.format
    for edit in edits:
        if edit.action == "drop":
            continue  # not even looked at: a cut costs what it keeps
        natives = transcript.natives[edit.start : edit.stop]
        if edit.action == "keep":
            kept += natives
        elif edit.action == "strip":
            kept += [stripped(native, form) for native in natives]
        elif edit.action == "replace":
            kept += [put_in(native, form, edit.puts, bare=edit.bare) for native in natives]
        else:
            kept.append(said_in(transcript, edit.role, edit.text))
    return kept


def put_in(native: Any, form: Format, puts: Sequence[Put], *, bare: bool) -> Any:
    """Return a message with things put in the place of parts of it.

    Raises:
        PlanMismatch: it has no such part.
    """
    writer = writer_for(form.name)
    fields = writer.fields(native)
    results = {part.path: part for part in form.parts(native) if isinstance(part, ToolResult)}
    for put in puts:
        if put.kind == "gone":
            fields = without(fields, [put.path])
        elif put.kind == "media":
            fields = edited(fields, put.path, writer.text(put.text))
        else:
            part = results.get(put.path)
            cleared = None if part is None else writer.cleared(fields, part, put.text)
            if cleared is None:
                raise PlanMismatch(f"no result stands at {put.path}: make a new plan")
            fields = cleared
    changed = writer.refit(native, fields)
    return stripped(changed, form) if bare else changed


def said_in(transcript: Transcript, role: str, text: str) -> Any:
    """Make a message of the kind that a history has."""
    like = transcript.natives[0] if len(transcript) else None
    return writer_for(transcript.format.name).said(role, text, like)
