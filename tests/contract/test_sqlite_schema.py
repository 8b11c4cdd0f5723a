"""The schema of the SQLite backend: made once, moved forwards, refused when it is too new."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import msgspec
import pytest

from lockstitch.errors import SchemaTooNew, StoreError
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.running import run
from lockstitch.stores.sqlite import SqliteBackend, SqliteDriver, schema
from lockstitch.stores.sqlite.statements import migrations, statements

if TYPE_CHECKING:
    from pathlib import Path

KEY = Key(None, "a")
SENT = Commit(key=KEY, mark="m", rows=(Row(b"meta", b"payload"),), epoch="e")


def store(path: Path, sent: Commit = SENT, **options) -> str:
    driver = SqliteDriver(path, **options)
    try:
        return run(driver.backend.commit(sent), driver).outcome
    finally:
        driver.close()


def names(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    return {name for name in found if not name.startswith("sqlite_")}


def test_every_table_and_index_begins_with_the_prefix(tmp_path: Path):
    store(tmp_path / "chat.db", prefix="Chat_")
    assert names(tmp_path / "chat.db") == {
        f"Chat_{name}"
        for name in ("schema", "sessions", "heads", "rows", "keys", "events", "expiring")
    }


def test_a_prefix_in_other_letters_of_the_same_sort_is_the_same_prefix(tmp_path: Path):
    assert store(tmp_path / "chat.db", prefix="Chat_") == "stored"
    assert store(tmp_path / "chat.db", prefix="chat_") == "replayed"


def test_what_the_host_keeps_in_the_database_is_left_alone(tmp_path: Path):
    host = sqlite3.connect(tmp_path / "chat.db", isolation_level=None)
    host.execute("PRAGMA user_version = 7")
    host.execute("PRAGMA application_id = 8")
    host.execute("CREATE TABLE sessions (mine)")
    host.execute("INSERT INTO sessions VALUES ('kept')")
    store(tmp_path / "chat.db")
    assert host.execute("PRAGMA user_version").fetchone() == (7,)
    assert host.execute("PRAGMA application_id").fetchone() == (8,)
    assert host.execute("SELECT * FROM sessions").fetchall() == [("kept",)]
    host.close()


@pytest.mark.parametrize(
    "prefix", ["", "a-", "1a", "a b", "a;", "sqlite_", "SQLite_x", "é", "a" * 64, "a\n"]
)
def test_a_prefix_that_is_no_plain_name_is_refused(prefix: str):
    with pytest.raises(ValueError, match="a table prefix is"):
        SqliteBackend(prefix)
    with pytest.raises(ValueError, match="a table prefix is"):
        SqliteDriver(":memory:", prefix=prefix)


def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path):
    store(tmp_path / "chat.db")
    connection = sqlite3.connect(tmp_path / "chat.db")
    with connection:
        connection.execute("INSERT INTO lockstitch_schema VALUES (99, 0)")
    connection.close()
    with pytest.raises(SchemaTooNew, match=r"chat\.db has schema 99") as caught:
        store(tmp_path / "chat.db")
    assert (caught.value.found, caught.value.known) == (99, len(migrations("lockstitch_")))
    assert store(tmp_path / "chat.db", prefix="other_") == "stored"


def test_an_older_schema_is_brought_to_the_newest(tmp_path: Path, monkeypatch):
    store(tmp_path / "chat.db")
    more = (*migrations("lockstitch_"), ("ALTER TABLE lockstitch_rows ADD COLUMN more",))
    monkeypatch.setattr(schema, "migrations", lambda _: more)
    assert store(tmp_path / "chat.db") == "replayed"
    assert store(tmp_path / "chat.db") == "replayed"
    connection = sqlite3.connect(tmp_path / "chat.db")
    assert connection.execute("SELECT version FROM lockstitch_schema").fetchall() == [(1,), (2,)]
    assert connection.execute("SELECT more FROM lockstitch_rows").fetchall() == [(None,)]
    connection.close()


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch):
    broken = (*migrations("lockstitch_"), ("CREATE TABLE lockstitch_more (x)", "NONSENSE"))
    monkeypatch.setattr(schema, "migrations", lambda _: broken)
    with pytest.raises(StoreError, match="NONSENSE"):
        store(tmp_path / "chat.db")
    assert names(tmp_path / "chat.db") == set()
    monkeypatch.undo()
    assert store(tmp_path / "chat.db") == "stored"


def test_of_two_that_open_at_once_one_migrates_and_the_other_finds_it_done(
    tmp_path: Path, monkeypatch
):
    first, second = (sqlite3.connect(tmp_path / "a.db", isolation_level=None) for _ in range(2))

    class Overtaken(schema.Reads):
        """What the first has read is out of date as soon as it has read it."""

        def __exit__(self, *raised):
            super().__exit__(*raised)
            monkeypatch.undo()
            schema.migrate(second, "p_", where="a.db", clock=lambda: 2.0)

    monkeypatch.setattr(schema, "Reads", Overtaken)
    schema.migrate(first, "p_", where="a.db", clock=lambda: 1.0)
    assert first.execute("SELECT * FROM p_schema").fetchall() == [(1, 2.0)]
    first.close()
    second.close()


def test_every_statement_runs_on_the_newest_schema():
    connection = sqlite3.connect(":memory:")
    for steps in migrations("p_"):
        for statement in steps:
            connection.execute(statement)
    connection.execute(statements("p_").make_schema)
    for name, statement in msgspec.structs.asdict(statements("p_")).items():
        if name != "make_schema":
            connection.execute(f"EXPLAIN {statement}", _nothing(statement))
    connection.close()


def _nothing(statement: str) -> object:
    if ":now" in statement:
        return {"tenant": "", "id": "", "ttl": 0, "now": 0}
    return (0,) * statement.count("?")


@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("find", "SEARCH p_sessions USING INDEX"),
        ("sessions", "SEARCH p_sessions USING INDEX"),
        ("rows", "SEARCH p_rows USING INDEX"),
        ("marked", "SEARCH p_rows USING INDEX"),
        ("expired", "SEARCH p_sessions USING COVERING INDEX p_expiring"),
        ("events", "SEARCH p_events USING PRIMARY KEY"),
        ("key", "SEARCH p_keys USING PRIMARY KEY"),
        ("head", "SEARCH p_heads USING INTEGER PRIMARY KEY"),
        ("delete_rows", "SEARCH p_rows USING INDEX"),
    ],
)
def test_no_statement_reads_more_than_it_has_to(name: str, plan: str):
    connection = sqlite3.connect(":memory:")
    for steps in migrations("p_"):
        for statement in steps:
            connection.execute(statement)
    statement = getattr(statements("p_"), name)
    (found,) = connection.execute(f"EXPLAIN QUERY PLAN {statement}", _nothing(statement))
    assert found[3].startswith(plan)
    connection.close()
