"""What the model does not say: how Redis and Valkey hold sessions, and what they refuse."""

import asyncio
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from redis import asyncio as awaited_redis

from lockstitch.errors import CorruptRow, SchemaTooNew, StoreError
from lockstitch.stores.base import TAIL, Change, Commit, Key, Reading, Row, Version
from lockstitch.stores.redis import AsyncRedisDriver, RedisBackend, RedisDriver
from lockstitch.stores.redis.sources import SCHEMA, SCRIPTS
from lockstitch.stores.running import awaited, run

BOTH = pytest.mark.parametrize("server", ["redis62", "valkey"])


class Session:
    """A session of a tenant of its own, and what a test does to it."""

    def __init__(self, driver, client, key=None):
        self.driver, self.client = driver, client
        self.key = key or Key(uuid.uuid4().hex, "s")
        self.marks = 0

    def do(self, name, *arguments, **options):
        return run(getattr(self.driver.backend, name)(self.key, *arguments, **options), self.driver)

    def commit(self, *payloads, **options):
        self.marks += 1
        options = {"mark": f"m{self.marks}", "epoch": "e", "initial": b"settings"} | options
        rows = tuple(Row(b"meta", payload) for payload in payloads)
        change = Commit(key=self.key, rows=rows, **options)
        return run(self.driver.backend.commit(change), self.driver)

    @property
    def payloads(self):
        return [row.payload for row in self.do("view").rows]

    @property
    def contents(self):
        reads = {
            b"hash": self.client.hgetall,
            b"list": lambda key: self.client.lrange(key, 0, -1),
            b"string": self.client.get,
        }
        return {key: reads[self.client.type(key)](key) for key in self.keys.values()}

    @property
    def keys(self):
        pattern = f"lockstitch:{{{self.key.tenant}:*"
        return {key.rpartition(b":")[2].decode(): key for key in self.client.scan_iter(pattern)}


@pytest.fixture
def session(request, server):
    with redis.Redis.from_url(request.getfixturevalue(server)) as client:
        yield Session(RedisDriver(client), client)


@pytest.fixture
def plain(valkey):
    with redis.Redis.from_url(valkey) as client:
        yield Session(RedisDriver(client), client)


# --- what is sent -----------------------------------------------------------------------------


@BOTH
def test_every_operation_on_a_session_is_one_round_trip(request, server, tcp_proxy):
    proxy = tcp_proxy(request.getfixturevalue(server))
    with redis.Redis.from_url(proxy.url) as client:
        session = Session(RedisDriver(client), client)
        for warm in (False, True):
            first = session.commit(b"1", b"2", note=b"note", idempotency=f"turn {warm}", ttl=50)
            version = first.now.version
            change = Change(head=b"head", ranges=(1, 1), through=1, event=b"cut", purge=(2, 2))
            asks = {
                "append": lambda: session.commit(b"3"),
                "cut": lambda seen=version, new=change: session.commit(
                    b"4", expected=seen, change=new, ttl=60
                ),
                "view": lambda: session.do("view"),
                "grown": lambda seen=version: session.do("view", seen),
                "rows": lambda: session.do("rows", 1, 50),
                "events": lambda: session.do("events"),
                "touch": lambda: session.do("touch", 70),
                "delete": lambda: session.do("delete"),
            }
            trips = {}
            for name, ask in asks.items():
                with proxy.counting() as seen:
                    ask()
                trips[name] = seen.round_trips
        assert trips == dict.fromkeys(asks, 1)


@BOTH
def test_what_is_sent_and_replied_does_not_grow_with_the_record(request, server, tcp_proxy):
    proxy = tcp_proxy(request.getfixturevalue(server))
    found = []
    with redis.Redis.from_url(proxy.url) as client:
        for length in (50, 500, 5_000):
            session = Session(RedisDriver(client), client)
            version = session.commit(*[b"x" * 300] * length).now.version
            change = Change(head=b"head", ranges=(1, 1), through=length - 48)
            with proxy.counting() as seen:
                session.commit(b"y" * 300, b"z" * 300, expected=version, change=change)
            found.append((seen.sent, seen.received))
    assert max(sent for sent, _ in found) - min(sent for sent, _ in found) < 16
    assert max(got for _, got in found) < 200


