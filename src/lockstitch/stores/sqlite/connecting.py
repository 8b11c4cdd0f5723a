"""Connecting: from an address, a path or a connection to a driver.

Knows: how an address names a file: three slashes and a path, four before an absolute one.

Must not know: what a driver does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lockstitch.stores.running import Threaded
from lockstitch.stores.sqlite.driver import SqliteDriver

if TYPE_CHECKING:
    import sqlite3

__all__ = ["connect", "connect_async"]

_SCHEME = "sqlite://"


def connect(url: str | sqlite3.Connection, **options: Any) -> SqliteDriver:
    """Make a driver.

    Args:
        url: `sqlite:///chat.db`, `sqlite:////absolute/chat.db`, `sqlite:///:memory:`, or a
            connection, which is lent.
        options: of `SqliteDriver`: `prefix`, `timeout`, `synchronous`, `clock`.

    Raises:
        ValueError: the address names no file.

    >>> connect("sqlite:///:memory:").close()
    """
    return SqliteDriver(_file(url) if isinstance(url, str) else url, **options)


def connect_async(url: str | sqlite3.Connection, **options: Any) -> Threaded:
    """Make a driver that is awaited: each step is one hop to a thread."""
    return Threaded(connect(url, **options))


def _file(url: str) -> str:
    host, separator, path = url.removeprefix(_SCHEME).partition("/")
    if host or not separator or not path:
        raise ValueError(
            f"{url} names no file: write sqlite:///chat.db, or sqlite:////absolute/chat.db"
        )
    return unquote(path)
