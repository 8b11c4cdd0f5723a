"""Table (a): an append of two messages with a cut, on Redis, at limits of 50, 500 and 5 000."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import store_data
import store_redis
from report import Section, Table, count, duration, significant, times
from store_contenders import Contender
from store_timing import Pace, Timing, race_appends

LIMITS = (50, 500, 5_000)
COUNTED = 42
COUNTED_SECONDS = 1.0


@dataclass(slots=True)
class Traffic:
    """What passes for one append, on average."""

    trips: float
    sent: float
    received: float


class Redis:
    """Table (a)."""

    key = "a"

    def __init__(self, limits: tuple[int, ...], pace: Pace) -> None:
        self.limits = limits
        self.pace = pace
        self.timings: dict[tuple[str, int], Timing] = {}
        self.traffic: dict[tuple[str, int], Traffic] = {}

    def run(self, server: Any) -> None:
        """Measure on a running server."""
        for limit in self.limits:
            with opened(store_redis.CONTENDERS, server.url, f"a-{limit}", limit) as contenders:
                feeds = [store_data.units("a") for _ in contenders]
                timings = race_appends(contenders, feeds, self.pace)
                for contender, timing in zip(contenders, timings, strict=True):
                    self.timings[contender.key, limit] = timing
            self._count(server, limit)

    def _count(self, server: Any, limit: int) -> None:
        from servers.proxy import TcpProxy

        # The proxy's threads share this process: they are to take turns with the client quickly.
        before = sys.getswitchinterval()
        sys.setswitchinterval(0.0002)
        try:
            self._through(TcpProxy(server.address), server, limit)
        finally:
            sys.setswitchinterval(before)

    def _through(self, proxy: Any, server: Any, limit: int) -> None:
        with proxy:
            url = proxy.through(server.url)
            with opened(store_redis.CONTENDERS, url, f"a-{limit}", limit, fill=False) as all_:
                for contender in all_:
                    stream = store_data.units("counted")
                    units = [contender.prepare(one) for one in store_data.take(stream, COUNTED)]
                    contender.burst(units[:2], COUNTED_SECONDS)
                    with proxy.counting() as seen:
                        done = len(contender.burst(units[2:], COUNTED_SECONDS))
                    self.traffic[contender.key, limit] = Traffic(
                        seen.round_trips / done, seen.sent / done, seen.received / done
                    )

    def ratio(self, key: str, limit: int) -> float | None:
        """How many times its yardstick a contender takes, by the medians."""
        contender = next(one for one in store_redis.CONTENDERS if one.key == key)
        return self.over(key, contender.yardstick, limit)

    def over(self, key: str, other: str, limit: int) -> float | None:
        """How many times another a contender takes, by the medians."""
        mine, theirs = self.timings.get((key, limit)), self.timings.get((other, limit))
        return mine.ratio(theirs) if mine and theirs else None

    def growth(self, key: str) -> float | None:
        """The time at the largest limit over that at the smallest."""
        first, last = (
            self.timings.get((key, limit)) for limit in (self.limits[0], self.limits[-1])
        )
        return last.p50 / first.p50 if first and last else None

    def section(self) -> Section:
        """The tables."""
        lead = f"""
A session that is at its limit takes two more messages of about 1.5 KB at a time, which calls for a
cut; limits of {_listed(self.limits)} messages.
By default Lockstitch cuts to half of the limit and has then room for a while; in the row that says
so it cuts at each append, as the others do.
The median is that of an append, the mean has the cuts in it.
The yardstick sends two commands in a transaction and knows nothing of calls and results; its bytes
are made outside the clock, where all others are handed messages.
What is awaited is compared with the yardstick that is awaited."""
        return Section(
            "a", "Redis: append two messages, and cut", lead, [self._times(), self._seen()]
        )

    def _times(self) -> Table:
        columns = ["contender"]
        for limit in self.limits:
            columns += [f"{count(limit)}: median", "mean", "of the yardstick"]
        rows: list[list[str]] = []
        for contender in store_redis.CONTENDERS:
            row = [contender.label]
            for limit in self.limits:
                timing = self.timings[contender.key, limit]
                ratio = self.ratio(contender.key, limit)
                row += [duration(timing.p50), duration(timing.mean), times(ratio)]
            rows.append(row)
        return Table("Time", columns, rows)

    def _seen(self) -> Table:
        columns = ["contender"]
        for limit in self.limits:
            columns += [f"{count(limit)}: round trips", "bytes sent", "received"]
        rows: list[list[str]] = []
        for contender in store_redis.CONTENDERS:
            row = [contender.label]
            for limit in self.limits:
                seen = self.traffic[contender.key, limit]
                row += [significant(seen.trips), count(round(seen.sent))]
                row.append(count(round(seen.received)))
            rows.append(row)
        return Table("What passes on the wire for an append", columns, rows)


@contextmanager
def opened(
    kinds: list[type[Contender]], place: Any, session: str, limit: int, *, fill: bool = True
) -> Iterator[list[Contender]]:
    """Contenders on sessions of their own, filled to the limit."""
    made: list[Contender] = []
    try:
        for kind in kinds:
            contender = kind(place, f"{session}-{kind.key}", limit)
            made.append(contender)
            if fill:
                contender.fill(store_data.batches(limit))
        yield made
    finally:
        for contender in made:
            contender.close()


def _listed(numbers: tuple[int, ...]) -> str:
    *some, last = map(count, numbers)
    return f"{', '.join(some)} and {last}"
