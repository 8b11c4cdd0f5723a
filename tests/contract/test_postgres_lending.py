"""Connections of PostgreSQL that are lent: what happens on them, and how they are left."""

from __future__ import annotations

import asyncio
import sys
from itertools import count

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, ConnectionPool, NullConnectionPool

import lockstitch as ls
from lockstitch.errors import MissingExtra, StoreError
from lockstitch.stores.base import Commit, Key, Reading, Row
from lockstitch.stores.postgres import connect, connect_async
from lockstitch.stores.postgres.sending import address, cut, quiet
from lockstitch.stores.running import awaited, run

KEY = Key("acme", "user-42")
_schemas = count()


@pytest.fixture
def schema(postgres: str) -> str:
    name = f"lending_{next(_schemas)}"
    driver = connect(postgres, schema=name)
    driver.migrate()
    driver.close()
    return name


def commit(mark: str) -> Commit:
    return Commit(key=KEY, mark=mark, rows=(Row(b"meta", mark.encode()),), epoch="epoch")


def send(driver, mark: str):
    return run(driver.backend.commit(commit(mark)), driver)


def read(driver) -> list[bytes | None]:
    return [row.payload for row in run(driver.backend.view(KEY), driver).rows]


def seen_by_others(postgres: str, schema: str) -> list[bytes | None]:
    driver = connect(postgres, schema=schema)
    found = read(driver)
    driver.close()
    return found


# --- transactions --------------------------------------------------------------------------------


@pytest.mark.parametrize("autocommit", [True, False])
def test_outside_a_transaction_a_commit_is_kept_at_once(postgres, schema, autocommit):
    with psycopg.connect(postgres, autocommit=autocommit) as connection:
        driver = connect(connection, schema=schema)
        send(driver, "mark")
        assert connection.info.transaction_status == TransactionStatus.IDLE
        assert connection.autocommit is autocommit
        assert seen_by_others(postgres, schema) == [b"mark"]
        connection.rollback()
        assert read(driver) == [b"mark"]


@pytest.mark.parametrize("autocommit", [True, False])
def test_inside_a_transaction_a_commit_is_kept_or_lost_with_it(postgres, schema, autocommit):
    with psycopg.connect(postgres, autocommit=autocommit) as connection:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {schema}.theirs (id int)")
        connection.commit()
        driver = connect(connection, schema=schema)
        with connection.transaction(force_rollback=True):
            connection.execute(f"INSERT INTO {schema}.theirs VALUES (1)")  # noqa: S608
            send(driver, "lost")
            assert read(driver) == [b"lost"]
        with connection.transaction():
            connection.execute(f"INSERT INTO {schema}.theirs VALUES (2)")  # noqa: S608
            send(driver, "kept")
            assert seen_by_others(postgres, schema) == []
        assert seen_by_others(postgres, schema) == [b"kept"]
        found = connection.execute(f"SELECT id FROM {schema}.theirs").fetchall()  # noqa: S608
        assert found == [(2,)]


def test_what_fails_inside_a_transaction_leaves_the_rest_of_it(postgres, schema):
    with psycopg.connect(postgres) as connection:
        driver = connect(connection, schema=schema)
        with connection.transaction():
            send(driver, "kept")
            connection.execute("SET LOCAL default_transaction_read_only = off")
            with connection.transaction(force_rollback=True):
                connection.execute(f"DROP TABLE {schema}.lockstitch_events CASCADE")
                with pytest.raises(StoreError, match="tables are missing"):
                    run(driver.backend.events(KEY), driver)
            send(driver, "kept too")
        assert seen_by_others(postgres, schema) == [b"kept", b"kept too"]


def test_what_is_awaited_is_part_of_a_transaction_too(postgres, schema):
    async def main():
        async with await psycopg.AsyncConnection.connect(postgres) as connection:
            driver = connect_async(connection, schema=schema)
            await awaited(driver.backend.commit(commit("kept")), driver)
            assert connection.info.transaction_status == TransactionStatus.IDLE
            async with connection.transaction(force_rollback=True):
                await awaited(driver.backend.commit(commit("lost")), driver)
            await driver.migrate()
            await driver.aclose()
            assert not connection.closed
            await connection.close()
            with pytest.raises(StoreError, match="the connection that was lent is closed"):
                await awaited(driver.backend.view(KEY), driver)

    asyncio.run(main())
    assert seen_by_others(postgres, schema) == [b"kept"]


