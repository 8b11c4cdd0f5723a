"""Reading: a session, its view and its record, out of the tables.

Knows: how what is stored becomes the values of the protocol. All of it runs inside a transaction
that the caller began.

Must not know: who else reads or writes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from lockstitch.stores.base import TAIL, Key, Listed, Reading, Stored, Version
from lockstitch.stores.names import escaped, tenant_name, unescaped

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from lockstitch.stores.sqlite.statements import Statements

__all__ = [
    "Session",
    "find",
    "named",
    "pairs",
    "read_events",
    "read_rows",
    "read_sessions",
    "read_view",
    "seen_of",
]

_MOST: Final = 2**63 - 1
_RANGES: Final = msgspec.json.Decoder(tuple[int, ...])

# Escaped ids hold neither, and every character in them is between the two.
_FIRST: Final = "\x01"
_LAST: Final = "\x7f"


class Session(msgspec.Struct):
    """A row of the table of sessions."""

    session: int
    epoch: str
    revision: int
    start: int
    seq: int
    through: int
    events: int
    size: int
    ttl: float
    expires: float | None
    settings: bytes

    @property
    def version(self) -> Version:
        """What it is now."""
        return Version(self.epoch, self.revision, self.seq)

    def at(self, version: Version | None) -> bool:
        """Whether its head is the one that somebody saw, and the rows are there that they saw."""
        return (
            version is not None
            and version.revision == self.revision
            and version.seq <= self.seq
            and version.epoch == self.epoch
        )

    def over(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


def _plain(text: str) -> str:
    """Read an escaped text; most of them are what they were."""
    return unescaped(text) if "%" in text else text


def _held(number: int) -> int:
    """Return a number, or the nearest that SQLite can hold."""
    return max(min(number, _MOST), -_MOST)


@lru_cache(maxsize=1_024)
def named(key: Key) -> tuple[str, str]:
    """Return the tenant and the id of a session as they are stored."""
    return tenant_name(key.tenant), escaped(key.id)


def find(cursor: sqlite3.Cursor, sql: Statements, key: Key) -> Session | None:
    """Return a session, expired or not."""
    row = cursor.execute(sql.find, named(key)).fetchone()
    if row is None:
        return None
    session = Session(*row)
    session.epoch = _plain(session.epoch)
    return session


def pairs(ranges: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """Return the pairs of ranges that are written first, last, first, last.

    >>> list(pairs((1, 4, 9, 9)))
    [(1, 4), (9, 9)]
    """
    return zip(ranges[::2], ranges[1::2], strict=True)


def _joined(ranges: bytes) -> list[tuple[int, int]]:
    """Return the pairs of stored ranges; those that go on where another ends are one."""
    joined: list[tuple[int, int]] = []
    for first, last in pairs(_RANGES.decode(ranges)):
        if last < first:
            continue
        if joined and first == joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return joined


def read_rows(
    cursor: sqlite3.Cursor, sql: Statements, session: int, first: int, last: int, *, payloads: bool
) -> list[Stored]:
    """Return rows by their numbers."""
    found = cursor.execute(
        sql.rows if payloads else sql.bare_rows, (session, _held(first), _held(last))
    )
    return [Stored(seq, meta, payload, _plain(mark), at) for seq, meta, payload, mark, at in found]


def seen_of(
    cursor: sqlite3.Cursor,
    sql: Statements,
    session: Session,
    known: Version | None,
    *,
    payloads: bool,
) -> tuple[bytes | None, list[Stored]]:
    """Return the head and the rows that somebody has not seen; `None` for a head that they have."""
    head: bytes | None = None
    rows: list[Stored] = []
    if known is not None and session.at(known):
        behind = known.seq
    else:
        head, behind = b"", max(session.through, session.seq - TAIL)
        if session.revision:
            ranges, head = cursor.execute(sql.head, (session.session,)).fetchone()
            for pair in _joined(ranges):
                rows += read_rows(cursor, sql, session.session, *pair, payloads=payloads)
    if behind < session.seq:
        rows += read_rows(cursor, sql, session.session, behind + 1, session.seq, payloads=payloads)
    return head, rows


def read_view(
    cursor: sqlite3.Cursor,
    sql: Statements,
    key: Key,
    known: Version | None,
    now: float,
    *,
    payloads: bool,
) -> Reading:
    """Return the view of the session with a key."""
    session = find(cursor, sql, key)
    if session is None or session.over(now):
        return Reading(version=None)
    head, rows = seen_of(cursor, sql, session, known, payloads=payloads)
    return Reading(
        version=session.version,
        settings=session.settings,
        head=head,
        through=session.through,
        rows=tuple(rows),
        expires=session.expires,
    )


def read_events(
    cursor: sqlite3.Cursor, sql: Statements, session: Session, after: int, limit: int
) -> tuple[bytes, ...]:
    """Return the events of a session behind the first few."""
    found = cursor.execute(sql.events, (session.session, _held(after), _held(limit)))
    return tuple([body for (body,) in found])


def read_sessions(
    cursor: sqlite3.Cursor,
    sql: Statements,
    tenant: str | None,
    prefix: str,
    after: str | None,
    *,
    limit: int,
    now: float,
) -> tuple[Listed, ...]:
    """Return the sessions of a tenant whose ids begin with a prefix, behind an id."""
    beginning = escaped(prefix)
    lower = beginning if after is None else max(beginning, escaped(after) + _FIRST)
    found = cursor.execute(
        sql.sessions, (tenant_name(tenant), lower, beginning + _LAST, now, _held(limit))
    )
    return tuple(
        [
            Listed(
                key=Key(tenant, unescaped(id)),
                version=Version(_plain(epoch), revision, seq),
                created=created,
                updated=updated,
                expires=expires,
                bytes=size,
            )
            for id, epoch, revision, seq, created, updated, expires, size in found
        ]
    )
