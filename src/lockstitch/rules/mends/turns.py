"""Mends of strict turns: results at once, signatures, and roles and names as a target has them.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import SYSTEM
from lockstitch.formats.base import mapping
from lockstitch.rules.checks.gemini import BYPASS
from lockstitch.rules.mends import links, restore
from lockstitch.rules.mends.order import lift_system
from lockstitch.transcript import Text, ToolCall, ToolResult
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft
    from lockstitch.transcript import Part, Transcript

__all__ = [
    "answer_missing",
    "bring_back_missing",
    "bring_back_signature",
    "bypass_signature",
    "drop_blank",
    "drop_missing",
    "fold_into_result",
    "gather_result",
    "lift_instructions",
    "name_response",
    "write_role",
]

_SIGNATURES = ("thoughtSignature", "thought_signature")


# --- results at once ------------------------------------------------------------------------------


def gather_result(draft: Draft, breach: Breach) -> bool:
    """Bring the result of a call from a later message into the one that answers it."""
    if not breach.finding.related:
        return False
    view = breach.view
    for tie in view.groups.pairing.ties:
        call = tie.call
        if call is None or tie.duplicate or call.message != breach.finding.index:
            continue
        if view.place(call.message, call.ordinal) != breach.finding.path:
            continue
        holder = breach.entries[tie.message]
        path = view.place(tie.message, tie.ordinal)
        before = holder.native
        home = draft.put_result(breach.entry, draft.take_result(holder, path))
        breach.entry.touched = True
        message = "the result was merged into the message that answers its call"
        draft.note("merge", breach.rule.id, holder, message, path, before=before, after=home.native)
        return True
    return False


def bring_back_missing(draft: Draft, breach: Breach) -> bool:
    """Bring back the result of a call that has none."""
    return not breach.finding.related and restore.bring_back_result(draft, breach)


def answer_missing(draft: Draft, breach: Breach) -> bool:
    """Answer a call that has no result."""
    return not breach.finding.related and links.answer(draft, breach)


def drop_missing(draft: Draft, breach: Breach) -> bool:
    """Drop a call that has no result."""
    return not breach.finding.related and links.drop_part(draft, breach)


# --- signatures -----------------------------------------------------------------------------------


def bring_back_signature(draft: Draft, breach: Breach) -> bool:
    """Bring the signature of a call back from the record."""
    part = breach.part()
    if breach.record is None or not isinstance(part, ToolCall):
        return False
    found = _recorded(breach.record.transcript, part)
    if not found:
        return False
    _sign(draft, breach, part, found)
    message = f"the signature of the call {part.name} was brought back from the record"
    _note(draft, breach, "restore", message, part, after=found)
    return True


def _recorded(record: Transcript, call: ToolCall) -> Any:
    """Return the signature that a call has in the record."""
    for at in range(len(record)):
        if not record.facts_at(at).calls:
            continue
        for part in record.parts_at(at):
            alike = isinstance(part, ToolCall) and (part.id, part.name, part.arguments) == (
                call.id,
                call.name,
                call.arguments,
            )
            if alike and (found := _signature(record.natives[at], part)):
                return found
    return None


def _signature(native: Any, part: Part) -> Any:
    held = mapping(inside(mapping(native), part.path))
    return next((held[key] for key in _SIGNATURES if held.get(key)), None)


def bypass_signature(draft: Draft, breach: Breach) -> bool:
    """Give a call the value that stands for a signature that is gone."""
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    before = _signature(breach.entry.native, part)
    _sign(draft, breach, part, BYPASS)
    message = f"the call {part.name} was given the value that stands for a lost signature"
    _note(draft, breach, "replace", message, part, before=before, after=BYPASS)
    return True


def _sign(draft: Draft, breach: Breach, call: ToolCall, signature: Any) -> None:
    fields = draft.fields(breach.entry)
    held = dict(mapping(inside(fields, call.path)))
    snake = _SIGNATURES[1] in held or "function_call" in held
    key = _SIGNATURES[0] if _SIGNATURES[0] in held or not snake else _SIGNATURES[1]
    draft.rewrite(breach.entry, edited(fields, call.path, {**held, key: signature}))


def _note(draft: Draft, breach: Breach, kind: str, message: str, part: Part, **values: Any) -> None:
    draft.note(kind, breach.rule.id, breach.entry, message, part.path, **values)
    # Other calls of the message may be next; their paths hold.
    breach.entry.touched = False


# --- roles and names ------------------------------------------------------------------------------


def write_role(draft: Draft, breach: Breach) -> bool:
    """Write the target's word for a role; instructions go to the request's own field."""
    if draft.facts(breach.entry).role == SYSTEM:
        return False
    fields = draft.fields(breach.entry)
    before = fields.get("role")
    role = draft.writer.said("assistant", "")["role"] if before == "assistant" else "user"
    draft.rewrite(breach.entry, {**fields, "role": role})
    message = f"the role {before} was written as {role}"
    draft.note("replace", breach.rule.id, breach.entry, message, "role", before=before, after=role)
    return True


def lift_instructions(draft: Draft, breach: Breach) -> bool:
    """Move a content of instructions to the request's own field."""
    return draft.facts(breach.entry).role == SYSTEM and lift_system(draft, breach)


def name_response(draft: Draft, breach: Breach) -> bool:
    """Give a response the name of the function that was called."""
    part = breach.part()
    if not isinstance(part, ToolResult):
        return False
    tie = breach.lookup.tie_at(breach.place)
    if tie is None or tie.call is None:
        return False
    call = breach.view.end(tie.call.message, tie.call.ordinal)
    called = call.name if isinstance(call, ToolCall) else None
    if called is None:
        return False
    fields = draft.fields(breach.entry)
    held = mapping(inside(fields, part.path))
    key = next(key for key in ("functionResponse", "function_response") if held.get(key))
    draft.rewrite(breach.entry, edited(fields, f"{part.path}.{key}.name", called))
    message = f"the response was given the name of its call, {called}"
    _note(draft, breach, "rename", message, part, before=part.name, after=called)
    return True


# --- content --------------------------------------------------------------------------------------


def drop_blank(draft: Draft, breach: Breach) -> bool:
    """Take a blank block out of a message that says something else."""
    others = [part for part in draft.parts(breach.entry) if part.path != breach.finding.path]
    if not breach.finding.path.endswith("]") or draft.writer.says_nothing(others):
        return False
    return links.drop_part(draft, breach)


def fold_into_result(draft: Draft, breach: Breach) -> bool:
    """Move a text into the last result beside it."""
    part = breach.part()
    results = [one for one in draft.parts(breach.entry) if isinstance(one, ToolResult)]
    if not isinstance(part, Text) or not results:
        return False
    fields = draft.fields(breach.entry)
    before = inside(fields, part.path)
    held = draft.writer.content_blocks(results[-1].content)
    fields = draft.writer.result(fields, results[-1], [*held, before])
    draft.rewrite(breach.entry, fields)
    draft.take_out(breach.entry, [part.path])
    message = "the text was moved into the result beside it"
    draft.note("move", breach.rule.id, breach.entry, message, part.path, before=before)
    return True
