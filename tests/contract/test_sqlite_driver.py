"""The SQLite driver: what it opens, what it is lent, and what it says when something is wrong."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest

from lockstitch.errors import CorruptRow, StoreError, StoreUnavailable
from lockstitch.stores.base import Commit, Committed, Key, Row
from lockstitch.stores.running import Threaded, awaited, run
from lockstitch.stores.sqlite import SqliteDriver, opening, transactions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = Key(None, "a")


def sent(mark: str, *payloads: bytes) -> Commit:
    rows = tuple(Row(b"meta", payload) for payload in payloads or (b"{}",))
    return Commit(key=KEY, mark=mark, rows=rows, epoch="e")


def send(driver: SqliteDriver, mark: str, *payloads: bytes) -> Committed:
    return run(driver.backend.commit(sent(mark, *payloads)), driver)


def marks(driver: SqliteDriver) -> list[str]:
    return [row.mark for row in run(driver.backend.view(KEY), driver).rows]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def driver(path: Path) -> Iterator[SqliteDriver]:
    driver = SqliteDriver(path, timeout=0.05)
    yield driver
    driver.close()


# --- opening and closing -------------------------------------------------------------------------


def test_nothing_is_opened_before_the_first_step(path: Path):
    driver = SqliteDriver(path)
    assert not path.exists()
    driver.close()
    assert not path.exists()


@pytest.mark.parametrize(("synchronous", "number"), [("NORMAL", 1), ("FULL", 2)])
def test_a_file_is_set_up_to_keep_a_log_and_to_wait_for_the_disk_as_asked(
    path: Path, synchronous, number: int
):
    driver = SqliteDriver(path, synchronous=synchronous)
    send(driver, "m")
    assert driver._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert driver._connection.execute("PRAGMA synchronous").fetchone() == (number,)
    driver.close()


def test_without_a_log_beside_it_a_file_is_written_with_all_care(path: Path, monkeypatch):
    # The journal is one that SQLite does not leave, as on file systems that cannot share memory.
    connection = sqlite3.connect(path)
    real = sqlite3.connect

    def connect(*args, **options):
        made = real(*args, **options)
        made.execute("PRAGMA journal_mode = TRUNCATE")
        return made

    monkeypatch.setattr(opening.sqlite3, "connect", connect)
    driver = SqliteDriver(path)
    send(driver, "m")
    assert driver._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert marks(driver) == ["m"]
    driver.close()
    connection.close()


def test_what_was_written_is_there_when_the_file_is_opened_again(path: Path):
    for mark in "abc":
        driver = SqliteDriver(path)
        send(driver, mark)
        driver.close()
    driver = SqliteDriver(str(path))
    assert marks(driver) == ["a", "b", "c"]
    driver.close()


def test_a_path_means_the_same_file_whatever_becomes_of_the_working_directory(
    path: Path, tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    driver = SqliteDriver("chat.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    send(driver, "m")
    driver.close()
    assert path.exists()


def test_a_store_that_was_closed_says_so(path: Path):
    driver = SqliteDriver(path)
    send(driver, "m")
    driver.close()
    driver.close()
    with pytest.raises(StoreError, match="has been closed: open another"):
        send(driver, "n")


@pytest.mark.parametrize("timeout", [-1, -0.1, float("nan"), 1e30])
def test_a_timeout_that_is_no_time_is_refused(timeout: float):
    with pytest.raises(ValueError, match="timeout is a number of seconds"):
        SqliteDriver(":memory:", timeout=timeout)


def test_an_unknown_way_to_wait_for_the_disk_is_refused():
    with pytest.raises(ValueError, match='synchronous is "NORMAL" or "FULL", got \'OFF\''):
        SqliteDriver(":memory:", synchronous="OFF")


# --- others who hold the database ----------------------------------------------------------------


def test_a_database_that_is_held_by_somebody_else_may_be_free_later(driver, path: Path):
    send(driver, "a")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="is locked by somebody else") as caught:
        send(driver, "b")
    assert caught.value.retryable
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert marks(driver) == ["a"]  # reading does not wait for who writes
    other.execute("COMMIT")
    send(driver, "b")
    assert marks(driver) == ["a", "b"]
    other.close()


def test_a_new_file_that_is_held_by_somebody_else_may_be_free_later(driver, path: Path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable):
        send(driver, "a")
    other.execute("COMMIT")
    send(driver, "a")
    other.close()


def test_a_file_that_is_being_given_its_log_by_somebody_else_is_waited_for(path: Path, monkeypatch):
    refused = sqlite3.OperationalError("database is locked")
    refused.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
    real, times = opening._set_up, [3]

    def set_up(*given) -> None:
        times[0] -= 1
        if times[0]:
            raise refused
        real(*given)

    monkeypatch.setattr(opening, "_set_up", set_up)
    driver = SqliteDriver(path)
    send(driver, "a")
    assert times == [0]
    driver.close()


def test_a_step_does_not_wait_for_ever_for_one_in_another_thread(driver):
    send(driver, "a")
    going_on, end = threading.Event(), threading.Event()

    def long(connection: sqlite3.Connection) -> None:
        going_on.set()
        end.wait()

    thread = threading.Thread(target=driver.perform, args=(long,))
    thread.start()
    going_on.wait()
    with pytest.raises(StoreUnavailable, match="other threads used the connection"):
        send(driver, "b")
    end.set()
    thread.join()
    send(driver, "b")
    assert marks(driver) == ["a", "b"]


def test_many_threads_share_one_connection(driver):
    driver._timeout = 60.0

    def write(name: int) -> None:
        for at in range(20):
            send(driver, f"{name}.{at}", b"1", b"2")

    threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = marks(driver)
    assert found[::2] == found[1::2]
    assert sorted(found[::2]) == sorted(f"{name}.{at}" for name in range(8) for at in range(20))


# --- what is wrong with the file -----------------------------------------------------------------


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    driver = SqliteDriver(tmp_path / "missing" / "chat.db")
    with pytest.raises(StoreError, match=r"missing.chat\.db: it cannot be opened") as caught:
        send(driver, "m")
    assert not caught.value.retryable
    (tmp_path / "missing").mkdir()
    send(driver, "m")
    driver.close()


def test_a_file_that_is_no_database_is_left_as_it_is(driver, path: Path):
    path.write_bytes(b"no database" * 1_000)
    with pytest.raises(StoreError, match=r"chat\.db: it is not an SQLite database") as caught:
        send(driver, "m")
    assert not isinstance(caught.value, CorruptRow)
    assert path.read_bytes() == b"no database" * 1_000


def test_a_database_that_is_damaged_says_what_can_be_done(path: Path):
    first = SqliteDriver(path)
    for at in range(100):
        send(first, f"m{at}", b"x" * 1_500)
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:8_192] + b"\xee" * (len(whole) - 8_192))
    driver = SqliteDriver(path)
    with pytest.raises(CorruptRow, match=r"chat\.db is damaged .*\.recover"):
        send(driver, "m")
    with pytest.raises(CorruptRow):
        run(driver.backend.view(KEY), driver)
    driver.close()


def test_a_file_that_may_only_be_read_is_read(path: Path):
    driver = SqliteDriver(path)
    send(driver, "a")
    driver.close()
    driver = SqliteDriver(f"file:{path}?mode=ro")
    assert marks(driver) == ["a"]
    with pytest.raises(StoreError, match="it cannot be written: give this process the right"):
        send(driver, "b")
    assert marks(driver) == ["a"]
    driver.close()


def test_a_file_without_a_log_that_may_only_be_read_is_read(path: Path):
    driver = SqliteDriver(path)
    send(driver, "a")
    driver._connection.execute("PRAGMA journal_mode = DELETE")
    driver.close()
    driver = SqliteDriver(f"file:{path}?mode=ro")
    assert marks(driver) == ["a"]
    driver.close()


def test_a_file_without_tables_that_may_only_be_read_is_refused(path: Path):
    path.touch()
    driver = SqliteDriver(f"file:{path}?mode=ro")
    with pytest.raises(StoreError, match="it cannot be written"):
        run(driver.backend.view(KEY), driver)
    driver.close()


def test_what_sqlite_says_of_anything_else_is_passed_on(driver, path: Path):
    send(driver, "a")
    other = sqlite3.connect(path)
    other.execute("DROP TABLE lockstitch_heads")
    other.execute("DROP TABLE lockstitch_rows")
    other.close()
    with pytest.raises(StoreError, match="SQLite refused: no such table: lockstitch_rows"):
        send(driver, "b")


def test_an_error_that_is_none_of_sqlites_is_not_touched_and_rolls_back(driver):
    send(driver, "a")
    with pytest.raises(TypeError):
        send(driver, "b", b"kept", 17)
    assert marks(driver) == ["a"]
    assert not driver._connection.in_transaction


# --- full disks ----------------------------------------------------------------------------------


def test_a_full_database_takes_nothing_in_part_and_stays_usable(driver):
    send(driver, "a")
    (pages,) = driver._connection.execute("PRAGMA page_count").fetchone()
    driver._connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreError, match="is full: make room and try again") as caught:
        send(driver, "b", b"x" * 1_000_000)
    assert not caught.value.retryable
    with pytest.raises(StoreError, match="is full"):
        send(driver, "c", *[b"y" * 10_000] * 50)
    assert marks(driver) == ["a"]
    send(driver, "d", b"small")
    driver._connection.execute("PRAGMA max_page_count = 1000000")
    send(driver, "b", b"x" * 1_000_000)
    assert marks(driver) == ["a", "d", "b"]
    assert driver._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if not mount or not umount or not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    command = [mount, "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this machine does not let a file system be mounted")
    yield place
    subprocess.run([umount, "-l", str(place)], check=True)


def test_a_full_disk_takes_nothing_in_part_and_can_be_used_when_there_is_room(small_disk: Path):
    driver = SqliteDriver(small_disk / "chat.db")
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    stored = []

    def fill() -> None:
        for at in range(1_000):
            send(driver, f"m{at}", b"x" * 3_000, b"y" * 3_000)
            stored.extend([f"m{at}"] * 2)

    with pytest.raises(StoreError, match="is full: make room"):
        fill()
    assert stored
    assert marks(driver) == stored
    with pytest.raises(StoreError, match="is full"):
        send(driver, "large", b"x" * 3_000_000)
    assert marks(driver) == stored
    ballast.unlink()
    send(driver, "after", b"z" * 100_000)
    assert marks(driver) == [*stored, "after"]
    assert driver._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    driver.close()


def test_a_disk_that_is_full_from_the_beginning_is_no_store(small_disk: Path):
    (small_disk / "ballast").write_bytes(b"x" * 2 * 1024 * 1024)
    driver = SqliteDriver(small_disk / "chat.db")
    with pytest.raises(StoreError):
        send(driver, "a")
    (small_disk / "ballast").unlink()
    send(driver, "a")
    assert marks(driver) == ["a"]
    driver.close()


# --- connections that are lent -------------------------------------------------------------------


@pytest.mark.parametrize("isolation", [None, "", "IMMEDIATE"])
def test_a_connection_that_was_lent_is_given_back_as_it_was(path: Path, isolation: str | None):
    lent = sqlite3.connect(path, isolation_level=isolation, timeout=3)
    lent.row_factory, lent.text_factory = sqlite3.Row, bytes
    driver = SqliteDriver(lent, synchronous="FULL", timeout=7)
    send(driver, "a")
    assert marks(driver) == ["a"]
    with pytest.raises(TypeError):
        send(driver, "b", 17)
    driver.close()
    assert (lent.row_factory, lent.text_factory) == (sqlite3.Row, bytes)
    assert lent.isolation_level == isolation
    assert not lent.in_transaction
    (row,) = lent.execute("SELECT mark FROM lockstitch_rows").fetchall()
    assert row["mark"] == b"a"
    assert lent.execute("PRAGMA journal_mode").fetchone()[0] == b"delete"
    assert lent.execute("PRAGMA busy_timeout").fetchone()[0] == 3_000
    lent.close()


def test_a_connection_inside_a_transaction_of_its_owner_is_refused(path: Path):
    lent = sqlite3.connect(path)
    lent.execute("CREATE TABLE mine (x)")
    driver = SqliteDriver(lent)
    lent.execute("INSERT INTO mine VALUES (1)")
    with pytest.raises(StoreError, match="is inside a transaction: commit it or roll it back"):
        send(driver, "a")
    lent.commit()
    send(driver, "a")
    lent.execute("INSERT INTO mine VALUES (2)")
    with pytest.raises(StoreError, match="is inside a transaction"):
        marks(driver)
    lent.rollback()
    assert lent.execute("SELECT x FROM mine").fetchall() == [(1,)]
    assert marks(driver) == ["a"]
    lent.close()


def test_a_connection_that_its_owner_closed_is_named(path: Path):
    lent = sqlite3.connect(path)
    driver = SqliteDriver(lent)
    send(driver, "a")
    lent.close()
    with pytest.raises(StoreError, match=r"lent: SQLite refused: Cannot operate on a closed"):
        send(driver, "b")


def test_a_connection_of_another_thread_is_named(path: Path):
    lent = sqlite3.connect(path)
    driver = Threaded(SqliteDriver(lent))
    with pytest.raises(StoreError, match="can only be used in that same thread"):
        asyncio.run(awaited(driver.backend.commit(sent("a")), driver))
    lent.close()


# --- steps that do not come to their end ---------------------------------------------------------


def test_a_step_whose_caller_was_cancelled_takes_place_whole(path: Path):
    waiting = SqliteDriver(path)
    send(waiting, "a")
    driver = Threaded(waiting)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

    async def cancelled() -> None:
        other.execute("BEGIN IMMEDIATE")
        task = asyncio.create_task(awaited(driver.backend.commit(sent("b", b"1", b"2")), driver))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        other.execute("COMMIT")
        reading = await awaited(driver.backend.view(KEY), driver)
        assert [row.mark for row in reading.rows] in (["a", "b", "b"], ["a"])

    asyncio.run(cancelled())
    assert marks(waiting) == ["a", "b", "b"]  # the loop has waited for its threads by now
    other.close()
    waiting.close()


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_in_the_middle_of_a_commit_rolls_it_back(path: Path, interrupt):
    def clock() -> float:
        if armed:
            raise interrupt
        return 1.0

    armed = False
    driver = SqliteDriver(path, clock=clock)
    send(driver, "a")
    armed = True
    with pytest.raises(interrupt):
        send(driver, "b")
    armed = False
    assert marks(driver) == ["a"]
    send(driver, "b")
    assert marks(driver) == ["a", "b"]
    driver.close()


def test_what_an_interrupted_rollback_left_open_is_rolled_back_by_the_next_step(driver):
    send(driver, "a")
    driver.perform(lambda connection: connection.execute("BEGIN IMMEDIATE") and None)
    send(driver, "b")
    assert marks(driver) == ["a", "b"]


@pytest.mark.parametrize("place", ["file", "lent"])
def test_an_interrupt_where_a_transaction_begins_leaves_nobody_waiting(path: Path, place: str):
    lent = sqlite3.connect(path)
    driver = SqliteDriver(path if place == "file" else lent)
    send(driver, "a")

    def interrupted(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        driver.perform(interrupted)
    other = sqlite3.connect(path, timeout=0, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.close()
    assert marks(driver) == ["a"]
    driver.close()
    lent.close()


def test_a_step_that_a_signal_handler_begins_in_the_middle_of_another_harms_neither(path: Path):
    said = []

    def clock() -> float:
        """Stand in for a handler: it is called after the transaction has begun."""
        if handling:
            with pytest.raises(StoreError, match="in the middle of another") as caught:
                send(driver, "inner")
            said.append(caught)
        return 1.0

    handling = False
    driver = SqliteDriver(path, clock=clock)
    send(driver, "a")
    handling = True
    send(driver, "outer")
    handling = False
    assert len(said) == 1
    send(driver, "b")
    assert marks(driver) == ["a", "outer", "b"]
    driver.close()


def test_a_store_that_is_closed_in_the_middle_of_a_step_takes_nothing_in_part(path: Path):
    def clock() -> float:
        driver.close()
        return 1.0

    first = SqliteDriver(path)
    send(first, "a")
    driver = SqliteDriver(path, clock=clock)
    with pytest.raises(StoreError, match="SQLite refused: Cannot operate on a closed database"):
        send(driver, "b")
    assert marks(first) == ["a"]
    first.close()


class Failing(sqlite3.Cursor):
    """Refuses some statements, as a disk that is failing does."""

    refused = ("COMMIT",)

    def execute(self, statement, *rest):
        if statement in self.refused:
            raise sqlite3.OperationalError(f"no {statement}")
        return super().execute(statement, *rest)


class Failed(sqlite3.Connection):
    def cursor(self):
        return super().cursor(Failing)

    def execute(self, *given):
        return self.cursor().execute(*given)


def write(connection: sqlite3.Connection, statement: str) -> None:
    with transactions.Writes(connection) as cursor:
        cursor.execute(statement)


def test_a_commit_that_the_disk_refuses_is_rolled_back():
    lent = sqlite3.connect(":memory:", factory=Failed, isolation_level=None)
    lent.execute("CREATE TABLE t (x)")
    with pytest.raises(sqlite3.OperationalError, match="no COMMIT"):
        write(lent, "INSERT INTO t VALUES (1)")
    assert not lent.in_transaction
    assert lent.execute("SELECT count(*) FROM t").fetchone() == (0,)
    lent.close()


def test_a_rollback_that_fails_too_is_told_with_what_went_wrong_first(monkeypatch):
    monkeypatch.setattr(Failing, "refused", ("COMMIT", "ROLLBACK"))
    lent = sqlite3.connect(":memory:", factory=Failed, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="no COMMIT") as caught:
        write(lent, "SELECT 1")
    assert caught.value.__notes__ == ["and the transaction could not be rolled back: no ROLLBACK"]
    lent.close()


def test_what_sqlite_rolled_back_itself_is_not_rolled_back_again():
    lent = sqlite3.connect(":memory:", isolation_level=None)
    lent.execute("CREATE TABLE t (x UNIQUE ON CONFLICT ROLLBACK)")
    lent.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(sqlite3.IntegrityError) as caught:
        write(lent, "INSERT INTO t VALUES (1)")
    assert not hasattr(caught.value, "__notes__")
    lent.close()
