"""The Redis backend beside the model: every server, client, protocol and way to decode."""

import asyncio
import uuid

import pytest
import redis
from redis import asyncio as awaited_redis

from lockstitch.stores.redis import AsyncRedisDriver, RedisDriver, connect, connect_async
from lockstitch.stores.running import awaited, run
from lockstitch.testing.store_model import Twins

SERVERS = ("redis62", "valkey", "redis_machine")
WAYS = [
    pytest.param({"decode_responses": decode, "protocol": protocol}, id=f"{name}, RESP{protocol}")
    for decode, name in ((False, "bytes"), (True, "decoded"))
    for protocol in (2, 3)
]
STEPS = 120


def _walk(run_theirs, driver, seeds):
    for seed in seeds:
        twins = Twins(run_theirs, driver.backend, seed=seed, tenant=uuid.uuid4().hex)
        for _ in range(STEPS):
            twins.step()


def _walk_waiting(driver, seeds):
    _walk(lambda effect: run(effect, driver), driver, seeds)


def _walk_awaiting(make, seeds):
    async def made():
        return make()

    with asyncio.Runner() as runner:
        driver, closing = runner.run(made())
        try:
            _walk(lambda effect: runner.run(awaited(effect, driver)), driver, seeds)
        finally:
            runner.run(closing())


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("server", SERVERS)
def test_a_client_that_waits_does_what_the_model_does(request, server, options):
    with redis.Redis.from_url(request.getfixturevalue(server), **options) as client:
        _walk_waiting(RedisDriver(client), range(8))


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("server", SERVERS)
def test_a_client_that_is_awaited_does_what_the_model_does(request, server, options):
    url = request.getfixturevalue(server)

    def make():
        client = awaited_redis.Redis.from_url(url, **options)
        return AsyncRedisDriver(client), client.aclose

    _walk_awaiting(make, range(8, 16))


@pytest.mark.parametrize("options", WAYS)
def test_a_cluster_does_what_the_model_does(valkey_cluster, options):
    with redis.RedisCluster.from_url(valkey_cluster.url, **options) as client:
        _walk_waiting(RedisDriver(client), range(16, 22))


@pytest.mark.parametrize("options", WAYS)
def test_a_cluster_that_is_awaited_does_what_the_model_does(valkey_cluster, options):
    def make():
        client = awaited_redis.RedisCluster.from_url(valkey_cluster.url, **options)
        return AsyncRedisDriver(client), client.aclose

    _walk_awaiting(make, range(22, 28))


def test_whom_sentinel_names_does_what_the_model_does(sentinel):
    places = ",".join(f"{host}:{port}" for host, port in sentinel.sentinels)
    url = f"redis+sentinel://{places}/{sentinel.service_name}/0"
    driver = connect(url)
    _walk_waiting(driver, range(4))
    driver.close()

    def make():
        driver = connect_async(url, decode_responses=True)
        return driver, driver.aclose

    _walk_awaiting(make, range(4))


def test_a_server_behind_tls_does_what_the_model_does(redis_tls):
    driver = connect(redis_tls)
    _walk_waiting(driver, range(3))
    driver.close()

    def make():
        driver = connect_async(redis_tls)
        return driver, driver.aclose

    _walk_awaiting(make, range(3))


@pytest.mark.parametrize("scheme", ["redis+cluster", "valkey+cluster"])
def test_a_cluster_by_its_address_does_what_the_model_does(valkey_cluster, scheme):
    places = ",".join(f"{host}:{port}" for host, port in (n.address for n in valkey_cluster.nodes))
    driver = connect(f"{scheme}://{places}")
    _walk_waiting(driver, range(3))
    driver.close()

    def make():
        driver = connect_async(f"{scheme}://{places}/0")
        return driver, driver.aclose

    _walk_awaiting(make, range(3))


@pytest.mark.long
@pytest.mark.parametrize("server", SERVERS)
def test_many_walks_find_no_difference(request, server):
    with redis.Redis.from_url(request.getfixturevalue(server)) as client:
        _walk_waiting(RedisDriver(client), range(100, 1_100))
