"""The SQLite driver: one connection, and a lock that lets one step at a time use it.

Knows: when a connection is opened, closed and left alone.

Must not know: what a step does with it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any

from lockstitch.errors import StoreError, StoreUnavailable
from lockstitch.stores.sqlite.backend import SqliteBackend
from lockstitch.stores.sqlite.failures import failure
from lockstitch.stores.sqlite.forking import forget_never, watch
from lockstitch.stores.sqlite.opening import SYNCHRONOUS, Synchronous, located, opened
from lockstitch.stores.sqlite.schema import migrate
from lockstitch.stores.sqlite.transactions import roll_back

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["SqliteDriver"]


class SqliteDriver:
    """Runs the steps of the SQLite backend, from any thread, one at a time.

    Nothing is opened before the first step.

    Args:
        database: the path of a file, which is made if it is not there; `:memory:`; a `file:` URI;
            or a connection, which is lent. That is never closed and not set up in any way, and
            each step begins and ends its own transaction on it. A step is refused while the lender
            has a transaction open: what it commits could still be rolled back with that. Nobody
            else may use it during a step; steps that run in threads (`Threaded`) need one that was
            made with `check_same_thread=False`.
        prefix: what the names of the tables begin with.
        timeout: how many seconds to wait for others, in this process and elsewhere; a connection
            that is lent has its own.
        synchronous: `NORMAL` or `FULL`, as in `opened`.
        clock: tells the time, in seconds since 1970.

    Raises:
        ValueError: the prefix, the timeout or `synchronous` is none.

    >>> driver = SqliteDriver(":memory:", prefix="chat_")
    >>> driver.close()
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | sqlite3.Connection,
        *,
        prefix: str = "lockstitch_",
        timeout: float = 10.0,
        synchronous: Synchronous = "NORMAL",
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not 0 <= timeout <= threading.TIMEOUT_MAX:
            raise ValueError(f"timeout is a number of seconds, 0 or more; got {timeout!r}")
        if synchronous not in SYNCHRONOUS:
            raise ValueError(f'synchronous is "NORMAL" or "FULL", got {synchronous!r:.40}')
        self.backend = SqliteBackend(prefix, clock=clock)
        self._prefix = prefix
        self._timeout = timeout
        self._synchronous: Synchronous = synchronous
        self._clock = clock
        # What runs in the middle of a step, in its thread, must not wait for itself: a signal
        # handler that forks or closes the store.
        self._lock = threading.RLock()
        self._running = False
        self._process = os.getpid()
        self._closed = False
        self._private = False
        self._connection: sqlite3.Connection | None = None
        self._lent: sqlite3.Connection | None = None
        if isinstance(database, sqlite3.Connection):
            self._lent, self._where = database, "the connection that was lent"
        else:
            self._where = located(database)
        watch(self)

    def perform(self, step: Callable[[sqlite3.Connection], Any]) -> Any:
        """Carry out a step.

        Raises:
            StoreUnavailable: others held the database for all of the timeout.
            SchemaTooNew: a newer version of Lockstitch made the tables.
            CorruptRow: the database is damaged.
            StoreError: anything else that SQLite refused, with what to do about it.
        """
        # Asking without a timeout first is quicker, and most often there is nobody else.
        if not self._lock.acquire(blocking=False) and not self._lock.acquire(timeout=self._timeout):
            raise StoreUnavailable(
                f"{self._where}: other threads used the connection for all of the timeout: try "
                "again, or open another store for them"
            )
        try:
            if self._running:
                raise StoreError(
                    f"{self._where}: a step was begun in the middle of another, by a signal "
                    "handler or a finalizer: let it only note what is to be done"
                )
            self._running = True
            try:
                return self._perform(step)
            except sqlite3.Error as error:
                raise failure(error, self._where) from error
            finally:
                self._running = False
        finally:
            self._lock.release()

    def _perform(self, step: Callable[[sqlite3.Connection], Any]) -> Any:
        connection = self._ready()
        try:
            return step(connection) if self._lent is None else _as_a_guest(step, connection)
        except BaseException as error:
            # An interrupt may have come just where a transaction begins or ends.
            roll_back(connection, error)
            raise

    def close(self) -> None:
        """Close the connection, unless it was lent; wait for a step that is going on."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _ready(self) -> sqlite3.Connection:
        """Return the connection, opened, and in no transaction."""
        if self._closed:
            raise StoreError(f"{self._where}: this store has been closed: open another")
        if self._process != os.getpid():
            self._move()
        if self._lent is not None:
            return self._borrowed(self._lent)
        if self._connection is None:
            self._connection = opened(
                self._where,
                timeout=self._timeout,
                synchronous=self._synchronous,
                then=self._migrate,
            )
            (_, _, file), *_ = self._connection.execute("PRAGMA database_list")
            self._private = not file
        elif self._connection.in_transaction:
            self._connection.rollback()  # an earlier step could not, or was interrupted in that too
        return self._connection

    def _borrowed(self, lent: sqlite3.Connection) -> sqlite3.Connection:
        if lent.in_transaction:
            raise StoreError(
                f"{self._where} is inside a transaction: commit it or roll it back before the "
                "store is used, and lend no connection that is always inside one "
                "(autocommit=False)"
            )
        if self._connection is None:
            _as_a_guest(self._migrate, lent)
            self._connection = lent
        return lent

    def _migrate(self, connection: sqlite3.Connection) -> None:
        self.backend.migrated = migrate(
            connection, self._prefix, where=self._where, clock=self._clock
        )

    # --- forks -----------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Wait for a step that is going on, and close what the child must not inherit."""
        self._lock.acquire()
        if not self._private:
            self._let_go()

    def after_fork(self) -> None:
        """Let steps begin again; the next one opens the database anew."""
        self._lock.release()

    def _move(self) -> None:
        """Settle in a process that was forked."""
        if self._private or self._lent is not None:
            raise StoreError(
                f"{self._where} belongs to the process that opened it, and this one was forked "
                "from that: open another store here"
            )
        self._let_go()
        self._process = os.getpid()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None or connection is self._lent:
            return
        if self._process == os.getpid():
            connection.close()
        else:
            forget_never(connection)


def _as_a_guest(work: Callable[[sqlite3.Connection], Any], connection: sqlite3.Connection) -> Any:
    """Work with a connection that was lent, and leave it as it was."""
    texts = connection.text_factory
    connection.text_factory = str
    try:
        return work(connection)
    finally:
        connection.text_factory = texts
