"""Committing: what `lockstitch.stores.commit` does to lists, done to tables.

Knows: the order of its checks, and which of them need no statement. All of it runs inside a
transaction that the caller began, and rolls back whole.

Must not know: who else reads or writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from lockstitch.stores.base import LOOK_BACK, Change, Commit, Committed, Reading, Version
from lockstitch.stores.names import escaped
from lockstitch.stores.sqlite.reading import Session, find, named, pairs, seen_of

if TYPE_CHECKING:
    import sqlite3

    from lockstitch.stores.base import Stored
    from lockstitch.stores.sqlite.statements import Statements

__all__ = ["commit", "remove"]

_Seen: TypeAlias = "tuple[bytes | None, int, list[Stored]]"

_RANGES: Final = msgspec.json.Encoder()


def commit(cursor: sqlite3.Cursor, sql: Statements, change: Commit, now: float) -> Committed:
    """Carry a commit out.

    Args:
        cursor: runs the statements, inside a transaction that writes.
        sql: the statements.
        change: what is written.
        now: the time, in seconds since 1970.
    """
    session = find(cursor, sql, change.key)
    if session is None or session.over(now):
        if change.exclusive and change.expected is not None:
            return Committed(outcome="conflict", now=Reading(version=None))
        if not change.rows and change.settings is None:
            return Committed(outcome="gone", now=Reading(version=None))
        if session is not None:
            remove(cursor, sql, session.session)
        session = _made(cursor, sql, change, now)
    else:
        before = _earlier(cursor, sql, session, change)
        if before is not None:
            seen = _look(cursor, sql, session, change)
            return _reply("replayed", session, seen, *before)
        if change.exclusive and change.expected != session.version:
            return _reply("conflict", session, _look(cursor, sql, session, change))
    # Before anything is written: neither the caller's own rows nor its head are news to it.
    seen = _look(cursor, sql, session, change)
    first = session.seq + 1
    head = change.change
    taken = head is not None and _holds(head, change.expected, session)
    _append(cursor, sql, session, change, now)
    if taken and head is not None:
        _take(cursor, sql, session, head)
    _renew(cursor, sql, session, change, now)
    return _reply("stored", session, seen, first, len(change.rows), changed=taken)


def _look(cursor: sqlite3.Cursor, sql: Statements, session: Session, change: Commit) -> _Seen:
    """Return what the caller has not seen of the rows that are there."""
    if not change.look:
        return None, 0, []
    head, rows = seen_of(cursor, sql, session, change.expected, payloads=False)
    return head, session.through, rows


def _reply(
    outcome: Literal["stored", "replayed", "conflict"],
    session: Session,
    seen: _Seen,
    first: int = 0,
    count: int = 0,
    *,
    changed: bool = False,
) -> Committed:
    head, through, rows = seen
    return Committed(
        outcome=outcome,
        now=Reading(
            version=session.version,
            settings=session.settings,
            head=head,
            through=through,
            rows=tuple(rows),
            expires=session.expires,
        ),
        first=first,
        count=count,
        changed=changed,
    )


def _renew(
    cursor: sqlite3.Cursor, sql: Statements, session: Session, change: Commit, now: float
) -> None:
    """Write the row of the session anew."""
    same = (session.revision, session.seq, session.through, session.events, session.size, now)
    if change.ttl is None and change.settings is None and session.expires is None:
        # Most commits; the index of what expires has no part in them.
        cursor.execute(sql.advance, (*same, session.session))
        return
    if change.settings is not None:
        session.settings = change.settings
    if change.ttl is not None:
        session.ttl = change.ttl
    session.expires = now + session.ttl if session.ttl else None
    cursor.execute(
        sql.renew,
        (*same, session.ttl, session.expires, session.settings, session.session),
    )


def remove(cursor: sqlite3.Cursor, sql: Statements, session: int) -> None:
    """Delete a session with all that belongs to it."""
    for statement in (
        sql.delete_rows,
        sql.delete_head,
        sql.delete_keys,
        sql.delete_events,
        sql.delete_session,
    ):
        cursor.execute(statement, (session,))


def _made(cursor: sqlite3.Cursor, sql: Statements, change: Commit, now: float) -> Session:
    epoch, after = escaped(change.epoch), change.after
    cursor.execute(
        sql.make, (*named(change.key), epoch, after, after, after, now, now, change.initial)
    )
    made = cursor.lastrowid or 0
    return Session(made, change.epoch, 0, after, after, after, 0, 0, 0.0, None, change.initial)


def _earlier(
    cursor: sqlite3.Cursor, sql: Statements, session: Session, change: Commit
) -> tuple[int, int] | None:
    """Return the first row and the number of rows of the same commit, if it came before."""
    if change.idempotency is not None:
        used: tuple[int, int] | None = cursor.execute(
            sql.key, (session.session, escaped(change.idempotency))
        ).fetchone()
        if used is not None:
            return used
    expected = change.expected
    start = session.seq - LOOK_BACK
    if expected is not None and expected.epoch == session.epoch:
        start = expected.seq
    if start >= session.seq:
        return None  # nobody has written since, not even this commit
    first, count = cursor.execute(
        sql.marked, (session.session, start, escaped(change.mark))
    ).fetchone()
    return (first, count) if count else None


def _append(
    cursor: sqlite3.Cursor, sql: Statements, session: Session, change: Commit, now: float
) -> None:
    first = session.seq + 1
    if change.rows:
        number, mark = session.session, escaped(change.mark)
        rows = []
        for seq, row in enumerate(change.rows, first):
            rows.append((number, seq, mark, now, row.meta, row.payload))
            session.size += len(row.payload)
        cursor.executemany(sql.append, rows)
        session.seq += len(rows)
    if change.idempotency is not None:
        cursor.execute(
            sql.set_key,
            (session.session, escaped(change.idempotency), first, len(change.rows)),
        )
    if change.note:
        _remember(cursor, sql, session, change.note)


def _remember(cursor: sqlite3.Cursor, sql: Statements, session: Session, event: bytes) -> None:
    session.events += 1
    cursor.execute(sql.event, (session.session, session.events, event))


def _holds(head: Change, expected: Version | None, session: Session) -> bool:
    """Whether a new head still holds; no rows have been appended yet."""
    return (
        expected is not None
        and session.at(expected)
        and (not head.strict or expected.seq == session.seq)
    )


def _take(cursor: sqlite3.Cursor, sql: Statements, session: Session, head: Change) -> None:
    cursor.execute(
        sql.set_head if session.revision else sql.make_head,
        (_RANGES.encode(head.ranges), head.head, session.session),
    )
    session.revision += 1
    session.through = head.through
    if head.event:
        _remember(cursor, sql, session, head.event)
    for first, last in pairs(head.purge):
        (size,) = cursor.execute(sql.weigh, (session.session, first, last)).fetchone()
        cursor.execute(sql.purge, (session.session, first, last))
        session.size -= size
