"""Each Redis and Valkey starts, dies and comes back."""

from typing import TYPE_CHECKING

import pytest
import redis

if TYPE_CHECKING:
    from servers.redis_servers import RedisServer


@pytest.mark.parametrize("name", ["valkey", "redis62", "redis_machine", "redis_tls"])
def test_a_client_writes_and_reads_through_the_url(name: str, request: pytest.FixtureRequest):
    with redis.Redis.from_url(request.getfixturevalue(name), decode_responses=True) as client:
        client.set("servers:greeting", "hello")
        assert client.get("servers:greeting") == "hello"


def test_the_fixtures_are_the_versions_they_say(valkey: str, redis62: str):
    with redis.Redis.from_url(valkey) as client:
        assert client.info("server")["valkey_version"].startswith("9.")
    with redis.Redis.from_url(redis62) as client:
        assert client.info("server")["redis_version"].startswith("6.2.")


def test_tls_is_refused_to_those_who_do_not_know_who_signed(redis_tls: str):
    stranger = redis.Redis.from_url(redis_tls.partition("?")[0], retry=None)
    with stranger, pytest.raises(redis.ConnectionError, match="certificate verify failed"):
        stranger.ping()


@pytest.mark.parametrize("durable", [False, True])
def test_a_killed_server_comes_back_in_its_place_with_what_was_durable(redis_server, durable: bool):
    server: RedisServer = redis_server(durable=durable, password="secret")
    with redis.Redis.from_url(server.url) as client:
        client.set("key", "value")
    server.kill()
    assert not server.running
    with redis.Redis.from_url(server.url, retry=None) as client:
        with pytest.raises(redis.ConnectionError):
            client.ping()
        server.restart()
        assert client.get("key") == (b"value" if durable else None)


def test_a_server_asks_for_its_password(redis_server):
    server: RedisServer = redis_server(password="secret")
    stranger = redis.Redis(host=server.host, port=server.port, retry=None)
    with stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()


def test_a_paused_server_answers_nothing_until_it_is_resumed(redis_server):
    server: RedisServer = redis_server()
    with redis.Redis.from_url(server.url, socket_timeout=0.2, retry=None) as client:
        client.set("key", "value")
        server.pause()
        with pytest.raises(redis.TimeoutError):
            client.get("key")
        server.resume()
        assert client.get("key") == b"value"
