"""Sending: what waiting and awaited connections have in common.

Knows: psycopg, how a statement is put to it, and how a connection is cut that does not answer.

Must not know: what the statements are for, where connections come from.
"""

from __future__ import annotations

import select
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format, TransactionStatus

from lockstitch.errors import StoreError
from lockstitch.stores.postgres.statements import ByteaArray

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstitch.stores.postgres.statements import Statement

__all__ = ["address", "cut", "idle", "must_be_open", "quiet", "ready", "too_late"]

# Where the URL does not say otherwise: a server that went away without a word is noticed.
_DEFAULTS: Final[Mapping[str, Any]] = {
    "application_name": "lockstitch",
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class ByteaArrayDumper(Dumper):
    """Sends an array of bytes as it was written."""

    oid = 1001
    format = Format.BINARY

    def dump(self, obj: ByteaArray) -> bytes:
        """Return the array."""
        return obj.data


def ready(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Tell a connection how to send what nobody but us sends."""
    connection.adapters.register_dumper(ByteaArray, ByteaArrayDumper)


def address(url: str) -> str:
    """Return what to connect to; `postgresql+psycopg://` is understood too.

    Raises:
        ValueError: it is no URL of PostgreSQL. It is not repeated: it may hold a password.
    """
    scheme, separator, rest = url.partition("://")
    plain = scheme.partition("+")[0] + separator + rest
    try:
        return make_conninfo("", **{**_DEFAULTS, **conninfo_to_dict(plain)})
    except psycopg.ProgrammingError:
        raise ValueError(
            "this is no URL of PostgreSQL: write postgresql://user:password@host:5432/database"
        ) from None


def idle(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether nobody has begun a transaction on a connection."""
    return connection.info.transaction_status == TransactionStatus.IDLE


def must_be_open(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """Refuse a connection that is closed.

    Raises:
        StoreError: it is; trying again does not help.
    """
    if connection.closed:
        raise StoreError(
            "the connection that was lent is closed: lend a pool to have connections replaced"
        )


def quiet(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bool:
    """Whether nothing has come in on a connection that waits; a farewell would have.

    It asks the system and not the server, so it costs a microsecond and no round trip.
    """
    with suppress(psycopg.Error):  # it is closed
        descriptor = connection.fileno()
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return not poll.poll(0)
        return not select.select([descriptor], [], [], 0)[0]  # pragma: no cover - Windows
    return False


def cut(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> None:
    """End a connection under whoever waits for an answer on it."""
    with (
        suppress(OSError, psycopg.Error),  # it ended by itself meanwhile
        socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same,
    ):
        same.shutdown(socket.SHUT_RDWR)


def too_late(step: Statement, seconds: float) -> psycopg.OperationalError:
    """Return the error of a statement that was given up."""
    return psycopg.errors.ConnectionTimeout(f"no answer to {step.name} within {seconds:g} seconds")
