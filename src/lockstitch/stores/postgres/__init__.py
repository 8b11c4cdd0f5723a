"""PostgreSQL: sessions in tables, one statement an operation.

| module | holds |
|---|---|
| `backend` | operations as statements |
| `statements`, `queries.sql` | the text of the statements, and where their tables are |
| `replies` | what comes back, as values |
| `migrating`, `migrations/` | the schema and its functions, version by version |
| `drivers` | who sends statements |
| `lending`, `lending_async` | on which connection |
| `sending`, `watching` | how, and for how long |
| `failures` | what has gone wrong, in our words |
"""

from __future__ import annotations

from lockstitch.stores.postgres.backend import PostgresBackend
from lockstitch.stores.postgres.drivers import (
    AsyncPostgresDriver,
    PostgresDriver,
    connect,
    connect_async,
)

__all__ = [
    "AsyncPostgresDriver",
    "PostgresBackend",
    "PostgresDriver",
    "connect",
    "connect_async",
]
