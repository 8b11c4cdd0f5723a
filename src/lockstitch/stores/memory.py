"""The memory backend: a dictionary of ledgers, for tests, for scripts, and as the reference.

Knows: nothing but the model. Sessions are gone with the process.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from lockstitch.stores.base import Commit, Committed, Effect, Key, Listed, Reading, Stored, Version
from lockstitch.stores.commit import Ledger, commit
from lockstitch.stores.names import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AsyncMemoryDriver", "MemoryBackend", "MemoryDriver"]


class MemoryBackend:
    """Sessions in a dictionary. A step is a function that its driver calls under a lock.

    Args:
        clock: tells the time, in seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._ledgers: dict[Key, Ledger] = {}

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out."""
        return _step(partial(self._commit, change))

    def _commit(self, change: Commit) -> Committed:
        ledger, done = commit(self._at(change.key), change, self._clock())
        if ledger is not None:
            self._ledgers[change.key] = ledger
        return done

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view."""
        return _step(partial(self._view, key, known, payloads))

    def _view(self, key: Key, known: Version | None, payloads: bool) -> Reading:  # noqa: FBT001
        ledger = self._at(key)
        if ledger is None:
            return Reading(version=None)
        return ledger.reading(known, ledger.seq, payloads=payloads)

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record."""
        return _step(partial(self._rows, key, first, last, payloads))

    def _rows(self, key: Key, first: int, last: int, payloads: bool) -> tuple[Stored, ...]:  # noqa: FBT001
        ledger = self._at(key)
        if ledger is None:
            return ()
        found = ledger.between(first, last)
        if payloads:
            return tuple(found)
        return tuple([Stored(row.seq, row.meta, None, row.mark, row.at) for row in found])

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events."""
        return _step(partial(self._events, key, after, limit))

    def _events(self, key: Key, after: int, limit: int) -> tuple[bytes, ...]:
        ledger = self._at(key)
        return () if ledger is None else tuple(ledger.events[after : after + limit])

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List sessions."""
        return _step(partial(self._sessions, tenant, prefix, after, limit))

    def _sessions(
        self, tenant: str | None, prefix: str, after: str | None, limit: int
    ) -> tuple[Listed, ...]:
        now = self._clock()
        found = sorted(
            (
                ledger
                for key, ledger in self._ledgers.items()
                if key.tenant == tenant
                and key.id.startswith(prefix)
                and (after is None or escaped(key.id) > escaped(after))
                and not ledger.expired(now)
            ),
            key=lambda ledger: escaped(ledger.key.id),
        )
        return tuple([ledger.listed() for ledger in found[:limit]])

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session."""
        return _step(partial(self._delete, key))

    def _delete(self, key: Key) -> bool:
        there = self._at(key) is not None
        self._ledgers.pop(key, None)
        return there

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew."""
        return _step(partial(self._touch, key, ttl))

    def _touch(self, key: Key, ttl: float | None) -> bool:
        ledger = self._at(key)
        if ledger is None:
            return False
        ledger.renew(ttl, self._clock())
        return True

    def sweep(self) -> Effect[int]:
        """Remove what has expired."""
        return _step(self._sweep)

    def _sweep(self) -> int:
        now = self._clock()
        gone = [key for key, ledger in self._ledgers.items() if ledger.expired(now)]
        for key in gone:
            del self._ledgers[key]
        return len(gone)

    def _at(self, key: Key) -> Ledger | None:
        ledger = self._ledgers.get(key)
        return None if ledger is None or ledger.expired(self._clock()) else ledger


def _step(work: Callable[[], Any]) -> Effect[Any]:
    return (yield work)


class MemoryDriver:
    """Calls what the memory backend asks for, one at a time."""

    def __init__(self, backend: MemoryBackend | None = None) -> None:
        self.backend = backend or MemoryBackend()
        self._lock = threading.Lock()

    def perform(self, step: Callable[[], Any]) -> Any:
        """Call a step."""
        with self._lock:
            return step()

    def close(self) -> None:
        """Do nothing: the sessions live as long as the backend."""


class AsyncMemoryDriver:
    """The same, awaited; nothing in it ever waits."""

    def __init__(self, backend: MemoryBackend | None = None) -> None:
        self.backend = backend or MemoryBackend()
        self._lock = threading.Lock()

    async def perform(self, step: Callable[[], Any]) -> Any:
        """Call a step."""
        with self._lock:
            return step()

    async def aclose(self) -> None:
        """Do nothing."""
