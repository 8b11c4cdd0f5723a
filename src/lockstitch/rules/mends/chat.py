"""Mends of what Chat Completions demands beyond calls and results: roles, media, batches.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import TOOL
from lockstitch.formats.base import mapping
from lockstitch.rules.checks.chat import BATCH
from lockstitch.transcript import ToolResult
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry

__all__ = ["BELOW", "as_developer", "as_user", "hoist_media", "leave_out", "part_batch"]

BELOW = "[What this tool returned is shown below.]"
"""What a result says whose media were moved to a user message."""


def hoist_media(draft: Draft, breach: Breach) -> bool:
    """Move the media of a result to a user message behind the results of its batch."""
    entry, part = breach.entry, breach.part()
    if not isinstance(part, ToolResult):
        return False
    fields = draft.fields(entry)
    kept: list[Any] = []
    moved: list[Any] = []
    for block in draft.writer.blocks(fields):
        (kept if mapping(block).get("type") in {"text", "refusal"} else moved).append(block)
    before = entry.native
    draft.rewrite(entry, draft.writer.result(fields, part, kept or BELOW))
    note = draft.writer.text(f"[From the result of the call {part.id or part.name}:]")
    holder = _beside(draft, entry)
    if holder is None:
        last = draft.position(entry)
        while last + 1 < len(draft.entries) and draft.facts(draft.entries[last + 1]).role == TOOL:
            last += 1
        holder = draft.insert(last + 1, draft.writer.carrying([note, *moved], entry.native))
    else:
        held = draft.fields(holder)
        blocks = [*draft.writer.blocks(held), note, *moved]
        draft.rewrite(holder, draft.writer.with_blocks(held, blocks))
    message = f"the media of the result {part.id} were moved to a user message behind the results"
    draft.note("move", breach.rule.id, entry, message, part.path, before=before, after=entry.native)
    message = f"the media of the result {part.id} stand in a user message"
    draft.note("move", breach.rule.id, holder, message, after=holder.native)
    return True


def _beside(draft: Draft, entry: Entry) -> Entry | None:
    """Return the message that was put behind this batch for the media of another result."""
    for other in draft.entries[draft.position(entry) + 1 :]:
        if draft.facts(other).role != TOOL:
            return other if other.origin < 0 and other.touched else None
    return None


def leave_out(draft: Draft, breach: Breach) -> bool:
    """Put a note in the place of sound, which the model does not take."""
    part = breach.part()
    if part is None:
        return False
    fields = draft.fields(breach.entry)
    before = inside(fields, part.path)
    note = draft.writer.text("[Sound was left out here: this model does not take it.]")
    draft.rewrite(breach.entry, edited(fields, part.path, note))
    message = "the sound was left out, and a note says so"
    draft.note("drop", breach.rule.id, breach.entry, message, part.path, before=before, after=note)
    return True


def as_developer(draft: Draft, breach: Breach) -> bool:
    """Say as the developer what the system said, where the model is known to take only that."""
    known = breach.view.known
    if not known.get("no_system") or known.get("no_developer"):
        return False
    return _as(draft, breach, "replace", "developer")


def as_user(draft: Draft, breach: Breach) -> bool:
    """Say as the user what the system said, where the model takes neither of its roles."""
    return _as(draft, breach, "demote", "user")


def _as(draft: Draft, breach: Breach, kind: str, role: str) -> bool:
    before = breach.entry.native
    draft.rewrite(breach.entry, {**draft.fields(breach.entry), "role": role})
    message = f"the role was changed to {role}, since the model refuses the one it had"
    draft.note(
        kind,
        breach.rule.id,
        breach.entry,
        message,
        "role",
        before=before,
        after=breach.entry.native,
    )
    return True


def part_batch(draft: Draft, breach: Breach) -> bool:
    """Part a message of too many calls into several, each followed by its own results."""
    entry, index = breach.entry, breach.finding.index
    fields = draft.fields(entry)
    calls = list(fields["tool_calls"])
    answers: dict[int, list[Entry]] = {}
    for tie in breach.view.groups.pairing.ties:
        if tie.call is not None and tie.call.message == index:
            answers.setdefault(tie.call.ordinal, []).append(breach.entries[tie.message])
    before = entry.native
    draft.rewrite(entry, {**fields, "tool_calls": calls[:BATCH]})
    at = draft.position(entry) + 1
    for start in range(0, len(calls), BATCH):
        if start:
            more = {
                "role": "assistant",
                "content": None,
                "tool_calls": calls[start : start + BATCH],
            }
            draft.insert(at, draft.writer.refit(before, more))
            at += 1
        for ordinal in range(start, start + BATCH):
            for answer in answers.get(ordinal, ()):
                # A result in front of the place leaves a gap that everything behind it closes.
                at -= draft.position(answer) < at
                draft.move(answer, at)
                at += 1
    message = f"the {len(calls)} calls were parted into several messages"
    draft.note(
        "move", breach.rule.id, entry, message, "tool_calls", before=before, after=entry.native
    )
    return True
