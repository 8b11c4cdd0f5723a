"""The PostgreSQL backend: what the model says nothing of, or the draws do not come to."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from lockstitch.stores.base import LOOK_BACK, TAIL, Change, Commit, Committed, Key, Row, Version
from lockstitch.stores.postgres import PostgresDriver, connect
from lockstitch.stores.postgres.backend import _SWEPT_AT_ONCE
from lockstitch.stores.running import run

KEY = Key("acme", "user-42")
ODD = ["", "~", "%", "a:b", "a%3Ab", "é", "e\u0301", "\x00", "a\x00b", "\ud83d", "\U0001f600", "A"]
ODD += ["a", "a" * 399, "a" * 400, "a" * 401, "a" * 5_000, "é" * 9_000, "' OR 1=1 --", "_", "*"]
_schemas = count()


@pytest.fixture
def schema(postgres: str):
    name = f"backend_{next(_schemas)}"
    yield name
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.fixture
def driver(postgres: str, schema: str):
    driver = connect(postgres, schema=schema)
    yield driver
    driver.close()


def asked(postgres: str, sql: str) -> list[tuple]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        return connection.execute(sql).fetchall()


def tables(postgres: str, schema: str) -> dict[str, int]:
    return {
        name: asked(postgres, f"SELECT count(*) FROM {schema}.lockstitch_{name}")[0][0]  # noqa: S608
        for name in ("sessions", "ids", "rows", "keys", "events")
    }


def due_as_it_expires(postgres: str, schema: str) -> bool:
    table = f"{schema}.lockstitch_"
    found = asked(
        postgres,
        "SELECT s.due = i.due AND s.due = floor(extract(epoch FROM s.expires) / 3600) "  # noqa: S608
        f"FROM {table}sessions AS s JOIN {table}ids AS i USING (name)",
    )
    return found == [(True,)]


def send(driver, mark: str, payloads=(b"{}",), key: Key = KEY, **rest) -> Committed:
    rows = tuple(Row(b"meta", payload) for payload in payloads)
    sent = Commit(key=key, mark=mark, rows=rows, epoch=f"epoch of {mark}", **rest)
    return run(driver.backend.commit(sent), driver)


def view(driver, key: Key = KEY, known: Version | None = None):
    return run(driver.backend.view(key, known), driver)


def payloads_of(driver, key: Key = KEY) -> list[bytes | None]:
    return [row.payload for row in view(driver, key).rows]


# --- names ---------------------------------------------------------------------------------------


def test_odd_ids_of_odd_tenants_are_all_sessions_of_their_own(driver):
    tenants = [None, "", "~", "acme", "acme:user", "\x00", "t" * 500]
    keys = [Key(tenant, one) for tenant in tenants for one in ODD]
    for number, key in enumerate(keys):
        assert send(driver, f"mark{number}", [str(number).encode()], key).count == 1
    for number, key in enumerate(keys):
        assert payloads_of(driver, key) == [str(number).encode()]
    for tenant in tenants:
        listed = run(driver.backend.sessions(tenant), driver)
        assert {one.key for one in listed} == {Key(tenant, one) for one in ODD}
        paged, after = [], None
        while page := run(driver.backend.sessions(tenant, after=after, limit=4), driver):
            paged += page
            after = page[-1].key.id
        assert paged == list(listed)


def test_a_list_by_prefix_takes_prefixes_of_any_length(driver):
    for one in ODD:
        send(driver, "mark", key=Key("acme", one))
    for prefix in (*ODD, "a" * 402, "é" * 300):
        found = run(driver.backend.sessions("acme", prefix), driver)
        assert {one.key.id for one in found} == {one for one in ODD if one.startswith(prefix)}


@pytest.mark.parametrize("key", ["turn", "", "\x00", "a\ud83d", "k" * 100_000])
def test_a_key_of_the_caller_may_be_any_text(driver, key: str):
    first = send(driver, "mark1", [b"1", b"2"], idempotency=key)
    again = send(driver, "mark2", [b"3"], idempotency=key)
    other = send(driver, "mark3", [b"4"], idempotency=f"{key}!")
    assert (first.outcome, again.outcome, other.outcome) == ("stored", "replayed", "stored")
    assert (again.first, again.count) == (1, 2)


@pytest.mark.parametrize("odd", ["a'b\"c", "\x00", "\ud83d", "ü%s", "m" * 3_000])
def test_marks_and_epochs_may_be_any_text(driver, odd: str):
    sent = Commit(key=KEY, mark=odd, rows=(Row(b"", b"1"),), epoch=odd)
    first = run(driver.backend.commit(sent), driver)
    assert first.now.version == Version(odd, 0, 1)
    again = run(driver.backend.commit(sent), driver)
    assert again.outcome == "replayed"
    assert [row.mark for row in (*again.now.rows, *view(driver).rows)] == [odd, odd]
    more = send(driver, odd + "2", expected=first.now.version)
    assert more.now.version == Version(odd, 0, 2)


# --- replays -------------------------------------------------------------------------------------


def test_a_commit_that_knows_no_version_is_found_among_the_newest_rows(driver):
    send(driver, "sought", [b"1", b"2"])
    known = send(driver, "others", [b"{}"] * (LOOK_BACK - 1)).now.version
    again = send(driver, "sought", [b"1", b"2"])
    assert (again.outcome, again.first, again.count) == ("replayed", 2, 1)
    send(driver, "another", expected=known)
    assert send(driver, "sought", [b"1", b"2"]).outcome == "stored"


def test_a_commit_that_knows_its_version_is_found_however_far_back(driver):
    known = send(driver, "begin").now.version
    send(driver, "sought", [b"1", b"2"], expected=known)
    send(driver, "others", [b"{}"] * 1_000)
    again = send(driver, "sought", [b"1", b"2"], expected=known)
    assert (again.outcome, again.first, again.count) == ("replayed", 2, 2)


# --- sizes ---------------------------------------------------------------------------------------


def test_a_payload_of_twenty_megabytes_comes_back_whole(driver):
    large = bytes(range(256)) * 80_000
    send(driver, "mark", [b"small", large])
    assert payloads_of(driver) == [b"small", large]
    (listed,) = run(driver.backend.sessions("acme"), driver)
    assert listed.bytes == len(large) + 5


def test_a_hundred_thousand_rows_are_read_in_order_and_appended_to_at_once(driver):
    version = send(driver, "begin").now.version
    for number in range(10):
        batch = [b"%d" % at for at in range(10_000)]
        version = send(driver, f"mark{number}", batch, expected=version).now.version
    assert version is not None
    assert version.seq == 100_001
    assert [row.seq for row in view(driver).rows] == list(range(100_002 - TAIL, 100_002))
    rows = run(driver.backend.rows(KEY, 1, 200_000), driver)
    assert [row.seq for row in rows] == list(range(1, 100_002))
    assert rows[50_000].payload == b"9999"
    began = time.perf_counter()
    for number in range(20):
        done = send(driver, f"after{number}", expected=version)
        version = done.now.version
        assert done.now.rows == ()
    assert time.perf_counter() - began < 5  # it would take seconds each if it went over the rows


def test_what_a_cut_leaves_in_its_head_comes_in_the_order_of_the_head(postgres, schema):
    with psycopg.connect(postgres, autocommit=True) as connection:
        driver = connect(connection, schema=schema)
        known = send(driver, "rows", [b"%d" % at for at in range(1, 41)]).now.version
        change = Change(head=b"head", ranges=(30, 32, 2, 3, 30, 31), through=35)
        run(
            driver.backend.commit(Commit(key=KEY, mark="cut", expected=known, change=change)),
            driver,
        )
        wanted = [30, 31, 32, 2, 3, 30, 31, 36, 37, 38, 39, 40]
        for plan in ("nestloop", "hashjoin", "indexscan", "bitmapscan"):
            connection.execute(f"SET enable_{plan} = off")
            assert [row.seq for row in view(driver).rows] == wanted
            seen = send(driver, "nothing", (), look=True).now
            assert [row.seq for row in seen.rows] == wanted
            assert seen.head == b"head"


# --- one statement -------------------------------------------------------------------------------


def test_every_operation_is_one_round_trip(postgres, schema, tcp_proxy):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url, schema=schema)
    version = send(driver, "first").now.version
    change = Change(head=b"h", ranges=(), through=1, event=b"e", purge=(1, 1))
    backend = driver.backend
    sent = Commit(
        key=KEY,
        mark="all",
        expected=version,
        rows=(Row(b"m", b"p"),) * 3,
        idempotency="key",
        change=change,
        note=b"note",
        settings=b"settings",
        ttl=1_000,
    )
    for effect in (
        lambda: backend.commit(Commit(key=KEY, mark="2", rows=(Row(b"m", b"p" * 9_000),) * 9)),
        lambda: backend.commit(sent),
        lambda: backend.commit(sent),
        lambda: backend.commit(Commit(key=Key(None, "new"), mark="3", rows=(Row(b"m", b"p"),))),
        lambda: backend.view(KEY),
        lambda: backend.rows(KEY, 1, 3),
        lambda: backend.events(KEY),
        lambda: backend.sessions("acme"),
        lambda: backend.touch(KEY, 9),
        lambda: backend.delete(KEY),
        backend.sweep,
    ):
        with proxy.counting() as seen:
            run(effect(), driver)
        assert seen.round_trips == 1
        assert seen.connections == 0
    driver.close()


def test_an_append_that_finds_nothing_new_is_replied_in_a_few_bytes(postgres, schema, tcp_proxy):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url, schema=schema)
    version = send(driver, "first", [b"x" * 5_000] * 50, settings=b"settings").now.version
    for number in range(10):  # until it is prepared
        version = send(driver, f"mark{number}", expected=version).now.version
    with proxy.counting() as seen:
        send(driver, "last", expected=version)
    assert seen.received < 120
    with proxy.counting() as seen:
        send(driver, "blind", look=False)
    assert seen.received < 250
    driver.close()


# --- time ----------------------------------------------------------------------------------------


def test_an_expired_session_is_absent_for_every_operation(driver):
    backend = driver.backend
    known = send(driver, "mark1", note=b"note", ttl=0.05, idempotency="key").now.version
    assert view(driver).expires == pytest.approx(time.time(), abs=60)
    time.sleep(0.1)
    assert view(driver).version is None
    assert run(backend.rows(KEY, 1, 9), driver) == ()
    assert run(backend.events(KEY), driver) == ()
    assert run(backend.sessions("acme"), driver) == ()
    assert run(backend.touch(KEY, 100), driver) is False
    assert send(driver, "mark2", (), note=b"note").outcome == "gone"
    assert send(driver, "mark3", expected=known, exclusive=True).outcome == "conflict"
    made = send(driver, "mark1", [b"new"], idempotency="key", expected=known)
    assert (made.outcome, made.first, made.now.expires) == ("stored", 1, None)
    assert made.now.version == Version("epoch of mark1", 0, 1)
    assert payloads_of(driver) == [b"new"]
    assert run(backend.events(KEY), driver) == ()


def test_deleting_an_expired_session_deletes_nothing_that_was_there(driver, postgres, schema):
    send(driver, "mark", ttl=0.01)
    time.sleep(0.05)
    assert run(driver.backend.delete(KEY), driver) is False
    assert set(tables(postgres, schema).values()) == {0}


def test_an_append_lets_the_time_begin_anew_and_touching_does_too(driver):
    version = send(driver, "mark1", ttl=0.6).now.version
    for number in range(3):
        time.sleep(0.3)
        version = send(driver, f"mark{number + 2}", expected=version).now.version
        assert version is not None
    for _ in range(3):
        time.sleep(0.3)
        assert run(driver.backend.touch(KEY), driver)
    assert run(driver.backend.touch(KEY, 0), driver)
    assert view(driver).expires is None
    time.sleep(0.7)
    assert len(payloads_of(driver)) == 4


@pytest.mark.parametrize("ttl", [1e8, 1e12, 1e300, float("inf")])
def test_a_ttl_may_be_longer_than_servers_can_add(driver, ttl: float):
    expires = send(driver, "mark", ttl=ttl).now.expires
    assert expires is not None
    assert expires > time.time() + 9e7
    assert run(driver.backend.touch(KEY, ttl), driver)
    assert run(driver.backend.sweep(), driver) == 0


def test_sweeping_removes_what_has_expired_with_all_that_belongs_to_it(driver, postgres, schema):
    total = _SWEPT_AT_ONCE + 7
    send(driver, "keep", key=Key(None, "stays"), ttl=10_000, note=b"n", idempotency="k")
    send(driver, "keep", key=Key(None, "for ever"))
    for number in range(total):
        send(
            driver,
            "mark",
            key=Key(None, str(number)),
            ttl=0.001,
            note=b"note",
            idempotency="key",
        )
    send(driver, "touched", key=Key(None, "touched"), ttl=0.2)
    run(driver.backend.touch(Key(None, "touched"), 10_000), driver)
    time.sleep(0.3)
    assert run(driver.backend.sweep(), driver) == total
    assert run(driver.backend.sweep(), driver) == 0
    assert tables(postgres, schema) == {
        "sessions": 3,
        "ids": 3,
        "rows": 3,
        "keys": 1,
        "events": 1,
    }


def test_a_session_is_swept_though_its_time_was_often_moved(driver, postgres, schema):
    version = send(driver, "mark0", ttl=50_000).now.version
    for number in range(1, 4):
        version = send(driver, f"mark{number}", expected=version, ttl=50_000 * number).now.version
    run(driver.backend.touch(KEY, 200_000), driver)
    assert due_as_it_expires(postgres, schema)
    run(driver.backend.touch(KEY, 0.001), driver)
    assert due_as_it_expires(postgres, schema)
    time.sleep(0.02)
    assert run(driver.backend.sweep(), driver) == 1


def test_an_append_moves_the_hour_in_which_a_session_expires(driver, postgres, schema):
    version = send(driver, "mark", ttl=7_200).now.version
    with psycopg.connect(postgres, autocommit=True) as connection:
        for table in ("sessions", "ids"):  # as if it had been written some hours ago
            connection.execute(f"UPDATE {schema}.lockstitch_{table} SET due = due - 3")  # noqa: S608
    send(driver, "mark2", expected=version)
    assert due_as_it_expires(postgres, schema)


# --- at once -------------------------------------------------------------------------------------


def _all_at_once(work, number: int = 8) -> list:
    barrier = threading.Barrier(number)

    def start(at: int):
        barrier.wait()
        return work(at)

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(start, range(number)))


@pytest.mark.parametrize("there", [True, False], ids=["there", "not there yet"])
@pytest.mark.parametrize("which", ["postgres", "postgres_machine"])
def test_eight_writers_to_one_session_lose_nothing_and_double_nothing(request, which, there):
    url = request.getfixturevalue(which)
    driver = connect(url, schema="at_once", max_size=8)
    for attempt in range(10):
        key = Key("at once", f"{there} {attempt}")
        if there:
            send(driver, "begin", key=key)

        def write(at: int, key=key) -> Version | None:
            version = None
            for number in range(10):
                payloads = [f"{at}.{number}.{one}".encode() for one in range(2)]
                done = send(driver, f"mark {at} {number}", payloads, key, expected=version)
                assert done.outcome == "stored"
                version = done.now.version
            return version

        versions = _all_at_once(write)
        assert len({version.epoch for version in versions if version}) == 1
        rows = view(driver, key).rows
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        wanted = {
            f"{at}.{n}.{one}".encode() for at in range(8) for n in range(10) for one in (0, 1)
        }
        assert len(rows) == len(wanted) + there
        assert {row.payload for row in rows} - {b"{}"} == wanted
    run(driver.backend.delete(key), driver)
    driver.close()


def test_of_eight_that_want_a_session_for_themselves_one_has_it(driver):
    for attempt in range(10):
        key = Key(None, str(attempt))
        known = send(driver, "begin", key=key).now.version if attempt % 2 else None
        done = _all_at_once(
            lambda at: send(driver, f"m{at}", key=key, expected=known, exclusive=True)  # noqa: B023
        )
        assert sorted(one.outcome for one in done) == ["conflict"] * 7 + ["stored"]


def test_an_expired_session_is_replaced_once_by_eight_at_once(driver, postgres, schema):
    for attempt in range(10):
        key = Key(None, str(attempt))
        send(driver, "old", [b"old"] * 5, key, ttl=0.001, note=b"old")
        time.sleep(0.01)
        done = _all_at_once(lambda at: send(driver, f"mark{at}", key=key))  # noqa: B023
        assert {one.outcome for one in done} == {"stored"}
        assert len({one.now.version.epoch for one in done}) == 1
        assert sorted(one.first for one in done) == list(range(1, 9))
        assert payloads_of(driver, key) == [b"{}"] * 8
    assert tables(postgres, schema) == {
        "sessions": 10,
        "ids": 10,
        "rows": 80,
        "keys": 0,
        "events": 0,
    }


def test_deleting_sweeping_and_appending_at_once_leave_nothing_over(postgres, schema):
    driver = connect(postgres, schema=schema, max_size=8)

    def work(at: int) -> None:
        for number in range(40):
            if at < 2:
                run(driver.backend.delete(KEY), driver)
            elif at == 2:
                run(driver.backend.sweep(), driver)
            else:
                done = send(
                    driver,
                    f"{at}.{number}",
                    ttl=0.002 if number % 3 else 0,
                    note=b"note",
                    idempotency=f"{at}.{number}",
                )
                assert done.outcome == "stored"

    _all_at_once(work)
    run(driver.backend.delete(KEY), driver)
    assert set(tables(postgres, schema).values()) == {0}
    driver.close()


def test_the_same_commit_sent_by_eight_at_once_is_stored_once(driver):
    done = _all_at_once(lambda _: send(driver, "mark", [b"1", b"2"]))
    assert sorted(one.outcome for one in done) == ["replayed"] * 7 + ["stored"]
    assert {(one.first, one.count) for one in done} == {(1, 2)}
    assert payloads_of(driver) == [b"1", b"2"]


def test_a_pool_of_one_connection_serves_many_threads(postgres, schema):
    with ConnectionPool(postgres, min_size=1, max_size=1, open=True) as pool:
        driver = connect(pool, schema=schema)
        _all_at_once(lambda at: send(driver, f"mark{at}"))
        assert len(payloads_of(driver)) == 8


def test_one_connection_serves_many_threads_one_at_a_time(postgres, schema):
    with psycopg.connect(postgres) as connection:
        driver = connect(connection, schema=schema)
        _all_at_once(lambda at: send(driver, f"mark{at}"))
        assert len(payloads_of(driver)) == 8


def test_a_driver_takes_what_its_backend_is_called_from_the_backend(postgres, schema):
    driver = connect(postgres, schema=schema, prefix="mine_")
    assert isinstance(driver, PostgresDriver)
    send(driver, "mark")
    assert asked(postgres, f"SELECT count(*) FROM {schema}.mine_rows") == [(1,)]  # noqa: S608
    driver.close()
