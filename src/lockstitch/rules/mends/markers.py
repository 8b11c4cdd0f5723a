"""Mends of cache markers: where one may stand, and what becomes of one that may not.

Each takes a draft and a breach, changes the draft and accounts for it. Must not know: which rule
calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.writing import edited, inside, without

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = ["move_marker"]


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
