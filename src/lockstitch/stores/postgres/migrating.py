"""Migrations: the schema, version by version, brought forward by one statement.

Knows: the files in `migrations`, one a version. All of them go into one block that takes a lock,
looks again which version there is, and carries out those that are missing, whole or not at all. So
it does not matter how many processes start at once, and whether a pooler stands between.

Must not know: what is in the files.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from lockstitch.errors import SchemaTooNew
from lockstitch.stores.postgres.statements import Names, Statement, queries

if TYPE_CHECKING:
    from lockstitch.stores.base import Effect

__all__ = ["KNOWN", "migrating", "preparing", "script"]


def _read() -> tuple[tuple[int, str], ...]:
    folder = files(__name__.rpartition(".")[0]).joinpath("migrations")
    found = sorted(
        (int(one.name.partition("_")[0]), one.read_text(encoding="utf-8"))
        for one in folder.iterdir()
        if one.name.endswith(".sql")
    )
    return tuple(found)


_MIGRATIONS: Final = _read()

KNOWN: Final = _MIGRATIONS[-1][0]
"""The newest version of the schema that this version of Lockstitch knows."""


def preparing(names: Names) -> Effect[bool]:
    """Look which version the schema is, and migrate if it is older or not there.

    Who finds it up to date needs no right to change it.

    Returns:
        Whether there was anything to migrate.

    Raises:
        SchemaTooNew: a newer version of Lockstitch has been here.
    """
    found = yield from _version(names)
    if found < KNOWN:
        yield from migrating(names)
        return True
    _refuse(found, names)
    return False


def migrating(names: Names) -> Effect[tuple[int, int]]:
    """Migrate from whatever there is.

    Returns:
        The version that was there, 0 for none, and the one that is there now.

    Raises:
        SchemaTooNew: a newer version of Lockstitch has been here.
    """
    found = yield from _version(names)
    yield Statement("migrate", script(names), early=True)
    now = yield from _version(names)
    _refuse(now, names)
    return found, now


def _version(names: Names) -> Effect[int]:
    sql = queries(names)
    table = names.qualified("schema")
    there = yield Statement("schema_there", sql["schema_there"], {"table": table}, early=True)
    if not there[0][0]:
        return 0
    found = yield Statement("schema_version", sql["schema_version"], early=True)
    version: int = found[0][0]
    return version


def _refuse(found: int, names: Names) -> None:
    if found > KNOWN:
        raise SchemaTooNew(found=found, known=KNOWN, where=names.qualified("schema"))


@lru_cache(maxsize=8)
def script(names: Names) -> str:
    """Write the block that migrates.

    Args:
        names: where the tables are, and what they are called.
    """
    table = names.qualified("schema")
    # Who migrates the same tables waits for the same lock; it is let go of with the transaction.
    lock = int.from_bytes(hashlib.sha256(table.encode()).digest()[:8], "big", signed=True)
    steps = "\n".join(
        f"IF found < {version} THEN\n"
        f"EXECUTE $migration${names.put_in(sql)}$migration$;\n"
        f"INSERT INTO {table} (version) VALUES ({version});\n"
        "END IF;"
        for version, sql in _MIGRATIONS
    )
    # The names are checked where they are made.
    return f"""DO $migrate$
DECLARE
    found integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock({lock});
    IF to_regnamespace('"{names.schema}"') IS NULL THEN
        CREATE SCHEMA "{names.schema}";
    END IF;
    IF to_regclass('{table}') IS NOT NULL THEN
        SELECT coalesce(max(version), 0) INTO found FROM {table};
    END IF;
    {steps}
END
$migrate$"""  # noqa: S608 - as above
