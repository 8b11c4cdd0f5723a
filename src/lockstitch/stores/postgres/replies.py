"""Replies: rows of PostgreSQL as the values of the protocol.

Knows: the columns of each statement in `queries.sql`, in their order.

Must not know: how a statement is sent.
"""

from __future__ import annotations

import struct
from math import inf
from typing import TYPE_CHECKING, Any, Final, Literal

from lockstitch.stores.base import Committed, Key, Listed, Reading, Stored, Version
from lockstitch.stores.names import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lockstitch.stores.base import Commit

__all__ = ["committed", "listed", "reading", "stored"]

_EXPECTED: Final = struct.Struct(">dq")
_SESSION: Final = struct.Struct(">qqqqqd")
_LENGTH: Final = struct.Struct(">i")
_ROW: Final = struct.Struct(">qd")

_Outcome = Literal["stored", "replayed", "conflict", "gone"]
_CHANGED: Final = 2
_OUTCOMES: Final[dict[int, _Outcome]] = {
    1: "stored",
    _CHANGED: "stored",
    3: "replayed",
    4: "conflict",
    5: "gone",
}


def committed(packed: bytes, sent: Commit) -> Committed:
    """Read what became of a commit.

    Args:
        packed: the reply, as `migrations/0001_initial.sql` says.
        sent: the commit; where all is as it expected, that is all that is replied.
    """
    known = sent.expected
    if not packed[0] and known is not None:
        expires, through = _EXPECTED.unpack_from(packed, 1)
        count = len(sent.rows)
        return Committed(
            outcome="stored",
            now=Reading(
                version=Version(known.epoch, known.revision, known.seq + count),
                settings=packed[_EXPECTED.size + 1 :],
                through=through if sent.look else 0,
                expires=None if expires == inf else expires,
            ),
            first=known.seq + 1,
            count=count,
        )
    outcome = _OUTCOMES[packed[0]]
    if len(packed) == 1:
        return Committed(outcome=outcome, now=Reading(version=None))
    revision, seq, through, first, count, expires = _SESSION.unpack_from(packed, 1)
    epoch, at = _piece(packed, _SESSION.size + 1)
    settings, at = _piece(packed, at)
    head, at = _piece(packed, at)
    return Committed(
        outcome=outcome,
        now=Reading(
            version=Version(unescaped((epoch or b"").decode()), revision, seq),
            settings=settings or b"",
            head=head,
            through=through,
            rows=tuple(_rows(packed, at)),
            expires=None if expires == inf else expires,
        ),
        first=first,
        count=count,
        changed=packed[0] == _CHANGED,
    )


def _piece(packed: bytes, at: int) -> tuple[bytes | None, int]:
    """Read what stands behind its length; -1 is for nothing."""
    (length,) = _LENGTH.unpack_from(packed, at)
    at += _LENGTH.size
    return (None, at) if length < 0 else (packed[at : at + length], at + length)


def _rows(packed: bytes, at: int) -> Iterator[Stored]:
    while at < len(packed):
        seq, when = _ROW.unpack_from(packed, at)
        mark, at = _piece(packed, at + _ROW.size)
        meta, at = _piece(packed, at)
        yield Stored(seq, meta or b"", None, unescaped((mark or b"").decode()), when)


def reading(reply: list[tuple[Any, ...]]) -> Reading:
    """Read a view: a row for the session and one for each row.

    In which order the server finds the rows is its own affair; mostly it is theirs.
    """
    if not reply:
        return Reading(version=None)
    reply.sort(key=_place)
    _, seq, epoch, expires, settings, head, revision, through = reply[0]
    return Reading(
        version=Version(unescaped(epoch), revision, seq),
        settings=settings,
        head=head,
        through=through,
        rows=tuple(
            [
                Stored(seq, meta, payload, unescaped(mark), at)
                for _, seq, mark, at, meta, payload, _, _ in reply[1:]
            ]
        ),
        expires=expires,
    )


def _place(row: tuple[Any, ...]) -> Any:
    return row[:2]


def stored(reply: Iterable[Sequence[Any]]) -> tuple[Stored, ...]:
    """Read rows of the record."""
    return tuple(
        [Stored(seq, meta, payload, unescaped(mark), at) for seq, mark, at, meta, payload in reply]
    )


def listed(tenant: str | None, reply: Iterable[Sequence[Any]]) -> tuple[Listed, ...]:
    """Read a list of sessions."""
    return tuple(
        [
            Listed(
                key=Key(tenant, unescaped(text)),
                version=Version(unescaped(epoch), revision, seq),
                created=created,
                updated=updated,
                expires=expires,
                bytes=size,
            )
            for text, epoch, revision, seq, created, updated, expires, size in reply
        ]
    )
