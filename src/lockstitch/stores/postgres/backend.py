"""The PostgreSQL backend: one statement an operation.

Knows: how a commit becomes the arguments of a function on the server. What is one session there is
one row that is locked; everything that `lockstitch.stores.commit` says is carried out by that
function, behind the lock, in one round trip.

Must not know: any client of PostgreSQL, messages, formats.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from lockstitch.stores.names import escaped, name_of, tenant_name
from lockstitch.stores.postgres import replies
from lockstitch.stores.postgres.migrating import migrating, preparing
from lockstitch.stores.postgres.statements import (
    Names,
    Statement,
    bigint_array,
    bytea_array,
    queries,
)

if TYPE_CHECKING:
    from lockstitch.stores.base import (
        Commit,
        Committed,
        Effect,
        Key,
        Listed,
        Reading,
        Stored,
        Version,
    )

__all__ = ["PostgresBackend"]

# Some three thousand years: what PostgreSQL can still add to a time.
_LONGEST_TTL: Final = 1e11
# What one statement of a sweep removes: locks are held until it is through.
_SWEPT_AT_ONCE: Final = 500


class PostgresBackend:
    """Sessions in tables.

    Args:
        schema: the schema that the tables are in; it is made when it is not there.
        prefix: what the names of all tables and functions begin with.

    Raises:
        ValueError: one of them is no name.
    """

    def __init__(self, *, schema: str = "public", prefix: str = "lockstitch_") -> None:
        self._names = Names(schema, prefix)
        self._sql = queries(self._names)

    def _statement(self, called: str, /, **values: Any) -> Statement:
        return Statement(called, self._sql[called], values)

    def prepare(self) -> Effect[bool]:
        """Look at the schema, and bring it up to this version if it is older or not there.

        Returns:
            Whether there was anything to bring up.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
        """
        return preparing(self._names)

    def migrate(self) -> Effect[tuple[int, int]]:
        """Bring the schema up to this version, whatever there is.

        Returns:
            The version that was there, 0 for none, and the one that is there now.

        Raises:
            SchemaTooNew: a newer version of Lockstitch has been here.
        """
        return migrating(self._names)

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out, whole or not at all, in one round trip."""
        expected, new = change.expected, change.change
        name, id = _named(change.key)
        values = {
            "name": name,
            "id": id,
            "mark": _plain(change.mark),
            "epoch": None if expected is None else _plain(expected.epoch),
            "revision": None if expected is None else str(expected.revision),
            "seq": None if expected is None else str(expected.seq),
            "metas": bytea_array([row.meta for row in change.rows]),
            "payloads": bytea_array([row.payload for row in change.rows]),
            "size": str(sum([len(row.payload) for row in change.rows])),
            "look": change.look,
            "exclusive": change.exclusive,
            "born": _plain(change.epoch),
            "after": str(change.after),
            "initial": change.initial,
            "note": change.note or None,
        }
        if (
            new is None
            and change.idempotency is None
            and change.settings is None
            and change.ttl is None
        ):
            reply = yield Statement("append", self._sql["append"], values)
            return replies.committed(reply[0][0], change)
        values |= {
            "key": None if change.idempotency is None else _hashed(change.idempotency),
            "settings": change.settings,
            "ttl": _seconds(change.ttl),
            "head": None,
            "ranges": None,
            "through": None,
            "strict": None,
            "event": None,
            "purge": None,
        }
        if new is not None:
            values |= {
                "head": new.head,
                "ranges": bigint_array(new.ranges),
                "through": str(new.through),
                "strict": new.strict,
                "event": new.event or None,
                "purge": bigint_array(new.purge) if new.purge else None,
            }
        reply = yield Statement("commit", self._sql["commit"], values)
        return replies.committed(reply[0][0], change)

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view, or what it has grown by since a known version."""
        reply = yield self._statement(
            "view",
            name=name_of(key),
            epoch=None if known is None else escaped(known.epoch),
            revision=None if known is None else str(known.revision),
            seq=None if known is None else str(known.seq),
            payloads=payloads,
        )
        return replies.reading(reply)

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record by their numbers; those that were purged have no meta."""
        reply = yield self._statement(
            "rows", name=name_of(key), first=str(first), last=str(last), payloads=payloads
        )
        return replies.stored(reply)

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events behind the first `after` of them, in order."""
        reply = yield self._statement(
            "events", name=name_of(key), after=str(after), limit=str(limit)
        )
        return tuple([body for (body,) in reply])

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List the sessions of a tenant whose ids begin with a prefix, behind the id `after`."""
        begins = escaped(prefix)
        behind = None if after is None else escaped(after)
        reply = yield self._statement(
            "sessions",
            tenant=tenant_name(tenant),
            prefix=begins,
            after=behind,
            start=max(begins, behind or ""),
            limit=str(limit),
        )
        return replies.listed(tenant, reply)

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session with all that belongs to it; say whether there was one."""
        reply = yield self._statement("delete", name=name_of(key))
        there: bool = reply[0][0]
        return there

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew, or give it another (0: no end), if it is there."""
        reply = yield self._statement("touch", name=name_of(key), ttl=_seconds(ttl))
        there: bool = reply[0][0]
        return there

    def sweep(self) -> Effect[int]:
        """Remove what has expired, some hundred sessions a statement; say how many there were."""
        swept = 0
        while True:
            reply = yield self._statement("sweep", limit=str(_SWEPT_AT_ONCE))
            found: int = reply[0][0]
            swept += found
            if found < _SWEPT_AT_ONCE:
                return swept


@lru_cache(maxsize=1_024)
def _named(key: Key) -> tuple[str, str]:
    """Return the name of a session and its escaped id; most commits are to one of a few."""
    return name_of(key), escaped(key.id)


def _plain(text: str) -> str:
    """Escape what is made by us and hardly ever needs it."""
    return text if text.isascii() and text.isalnum() else escaped(text)


def _hashed(key: str) -> bytes:
    """Hash a key of the caller's: it may hold what no column takes, and be of any length."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _seconds(ttl: float | None) -> str | None:
    return None if ttl is None else str(min(ttl, _LONGEST_TTL))
