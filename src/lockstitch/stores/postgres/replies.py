"""Replies: rows of PostgreSQL as the values of the protocol.

Knows: the columns of each statement in `queries.sql`, in their order.

Must not know: how a statement is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.stores.base import Committed, Key, Listed, Reading, Stored, Version
from lockstitch.stores.names import unescaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["committed", "listed", "reading", "stored"]


def committed(reply: Sequence[Any]) -> Committed:
    """Read what became of a commit."""
    (
        outcome,
        epoch,
        revision,
        seq,
        settings,
        expires,
        head,
        through,
        first,
        count,
        changed,
        seqs,
        marks,
        ats,
        metas,
    ) = reply
    if epoch is None:
        return Committed(outcome=outcome, now=Reading(version=None))
    rows: tuple[Stored, ...] = ()
    if seqs:
        rows = tuple(
            [
                Stored(seq, meta, None, unescaped(mark), at)
                for seq, mark, at, meta in zip(seqs, marks, ats, metas, strict=True)
            ]
        )
    now = Reading(
        version=Version(unescaped(epoch), revision, seq),
        settings=settings,
        head=head,
        through=through,
        rows=rows,
        expires=expires,
    )
    return Committed(outcome=outcome, now=now, first=first, count=count, changed=changed)


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
