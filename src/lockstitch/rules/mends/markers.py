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
    from lockstitch.writing import Fields

__all__ = ["drop_marker", "move_marker"]


def move_marker(draft: Draft, breach: Breach) -> bool:
    """Move a cache marker to the nearest block before it that can have one."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    head, _, number = path[:-1].rpartition("[")
    for at in range(int(number) - 1, -1, -1):
        block = mapping(inside(fields, f"{head}[{at}]"))
        if not block.get("cache_control") and _can_have_marker(block):
            marker = inside(fields, f"{path}.cache_control")
            moved = edited(_unmarked(fields, path), f"{head}[{at}].cache_control", marker)
            message = "the cache marker was moved to a block that can have one"
            return _rewritten(draft, breach, moved, "move", message)
    return False


def drop_marker(draft: Draft, breach: Breach) -> bool:
    """Take a cache marker away where no block before it can have one."""
    fields = _unmarked(draft.fields(breach.entry), breach.finding.path)
    message = "the cache marker was taken away, since no block before it can have one"
    return _rewritten(draft, breach, fields, "drop", message)


def _unmarked(fields: Fields, path: str) -> Fields:
    return without(fields, [f"{path}.cache_control"])


def _rewritten(draft: Draft, breach: Breach, fields: Fields, kind: str, message: str) -> bool:
    before = breach.entry.native
    draft.rewrite(breach.entry, fields)
    path, after = breach.finding.path, breach.entry.native
    draft.note(kind, breach.rule.id, breach.entry, message, path, before=before, after=after)
    return True


def _can_have_marker(block: Any) -> bool:
    if block.get("type") == "text":
        return bool(block.get("text"))
    return block.get("type") not in {"thinking", "redacted_thinking"}
