"""The SQLite backend: what the model says nothing of, or the draws do not come to."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from lockstitch.stores.base import Change, Commit, Committed, Key, Row, Version
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.running import run
from lockstitch.stores.sqlite import SqliteDriver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = Key("acme", "user-42")
ODD = ["", "~", "%", "a:b", "a%3Ab", "é", "e\u0301", "\x00", "a\x00b", "\ud83d", "\U0001f600", "A"]
ODD += ["a", "a" * 399, "a" * 400, "a" * 401, "a" * 5_000, "' OR 1=1 --", "\x7f", "\x01", "_", "*"]


class Clock:
    """Tells the time that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def driver(tmp_path: Path, clock: Clock) -> Iterator[SqliteDriver]:
    driver = SqliteDriver(tmp_path / "chat.db", clock=clock)
    yield driver
    driver.close()


def send(driver, mark: str, payloads=(b"{}",), key: Key = KEY, **rest) -> Committed:
    rows = tuple(Row(b"meta", payload) for payload in payloads)
    sent = Commit(key=key, mark=mark, rows=rows, epoch=f"epoch of {mark}", **rest)
    return run(driver.backend.commit(sent), driver)


def payloads_of(driver, key: Key = KEY) -> list[bytes | None]:
    return [row.payload for row in run(driver.backend.view(key), driver).rows]


def tables(path: Path, prefix: str = "lockstitch_") -> dict[str, int]:
    connection = sqlite3.connect(path)
    found = {
        name: connection.execute(f"SELECT count(*) FROM {prefix}{name}").fetchone()[0]  # noqa: S608
        for name in ("sessions", "heads", "rows", "keys", "events")
    }
    connection.close()
    return found


# --- clocks --------------------------------------------------------------------------------------


def test_rows_stay_in_the_order_of_their_numbers_when_the_clock_jumps(driver, clock: Clock):
    for at, mark in enumerate("abcd"):
        clock.now += (500.0, -900_000.0, 0.0, 800_000.0)[at]
        send(driver, mark, [mark.encode()])
    rows = run(driver.backend.view(KEY), driver).rows
    assert [row.payload for row in rows] == [b"a", b"b", b"c", b"d"]
    assert [row.at for row in rows] == [1_000_500.0, 100_500.0, 100_500.0, 900_500.0]


def test_a_session_expires_when_the_clock_says_so_and_not_before(driver, clock: Clock):
    send(driver, "a", ttl=60)
    clock.now += 59.5
    assert run(driver.backend.view(KEY), driver).expires == 1_000_060.0
    clock.now += 0.5
    assert run(driver.backend.view(KEY), driver).version is None
    assert run(driver.backend.rows(KEY, 1, 9), driver) == ()
    assert run(driver.backend.events(KEY), driver) == ()
    assert run(driver.backend.sessions("acme"), driver) == ()
    assert run(driver.backend.touch(KEY), driver) is False


def test_a_clock_that_jumps_back_brings_back_what_had_expired(driver, clock: Clock):
    send(driver, "a", ttl=60)
    clock.now += 1_000
    assert run(driver.backend.view(KEY), driver).version is None
    clock.now -= 1_000
    assert payloads_of(driver) == [b"{}"]


def test_a_sweep_deletes_what_has_expired_and_all_that_belonged_to_it(
    driver, clock: Clock, tmp_path: Path
):
    first = send(driver, "a", ttl=60, idempotency="turn", note=b"a note")
    head = Change(head=b"head", ranges=(1, 1), through=1)
    send(driver, "b", expected=first.now.version, change=head)
    send(driver, "c", key=Key("acme", "kept"))
    assert run(driver.backend.sweep(), driver) == 0
    clock.now += 60
    assert run(driver.backend.sweep(), driver) == 1
    assert tables(tmp_path / "chat.db") == {
        "sessions": 1,
        "heads": 0,
        "rows": 1,
        "keys": 0,
        "events": 0,
    }


def test_a_commit_to_an_expired_session_begins_another(driver, clock: Clock, tmp_path: Path):
    first = send(driver, "a", [b"old"], ttl=60, idempotency="turn", note=b"a note")
    clock.now += 60
    again = send(driver, "b", [b"new"], idempotency="turn", expected=first.now.version)
    assert again.outcome == "stored"
    assert again.now.version == Version("epoch of b", 0, 1)
    assert payloads_of(driver) == [b"new"]
    assert tables(tmp_path / "chat.db")["rows"] == 1


