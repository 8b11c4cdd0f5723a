"""The backend: from an operation to the script that carries it out, and from its reply back.

Knows: which keys a session has, what each script is told, what it replies.

    lockstitch:{acme:user-42}:h    the hash tag puts all keys of a session into one slot

Must not know: clients, clocks: the time is the server's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import CorruptRow, SchemaTooNew, StoreError
from lockstitch.stores.base import Committed, Reading, Version
from lockstitch.stores.names import escaped, name_of, tenant_name
from lockstitch.stores.redis.listing import listed
from lockstitch.stores.redis.replies import expiry, stored, text, utf8, without_ranges
from lockstitch.stores.redis.sources import SCHEMA
from lockstitch.stores.redis.steps import Script

if TYPE_CHECKING:
    from lockstitch.stores.base import Commit, Effect, Key, Listed, Stored

__all__ = ["RedisBackend"]

_ENDINGS: Final = (":h", ":m", ":p")
_OUTCOMES: Final = ("gone", "stored", "replayed", "conflict")

# More rows than this would be more arguments than a server takes in one command.
_MOST_ROWS: Final = 500_000
_LARGEST: Final = 512 * 1024 * 1024 - 1
# What the server is asked for at once when rows are read by their numbers.
_PAGE_ROWS: Final = 1_000
_PAGE_BYTES: Final = 4 * 1024 * 1024
# About three hundred years; a script counts milliseconds in doubles.
_LONGEST_TTL: Final = 10**10
_COMMIT: Final = Struct("<H6d4I")


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

    >>> from lockstitch.stores.base import Key
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
        looked = len(reply) > 10  # noqa: PLR2004 - the parts of a reply are counted in its script
        now = Reading(
            version=Version(text(reply[1]), reply[2], reply[3]),
            settings=reply[6],
            head=without_ranges(reply[11]) if looked else None,
            through=reply[10] if looked else 0,
            rows=stored(reply[12], reply[13]) if len(reply) > 12 else (),  # noqa: PLR2004 - see above
            expires=expiry(reply[4], reply[5]),
        )
        return Committed(
            outcome=_OUTCOMES[outcome],
            now=now,
            first=reply[7],
            count=reply[8],
            changed=reply[9] == 1,
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
        seen = (b"", -1, 0) if known is None else (utf8(known.epoch), known.revision, known.seq)
        reply = yield Script("view", keys, (*seen, int(payloads)))
        if reply[0] < 1:
            if reply[0] < 0:
                raise _refused(reply[0], reply[1], keys)
            return Reading(version=None)
        rows: tuple[Stored, ...] = ()
        if len(reply) > 9:  # noqa: PLR2004 - the parts of a reply are counted in its script
            rows = stored(reply[9], reply[10], reply[11] if payloads else None)
        return Reading(
            version=Version(text(reply[1]), reply[2], reply[3]),
            settings=reply[6],
            head=without_ranges(reply[8]),
            through=reply[7],
            rows=rows,
            expires=expiry(reply[4], reply[5]),
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
    flags = 0
    more: list[bytes] = []
    if change.look:
        flags |= 2
    if change.exclusive:
        flags |= 4
    if change.idempotency is not None:
        flags |= 16
        more.append(utf8(change.idempotency))
    if change.note:
        flags |= 32
        more.append(change.note)
    if change.settings is not None:
        flags |= 64
        more.append(change.settings)
    new, through = change.change, 0
    if new is not None:
        flags |= 136 if new.strict else 128
        more.append(b"%b\n%b" % (_ranges(new.ranges), new.head))
        through = new.through
        if new.event:
            flags |= 256
            more.append(new.event)
        if new.purge:
            flags |= 512
            more.append(_ranges(new.purge))
    rows = change.rows
    payloads = [row.payload for row in rows]
    if len(rows) > _MOST_ROWS or max(map(len, payloads), default=0) > _LARGEST:
        raise StoreError(
            f"one commit takes {_MOST_ROWS:,} rows and a row {_LARGEST:,} bytes, "
            f"got {len(rows):,} rows of {sum(map(len, payloads)):,} bytes: append them in parts"
        )
    seen_epoch, revision, seq = b"", 0, 0
    if change.expected is not None:
        flags |= 1
        seen_epoch = utf8(change.expected.epoch)
        revision, seq = change.expected.revision, change.expected.seq
    mark, epoch = f"{escaped(change.mark)} ".encode(), utf8(change.epoch)
    packed = _COMMIT.pack(
        flags,
        revision,
        seq,
        len(rows),
        _milliseconds(change.ttl),
        through,
        change.after,
        len(mark),
        len(seen_epoch),
        len(epoch),
        len(name),
    )
    return (
        b"".join((packed, mark, seen_epoch, epoch, name, change.initial)),
        *more,
        *[row.meta for row in rows],
        *payloads,
    )


def _ranges(ranges: tuple[int, ...]) -> bytes:
    return " ".join(map(str, ranges)).encode()


def _milliseconds(ttl: float | None) -> int:
    """Return a time to live as scripts read it; a part of a millisecond counts as a whole one."""
    if ttl is None:
        return -1
    if not 0 <= ttl < _LONGEST_TTL:
        raise ValueError(f"a session lives for 0 to {_LONGEST_TTL:,} seconds, got {ttl!r}")
    return math.ceil(ttl * 1_000)


def _refused(outcome: int, why: Any, keys: tuple[bytes, ...]) -> StoreError:
    """Return the error of a script that refused."""
    where = keys[0][:-2].decode()
    if outcome == -1:
        return SchemaTooNew(found=why, known=SCHEMA, where=where)
    return CorruptRow(f"{where} is damaged: {why.decode()}")
