"""Connecting: from an address, or a client that is there already, to a store.

Knows: which backend an address means. A backend is imported when one of its addresses is opened.

Must not know: how any of them works.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from lockstitch.stores.memory import AsyncMemoryDriver, MemoryBackend, MemoryDriver
from lockstitch.stores.store import AsyncStore, Store

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockstitch.stores.base import Backend
    from lockstitch.stores.running import AsyncDriver, Driver

__all__ = ["ADDRESSES", "open_async_store", "open_store"]

ADDRESSES: Final = {
    "memory": "memory://",
    "sqlite": "sqlite:///chat.db, sqlite:////absolute/chat.db, sqlite:///:memory:",
    "redis": "redis://, rediss://, unix://, redis+cluster://, redis+sentinel://, valkey://",
    "postgres": "postgresql://",
}
"""Which addresses each backend has."""

# The scheme of an address, up to a +, names the module of its backend.
_BACKENDS: Final = {
    "sqlite": "sqlite",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
    "valkey": "redis",
    "valkeys": "redis",
    "postgresql": "postgres",
    "postgres": "postgres",
}
# The package that a client which was lent is of, and the backend for it.
_CLIENTS: Final = {
    "sqlite3": "sqlite",
    "redis": "redis",
    "valkey": "redis",
    "psycopg": "postgres",
    "psycopg_pool": "postgres",
}


def open_store(
    url: Any,
    *,
    keys: bytes | Iterable[bytes] | None = None,
    patience: float = 10.0,
    **options: Any,
) -> Store:
    """Open a store.

    Args:
        url: the address: `memory://`, `sqlite:///chat.db` (three slashes and a path, four before an
            absolute one), `redis://`, `rediss://`, `redis+cluster://`, `redis+sentinel://`,
            `postgresql://`; or a client that is there already, which is lent: a redis-py client, a
            psycopg connection or pool, an `sqlite3.Connection`. Nothing is opened before it is
            used.
        keys: encrypts what is stored, with the first of these keys of 32 bytes; all of them can
            read. Needs `lockstitch[crypto]`.
        patience: how many seconds an operation may take before it raises `StoreUnavailable`.
        options: of the backend: see the page about each.

    Raises:
        ValueError: no backend has such an address.
        TypeError: it is neither an address nor a client of a known kind.
        MissingExtra: the driver is not installed.

    >>> with open_store("memory://") as store:
    ...     store.session("user-42").append({"role": "user", "content": "hi"}).count
    1
    """
    driver = _driver(url, options, asynchronous=False)
    return Store(cast("Driver", _sealed(driver, keys)), patience=patience)


def open_async_store(
    url: Any,
    *,
    keys: bytes | Iterable[bytes] | None = None,
    patience: float = 10.0,
    **options: Any,
) -> AsyncStore:
    """Open a store whose sessions are awaited; takes what `open_store` takes.

    >>> import asyncio
    >>> async def main():
    ...     async with open_async_store("memory://") as store:
    ...         receipt = await store.session("s").append({"role": "user", "content": "hi"})
    ...         return receipt.count
    >>> asyncio.run(main())
    1
    """
    driver = _driver(url, options, asynchronous=True)
    return AsyncStore(cast("AsyncDriver", _sealed(driver, keys)), patience=patience)


def _driver(url: Any, options: dict[str, Any], *, asynchronous: bool) -> Any:
    if url == "memory://":
        _refuse(options)
        return AsyncMemoryDriver() if asynchronous else MemoryDriver()
    if isinstance(url, MemoryBackend):
        _refuse(options)
        return AsyncMemoryDriver(url) if asynchronous else MemoryDriver(url)
    module = import_module(f"lockstitch.stores.{_backend_of(url)}")
    connect = module.connect_async if asynchronous else module.connect
    return connect(url, **options)


def _backend_of(url: Any) -> str:
    """Return the backend for an address or a client."""
    if isinstance(url, str):
        scheme, separator, _ = url.partition("://")
        name = _BACKENDS.get(scheme.partition("+")[0]) if separator else None
        if name is None:
            known = "; ".join(ADDRESSES.values())
            raise ValueError(f"no store has the address {_masked(url)}: there are {known}")
        return name
    package = type(url).__module__.partition(".")[0]
    name = next((_CLIENTS[one] for one in _packages(url) if one in _CLIENTS), None)
    if name is None:
        raise TypeError(
            f"a store is opened from an address or a client, got {type(url).__name__} of {package}"
        )
    return name


def _packages(client: Any) -> list[str]:
    """Return the packages that the classes of a client come from."""
    return [kind.__module__.partition(".")[0] for kind in type(client).__mro__]


def _masked(url: str) -> str:
    """Return an address without what may be secret in it."""
    scheme, separator, _ = url.partition("://")
    return repr(f"{scheme}://...") if separator else "without a scheme"


def _refuse(options: dict[str, Any]) -> None:
    if options:
        raise TypeError(f"memory:// takes no options, got {', '.join(sorted(options))}")


class _Sealing:
    """A driver whose backend is sealed; the steps are those of the one inside."""

    def __init__(self, driver: Any, backend: Backend) -> None:
        self.backend = backend
        self._driver = driver
        self.perform = driver.perform
        self.close = getattr(driver, "close", None)
        self.aclose = getattr(driver, "aclose", None)


def _sealed(driver: Any, keys: bytes | Iterable[bytes] | None) -> Any:
    if keys is None:
        return driver
    from lockstitch.stores.sealing import SealedBackend

    return _Sealing(driver, SealedBackend(driver.backend, keys))
