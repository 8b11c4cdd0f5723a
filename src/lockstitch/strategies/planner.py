"""The planner: from limits to a plan, reading facts and sizes and nothing else.

Knows: units (groups of a window), budgets, what a profile demands of a window, what must stay. It
works from the tail: the cost follows what is kept. It reads further back only for ids that it met
without their other half, for the newest user message, and for pinned positions.

    floor       the system part, pins, the newest user message, open groups, the newest complete
                group; with the user message that these need to be accepted
    groups cut  whole groups go, oldest first (by their first message); a group that no window could
                hold goes alone; holes are allowed. Kept tool rounds keep the user message they
                answer, where it fits
    prefix cut  everything before one legal boundary goes, the floor excepted (`boundary`)

Must not know: formats, text, how sizes are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from lockstitch.errors import CannotFit
from lockstitch.facts import ASSISTANT, CALL, OTHER, SYSTEM, USER
from lockstitch.grouping import OPEN, run_start, ties_for
from lockstitch.measure.limits import Limits
from lockstitch.plan import KEPT, Edit, FloorItem
from lockstitch.rules.profiles import Profile
from lockstitch.strategies.boundary import prefix_cut
from lockstitch.strategies.budget import Budget, Measure
from lockstitch.strategies.seams import part_turns
from lockstitch.strategies.sides import bridge_floor, part_sides
from lockstitch.strategies.units import read_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.measure.counters import Sizer
    from lockstitch.transcript import Transcript

__all__ = ["Outcome", "Request", "Window", "plan_edits"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the planner: the arguments of `trim`, checked.

    `cutting`: a cut is on already, so that it goes down to its mark although the limit holds.
    `abandoned`: where calls stand that nobody waits for any more, however new: the floor does
    without them.
    `readable`: whether there is more of a message than its facts; without that nobody looks for
    damage.
    """

    limits: Limits
    profile: Profile
    cut: Literal["groups", "prefix"] = "groups"
    pins: frozenset[int] = frozenset()
    floor: bool = True
    on_overflow: Literal["raise", "smallest", "empty"] = "raise"
    cutting: bool = False
    abandoned: frozenset[int] = frozenset()
    readable: bool = True


class Outcome(NamedTuple):
    """The edits, and the size of what is kept in each bounded unit."""

    edits: list[Edit]
    after: dict[str, int]


def plan_edits(transcript: Transcript, request: Request, sizers: Sequence[Sizer]) -> Outcome:
    """Decide what stays.

    Args:
        transcript: the messages.
        request: limits, profile and policies.
        sizers: one for each bounded unit.

    Raises:
        CannotFit: the floor is over a limit and `on_overflow` is `raise`.
    """
    count = len(transcript)
    if not count:
        return Outcome([], {})
    if request.limits.nothing:
        return Outcome([Edit("drop", 0, count, "zero")], {})
    measures = [Measure(sizer, request.limits) for sizer in sizers]
    sheds = request.cut == "prefix" and not request.floor
    fits_from = 0
    for measure in measures:
        fits_from = max(fits_from, measure.start_of_fit(count, measure.room))
    if not fits_from and not sheds and not request.cutting:
        return Outcome([Edit("keep", 0, count, "all")], {})
    if request.limits.trim_to is not None or request.limits.low_water is not None:
        fits_from = max(measure.start_of_fit(count, measure.target) for measure in measures)
    start = run_start(transcript.facts_at, min(max(fits_from - 1, 0), count - 1))
    while True:
        window = Window(transcript, request, measures, start)
        wanted = window.decide()
        if wanted is None and window.tangled():
            window = Window(transcript, request, measures, start, coarse=True)
            wanted = window.decide()
        if wanted is None:
            part_turns(window)
            part_sides(window)
            return window.outcome()
        # Doubling keeps the whole search within twice the cost of its last attempt.
        start = run_start(transcript.facts_at, max(0, min(wanted, 2 * start - count)))


