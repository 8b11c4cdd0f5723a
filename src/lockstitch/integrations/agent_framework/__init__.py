"""Lockstitch inside Microsoft's agent-framework: its histories, its groups, its compaction.

    LockstitchHistoryProvider    keeps histories in any store
    RedisHistoryProvider         the same in Redis or Valkey, in the place of agent-framework-redis
    group_messages               what its function of that name returns, with groups that split no
                                 pair
    LockstitchCompaction         any strategy of ours as a `CompactionStrategy` of its own

Needs `lockstitch[agent-framework]`. Each name is looked up when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import MissingExtra

if TYPE_CHECKING:
    from lockstitch.integrations.agent_framework.compaction import LockstitchCompaction
    from lockstitch.integrations.agent_framework.grouping import Span, group_messages
    from lockstitch.integrations.agent_framework.moving import Moved
    from lockstitch.integrations.agent_framework.providers import LockstitchHistoryProvider
    from lockstitch.integrations.agent_framework.redis import RedisHistoryProvider

__all__ = [
    "LockstitchCompaction",
    "LockstitchHistoryProvider",
    "Moved",
    "RedisHistoryProvider",
    "Span",
    "group_messages",
]

_HOMES: Final = {
    "LockstitchCompaction": "compaction",
    "LockstitchHistoryProvider": "providers",
    "Moved": "moving",
    "RedisHistoryProvider": "redis",
    "Span": "grouping",
    "group_messages": "grouping",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "agent_framework":
            raise
        raise MissingExtra("agent-framework", package="agent-framework-core") from None
