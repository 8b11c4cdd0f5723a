"""The PostgreSQL backend when something breaks: nothing is lost, doubled, half done or hidden."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from itertools import chain, count
from urllib.parse import quote

import psycopg
import psycopg_pool
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from lockstitch.errors import StoreError, StoreUnavailable
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.postgres import connect, connect_async
from lockstitch.stores.postgres.failures import failure
from lockstitch.stores.postgres.watching import Watch
from lockstitch.stores.running import awaited, run

KEY = Key("acme", "user-42")
_schemas = count()


@pytest.fixture
def schema() -> str:
    return f"failures_{next(_schemas)}"


def commit(mark: str = "mark", payloads=(b"1", b"2"), **rest) -> Commit:
    rows = tuple(Row(b"meta", payload) for payload in payloads)
    return Commit(key=KEY, mark=mark, rows=rows, epoch="epoch", **rest)


def send(driver, mark: str = "mark", payloads=(b"1", b"2"), **rest):
    return run(driver.backend.commit(commit(mark, payloads, **rest)), driver)


def read(driver) -> list[bytes | None]:
    return [row.payload for row in run(driver.backend.view(KEY), driver).rows]


def patiently(work, seconds: float = 30):
    """As sessions do: again for as long as the error says that this may help."""
    until = time.monotonic() + seconds
    while True:
        try:
            return work()
        except StoreUnavailable:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


# --- lost replies --------------------------------------------------------------------------------


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("received", [1, 20, 60, 100])
def test_a_commit_whose_reply_is_lost_is_stored_once(postgres, schema, tcp_proxy, received, reset):
    proxy = tcp_proxy(postgres)
    # With a single connection: what is cut is not another one that the pool is just making.
    driver = connect(proxy.url, schema=schema, max_size=1)
    known = send(driver, "begin").now.version
    for expected in (known, None):
        mark = f"mark of {expected}"
        proxy.cut_after(received=received, reset=reset)
        with pytest.raises(StoreUnavailable, match="PostgreSQL failed to append"):
            send(driver, mark, expected=expected)
        again = patiently(lambda: send(driver, mark, expected=expected))  # noqa: B023
        assert again.outcome == "replayed"
        assert again.count == 2
    assert read(driver) == [b"1", b"2"] * 3
    driver.close()


@pytest.mark.parametrize("sent", [1, 50, 400])
def test_a_commit_that_breaks_off_on_its_way_is_stored_when_it_is_sent_again(
    postgres, schema, tcp_proxy, sent
):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url, schema=schema, max_size=1)
    send(driver, "begin")
    proxy.cut_after(sent=sent)
    with pytest.raises(StoreUnavailable):
        send(driver, "mark", [b"x" * 5_000])
    assert patiently(lambda: send(driver, "mark", [b"x" * 5_000])).outcome == "stored"
    driver.close()


def test_a_reply_that_is_lost_while_it_is_awaited_is_stored_once(postgres, schema, tcp_proxy):
    proxy = tcp_proxy(postgres)

    async def main():
        driver = connect_async(proxy.url, schema=schema, max_size=1)
        await awaited(driver.backend.commit(commit("begin")), driver)
        proxy.cut_after(received=10)
        with pytest.raises(StoreUnavailable):
            await awaited(driver.backend.commit(commit()), driver)
        again = await awaited(driver.backend.commit(commit()), driver)
        assert again.outcome == "replayed"
        await driver.aclose()

    asyncio.run(main())


# --- servers that go away ------------------------------------------------------------------------


@pytest.mark.parametrize("lent", [False, True])
def test_connections_that_ended_while_nobody_used_them_are_never_noticed(postgres_server, lent):
    with postgres_server() as server:
        pool = ConnectionPool(server.url, min_size=4, max_size=4, open=True) if lent else None
        driver = connect(pool or server.url, max_size=4)
        barrier = threading.Barrier(4)

        def fill(at: int) -> None:
            barrier.wait()
            send(driver, f"fill {at}")

        threads = [threading.Thread(target=fill, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.restart()
        for number in range(8):
            assert send(driver, f"after {number}").outcome == "stored"
        assert len(read(driver)) == 24
        driver.close()
        if pool is not None:
            pool.close()


def test_connections_that_ended_are_never_noticed_by_those_who_await(postgres_server):
    with postgres_server() as server:

        async def main():
            driver = connect_async(server.url)
            marks = [commit(f"fill {at}") for at in range(8)]
            await asyncio.gather(*(awaited(driver.backend.commit(one), driver) for one in marks))
            await asyncio.to_thread(server.restart)
            for number in range(8):
                sent = commit(f"after {number}")
                assert (await awaited(driver.backend.commit(sent), driver)).outcome == "stored"
            await driver.aclose()

        asyncio.run(main())


def test_what_the_server_says_unasked_does_not_cost_a_connection(postgres, schema):
    with ConnectionPool(postgres, min_size=1, max_size=1, open=True) as pool:
        driver = connect(pool, schema=schema)
        send(driver, "begin")
        with pool.connection() as connection:
            connection.execute("LISTEN told")
            process = connection.info.backend_pid
        with psycopg.connect(postgres, autocommit=True) as other:
            other.execute("NOTIFY told, 'something'")
        time.sleep(0.1)
        assert send(driver, "mark").outcome == "stored"
        with pool.connection() as connection:
            assert connection.info.backend_pid == process

    async def main():
        async with AsyncConnectionPool(postgres, min_size=1, max_size=1, open=False) as pool:
            driver = connect_async(pool, schema=schema)
            async with pool.connection() as connection:
                await connection.execute("LISTEN told")
            with psycopg.connect(postgres, autocommit=True) as other:
                other.execute("NOTIFY told, 'something'")
            await asyncio.sleep(0.1)
            await awaited(driver.backend.commit(commit("more")), driver)

    asyncio.run(main())


def test_a_server_that_crashes_under_load_loses_nothing_and_doubles_nothing(postgres_server):
    with postgres_server() as server:
        driver = connect(server.url, max_size=4)
        send(driver, "begin", [b"begin"])
        stop = threading.Event()
        stored: list[list[bytes]] = [[] for _ in range(4)]
        wrong: list[BaseException] = []

        def load(at: int) -> None:
            version = None
            try:
                while not stop.is_set():
                    mark = f"{at}.{len(stored[at])}"
                    ask = partial(send, driver, mark, [mark.encode()], expected=version)
                    version = patiently(ask).now.version
                    stored[at].append(mark.encode())
            except BaseException as error:  # noqa: BLE001 - the test tells it
                wrong.append(error)

        threads = [threading.Thread(target=load, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            time.sleep(0.4)
            server.restart()
        time.sleep(0.4)
        stop.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert all(len(ours) > 5 for ours in stored)
        # Of the record: on a fast machine there are more rows than a view is read with.
        newest = run(driver.backend.view(KEY), driver).version.seq
        rows = run(driver.backend.rows(KEY, 1, newest), driver)
        assert [row.seq for row in rows] == list(range(1, newest + 1))
        assert sorted(row.payload for row in rows) == sorted(
            [b"begin", *chain.from_iterable(stored)]
        )
        driver.close()


def test_a_server_that_is_not_there_is_unavailable_at_once_and_says_why(tcp_proxy, postgres):
    proxy = tcp_proxy(postgres)
    proxy.refuse()
    driver = connect(proxy.url)
    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="refused"):
        send(driver)
    assert time.monotonic() - began < 5
    proxy.restore()
    send(driver)
    driver.close()

    async def main():
        proxy.refuse()
        driver = connect_async(proxy.url)
        with pytest.raises(StoreUnavailable, match="refused"):
            await awaited(driver.backend.commit(commit()), driver)
        await driver.aclose()

    asyncio.run(main())


def test_a_server_that_went_away_is_unavailable_and_says_why(tcp_proxy, postgres, schema):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url, schema=schema, timeout=0.5)
    send(driver, "begin")
    proxy.refuse()
    with pytest.raises(StoreUnavailable, match="refused"):
        send(driver)
    proxy.restore()
    assert patiently(lambda: send(driver)).outcome == "stored"
    driver.close()

    async def main():
        driver = connect_async(proxy.url, schema=schema, timeout=0.5)
        await awaited(driver.backend.view(KEY), driver)
        proxy.refuse()
        with pytest.raises(StoreUnavailable, match="refused"):
            await awaited(driver.backend.view(KEY), driver)
        await driver.aclose()

    asyncio.run(main())


def test_a_database_that_is_not_there_is_named(postgres):
    driver = connect(postgres.rpartition("/")[0] + "/nowhere")
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        send(driver)
    driver.close()


# --- servers that say nothing --------------------------------------------------------------------


def test_a_server_that_says_nothing_is_given_up(tcp_proxy, postgres, schema):
    proxy = tcp_proxy(postgres)
    driver = connect(proxy.url, schema=schema, timeout=0.5)
    known = send(driver, "begin").now.version
    for number in range(2):
        proxy.stall()
        began = time.monotonic()
        with pytest.raises(StoreUnavailable, match=r"no answer to append within 0\.5 seconds"):
            send(driver, f"mark{number}", expected=known)
        assert 0.4 < time.monotonic() - began < 3
        proxy.restore()
        patiently(lambda: send(driver, f"mark{number}", expected=known))  # noqa: B023
    assert len(read(driver)) == 6
    driver.close()


def test_a_server_that_says_nothing_is_given_up_by_those_who_await(tcp_proxy, postgres, schema):
    proxy = tcp_proxy(postgres)

    async def main():
        driver = connect_async(proxy.url, schema=schema, timeout=0.5)
        await awaited(driver.backend.commit(commit("begin")), driver)
        proxy.stall()
        with pytest.raises(StoreUnavailable, match=r"no answer to append within 0\.5 seconds"):
            await awaited(driver.backend.commit(commit()), driver)
        proxy.restore()
        await awaited(driver.backend.commit(commit()), driver)
        assert len((await awaited(driver.backend.view(KEY), driver)).rows) == 4
        await driver.aclose()

    asyncio.run(main())


def test_without_a_timeout_an_answer_may_take_long(postgres, schema):
    driver = connect(postgres, schema=schema, timeout=None)
    send(driver, "begin")
    with psycopg.connect(postgres) as other:
        other.execute(f"SELECT * FROM {schema}.lockstitch_sessions FOR UPDATE")  # noqa: S608
        timer = threading.Timer(0.3, other.rollback)
        timer.start()
        assert send(driver).outcome == "stored"
        timer.join()
    driver.close()

    async def main():
        driver = connect_async(postgres, schema=schema, timeout=None)
        await awaited(driver.backend.commit(commit("more")), driver)
        await driver.aclose()

    asyncio.run(main())


def test_an_awaited_commit_that_is_cancelled_leaves_the_pool_as_it_was(postgres, schema):
    async def main():
        driver = connect_async(postgres, schema=schema, max_size=1)
        await awaited(driver.backend.commit(commit("begin")), driver)
        async with await psycopg.AsyncConnection.connect(postgres) as other:
            await other.execute(f"SELECT * FROM {schema}.lockstitch_sessions FOR UPDATE")  # noqa: S608
            waits = asyncio.create_task(awaited(driver.backend.commit(commit()), driver))
            await asyncio.sleep(0.2)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits
        assert (await awaited(driver.backend.commit(commit()), driver)).outcome == "stored"
        await driver.aclose()

    asyncio.run(main())


def test_the_thread_that_watches_goes_when_nothing_is_sent(postgres, schema):
    def watching() -> int:
        return sum("postgres-watch" in thread.name for thread in threading.enumerate())

    before = watching()
    driver = connect(postgres, schema=schema, timeout=0.2)
    send(driver)
    assert watching() == before + 1
    until = time.monotonic() + 5
    while watching() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert watching() == before
    send(driver)
    assert watching() == before + 1
    driver.close()
    assert watching() == before


FORKS = """
import os, sys
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.postgres import connect
from lockstitch.stores.running import run

