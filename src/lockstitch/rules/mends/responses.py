"""Mends of Responses items: ids, reasoning and what it is bound to, blocks, order, files.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.facts import ASSISTANT
from lockstitch.formats.base import mapping
from lockstitch.rules.checks.item_ids import HOSTED, PREFIXES, issued, kind_of
from lockstitch.rules.ids import IdShape, fitting
from lockstitch.writing import edited, inside, without

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry
    from lockstitch.writing import Fields

__all__ = [
    "drop_thought",
    "drop_trigger",
    "forget_id",
    "leave_out_file",
    "message_first",
    "own_block",
    "settle_id",
    "tell_apart",
    "trigger_last",
    "write_summary",
]

# Items that the server takes only with an id.
_NAMED: Final = HOSTED | {"mcp_list_tools", "mcp_approval_request"}
_HASH: Final = IdShape("a-zA-Z0-9", 24, 24)


def _changed(
    draft: Draft, breach: Breach, kind: str, fields: Fields, path: str, *, message: str
) -> bool:
    before = breach.entry.native
    draft.rewrite(breach.entry, fields)
    draft.note(
        kind, breach.rule.id, breach.entry, message, path, before=before, after=breach.entry.native
    )
    return True


# --- ids ------------------------------------------------------------------------------------------


def settle_id(draft: Draft, breach: Breach) -> bool:
    """Leave an id out that the server did not issue; where it wants one, write one of its shape."""
    fields = draft.fields(breach.entry)
    kind, old = kind_of(fields), fields.get("id")
    if kind in _NAMED:
        return _rename_item(draft, breach, f"{PREFIXES[kind]}_{fitting(str(old), _HASH)}")
    return not _needs_id(kind, fields) and forget_id(draft, breach)


def _needs_id(kind: str, item: Fields) -> bool:
    """Whether an item is not taken, or not known again, without its id."""
    paired = kind == "local_shell_call" and not item.get("call_id")
    return kind in _NAMED or paired or (kind == "reasoning" and not item.get("encrypted_content"))


def _rename_item(draft: Draft, breach: Breach, name: str) -> bool:
    """Give an item another id, and everything that names it."""
    old = draft.fields(breach.entry)["id"]
    for entry in draft.entries:
        fields = draft.fields(entry)
        if old and fields.get("approval_request_id") == old:
            before, touched = entry.native, entry.touched
            draft.rewrite(entry, {**fields, "approval_request_id": name})
            entry.touched = touched
            said = f"the id {old} was renamed to {name}"
            draft.note(
                "rename",
                breach.rule.id,
                entry,
                said,
                "approval_request_id",
                before=before,
                after=entry.native,
            )
    fields = {**draft.fields(breach.entry), "id": name}
    message = f"the id {old} was renamed to {name}"
    return _changed(draft, breach, "rename", fields, "id", message=message)


def forget_id(draft: Draft, breach: Breach) -> bool:
    """Take the id off an item; what it says and the id that pairs it stay."""
    fields = draft.fields(breach.entry)
    old = fields.get("id")
    message = f"the item id {old!r} was left out: {breach.finding.message}"
    return _changed(draft, breach, "rename", _nameless(fields), "id", message=message)


def _nameless(item: Fields) -> Fields:
    """Return an item without its id; the status of a message stands only beside one."""
    return without(item, ["id", "status"] if item.get("role") == ASSISTANT else ["id"])


def tell_apart(draft: Draft, breach: Breach) -> bool:
    """Take the id off an item that another one has and that says something else."""
    twin = breach.entries[breach.finding.related[0]]
    item = draft.fields(breach.entry)
    kind = kind_of(item)
    if draft.parts(twin) == draft.parts(breach.entry) or _needs_id(kind, item):
        return False
    return forget_id(draft, breach)


# --- reasoning ------------------------------------------------------------------------------------


def drop_thought(draft: Draft, breach: Breach) -> bool:
    """Drop reasoning, and take off the ids of the items that were bound to it."""
    entry = breach.entry
    if not draft.facts(entry).reasoning:
        return False
    at = draft.position(entry)
    draft.remove(entry)
    message = f"the reasoning was dropped: {breach.finding.message}"
    draft.note("drop", breach.rule.id, entry, message, "", before=entry.native)
    for bound in draft.entries[at:]:
        fact = draft.facts(bound)
        if fact.role != ASSISTANT or fact.reasoning:
            break
        _unbind(draft, breach, bound)
    return True


def _unbind(draft: Draft, breach: Breach, entry: Entry) -> None:
    fields = draft.fields(entry)
    if not issued(fields) or kind_of(fields) in _NAMED:
        return
    before = entry.native
    draft.rewrite(entry, without(fields, ["id"]))
    message = f"the id {fields['id']} was left out, since the reasoning that it is bound to is gone"
    draft.note("rename", breach.rule.id, entry, message, "id", before=before, after=entry.native)


def write_summary(draft: Draft, breach: Breach) -> bool:
    """Write the empty summary that reasoning must have."""
    fields = {**draft.fields(breach.entry), "summary": []}
    message = "an empty summary was written"
    return _changed(draft, breach, "replace", fields, "summary", message=message)


# --- blocks, order, files -------------------------------------------------------------------------


def own_block(draft: Draft, breach: Breach) -> bool:
    """Write a block of text as the role's own."""
    fields = draft.fields(breach.entry)
    path = breach.finding.path
    block = dict(mapping(inside(fields, path)))
    text = block.get("text", block.get("refusal"))
    if not isinstance(text, str):
        return False
    kind = "output_text" if fields.get("role") == ASSISTANT else "input_text"
    written = {"type": kind, "text": text}
    message = f"the block was written as {kind}"
    return _changed(draft, breach, "replace", edited(fields, path, written), path, message=message)