def test_a_script_that_the_server_has_forgotten_is_sent_again(plain):
    plain.commit(b"1")
    plain.client.script_flush()
    assert plain.commit(b"2").outcome == "stored"
    plain.client.script_flush()
    assert plain.payloads == [b"1", b"2"]


def test_an_awaited_script_that_the_server_has_forgotten_is_sent_again(valkey):
    async def go():
        async with awaited_redis.Redis.from_url(valkey) as client:
            await client.script_flush()
            driver = AsyncRedisDriver(client)
            sent = Commit(key=Key(uuid.uuid4().hex, "s"), mark="m", rows=(Row(b"m", b"p"),))
            return await awaited(driver.backend.commit(sent), driver)

    assert asyncio.run(go()).outcome == "stored"


def test_each_script_says_what_it_does():
    for _, source in SCRIPTS.values():
        assert source.splitlines()[1].startswith("-- ")


# --- how it is laid out -----------------------------------------------------------------------


@BOTH
def test_a_session_has_three_keys_in_one_slot(session, server):
    session.commit(b"1", note=b"n", idempotency="turn")
    assert sorted(session.keys) == ["h", "m", "p"]
    assert (
        len({session.client.cluster("KEYSLOT", key) for key in session.keys.values()}) == 1
        if (session.client.info("cluster")["cluster_enabled"])
        else True
    )
    assert len({key[key.index(b"{") : key.index(b"}")] for key in session.keys.values()}) == 1


def test_a_prefix_of_ones_own_keeps_sessions_apart(valkey):
    key = Key(uuid.uuid4().hex, "s")
    with redis.Redis.from_url(valkey) as client:
        ours = Session(RedisDriver(client, prefix="a*b:"), client, key)
        others = Session(RedisDriver(client, prefix="aab:"), client, key)
        ours.commit(b"1")
        assert others.do("view") == Reading(version=None)
        others.commit(b"2")
        [listed] = run(ours.driver.backend.sessions(key.tenant), ours.driver)
        assert (listed.key, listed.bytes) == (key, 1)
        assert ours.payloads == [b"1"]


@pytest.mark.parametrize("prefix", ["{", "a}b"])
def test_a_prefix_with_a_brace_is_refused(prefix):
    with pytest.raises(ValueError, match="no braces"):
        RedisBackend(prefix)


def test_odd_ids_of_tenants_and_sessions_are_never_one(plain):
    odd = [
        "",
        "a",
        "A",
        "a:b",
        "a:b}",
        "{a",
        "*",
        "?",
        "[ab]",
        "\\",
        "%",
        "~",
        "\u00e9",
        "e\u0301",
        "\ud83d",
    ]
    odd += ["\x00", "\n", "x" * 5_000, "x" * 4_999 + "y", " ", "a b", "😀", "h", ":h", "}:h"]
    marker = uuid.uuid4().hex
    keys = [Key(f"{marker}{tenant}", one) for tenant in odd for one in odd]
    for number, key in enumerate(keys):
        Session(plain.driver, plain.client, key).commit(b"%d" % number)
    for number, key in enumerate(keys):
        assert Session(plain.driver, plain.client, key).payloads == [b"%d" % number]
    for tenant in odd:
        found = run(plain.driver.backend.sessions(f"{marker}{tenant}"), plain.driver)
        assert {one.key.id for one in found} == set(odd)


def test_a_tenant_that_is_none_is_not_the_one_without_a_name(plain):
    marker = uuid.uuid4().hex
    for number, tenant in enumerate((None, "", "~")):
        Session(plain.driver, plain.client, Key(tenant, marker)).commit(b"%d" % number)
    for number, tenant in enumerate((None, "", "~")):
        [found] = run(plain.driver.backend.sessions(tenant, marker), plain.driver)
        assert found.key == Key(tenant, marker)
        assert Session(plain.driver, plain.client, found.key).payloads == [b"%d" % number]


