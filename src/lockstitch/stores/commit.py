"""What a commit does, on plain lists: the model that every backend is held to.

Knows: the order of the checks, and that nothing is written before all of them are through.

    1  a key that was used, or a mark among the newest rows    replayed, nothing is written
    2  exclusive, and the session is not at what was expected  conflict, nothing is written
    3  rows are appended
    4  the new head is taken if nobody else has written one    else it is left out
    5  what came since the caller looked is replied

Must not know: I/O, clocks (the time comes in), what rows and heads mean. The memory backend is this
and a dictionary.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from lockstitch.stores.base import (
    LOOK_BACK,
    TAIL,
    Change,
    Commit,
    Committed,
    Key,
    Listed,
    Reading,
    Stored,
    Version,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Ledger", "commit"]


class Ledger:
    """One session, stored.

    Args:
        key: which it is.
        epoch: names this life of it.
        settings: what it was made with.
        after: the number behind which rows are counted.
        now: the time, in seconds since 1970.
    """

    __slots__ = (
        "created",
        "epoch",
        "events",
        "expires",
        "head",
        "key",
        "keys",
        "offset",
        "ranges",
        "revision",
        "rows",
        "settings",
        "size",
        "through",
        "ttl",
        "updated",
    )

    def __init__(self, key: Key, epoch: str, settings: bytes, after: int, now: float) -> None:
        self.key = key
        self.epoch = epoch
        self.revision = 0
        self.offset = self.through = after
        self.head = b""
        self.ranges: tuple[int, ...] = ()
        self.settings = settings
        self.rows: list[Stored] = []
        self.keys: dict[str, tuple[int, int]] = {}
        self.events: list[bytes] = []
        self.created = self.updated = now
        self.ttl = 0.0
        self.expires: float | None = None
        self.size = 0

    @property
    def seq(self) -> int:
        """The number of the newest row."""
        return self.offset + len(self.rows)

    @property
    def version(self) -> Version:
        """What it is now."""
        return Version(self.epoch, self.revision, self.seq)

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now

    def listed(self) -> Listed:
        """Return what a list of sessions says of it."""
        return Listed(
            key=self.key,
            version=self.version,
            created=self.created,
            updated=self.updated,
            expires=self.expires,
            bytes=self.size,
        )

    def between(self, first: int, last: int) -> Iterable[Stored]:
        """Return rows by their numbers; what lies outside the record is not there."""
        return self.rows[max(first - 1 - self.offset, 0) : max(last - self.offset, 0)]

    def follows(self, known: Version) -> bool:
        """Whether it has only grown since it was at a version.

        One that is ahead of it is of rows that were acknowledged and lost, as in a failover.
        """
        same = (known.epoch, known.revision) == (self.epoch, self.revision)
        return same and known.seq <= self.seq

    def reading(self, known: Version | None, stop: int, *, payloads: bool) -> Reading:
        """Return the view, of rows up to `stop`, or what it has grown by since a known version."""
        same = known is not None and self.follows(known)
        if same and known is not None:
            rows = self.between(known.seq + 1, stop)
        else:
            rows = chain(
                chain.from_iterable(self.between(*pair) for pair in _pairs(self.ranges)),
                self.between(max(self.through, stop - TAIL) + 1, stop),
            )
        return Reading(
            version=self.version,
            settings=self.settings,
            head=None if same else self.head,
            through=self.through,
            rows=tuple(rows) if payloads else tuple(map(_bare, rows)),
            expires=self.expires,
        )

    # --- writing ---------------------------------------------------------------------------------

    def earlier(self, change: Commit) -> tuple[int, int] | None:
        """Return the first row and the number of rows of the same commit, if it came before."""
        if change.idempotency is not None and change.idempotency in self.keys:
            return self.keys[change.idempotency]
        seen = change.expected
        start = self.seq - LOOK_BACK
        if seen is not None and seen.epoch == self.epoch and seen.seq <= self.seq:
            start = seen.seq
        marked = [row.seq for row in self.between(start + 1, self.seq) if row.mark == change.mark]
        return (marked[0], len(marked)) if marked else None

    def append(self, change: Commit, now: float) -> int:
        """Append the rows of a commit, and return the number of the first."""
        first = self.seq + 1
        for seq, row in enumerate(change.rows, first):
            self.rows.append(Stored(seq, row.meta, row.payload, change.mark, now))
            self.size += len(row.payload)
        if change.idempotency is not None:
            self.keys[change.idempotency] = (first, len(change.rows))
        if change.note:
            self.events.append(change.note)
        return first

    def holds(self, change: Change, expected: Version | None, seq: int) -> bool:
        """Whether a new head still holds; `seq` is the newest row that was there before."""
        if expected is None or not self.follows(expected):
            return False
        return not change.strict or expected.seq == seq

    def take(self, change: Change) -> None:
        """Write a new head."""
        self.head, self.ranges, self.through = change.head, change.ranges, change.through
        self.revision += 1
        if change.event:
            self.events.append(change.event)
        for first, last in _pairs(change.purge):
            for row in self.between(first, last):
                self.size -= len(row.payload or b"")
                self.rows[row.seq - 1 - self.offset] = Stored(row.seq, b"", b"", row.mark, row.at)

    def renew(self, ttl: float | None, now: float) -> None:
        """Let its time begin anew."""
        if ttl is not None:
            self.ttl = ttl
        self.updated = now
        self.expires = now + self.ttl if self.ttl else None


def _bare(row: Stored) -> Stored:
    return Stored(row.seq, row.meta, None, row.mark, row.at)


def _pairs(ranges: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """Return the pairs of ranges that are written first, last, first, last."""
    return zip(ranges[::2], ranges[1::2], strict=True)


def commit(ledger: Ledger | None, change: Commit, now: float) -> tuple[Ledger | None, Committed]:
    """Carry a commit out on a session, or on none.

    Args:
        ledger: the session; `None` when there is none, or its time is over.
        change: what is written.
        now: the time, in seconds since 1970.

    Returns:
        The session, which is another where one was made, and what is replied.
    """
    if ledger is None:
        if change.exclusive and change.expected is not None:
            return None, Committed(outcome="conflict", now=Reading(version=None))
        if not change.rows and change.settings is None:
            return None, Committed(outcome="gone", now=Reading(version=None))
        ledger = Ledger(change.key, change.epoch, change.initial, change.after, now)
    else:
        before = ledger.earlier(change)
        if before is not None:
            first, count = before
            seen = _look(ledger, change, ledger.seq)
            return ledger, Committed(outcome="replayed", now=seen, first=first, count=count)
        if change.exclusive and change.expected != ledger.version:
            seen = _look(ledger, change, ledger.seq)
            return ledger, Committed(outcome="conflict", now=seen)
    seq = ledger.seq
    taken = change.change is not None and ledger.holds(change.change, change.expected, seq)
    seen = _look(ledger, change, seq)
    first = ledger.append(change, now)
    if taken and change.change is not None:
        ledger.take(change.change)
    if change.settings is not None:
        ledger.settings = change.settings
    ledger.renew(change.ttl, now)
    after = Reading(
        version=ledger.version,
        settings=ledger.settings,
        head=seen.head,
        through=seen.through,
        rows=seen.rows,
        expires=ledger.expires,
    )
    return ledger, Committed(
        outcome="stored", now=after, first=first, count=len(change.rows), changed=taken
    )


def _look(ledger: Ledger, change: Commit, stop: int) -> Reading:
    """Return what the caller has not seen of the rows that were there before its own."""
    if not change.look:
        return Reading(version=ledger.version, settings=ledger.settings, expires=ledger.expires)
    return ledger.reading(change.expected, stop, payloads=False)
