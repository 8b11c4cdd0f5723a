"""Units: the groups of a window, numbered in order of their first message.

Knows: which positions each unit covers, and its state. Where nothing is out of the ordinary (every
call answered at once, nothing else tied to anything) units lie one after another, and a list of
first positions, read off the facts in one go, says everything. Anything else is grouped in full.

Must not know: sizes, limits, why a unit is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, OTHER, TOOL
from lockstitch.grouping import COMPLETE, Groups, Ties, group
from lockstitch.pairing import settled_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockstitch.facts import Facts

__all__ = ["Units", "read_units"]

# Roles that are never ordinary by themselves: an answer without its call, a row no model sees.
_APART = frozenset({TOOL, OTHER})


class Units:
    """The groups of `[start, stop)` as numbers from 0 on.

    `firsts[unit]` is the first position of a unit. `groups` is there where the window had to be
    grouped in full.
    """

    __slots__ = ("_numbers", "firsts", "groups", "start", "stop")

    def __init__(
        self, firsts: list[int], start: int, stop: int, groups: Groups | None = None
    ) -> None:
        self.firsts = firsts
        self.start = start
        self.stop = stop
        self.groups = groups
        # Only interleaved units need a number looked up by name.
        self._numbers: dict[int, int] | None = None
        if groups is not None and groups.interleaved:
            self._numbers = {name: number for number, name in enumerate(firsts)}

    def __len__(self) -> int:
        return len(self.firsts)

    @property
    def ordered(self) -> bool:
        """Whether units lie one after another."""
        return self._numbers is None

    @property
    def unmet(self) -> bool:
        """Whether something in the window belongs to a message before it."""
        return self.groups is not None and self.start > 0 and bool(self.groups.pairing.unmet)

    def of(self, position: int) -> int:
        """Return the unit that holds a position."""
        if self._numbers is None or self.groups is None:
            return bisect_right(self.firsts, position) - 1
        return self._numbers[self.groups.name_of(position)]

    def with_state(self, state: str) -> list[int]:
        """Return the units in a state other than complete."""
        if self.groups is None:
            return []
        return [self.of(name) for name, found in self.groups.states.items() if found == state]

    def newest_complete(self) -> int | None:
        """Return the complete unit whose last message is the newest."""
        groups = self.groups
        if groups is None:
            return len(self.firsts) - 1 if self.firsts else None
        for name, fact in zip(reversed(groups.names), reversed(groups.facts), strict=True):
            # A row that no model sees is no newest thing to keep.
            if groups.state_of(name) == COMPLETE and fact.role != OTHER:
                return self.of(name)
        return None

    def counts(self) -> list[int]:
        """Return how many messages each unit holds."""
        if self._numbers is None or self.groups is None:
            after = self.firsts[1:]
            after.append(self.stop)
            return [stop - start for start, stop in zip(self.firsts, after, strict=True)]
        return list(Counter(self.groups.names).values())

    def sums(self, sizes: list[int]) -> list[int]:
        """Return what the messages of each unit add up to; `sizes` are those of the window."""
        start = self.start
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
        if self._numbers is None or self.groups is None:
            after = [*self.firsts[1:], self.stop]
            return list(zip(self.firsts, after, range(len(self.firsts)), strict=True))
        found: list[tuple[int, int, int]] = []
        begin = position = self.start
        last = -1
        for name in self.groups.names:
            unit = self._numbers[name]
            if unit != last:
                if position > begin:
                    found.append((begin, position, last))
                begin, last = position, unit
            position += 1
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


def read_units(facts: Sequence[Facts], start: int, ties: Ties, *, coarse: bool = False) -> Units:
    """Find the units of the messages from `start` on.

    `start` must not lie inside an assistant run. `coarse` joins groups that interleave.
    """
    stop = start + len(facts)
    if not ties.whole_response and not ties.bound_system:
        firsts = _ordinary(facts, start)
        if firsts is not None:
            return Units(firsts, start, stop)
    groups = group(facts, start, ties, detail=False)
    if coarse:
        groups = groups.untangled()
    return Units(list(dict.fromkeys(groups.names)), start, stop, groups)


def _ordinary(facts: Sequence[Facts], start: int) -> list[int] | None:
    """Return the first positions of units that lie one after another, `None` if they may not."""
    firsts: list[int] = []
    settled = 0
    position = start - 1
    for fact in facts:
        position += 1
        if settled:
            settled -= 1
            continue
        role = fact.role
        asks = fact.asks
        if asks:
            if role != ASSISTANT:
                return None
            settled = settled_by(facts, position - start + 1, asks)
            if not settled:
                return None
        elif fact.links or fact.answers or fact.reasoning or role in _APART:
            return None
        firsts.append(position)
    return firsts