class Window:
    """One attempt at a decision, over the units of `[start, count)`.

    `why[unit]` is the reason a unit is kept or dropped, `None` while that is undecided; `early` the
    reasons of kept messages before `start`. Such a message can be kept when it is surely a group of
    its own; if it could be more, the attempt asks for an earlier start.
    """

    def __init__(
        self,
        transcript: Transcript,
        request: Request,
        measures: list[Measure],
        start: int,
        *,
        coarse: bool = False,
    ) -> None:
        profile = request.profile
        ties = ties_for(
            transcript, whole_response=profile.whole_response, bound_system=profile.bound_system
        )
        self.transcript = transcript
        self.request = request
        self.start = start
        self.count = len(transcript)
        self.bound_system = ties.bound_system
        self.facts = transcript.facts_from(start)
        self.units = read_units(self.facts, start, ties, coarse=coarse)
        self.budget = Budget(measures, self.units)
        self.why: list[str | None] = [None] * len(self.units)
        self.early: dict[int, str] = {}
        # The first kept position after the system part, as far as it is known.
        self.first = self.count
        self.head = 0
        while self.head < self.count and self.role(self.head) == SYSTEM:
            self.head += 1

    def decide(self) -> int | None:
        """Decide; return an earlier start to try from, or `None` when it is done."""
        if self.units.unmet:
            return self.start - 1
        wanted = self._pins()
        if wanted is None and self.request.floor:
            wanted = self._floor()
        if wanted is None:
            wanted = self._settle_the_floor()
        if wanted is not None:
            return wanted
        over = self.budget.over()
        if over is not None:
            self._overflow(over)
            return None
        return prefix_cut(self) if self.request.cut == "prefix" else self._fill()

    # --- positions and units ---------------------------------------------------------------------

    def role(self, position: int) -> str:
        """Return the role of a message."""
        if position >= self.start:
            return self.facts[position - self.start].role
        return self.transcript.facts_at(position).role

    def keep(self, position: int, reason: str) -> None:
        """Keep the group of a message; before `start`, the message."""
        if position >= self.start:
            self.keep_unit(self.units.of(position), reason)
        elif position not in self.early:
            self.early[position] = reason
            self.budget.take_message(position)
            if self.head <= position < self.first:
                self.first = position

    def keep_unit(self, unit: int, reason: str) -> None:
        """Keep a unit."""
        if self.why[unit] is None:
            self.why[unit] = reason
            self.budget.take(unit)
            if self.head <= self.units.firsts[unit] < self.first:
                self.first = self.units.firsts[unit]

    def let_go(self, unit: int, reason: str) -> None:
        """Let a kept unit go after all."""
        self.why[unit] = reason
        self.budget.give_back(unit)

    def is_kept(self, position: int) -> bool:
        """Whether a message is kept."""
        if position < self.start:
            return position in self.early
        return self.why[self.units.of(position)] in KEPT

    def reach(self, position: int) -> int | None:
        """Return the start that a message needs to be kept with its group, `None` if none."""
        return None if position >= self.start or self._alone(position) else position

    def _alone(self, position: int) -> bool:
        """Whether a message is surely a group of its own."""
        fact = self.transcript.facts_at(position)
        if fact.linked or fact.role not in {USER, SYSTEM}:
            return False
        if not self.bound_system or position < self.head:
            return True
        return fact.role == USER and (
            position + 1 == self.count or self.role(position + 1) != SYSTEM
        )

    def _user_before(self, position: int) -> int:
        facts, start = self.facts, self.start
        position -= 1
        while position >= start and facts[position - start].role != USER:
            position -= 1
        if position < start:
            while position >= 0 and self.transcript.facts_at(position).role != USER:
                position -= 1
        return position

    def _opener_before(self, position: int) -> int:
        """Return the user message before a position that can open a window, -1 if there is none.

        One that also carries the result of a call before it cannot.
        """
        position = self._user_before(position)
        while position >= 0 and self._answers(position):
            position = self._user_before(position)
        return position

    def _answers(self, position: int) -> bool:
        """Whether a user message belongs to one before it; before `start`, as far as is plain."""
        if position >= self.start:
            return self.units.firsts[self.units.of(position)] != position
        ends = self.transcript.facts_at(position).ends
        if not ends or not position:
            return False
        said = {end.key for end in self.transcript.facts_at(position - 1).ends if end.kind == CALL}
        return said.issuperset(end.key for end in ends)

    # --- the floor -------------------------------------------------------------------------------

    def _pins(self) -> int | None:
        for position in self.request.pins:
            if self.reach(position) is not None:
                return 0
            self.keep(position, "pinned")
        return None

    def _floor(self) -> int | None:
        """Keep what must stay; return an earlier start where that reaches further back."""
        transcript, units = self.transcript, self.units
        for position in range(self.head):
            self.keep(position, "system")
        asks = transcript.format.asks
        if asks is not None and self.start and any(map(asks, transcript.natives[: self.start])):
            return 0
        user = self._user_before(self.count)
        if user >= 0:
            wanted = self.reach(user)
            if wanted is not None:
                return wanted
            self.keep(user, "task")
        for unit in units.with_state(OPEN):
            if units.firsts[unit] not in self.request.abandoned:
                self.keep_unit(unit, "open")
        newest = units.newest_complete()
        if newest is None:
            # Everything near the end is damaged or open; what stands before it decides.
            return self.start - 1 if self.start else None
        self.keep_unit(newest, "newest")
        return None

    def _settle_the_floor(self) -> int | None:
        """Keep what makes what must stay a legal window, as far as that can be had."""
        while True:
            if self.request.profile.start == "user":
                wanted = self._lead_the_floor()
                if wanted is not None:
                    return wanted
            first = self.first
            wanted = bridge_floor(self)
            # A group that bridges a hole may begin before everything else.
            if wanted is not None or self.first == first:
                return wanted

    def _lead_the_floor(self) -> int | None:
        """Where the window must start with a user message, make what must stay start with one."""
        first = self.first
        if first == self.count or self.role(first) == USER:
            return None
        lead = self._opener_before(first)
        if lead < 0:
            return None
        wanted = self.reach(lead)
        if wanted is None:
            self.keep(lead, "lead")
        return wanted

    def _overflow(self, measure: Measure) -> None:
        """What must stay is over a limit: say so, or do what was asked for instead."""
        if self.request.on_overflow == "raise":
            raise CannotFit(
                needed=measure.used + measure.limit - measure.room,
                limit=measure.limit,
                unit=measure.unit,
                floor=tuple(self._floor_items(measure)),
            )
        if self.request.on_overflow == "empty":
            self.early.clear()
            self.why = ["overflow"] * len(self.why)
            for each in self.budget.measures:
                each.used = 0

    def _floor_items(self, measure: Measure) -> Iterator[FloorItem]:
        beside = measure.around + measure.limit - measure.room
        if beside:
            yield FloorItem(0, 0, beside, "request")
        for position, reason in sorted(self.early.items()):
            yield FloorItem(position, position + 1, measure.size(position), reason)
        for unit, why in enumerate(self.why):
            if why is not None:
                first = self.units.firsts[unit]
                yield FloorItem(first, self.units.end_of(unit), measure.costs[unit], why)

    # --- the groups cut --------------------------------------------------------------------------

    def _fill(self) -> int | None:
        """Keep units from the newest on until one does not fit."""
        if not self._filled() and self.start > 0:
            return self.start - 1
        first = self.first
        if not self.request.floor and not self._speaks():
            return None
        if first == self.count or self.role(first) == USER:
            return None
        if self.request.floor:
            lead = self._opener_before(first)
            if lead >= 0 and not self.is_kept(lead):
                wanted = self.reach(lead)
                if wanted is not None or self._restored(lead, first):
                    return wanted
        if self.request.profile.start == "user":
            for unit in range(self.units.of(first), len(self.why)):
                if self.why[unit] not in KEPT:
                    continue
                if self.why[unit] != "recent" or self.role(self.units.firsts[unit]) == USER:
                    break
                self.let_go(unit, "start")
            if not self.request.floor:
                self._speaks()
        return None

    def _speaks(self) -> bool:
        """Whether anything besides system messages is kept because it fits; if not, none is."""
        recent = [unit for unit, reason in enumerate(self.why) if reason == "recent"]
        firsts = self.units.firsts
        if any(self.role(firsts[unit]) not in _SILENT for unit in recent):
            return True
        for unit in recent:
            self.let_go(unit, "oldest")
        return False

    def _filled(self) -> bool:
        """Keep what fits, and say whether a unit did not.

        One that no window could hold goes alone: it must not take everything before it along.
        """
        why, budget = self.why, self.budget
        if len(budget.measures) == 1:
            return self._filled_by(budget.measures[0])
        for unit in range(len(why) - 1, -1, -1):
            if why[unit] is not None:
                continue
            if budget.fits(unit):
                self.keep_unit(unit, "recent")
            elif budget.never_fits(unit):
                why[unit] = "too-large"
            else:
                return True
        return False

    def _filled_by(self, measure: Measure) -> bool:
        """Do the same for one limit: the common case, and the planner's hottest loop."""
        why = self.why
        used, target, most = measure.used, measure.target, measure.most
        unit, last = len(why), -1
        full = False
        for cost in reversed(measure.costs):
            unit -= 1
            if why[unit] is not None:
                continue
            if used + cost <= target:
                why[unit] = "recent"
                used += cost
                last = unit
            elif cost > most:
                why[unit] = "too-large"
            else:
                full = True
                break
        measure.used = used
        if last >= 0:
            # A head kept like any other message is not where the recent ones begin.
            firsts = self.units.firsts
            while last < len(why) and (firsts[last] < self.head or why[last] != "recent"):
                last += 1
            if last < len(why):
                self.first = min(self.first, firsts[last])
        return full

    def _restored(self, lead: int, first: int) -> bool:
        """Bring back the user message that kept tool rounds answer, in exchange for the oldest.

        Not for an answer alone: that goes the way of its question.
        """
        end = first
        while end < self.count and self.role(end) != USER:
            end += 1
        turn = self.units.of(first)
        after = self.units.of(end) if end < self.count else len(self.why)
        gone: list[int] = []
        for unit in range(turn, after):
            if self._room_for(lead) or self.why[unit] in _FLOOR:
                break
            if self.why[unit] == "recent":
                self.let_go(unit, "oldest")
                gone.append(unit)
        if self._room_for(lead) and self._works(first, end):
            self.keep(lead, "lead")
            return True
        for unit in gone:
            self.why[unit] = None
            self.keep_unit(unit, "recent")
        return False

    def _room_for(self, lead: int) -> bool:
        if lead < self.start:
            return self.budget.has_room_for(lead)
        return self.budget.fits(self.units.of(lead))

    def _works(self, first: int, end: int) -> bool:
        """Whether a kept message of a stretch asks for results."""
        return any(
            self.facts[position - self.start].calls and self.is_kept(position)
            for position in range(first, end)
        )

    def tangled(self) -> bool:
        """Whether groups interleave and what is kept of them would be read as one turn.

        What parted two assistant turns has gone, and an id is used in both: results of one would be
        taken for the other's. Such groups are then kept or dropped together.
        """
        if self.units.ordered:
            return False
        last = self.start - 1
        seam = False
        ids: list[str | None] = []
        for start, stop, unit in self.units.pieces():
            if self.why[unit] not in KEPT:
                continue
            if last >= self.start and start > last + 1:
                seam = seam or self.role(start) == self.role(last) == ASSISTANT
            last = stop - 1
            for fact in self.facts[start - self.start : stop - self.start]:
                ids += [link.id for link in fact.ends if link.kind == CALL]
        return seam and len(set(ids)) < len(ids)

    # --- the outcome -----------------------------------------------------------------------------

    def outcome(self) -> Outcome:
        """Write the decision down as edits."""
        edits: list[Edit] = []
        at = 0
        gone = "overflow" if self.why[:1] == ["overflow"] else "oldest"
        for position in sorted(self.early):
            _extend(edits, at, position, gone)
            _extend(edits, position, position + 1, self.early[position])
            at = position + 1
        _extend(edits, at, self.start, gone)
        begin = self.start
        before: str | None = ""
        for start, reason in self.units.along(self.why):
            if reason != before:
                _extend(edits, begin, start, before or "oldest")
                begin, before = start, reason
        _extend(edits, begin, self.count, before or "oldest")
        return Outcome(edits, {m.unit: m.used for m in self.budget.measures})


_FLOOR = KEPT.keys() - {"recent"}
# Roles that leave nothing to answer.
_SILENT = frozenset({SYSTEM, OTHER})


def _extend(edits: list[Edit], start: int, stop: int, reason: str) -> None:
    """Append an edit, joining it to the one before where that says the same."""
    if start >= stop:
        return
    if edits and edits[-1].reason == reason:
        start = edits.pop().start
    # No reason stands for both a kept and a dropped message, so it tells which it is.
    edits.append(Edit("keep" if reason in KEPT else "drop", start, stop, reason))
