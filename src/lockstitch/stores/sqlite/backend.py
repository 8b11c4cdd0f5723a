"""The SQLite backend: each operation is one step, a function of a connection.

Knows: which kind of transaction each operation takes.

Must not know: where the connection comes from, and which thread it is used in.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from lockstitch.stores.sqlite.committing import commit, remove
from lockstitch.stores.sqlite.reading import (
    find,
    named,
    read_events,
    read_rows,
    read_sessions,
    read_view,
)
from lockstitch.stores.sqlite.statements import checked, statements
from lockstitch.stores.sqlite.transactions import Reads, Writes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from lockstitch.stores.base import (
        Commit,
        Committed,
        Effect,
        Key,
        Listed,
        Reading,
        Stored,
        Version,
    )

__all__ = ["SqliteBackend"]


class SqliteBackend:
    """Sessions in the tables of an SQLite database. A step is called with a connection to it.

    Args:
        prefix: what the names of the tables begin with.
        clock: tells the time, in seconds since 1970.

    Raises:
        ValueError: the prefix is none.
    """

    def __init__(
        self, prefix: str = "lockstitch_", *, clock: Callable[[], float] = time.time
    ) -> None:
        self.prefix = checked(prefix)
        self.clock = clock
        self._sql = statements(prefix)
        self.migrated: tuple[int, int] = (0, 0)

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out."""
        return _step(partial(self._commit, change))

    def _commit(self, change: Commit, connection: sqlite3.Connection) -> Committed:
        with Writes(connection) as cursor:
            # The time is asked for when it is this writer's turn: it may have waited.
            return commit(cursor, self._sql, change, self.clock())

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view."""
        return _step(partial(self._view, key, known, payloads))

    def _view(
        self,
        key: Key,
        known: Version | None,
        payloads: bool,  # noqa: FBT001 - a step is made with its arguments in order
        connection: sqlite3.Connection,
    ) -> Reading:
        with Reads(connection) as cursor:
            return read_view(cursor, self._sql, key, known, self.clock(), payloads=payloads)

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record."""
        return _step(partial(self._rows, key, first, last, payloads))

    def _rows(
        self,
        key: Key,
        first: int,
        last: int,
        payloads: bool,  # noqa: FBT001 - as in `_view`
        connection: sqlite3.Connection,
    ) -> tuple[Stored, ...]:
        with Reads(connection) as cursor:
            session = find(cursor, self._sql, key)
            if session is None or session.over(self.clock()):
                return ()
            return tuple(
                read_rows(cursor, self._sql, session.session, first, last, payloads=payloads)
            )

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events."""
        return _step(partial(self._events, key, after, limit))

    def _events(
        self, key: Key, after: int, limit: int, connection: sqlite3.Connection
    ) -> tuple[bytes, ...]:
        with Reads(connection) as cursor:
            session = find(cursor, self._sql, key)
            if session is None or session.over(self.clock()):
                return ()
            return read_events(cursor, self._sql, session, after, limit)

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List sessions."""
        return _step(partial(self._sessions, tenant, prefix, after, limit))

    def _sessions(
        self,
        tenant: str | None,
        prefix: str,
        after: str | None,
        limit: int,
        connection: sqlite3.Connection,
    ) -> tuple[Listed, ...]:
        with Reads(connection) as cursor:
            now = self.clock()
            return read_sessions(cursor, self._sql, tenant, prefix, after, limit=limit, now=now)

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session."""
        return _step(partial(self._delete, key))

    def _delete(self, key: Key, connection: sqlite3.Connection) -> bool:
        with Writes(connection) as cursor:
            session = find(cursor, self._sql, key)
            if session is None:
                return False
            remove(cursor, self._sql, session.session)
            return not session.over(self.clock())

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew."""
        return _step(partial(self._touch, key, ttl))

    def _touch(self, key: Key, ttl: float | None, connection: sqlite3.Connection) -> bool:
        tenant, id = named(key)
        with Writes(connection) as cursor:
            cursor.execute(
                self._sql.touch, {"tenant": tenant, "id": id, "ttl": ttl, "now": self.clock()}
            )
            return cursor.rowcount > 0

    def sweep(self) -> Effect[int]:
        """Remove what has expired."""
        return _step(self._sweep)

    def _sweep(self, connection: sqlite3.Connection) -> int:
        with Writes(connection) as cursor:
            gone = cursor.execute(self._sql.expired, (self.clock(),)).fetchall()
            for (session,) in gone:
                remove(cursor, self._sql, session)
            return len(gone)

    def migrate(self) -> Effect[tuple[int, int]]:
        """Bring the schema forward; return the version that was there, 0 for none, and the one now.

        The driver does so whenever it opens the database, so all that is left is to tell.
        """
        return _step(lambda _: self.migrated)


def _step(work: Callable[[sqlite3.Connection], Any]) -> Effect[Any]:
    return (yield work)
