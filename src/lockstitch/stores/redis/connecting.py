"""Connecting: from an address, or a client that is there already, to a driver.

Knows: the addresses there are, and which of redis-py's clients each of them means.

    redis://  valkey://  rediss://  valkeys://  unix://         one server
    redis+cluster://host:port,host:port                         a cluster, through any of its nodes
    redis+sentinel://host:port,host:port/service/0              whom Sentinel names the master

`rediss` and `valkeys` are TLS, in all three. Options of redis-py's clients can be given beside an
address, or in its query: `rediss://host/0?ssl_ca_certs=ca.pem`.

Must not know: what is asked of a driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from lockstitch.errors import MissingExtra
from lockstitch.stores.redis.drivers import AsyncRedisDriver, RedisDriver

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SCHEMES", "connect", "connect_async"]

SCHEMES: Final = (
    "redis",
    "rediss",
    "unix",
    "valkey",
    "valkeys",
    "redis+cluster",
    "rediss+cluster",
    "valkey+cluster",
    "valkeys+cluster",
    "redis+sentinel",
    "rediss+sentinel",
    "valkey+sentinel",
    "valkeys+sentinel",
)
_PLAIN: Final = {"valkey": "redis", "valkeys": "rediss"}
_PORTS: Final = {"cluster": 6379, "sentinel": 26379}
# Without a limit a server that is cut off is waited for as long as the system keeps trying.
_SECONDS: Final = 5.0


def connect(client: Any, *, prefix: str = "lockstitch:", **options: Any) -> RedisDriver:
    """Return a driver that waits.

    Args:
        client: the address of a server, of a cluster or of its sentinels; or a client of redis-py's
            that is there already, which is lent.
        prefix: what the name of every key begins with.
        options: of the client that is made for an address, as redis-py takes them.

    Raises:
        MissingExtra: redis-py is not installed.
        ValueError: the address is none of these.
        TypeError: the client has to be awaited, or there are options beside one.
    """
    if not isinstance(client, str):
        _refuse(options)
        return RedisDriver(client, prefix=prefix)
    try:
        import redis
        from redis import cluster
        from redis import sentinel as watching
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    opening = _opening(client, options, redis, cluster, watching)
    return RedisDriver(prefix=prefix, opening=opening)


def connect_async(client: Any, *, prefix: str = "lockstitch:", **options: Any) -> AsyncRedisDriver:
    """Return a driver that is awaited; it takes what `connect` takes.

    Raises:
        MissingExtra: redis-py is not installed.
        ValueError: the address is none of these.
        TypeError: the client cannot be awaited, or there are options beside one.
    """
    if not isinstance(client, str):
        _refuse(options)
        return AsyncRedisDriver(client, prefix=prefix)
    try:
        from redis import asyncio as redis
        from redis.asyncio import cluster
        from redis.asyncio import sentinel as watching
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    opening = _opening(client, options, redis, cluster, watching)
    return AsyncRedisDriver(prefix=prefix, opening=opening)


def _refuse(options: dict[str, Any]) -> None:
    if options:
        raise TypeError(f"a client that is lent takes no options, got {', '.join(sorted(options))}")


def _missing(error: ModuleNotFoundError) -> BaseException:
    return MissingExtra("redis", package="redis") if error.name == "redis" else error


def _opening(
    url: str, options: dict[str, Any], redis: Any, cluster: Any, watching: Any
) -> Callable[[], tuple[Any, ...]]:
    """Read an address, and return what makes a client and whatever else is to be closed."""
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES or not rest:
        raise ValueError(f"no address of Redis: {_hidden(url)}: it begins {', '.join(SCHEMES)}")
    scheme, _, kind = scheme.partition("+")
    scheme = _PLAIN.get(scheme, scheme)
    limits: dict[str, Any] = {"socket_timeout": _SECONDS}
    if scheme != "unix":
        limits["socket_connect_timeout"] = _SECONDS
    if not kind:
        _told(f"{scheme}://{rest}")
        whole = limits | options
        return lambda: (redis.Redis.from_url(f"{scheme}://{rest}", **whole),)
    hosts, path, told = _read(scheme, rest, _PORTS[kind])
    told = limits | options | told
    if scheme == "rediss":
        told["ssl"] = True
    if kind == "cluster":
        if path not in (["0"], [""]):
            raise ValueError(f"a cluster has no databases: {_hidden(url)}")
        nodes = [cluster.ClusterNode(host, port) for host, port in hosts]
        return lambda: (cluster.RedisCluster(startup_nodes=nodes, **told),)
    service, db = path[0], path[1] if len(path) > 1 else "0"
    if not service or not db.isdigit() or len(path) > 2:  # noqa: PLR2004 - service and database
        raise ValueError(f"an address of sentinels ends in /service or /service/0: {_hidden(url)}")
    # Sentinels have passwords of their own, but the same certificates.
    asking: dict[str, Any] = {
        name: value for name, value in told.items() if name.startswith(("socket_", "ssl"))
    }
    asking.update(told.pop("sentinel_kwargs", {}))
    told = {"db": int(db), "sentinel_kwargs": asking} | told

    def watched() -> tuple[Any, ...]:
        sentinel = watching.Sentinel(hosts, **told)
        return sentinel.master_for(service), *sentinel.sentinels

    return watched


def _told(url: str) -> dict[str, Any]:
    """Return what an address tells a client."""
    from redis.connection import parse_url

    told: dict[str, Any] = parse_url(url)  # type: ignore[no-untyped-call]  # it has no annotations
    return told


def _read(
    scheme: str, rest: str, port: int
) -> tuple[list[tuple[str, int]], list[str], dict[str, Any]]:
    """Return the hosts of an address, its path, and what else it tells a client."""
    parts = urlsplit(f"{scheme}://{rest}")
    login, at, places = parts.netloc.rpartition("@")
    told = _told(f"{scheme}://{login}{at}localhost?{parts.query}")
    for name in ("host", "connection_class"):
        told.pop(name, None)
    hosts = [urlsplit(f"//{place}") for place in places.split(",")]
    found = [(host.hostname or "localhost", host.port or port) for host in hosts]
    return found, parts.path.strip("/").split("/"), told


def _hidden(url: str) -> str:
    """Return an address without its password."""
    scheme, _, rest = url.partition("://")
    login, at, places = rest.rpartition("@")
    return repr(f"{scheme}://{'...' if login else ''}{at}{places}")
