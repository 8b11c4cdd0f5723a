"""Servers that die, refuse, stall, fail over and move slots: nothing is lost, doubled or halved."""

import asyncio
import contextlib
import threading
import time
import uuid

import pytest
import redis
from redis import asyncio as awaited_redis
from redis.asyncio.retry import Retry as AwaitedRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from lockstitch.errors import StoreError, StoreUnavailable
from lockstitch.stores.base import Commit, Key, Row
from lockstitch.stores.redis import AsyncRedisDriver, RedisDriver, connect, connect_async
from lockstitch.stores.redis.steps import Scan
from lockstitch.stores.running import awaited, run


def _commit(key, mark, *payloads, **options):
    rows = tuple(Row(b"meta", payload) for payload in payloads)
    return Commit(key=key, mark=mark, rows=rows, epoch=mark, **options)


def _do(driver, sent):
    return run(driver.backend.commit(sent), driver)


def _payloads(driver, key):
    return [row.payload for row in run(driver.backend.view(key), driver).rows]


def _insistently(driver, sent, seconds=20.0):
    until = time.monotonic() + seconds
    while True:
        try:
            return _do(driver, sent)
        except StoreUnavailable:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


@pytest.fixture
def key():
    return Key(uuid.uuid4().hex, "s")


# --- answers that are lost --------------------------------------------------------------------


@pytest.mark.parametrize("retries", [0, 3])
@pytest.mark.parametrize("way", ["sent", "received"])
def test_a_commit_that_is_cut_off_at_any_byte_is_stored_once(valkey, tcp_proxy, key, way, retries):
    proxy = tcp_proxy(valkey)
    retry = Retry(NoBackoff(), retries)
    with redis.Redis.from_url(proxy.url, retry=retry) as client:
        driver = RedisDriver(client)
        sizes = {"sent": range(1, 400, 40), "received": (1, 2, 40)}[way]
        for number, size in enumerate(sizes):
            client.ping()
            proxy.cut_after(**{way: size})
            done = _insistently(driver, _commit(key, f"mark{number}", b"%d" % number))
            assert (done.first, done.count) == (number + 1, 1)
            proxy.restore()
        assert proxy.traffic.cuts == len(sizes)
        assert _payloads(driver, key) == [b"%d" % number for number in range(len(sizes))]


@pytest.mark.parametrize("retries", [0, 3])
def test_an_awaited_commit_whose_answer_is_lost_is_stored_once(valkey, tcp_proxy, key, retries):
    proxy = tcp_proxy(valkey)

    async def go():
        retry = AwaitedRetry(NoBackoff(), retries)
        async with awaited_redis.Redis.from_url(proxy.url, retry=retry) as client:
            driver = AsyncRedisDriver(client)
            for number in range(5):
                await client.ping()
                proxy.cut_after(received=1)
                sent = _commit(key, f"mark{number}", b"1", b"2")
                for attempt in range(2):
                    with contextlib.suppress(StoreUnavailable):
                        done = await awaited(driver.backend.commit(sent), driver)
                        break
                    assert (attempt, retries) == (0, 0)
                assert (done.outcome, done.first, done.count) == ("replayed", 2 * number + 1, 2)
            return (await awaited(driver.backend.view(key), driver)).version

    assert asyncio.run(go()).seq == 10


def test_a_task_that_is_cancelled_leaves_a_connection_that_can_be_used(valkey, tcp_proxy, key):
    proxy = tcp_proxy(valkey)

    async def go():
        async with awaited_redis.Redis.from_url(proxy.url, max_connections=1) as client:
            driver = AsyncRedisDriver(client)
            await client.ping()
            proxy.stall()
            task = asyncio.create_task(
                awaited(driver.backend.commit(_commit(key, "a", b"a")), driver)
            )
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            proxy.restore()
            await awaited(driver.backend.commit(_commit(key, "b", b"b")), driver)
            again = await awaited(driver.backend.commit(_commit(key, "a", b"a")), driver)
            reading = await awaited(driver.backend.view(key), driver)
            return again, [row.payload for row in reading.rows]

    again, payloads = asyncio.run(go())
    assert again.count == 1
    assert sorted(payloads) == [b"a", b"b"]