def send(mark):
    sent = Commit(key=Key(None, "forks"), mark=mark, rows=(Row(b"", mark.encode()),), epoch="epoch")
    assert run(driver.backend.commit(sent), driver).outcome == "stored"

driver = connect(sys.argv[1], schema=sys.argv[2])
send("before")
children = []
for child in range(4):
    process = os.fork()
    if not process:
        for number in range(25):
            send(f"child {child} {number}")
        driver.close()
        os._exit(0)
    children.append(process)
for number in range(25):
    send(f"parent {number}")
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
send("after")
print(len(run(driver.backend.view(Key(None, "forks")), driver).rows))
driver.close()
"""


def test_a_process_that_was_forked_has_connections_of_its_own(postgres, schema):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, postgres, schema]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("127\n", "")


def test_what_a_forked_process_takes_over_is_left_alone(postgres, schema, monkeypatch):
    with ConnectionPool(postgres, min_size=1, open=True) as pool:
        for client in (postgres, pool):
            driver = connect(client, schema=schema)
            send(driver, f"before {client}")
            inherited = driver._lender
            monkeypatch.setattr(driver, "_process", -1)  # as if it had been forked
            assert send(driver, f"after {client}").outcome == "stored"
            assert (driver._lender is inherited) is (client is pool)
            driver.close()
            inherited.close()
    # What was in the other process is not closed by this one: here the test has done so.


class _Scripted(dict):
    """Says that it holds something when the test says so."""

    def __init__(self, *answers: bool):
        super().__init__()
        self.answers = list(answers)

    def __bool__(self) -> bool:
        return self.answers.pop(0) if self.answers else False


def test_what_begins_when_the_thread_is_about_to_go_is_watched_by_another():
    watch = Watch(0.01)
    watch._deadlines = _Scripted(False, False, True)  # the last is asked when it has gone
    watch._run()
    assert watch._thread is not None
    watch._start()  # there is one already
    watch._thread.join(5)
    assert watch._thread is None
    watch.close()


def test_a_connection_is_ended_when_its_time_is_over_and_not_when_it_has_come_back(postgres):
    watch = Watch(60)
    with psycopg.connect(postgres) as late, psycopg.connect(postgres) as back:
        watch._deadlines = {back: 0.0, late: 0.0}
        end = watch.end
        watch.end = lambda one: end(one) and one is late  # it has just been taken out
        watch._next()
        assert back.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError):
            late.execute("SELECT 1")
    watch.close()


# --- what the server refuses ---------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["statement_timeout", "lock_timeout"])
def test_a_lock_that_is_not_had_in_time_is_unavailable(postgres, schema, setting):
    first = connect(postgres, schema=schema)
    send(first, "begin")
    first.close()
    driver = connect(f"{postgres}?options={quote(f'-c {setting}=100')}", schema=schema)
    with psycopg.connect(postgres) as other:
        other.execute(f"SELECT * FROM {schema}.lockstitch_sessions FOR UPDATE")  # noqa: S608
        with pytest.raises(StoreUnavailable, match="timeout"):
            send(driver)
    assert send(driver).outcome == "stored"
    driver.close()


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_stricter_isolation_may_have_to_try_again_and_is_right_all_the_same(
    postgres, schema, level
):
    options = quote(f"-c default_transaction_isolation={level}".replace(" r", "\\ r"))
    driver = connect(f"{postgres}?options={options}", schema=schema, max_size=4)
    patiently(lambda: send(driver, "begin"))

    def work(at: int) -> None:
        for number in range(10):
            patiently(lambda: send(driver, f"{at}.{number}"))  # noqa: B023

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read(driver)) == 82
    driver.close()


def test_a_pool_that_has_no_connection_left_is_unavailable(postgres, schema):
    with ConnectionPool(postgres, min_size=1, max_size=1, timeout=0.2, open=True) as pool:
        driver = connect(pool, schema=schema)
        send(driver)
        with pool.connection(), pytest.raises(StoreUnavailable, match="couldn't get a connection"):
            send(driver)
        assert len(read(driver)) == 2


def test_a_driver_that_was_closed_stays_closed(postgres, schema):
    for ask_first in (True, False):
        driver = connect(postgres, schema=schema)
        if ask_first:
            send(driver)
        driver.close()
        driver.close()
        with pytest.raises(StoreError, match="pool") as caught:
            send(driver)
        assert not caught.value.retryable

    async def main():
        driver = connect_async(postgres, schema=schema)
        await driver.aclose()
        with pytest.raises(StoreError, match="pool"):
            await awaited(driver.backend.view(KEY), driver)

    asyncio.run(main())


def test_a_connection_that_was_lent_and_broke_is_not_asked_again(postgres_server):
    with postgres_server() as server:
        connection = psycopg.connect(server.url)
        driver = connect(connection)
        send(driver, "begin")
        server.restart()
        with pytest.raises(StoreUnavailable):
            send(driver)
        with pytest.raises(StoreError, match="lend a pool to have connections replaced") as caught:
            send(driver)
        assert not caught.value.retryable
        driver.close()
        connection.close()


def test_a_transaction_that_has_failed_is_named(postgres, schema):
    with psycopg.connect(postgres) as connection:
        driver = connect(connection, schema=schema)
        send(driver)
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0")
        with pytest.raises(StoreError, match="roll it back"):
            send(driver, "more")
        connection.rollback()
        assert len(read(driver)) == 2


class _Error(Exception):
    """Stands for an error of psycopg's."""


