"""Units: the groups of a window, numbered in order of their first message.

Knows: which positions each unit covers. Nearly always units lie one after another and a list of
first positions says everything; where they interleave, pieces say it.

Must not know: sizes, limits, why a unit is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockstitch.grouping import Groups

__all__ = ["Units"]


class Units:
    """The groups of `[start, stop)` as numbers from 0 on.

    `firsts[unit]` is the first position of a unit.
    """

    __slots__ = ("_numbers", "firsts", "groups", "stop")

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.stop = groups.stop
        names = groups.names
        self.firsts: list[int] = list(dict.fromkeys(names))
        ordered = not groups.interleaved
        self._numbers = (
            None if ordered else {name: number for number, name in enumerate(self.firsts)}
        )

    def __len__(self) -> int:
        return len(self.firsts)

    def of(self, position: int) -> int:
        """Return the unit that holds a position."""
        if self._numbers is None:
            return bisect_right(self.firsts, position) - 1
        return self._numbers[self.groups.name_of(position)]

    def counts(self) -> list[int]:
        """Return how many messages each unit holds."""
        if self._numbers is None:
            after = [*self.firsts[1:], self.stop]
            return [stop - start for start, stop in zip(self.firsts, after, strict=True)]
        return list(Counter(self.groups.names).values())

    def sums(self, sizes: list[int]) -> list[int]:
        """Return what the messages of each unit add up to; `sizes` are those of the window."""
        start = self.groups.start
        found = [0] * len(self.firsts)
        for begin, stop, unit in self.pieces():
            found[unit] += (
                sizes[begin - start]
                if stop - begin == 1
                else sum(sizes[begin - start : stop - start])
            )
        return found

    def pieces(self) -> list[tuple[int, int, int]]:
        """Return stretches `(start, stop, unit)` that cover the window in order."""
        if self._numbers is None:
            after = [*self.firsts[1:], self.stop]
            return list(zip(self.firsts, after, range(len(self.firsts)), strict=True))
        found: list[tuple[int, int, int]] = []
        begin = position = self.groups.start
        last = -1
        for name in self.groups.names:
            unit = self._numbers[name]
            if unit != last:
                if position > begin:
                    found.append((begin, position, last))
                begin, last = position, unit
            position += 1
        if position > begin:
            found.append((begin, position, last))
        return found

    def along(self, values: list[str | None]) -> Iterable[tuple[int, str | None]]:
        """Go along the window: where each piece starts, with the value of its unit."""
        if self._numbers is None:
            return zip(self.firsts, values, strict=True)
        return [(start, values[unit]) for start, _, unit in self.pieces()]

    def end_of(self, unit: int) -> int:
        """Return the position after the last message of a unit."""
        return max(stop for _, stop, number in self.pieces() if number == unit)