def test_any_text_can_be_a_mark_and_an_epoch_and_a_key(plain):
    for number, odd in enumerate(("", " ", "a b", "é\ud83d\n", "m" * 100_000)):
        key = Key(plain.key.tenant, str(number))
        session = Session(plain.driver, plain.client, key)
        done = session.commit(b"1", mark=odd, epoch=odd, idempotency=odd)
        assert done.now.version == Version(odd, 0, 1)
        [row] = session.do("view").rows
        assert row.mark == odd
        assert session.commit(b"1", mark=odd, expected=Version(odd, 0, 0)).outcome == "replayed"
        assert session.commit(b"1", mark="other", idempotency=odd).outcome == "replayed"


# --- how much ---------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("decode", [False, True])
def test_twenty_megabytes_come_back_as_they_were(request, server, decode):
    with redis.Redis.from_url(request.getfixturevalue(server), decode_responses=decode) as client:
        session = Session(RedisDriver(client), client)
        payload = bytes(range(256)) * (20 * 4_096)
        session.commit(payload)
        assert session.payloads == [payload]
        [row] = session.do("rows", 1, 1)
        assert row.payload == payload
        session.do("delete")


@BOTH
def test_a_hundred_thousand_rows_in_one_commit_and_more_behind(session, server):
    rows = [b"%d" % number for number in range(100_000)]
    done = session.commit(*rows)
    assert (done.first, done.count, done.now.version.seq) == (1, 100_000, 100_000)
    done = session.commit(b"more", expected=done.now.version)
    assert session.payloads == [*rows, b"more"][-TAIL:]
    found = session.do("rows", 1, 10**12)
    assert [row.seq for row in found] == list(range(1, 100_002))
    assert [row.payload for row in found] == [*rows, b"more"]
    assert [row.seq for row in session.do("rows", 99_999, 10**12, payloads=False)] == [
        99_999,
        100_000,
        100_001,
    ]
    session.do("delete")


def test_pages_of_heavy_rows_end_early_and_leave_none_out(plain):
    payloads = [bytes([number]) * 1_500_000 for number in range(12)]
    for payload in payloads:
        plain.commit(payload)
    steps = []
    perform = plain.driver.perform
    plain.driver.perform = lambda step: steps.append(step) or perform(step)
    assert [row.payload for row in plain.do("rows", 1, 100)] == payloads
    assert 2 < len(steps) < 12
    plain.do("delete")


def test_rows_that_are_read_while_their_session_is_made_anew_are_of_one_life(plain):
    plain.commit(*[b"old"] * 1_500)
    perform, steps = plain.driver.perform, []

    def performed(step):
        steps.append(step)
        if len(steps) == 2:
            other = RedisDriver(plain.client)
            run(other.backend.delete(plain.key), other)
            Session(other, plain.client, plain.key).commit(*[b"new"] * 1_200, epoch="another")
        return perform(step)

    plain.driver.perform = performed
    assert [row.payload for row in plain.do("rows", 1, 10_000)] == [b"new"] * 1_200
    assert len(steps) == 4


def test_rows_of_a_session_that_goes_while_they_are_read_are_none(plain):
    plain.commit(*[b"old"] * 1_500)
    effect = plain.driver.backend.rows(plain.key, 1, 10_000)
    page = plain.driver.perform(effect.send(None))
    plain.do("delete")
    step = effect.send(page)
    with pytest.raises(StopIteration) as end:
        effect.send(plain.driver.perform(step))
    assert end.value.value == ()


