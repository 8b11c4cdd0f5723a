"""Planning once more, in the plainest way: over all groups at once, every sum added up anew.

It follows the planner's promises in order. It knows nothing of windows, of where a walk began, of
what a decision costs, nor of the profiles in `TAKE_SIDES`.
"""

import itertools

from lockstitch.accepting import check
from lockstitch.facts import ASSISTANT, CALL, OTHER, SYSTEM, USER
from lockstitch.formats import get_format
from lockstitch.rules.catalog import RULES
from lockstitch.rules.profiles import PROFILES, get_profile

# What a tangled history comes to is not said here: it was damaged before.
TANGLED = "tangled"

# Nor what the targets come to that ask whose turn it is on either hand of a hole.
TAKE_SIDES = {
    profile.name
    for profile in PROFILES.values()
    if profile.parted or profile.end != "any" or profile.answers_results
}


def reference(subject, ask):
    """Return the kept positions, what a window that cannot fit needs, or `TANGLED`."""
    if not len(subject) or ask.limit == 0:
        return []
    return Planner(subject, ask).decide()


class Planner:
    def __init__(self, subject, ask):
        self.subject = subject
        self.ask = ask
        self.profile = get_profile(ask.profile)
        form = get_format(subject.format)
        self.facts = [form.facts(native) for native in subject.natives]
        self.units = subject.groups(ask.profile)
        self.count = len(subject)
        self.around = subject.size(ask.unit, ask.counter, ())
        self.room = ask.limit - (ask.reserve if ask.unit in {"tokens", "chars"} else 0)
        self.target = self.room if ask.trim_to is None else min(ask.trim_to, self.room)
        self.head = next(
            (at for at, fact in enumerate(self.facts) if fact.role != SYSTEM), self.count
        )
        # For each kept group, whether it is there because it fits or because it must be.
        self.kept = {}

    # --- words -----------------------------------------------------------------------------------

    def unit_of(self, position):
        return next(unit for unit in self.units if position in unit.members)

    def size(self, units):
        members = [at for unit in units for at in unit.members]
        return self.subject.size(self.ask.unit, self.ask.counter, members) - self.around

    def used(self):
        return self.around + self.size(unit for unit in self.units if unit.first in self.kept)

    def must(self, position):
        self.kept.setdefault(self.unit_of(position).first, "must")

    def first(self):
        """The first kept position after the system part."""
        return min((at for at in self.kept if at >= self.head), default=None)

    def opener_before(self, position):
        """The nearest user message that answers no call before it."""
        openers = [
            at
            for at in range(position)
            if self.facts[at].role == USER and self.unit_of(at).first == at
        ]
        return openers[-1] if openers else None

    def positions(self):
        return sorted(at for unit in self.units if unit.first in self.kept for at in unit.members)

    # --- the decision ----------------------------------------------------------------------------

    def decide(self):
        sheds = self.ask.cut == "prefix" and not self.ask.floor
        if self.around + self.size(self.units) <= self.room and not sheds:
            return list(range(self.count))
        self.keep_the_floor()
        if self.used() > self.room:
            if self.ask.on_overflow == "raise":
                return self.used() + self.ask.limit - self.room
            if self.ask.on_overflow == "empty":
                return []
        elif self.ask.cut == "prefix":
            self.cut_a_prefix()
        else:
            self.fill()
        return TANGLED if self.is_tangled() else self.positions()

    def keep_the_floor(self):
        for pin in self.ask.pins:
            self.must(pin)
        if self.ask.floor:
            for at in range(self.head):
                self.must(at)
            users = [at for at, fact in enumerate(self.facts) if fact.role == USER]
            for at in users[-1:]:
                self.must(at)
            for unit in self.units:
                if unit.state == "open":
                    self.must(unit.first)
            whole = [
                at
                for at, fact in enumerate(self.facts)
                if fact.role != OTHER and self.unit_of(at).state == "complete"
            ]
            for at in whole[-1:]:
                self.must(at)
        first = self.first()
        if self.profile.start == "user" and first is not None and self.facts[first].role != USER:
            lead = self.opener_before(first)
            if lead is not None:
                self.must(lead)

    # --- whole groups, oldest first --------------------------------------------------------------

    def fill(self):
        for unit in reversed(self.units):
            if unit.first in self.kept:
                continue
            if self.used() + self.size([unit]) <= self.target:
                self.kept[unit.first] = "fits"
            elif self.size([unit]) <= self.room - self.around:
                break
        if not self.ask.floor and not self.speaks():
            return
        first = self.first()
        if first is None or self.facts[first].role == USER:
            return
        if self.ask.floor and self.bring_back(first):
            return
        if self.profile.start == "user":
            self.start_later(first)

    def start_later(self, first):
        """Let go what stands before the first user message that is there because it fits."""
        for unit in self.units:
            how = self.kept.get(unit.first)
            if how is None or unit.first < first:
                continue
            if how == "must" or self.facts[unit.first].role == USER:
                break
            del self.kept[unit.first]
        if not self.ask.floor:
            self.speaks()

    def speaks(self):
        """Let system messages go that stay for nothing to be said after them."""
        fits = [at for at, how in self.kept.items() if how == "fits"]
        if any(self.facts[at].role not in {SYSTEM, OTHER} for at in fits):
            return True
        for at in fits:
            del self.kept[at]
        return False

    def bring_back(self, first):
        """Trade the oldest rounds for the user message that the others answer."""
        lead = self.opener_before(first)
        if lead is None or self.unit_of(lead).first in self.kept:
            return False
        end = next(
            (at for at in range(first, self.count) if self.facts[at].role == USER), self.count
        )
        last = self.unit_of(end).first if end < self.count else self.count
        before = dict(self.kept)
        wanted = self.unit_of(lead)
        for unit in self.units:
            if not first <= unit.first < last:
                continue
            if self.used() + self.size([wanted]) <= self.target:
                break
            if self.kept.get(unit.first) == "must":
                break
            self.kept.pop(unit.first, None)
        works = any(
            self.facts[at].calls and self.unit_of(at).first in self.kept for at in range(first, end)
        )
        if works and self.used() + self.size([wanted]) <= self.target:
            self.kept[wanted.first] = "must"
            return True
        self.kept = before
        return False

    # --- everything before one boundary ----------------------------------------------------------

    def cut_a_prefix(self):
        legal = [at for at in range(self.count) if self.is_legal(at)]
        if not legal:
            return
        best = legal[0]
        if not self.ask.floor:
            best = self.behind_damage(legal)
        for unit in self.units:
            if unit.first >= best:
                self.kept.setdefault(unit.first, "fits")

    def is_legal(self, boundary):
        """Whether a window may begin here, and fits."""
        loose = [unit for unit in self.units if unit.first not in self.kept]
        astride = [unit for unit in loose if unit.first < boundary <= unit.members[-1]]
        after = [unit for unit in loose if unit.first >= boundary]
        fits = self.used() + self.size(after) <= self.target
        spoken = (at for at in range(boundary, self.count))
        role = next(
            (self.facts[at].role for at in spoken if self.facts[at].role not in {SYSTEM, OTHER}), ""
        )
        first = self.first()
        anchored = first is not None and first < boundary
        return not astride and fits and (anchored or self.profile.start != "user" or role == USER)

    def behind_damage(self, legal):
        must = self.positions()
        while True:
            kept = sorted({*must, *range(legal[0], self.count)})
            report = check(
                self.subject.source(kept), profile=self.ask.profile, format=self.subject.format
            )
            errors = [one.index for one in report.errors if not RULES[one.rule].target_only]
            broken = [kept[index] if index >= 0 else self.count for index in errors]
            broken = [at for at in broken if at not in must]
            if not broken:
                return legal[0]
            legal = [at for at in legal if at > max(broken)]
            if not legal:
                return self.count

    # --- damage ----------------------------------------------------------------------------------

    def is_tangled(self):
        """Whether turns may be joined, and two calls with one id are left."""
        left = self.positions()
        seams = any(
            after > before + 1 and self.facts[before].role == self.facts[after].role == ASSISTANT
            for before, after in itertools.pairwise(left)
        )
        ids = [end.id for at in left for end in self.facts[at].ends if end.kind == CALL]
        return seams and len(set(ids)) < len(ids)
