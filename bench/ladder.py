"""A table of contenders by history length: who ran, how long it took, how that grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from report import count, duration
from timing import Entry, Forecast, Pace, Timing, race

MakeEntry = Callable[[], Entry]


class Ladder:
    """Timings of the same contenders at growing sizes."""

    def __init__(self, sizes: list[int], pace: Pace) -> None:
        self.sizes = sizes
        self.pace = pace
        self.seconds: dict[str, dict[int, float]] = {}
        self.why_not: dict[tuple[str, int], str] = {}
        self._forecast = Forecast()

    def run(self, size: int, makers: dict[str, MakeEntry]) -> dict[str, Timing]:
        """Race those that are not known to be too slow at this size."""
        entries: list[Entry] = []
        for name, make in makers.items():
            expected = self._forecast.seconds(name, size)
            if expected > self.pace.patience:
                self.why_not[name, size] = (
                    f"would take about {duration(expected)} "
                    f"(it grows with n^{self._forecast.exponent(name):.1f})"
                )
                continue
            entries.append(replace(make(), name=name))
        timings, failures = race(entries, self.pace)
        for name, reason in failures.items():
            self.why_not[name, size] = reason
        for name, timing in timings.items():
            self.seconds.setdefault(name, {})[size] = timing.seconds
            self._forecast.add(name, size, timing.seconds)
        return timings

    @property
    def start(self) -> int:
        """Where growth is measured from: 1 000 messages, or the first size of a short ladder."""
        return self.sizes[1] if len(self.sizes) > 2 else self.sizes[0]

    def at(self, name: str, size: int) -> float | None:
        """Seconds a call of one contender at one size."""
        return self.seconds.get(name, {}).get(size)

    def ratio(self, name: str, other: str, size: int) -> float | None:
        """How many times as long as another contender."""
        mine, theirs = self.at(name, size), self.at(other, size)
        return mine / theirs if mine and theirs else None

    def growth(self, name: str, first: int, last: int) -> float | None:
        """How many times as long at the last size as at the first."""
        start, end = self.at(name, first), self.at(name, last)
        return end / start if start and end else None

    def growth_cell(self, name: str) -> str:
        """Growth from the start to the largest size, or to the largest that was run."""
        ran = [size for size in self.sizes if self.at(name, size)]
        first = self.start
        if first not in ran or ran[-1] <= first:
            return "-"
        grown = self.growth(name, first, ran[-1])
        text = f"x {grown:.1f}" if grown is not None and grown < 10 else f"x {grown:,.0f}"
        text = text.replace(",", " ")
        return text if ran[-1] == self.sizes[-1] else f"{text} (to {count(ran[-1])})"

    def notes(self, labels: dict[str, str]) -> list[str]:
        """Why a contender has no figure at a size, one note for each contender."""
        notes: list[str] = []
        for name, label in labels.items():
            missed = [(s, self.why_not[name, s]) for s in self.sizes if (name, s) in self.why_not]
            if missed:
                told = "; ".join(f"at {count(size)}: {reason}" for size, reason in missed)
                notes.append(f"{label}, {told}.")
        return notes
