"""The SQLite backend: sessions in the tables of a database file, for one machine.

Knows: SQLite, through the standard library's module.

Must not know: messages, formats, other backends.
"""

from lockstitch.stores.sqlite.backend import SqliteBackend
from lockstitch.stores.sqlite.connecting import connect, connect_async
from lockstitch.stores.sqlite.driver import SqliteDriver

__all__ = ["SqliteBackend", "SqliteDriver", "connect", "connect_async"]
