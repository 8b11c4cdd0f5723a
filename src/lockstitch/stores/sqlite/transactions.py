"""Transactions: one for each operation, that takes place whole or not at all.

Knows: how a transaction begins, ends, and is rolled back whatever happened in it.

Must not know: what is done in one.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Reads", "Writes", "roll_back"]


class _Transaction:
    """A transaction, entered for the cursor to run statements with."""

    __slots__ = ("_cursor",)
    _BEGIN: ClassVar[str]

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._cursor = connection.cursor()
        # A connection that was lent may make its owner's kind of rows.
        self._cursor.row_factory = None

    def __enter__(self) -> sqlite3.Cursor:
        self._cursor.execute(self._BEGIN)
        return self._cursor

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            roll_back(self._cursor.connection, error)
            return
        try:
            self._cursor.execute("COMMIT")
        except BaseException as failed:
            roll_back(self._cursor.connection, failed)
            raise


def roll_back(connection: sqlite3.Connection, error: BaseException) -> None:
    """Roll back what is left of a transaction in which something went wrong."""
    # SQLite rolls back by itself after some errors, and then there is nothing left to do.
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error as also:
            error.add_note(f"and the transaction could not be rolled back: {also}")


class Reads(_Transaction):
    """A transaction in which every statement sees the same state of the database."""

    __slots__ = ()
    _BEGIN = "BEGIN"


class Writes(_Transaction):
    """A transaction that keeps other writers out from its beginning.

    One that began by reading would have to give up where another had written in the meantime.
    """

    __slots__ = ()
    _BEGIN = "BEGIN IMMEDIATE"