def test_more_events_than_fit_into_one_command_come_in_order(plain):
    plain.commit(b"1")
    for number in range(1_100):
        plain.commit(note=b"%d" % number)
    assert plain.do("events", 0, 5_000) == tuple(b"%d" % number for number in range(1_100))
    assert plain.do("events", 1_098, 5_000) == (b"1098", b"1099")
    assert plain.do("events", 5, 0) == ()


def test_more_than_a_server_takes_at_once_is_refused_before_it_is_sent(plain, monkeypatch):
    monkeypatch.setattr("lockstitch.stores.redis.backend._MOST_ROWS", 3)
    with pytest.raises(StoreError, match="append them in parts"):
        plain.commit(*[b"x"] * 4)
    monkeypatch.setattr("lockstitch.stores.redis.backend._LARGEST", 3)
    with pytest.raises(StoreError, match="append them in parts"):
        plain.commit(b"four")
    assert plain.keys == {}


# --- how long ---------------------------------------------------------------------------------


@BOTH
def test_all_keys_of_a_session_expire_at_the_same_millisecond(session, server):
    done = session.commit(b"1", ttl=50.0005)
    ends = {session.client.execute_command("PTTL", key) for key in session.keys.values()}
    assert len(session.keys) == 3
    assert max(ends) - min(ends) <= 2
    assert done.now.expires == pytest.approx(time.time() + 50, abs=2)
    assert session.do("view").expires == done.now.expires


@BOTH
def test_a_session_is_gone_when_its_time_is_over_and_all_its_keys_with_it(session, server):
    session.commit(b"1", note=b"n", idempotency="turn", ttl=0.15)
    assert session.payloads == [b"1"]
    time.sleep(0.2)
    assert session.do("view") == Reading(version=None)
    assert session.do("rows", 1, 9) == ()
    assert session.do("events") == ()
    assert session.do("touch") is False
    assert session.do("delete") is False
    assert session.keys == {}
    assert session.commit(b"2", idempotency="turn", epoch="f").now.version == Version("f", 0, 1)


def test_every_commit_and_touch_lets_the_time_begin_anew(plain):
    plain.commit(b"1", ttl=0.4)
    for ask in (lambda: plain.commit(b"2"), lambda: plain.do("touch"), lambda: plain.commit(b"3")):
        time.sleep(0.25)
        ask()
    assert plain.payloads == [b"1", b"2", b"3"]


def test_a_ttl_of_nothing_takes_the_end_away_from_all_keys(plain):
    plain.commit(b"1", ttl=50)
    plain.do("touch", 0)
    assert {plain.client.pttl(key) for key in plain.keys.values()} == {-1}
    plain.commit(b"2", ttl=50)
    plain.commit(b"3", ttl=0)
    assert {plain.client.pttl(key) for key in plain.keys.values()} == {-1}


@pytest.mark.parametrize("ttl", [-1, float("nan"), float("inf"), 1e12])
def test_a_ttl_that_is_no_time_is_refused(plain, ttl):
    with pytest.raises(ValueError, match="seconds"):
        plain.commit(b"1", ttl=ttl)
    assert plain.keys == {}


def test_a_server_sweeps_by_itself(plain):
    assert run(plain.driver.backend.sweep(), plain.driver) == 0


# --- what is refused --------------------------------------------------------------------------


@BOTH
def test_a_session_of_a_newer_schema_is_refused_and_stays_as_it_is(session, server):
    session.commit(b"1")
    head = session.keys["h"]
    state = session.client.hget(head, "state")
    session.client.hset(head, "state", bytes([SCHEMA + 1]) + b"whatever")
    before = session.contents
    for ask in (
        lambda: session.commit(b"2"),
        lambda: session.do("view"),
        lambda: session.do("rows", 1, 2),
        lambda: session.do("events"),
        lambda: session.do("touch", 5),
        lambda: session.do("delete"),
        lambda: run(session.driver.backend.sessions(session.key.tenant), session.driver),
    ):
        with pytest.raises(SchemaTooNew) as caught:
            ask()
        assert (caught.value.found, caught.value.known) == (SCHEMA + 1, SCHEMA)
    assert session.contents == before
    session.client.hset(head, "state", state)
    assert session.payloads == [b"1"]


