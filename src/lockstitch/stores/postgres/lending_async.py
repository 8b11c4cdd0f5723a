"""Lending, awaited: as `lockstitch.stores.postgres.lending` in all else.

Knows: what is awaited is given up by the event loop, and needs no thread that watches.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
from psycopg.rows import tuple_row
from psycopg_pool import AsyncConnectionPool

from lockstitch.stores.postgres.lending import FOREVER, Rows
from lockstitch.stores.postgres.sending import (
    address,
    cut,
    idle,
    must_be_open,
    quiet,
    ready,
    too_late,
)

if TYPE_CHECKING:
    from lockstitch.stores.postgres.statements import Statement

__all__ = ["AsyncLender", "AsyncPooled", "AsyncSingle", "async_lender"]


class AsyncLender(Protocol):
    """Sends statements on whatever connection there is for them."""

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        ...

    async def send(self, step: Statement) -> Rows:
        """Send a statement."""
        ...

    async def close(self) -> None:
        """Close what is ours."""
        ...


def async_lender(client: Any, *, max_size: int, timeout: float | None) -> AsyncLender:
    """Make a lender of what there is.

    Args:
        client: a URL, a pool, or a connection.
        max_size: how many connections our own pool may have.
        timeout: seconds for one statement, and for a connection of our own pool.

    Raises:
        TypeError: it is none of them.
        ValueError: the URL is none of PostgreSQL.
    """
    if isinstance(client, str):
        url = address(client)
        pool = AsyncConnectionPool(
            url,
            kwargs={"autocommit": True},
            configure=_ready,
            min_size=1,
            max_size=max_size,
            timeout=FOREVER if timeout is None else timeout,
            open=False,
        )
        return AsyncPooled(pool, url, timeout)
    if isinstance(client, psycopg.AsyncConnection):
        return AsyncSingle(client)
    if isinstance(client, AsyncConnectionPool):
        return AsyncPooled(client, None, timeout)
    raise TypeError(
        "a URL, a psycopg_pool.AsyncConnectionPool or a psycopg.AsyncConnection, "
        f"not {client!r:.80}"
    )


async def _exchanged(connection: psycopg.AsyncConnection[Any], step: Statement) -> Rows:
    """Send a statement, and return what comes back."""
    async with psycopg.AsyncCursor(connection, row_factory=tuple_row) as cursor:
        # Text of our own with names that were checked; psycopg asks for a literal.
        await cursor.execute(step.sql, step.values, binary=True)  # pyright: ignore[reportArgumentType]
        return await cursor.fetchall() if cursor.description else []


async def _by_itself(connection: psycopg.AsyncConnection[Any], step: Statement) -> Rows:
    """Send a statement that is a transaction, on a connection that is in none."""
    if connection.autocommit:
        return await _exchanged(connection, step)
    await connection.set_autocommit(True)  # says so to the client alone: no round trip
    try:
        return await _exchanged(connection, step)
    finally:
        with suppress(psycopg.Error):  # it broke
            await connection.set_autocommit(False)


async def _ready(connection: psycopg.AsyncConnection[Any]) -> None:
    ready(connection)


async def _answers(connection: psycopg.AsyncConnection[Any]) -> bool:
    """Ask the server whether a connection is of use."""
    try:
        await AsyncConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True


class AsyncPooled:
    """Takes a connection out of a pool for each statement.

    Args:
        pool: the pool.
        url: what our own pool connects to; `None` where the pool was lent.
        timeout: seconds for one statement.
    """

    def __init__(
        self, pool: AsyncConnectionPool[Any], url: str | None, timeout: float | None
    ) -> None:
        self._pool = pool
        self._url = url
        self._opened = url is None
        self._timeout = timeout

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        return False

    async def send(self, step: Statement) -> Rows:
        """Send a statement."""
        connection = await self._taken()
        late: list[bool] = []
        timer = None
        if self._timeout is not None:
            loop = asyncio.get_running_loop()
            timer = loop.call_later(self._timeout, _give_up, connection, late)
        try:
            return await _by_itself(connection, step)
        except psycopg.OperationalError:
            if late:
                raise too_late(step, self._timeout or 0) from None
            raise
        finally:
            if timer is not None:
                timer.cancel()
            await self._pool.putconn(connection)

    async def _taken(self) -> psycopg.AsyncConnection[Any]:
        """Take a connection that has not ended while it lay in the pool."""
        if not self._opened:
            await self._try()
            await self._pool.open()
            self._opened = True
        while True:
            try:
                connection: psycopg.AsyncConnection[Any] = await self._pool.getconn()
            except psycopg.OperationalError:
                await self._try()
                raise
            if quiet(connection) or await _answers(connection):
                if self._url is None:
                    ready(connection)
                return connection
            await self._pool.putconn(connection)  # which throws it away

    async def _try(self) -> None:
        """Connect once: a pool tries again and again, and keeps to itself why it gets nowhere."""
        if self._url is not None and not (self._opened and self._pool.closed):
            await (await psycopg.AsyncConnection.connect(self._url)).close()

    async def close(self) -> None:
        """Close what is ours."""
        if self._url is not None:
            self._opened = True  # never again
            await self._pool.close()


def _give_up(connection: psycopg.AsyncConnection[Any], late: list[bool]) -> None:
    late.append(True)
    cut(connection)


class AsyncSingle:
    """Sends every statement on one connection that was lent, one at a time."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        ready(connection)
        self._connection = connection
        self._lock = asyncio.Lock()

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        return not idle(self._connection)

    async def send(self, step: Statement) -> Rows:
        """Send a statement."""
        async with self._lock:
            must_be_open(self._connection)
            if idle(self._connection):
                return await _by_itself(self._connection, step)
            async with self._connection.transaction():
                return await _exchanged(self._connection, step)

    async def close(self) -> None:
        """Do nothing: the connection is somebody else's."""