def trigger_last(draft: Draft, breach: Breach) -> bool:
    """Move the trigger of a compaction to the end, where none stands yet."""
    if mapping(draft.entries[-1].native).get("type") == "compaction_trigger":
        return False
    entry = breach.entry
    draft.remove(entry)
    draft.entries.append(entry)
    message = "the trigger was moved to the end of the list"
    draft.note("move", breach.rule.id, entry, message, "", before=entry.native, after=entry.native)
    return True


def drop_trigger(draft: Draft, breach: Breach) -> bool:
    """Drop the trigger of a compaction where another one ends the list."""
    draft.remove(breach.entry)
    message = "the trigger was dropped, since one ends the list"
    draft.note("drop", breach.rule.id, breach.entry, message, "", before=breach.entry.native)
    return True


def message_first(draft: Draft, breach: Breach) -> bool:
    """Move a message, and the reasoning right before it, in front of the calls it stands among."""
    call = breach.entries[breach.finding.related[0]]
    moved = [breach.entry, *_thoughts_before(draft, breach.entry)]
    for entry in moved:
        draft.remove(entry)
    thoughts = _thoughts_before(draft, call)
    at = draft.position(thoughts[-1] if thoughts else call)
    draft.entries[at:at] = reversed(moved)
    native = breach.entry.native
    message = "the message was moved in front of the calls it stood among"
    draft.note("move", breach.rule.id, breach.entry, message, "", before=native, after=native)
    return True


def _thoughts_before(draft: Draft, entry: Entry) -> list[Entry]:
    """List the reasoning right before an entry, the nearest first."""
    found: list[Entry] = []
    for other in reversed(draft.entries[: draft.position(entry)]):
        if not draft.facts(other).reasoning:
            break
        found.append(other)
    return found


def leave_out_file(draft: Draft, breach: Breach) -> bool:
    """Put a note in the place of a file that is not taken."""
    fields = draft.fields(breach.entry)
    path = breach.finding.path
    before = inside(fields, path)
    name = mapping(before).get("filename") or "without a name"
    note = draft.writer.text(f"[The file {name} was left out here: its type is not taken.]")
    draft.rewrite(breach.entry, edited(fields, path, note))
    message = f"the file {name} was left out, and a note says so"
    draft.note("drop", breach.rule.id, breach.entry, message, path, before=before, after=note)
    return True
