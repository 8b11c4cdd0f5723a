"""Tables (b) and (c): an append of two messages to SQLite and PostgreSQL, by what is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import store_data
import store_postgres
import store_sqlite
from report import Section, Table, count, duration, times
from store_contenders import Contender
from store_timing import Pace, Timing, race_appends, race_reads

LENGTHS = (50, 5_000, 100_000)
WINDOW = 50


@dataclass(slots=True)
class Figures:
    """What a contender took at a length."""

    append: Timing
    read: Timing


class Stored:
    """One contender after the other on stored sessions of several lengths.

    Args:
        kinds: the contenders.
        lengths: how many messages are stored.
        pace: how much is measured.
    """

    def __init__(self, kinds: list[type[Contender]], lengths: tuple[int, ...], pace: Pace) -> None:
        self.kinds = kinds
        self.lengths = lengths
        self.pace = pace
        self.found: dict[tuple[str, int], Figures] = {}

    def measure(self, place: Callable[[type[Contender], int], Any]) -> None:
        """Measure; `place` says where the store of a contender is."""
        for length in self.lengths:
            contenders: list[Contender] = []
            try:
                for kind in self.kinds:
                    one = kind(place(kind, length), f"stored-{length}-{kind.key}", WINDOW)
                    contenders.append(one)
                    one.fill(store_data.batches(length, size=1_000))
                feeds = [store_data.units("stored") for _ in contenders]
                appends = race_appends(contenders, feeds, self.pace)
                reads = race_reads(contenders, self.pace)
            finally:
                for one in contenders:
                    one.close()
            for kind, append, read in zip(self.kinds, appends, reads, strict=True):
                self.found[kind.key, length] = Figures(append, read)

    def ratio(self, key: str, length: int, what: str = "append") -> float | None:
        """How many times its yardstick a contender takes."""
        kind = next(one for one in self.kinds if one.key == key)
        return self.over(key, kind.yardstick, length, what)

    def over(self, key: str, other: str, length: int, what: str = "append") -> float | None:
        """How many times another a contender takes."""
        mine, bare = self.found.get((key, length)), self.found.get((other, length))
        return getattr(mine, what).ratio(getattr(bare, what)) if mine and bare else None

    def table(self, title: str, what: str) -> Table:
        """The figures of one operation."""
        columns = ["contender"]
        for length in self.lengths:
            columns += [f"{count(length)} stored: median", "mean", "of the yardstick"]
        rows: list[list[str]] = []
        for kind in self.kinds:
            row = [kind.label]
            for length in self.lengths:
                timing: Timing = getattr(self.found[kind.key, length], what)
                ratio = times(self.ratio(kind.key, length, what))
                row += [duration(timing.p50), duration(timing.mean), ratio]
            rows.append(row)
        return Table(title, columns, rows)


class Sqlite(Stored):
    """Table (b)."""

    key = "b"

    def __init__(self, lengths: tuple[int, ...], pace: Pace) -> None:
        super().__init__(store_sqlite.CONTENDERS, lengths, pace)

    def run(self, folder: Any) -> None:
        """Measure in files of a folder."""
        self.measure(lambda kind, length: str(folder / f"b-{kind.key}-{length}.db"))

    def section(self) -> Section:
        """The tables."""
        lead = f"""
Two messages are appended to a session that holds many, of which a model is shown the newest
{WINDOW}; every session in a file of its own, with a write-ahead log.
The yardstick is the standard library: `BEGIN IMMEDIATE`, the same rows, a counter, `COMMIT`, with
the same pragmas, its bytes made outside the clock.
FULL waits for the disk in every commit, NORMAL does not.
Read is what the model is shown: ours is a window that is valid for a provider, the others are the
newest {WINDOW} as they stand."""
        tables = [self.table("Append two messages", "append")]
        tables.append(self.table(f"Read the newest {WINDOW}", "read"))
        return Section("b", "SQLite: append two messages, and read", lead, tables)


class Postgres(Stored):
    """Table (c)."""

    key = "c"

    def __init__(self, lengths: tuple[int, ...], pace: Pace) -> None:
        super().__init__(store_postgres.CONTENDERS, lengths, pace)
        self.major = 0

    def run(self, server: Any) -> None:
        """Measure on a running server."""
        self.major = server.major
        self.measure(lambda _kind, _length: server.url)

    def section(self) -> Section:
        """The tables."""
        lead = f"""
The same on PostgreSQL {self.major}, which does not wait for the disk here: with the wait, all rows
would be nearer to each other.
The yardstick is one statement: a function on the server that counts two messages in the locked row
of the session and inserts them, called through a pool."""
        tables = [self.table("Append two messages", "append")]
        tables.append(self.table(f"Read the newest {WINDOW}", "read"))
        return Section("c", "PostgreSQL: append two messages, and read", lead, tables)
