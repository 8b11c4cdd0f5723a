"""Budgets: how much of each limit the kept groups have used.

Knows: sizes of groups, limits, targets. Must not know: which groups there are good reasons to keep.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lockstitch.measure.limits import MESSAGES, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.measure.counters import Sizer

__all__ = ["Budget", "Measure", "measures_of"]


class Measure:
    """One bounded unit: the limit, the room under it, where a cut stops, and what is used.

    `sums` gives the size of each group by name once groups are known.
    """

    __slots__ = ("limit", "most", "room", "sizer", "sums", "target", "unit", "used")

    def __init__(self, sizer: Sizer, limits: Limits) -> None:
        self.unit = sizer.unit
        self.sizer = sizer
        self.limit = limits.limit(sizer.unit) or 0
        self.room = limits.room(sizer.unit)
        self.target = limits.target(sizer.unit)
        self.used = sizer.around
        self.most = self.target - sizer.around
        self.sums: dict[int, int] = {}

    def start_of_fit(self, count: int, bound: int) -> int:
        """Return the first position from which everything to the end fits; 0 if all of it does."""
        room = bound - self.sizer.around
        if self.unit == MESSAGES:
            return max(0, count - room) if room > 0 else count
        size = self.sizer.size
        at = count
        while at > 0:
            room -= size(at - 1)
            if room < 0:
                break
            at -= 1
        return at

    def add_up(self, names: list[int], start: int) -> None:
        """Add up the size of each group, and begin anew."""
        self.used = self.sizer.around
        if self.unit == MESSAGES:
            self.sums = Counter(names)
            return
        size = self.sizer.size
        sums: dict[int, int] = {}
        position = start
        for name in names:
            sums[name] = sums.get(name, 0) + size(position)
            position += 1
        self.sums = sums


def measures_of(sizers: Sequence[Sizer], limits: Limits) -> list[Measure]:
    """Pair each bounded unit with its limit."""
    return [Measure(sizer, limits) for sizer in sizers]


class Budget:
    """What is used of every measure. A group before `start` is a single message."""

    __slots__ = ("measures", "start")

    def __init__(self, measures: list[Measure], names: list[int], start: int) -> None:
        self.measures = measures
        self.start = start
        for measure in measures:
            measure.add_up(names, start)

    def cost(self, measure: Measure, name: int) -> int:
        """Return the size of a group in one measure."""
        return measure.sums[name] if name >= self.start else measure.sizer.size(name)

    def take(self, name: int) -> None:
        """Use what a group needs, whatever the target."""
        for measure in self.measures:
            measure.used += self.cost(measure, name)

    def give_back(self, name: int) -> None:
        """Free what a group used."""
        for measure in self.measures:
            measure.used -= self.cost(measure, name)

    def fits(self, name: int) -> bool:
        """Whether a group fits within every target."""
        for measure in self.measures:
            if measure.used + self.cost(measure, name) > measure.target:
                return False
        return True

    def fill(self, keep: dict[int, str], gone: dict[int, str]) -> bool:
        """Keep groups from the newest on until one does not fit; say whether one did not.

        A group that no window could hold goes alone: it must not take everything before it along.
        """
        if len(self.measures) == 1:
            return self._fill_one(self.measures[0], keep, gone)
        for name in reversed(self.measures[0].sums):
            if name in keep:
                continue
            if self.fits(name):
                keep[name] = "recent"
                self.take(name)
            elif any(measure.sums[name] > measure.most for measure in self.measures):
                gone[name] = "too-large"
            else:
                return True
        return False

    @staticmethod
    def _fill_one(measure: Measure, keep: dict[int, str], gone: dict[int, str]) -> bool:
        # One limit is the common case, and this loop the hottest of the planner.
        sums, used, target = measure.sums, measure.used, measure.target
        # Sums are in order of the first message: each group was met there first.
        for name in reversed(sums):
            cost = sums[name]
            if name in keep:
                continue
            if used + cost <= target:
                keep[name] = "recent"
                used += cost
            elif cost > measure.most:
                gone[name] = "too-large"
            else:
                measure.used = used
                return True
        measure.used = used
        return False

    def over(self) -> Measure | None:
        """Return a measure whose room is exceeded."""
        return next((measure for measure in self.measures if measure.used > measure.room), None)
