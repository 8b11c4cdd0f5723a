"""Mends for servers that speak Chat's shape: reasoning brought back, turns made to fit a template.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, USER
from lockstitch.rules.checks.thoughts import FIELD
from lockstitch.rules.mends.order import GO_ON, bridge, say
from lockstitch.transcript import Reasoning, Text, ToolCall, ToolResult
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from typing import Any

    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry
    from lockstitch.transcript import Part

__all__ = [
    "blank_content",
    "bring_back_thoughts",
    "fold_system",
    "leave_thoughts_empty",
    "move_media",
    "one_call_each",
    "take_turns",
    "write_content",
]


# --- reasoning ------------------------------------------------------------------------------------


def bring_back_thoughts(draft: Draft, breach: Breach) -> bool:
    """Bring a message back from the record with the reasoning that it was sent with."""
    if breach.record is None:
        return False
    spoken = _spoken(draft.parts(breach.entry))
    transcript = breach.record.transcript
    for at in range(len(transcript)):
        if transcript.facts_at(at).role != ASSISTANT:
            continue
        parts = transcript.message(at).parts
        if _spoken(parts) != spoken or not any(isinstance(part, Reasoning) for part in parts):
            continue
        before = breach.entry.native
        draft.replace(breach.entry, transcript.natives[at])
        message = "the reasoning of the message was brought back from the record"
        draft.note(
            "restore",
            breach.rule.id,
            breach.entry,
            message,
            before=before,
            after=breach.entry.native,
        )
        return True
    return False


def _spoken(parts: tuple[Part, ...]) -> list[tuple[Any, ...]]:
    """Return what parts say beside reasoning, wherever they stand."""
    found: list[tuple[Any, ...]] = []
    for part in parts:
        if isinstance(part, Text):
            found += [("text", part.text)] if part.text else []
        elif isinstance(part, ToolCall):
            found.append((part.id, part.name, part.arguments))
        elif not isinstance(part, Reasoning):
            found.append((part,))
    return found


def leave_thoughts_empty(draft: Draft, breach: Breach) -> bool:
    """Send the field of the reasoning empty: the call stays, and nothing is made up."""
    before = breach.entry.native
    draft.rewrite(breach.entry, {**draft.fields(breach.entry), FIELD: ""})
    message = f"{FIELD} was sent empty, since the reasoning is not there any more"
    draft.note("synthesize", breach.rule.id, breach.entry, message, FIELD, before=before, after="")
    return True


def blank_content(draft: Draft, breach: Breach) -> bool:
    """Blank the text of a message that calls tools."""
    fields = draft.fields(breach.entry)
    before = fields.get("content")
    draft.rewrite(breach.entry, {**fields, "content": ""})
    message = f"the text was left out: {breach.finding.message}"
    draft.note("drop", breach.rule.id, breach.entry, message, "content", before=before, after="")
    return True


# --- who speaks when ------------------------------------------------------------------------------


def take_turns(draft: Draft, breach: Breach) -> bool:
    """Let the other side speak between two messages of one side."""
    if draft.facts(breach.entry).role == USER:
        return bridge(draft, breach)
    return say(draft, breach, draft.position(breach.entry), USER, GO_ON)


def one_call_each(draft: Draft, breach: Breach) -> bool:
    """Make one message of each call, with its results behind it; nothing is lost."""
    first = breach.entry
    calls = [part for part in draft.parts(first) if isinstance(part, ToolCall)]
    key, _, _ = calls[0].path.rpartition("[")
    fields = draft.fields(first)
    entries = [inside(fields, call.path) for call in calls]
    results = _results_of(breach)
    before = first.native
    draft.rewrite(first, {**fields, key: entries[:1]})
    last = first
    for number, call in enumerate(entries):
        if number:
            made = {"role": ASSISTANT, "content": None, key: [call]}
            last = draft.insert(draft.position(last) + 1, made)
        for entry in results.get(number, ()):
            draft.move_behind(entry, last)
            last = entry
    message = f"the {len(entries)} calls of the message were given a message each"
    draft.note("move", breach.rule.id, first, message, key, before=before, after=first.native)
    return True


def _results_of(breach: Breach) -> dict[int, list[Entry]]:
    """Return the results of a message's calls, by the place of the call in it."""
    found: dict[int, list[Entry]] = {}
    view = breach.view
    for tie in view.groups.pairing.ties:
        if tie.call is not None and tie.call.message == breach.finding.index != tie.message:
            found.setdefault(tie.call.ordinal, []).append(breach.entries[tie.message])
    return found


# --- the system part ------------------------------------------------------------------------------


def _next_user(draft: Draft, entry: Entry) -> Entry | None:
    at = draft.position(entry)
    for other in draft.entries[at + 1 :]:
        parts = draft.parts(other)
        if draft.facts(other).role == USER and not any(isinstance(p, ToolResult) for p in parts):
            return other
    return None


def fold_system(draft: Draft, breach: Breach) -> bool:
    """Let the next user message say what a system message says, in front of its own words."""
    user = _next_user(draft, breach.entry)
    if user is None or user.touched:
        return False
    before = breach.entry.native
    told = draft.fields(user)
    key = draft.writer.key
    both = draft.writer.merged(draft.fields(breach.entry), told)
    draft.rewrite(user, {**told, key: both[key]})
    draft.remove(breach.entry)
    message = "the system message was folded into the next user message"
    draft.note("merge", breach.rule.id, breach.entry, message, before=before, after=user.native)
    return True


def move_media(draft: Draft, breach: Breach) -> bool:
    """Move an image from a system message to the end of the next user message."""
    user = _next_user(draft, breach.entry)
    if user is None or user.touched:
        return False
    path = breach.finding.path
    [block] = draft.take_out(breach.entry, [path])
    told = draft.fields(user)
    draft.rewrite(user, draft.writer.with_blocks(told, [*draft.writer.blocks(told), block]))
    message = "what a system message may not hold was moved to the next user message"
    draft.note("move", breach.rule.id, breach.entry, message, path, before=block, after=block)
    return True


def write_content(draft: Draft, breach: Breach) -> bool:
    """Write empty content where there is none."""
    path = breach.finding.path
    if path != "content":
        return False
    fields = draft.fields(breach.entry)
    before = fields.get(path)
    draft.rewrite(breach.entry, edited(fields, path, ""))
    message = "empty text was written where the content was missing"
    draft.note("replace", breach.rule.id, breach.entry, message, path, before=before, after="")
    return True