def test_what_writes_nothing_leaves_an_expired_session_to_the_sweep(driver, clock: Clock):
    seen = send(driver, "a", ttl=60).now.version
    clock.now += 60
    assert send(driver, "b", [], expected=seen).outcome == "gone"
    assert send(driver, "c", expected=seen, exclusive=True).outcome == "conflict"
    assert run(driver.backend.sweep(), driver) == 1


def test_deleting_an_expired_session_says_that_there_was_none(driver, clock: Clock):
    send(driver, "a", ttl=60)
    clock.now += 60
    assert run(driver.backend.delete(KEY), driver) is False
    assert run(driver.backend.sweep(), driver) == 0


def test_each_commit_lets_the_time_of_a_session_begin_anew(driver, clock: Clock):
    send(driver, "a", ttl=60)
    clock.now += 50
    assert send(driver, "b").now.expires == 1_000_110.0
    clock.now += 50
    assert run(driver.backend.touch(KEY), driver)
    clock.now += 50
    assert send(driver, "c", ttl=0).now.expires is None
    clock.now += 1e9
    assert run(driver.backend.view(KEY), driver).version is not None


def test_a_list_tells_when_a_session_was_made_written_and_will_expire(driver, clock: Clock):
    send(driver, "a", [b"12345"])
    clock.now += 5
    send(driver, "b", [b"678"], ttl=60)
    (listed,) = run(driver.backend.sessions("acme"), driver)
    assert (listed.created, listed.updated, listed.expires) == (1e6, 1e6 + 5, 1e6 + 65)
    assert listed.bytes == 8


# --- names ---------------------------------------------------------------------------------------


def test_odd_ids_of_odd_tenants_are_sessions_of_their_own(driver):
    keys = [Key(tenant, id) for tenant in (None, *ODD) for id in ODD]
    for at, key in enumerate(keys):
        send(driver, f"m{at}", [str(at).encode()], key=key)
    for at, key in enumerate(keys):
        assert payloads_of(driver, key) == [str(at).encode()]
    for tenant in (None, *ODD):
        found = run(driver.backend.sessions(tenant), driver)
        assert {listed.key for listed in found} == {Key(tenant, id) for id in ODD}


@pytest.mark.parametrize("prefix", ["", "a", "a\x00", "\ud83d", "a" * 400, "%", "*", "_", "b"])
def test_sessions_are_listed_by_prefix_and_page_by_page_as_the_model_lists_them(
    driver, prefix: str
):
    model = MemoryDriver(MemoryBackend())
    for one in (driver, model):
        for at, id in enumerate(ODD):
            send(one, f"m{at}", key=Key("t", id))
    for after in (None, *ODD):
        for limit in (1, 3, 10**30):
            theirs, ours = (
                [listed.key for listed in run(one.backend.sessions("t", prefix, after, limit), one)]
                for one in (driver, model)
            )
            assert theirs == ours


def test_any_text_will_do_for_marks_keys_and_names_of_lives(driver):
    for at, text in enumerate(ODD):
        key = Key("t", str(at))
        sent = Commit(
            key=key, mark=text, idempotency=text, epoch=text, rows=(Row(b"m", b"p"), Row(b"", b""))
        )
        first = run(driver.backend.commit(sent), driver)
        assert first.now.version == Version(text, 0, 2)
        (row, _) = run(driver.backend.view(key), driver).rows
        assert row.mark == text
        assert run(driver.backend.commit(sent), driver).outcome == "replayed"
        by_mark = Commit(key=key, mark=text, rows=(Row(b"m", b"p"),), expected=None)
        replayed = run(driver.backend.commit(by_mark), driver)
        assert (replayed.outcome, replayed.first, replayed.count) == ("replayed", 1, 2)


def test_two_marks_or_keys_that_are_not_the_same_text_are_not_the_same(driver):
    for at, text in enumerate(ODD):
        assert send(driver, text, idempotency=text + "!").outcome == "stored"
        assert len(payloads_of(driver)) == at + 1


# --- sizes ---------------------------------------------------------------------------------------


def test_a_payload_of_20_megabytes_comes_back_as_it_was(driver):
    large = bytes(range(256)) * 80_000
    send(driver, "a", [large, b"small"])
    send(driver, "b", [b"after"])
    assert payloads_of(driver) == [large, b"small", b"after"]
    (listed,) = run(driver.backend.sessions("acme"), driver)
    assert listed.bytes == len(large) + 10


