"""Addresses of Redis: which client each means, and what is refused before anything is opened."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis
from redis import asyncio as awaited_redis

from lockstitch.errors import MissingExtra, StoreUnavailable
from lockstitch.stores.base import Key
from lockstitch.stores.redis import AsyncRedisDriver, RedisDriver, connect, connect_async
from lockstitch.stores.redis import drivers as drivers_module
from lockstitch.stores.running import run

KINDS = pytest.mark.parametrize("connect_", [connect, connect_async])


def _clients(driver):
    """What a driver opens; none of these talks to a server yet."""
    return driver._opening()


def _told(client):
    pool = client.connection_pool
    return pool.connection_class.__name__, pool.connection_kwargs


@KINDS
@pytest.mark.parametrize(
    ("url", "kind", "told"),
    [
        ("redis://h:7/3", "Connection", {"host": "h", "port": 7, "db": 3}),
        ("valkey://u:p@h", "Connection", {"host": "h", "username": "u", "password": "p"}),
        ("rediss://h/0?ssl_ca_certs=ca.pem", "SSLConnection", {"ssl_ca_certs": "ca.pem"}),
        ("valkeys://h", "SSLConnection", {"host": "h"}),
        ("unix:///tmp/r.sock?db=2", "UnixDomainSocketConnection", {"path": "/tmp/r.sock"}),  # noqa: S108 - a path, never opened
    ],
)
def test_an_address_of_a_server_makes_a_client_of_it(connect_, url, kind, told):
    [client] = _clients(connect_(url, client_name="me"))
    found, kwargs = _told(client)
    assert found == kind
    assert told.items() <= kwargs.items()
    assert (kwargs["client_name"], kwargs["socket_timeout"]) == ("me", 5.0)


@KINDS
def test_an_option_and_a_query_overrule_the_limits_of_time(connect_):
    [client] = _clients(connect_("redis://h?socket_timeout=9", socket_connect_timeout=7))
    _, kwargs = _told(client)
    assert (kwargs["socket_timeout"], kwargs["socket_connect_timeout"]) == (9.0, 7)


@KINDS
def test_an_address_of_sentinels_makes_a_client_of_whom_they_name(connect_):
    url = "rediss+sentinel://u:p%40@a:1,b,[::1]:3/main/4?ssl_ca_certs=ca.pem"
    options = {"sentinel_kwargs": {"password": "theirs"}, "decode_responses": True}
    client, *watchers = _clients(connect_(url, **options))
    kind, kwargs = _told(client)
    assert kind == "SentinelManagedSSLConnection"
    assert client.connection_pool.service_name == "main"
    expected = {"db": 4, "username": "u", "password": "p@", "ssl_ca_certs": "ca.pem"}
    assert expected.items() <= kwargs.items()
    told = [watcher.connection_pool.connection_kwargs for watcher in watchers]
    assert [(one["host"], one["port"]) for one in told] == [("a", 1), ("b", 26379), ("::1", 3)]
    assert {(one.get("username"), one["password"]) for one in told} == {(None, "theirs")}
    assert {one["ssl_ca_certs"] for one in told} == {"ca.pem"}
    assert all(one["socket_timeout"] == 5.0 for one in told)


def test_an_address_of_a_cluster_with_tls_makes_its_nodes_so():
    [client] = _clients(connect_async("valkeys+cluster://:p@a:1,b?ssl_ca_certs=ca.pem"))
    assert isinstance(client, awaited_redis.RedisCluster)
    assert set(client.nodes_manager.startup_nodes) == {"a:1", "b:6379"}
    assert client.connection_kwargs["password"] == "p"
    assert client.connection_kwargs["ssl_ca_certs"] == "ca.pem"


@KINDS
@pytest.mark.parametrize(
    "url",
    [
        "http://u:secret@h",
        "redis:",
        "redis://",
        "redis+ring://h",
        "redis+cluster://u:secret@h/3",
        "redis+sentinel://u:secret@h",
        "redis+sentinel://u:secret@h/",
        "redis+sentinel://u:secret@h/main/x",
        "redis+sentinel://u:secret@h/main/0/1",
        "redis://u:secret@h?socket_timeout=soon",
    ],
)
def test_what_is_no_address_is_refused_at_once_and_no_password_is_told(connect_, url):
    with pytest.raises(ValueError, match=r".") as caught:
        connect_(url)
    assert "secret" not in str(caught.value)


def test_a_client_of_the_other_kind_is_refused():
    with redis.Redis() as waits:
        with pytest.raises(TypeError, match="cannot be awaited"):
            connect_async(waits)
        assert isinstance(connect(waits, prefix="p:"), RedisDriver)
        with pytest.raises(TypeError, match="takes no options, got db"):
            connect(waits, db=3)

    async def go():
        async with awaited_redis.Redis() as is_awaited:
            with pytest.raises(TypeError, match="has to be awaited"):
                connect(is_awaited)
            with pytest.raises(TypeError, match="takes no options, got db"):
                connect_async(is_awaited, db=3)
            return connect_async(is_awaited)

    assert isinstance(asyncio.run(go()), AsyncRedisDriver)


def test_threads_that_come_first_open_one_client():
    made = []

    class Client:
        connection_pool = None

        def execute_command(self, *arguments, **options):
            return [0]

    def opening():
        time.sleep(0.05)
        made.append(Client())
        return (made[-1],)

    driver = RedisDriver(opening=opening)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: run(driver.backend.view(Key(None, "s")), driver), range(4)))
    assert len(made) == 1


@KINDS
def test_without_redis_py_an_address_says_what_to_install(connect_, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "redis"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingExtra, match=r"lockstitch\[redis\]"):
        connect_("redis://h")


@KINDS
def test_what_redis_py_itself_misses_is_not_taken_for_redis_py(connect_, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "redis"]:
        monkeypatch.delitem(sys.modules, name)

    class Breaks:
        def find_spec(self, name, path, target=None):
            if name == "redis":
                raise ModuleNotFoundError("no module named 'sundial'", name="sundial")

    monkeypatch.setattr(sys, "meta_path", [Breaks(), *sys.meta_path])
    with pytest.raises(ModuleNotFoundError) as caught:
        connect_("redis://h")
    assert caught.value.name == "sundial"


def test_the_backend_is_imported_without_redis_py():
    code = "import sys, lockstitch.stores.redis; print('redis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_client_without_a_free_connection_is_given_up_on_after_a_while(monkeypatch):
    class Busy:
        connection_pool = None

        def execute_command(self, *arguments, **options):
            raise redis.exceptions.MaxConnectionsError("Too many connections")

    monkeypatch.setattr(drivers_module, "_PATIENCE", 0.05)
    driver = RedisDriver(Busy())
    with pytest.raises(StoreUnavailable, match="max_connections"):
        run(driver.backend.view(Key(None, "s")), driver)


def test_a_mistake_in_a_program_passes_as_it_is():
    class Broken:
        connection_pool = None

        def execute_command(self, *arguments, **options):
            raise RuntimeError("no loop")

    driver = RedisDriver(Broken())
    with pytest.raises(RuntimeError, match="no loop"):
        run(driver.backend.view(Key(None, "s")), driver)
