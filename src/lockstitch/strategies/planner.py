"""The planner: from limits to a plan, reading facts and sizes and nothing else.

Knows: groups, budgets, what a profile demands of a window, what must stay. It works from the tail:
the cost follows what is kept. It reads further back only for ids that it met without their other
half, for the newest user message, and for pinned positions.

    floor       the system part, pins, the newest user message, open groups, the newest complete
                group; with the user message that these need to be accepted
    groups cut  whole groups go, oldest first (by their first message); a group that no window could
                hold goes alone; holes are allowed. Kept tool rounds keep the user message
                they answer, where it fits
    prefix cut  everything before one legal boundary goes, the floor excepted (`boundary`)

Must not know: formats, text, how sizes are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from lockstitch.errors import CannotFit
from lockstitch.facts import SYSTEM, USER
from lockstitch.grouping import COMPLETE, OPEN, group, run_start, ties_for
from lockstitch.measure.limits import Limits
from lockstitch.plan import KEPT, Edit, FloorItem
from lockstitch.rules.profiles import Profile
from lockstitch.strategies.boundary import prefix_cut
from lockstitch.strategies.budget import Budget, Measure, measures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.measure.counters import Sizer
    from lockstitch.transcript import Transcript

__all__ = ["Outcome", "Request", "Window", "plan_edits"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of the planner: the arguments of `trim`, checked."""

    limits: Limits
    profile: Profile
    cut: Literal["groups", "prefix"] = "groups"
    pins: frozenset[int] = frozenset()
    floor: bool = True
    on_overflow: Literal["raise", "smallest", "empty"] = "raise"


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
    measures = measures_of(sizers, request.limits)
    sheds = request.cut == "prefix" and not request.floor
    if not sheds and not any(measure.start_of_fit(count, measure.room) for measure in measures):
        return Outcome([Edit("keep", 0, count, "all")], {})
    fits_from = max((m.start_of_fit(count, m.target) for m in measures), default=0)
    start = run_start(transcript, min(max(fits_from - 1, 0), count - 1))
    while True:
        window = Window(transcript, request, measures, start)
        wanted = window.decide()
        if wanted is None:
            return window.outcome()
        # Doubling keeps the whole search within twice the cost of its last attempt.
        start = run_start(transcript, max(0, min(wanted, 2 * start - count)))


