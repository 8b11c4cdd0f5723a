"""Budgets: what the groups of a window cost, and how much of each limit the kept ones have used.

Knows: sizes of groups, limits, targets. Must not know: which groups there are good reasons to keep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.measure.limits import MESSAGES, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.measure.counters import Sizer
    from lockstitch.strategies.units import Units

__all__ = ["Budget", "Measure"]


class Measure:
    """One bounded unit: the limit, the room under it, where a cut stops, and what is used.

    `most` is the largest a group may be to fit into any window; `costs` the size of each unit.
    """

    __slots__ = ("around", "costs", "limit", "most", "room", "size", "target", "unit", "used")

    def __init__(self, sizer: Sizer, limits: Limits) -> None:
        self.unit = sizer.unit
        self.size = sizer.size
        self.around = self.used = sizer.around
        self.limit, self.room, self.target = limits.bounds(sizer.unit)
        self.most = self.room - sizer.around
        self.costs: list[int] = []

    def start_of_fit(self, count: int, bound: int) -> int:
        """Return the first position from which everything to the end fits; 0 if all of it does."""
        room = bound - self.around
        if self.unit == MESSAGES:
            return max(0, count - room) if room > 0 else count
        size = self.size
        at = count
        while at > 0:
            room -= size(at - 1)
            if room < 0:
                break
            at -= 1
        return at

    def add_up(self, units: Units) -> None:
        """Find the size of each unit, with nothing used yet."""
        self.used = self.around
        if self.unit == MESSAGES:
            self.costs = units.counts()
            return
        sizes = list(map(self.size, range(units.start, units.stop)))
        self.costs = units.sums(sizes)


class Budget:
    """What is used of every measure. Takes units of the window, and messages before it."""

    __slots__ = ("measures",)

    def __init__(self, measures: Sequence[Measure], units: Units) -> None:
        self.measures = measures
        for measure in measures:
            measure.add_up(units)

    def take(self, unit: int) -> None:
        """Use what a unit needs, whatever the target."""
        for measure in self.measures:
            measure.used += measure.costs[unit]

    def give_back(self, unit: int) -> None:
        """Free what a unit used."""
        for measure in self.measures:
            measure.used -= measure.costs[unit]

    def take_message(self, position: int) -> None:
        """Use what a message before the window needs."""
        for measure in self.measures:
            measure.used += measure.size(position)

    def has_room_for(self, position: int) -> bool:
        """Whether a message before the window fits within every target."""
        for measure in self.measures:
            if measure.used + measure.size(position) > measure.target:
                return False
        return True

    def fits(self, unit: int) -> bool:
        """Whether a unit fits within every target."""
        for measure in self.measures:
            if measure.used + measure.costs[unit] > measure.target:
                return False
        return True

    def never_fits(self, unit: int) -> bool:
        """Whether no window at all could hold a unit."""
        return any(measure.costs[unit] > measure.most for measure in self.measures)

    def over(self) -> Measure | None:
        """Return a measure whose room is exceeded."""
        for measure in self.measures:
            if measure.used > measure.room:
                return measure
        return None
