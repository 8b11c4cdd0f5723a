"""Mends of Anthropic messages: names, cache markers, images, the tools of the request.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import FUNCTION
from lockstitch.formats.base import mapping
from lockstitch.transcript import ToolCall
from lockstitch.writing import edited, inside, without

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = ["define_tools", "move_marker", "stand_for_image", "strip_end"]

GONE = "Used earlier in this conversation; not available now."
"""What a tool that is defined for the sake of the history says of itself."""
UNNAMED = "tool"
"""How a tool is defined of which only results are left."""
IMAGE = "[An image stood here. It was too large for a request with many images.]"
"""What stands for an image that cannot be sent."""


def define_tools(draft: Draft, breach: Breach) -> bool:
    """Define the tools of the history in the request, by name, taking any input."""
    names = sorted(
        {
            part.name
            for entry in draft.entries
            for part in draft.parts(entry)
            if isinstance(part, ToolCall) and part.family == FUNCTION and part.name
        }
    )
    key, tools = draft.writer.defined(names or [UNNAMED], GONE)
    message = "the tools of the history were defined in the request, which had none"
    draft.ask(key, tools, "synthesize", breach.rule.id, message)
    return True


def strip_end(draft: Draft, breach: Breach) -> bool:
    """Take white space away from the end of a text."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    place = f"{path}.text" if path.endswith("]") else path
    before = inside(fields, place)
    draft.rewrite(breach.entry, edited(fields, place, before.rstrip()))
    message = "white space at the end of the last text was taken away"
    draft.note(
        "replace",
        breach.rule.id,
        breach.entry,
        message,
        path,
        before=before,
        after=before.rstrip(),
    )
    return True


def move_marker(draft: Draft, breach: Breach) -> bool:
    """Move a cache marker to the nearest block before it that can have one, else away."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    head, _, number = path[:-1].rpartition("[")
    marker = inside(fields, f"{path}.cache_control")
    changed = without(fields, [f"{path}.cache_control"])
    for at in range(int(number) - 1, -1, -1):
        block = mapping(inside(fields, f"{head}[{at}]"))
        if not block.get("cache_control") and _can_have_marker(block):
            changed = edited(changed, f"{head}[{at}].cache_control", marker)
            break
    before = breach.entry.native
    draft.rewrite(breach.entry, changed)
    message = "the cache marker was moved to a block that can have one"
    draft.note(
        "move",
        breach.rule.id,
        breach.entry,
        message,
        path,
        before=before,
        after=breach.entry.native,
    )
    return True


def _can_have_marker(block: Any) -> bool:
    if block.get("type") == "text":
        return bool(block.get("text"))
    return block.get("type") not in {"thinking", "redacted_thinking"}


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
