"""The SQLite backend under many processes, under kills, and across forks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from lockstitch.errors import StoreError
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.running import run
from lockstitch.stores.sqlite import SqliteDriver, forking

CHILDREN = Path(__file__).with_name("sqlite_children.py")
KEY = Key("acme", "shared")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(CHILDREN), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def stored(path: Path) -> list[tuple[int, str, bytes | None]]:
    driver = SqliteDriver(path)
    rows = run(driver.backend.rows(KEY, 1, 10**9), driver)
    driver.close()
    return [(row.seq, row.mark, row.payload) for row in rows]


def test_of_eight_processes_that_write_to_one_session_none_loses_or_doubles_a_batch(tmp_path: Path):
    path, batches = tmp_path / "chat.db", 40
    writers = [start("write", path, f"w{at}", batches) for at in range(8)]  # all open it at once
    for writer in writers:
        finish(writer)
    found = stored(path)
    assert [seq for seq, _, _ in found] == list(range(1, 8 * batches * 3 + 1))
    runs = [(mark, len(list(rows))) for mark, rows in groupby(found, key=lambda row: row[1])]
    assert Counter(runs) == {(f"w{at}.{n:04}", 3): 1 for at in range(8) for n in range(batches)}
    for at, (_, mark, payload) in enumerate(found):
        assert payload == f"{mark}/{at % 3}".encode() * 50


@forks
def test_a_process_that_is_killed_leaves_every_batch_whole_or_absent(tmp_path: Path):
    said = finish(start("kill", tmp_path / "chat.db", 1, 200))
    assert said.startswith("200 kills")


@forks
def test_what_a_forked_process_writes_is_kept_when_its_parent_closes(tmp_path: Path):
    finish(start("fork", tmp_path / "chat.db"))
    found = {mark for _, mark, _ in stored(tmp_path / "chat.db")}
    assert found == {"parent before", "child before", "parent after", "child after"}


@forks
def test_what_belongs_to_one_process_is_refused_in_one_that_was_forked(tmp_path: Path):
    said = finish(start("fork_lent", tmp_path / "chat.db")).splitlines()
    assert len(said) == 3
    assert all("belongs to the process that opened it" in line for line in said)
    assert all(line.startswith("StoreError: ") for line in said)


# --- the same, seen from inside ------------------------------------------------------------------


def send(driver: SqliteDriver, mark: str) -> None:
    sent = Commit(key=KEY, mark=mark, rows=(Row(b"", b""),), epoch="e")
    assert run(driver.backend.commit(sent), driver).outcome == "stored"


def test_a_connection_that_came_with_a_fork_is_neither_used_nor_closed(tmp_path: Path, monkeypatch):
    driver = SqliteDriver(tmp_path / "chat.db")
    send(driver, "parent")
    inherited = driver._connection
    monkeypatch.setattr(forking, "_forgotten", [])
    # As where the process was forked by something that does not tell Python.
    monkeypatch.setattr(driver, "_process", -1)
    send(driver, "child")
    assert forking._forgotten == [inherited]
    assert driver._connection is not inherited
    assert inherited.execute("SELECT 1").fetchone() == (1,)
    inherited.close()
    driver.close()


@pytest.mark.parametrize("place", ["memory", "lent"])
def test_what_came_with_a_fork_and_cannot_be_opened_again_is_refused(place: str, monkeypatch):
    lent = sqlite3.connect(":memory:")
    driver = SqliteDriver(":memory:" if place == "memory" else lent)
    send(driver, "parent")
    monkeypatch.setattr(driver, "_process", -1)
    with pytest.raises(StoreError, match="belongs to the process that opened it"):
        send(driver, "child")
    monkeypatch.undo()
    send(driver, "parent again")
    driver.close()
    lent.close()


def test_while_a_process_forks_nothing_is_open_and_no_step_begins(tmp_path: Path):
    driver, memory = SqliteDriver(tmp_path / "chat.db"), SqliteDriver(":memory:")
    for one in (driver, memory):
        send(one, "before")
    forking._before()
    assert driver._connection is None
    assert memory._connection is not None
    done = threading.Event()

    def write() -> None:
        send(driver, "during")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    assert not done.wait(0.02)
    forking._after()
    thread.join()
    send(memory, "after")
    assert [mark for _, mark, _ in stored(tmp_path / "chat.db")] == ["before", "during"]
    driver.close()
    memory.close()


def test_a_store_that_nobody_keeps_is_not_kept_for_the_next_fork(tmp_path: Path):
    driver = SqliteDriver(tmp_path / "chat.db")
    before = len(forking._watched)
    driver.close()
    del driver
    assert len(forking._watched) == before - 1
