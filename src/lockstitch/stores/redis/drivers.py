"""Drivers: they carry the steps of the Redis backend out with a client of redis-py's.

Knows: redis.Redis, redis.cluster.RedisCluster, clients that Sentinel made, and their twins that are
awaited. Whatever a client is told about decoding, what is stored stays bytes. A client with few
connections makes callers wait for each other.

Must not know: what a script does; that one is sent twice is for the script to notice.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn

from lockstitch.errors import StoreUnavailable
from lockstitch.stores.redis.backend import RedisBackend
from lockstitch.stores.redis.failures import crowded, translated, unknown_script
from lockstitch.stores.redis.sources import SCRIPTS
from lockstitch.stores.redis.steps import Fields, Lua, Scan, Script

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["AsyncRedisDriver", "RedisDriver"]

# redis-py's own switch (redis.client.NEVER_DECODE): replies are bytes even where a client decodes.
_BYTES: Final[dict[str, Any]] = {"NEVER_DECODE": True}
_KEYS_AT_ONCE: Final = 1_000
# A pool of more connections than this is not counted: one is free, or will be in a moment.
_FEW: Final = 64
_PATIENCE: Final = 20.0
_MOMENT: Final = 0.002
_OTHER: Final = "open_store takes clients that wait, open_async_store those that are awaited"


class RedisDriver:
    """Carries steps out with a client that waits.

    Args:
        client: `redis.Redis` or `redis.cluster.RedisCluster`; it is lent, and used as it is.
        prefix: what the name of every key begins with.
        opening: makes a client, with whatever else is to be closed behind it, when something is
            first asked; instead of one that is lent.

    Raises:
        TypeError: the client is one of the other kind.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        prefix: str = "lockstitch:",
        opening: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        self.backend = RedisBackend(prefix)
        self._opening = opening
        self._opened: tuple[Any, ...] = ()
        self._client: Any = None
        self._turn: Any = None
        self._lock = threading.Lock()
        if client is not None:
            if _is_awaited(client):
                raise TypeError(f"{type(client).__qualname__} has to be awaited: {_OTHER}")
            self._use(client)

    def _use(self, client: Any) -> None:
        width = _width(client)
        self._turn = threading.Semaphore(width) if width else None
        self._client = client

    def _open(self) -> None:
        with self._lock:
            if self._client is None:
                try:
                    self._opened = self._opening()
                except Exception as error:  # noqa: BLE001 - what it means is looked up
                    _give_up(error)
                self._use(self._opened[0])

    def perform(self, step: Any) -> Any:
        """Carry out a step.

        Raises:
            StoreUnavailable: no server answered; the same may be tried again.
            StoreError: a server refused.
        """
        if self._client is None:
            self._open()
        if self._turn is None:
            return self._insist(step)
        with self._turn:
            return self._insist(step)

    def _insist(self, step: Any) -> Any:
        until = None
        while True:
            try:
                return self._answer(step)
            except Exception as error:  # noqa: BLE001 - what it means is looked up
                until = _patience(error, until)
            time.sleep(_MOMENT)

    def _answer(self, step: Any) -> Any:
        if isinstance(step, Script):
            return self._run(step)
        if isinstance(step, Scan):
            return self._scan(step)
        return self._read(step)

    def _run(self, step: Script) -> Any:
        digest, source = SCRIPTS[step.name]
        execute, keys = self._client.execute_command, step.keys
        try:
            return execute("EVALSHA", digest, len(keys), *keys, *step.arguments, **_BYTES)
        except Exception as error:
            if not unknown_script(error):
                raise
        return execute("EVAL", source, len(keys), *keys, *step.arguments, **_BYTES)

    def _scan(self, step: Scan) -> Any:
        client = self._client
        servers, cursor = step.place or (_servers(client), 0)
        if servers[0]:
            client = client.get_redis_connection(_server(client, servers[0]))
        return _piece(servers, client.execute_command(*_scanning(step, cursor), **_BYTES))

    def _read(self, step: Fields) -> Any:
        with self._client.pipeline(transaction=False) as pipeline:
            for key in step.keys:
                pipeline.execute_command("HMGET", key, *step.names, **_BYTES)
            return pipeline.execute()

    def close(self) -> None:
        """Close what was opened."""
        for one in self._opened:
            one.close()


