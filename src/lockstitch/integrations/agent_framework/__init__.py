"""Microsoft's agent-framework: its grouping with our groups, and our strategies as its compaction.

    group_messages          what its function of that name returns, with groups that split no pair
    LockstitchCompaction    any strategy of ours as a `CompactionStrategy` of its own

Needs `lockstitch[agent-framework]`. Each name is looked up when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from lockstitch.integrations.agent_framework.compaction import LockstitchCompaction
    from lockstitch.integrations.agent_framework.grouping import Span, group_messages

__all__ = ["LockstitchCompaction", "Span", "group_messages"]

_HOMES: Final = {
    "LockstitchCompaction": "compaction",
    "Span": "grouping",
    "group_messages": "grouping",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
