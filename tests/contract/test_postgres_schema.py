"""The schema of the PostgreSQL backend: made once, brought forward, refused where it is newer."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.resources import files
from itertools import count

import psycopg
import pytest

import lockstitch.stores.postgres
from lockstitch.errors import SchemaTooNew, StoreError
from lockstitch.stores.base import LOOK_BACK, TAIL, Commit, Key, Row
from lockstitch.stores.postgres import PostgresBackend, connect
from lockstitch.stores.postgres.migrating import KNOWN, script
from lockstitch.stores.postgres.statements import Names, queries
from lockstitch.stores.running import run

KEY = Key("acme", "user-42")
_names = count()


@pytest.fixture
def database(postgres: str):
    """A database of its own: roles and rights are those of the whole database."""
    name = f"schema_{next(_names)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres.rpartition("/")[0] + f"/{name}"
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def role(database: str):
    """A role that may do nothing but connect, and the address that it connects to."""
    name = f"role_{next(_names)}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        yield name, database.replace("postgres@", f"{name}@")
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


def append(driver, mark: str = "mark"):
    sent = Commit(key=KEY, mark=mark, rows=(Row(b"meta", b"payload"),), epoch="epoch")
    return run(driver.backend.commit(sent), driver)


def read(driver) -> list[bytes | None]:
    return [row.payload for row in run(driver.backend.view(KEY), driver).rows]


def tables(database: str) -> set[str]:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT schemaname || '.' || tablename FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        return {name for (name,) in found}


# --- making it -----------------------------------------------------------------------------------


def test_nothing_is_made_before_something_is_asked(database: str):
    driver = connect(database)
    assert tables(database) == set()
    assert run(driver.backend.view(KEY), driver).version is None
    assert tables(database) == {
        f"public.lockstitch_{name}"
        for name in ("schema", "sessions", "ids", "rows", "keys", "events")
    }
    driver.close()


def test_migrating_may_be_asked_for_and_asked_for_again(database: str):
    driver = connect(database, schema="Own-Schema", prefix="p_")
    driver.migrate()
    driver.migrate()
    append(driver)
    assert "Own-Schema.p_rows" in tables(database)
    with psycopg.connect(database) as connection:
        found = connection.execute('SELECT version FROM "Own-Schema".p_schema').fetchall()
    assert found == [(KNOWN,)]
    driver.close()


def test_two_prefixes_are_two_stores(database: str):
    one, other = connect(database), connect(database, prefix="other_")
    append(one)
    assert (len(read(one)), len(read(other))) == (1, 0)
    one.close()
    other.close()


STARTS_AT_ONCE = """
import sys, time
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.postgres import connect
from lockstitch.stores.running import run