def test_a_schema_that_was_made_in_a_transaction_is_looked_for_again(postgres):
    async def main():
        async with await psycopg.AsyncConnection.connect(postgres) as connection:
            driver = connect_async(connection, schema="rolled_back")
            async with connection.transaction(force_rollback=True):
                await awaited(driver.backend.commit(commit("lost")), driver)
                await awaited(driver.backend.commit(commit("lost too")), driver)
            assert await awaited(driver.backend.view(KEY), driver) == Reading(version=None)

    asyncio.run(main())


# --- what is ours and what is lent ---------------------------------------------------------------


def test_a_pool_that_was_lent_stays_open(postgres, schema):
    with ConnectionPool(postgres, min_size=1, open=True) as pool:
        driver = connect(pool, schema=schema)
        send(driver, "mark")
        driver.close()
        with pool.connection() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)

    async def main():
        async with AsyncConnectionPool(postgres, min_size=1, open=False) as pool:
            driver = connect_async(pool, schema=schema)
            await awaited(driver.backend.view(KEY), driver)
            await driver.aclose()
            async with pool.connection() as connection:
                assert await (await connection.execute("SELECT 1")).fetchone() == (1,)

    asyncio.run(main())


def test_a_pool_that_keeps_nothing_will_do(postgres, schema):
    with NullConnectionPool(postgres, open=True) as pool:
        driver = connect(pool, schema=schema)
        send(driver, "mark")
        assert read(driver) == [b"mark"]


def test_nothing_is_opened_before_it_is_used(tcp_proxy, postgres):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url)
    driver.close()
    assert proxy.traffic.connections == 0


def test_a_store_is_opened_from_an_address_a_pool_or_a_connection(postgres, schema):
    plain = postgres.replace("postgresql://", "postgres://")
    named = postgres.replace("postgresql://", "postgresql+psycopg://")
    with (
        ConnectionPool(postgres, min_size=1, open=True) as pool,
        psycopg.connect(postgres) as connection,
    ):
        for at, client in enumerate((postgres, plain, named, pool, connection)):
            with ls.open_store(client, schema=schema) as store:
                session = store.session("user", tenant="acme")
                assert session.append({"role": "user", "content": "hello"}).first == at + 1

    async def main():
        async with ls.open_async_store(postgres, schema=schema) as store:
            session = store.session("user", tenant="acme")
            assert (await session.append({"role": "user", "content": "hello"})).first == 6

    asyncio.run(main())


def test_many_that_begin_at_once_wait_for_the_one_that_looks_at_the_schema(postgres, schema):
    async def main():
        driver = connect_async(postgres, schema=schema)
        asked = [awaited(driver.backend.view(KEY), driver) for _ in range(5)]
        assert await asyncio.gather(*asked) == [Reading(version=None)] * 5
        await driver.aclose()

    asyncio.run(main())


def test_a_connection_that_was_closed_is_not_taken_for_a_quiet_one(postgres):
    connection = psycopg.connect(postgres)
    assert quiet(connection)
    connection.close()
    assert not quiet(connection)
    cut(connection)


@pytest.mark.parametrize("client", [None, 1, object(), b"postgresql://"])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(TypeError, match=r"a URL, a psycopg_pool.ConnectionPool or"):
        connect(client)
    with pytest.raises(TypeError, match=r"a URL, a psycopg_pool.AsyncConnectionPool or"):
        connect_async(client)


def test_a_client_that_waits_is_refused_where_it_would_have_to_be_awaited(postgres):
    with psycopg.connect(postgres) as connection, pytest.raises(TypeError):
        connect_async(connection)


@pytest.mark.parametrize("url", ["postgresql://u:secret@[", "postgresql://h/db?no=such", "secret"])
def test_what_is_no_address_is_refused_without_being_repeated(url):
    for make in (connect, connect_async):
        with pytest.raises(ValueError, match="no URL of PostgreSQL: write postgresql://") as caught:
            make(url)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_what_the_address_says_goes_before_what_we_would_say():
    said = address("postgresql://h/db?connect_timeout=3&application_name=mine")
    assert "connect_timeout=3" in said
    assert "application_name=mine" in said
    assert "keepalives_idle=30" in said


# --- the extra -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("absent", "package"), [("psycopg", "psycopg"), ("psycopg_pool", "psycopg-pool")]
)
def test_a_package_that_is_not_installed_is_named(monkeypatch, absent, package):
    for name in list(sys.modules):
        if name.startswith("lockstitch.stores.postgres.") and "lending" in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, absent, None)
    for make in (connect, connect_async):
        with pytest.raises(MissingExtra) as caught:
            make("postgresql://localhost/db")
        assert (
            str(caught.value) == f"{package} is not installed: pip install 'lockstitch[postgres]'"
        )