@pytest.mark.parametrize("server", ["redis62", "valkey"])
def test_a_server_that_restarts_under_load_loses_and_doubles_nothing(redis_server, server):
    from servers.redis_servers import redis62_binary, valkey_binary

    binary = {"redis62": redis62_binary, "valkey": valkey_binary}[server]()
    if binary is None:
        pytest.skip("there is no such server here")
    durable = redis_server(binary, durable=True)
    stop, said = threading.Event(), {}
    keys = [Key("load", str(number)) for number in range(3)]

    def append(key):
        driver = connect(durable.url)
        said[key] = []
        while not stop.is_set():
            number = len(said[key])
            done = _insistently(driver, _commit(key, f"mark{number}", b"%d" % number, b"and"))
            assert (done.first, done.count) == (2 * number + 1, 2)
            said[key].append(number)
        driver.close()

    threads = [threading.Thread(target=append, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for _ in range(4):
        time.sleep(0.4)
        durable.restart()
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join(30)
    driver = connect(durable.url)
    for key in keys:
        assert len(said[key]) > 20
        expected = [part for number in said[key] for part in (b"%d" % number, b"and")]
        # Of the record: on a fast machine there are more rows than a view is read with.
        rows = run(driver.backend.rows(key, 1, len(expected) + 1), driver)
        assert [row.payload for row in rows] == expected
    driver.close()


# --- what servers say -------------------------------------------------------------------------


def test_a_server_that_is_not_there_is_unavailable(redis_server, key):
    server = redis_server()
    server.kill()
    driver = connect(server.url)
    with pytest.raises(StoreUnavailable) as caught:
        _do(driver, _commit(key, "m", b"1"))
    assert isinstance(caught.value.__cause__, redis.ConnectionError)
    server.start()
    assert _do(driver, _commit(key, "m", b"1")).outcome == "stored"
    driver.close()


def test_a_server_that_does_not_answer_in_time_is_unavailable(valkey, tcp_proxy, key):
    proxy = tcp_proxy(valkey)
    driver = connect(proxy.url, socket_timeout=0.5, retry=Retry(NoBackoff(), 0))
    proxy.stall()
    with pytest.raises(StoreUnavailable):
        _do(driver, _commit(key, "m", b"1"))
    proxy.restore()
    assert _do(driver, _commit(key, "m", b"1")).count == 1
    driver.close()

    async def go():
        retry = AwaitedRetry(NoBackoff(), 0)
        driver = connect_async(proxy.url, socket_timeout=0.5, retry=retry)
        proxy.stall()
        with pytest.raises(StoreUnavailable):
            await awaited(driver.backend.view(key), driver)
        proxy.restore()
        reading = await awaited(driver.backend.view(key), driver)
        await driver.aclose()
        return reading

    assert asyncio.run(go()).version.seq == 1


@pytest.mark.parametrize("server", ["redis62", "valkey"])
def test_a_server_without_memory_writes_nothing_and_says_what_to_do(redis_server, server, key):
    from servers.redis_servers import redis62_binary, valkey_binary

    binary = {"redis62": redis62_binary, "valkey": valkey_binary}[server]()
    if binary is None:
        pytest.skip("there is no such server here")
    full = redis_server(binary)
    driver = connect(full.url)
    _do(driver, _commit(key, "a", b"1"))
    with full.client() as client:
        client.config_set("maxmemory", "1")
        for sent in (
            _commit(key, "b", b"2", note=b"note", idempotency="turn"),
            _commit(key, "c", settings=b"other"),
            _commit(Key("t", "new"), "d", b"1"),
        ):
            with pytest.raises(StoreError, match="maxmemory") as caught:
                _do(driver, sent)
            assert not caught.value.retryable
        assert _payloads(driver, key) == [b"1"]
        client.config_set("maxmemory", "0")
    assert _payloads(driver, key) == [b"1"]
    reading = run(driver.backend.view(key), driver)
    assert (reading.version.seq, reading.settings) == (1, b"")
    assert run(driver.backend.events(key), driver) == ()
    assert run(driver.backend.delete(key), driver) is True
    driver.close()


def test_a_server_that_cannot_save_says_what_to_do(redis_server, key):
    server = redis_server(config={"save": "3600 1000", "dbfilename": "taken"})
    (server.folder / "taken").mkdir()
    driver = connect(server.url)
    with server.client() as client:
        client.bgsave()
        until = time.monotonic() + 10
        while client.info("persistence")["rdb_last_bgsave_status"] == "ok":
            assert time.monotonic() < until
            time.sleep(0.02)
    with pytest.raises(StoreError, match="cannot write to its disk"):
        _do(driver, _commit(key, "m", b"1"))
    driver.close()
    server.kill()  # it would not end before it has saved


def test_a_replica_and_a_master_without_one_are_unavailable(redis_server, key):
    master, replica = redis_server(config={"min-replicas-to-write": "1"}), redis_server()
    driver = connect(master.url)
    with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
        _do(driver, _commit(key, "m", b"1"))
    driver.close()
    with replica.client() as client:
        client.execute_command("REPLICAOF", master.host, master.port)
    driver = connect(replica.url)
    with pytest.raises(StoreUnavailable):
        _do(driver, _commit(key, "m", b"1"))
    driver.close()


def test_a_server_that_is_busy_with_a_script_is_unavailable(redis_server, key):
    server = redis_server(config={"lua-time-limit": "30"})
    driver = connect(server.url, retry=Retry(NoBackoff(), 0))

    def spin():
        with server.client() as client, contextlib.suppress(redis.ResponseError):
            client.eval("while true do end", 0)

    thread = threading.Thread(target=spin)
    thread.start()
    time.sleep(0.2)
    with pytest.raises(StoreUnavailable, match="BUSY"):
        _do(driver, _commit(key, "m", b"1"))
    with server.client() as client:
        client.script_kill()
    thread.join(10)
    assert _do(driver, _commit(key, "m", b"1")).outcome == "stored"
    driver.close()


def test_a_wrong_password_is_refused_and_not_tried_again(redis_server, key):
    server = redis_server(password="secret")
    for url in (server.url.replace("secret", "guess"), server.url.replace(":secret@", "")):
        driver = connect(url)
        with pytest.raises(StoreError) as caught:
            _do(driver, _commit(key, "m", b"1"))
        assert not caught.value.retryable
        driver.close()
    driver = connect(server.url)
    assert _do(driver, _commit(key, "m", b"1")).outcome == "stored"
    driver.close()


def test_a_user_who_may_not_is_told_so(redis_server, key):
    server = redis_server()
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "limited", "on", ">pw", "~other:*", "+@all")
    driver = connect(server.url.replace("redis://", "redis://limited:pw@"))
    with pytest.raises(StoreError, match="ACL"):
        _do(driver, _commit(key, "m", b"1"))
    driver.close()


# --- clusters and sentinels -------------------------------------------------------------------


def test_a_cluster_that_fails_over_loses_no_session(valkey_cluster, key):
    driver = connect("redis+cluster://" + valkey_cluster.url.split("://")[1].removesuffix("/0"))
    slot = f"lockstitch:{{{key.tenant}:s}}:h"
    _do(driver, _commit(key, "a", b"a"))
    valkey_cluster.failover(slot)
    assert _insistently(driver, _commit(key, "b", b"b")).first == 2
    with valkey_cluster.master_of(slot).client() as client:
        client.wait(1, 1_000)
    valkey_cluster.kill_master_of(slot)
    valkey_cluster.wait_until_ok(seconds=60)
    assert _insistently(driver, _commit(key, "c", b"c"), seconds=30).first == 3
    assert _payloads(driver, key) == [b"a", b"b", b"c"]
    driver.close()


def test_an_awaited_cluster_that_fails_over_loses_no_session(valkey_cluster, key):
    slot = f"lockstitch:{{{key.tenant}:s}}:h"
    address = "redis+cluster://" + valkey_cluster.url.split("://")[1].removesuffix("/0")

    async def go():
        driver = connect_async(address)
        await awaited(driver.backend.commit(_commit(key, "a", b"a")), driver)
        await asyncio.to_thread(valkey_cluster.failover, slot)
        for _ in range(200):
            try:
                done = await awaited(driver.backend.commit(_commit(key, "b", b"b")), driver)
                break
            except StoreUnavailable:
                await asyncio.sleep(0.05)
        await driver.aclose()
        return done

    assert asyncio.run(go()).first == 2


def test_a_session_can_be_used_while_its_slot_moves(valkey_cluster, key):
    driver = connect("redis+cluster://" + valkey_cluster.url.split("://")[1].removesuffix("/0"))
    head = f"lockstitch:{{{key.tenant}:s}}:h"
    _do(driver, _commit(key, "a", b"a"))
    source = valkey_cluster.master_of(head)
    to = next(node for node in valkey_cluster.masters() if node is not source)
    valkey_cluster.begin_migration(head, to)
    assert _do(driver, _commit(key, "b", b"b")).first == 2  # all its keys are there still
    valkey_cluster.move_keys(head, source, to, count=1)
    with pytest.raises(StoreUnavailable):
        _do(driver, _commit(key, "c", b"c"))  # one is there, two are here
    while valkey_cluster.move_keys(head, source, to):
        pass
    assert _do(driver, _commit(key, "c", b"c")).first == 3  # all are there, asked for one by one
    valkey_cluster.end_migration(head, source, to)
    assert _do(driver, _commit(key, "d", b"d")).first == 4
    assert _payloads(driver, key) == [b"a", b"b", b"c", b"d"]
    driver.close()


def test_a_server_that_leaves_while_a_cluster_is_looked_through_is_unavailable(valkey_cluster):
    driver = connect("redis+cluster://" + valkey_cluster.url.split("://")[1].removesuffix("/0"))
    with pytest.raises(StoreUnavailable, match="left the cluster"):
        driver.perform(Scan(b"*", (("10.0.0.1:1",), 0)))
    driver.close()


def test_a_cluster_of_which_no_server_answers_is_unavailable(redis_server):
    server = redis_server()
    server.kill()
    driver = connect(f"redis+cluster://{server.host}:{server.port}")
    with pytest.raises(StoreUnavailable):
        _do(driver, _commit(Key(None, "s"), "m", b"1"))
    driver.close()

    async def go():
        driver = connect_async(f"redis+cluster://{server.host}:{server.port}")
        with pytest.raises(StoreUnavailable):
            await awaited(driver.backend.view(Key(None, "s")), driver)
        await driver.aclose()

    asyncio.run(go())


def test_a_driver_follows_sentinel_to_the_new_master(sentinel, key):
    places = ",".join(f"{host}:{port}" for host, port in sentinel.sentinels)
    url = f"redis+sentinel://{places}/{sentinel.service_name}"
    driver = connect(url)
    _do(driver, _commit(key, "a", b"a"))
    with sentinel.master().client() as client:
        client.wait(1, 1_000)
    sentinel.kill_master()
    sentinel.wait_until_ok(seconds=60)
    assert _insistently(driver, _commit(key, "b", b"b"), seconds=30).first == 2
    assert _payloads(driver, key) == [b"a", b"b"]
    driver.close()
