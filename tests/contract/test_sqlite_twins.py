"""The SQLite backend replies what the model replies, whatever is done in which order."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

import pytest

from lockstitch.stores.running import Threaded, awaited, run
from lockstitch.stores.sqlite import SqliteDriver
from lockstitch.testing.store_model import Twins

if TYPE_CHECKING:
    from pathlib import Path

STEPS = 150


def _follow(twins: Twins, steps: int = STEPS) -> None:
    for _ in range(steps):
        twins.step()


@pytest.mark.parametrize("seed", range(40))
def test_in_memory_it_replies_what_the_model_replies(seed: int):
    driver = SqliteDriver(":memory:")
    twins = Twins(lambda effect: run(effect, driver), driver.backend, seed=seed, tenant="t")
    _follow(twins)
    driver.close()


@pytest.mark.parametrize("seed", range(100, 120))
@pytest.mark.parametrize("synchronous", ["NORMAL", "FULL"])
def test_in_a_file_it_replies_what_the_model_replies(tmp_path: Path, seed: int, synchronous):
    steps = STEPS if synchronous == "NORMAL" else 20
    driver = SqliteDriver(tmp_path / "chat.db", synchronous=synchronous)
    twins = Twins(lambda effect: run(effect, driver), driver.backend, seed=seed, tenant="t")
    _follow(twins, steps)
    driver.close()


@pytest.mark.parametrize("seed", range(200, 210))
@pytest.mark.parametrize("isolation", [None, "", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"])
def test_on_a_connection_that_was_lent_it_replies_what_the_model_replies(
    seed: int, isolation: str | None
):
    lent = sqlite3.connect(":memory:", isolation_level=isolation)
    lent.row_factory = sqlite3.Row
    lent.text_factory = bytes
    driver = SqliteDriver(lent, prefix="ours_")
    twins = Twins(lambda effect: run(effect, driver), driver.backend, seed=seed, tenant="t")
    _follow(twins, 60)
    driver.close()
    assert not lent.in_transaction
    lent.close()


@pytest.mark.parametrize("seed", range(300, 310))
@pytest.mark.parametrize("place", ["memory", "file", "lent"])
def test_awaited_it_replies_what_the_model_replies(tmp_path: Path, seed: int, place: str):
    lent = sqlite3.connect(tmp_path / "lent.db", check_same_thread=False)
    database = {"memory": ":memory:", "file": tmp_path / "chat.db", "lent": lent}[place]
    waiting = SqliteDriver(database)
    driver = Threaded(waiting)
    with asyncio.Runner() as runner:
        twins = Twins(
            lambda effect: runner.run(awaited(effect, driver)),
            driver.backend,
            seed=seed,
            tenant="t",
        )
        _follow(twins, 60)
        runner.run(driver.aclose())
    lent.close()


def test_two_stores_on_one_file_are_one_store(tmp_path: Path):
    drivers = [SqliteDriver(tmp_path / "chat.db") for _ in range(2)]
    turn = [0]

    def by_turns(effect):
        turn[0] += 1
        return run(effect, drivers[turn[0] % 2])

    twins = Twins(by_turns, drivers[0].backend, seed=1, tenant="t")
    _follow(twins, 600)
    for driver in drivers:
        driver.close()


def test_tables_with_different_prefixes_in_one_file_are_stores_of_their_own(tmp_path: Path):
    drivers = [SqliteDriver(tmp_path / "chat.db", prefix=prefix) for prefix in ("a_", "b_")]
    pairs = [
        Twins(
            lambda effect, driver=driver: run(effect, driver),
            driver.backend,
            seed=seed,
            tenant="the same",
        )
        for seed, driver in enumerate(drivers)
    ]
    for _ in range(300):
        for twins in pairs:
            twins.step()
    for driver in drivers:
        driver.close()
