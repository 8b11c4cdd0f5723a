"""How stores are timed: in rounds, every contender once a round, in an order that rotates.

A slow spell of the machine hits all contenders of a round alike. The figure of a contender is the
median over the rounds of a round's median; a ratio is the median over the rounds of the ratio in
each. The mean is that of all appends: it has the cuts in it, which are few where one cut makes room
for long.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from store_contenders import Contender
from store_data import Unit, take


@dataclass(slots=True)
class Pace:
    """How much is measured."""

    rounds: int = 11
    appends: int = 150  # of each contender in a round
    seconds: float = 0.5  # a contender's share of a round; one append is made in any case


QUICK = Pace(rounds=3, appends=40, seconds=0.2)


@dataclass(slots=True)
class Timing:
    """What a contender took: the medians of its rounds, and all of it."""

    rounds: list[float] = field(default_factory=list)
    all: list[float] = field(default_factory=list)

    def add(self, burst: Sequence[float]) -> None:
        """Add a round."""
        self.rounds.append(median(burst))
        self.all += burst

    @property
    def p50(self) -> float:
        """The median."""
        return median(self.rounds)

    @property
    def mean(self) -> float:
        """The mean."""
        return fmean(self.all)

    def ratio(self, other: Timing) -> float:
        """How many times what another took this is."""
        return median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))


def race_appends(
    contenders: Sequence[Contender], feeds: Sequence[Iterator[Unit]], pace: Pace
) -> list[Timing]:
    """Append in rounds; every contender has a feed of its own, and the feeds are the same."""
    timings = [Timing() for _ in contenders]
    for contender, feed in zip(contenders, feeds, strict=True):
        contender.burst([contender.prepare(unit) for unit in take(feed, 10)], pace.seconds)
    for turn in range(pace.rounds):
        for at in _rotated(len(contenders), turn):
            prepared = [contenders[at].prepare(unit) for unit in take(feeds[at], pace.appends)]
            gc.collect()
            timings[at].add(contenders[at].burst(prepared, pace.seconds))
    return timings


def race_reads(contenders: Sequence[Contender], pace: Pace) -> list[Timing]:
    """Read in rounds."""
    timings = [Timing() for _ in contenders]
    for turn in range(pace.rounds):
        for at in _rotated(len(contenders), turn):
            gc.collect()
            number = max(pace.appends // 3, 5)
            timings[at].add(contenders[at].reads(number, pace.seconds))
    return timings


def _rotated(number: int, turn: int) -> list[int]:
    return [(turn + at) % number for at in range(number)]