class Window:
    """One attempt at a decision, over the groups of `[start, count)`.

    `keep` maps the name of a kept group to its reason, `gone` that of a dropped one. A message
    before `start` can be kept when it is surely a group of its own; if it could be more, the
    attempt asks for an earlier start.
    """

    def __init__(
        self, transcript: Transcript, request: Request, measures: list[Measure], start: int
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
        self.groups = group(self.facts, start, ties, detail=False)
        self.budget = Budget(measures, self.groups.names, start)
        self.keep: dict[int, str] = {}
        self.gone: dict[int, str] = {}
        self.newest_user = -1
        self.head = 0
        while self.head < self.count and self.role(self.head) == SYSTEM:
            self.head += 1

    def decide(self) -> int | None:
        """Decide; return an earlier start to try from, or `None` when it is done."""
        if self.start and self.groups.pairing.unmet:
            return self.start - 1
        wanted = self._pins()
        if wanted is None and self.request.floor:
            wanted = self._floor()
        if wanted is not None:
            return wanted
        over = self.budget.over()
        if over is not None:
            self._overflow(over)
            return None
        return prefix_cut(self) if self.request.cut == "prefix" else self._fill()

    def role(self, position: int) -> str:
        """Return the role of a message."""
        if position >= self.start:
            return self.facts[position - self.start].role
        return self.transcript.facts_at(position).role

    def name_of(self, position: int) -> int:
        """Return the name of the group of a position; before `start`, the position itself."""
        return position if position < self.start else self.groups.name_of(position)

    def add(self, name: int, reason: str) -> None:
        """Keep a group."""
        if name not in self.keep:
            self.keep[name] = reason
            self.budget.take(name)

    def remove(self, name: int, reason: str) -> None:
        """Let a kept group go after all."""
        del self.keep[name]
        self.gone[name] = reason
        self.budget.give_back(name)

    def first_kept(self) -> int:
        """Return the first kept position after the system part, `count` if there is none."""
        head = self.head
        return min([name for name in self.keep if name >= head], default=self.count)

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

    # --- the floor -------------------------------------------------------------------------------

    def _pins(self) -> int | None:
        for position in self.request.pins:
            if self.reach(position) is not None:
                return 0
            self.add(self.name_of(position), "pinned")
        return None

    def _floor(self) -> int | None:
        """Keep what must stay; return an earlier start where that reaches further back."""
        transcript, groups = self.transcript, self.groups
        for position in range(self.head):
            self.add(self.name_of(position), "system")
        asks = transcript.format.asks
        if asks is not None and self.start and any(map(asks, transcript.natives[: self.start])):
            return 0
        user = self.newest_user = self._user_before(self.count)
        if user >= 0:
            wanted = self.reach(user)
            if wanted is not None:
                return wanted
            self.add(self.name_of(user), "task")
        for name, state in groups.states.items():
            if state == OPEN:
                self.add(name, "open")
        for name in reversed(groups.names):
            if groups.state_of(name) == COMPLETE:
                self.add(name, "newest")
                break
        if self.request.profile.start != "user":
            return None
        return self._lead_of(self.first_kept())

    def _lead_of(self, first: int) -> int | None:
        """Where the window must start with a user message, make the floor start with one."""
        if first == self.count or self.role(first) == USER:
            return None
        lead = self._user_before(first)
        if lead < 0:
            return None
        wanted = self.reach(lead)
        if wanted is None:
            self.add(self.name_of(lead), "lead")
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
            for name in list(self.keep):
                self.remove(name, "overflow")
            self.gone.update(dict.fromkeys(self.groups.names, "overflow"))

    def _floor_items(self, measure: Measure) -> Iterator[FloorItem]:
        names = self.groups.names
        for name, reason in sorted(self.keep.items()):
            stop = name + 1
            if name >= self.start:
                stop = self.count - names[::-1].index(name)
            yield FloorItem(name, stop, self.budget.cost(measure, name), reason)

    # --- the groups cut --------------------------------------------------------------------------

    def _fill(self) -> int | None:
        """Keep groups from the newest on until one does not fit."""
        if not self.budget.fill(self.keep, self.gone) and self.start > 0:
            return self.start - 1
        head = self.head
        kept = sorted([name for name in self.keep if name >= head])
        if not kept or self.role(kept[0]) == USER:
            return None
        if self.request.floor:
            lead = self._lead_before(kept[0])
            if lead >= 0:
                wanted = self.reach(lead)
                if wanted is not None or self._restored(lead, kept):
                    return wanted
        if self.request.profile.start == "user":
            for name in kept:
                if self.role(name) == USER or self.keep[name] != "recent":
                    break
                self.remove(name, "start")
        return None

    def _lead_before(self, first: int) -> int:
        """Return the user message that the first kept group answers, unless it is kept; else -1."""
        lead = self.newest_user if first > self.newest_user else self._user_before(first)
        return -1 if lead < 0 or self.name_of(lead) in self.keep else lead

    def _restored(self, lead: int, kept: list[int]) -> bool:
        """Bring back the user message that kept tool rounds answer, in exchange for the oldest.

        Not for an answer alone: that goes the way of its question.
        """
        end = kept[0]
        while end < self.count and self.role(end) != USER:
            end += 1
        name_of_lead = self.name_of(lead)
        let_go: list[int] = []
        turn = [name for name in kept if name < end]
        for name in turn:
            if self.budget.fits(name_of_lead) or self.keep[name] != "recent":
                break
            self.remove(name, "oldest")
            let_go.append(name)
        works = self.budget.fits(name_of_lead) and any(
            self.groups.name_of(position) in self.keep and self.transcript.facts_at(position).calls
            for position in range(turn[len(let_go)] if len(let_go) < len(turn) else end, end)
        )
        if works:
            self.add(name_of_lead, "lead")
            return True
        for name in let_go:
            del self.gone[name]
            self.add(name, "recent")
        return False

    # --- the outcome -----------------------------------------------------------------------------

    def outcome(self) -> Outcome:
        """Write the decision down as edits."""
        edits: list[Edit] = []
        at = 0
        early = "overflow" if "overflow" in self.gone.values() else "oldest"
        for position in sorted([name for name in self.keep if name < self.start]):
            _extend(edits, at, position, early)
            _extend(edits, position, position + 1, self.keep[position])
            at = position + 1
        _extend(edits, at, self.start, early)
        # No reason stands for both a kept and a dropped message, so the reason tells which it is.
        kept, gone = self.keep.get, self.gone.get
        begin = position = self.start
        before = ""
        last = -1
        for name in self.groups.names:
            if name != last:
                last = name
                reason = kept(name) or gone(name, "oldest")
                if reason != before:
                    _extend(edits, begin, position, before)
                    begin, before = position, reason
            position += 1
        _extend(edits, begin, position, before)
        return Outcome(edits, {m.unit: m.used for m in self.budget.measures})


def _extend(edits: list[Edit], start: int, stop: int, reason: str) -> None:
    """Append an edit, joining it to the one before where that says the same."""
    if start >= stop:
        return
    if edits and edits[-1].reason == reason:
        start = edits.pop().start
    edits.append(Edit("keep" if reason in KEPT else "drop", start, stop, reason))
