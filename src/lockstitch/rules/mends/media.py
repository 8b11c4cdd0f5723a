"""Mends of attachments: documents of one name, too many of them, media that a model does not take.

Paths name the block itself, inside a result too. Each takes a draft and a breach, changes the draft
and accounts for it. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.formats.base import blocks_of, mapping
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = ["ATTACHED", "IMAGE", "put_beside", "rename_document", "stand_for_image", "stub"]

ATTACHED: Final = "[The attachment stands beside this result.]"
"""What a result says whose attachment was moved out of it."""
IMAGE = "[An image stood here. It was too large for a request with many images.]"
"""What stands for an image that cannot be sent."""


def _kind(block: Any) -> str:
    return str(next(iter(mapping(block))))


def rename_document(draft: Draft, breach: Breach) -> bool:
    """Give a document a name that no other has."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    document = mapping(inside(fields, path))["document"]
    name = str(mapping(document)["name"])
    taken = {one for entry in draft.entries for one in _document_names(entry.native)}
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    new = f"{name}-{number}"
    draft.rewrite(breach.entry, edited(fields, f"{path}.document.name", new))
    breach.entry.touched = False
    message = f"the document {name} was renamed to {new}"
    draft.note("rename", breach.rule.id, breach.entry, message, path, before=name, after=new)
    return True


def _document_names(native: Any) -> set[str]:
    """Return the names of the documents of a message, those inside results too."""
    found: set[str] = set()
    todo = [mapping(native).get("content")]
    while todo:
        content = todo.pop()
        for block in blocks_of(content if isinstance(content, (list, tuple)) else ()):
            if block.get("document"):
                found.add(str(mapping(block["document"]).get("name")))
            if block.get("toolResult"):
                todo.append(mapping(block["toolResult"]).get("content"))
    return found


def stub(draft: Draft, breach: Breach) -> bool:
    """Put a note in the place of an attachment."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    before = inside(fields, path)
    kind = _kind(before)
    name = mapping(mapping(before)[kind]).get("name")
    note = f"[{kind} {name} is not shown.]" if name else f"[{kind} is not shown.]"
    draft.rewrite(breach.entry, edited(fields, path, draft.writer.text(note)))
    breach.entry.touched = False
    message = f"a note was put in the place of the {kind}: {breach.finding.message}"
    draft.note("demote", breach.rule.id, breach.entry, message, path, before=before, after=note)
    return True


def stand_for_image(draft: Draft, breach: Breach) -> bool:
    """Put a note in the place of an image that cannot be sent."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    before = inside(fields, path)
    note = draft.writer.text(IMAGE)
    touched = breach.entry.touched
    draft.rewrite(breach.entry, edited(fields, path, note))
    # A block stands for a block, so the paths of other breaches hold.
    breach.entry.touched = touched
    message = f"an image was replaced by a note: {breach.finding.message}"
    draft.note("drop", breach.rule.id, breach.entry, message, path, before=before, after=note)
    return True


def put_beside(draft: Draft, breach: Breach) -> bool:
    """Move an attachment out of a result, to the end of the message."""
    path = breach.finding.path
    outer, _, _ = path.partition(".toolResult.")
    fields = draft.fields(breach.entry)
    block = inside(fields, path)
    fields = edited(fields, path, draft.writer.text(ATTACHED))
    blocks = [*draft.writer.blocks(fields), block]
    draft.rewrite(breach.entry, draft.writer.with_blocks(fields, blocks))
    # Blocks were only put behind the others: the paths of other breaches hold.
    breach.entry.touched = False
    message = f"the {_kind(block)} was moved out of the result at {outer}, to stand beside it"
    draft.note("move", breach.rule.id, breach.entry, message, path, before=block)
    return True
