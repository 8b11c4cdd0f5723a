"""The schema: which one a database has, and how it comes to the newest.

Knows: migrations only go forwards, all of them in one transaction. Their number is kept in a table
of ours: the database may be shared, and SQLite's own `user_version` is somebody else's to use.

Must not know: what the tables hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.errors import SchemaTooNew
from lockstitch.stores.sqlite.statements import migrations, statements
from lockstitch.stores.sqlite.transactions import Reads, Writes

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from lockstitch.stores.sqlite.statements import Statements

__all__ = ["migrate"]


def migrate(
    connection: sqlite3.Connection, prefix: str, *, where: str, clock: Callable[[], float]
) -> tuple[int, int]:
    """Bring the tables with a prefix to the newest schema.

    Args:
        connection: a connection to the database, in no transaction.
        prefix: what the names of the tables begin with.
        where: which database this is, for messages.
        clock: tells the time, in seconds since 1970.

    Returns:
        The version that was there, 0 for none, and the one that is there now.

    Raises:
        SchemaTooNew: a newer version of Lockstitch made it.
    """
    sql, steps = statements(prefix), migrations(prefix)
    with Reads(connection) as cursor:
        found = _found(cursor, sql)
    if found < len(steps):
        with Writes(connection) as cursor:
            # Another process may have been quicker: what was read before says nothing any more.
            found = _found(cursor, sql)
            if not found:
                cursor.execute(sql.make_schema)
            for number, statements_ in enumerate(steps[found:], found + 1):
                for statement in statements_:
                    cursor.execute(statement)
                cursor.execute(sql.set_schema, (number, clock()))
    if found > len(steps):
        raise SchemaTooNew(found=found, known=len(steps), where=where)
    return found, len(steps)


def _found(cursor: sqlite3.Cursor, sql: Statements) -> int:
    """Return the version of the schema; 0 for none."""
    (there,) = cursor.execute(sql.has_schema).fetchone()
    if not there:
        return 0
    version: int
    (version,) = cursor.execute(sql.schema).fetchone()
    return version