driver = connect(sys.argv[1], schema="together")
sent = Commit(key=Key("acme", "user-42"), mark=sys.argv[2], rows=(Row(b"", b""),), epoch="epoch")
print("ready", flush=True)
sys.stdin.readline()
run(driver.backend.commit(sent), driver)
driver.close()
"""


def test_eight_processes_that_start_at_once_make_it_once(database: str):
    started = [
        subprocess.Popen(
            [sys.executable, "-c", STARTS_AT_ONCE, database, f"mark{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[1] for process in started] == [""] * 8
    driver = connect(database, schema="together")
    assert len(read(driver)) == 8
    driver.close()


def test_what_was_made_in_a_transaction_that_is_rolled_back_is_made_again(database: str):
    with psycopg.connect(database) as connection:
        driver = connect(connection)
        with connection.transaction(force_rollback=True):
            append(driver)
            assert len(read(driver)) == 1
        assert tables(database) == set()
        with connection.transaction():
            append(driver)
        assert read(driver) == [b"payload"]


# --- newer and older -----------------------------------------------------------------------------


@pytest.mark.parametrize("ask", [read, append, lambda driver: driver.migrate()])
def test_a_newer_schema_is_refused(database: str, ask):
    first = connect(database)
    append(first)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO lockstitch_schema (version) VALUES (99)")
    driver = connect(database)
    with pytest.raises(SchemaTooNew, match="upgrade lockstitch") as caught:
        ask(driver)
    assert (caught.value.found, caught.value.known) == (99, KNOWN)
    assert read(first) == [b"payload"]  # it has looked before, and its functions are still there
    first.close()
    driver.close()


def test_a_version_that_is_missing_is_made(database: str):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(script(Names()))
        connection.execute("DELETE FROM lockstitch_schema")
        driver = connect(connection)
        with pytest.raises(StoreError, match="choose another schema or prefix"):
            append(driver)


# --- rights --------------------------------------------------------------------------------------


def test_a_role_without_the_right_to_make_tables_uses_those_that_are_there(database, role):
    name, address = role
    driver = connect(database, schema="shared_one")
    driver.migrate()
    driver.close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"GRANT USAGE ON SCHEMA shared_one TO {name}")
        connection.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shared_one TO {name}"
        )
    driver = connect(address, schema="shared_one")
    append(driver)
    assert read(driver) == [b"payload"]
    assert run(driver.backend.touch(KEY, 0.001), driver)
    assert run(driver.backend.sweep(), driver) in {0, 1}
    driver.close()


def test_a_role_that_may_only_read_reads(database, role):
    name, address = role
    driver = connect(database)
    append(driver)
    driver.close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    driver = connect(address)
    assert read(driver) == [b"payload"]
    assert len(run(driver.backend.sessions("acme"), driver)) == 1
    with pytest.raises(StoreError, match=r"permission denied.*grant it") as caught:
        append(driver, "mark2")
    assert not caught.value.retryable
    driver.close()


def test_a_role_that_may_not_make_tables_is_told_what_to_do(role):
    _, address = role
    driver = connect(address, schema="forbidden")
    with pytest.raises(StoreError, match=r"permission denied.*call migrate\(\) once"):
        append(driver)
    driver.close()


def test_a_server_that_takes_no_writes_is_read(database: str):
    driver = connect(database)
    append(driver)
    driver.close()
    driver = connect(database + "?options=-c%20default_transaction_read_only%3Don")
    assert read(driver) == [b"payload"]
    with pytest.raises(StoreError, match="connect to the primary"):
        append(driver, "mark2")
    driver.close()


def test_tables_that_are_gone_are_missed_by_name(database: str):
    driver = connect(database)
    append(driver)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP TABLE lockstitch_sessions")
    with pytest.raises(StoreError, match=r"lockstitch_sessions.*call migrate\(\), or restore"):
        read(driver)
    driver.close()


# --- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "1a", "a b", 'a"', "a;b", "a$$b", "a%s", "é", "a\n", "a" * 64]
)
def test_what_is_no_name_is_refused(name: str):
    with pytest.raises(ValueError, match="is no schema: use letters"):
        PostgresBackend(schema=name)
    with pytest.raises(ValueError, match="is no prefix: use letters"):
        PostgresBackend(prefix=name)


def test_every_query_says_what_it_is_for_and_has_its_names_in_place():
    text = files(lockstitch.stores.postgres).joinpath("queries.sql").read_text(encoding="utf-8")
    headers = re.findall(r"^-- name: (\w+)\n-- [A-Z].*[.;]?$", text, re.MULTILINE)
    assert headers == list(queries(Names()))
    for sql in queries(Names("s", "p_")).values():
        assert not re.search(r"[{}]|--", sql)


def test_the_server_looks_as_far_back_for_a_mark_as_the_model():
    assert f"s.seq - {LOOK_BACK} END" in script(Names())


def test_the_server_replies_as_many_rows_behind_the_head_as_the_model():
    assert f"greatest(s.through, s.seq - {TAIL})" in script(Names())
    assert f"greatest(through, seq - {TAIL})" in queries(Names())["view"]
