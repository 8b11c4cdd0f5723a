"""The PostgreSQL backend replies what the model replies, whatever is done in which order."""

from __future__ import annotations

import asyncio
import itertools

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from lockstitch.stores.postgres import AsyncPostgresDriver, PostgresBackend, PostgresDriver, connect
from lockstitch.stores.running import awaited, run
from lockstitch.testing.store_model import Twins

STEPS = 60
_tenants = itertools.count()


def _follow(driver: PostgresDriver, seed: int, steps: int = STEPS) -> None:
    twins = Twins(
        lambda effect: run(effect, driver),
        driver.backend,
        seed=seed,
        tenant=f"tenant {next(_tenants)}",
    )
    for _ in range(steps):
        twins.step()


@pytest.mark.parametrize("seeds", [range(at, at + 10) for at in range(0, 60, 10)])
def test_it_replies_what_the_model_replies(postgres: str, seeds: range):
    driver = PostgresDriver(postgres)
    for seed in seeds:
        _follow(driver, seed)
    driver.close()


def test_the_postgresql_of_the_machine_replies_what_the_model_replies(postgres_machine: str):
    driver = PostgresDriver(postgres_machine)
    for seed in range(100, 120):
        _follow(driver, seed)
    driver.close()


def test_an_older_postgresql_replies_what_the_model_replies(postgres16: str):
    driver = PostgresDriver(postgres16)
    for seed in range(200, 210):
        _follow(driver, seed)
    driver.close()


@pytest.mark.parametrize("autocommit", [True, False])
@pytest.mark.parametrize("prepare", [5, 0, None], ids=["prepared", "always", "as behind a pooler"])
def test_through_a_pool_that_was_lent_it_replies_what_the_model_replies(
    postgres: str, autocommit: bool, prepare: int | None
):
    options = {"autocommit": autocommit, "prepare_threshold": prepare, "row_factory": dict_row}
    with ConnectionPool(postgres, kwargs=options, min_size=1, open=True) as pool:
        driver = PostgresDriver(pool)
        for seed in range(300, 304):
            _follow(driver, seed)
        driver.close()
        with pool.connection() as connection:
            assert connection.autocommit is autocommit
            assert connection.row_factory is dict_row


@pytest.mark.parametrize("autocommit", [True, False])
def test_on_a_connection_that_was_lent_it_replies_what_the_model_replies(
    postgres: str, autocommit: bool
):
    with psycopg.connect(postgres, autocommit=autocommit, row_factory=dict_row) as connection:
        driver = PostgresDriver(connection)
        for seed in range(400, 405):
            _follow(driver, seed)
        driver.close()
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_inside_a_transaction_it_replies_what_the_model_replies(postgres: str):
    with psycopg.connect(postgres) as connection:
        driver = PostgresDriver(connection)
        for seed in range(500, 505):
            with connection.transaction():
                _follow(driver, seed)


@pytest.mark.parametrize(("schema", "prefix"), [("My-Schema", "Select-"), ("other", "x")])
def test_under_names_that_need_quotes_it_replies_what_the_model_replies(
    postgres: str, schema: str, prefix: str
):
    driver = connect(postgres, schema=schema, prefix=prefix)
    for seed in range(600, 603):
        _follow(driver, seed)
    driver.close()


@pytest.mark.parametrize("kind", ["url", "pool", "connection"])
@pytest.mark.parametrize("autocommit", [True, False])
def test_awaited_it_replies_what_the_model_replies(postgres: str, kind: str, autocommit: bool):
    with asyncio.Runner() as runner:
        lent = None
        if kind == "pool":
            lent = AsyncConnectionPool(postgres, kwargs={"autocommit": autocommit}, open=False)
            runner.run(lent.open())
        elif kind == "connection":
            lent = runner.run(psycopg.AsyncConnection.connect(postgres, autocommit=autocommit))
        driver = AsyncPostgresDriver(lent or postgres, backend=PostgresBackend())
        for seed in range(700, 704):
            twins = Twins(
                lambda effect: runner.run(awaited(effect, driver)),
                driver.backend,
                seed=seed,
                tenant=f"tenant {next(_tenants)}",
            )
            for _ in range(STEPS):
                twins.step()
        runner.run(driver.aclose())
        if lent is not None:
            runner.run(lent.close())
