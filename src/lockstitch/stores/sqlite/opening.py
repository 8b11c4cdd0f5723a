"""Opening: a connection of our own, set up as a store needs it.

Knows: which settings of SQLite matter here. They are made on connections of our own only: one that
was lent is set up by its owner.

Must not know: what the connection is used for.
"""

from __future__ import annotations

import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final, Literal

from lockstitch.stores.sqlite.failures import busy, primary

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SYNCHRONOUS", "Synchronous", "located", "opened"]

Synchronous = Literal["NORMAL", "FULL"]
SYNCHRONOUS: Final = ("NORMAL", "FULL")

_PAUSE: Final = 0.01
# One large payload would leave a log of its size behind for ever.
_LARGEST_LOG: Final = 64 * 1024 * 1024


def located(database: str | os.PathLike[str]) -> str:
    """Return where a database is, whatever becomes of the working directory.

    >>> located(":memory:"), located("file:chat.db?mode=ro")
    (':memory:', 'file:chat.db?mode=ro')
    """
    path = os.fspath(database)
    if not path or path == ":memory:" or path.startswith("file:"):
        return path
    return os.path.abspath(path)  # noqa: PTH100 - a link in it may be changed to point elsewhere


def opened(
    database: str,
    *,
    timeout: float,
    synchronous: Synchronous,
    then: Callable[[sqlite3.Connection], None],
) -> sqlite3.Connection:
    """Open a database.

    Args:
        database: as `located` returns it.
        timeout: how many seconds to wait for others that hold it.
        synchronous: NORMAL survives a crash of the process; FULL a loss of power too, at the price
            of a wait for the disk in every commit. Neither damages the database.
        then: is called with the connection before it is returned.

    Raises:
        sqlite3.Error: it cannot be opened; nothing is left open.
    """
    connection = sqlite3.connect(
        database,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
        uri=database.startswith("file:"),
    )
    try:
        _patiently(lambda: _set_up(connection, synchronous), timeout)
        then(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    if mode == "delete":
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            # What cannot be written needs no log, and can be read as it is.
            if primary(error) != sqlite3.SQLITE_READONLY:
                raise
    # Without a log beside the database, NORMAL could damage it when the power fails.
    connection.execute(f"PRAGMA synchronous = {synchronous if mode == 'wal' else 'FULL'}")
    connection.execute(f"PRAGMA journal_size_limit = {_LARGEST_LOG}")


def _patiently(work: Callable[[], None], timeout: float) -> None:
    """Try again while others hold the database: SQLite itself does not wait to change its log."""
    end = time.monotonic() + timeout
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if not busy(error) or time.monotonic() >= end:
                raise
        time.sleep(_PAUSE)
