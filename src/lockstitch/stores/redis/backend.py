"""The backend: from an operation to the script that carries it out, and from its reply back.

Knows: which keys a session has, what each script is told, what it replies.

    lockstitch:{acme:user-42}:h    the hash tag puts all keys of a session into one slot

Must not know: clients, clocks: the time is the server's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import CorruptRow, SchemaTooNew, StoreError
from lockstitch.stores.base import Committed, Reading, Version
from lockstitch.stores.names import escaped, name_of, tenant_name
from lockstitch.stores.redis.listing import listed
from lockstitch.stores.redis.replies import expiry, stored, text, utf8
from lockstitch.stores.redis.sources import SCHEMA
from lockstitch.stores.redis.steps import Script

if TYPE_CHECKING:
    from lockstitch.stores.base import Commit, Effect, Key, Listed, Stored

__all__ = ["RedisBackend"]

_ENDINGS: Final = (":h", ":m", ":p", ":k", ":e")
_OUTCOMES: Final = ("gone", "stored", "replayed", "conflict")

# More rows than this would be more arguments than a server takes in one command.
_MOST_ROWS: Final = 500_000
_LARGEST: Final = 512 * 1024 * 1024 - 1
# What the server is asked for at once when rows are read by their numbers.
_PAGE_ROWS: Final = 1_000
_PAGE_BYTES: Final = 4 * 1024 * 1024
# A script counts in doubles: beyond this its milliseconds would not be exact.
_LONGEST_TTL: Final = 10**11


@lru_cache(maxsize=4_096)
def _keys(prefix: str, key: Key) -> tuple[tuple[bytes, ...], bytes]:
    """Return the keys of a session, and its name in full."""
    base = f"{prefix}{{{name_of(key)}}}"
    whose = tenant_name(None) if key.tenant is None else escaped(key.tenant)
    return (
        tuple([f"{base}{ending}".encode() for ending in _ENDINGS]),
        f"{whose}:{escaped(key.id)}".encode(),
    )


class RedisBackend:
    """Sessions in Redis or Valkey, 6.2 or newer.

    Args:
        prefix: what the name of every key begins with.

    Raises:
        ValueError: the prefix has a brace in it, which would decide where sessions are put.

    >>> step = RedisBackend().touch(Key("acme", "user-42")).send(None)
    >>> step.name, step.keys[0]
    ('touch', b'lockstitch:{acme:user-42}:h')
    """

    def __init__(self, prefix: str = "lockstitch:") -> None:
        if "{" in prefix or "}" in prefix:
            raise ValueError(f"a prefix of keys has no braces, got {prefix!r:.60}")
        self._prefix = prefix

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out.

        Raises:
            StoreError: it is larger than what a server takes at once.
            CorruptRow: what is stored is damaged, or is not ours.
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        keys, name = _keys(self._prefix, change.key)
        reply = yield Script("commit", keys, _arguments(change, name))
        outcome = reply[0]
        if outcome < 0:
            raise _refused(outcome, reply[1], keys)
        if len(reply) == 1:
            return Committed(outcome=_OUTCOMES[outcome], now=Reading(version=None))
        version = Version(text(reply[1]), reply[2], reply[3])
        expires = expiry(reply[4])
        if len(reply) == 9:  # noqa: PLR2004 - nothing was looked for
            now = Reading(version=version, settings=reply[5], expires=expires)
        else:
            now = Reading(
                version=version,
                settings=reply[5],
                head=reply[10],
                through=reply[9],
                rows=stored(reply[11], reply[12]) if len(reply) > 11 else (),  # noqa: PLR2004
                expires=expires,
            )
        return Committed(
            outcome=_OUTCOMES[outcome],
            now=now,
            first=reply[6],
            count=reply[7],
            changed=reply[8] == 1,
        )

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view.

        Raises:
            CorruptRow: what is stored is damaged.
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        keys, _ = _keys(self._prefix, key)
        reply = yield Script("view", keys, (*_seen(known), int(payloads)))
        if reply[0] < 1:
            if reply[0] < 0:
                raise _refused(reply[0], reply[1], keys)
            return Reading(version=None)
        rows: tuple[Stored, ...] = ()
        if len(reply) > 8:  # noqa: PLR2004 - there are rows
            rows = stored(reply[8], reply[9], reply[10] if payloads else None)
        return Reading(
            version=Version(text(reply[1]), reply[2], reply[3]),
            settings=reply[5],
            head=reply[7],
            through=reply[6],
            rows=rows,
            expires=expiry(reply[4]),
        )

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record, page by page.

        Raises:
            CorruptRow: what is stored is damaged.
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        keys, _ = _keys(self._prefix, key)
        life: bytes | None = None
        found: list[Stored] = []
        start, stop = first, last
        while start <= stop:
            asked = (start, stop, int(payloads), _PAGE_ROWS, _PAGE_BYTES)
            reply = yield Script("rows", keys, asked)
            if reply[0] < 1:
                if reply[0] < 0:
                    raise _refused(reply[0], reply[1], keys)
                return ()
            _, epoch, seq, start, rows, texts = reply
            if life not in {None, epoch}:
                # Another session has its id by now: what was read so far is of one that is gone.
                life, start, stop, found = None, first, last, []
                continue
            life, stop = epoch, min(stop, seq)
            if not rows:
                break
            span = (start, start + len(rows) - 1)
            found += stored(span, rows, texts if payloads else None)
            start += len(rows)
        return tuple(found)

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        keys, _ = _keys(self._prefix, key)
        reply = yield Script("events", keys, (after, limit))
        if reply[0] < 1:
            if reply[0] < 0:
                raise _refused(reply[0], reply[1], keys)
            return ()
        return tuple(reply[1])

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List sessions: every key of every server is looked at, so this is for people.

        Raises:
            CorruptRow: what is stored is damaged, or is not ours.
            SchemaTooNew: a newer version of Lockstitch wrote one of them.
        """
        return listed(self._prefix, tenant, prefix, after, limit)

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session, damaged or not.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        return self._said("delete", key)

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote the session.
        """
        return self._said("touch", key, _milliseconds(ttl))

    def _said(self, script: str, key: Key, *arguments: Any) -> Effect[bool]:
        keys, _ = _keys(self._prefix, key)
        reply = yield Script(script, keys, arguments)
        if reply[0] < 0:
            raise _refused(reply[0], reply[1], keys)
        return bool(reply[0])

    def sweep(self) -> Effect[int]:
        """Do nothing: the server removes what has expired."""
        yield from ()
        return 0


def _arguments(change: Commit, name: bytes) -> tuple[Any, ...]:
    """Return what the script of a commit is told, in the order that it says."""
    letters = ("x" if change.exclusive else "") + ("l" if change.look else "")
    more: list[bytes] = []
    if change.idempotency is not None:
        letters += "i"
        more.append(utf8(change.idempotency))
    if change.note:
        letters += "n"
        more.append(change.note)
    if change.settings is not None:
        letters += "s"
        more.append(change.settings)
    new = change.change
    if new is not None:
        letters += "ct" if new.strict else "c"
        ranges, purge = _ranges(new.ranges), _ranges(new.purge)
        more += (new.head, ranges, b"%d" % new.through, new.event, purge)
    rows = change.rows
    payloads = [row.payload for row in rows]
    if len(rows) > _MOST_ROWS or max(map(len, payloads), default=0) > _LARGEST:
        raise StoreError(
            f"one commit takes {_MOST_ROWS:,} rows and a row {_LARGEST:,} bytes, "
            f"got {len(rows):,} rows of {sum(map(len, payloads)):,} bytes: append them in parts"
        )
    return (
        escaped(change.mark).encode(),
        *_seen(change.expected),
        letters.encode(),
        len(rows),
        _milliseconds(change.ttl),
        utf8(change.epoch),
        change.after,
        change.initial,
        name,
        *more,
        *[row.meta for row in rows],
        *payloads,
    )


def _seen(known: Version | None) -> tuple[Any, ...]:
    """Return a version as scripts read it."""
    return (b"", b"-", 0) if known is None else (utf8(known.epoch), known.revision, known.seq)


def _ranges(ranges: tuple[int, ...]) -> bytes:
    return " ".join(map(str, ranges)).encode()


def _milliseconds(ttl: float | None) -> bytes | int:
    """Return a time to live as scripts read it; a part of a millisecond counts as a whole one."""
    if ttl is None:
        return b""
    if not 0 <= ttl < _LONGEST_TTL:
        raise ValueError(f"a session lives for 0 to {_LONGEST_TTL:,} seconds, got {ttl!r}")
    return math.ceil(ttl * 1_000)


def _refused(outcome: int, why: Any, keys: tuple[bytes, ...]) -> StoreError:
    """Return the error of a script that refused."""
    where = keys[0][:-2].decode()
    if outcome == -1:
        return SchemaTooNew(found=why, known=SCHEMA, where=where)
    return CorruptRow(f"{where} is damaged: {text(why)}")
