"""The protocol between sessions and backends, as values: no I/O, no clock, no chance.

Knows: what a session is made of where it is stored. A record of numbered rows, of which nothing but
their numbers is understood here; a view, which is a head (opaque too, with the numbers it refers
to) and every row behind it; settings, events, an expiry. All of it changes by one operation,
`commit`, that takes place whole or not at all.

    record   rows 1, 2, 3, ...        only ever appended; a purge, explicit, empties rows
    view     head, then rows with a number above `through`; between cuts it only grows
    version  (epoch, revision, seq)   which life of the session, which head, how many rows

Must not know: messages, formats, limits, any server. A backend stores and compares; what a cut is,
is decided above, once, for all of them (`lockstitch.stores.commit` is the model that each is held
to).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, Literal, Protocol, TypeVar, runtime_checkable

import msgspec

__all__ = [
    "LOOK_BACK",
    "TAIL",
    "Backend",
    "Change",
    "Commit",
    "Committed",
    "Effect",
    "Key",
    "Listed",
    "Migrating",
    "Reading",
    "Row",
    "Stored",
    "Version",
]

T = TypeVar("T")
Effect = Generator[Any, Any, T]
"""An operation that yields what it waits for, and returns its outcome; a driver runs it."""

LOOK_BACK: Final = 256
"""How many rows a commit that knows no version is looked for among, when it comes a second time."""


TAIL: Final = 4_096
"""How many rows behind the head a reading holds at most, the newest; others are read by number."""


class Key(msgspec.Struct, frozen=True):
    """Which session: the tenant, where there are tenants, and its id; any text, compared exactly.

    >>> Key("acme", "user-42") == Key(None, "user-42")
    False
    """

    tenant: str | None
    id: str


class Version(msgspec.Struct, frozen=True):
    """What a session was when somebody looked.

    Args:
        epoch: names this life of the session: one that was deleted and made again has another.
        revision: how often the head was written.
        seq: the number of the newest row.
    """

    epoch: str
    revision: int
    seq: int


class Row(msgspec.Struct, frozen=True):
    """One row to be appended: the message's own bytes, and what decisions read of it."""

    meta: bytes
    payload: bytes


class Stored(msgspec.Struct, frozen=True):
    """One row as it is stored.

    Args:
        seq: its number.
        meta: as in `Row`; empty when the row was purged.
        payload: as in `Row`; `None` when it was not asked for.
        mark: names the batch that it came in.
        at: when it came, in seconds since 1970, by the clock of who stores it. Nothing is ever
            ordered by it.
    """

    seq: int
    meta: bytes
    payload: bytes | None
    mark: str
    at: float


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A new head.

    Args:
        head: what the view begins with; opaque.
        ranges: the rows that the head refers to: first, last, first, last, ...
        through: the rows up to this number are in the head or out of the view; those above follow.
        strict: it was made for exactly the expected rows. One that is not holds for as long as
            nobody else has written a head: rows that came in between simply follow.
        event: what is remembered of it.
        purge: rows to be emptied: first, last, first, last, ...
    """

    head: bytes
    ranges: tuple[int, ...]
    through: int
    strict: bool = False
    event: bytes = b""
    purge: tuple[int, ...] = ()


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """All that one operation writes.

    Args:
        key: the session; it is made when it is not there and there are rows or settings.
        mark: names this attempt. The same mark again is the same commit again, and does nothing.
        expected: the version that the caller has seen, `None` if none.
        rows: what is appended.
        idempotency: the caller's own key: a later commit with it does nothing, however late.
        exclusive: do nothing unless the session is at `expected`.
        change: the new head. It is left out, and the rows land, when it does not hold any more.
        note: an event of the rows.
        settings: replaces the settings; `initial` is what they are when the session is made.
        ttl: seconds until the session expires after its last commit, from now on; 0 for never.
        epoch: the name of the life that begins if the session is made.
        after: the number behind which a session that is made begins to count.
        look: reply with what happened since `expected`.
    """

    key: Key
    mark: str
    expected: Version | None = None
    rows: tuple[Row, ...] = ()
    idempotency: str | None = None
    exclusive: bool = False
    change: Change | None = None
    note: bytes = b""
    settings: bytes | None = None
    initial: bytes = b""
    ttl: float | None = None
    epoch: str = ""
    after: int = 0
    look: bool = True


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What a session is: its version and the rows of its view.

    Args:
        version: `None` when there is no such session.
        settings: as they were written last.
        head: the head; `None` where the caller has it, because its revision has not changed.
        through: as in `Change`.
        rows: the rows of the head by their numbers, then those above `through`, of many the newest
            `TAIL`; where `head` is `None`, those above the version that the caller has.
        expires: when it expires, in seconds since 1970; `None` for never.
    """

    version: Version | None
    settings: bytes = b""
    head: bytes | None = None
    through: int = 0
    rows: tuple[Stored, ...] = ()
    expires: float | None = None


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a commit.

    Args:
        outcome: `stored`; `replayed` when it had been stored before; `conflict` when it was
            exclusive and the session had moved on; `gone` when there is no session and nothing to
            make one of.
        now: the session afterwards. Of its rows, those that the caller did not send: what came
            since `expected`, or all of the view where the head is another or nothing was expected;
            without payloads. None where `look` was not asked for.
        first: the number of the first row, and `count` how many rows there are; of the first time
            where it was replayed.
        changed: whether the new head was taken.
    """

    outcome: Literal["stored", "replayed", "conflict", "gone"]
    now: Reading
    first: int = 0
    count: int = 0
    changed: bool = False


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a list.

    Args:
        key: which it is.
        version: what it was.
        updated: when it was written last, and `created` first, in seconds since 1970.
        expires: when it expires; `None` for never.
        bytes: what its payloads come to.
    """

    key: Key
    version: Version
    created: float
    updated: float
    expires: float | None = None
    bytes: int = 0


class Backend(Protocol):
    """What stores sessions. Every method is an effect: it yields steps to the driver beside it."""

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out, whole or not at all, in one round trip."""
        ...

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view, or what it has grown by since a known version."""
        ...

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record by their numbers; those that were purged have no meta."""
        ...

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events behind the first `after` of them, in order."""
        ...

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List the sessions of a tenant whose ids begin with a prefix, behind the id `after`.

        They are in the order of their escaped ids (`lockstitch.stores.names.escaped`).
        """
        ...

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session with all that belongs to it; say whether there was one."""
        ...

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew, or give it another (0: no end), if it is there."""
        ...

    def sweep(self) -> Effect[int]:
        """Remove what has expired, where the server does not do so itself; return how many."""
        ...


@runtime_checkable
class Migrating(Protocol):
    """What a backend has besides that keeps a schema."""

    def migrate(self) -> Effect[tuple[int, int]]:
        """Bring the schema forward; return the version that was there, 0 for none, and the one now.

        Raises:
            SchemaTooNew: a newer version of Lockstitch made it.
        """
        ...
