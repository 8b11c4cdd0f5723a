"""Connecting: from a URL, or a client that is there already, to a store.

Knows: which backend a URL means. A backend is imported when it is asked for.

Must not know: how any of them works.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch.stores.memory import AsyncMemoryDriver, MemoryDriver
from lockstitch.stores.store import AsyncStore, Store

__all__ = ["SCHEMES", "open_async_store", "open_store"]

SCHEMES: Final = {
    "memory": "memory://",
    "sqlite": "sqlite:///chat.db, sqlite:////absolute/chat.db, sqlite:///:memory:",
}


def open_store(url: Any, *, patience: float = 10.0, **options: Any) -> Store:
    """Open a store."""
    if url == "memory://":
        return Store(MemoryDriver(), patience=patience)
    raise ValueError(url)


def open_async_store(url: Any, *, patience: float = 10.0, **options: Any) -> AsyncStore:
    """Open a store whose sessions are awaited."""
    if url == "memory://":
        return AsyncStore(AsyncMemoryDriver(), patience=patience)
    raise ValueError(url)
