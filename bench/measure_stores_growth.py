"""Table (d): what an append and a window of Lockstitch cost as the stored session grows."""

from __future__ import annotations

from typing import Any

import store_data
import store_postgres
import store_redis
import store_sqlite
from report import Section, Table, count, duration, times
from store_contenders import Contender, Ours
from store_timing import Pace, Timing, race_appends, race_reads

LENGTHS = (50, 1_000, 10_000, 100_000)
WINDOW = 50


class Memory(Ours):
    """Lockstitch in memory."""

    def store(self) -> Any:
        from lockstitch import open_store

        return open_store("memory://")


BACKENDS: dict[str, type[Contender]] = {
    "memory": Memory,
    "SQLite": store_sqlite.Normal,
    "Redis": store_redis.Sync,
    "PostgreSQL": store_postgres.Pooled,
}


class Growth:
    """Table (d)."""

    key = "d"

    def __init__(self, lengths: tuple[int, ...], pace: Pace) -> None:
        self.lengths = lengths
        self.pace = pace
        self.appends: dict[str, list[Timing]] = {}
        self.windows: dict[str, list[Timing]] = {}

    def run(self, places: dict[str, Any]) -> None:
        """Measure each backend at its place, all lengths side by side."""
        for name, kind in BACKENDS.items():
            sessions: list[Contender] = []
            try:
                for length in self.lengths:
                    one = kind(places[name], f"d-{length}", WINDOW)
                    sessions.append(one)
                    one.fill(store_data.batches(length, size=1_000))
                feeds = [store_data.units("grown") for _ in sessions]
                self.appends[name] = race_appends(sessions, feeds, self.pace)
                self.windows[name] = race_reads(sessions, self.pace)
            finally:
                for one in sessions:
                    one.close()

    def ratios(self) -> dict[str, tuple[float, float]]:
        """The longest over the shortest, of append and window."""
        return {
            name: (appends[-1].ratio(appends[0]), windows[-1].ratio(windows[0]))
            for (name, appends), windows in zip(
                self.appends.items(), self.windows.values(), strict=True
            )
        }

    def section(self) -> Section:
        """The tables."""
        lead = f"""
Lockstitch alone, with `max_messages={WINDOW}`: sessions of {count(self.lengths[0])} to
{count(self.lengths[-1])} stored messages side by side in one store.
The last column is the longest session over the shortest."""
        tables = [
            self._table("Append two messages", self.appends, 0),
            self._table("Window", self.windows, 1),
        ]
        return Section("d", "What a long past costs", lead, tables)

    def _table(self, title: str, figures: dict[str, list[Timing]], at: int) -> Table:
        columns = ["store", *(f"{count(length)} stored" for length in self.lengths), "growth"]
        ratios = self.ratios()
        rows = [
            [name, *(duration(one.p50) for one in timings), times(ratios[name][at])]
            for name, timings in figures.items()
        ]
        return Table(title, columns, rows)
