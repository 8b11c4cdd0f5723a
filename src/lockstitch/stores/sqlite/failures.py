"""Failures: what SQLite says went wrong, as one of our errors that says what to do.

Knows: SQLite's result codes.

Must not know: what was tried.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from lockstitch.errors import CorruptRow, StoreError, StoreUnavailable

__all__ = ["busy", "failure", "primary"]

_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

_DO: Final = {
    sqlite3.SQLITE_FULL: (
        "the disk, or what the database may take of it, is full: make room and try again"
    ),
    sqlite3.SQLITE_READONLY: (
        "it cannot be written: give this process the right to write the file and its folder"
    ),
    sqlite3.SQLITE_IOERR: (
        "the file could not be read or written: look at the disk, and in the system's log"
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "it cannot be opened: see that its folder is there and that this process may write in it"
    ),
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database: give another path, or move the file away",
    sqlite3.SQLITE_TOOBIG: "a payload is larger than SQLite can hold: keep it as a blob instead",
}


def primary(error: sqlite3.Error) -> int:
    """Return the result code without the details in its upper bits; 0 where there is none."""
    # Errors of the Python module itself, of a closed connection for instance, carry no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def busy(error: sqlite3.Error) -> bool:
    """Whether somebody else holds the database."""
    return primary(error) in _BUSY


def failure(error: sqlite3.Error, where: str) -> StoreError:
    """Return our error for one of SQLite's; nothing was written in either case.

    Args:
        error: what SQLite raised.
        where: which database.
    """
    code = primary(error)
    if code in _BUSY:
        return StoreUnavailable(
            f"{where} is locked by somebody else ({error}), and was for all of the timeout: try "
            "again, or find out who keeps a transaction open"
        )
    if code == sqlite3.SQLITE_CORRUPT:
        return CorruptRow(
            f"{where} is damaged ({error}): restore it from a backup, or save what can be read "
            "with the sqlite3 shell's .recover"
        )
    if code in _DO:
        return StoreError(f"{where}: {_DO[code]} ({error})")
    return StoreError(f"{where}: SQLite refused: {error}")
