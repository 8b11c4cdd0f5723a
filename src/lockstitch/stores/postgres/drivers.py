"""The drivers of PostgreSQL: one that waits and one that is awaited.

Knows: the schema is looked at once, before the first statement that needs it, and an error of
psycopg leaves here as one of ours. An operation that was interrupted is carried out again by who
asked for it: a commit is found by its mark.

Must not know: what the statements are for. psycopg is imported when a driver is made.
"""

from __future__ import annotations

import asyncio
import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from lockstitch.errors import MissingExtra
from lockstitch.stores.postgres.backend import PostgresBackend
from lockstitch.stores.postgres.failures import failure
from lockstitch.stores.running import awaited, run

if TYPE_CHECKING:
    import psycopg
    import psycopg_pool

    from lockstitch.stores.postgres.statements import Statement

__all__ = ["AsyncPostgresDriver", "PostgresDriver", "connect", "connect_async"]


def connect(
    client: str | psycopg_pool.ConnectionPool[Any] | psycopg.Connection[Any],
    *,
    schema: str = "public",
    prefix: str = "lockstitch_",
    **options: Any,
) -> PostgresDriver:
    """Make a driver that waits.

    Args:
        client: as for `PostgresDriver`.
        schema: the schema that the tables are in; it is made when it is not there.
        prefix: what the names of all tables and functions begin with.
        options: of `PostgresDriver`: `max_size`, `timeout`.
    """
    return PostgresDriver(client, backend=PostgresBackend(schema=schema, prefix=prefix), **options)


def connect_async(
    client: str | psycopg_pool.AsyncConnectionPool[Any] | psycopg.AsyncConnection[Any],
    *,
    schema: str = "public",
    prefix: str = "lockstitch_",
    **options: Any,
) -> AsyncPostgresDriver:
    """Make a driver that is awaited.

    Args:
        client: as for `AsyncPostgresDriver`.
        schema: as for `connect`.
        prefix: as for `connect`.
        options: of `AsyncPostgresDriver`: `max_size`, `timeout`.
    """
    backend = PostgresBackend(schema=schema, prefix=prefix)
    return AsyncPostgresDriver(client, backend=backend, **options)


def _missing(error: ImportError) -> MissingExtra:
    package = "psycopg-pool" if error.name == "psycopg_pool" else "psycopg"
    return MissingExtra("postgres", package=package)


class PostgresDriver:
    """Sends the statements of the PostgreSQL backend, and waits for the answers.

    Args:
        client: a URL (`postgresql://user:password@host/database`), of which a pool of connections
            is made that is closed with the driver, and made anew in a process that was forked; or
            a `psycopg_pool.ConnectionPool` or a `psycopg.Connection`, which stay open. On a
            connection in a transaction everything is part of that transaction. One connection does
            one thing at a time.
        backend: says in which schema the tables are, and what they are called.
        max_size: how many connections the pool that is made of a URL may have.
        timeout: seconds until a statement through a pool is given up, and until a pool that is
            made of a URL has to have a connection; `None` for never.

    Raises:
        MissingExtra: psycopg is not installed.
        TypeError: `client` is none of them.
        ValueError: the URL is none of PostgreSQL.
    """

    def __init__(
        self,
        client: str | psycopg_pool.ConnectionPool[Any] | psycopg.Connection[Any],
        *,
        backend: PostgresBackend | None = None,
        max_size: int = 10,
        timeout: float | None = 10.0,
    ) -> None:
        try:
            import psycopg

            from lockstitch.stores.postgres.lending import lender
        except ImportError as error:
            raise _missing(error) from error
        self.backend: PostgresBackend = backend or PostgresBackend()
        self._error = psycopg.Error
        self._make = partial(lender, client, max_size=max_size, timeout=timeout)
        self._lender = self._make()
        self._ours = isinstance(client, str)
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._prepared = self._doubted = False

    def perform(self, step: Statement) -> list[tuple[Any, ...]]:
        """Send a statement, and return the rows that come back.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
            StoreUnavailable: no answer came; trying again may help.
            StoreError: the server refused.
        """
        if self._process != os.getpid():
            self._begin_anew()
        if not self._prepared and not step.early:
            with self._lock:
                self._prepare()
        try:
            return self._lender.send(step)
        except self._error as error:
            raise failure(error, step.name) from error

    def _prepare(self) -> None:
        """Look at the schema, unless another has while this one waited."""
        if self._prepared:
            return
        migrated = run(self.backend.prepare(), self)
        # What is made in a transaction may be gone again after it.
        self._doubted |= migrated and self._lender.joined
        self._prepared = not (self._doubted and self._lender.joined)

    def _begin_anew(self) -> None:
        """Connect anew after a fork: two processes on one connection read each other's answers."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        if self._ours:
            # Not closed, and kept from being: what is open is open in the other process too.
            self._inherited = self._lender
            self._lender = self._make()

    def migrate(self) -> None:
        """Bring the schema up to this version, which the first statement does by itself.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
            StoreError: the role may not do so.
        """
        run(self.backend.migrate(), self)

    def close(self) -> None:
        """Close the pool that was made of a URL; what was lent stays open."""
        self._lender.close()


class AsyncPostgresDriver:
    """Sends the statements of the PostgreSQL backend, and awaits the answers.

    Args:
        client: a URL, a `psycopg_pool.AsyncConnectionPool` or a `psycopg.AsyncConnection`; as for
            `PostgresDriver`.
        backend: as for `PostgresDriver`.
        max_size: as for `PostgresDriver`.
        timeout: as for `PostgresDriver`.

    Raises:
        MissingExtra: psycopg is not installed.
        TypeError: `client` is none of them.
        ValueError: the URL is none of PostgreSQL.
    """

    def __init__(
        self,
        client: str | psycopg_pool.AsyncConnectionPool[Any] | psycopg.AsyncConnection[Any],
        *,
        backend: PostgresBackend | None = None,
        max_size: int = 10,
        timeout: float | None = 10.0,
    ) -> None:
        try:
            import psycopg

            from lockstitch.stores.postgres.lending_async import (
                async_lender,
            )
        except ImportError as error:
            raise _missing(error) from error
        self.backend: PostgresBackend = backend or PostgresBackend()
        self._error = psycopg.Error
        self._lender = async_lender(client, max_size=max_size, timeout=timeout)
        self._lock = asyncio.Lock()
        self._prepared = self._doubted = False

    async def perform(self, step: Statement) -> list[tuple[Any, ...]]:
        """Send a statement, and return the rows that come back.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
            StoreUnavailable: no answer came; trying again may help.
            StoreError: the server refused.
        """
        if not self._prepared and not step.early:
            async with self._lock:
                await self._prepare()
        try:
            return await self._lender.send(step)
        except self._error as error:
            raise failure(error, step.name) from error

    async def _prepare(self) -> None:
        """Look at the schema, unless another has while this one waited."""
        if self._prepared:
            return
        migrated = await awaited(self.backend.prepare(), self)
        self._doubted |= migrated and self._lender.joined
        self._prepared = not (self._doubted and self._lender.joined)

    async def migrate(self) -> None:
        """Bring the schema up to this version, which the first statement does by itself.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
            StoreError: the role may not do so.
        """
        await awaited(self.backend.migrate(), self)

    async def aclose(self) -> None:
        """Close the pool that was made of a URL; what was lent stays open."""
        await self._lender.close()