@BOTH
@pytest.mark.parametrize("ending", ["h", "m", "p"])
@pytest.mark.parametrize("there", [False, True])
def test_a_key_of_another_type_is_refused_and_nothing_is_written(session, server, ending, there):
    if there:
        session.commit(b"1", b"2")
        session.client.delete(session.keys[ending])
    base = f"lockstitch:{{{session.key.tenant}:{session.key.id}}}"
    session.client.set(f"{base}:{ending}", "somebody else's")
    before = session.contents
    for ask in (
        lambda: session.commit(b"3", note=b"n", idempotency="turn"),
        *([lambda: session.do("view")] if there else []),
        lambda: session.do("delete"),
    ):
        with pytest.raises(CorruptRow):
            ask()
    assert session.contents == before


def test_a_hash_of_another_program_is_not_overwritten(plain):
    head = f"lockstitch:{{{plain.key.tenant}:s}}:h"
    plain.client.hset(head, "field", "value")
    with pytest.raises(CorruptRow, match="something at its keys"):
        plain.commit(b"1")
    assert plain.do("delete") is False
    assert plain.client.hgetall(head) == {b"field": b"value"}
    plain.client.hset(head, "created", "1")
    with pytest.raises(CorruptRow, match="not whole"):
        run(plain.driver.backend.sessions(plain.key.tenant), plain.driver)


@pytest.mark.parametrize("state", [b"", b"\x00", b"\x01short", b"\x00" * 100])
def test_a_state_that_cannot_be_read_is_refused(plain, state):
    plain.commit(b"1")
    plain.client.hset(plain.keys["h"], "state", state)
    with pytest.raises(CorruptRow, match="cannot be read"):
        plain.do("view")
    with pytest.raises(CorruptRow, match="not whole"):
        run(plain.driver.backend.sessions(plain.key.tenant), plain.driver)


@pytest.mark.parametrize("ending", ["m", "p"])
def test_a_session_of_which_a_key_was_evicted_is_damaged_and_can_be_deleted(plain, ending):
    plain.commit(b"1", b"2")
    plain.client.delete(plain.keys[ending])
    for ask in (
        lambda: plain.do("view"),
        lambda: plain.do("rows", 1, 2),
        lambda: plain.commit(b"3"),
    ):
        with pytest.raises(CorruptRow, match="rows are gone"):
            ask()
    assert plain.do("delete") is True
    assert plain.keys == {}


def test_rows_that_lost_their_head_are_not_overwritten_before_they_are_deleted(plain):
    plain.commit(b"1", b"2")
    plain.client.delete(plain.keys["h"])
    assert plain.do("view") == Reading(version=None)
    with pytest.raises(CorruptRow, match="delete it to begin anew"):
        plain.commit(b"3", epoch="f")
    assert plain.do("delete") is False
    plain.commit(b"3", epoch="f")
    assert plain.payloads == [b"3"]


@pytest.mark.parametrize("row", [b"", b"short", b"12345678mark-without-an-end"])
def test_a_row_that_cannot_be_read_is_named(plain, row):
    plain.commit(b"1", b"2")
    plain.client.lset(plain.keys["m"], 1, row)
    with pytest.raises(CorruptRow) as caught:
        plain.do("view")
    assert caught.value.seq == 2
    [first] = plain.do("rows", 1, 1)
    assert first.payload == b"1"


def test_a_session_that_goes_while_it_is_listed_leaves_its_place_to_the_next(plain):
    for number in range(5):
        Session(plain.driver, plain.client, Key(plain.key.tenant, str(number))).commit(b"1")
    perform = plain.driver.perform

    def slow(step):
        if type(step).__name__ == "Fields" and b":0}" in step.keys[0]:
            plain.client.delete(step.keys[0])
        return perform(step)

    plain.driver.perform = slow
    found = run(plain.driver.backend.sessions(plain.key.tenant, limit=2), plain.driver)
    assert [one.key.id for one in found] == ["1", "2"]


