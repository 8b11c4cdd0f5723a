"""A breach that is to be mended, what its mends look up, and the signature of what mends it.

Must not know: any breach or mend in particular.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from lockstitch.facts import RESULT, USER
from lockstitch.rules.draft import Draft, Entry
from lockstitch.rules.record import Record
from lockstitch.rules.rule import Rule
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from lockstitch.facts import Link
    from lockstitch.pairing import Occurrence, Tie
    from lockstitch.transcript import Part

__all__ = ["Breach", "Lookup", "Mend"]


class Lookup:
    """What the mends of one round look up, each found once for all of them.

    Args:
        view: the history as the round found it.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        pairing = view.groups.pairing
        # Ids that are used; ids that are given out are added, so that they are given out once.
        self.ids = {link.id for fact in view.facts for link in fact.ends if link.id is not None}
        self.ties: dict[tuple[int, int], Tie] = {}
        self._answers: dict[int, list[Tie]] = {}
        self._orphans: dict[object, int] = {}
        for tie in pairing.ties:
            self.ties[tie.message, tie.ordinal] = tie
            if tie.call is not None:
                self._answers.setdefault(id(tie.call), []).append(tie)
            elif tie.link.kind == RESULT:
                self._orphans[_pairs_by(tie.link)] = self._orphans.get(_pairs_by(tie.link), 0) + 1
        self.calls: dict[int, list[Occurrence]] = {}
        self._runs: dict[tuple[int, object], list[Occurrence]] = {}
        self._named: dict[object, int] = {}
        self._waiting: dict[object, list[Occurrence]] = {}
        for call in pairing.calls:
            self.calls.setdefault(call.message, []).append(call)
            self._runs.setdefault((call.run, call.link.key), []).append(call)
            key = _pairs_by(call.link)
            self._named[key] = self._named.get(key, 0) + 1
            if call.answer < 0:
                self._waiting.setdefault(key, []).append(call)
        self._users = [at for at, fact in enumerate(view.facts) if fact.role == USER]
        self._members: dict[int, list[int]] = {}
        self._given: set[int] = set()
        # Messages of the record that were brought back in this round.
        self.restored: set[int] = set()

    def call_at(self, message: int, path: str) -> Occurrence | None:
        """Return the call at a place."""
        for call in self.calls.get(message, ()):
            if self.view.place(call.message, call.ordinal) == path:
                return call
        return None

    def tie_at(self, message: int, path: str) -> Tie | None:
        """Return how the answering end at a place came out."""
        for ordinal in range(len(self.view.facts[message].ends)):
            if self.view.place(message, ordinal) == path:
                return self.ties.get((message, ordinal))
        return None

    def answers(self, call: Occurrence) -> list[Tie]:
        """Return everything that was paired with a call, in order."""
        return self._answers.get(id(call), [])

    def uses(self, call: Occurrence) -> list[Occurrence]:
        """Return the calls of one run that share an id, in order."""
        return self._runs[call.run, call.link.key]

    def waits(self, link: Link) -> bool:
        """Whether a call is open that a result like this could answer."""
        return bool(self._waiting.get(_pairs_by(link)))

    def members(self, message: int) -> list[int]:
        """Return the messages of the group that a message is in."""
        names = self.view.groups.names
        if not self._members:
            for at, name in enumerate(names):
                self._members.setdefault(name, []).append(at)
        return self._members[names[message]]

    def own_call(self, tie: Tie) -> Occurrence | None:
        """Return the call that a result without one stands before; it is given once.

        Ids are used again, so it must be the nearest open one with nothing of the user's between,
        or the id must leave no choice.
        """
        key = _pairs_by(tie.link)
        waiting = self._waiting.get(key, [])
        at = bisect_right(waiting, tie.message, key=lambda call: call.message)
        while at < len(waiting) and id(waiting[at]) in self._given:
            at += 1
        if at == len(waiting):
            return None
        call = waiting[at]
        sure = tie.link.id is not None and self._named[key] == 1 and self._orphans.get(key) == 1
        if not sure and self._user_between(tie.message, call.message):
            return None
        self._given.add(id(call))
        return call

    def _user_between(self, first: int, last: int) -> bool:
        return bisect_right(self._users, first) < bisect_left(self._users, last)


def _pairs_by(link: Link) -> object:
    return link.key if link.id is not None else (link.family, None, link.name)


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One breach, as the mends see it.

    Args:
        rule: the rule that is broken, and `finding` where and how.
        view: the history as it stood when the breach was found.
        entries: its messages; positions of the view count in them.
        lookup: what can be looked up of the view.
        record: what was recorded first, if the caller has it.
    """

    rule: Rule
    finding: Finding
    view: View
    entries: list[Entry]
    lookup: Lookup
    record: Record | None = None

    @property
    def entry(self) -> Entry:
        """The message it was found at."""
        return self.entries[self.finding.index]

    @property
    def fresh(self) -> bool:
        """Whether the messages it concerns are still as they were when it was found."""
        concerned = (self.finding.index, *self.finding.related)
        return not any(self.entries[at].touched for at in concerned if at >= 0)

    def part(self) -> Part | None:
        """The part it was found at."""
        parts = self.view.parts(self.finding.index)
        return next((part for part in parts if part.path == self.finding.path), None)


Mend = Callable[[Draft, Breach], bool]
"""What mends a breach: changes the draft and accounts for it, or returns False."""
