"""Lending: which connection a statement is sent on, and what becomes of the connection then.

Knows: a connection comes from a pool, ours or somebody's, or is the one that was lent. A statement
on a connection in no transaction is one by itself; inside somebody's transaction it is a savepoint:
it is kept or lost with that transaction, and spoils nothing when it fails.

Must not know: what the statements are for.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import psycopg
from psycopg.rows import tuple_row
from psycopg_pool import ConnectionPool

from lockstitch.stores.postgres.sending import (
    address,
    idle,
    must_be_open,
    quiet,
    ready,
    too_late,
)
from lockstitch.stores.postgres.watching import Watch

if TYPE_CHECKING:
    from lockstitch.stores.postgres.statements import Statement

__all__ = ["FOREVER", "Lender", "Pooled", "Rows", "Single", "lender"]

Rows = list[tuple[Any, ...]]
FOREVER: Final = 1e6


class Lender(Protocol):
    """Sends statements on whatever connection there is for them."""

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        ...

    def send(self, step: Statement) -> Rows:
        """Send a statement."""
        ...

    def close(self) -> None:
        """Close what is ours."""
        ...


def lender(client: Any, *, max_size: int, timeout: float | None) -> Lender:
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
        pool = ConnectionPool(
            url,
            kwargs={"autocommit": True},
            configure=ready,
            min_size=1,
            max_size=max_size,
            timeout=FOREVER if timeout is None else timeout,
            open=False,
        )
        return Pooled(pool, url, timeout)
    if isinstance(client, psycopg.Connection):
        return Single(client)
    if isinstance(client, ConnectionPool):
        return Pooled(client, None, timeout)
    raise TypeError(
        f"a URL, a psycopg_pool.ConnectionPool or a psycopg.Connection, not {client!r:.80}"
    )


def _exchanged(connection: psycopg.Connection[Any], step: Statement) -> Rows:
    """Send a statement, and return what comes back."""
    with psycopg.Cursor(connection, row_factory=tuple_row) as cursor:
        # Text of our own with names that were checked; psycopg asks for a literal.
        cursor.execute(step.sql, step.values, binary=True)  # pyright: ignore[reportArgumentType]
        return cursor.fetchall() if cursor.description else []


def _by_itself(connection: psycopg.Connection[Any], step: Statement) -> Rows:
    """Send a statement that is a transaction, on a connection that is in none."""
    if connection.autocommit:
        return _exchanged(connection, step)
    connection.autocommit = True  # says so to the client alone, and costs no round trip
    try:
        return _exchanged(connection, step)
    finally:
        with suppress(psycopg.Error):  # it broke
            connection.autocommit = False


def _answers(connection: psycopg.Connection[Any]) -> bool:
    """Ask the server whether a connection is of use."""
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return False
    return True


class Pooled:
    """Takes a connection out of a pool for each statement.

    Args:
        pool: the pool.
        url: what our own pool connects to; `None` where the pool was lent.
        timeout: seconds for one statement.
    """

    def __init__(self, pool: ConnectionPool[Any], url: str | None, timeout: float | None) -> None:
        self._pool = pool
        self._url = url
        self._opened = url is None
        self._watch = None if timeout is None else Watch(timeout)

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        return False

    def send(self, step: Statement) -> Rows:
        """Send a statement."""
        connection = self._taken()
        watch = self._watch
        if watch is not None:
            watch.begin(connection)
        try:
            return _by_itself(connection, step)
        except psycopg.OperationalError:
            if watch is None or watch.end(connection):
                raise
            raise too_late(step, watch.seconds) from None
        finally:
            if watch is not None:
                watch.end(connection)
            self._pool.putconn(connection)

    def _taken(self) -> psycopg.Connection[Any]:
        """Take a connection that has not ended while it lay in the pool."""
        if not self._opened:
            self._try()
            self._pool.open()
            self._opened = True
        while True:
            try:
                connection: psycopg.Connection[Any] = self._pool.getconn()
            except psycopg.OperationalError:
                self._try()
                raise
            if quiet(connection) or _answers(connection):
                if self._url is None:
                    ready(connection)
                return connection
            self._pool.putconn(connection)  # which throws it away

    def _try(self) -> None:
        """Connect once: a pool tries again and again, and keeps to itself why it gets nowhere."""
        if self._url is not None and not (self._opened and self._pool.closed):
            psycopg.connect(self._url).close()

    def close(self) -> None:
        """Close what is ours."""
        if self._watch is not None:
            self._watch.close()
        if self._url is not None:
            self._opened = True  # never again
            self._pool.close()


class Single:
    """Sends every statement on one connection that was lent, one at a time."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        ready(connection)
        self._connection = connection
        self._lock = threading.Lock()

    @property
    def joined(self) -> bool:
        """Whether statements are part of somebody's transaction."""
        return not idle(self._connection)

    def send(self, step: Statement) -> Rows:
        """Send a statement."""
        with self._lock:
            must_be_open(self._connection)
            if idle(self._connection):
                return _by_itself(self._connection, step)
            with self._connection.transaction():
                return _exchanged(self._connection, step)

    def close(self) -> None:
        """Do nothing: the connection is somebody else's."""
