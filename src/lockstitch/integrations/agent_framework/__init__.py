"""Lockstitch inside Microsoft's agent-framework: where its histories are kept.

    LockstitchHistoryProvider    keeps histories in any store
    RedisHistoryProvider         the same in Redis or Valkey, in the place of agent-framework-redis

Needs `lockstitch[agent-framework]`; the framework is imported when a name is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lockstitch.errors import MissingExtra

if TYPE_CHECKING:
    from lockstitch.integrations.agent_framework.moving import Moved
    from lockstitch.integrations.agent_framework.providers import LockstitchHistoryProvider
    from lockstitch.integrations.agent_framework.redis import RedisHistoryProvider

__all__ = ["LockstitchHistoryProvider", "Moved", "RedisHistoryProvider"]

_PLACES = {
    "LockstitchHistoryProvider": "providers",
    "Moved": "moving",
    "RedisHistoryProvider": "redis",
}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{place}"), name)
    except ModuleNotFoundError as error:
        if error.name != "agent_framework":
            raise
        raise MissingExtra("agent-framework", package="agent-framework-core") from None
