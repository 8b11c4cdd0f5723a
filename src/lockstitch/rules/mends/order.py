"""Mends of the list: who speaks first and last, what stands beside what.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, TOOL, USER
from lockstitch.transcript import Text

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry

__all__ = [
    "BRIDGE",
    "EARLIER",
    "GO_ON",
    "as_user",
    "bridge",
    "drop_item",
    "go_on",
    "lift_system",
    "merge_neighbours",
    "open_with_user",
    "say",
    "settle_system",
]

EARLIER = "[The earlier part of this conversation is not shown.]"
"""What opens a conversation whose first user message is gone."""
GO_ON = "Continue."
"""What the user says where the model may not have the last word."""
BRIDGE = "(continuing)"
"""What the model says where it must speak between a result and the user."""


def open_with_user(draft: Draft, breach: Breach) -> bool:
    """Let a marker of the user's side open the conversation."""
    return say(draft, breach, draft.position(breach.entry), USER, EARLIER)


def go_on(draft: Draft, breach: Breach) -> bool:
    """Give the user the last word."""
    return say(draft, breach, draft.position(breach.entry) + 1, USER, GO_ON)


def bridge(draft: Draft, breach: Breach) -> bool:
    """Let the model speak between a result and the user."""
    return say(draft, breach, draft.position(breach.entry), ASSISTANT, BRIDGE)


def say(draft: Draft, breach: Breach, at: int, role: str, text: str) -> bool:
    """Put a message of text in front of a position."""
    made = draft.writer.said(role, text, breach.entry.native)
    draft.insert(at, made)
    breach.entry.touched = True
    message = f"a message was put in, {text!r}: {breach.finding.message}"
    draft.note("synthesize", breach.rule.id, breach.entry, message, "", after=made)
    return True


def merge_neighbours(draft: Draft, breach: Breach) -> bool:
    """Make one message of this one and the one before it."""
    at = draft.position(breach.entry)
    if at == 0:
        return False
    first = draft.entries[at - 1]
    if first.touched or not all(
        draft.writer.merges(entry.native) for entry in (first, breach.entry)
    ):
        return False
    if _side(draft, first) != _side(draft, breach.entry):
        return False
    before = breach.entry.native
    fields = draft.writer.merged(draft.fields(first), draft.fields(breach.entry))
    draft.rewrite(first, fields)
    draft.remove(breach.entry)
    message = "the message was merged into its neighbour of the same role"
    draft.note(
        "merge", breach.rule.id, breach.entry, message, "", before=before, after=first.native
    )
    return True


def _side(draft: Draft, entry: Entry) -> str:
    role = draft.facts(entry).role
    return USER if role == TOOL and draft.writer.packed else role


def lift_system(draft: Draft, breach: Breach) -> bool:
    """Take instructions out of the list, for the request's own field."""
    if any(not isinstance(part, Text) for part in draft.parts(breach.entry)):
        return False
    text = "\n\n".join(
        part.text for part in draft.parts(breach.entry) if isinstance(part, Text) and part.text
    )
    draft.remove(breach.entry)
    if text:
        draft.system.append(text)
    message = "the instructions were moved to the system field of the request"
    draft.note("move", breach.rule.id, breach.entry, message, "", before=breach.entry.native)
    return True


def settle_system(draft: Draft, breach: Breach) -> bool:
    """Move a system message to the nearest place after it where the target takes one."""
    at = draft.position(breach.entry)
    last = len(draft.entries) - 1
    roles = [draft.facts(entry).role for entry in draft.entries]
    for place in range(at + 1, last + 1):
        after = roles[place + 1] if place < last else ASSISTANT
        if roles[place] in {USER, TOOL} and after == ASSISTANT:
            before = breach.entry.native
            draft.move(breach.entry, place)
            message = "the system message was moved behind the next user turn"
            draft.note(
                "move", breach.rule.id, breach.entry, message, "", before=before, after=before
            )
            return True
    return False


def as_user(draft: Draft, breach: Breach) -> bool:
    """Let the user say what a system message says, in its place."""
    text = "\n\n".join(
        part.text for part in draft.parts(breach.entry) if isinstance(part, Text) and part.text
    )
    before = breach.entry.native
    draft.replace(breach.entry, draft.writer.said(USER, text, before))
    message = "the system message was turned into a user message, in its place"
    draft.note(
        "demote",
        breach.rule.id,
        breach.entry,
        message,
        "",
        before=before,
        after=breach.entry.native,
    )
    return True


def drop_item(draft: Draft, breach: Breach) -> bool:
    """Drop a message that may not stand where it does."""
    if draft.facts(breach.entry).role in {OTHER, SYSTEM, USER}:
        return False
    draft.remove(breach.entry)
    draft.note(
        "drop", breach.rule.id, breach.entry, breach.finding.message, "", before=breach.entry.native
    )
    return True
