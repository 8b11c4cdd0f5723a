"""Mends of what the server holds or held: what the record still has, and what was sent twice.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import CALL, OTHER, RESULT
from lockstitch.formats.base import mapping
from lockstitch.grouping import group
from lockstitch.rules.checks.item_ids import issued, led_by
from lockstitch.rules.checks.stored import seals_of, sent_again
from lockstitch.rules.mends.links import UNKNOWN
from lockstitch.transcript import ToolCall

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = [
    "answer_chain",
    "bring_back_follower",
    "bring_back_item",
    "bring_back_sealed",
    "bring_back_thought",
    "send_the_rest",
]


def _recorded(breach: Breach) -> list[Any]:
    return list(breach.record.transcript.natives) if breach.record is not None else []


def _restored(draft: Draft, breach: Breach, native: Any, what: str) -> bool:
    """Put the recorded item in the place of the one at hand."""
    entry, before = breach.entry, breach.entry.native
    draft.replace(entry, native)
    message = f"{what} was brought back from the record"
    draft.note("restore", breach.rule.id, entry, message, "", before=before, after=native)
    return True


def bring_back_item(draft: Draft, breach: Breach) -> bool:
    """Send the recorded item itself in the place of a reference to it."""
    named = draft.fields(breach.entry).get("id")
    for native in _recorded(breach):
        item = mapping(native)
        if named and item.get("id") == named and item.get("type") != "item_reference":
            return _restored(draft, breach, native, f"the item {named}")
    return False


def bring_back_sealed(draft: Draft, breach: Breach) -> bool:
    """Bring the encrypted content of an item back from the record."""
    if breach.record is None:
        return False
    fields = draft.fields(breach.entry)
    sealed = seals_of(breach.record.transcript).get(str(fields.get("id")))
    if sealed is None or sealed == fields.get("encrypted_content"):
        return False
    changed = draft.writer.refit(breach.entry.native, {**fields, "encrypted_content": sealed})
    return _restored(draft, breach, changed, "the encrypted content")


def bring_back_thought(draft: Draft, breach: Breach) -> bool:
    """Bring the reasoning of an item back from the record, in front of its response."""
    if breach.record is None:
        return False
    transcript = breach.record.transcript
    id_ = led_by(transcript).get(draft.fields(breach.entry)["id"])
    if id_ is None:
        return False
    thought = next(one for one in transcript.natives if mapping(one).get("id") == id_)
    if any(draft.fields(entry).get("id") == id_ for entry in draft.entries):
        # It came back with another item of the same response.
        return True
    draft.insert(draft.position(breach.entry), thought)
    message = f"the reasoning {id_} was brought back from the record"
    draft.note("restore", breach.rule.id, breach.entry, message, "", after=thought)
    return True


def bring_back_follower(draft: Draft, breach: Breach) -> bool:
    """Bring back from the record the item that reasoning led to, for one that was rebuilt."""
    named = draft.fields(breach.entry).get("id")
    natives = _recorded(breach)
    at = next((at for at, one in enumerate(natives) if mapping(one).get("id") == named), -1)
    rebuilt = breach.entries[breach.finding.related[0]]
    if at < 0 or at + 1 >= len(natives) or not issued(mapping(natives[at + 1])):
        return False
    original, before = natives[at + 1], rebuilt.native
    if not _alike(draft, original, before):
        return False
    draft.replace(rebuilt, original)
    message = f"the item that the reasoning {named} led to was brought back from the record"
    draft.note("restore", breach.rule.id, rebuilt, message, "", before=before, after=original)
    return True


def _alike(draft: Draft, one: Any, other: Any) -> bool:
    """Whether two items say the same, whatever ids and marks they carry."""
    said = [
        [
            (getattr(part, "text", None), getattr(part, "id", None))
            for part in draft.format.parts(it)
        ]
        for it in (one, other)
    ]
    return said[0] == said[1] and draft.format.facts(one).role == draft.format.facts(other).role


# --- chains ---------------------------------------------------------------------------------------


def send_the_rest(draft: Draft, breach: Breach) -> bool:
    """Send only what is new: the server has everything up to the last item that it issued."""
    last = max(finding.index for finding in sent_again(breach.view))
    for entry in breach.entries[: last + 1]:
        if entry.touched or draft.facts(entry).role == OTHER:
            continue
        draft.remove(entry)
        message = "not sent again: the server holds it in the chain"
        draft.note("drop", breach.rule.id, entry, message, "", before=entry.native)
    return True


def answer_chain(draft: Draft, breach: Breach) -> bool:
    """Answer the calls that the chain holds open, saying that their outcome is unknown."""
    if breach.record is None:
        return False
    transcript = breach.record.transcript
    ends = (link for entry in draft.entries for link in draft.facts(entry).ends)
    given = {link.id for link in ends if link.kind == RESULT}
    at = 0
    for call in group(transcript.facts_from(0), 0).pairing.calls:
        if call.answer >= 0 or call.link.kind != CALL or call.link.id in given:
            continue
        native = transcript.natives[call.message]
        for part in draft.format.parts(native):
            made = (
                draft.writer.answer(part, UNKNOWN, native) if isinstance(part, ToolCall) else None
            )
            if made is None:
                continue
            entry = draft.insert(at, made)
            at += 1
            message = f"the call {call.link.id} of the chain was answered: its outcome is unknown"
            draft.note("synthesize", breach.rule.id, entry, message, "", after=made)
    return at > 0
