"""How everything here is timed.

All contenders of one table run in one process on the same history. Each is called once to warm up
and to find how many calls make a sample of about a millisecond. Then samples are taken in turn,
one of each contender, in an order that rotates, so that a slow spell of the machine hits all alike.
The figure is the median of a contender's samples.

The garbage collector stays on, as in normal use: a library that makes many objects pays for them.
But the process holds each history in six shapes, which no user does, and a full collection walks
them all on the clock of whoever happens to set it off. So before each sample of a long call the
collector is run outside the clock; in the call it runs again when its thresholds say so.

What a contender needs fresh for each call (a copy of a list that it changes, a list without the
marks that it left on messages) is made outside the clock.

A contender is not run at a size that, by its growth so far, would take it longer than the patience.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

SAMPLE_SECONDS = 0.001
MOST_CALLS = 20_000
LONG_CALL = 0.02
LONG_SAMPLES = 5
LONGEST_CALL = 5.0  # one sample is enough


@dataclass(frozen=True, slots=True)
class Entry:
    """One contender in a race: ``run(given)``, or ``run(prepare())`` where it needs a copy."""

    name: str
    run: Callable[[Any], Any]
    given: Any = None
    prepare: Callable[[], Any] | None = None


@dataclass(slots=True)
class Timing:
    """Seconds a call (the median), the samples behind it, and what the last call returned."""

    seconds: float
    samples: int
    result: Any = field(repr=False, default=None)


@dataclass(slots=True)
class Pace:
    """How patient to be: samples and seconds for each contender, and when not to start at all."""

    samples: int = 15
    seconds: float = 1.5
    patience: float = 20.0


class _Runner:
    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.calls = 1
        self.samples: list[float] = []
        self.spent = 0.0
        self.long = False
        self.result: Any = None

    def warm_up(self) -> None:
        once = self._sample()
        self.long = once > LONG_CALL
        if once > LONGEST_CALL:
            self.samples.append(once)
            self.spent = once
            return
        if self.entry.prepare is None:
            once = min(once, self._sample())
            while (total := self.calls * once) < SAMPLE_SECONDS and self.calls < MOST_CALLS:
                self.calls = min(
                    MOST_CALLS,
                    max(2 * self.calls, int(self.calls * SAMPLE_SECONDS / max(total, 1e-9))),
                )
                once = self._sample()
        self.result = None

    def finished(self, pace: Pace) -> bool:
        count = len(self.samples)
        if count and self.spent > LONGEST_CALL:
            return True
        enough = min(pace.samples, LONG_SAMPLES) if self.long else pace.samples
        return count >= enough or (count >= 3 and self.spent > pace.seconds)

    def step(self) -> None:
        seconds = self._sample()
        self.samples.append(seconds)
        self.spent += seconds * self.calls

    def _sample(self) -> float:
        run, prepare = self.entry.run, self.entry.prepare
        given = self.entry.given if prepare is None else prepare()
        calls = range(self.calls)
        if self.long:
            gc.collect()
        start = perf_counter()
        for _ in calls:
            result = run(given)
        elapsed = perf_counter() - start
        self.result = result
        return elapsed / self.calls


def race(entries: list[Entry], pace: Pace) -> tuple[dict[str, Timing], dict[str, str]]:
    """Time the entries side by side; those that raised come back with what they raised."""
    gc.collect()
    runners: list[_Runner] = []
    failures: dict[str, str] = {}
    for entry in entries:
        runner = _Runner(entry)
        try:
            runner.warm_up()
        except Exception as error:
            failures[entry.name] = f"raised {type(error).__name__}: {error}"
        else:
            runners.append(runner)
    turn = 0
    while waiting := [runner for runner in runners if not runner.finished(pace)]:
        shift = turn % len(waiting)
        for runner in waiting[shift:] + waiting[:shift]:
            runner.step()
        turn += 1
    timings = {r.entry.name: Timing(median(r.samples), len(r.samples), r.result) for r in runners}
    return timings, failures


class Forecast:
    """What a contender would take at the next size, from the sizes it has run at."""

    def __init__(self) -> None:
        self._seen: dict[str, list[tuple[int, float]]] = {}

    def add(self, name: str, size: int, seconds: float) -> None:
        self._seen.setdefault(name, []).append((size, seconds))

    def exponent(self, name: str) -> float:
        """The exponent of growth between the last two sizes; 2 while there is one only."""
        seen = self._seen.get(name, [])
        if len(seen) < 2:
            return 2.0
        (n0, t0), (n1, t1) = seen[-2:]
        return math.log(t1 / t0) / math.log(n1 / n0)

    def seconds(self, name: str, size: int) -> float:
        seen = self._seen.get(name)
        if not seen:
            return 0.0
        last_size, last_seconds = seen[-1]
        return last_seconds * (size / last_size) ** max(self.exponent(name), 1.0)