def test_a_hundred_thousand_rows_stay_in_order(driver):
    version, other = None, Key("acme", "other")
    for at in range(100):
        numbers = range(at * 1_000 + 1, at * 1_000 + 1_001)
        done = send(driver, f"m{at}", [str(n).encode() for n in numbers], expected=version)
        version = done.now.version
        send(driver, f"o{at}", [b"of another session"], key=other)
    rows = run(driver.backend.rows(KEY, 1, 100_000), driver)
    assert [row.seq for row in rows] == list(range(1, 100_001))
    assert all(row.payload == str(row.seq).encode() for row in rows)
    last = run(driver.backend.rows(KEY, 99_951, 10**30), driver)
    assert [row.seq for row in last] == list(range(99_951, 100_001))


def test_numbers_that_no_database_holds_mean_what_they_say(driver):
    send(driver, "a", note=b"a note")
    assert len(run(driver.backend.rows(KEY, -(10**30), 10**30), driver)) == 1
    assert run(driver.backend.rows(KEY, 10**30, 10**31), driver) == ()
    assert run(driver.backend.events(KEY, 10**30), driver) == ()
    assert run(driver.backend.events(KEY, 0, 10**30), driver) == (b"a note",)


def test_a_head_may_be_large_and_refer_to_many_rows_in_any_order(driver):
    done = send(driver, "a", [str(n).encode() for n in range(1, 501)])
    ranges = (400, 450, 7, 7, 8, 9, 9, 8, 10, 10, 3, 2, 1, 1)
    head = b"\x00head" * 100_000
    change = Change(head=head, ranges=ranges, through=498)
    done = send(driver, "b", [], expected=done.now.version, change=change)
    assert done.changed
    reading = run(driver.backend.view(KEY), driver)
    assert reading.head == head
    assert [row.seq for row in reading.rows] == [*range(400, 451), 7, 8, 9, 10, 1, 499, 500]


def test_a_purge_takes_the_bytes_of_what_it_empties_off_the_size(driver):
    done = send(driver, "a", [b"x" * 10, b"y" * 100, b"z" * 1_000])
    change = Change(head=b"h", ranges=(), through=3, purge=(2, 2, 3, 99))
    send(driver, "b", [b"1"], expected=done.now.version, change=change)
    (listed,) = run(driver.backend.sessions("acme"), driver)
    assert listed.bytes == 10
    rows = run(driver.backend.rows(KEY, 1, 9), driver)
    assert [(row.meta, row.payload) for row in rows] == [
        (b"meta", b"x" * 10),
        (b"", b""),
        (b"", b""),
        (b"", b""),
    ]


# --- whole or not at all -------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["append", "set_key", "event", "make_head", "purge"])
def test_a_commit_that_fails_anywhere_leaves_nothing_behind(driver, tmp_path: Path, statement: str):
    first = send(driver, "a", [b"kept"])
    before = (tables(tmp_path / "chat.db"), run(driver.backend.view(KEY), driver))
    table, event = {
        "append": ("rows", "INSERT"),
        "set_key": ("keys", "INSERT"),
        "event": ("events", "INSERT"),
        "make_head": ("heads", "INSERT"),
        "purge": ("rows", "UPDATE"),
    }[statement]
    run_sql(
        tmp_path,
        f"CREATE TRIGGER refuse BEFORE {event} ON lockstitch_{table} "
        "BEGIN SELECT raise(ABORT, 'refused'); END",
    )
    change = Change(head=b"h", ranges=(1, 1), through=1, event=b"cut", purge=(1, 1))
    with pytest.raises(Exception, match="SQLite refused: refused"):
        send(
            driver,
            "b",
            expected=first.now.version,
            idempotency="key",
            note=b"note",
            change=change,
        )
    run_sql(tmp_path, "DROP TRIGGER refuse")
    assert (tables(tmp_path / "chat.db"), run(driver.backend.view(KEY), driver)) == before
    assert send(driver, "b", expected=first.now.version, change=change).changed


def run_sql(tmp_path: Path, statement: str) -> None:
    connection = sqlite3.connect(tmp_path / "chat.db", isolation_level=None)
    connection.execute(statement)
    connection.close()