def _error(kind: type[Exception], code: str | None, text: str = "said the server") -> Exception:
    error = kind(f"{text}\nDETAIL: what nobody should read")
    error.sqlstate = code
    return error


@pytest.mark.parametrize("code", ["08006", "40001", "40P01", "55P03", "57P01", "57P03", "57014"])
@pytest.mark.parametrize("more", ["53300", "53200", "25P03", "25P04"])
def test_what_passes_is_unavailable(code: str, more: str):
    for one in (code, more):
        assert isinstance(failure(_error(_Error, one), "append"), StoreUnavailable)


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("53100", "disk is full"),
        ("25006", "connect to the primary"),
        ("42501", "grant it"),
        ("58030", "look into its log"),
        ("3D000", "the database is not there"),
        ("57P04", "SQLSTATE 57P04"),
        ("XX000", "SQLSTATE XX000"),
    ],
)
def test_what_does_not_pass_says_what_to_do(code: str, remedy: str):
    found = failure(_error(_Error, code), "append")
    assert type(found) is StoreError
    assert remedy in str(found)
    assert "said the server" in str(found)
    assert "nobody should read" not in str(found)


def test_an_error_without_a_code_is_of_the_connection_or_of_the_caller():
    unavailable = failure(_error(psycopg.OperationalError, None), "view")
    assert isinstance(unavailable, StoreUnavailable)
    for kind in (psycopg.InterfaceError, psycopg_pool.PoolClosed):
        assert not failure(_error(kind, None), "view").retryable


def test_whatever_else_the_server_refuses_has_its_cause(postgres, schema):
    with psycopg.connect(postgres, autocommit=True) as connection:
        driver = connect(connection, schema=schema)
        send(driver)
        connection.execute(
            f"ALTER TABLE {schema}.lockstitch_rows ADD CHECK (octet_length(payload) < 9)"
        )
        with pytest.raises(StoreError, match="SQLSTATE 23514") as caught:
            send(driver, "more", [b"too long for it"])
        assert isinstance(caught.value.__cause__, psycopg.Error)
        assert not caught.value.retryable
        assert len(read(driver)) == 2