class AsyncRedisDriver:
    """Carries steps out with a client that is awaited.

    Args:
        client: `redis.asyncio.Redis` or `redis.asyncio.cluster.RedisCluster`; it is lent, and used
            as it is.
        prefix: what the name of every key begins with.
        opening: makes a client, with whatever else is to be closed behind it, when something is
            first asked; instead of one that is lent.

    Raises:
        TypeError: the client is one of the other kind.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        prefix: str = "lockstitch:",
        opening: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:
        self.backend = RedisBackend(prefix)
        self._opening = opening
        self._opened: tuple[Any, ...] = ()
        self._client: Any = None
        self._turn: Any = None
        if client is not None:
            if not _is_awaited(client):
                raise TypeError(f"{type(client).__qualname__} cannot be awaited: {_OTHER}")
            self._use(client)

    def _use(self, client: Any) -> None:
        width = _width(client)
        self._turn = asyncio.Semaphore(width) if width else None
        self._client = client

    def _open(self) -> None:
        self._opened = self._opening()
        self._use(self._opened[0])

    async def perform(self, step: Any) -> Any:
        """Carry out a step.

        Raises:
            StoreUnavailable: no server answered; the same may be tried again.
            StoreError: a server refused.
        """
        if self._client is None:
            self._open()
        if self._turn is None:
            return await self._insist(step)
        async with self._turn:
            return await self._insist(step)

    async def _insist(self, step: Any) -> Any:
        until = None
        while True:
            try:
                return await self._answer(step)
            except Exception as error:  # noqa: BLE001 - what it means is looked up
                until = _patience(error, until)
            await asyncio.sleep(_MOMENT)

    def _answer(self, step: Any) -> Awaitable[Any]:
        if isinstance(step, Script):
            return self._run(step)
        if isinstance(step, Lua):
            return self._lend(step)
        if isinstance(step, Scan):
            return self._scan(step)
        return self._read(step)

    async def _run(self, step: Script) -> Any:
        digest, source = SCRIPTS[step.name]
        execute, keys = self._client.execute_command, step.keys
        try:
            return await execute("EVALSHA", digest, len(keys), *keys, *step.arguments, **_BYTES)
        except Exception as error:
            if not unknown_script(error):
                raise
        return await execute("EVAL", source, len(keys), *keys, *step.arguments, **_BYTES)

    async def _lend(self, step: Lua) -> Any:
        given = ("EVAL", step.source, len(step.keys), *step.keys, *step.arguments)
        return await self._client.execute_command(*given, **_BYTES)

    async def _scan(self, step: Scan) -> Any:
        client = self._client
        if _clustered(client):
            await client.initialize()
        servers, cursor = step.place or (_servers(client), 0)
        if servers[0]:
            client = _server(client, servers[0])
        return _piece(servers, await client.execute_command(*_scanning(step, cursor), **_BYTES))

    async def _read(self, step: Fields) -> Any:
        async with self._client.pipeline(transaction=False) as pipeline:
            for key in step.keys:
                pipeline.execute_command("HMGET", key, *step.names, **_BYTES)
            return await pipeline.execute()

    async def aclose(self) -> None:
        """Close what was opened."""
        for one in self._opened:
            await one.aclose()


def _patience(error: Exception, until: float | None) -> float:
    """Return until when a connection is waited for, or raise what an error means."""
    if not crowded(error):
        _give_up(error)
    now = time.monotonic()
    if until is not None and now > until:
        raise StoreUnavailable(
            f"all connections of the client were in use for {_PATIENCE:.0f} s: "
            "give it more (max_connections)"
        ) from error
    return until or now + _PATIENCE


def _give_up(error: Exception) -> NoReturn:
    """Raise what an error means, or the error where it is a mistake in a program."""
    wrong = translated(error)
    if wrong is None:
        raise error
    raise wrong from error


def _is_awaited(client: Any) -> bool:
    return any(".asyncio" in one.__module__ for one in type(client).__mro__)


def _clustered(client: Any) -> bool:
    return hasattr(client, "get_primaries")


def _width(client: Any) -> int | None:
    """Return how many calls a client can carry at once, where that is few."""
    if not _clustered(client):
        most = getattr(client.connection_pool, "max_connections", None)
    else:
        # A cluster's client has a pool a server: calls to one of them must not be more than its.
        settings = (
            getattr(client, "connection_kwargs", None) or client.nodes_manager.connection_kwargs
        )
        most = settings.get("max_connections")
    return most if most and most <= _FEW else None


def _servers(client: Any) -> tuple[str, ...]:
    """Return the names of the servers that hold keys; the only one has none."""
    if not _clustered(client):
        return ("",)
    return tuple(sorted(node.name for node in client.get_primaries()))


def _server(client: Any, name: str) -> Any:
    node = client.get_node(node_name=name)
    if node is None:
        raise StoreUnavailable(f"{name} has left the cluster while it was looked through")
    return node


def _scanning(step: Scan, cursor: int) -> tuple[Any, ...]:
    count = ("COUNT", _KEYS_AT_ONCE)
    return ("SCAN", cursor, "MATCH", step.pattern, *count, "TYPE", "hash")


def _piece(servers: tuple[str, ...], answer: Any) -> tuple[Any, list[bytes]]:
    """Return the place where a scan goes on, and what was found."""
    cursor, keys = answer
    if not cursor:
        servers = servers[1:]
    return (servers, cursor) if servers else None, keys