# --- few connections --------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("pool", [redis.ConnectionPool, redis.BlockingConnectionPool])
def test_threads_share_one_connection(request, server, pool):
    shared = pool.from_url(request.getfixturevalue(server), max_connections=1)
    with redis.Redis(connection_pool=shared) as client:
        session = Session(RedisDriver(client), client)
        gate = threading.Barrier(8)

        def append(number):
            gate.wait()
            for turn in range(10):
                session.commit(b"1", mark=f"{number}.{turn}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(append, range(8)))
        assert session.do("view").version.seq == 80
    shared.disconnect()


@BOTH
def test_tasks_share_one_connection(request, server):
    url = request.getfixturevalue(server)

    async def go():
        async with awaited_redis.Redis.from_url(url, max_connections=1) as client:
            driver = AsyncRedisDriver(client)
            key = Key(uuid.uuid4().hex, "s")

            async def append(number):
                sent = Commit(key=key, mark=str(number), rows=(Row(b"m", b"p"),))
                return await awaited(driver.backend.commit(sent), driver)

            done = await asyncio.gather(*map(append, range(40)))
            return sorted(one.first for one in done)

    assert asyncio.run(go()) == list(range(1, 41))


def test_a_cluster_is_shared_with_one_connection_a_server(valkey_cluster):
    with redis.RedisCluster.from_url(valkey_cluster.url, max_connections=1) as client:
        session = Session(RedisDriver(client), client)

        def append(number):
            session.commit(b"1", mark=f"m{number}")

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(append, range(40)))
        assert session.do("view").version.seq == 40

    async def go():
        url = valkey_cluster.url
        async with awaited_redis.RedisCluster.from_url(url, max_connections=1) as client:
            driver = AsyncRedisDriver(client)

            async def append(number):
                key = Key("t", f"{uuid.uuid4()}")
                sent = Commit(key=key, mark=str(number), rows=(Row(b"m", b"p"),))
                return await awaited(driver.backend.commit(sent), driver)

            return await asyncio.gather(*map(append, range(40)))

    assert {one.outcome for one in asyncio.run(go())} == {"stored"}


def test_a_connection_that_its_owner_holds_is_waited_for(valkey):
    with redis.Redis.from_url(valkey, max_connections=1) as client:
        session = Session(RedisDriver(client), client)
        held = client.connection_pool.get_connection()
        threading.Timer(0.1, lambda: client.connection_pool.release(held)).start()
        assert session.commit(b"1").outcome == "stored"


def test_an_awaited_connection_that_its_owner_holds_is_waited_for(valkey):
    async def go():
        async with awaited_redis.Redis.from_url(valkey, max_connections=1) as client:
            driver = AsyncRedisDriver(client)
            held = await client.connection_pool.get_connection()
            sent = Commit(key=Key(uuid.uuid4().hex, "s"), mark="m", rows=(Row(b"m", b"p"),))
            committing = asyncio.create_task(awaited(driver.backend.commit(sent), driver))
            await asyncio.sleep(0.05)
            assert not committing.done()
            await client.connection_pool.release(held)
            return await committing

    assert asyncio.run(go()).outcome == "stored"


# --- lent and owned ---------------------------------------------------------------------------


def test_a_client_that_was_lent_stays_open(valkey):
    with redis.Redis.from_url(valkey) as client:
        driver = RedisDriver(client)
        Session(driver, client).commit(b"1")
        [connection] = client.connection_pool._available_connections
        driver.close()
        assert connection._sock is not None
        assert client.ping()

    async def go():
        async with awaited_redis.Redis.from_url(valkey) as client:
            driver = AsyncRedisDriver(client)
            await client.ping()
            [connection] = client.connection_pool._available_connections
            await driver.aclose()
            assert connection.is_connected
            return await client.ping()

    assert asyncio.run(go())
