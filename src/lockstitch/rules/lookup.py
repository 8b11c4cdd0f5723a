"""What the mends of one round look up in the history, each found once for all of them.

Knows: which result belongs to which call. The walk pairs by ids alone, first in, first out; where
an id is used twice in one turn and a result is gone, what stands at a call tells more.

Must not know: any breach or mend.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, INTERIM, RESULT, TOOL, USER
from lockstitch.transcript import ToolResult

if TYPE_CHECKING:
    from lockstitch.facts import Link
    from lockstitch.pairing import Occurrence, Tie
    from lockstitch.rules.view import View

__all__ = ["Lookup"]


class Lookup:
    """What the mends of one round look up.

    Args:
        view: the history as the round found it.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        # Ids that are used; ids that are given out are added, so that they are given out once.
        self.ids = {link.id for fact in view.facts for link in fact.ends if link.id is not None}
        # Messages of the record that were brought back in this round.
        self.restored: set[int] = set()
        self.ties: dict[tuple[int, int], Tie] = {}
        self.calls: dict[int, list[Occurrence]] = {}
        self._answers: dict[int, list[Tie]] = {}
        self._second: dict[object, list[Tie]] = {}
        self._orphans: dict[object, int] = {}
        self._uses: dict[tuple[int, object], list[Occurrence]] = {}
        self._named: dict[object, int] = {}
        self._waiting: dict[object, list[Occurrence]] = {}
        # Where what the walk paired is better paired otherwise: the call of a result, by the
        # result; and the call that is open in place of another, by that other.
        self._homes: dict[int, Occurrence] = {}
        self._open: dict[int, Occurrence] = {}
        self._given: set[int] = set()
        self._users = [at for at, fact in enumerate(view.facts) if fact.role == USER]
        self._read()

    def _read(self) -> None:
        pairing = self.view.groups.pairing
        for call in pairing.calls:
            self.calls.setdefault(call.message, []).append(call)
            self._uses.setdefault((call.run, call.link.key), []).append(call)
            key = _pairs_by(call.link)
            self._named[key] = self._named.get(key, 0) + 1
        for tie in pairing.ties:
            self.ties[tie.message, tie.ordinal] = tie
            if tie.duplicate:
                self._second.setdefault(_pairs_by(tie.link), []).append(tie)
            if tie.call is not None:
                self._answers.setdefault(id(tie.call), []).append(tie)
            elif tie.link.kind == RESULT:
                key = _pairs_by(tie.link)
                self._orphans[key] = self._orphans.get(key, 0) + 1
        turns = self._turns()
        for uses in self._uses.values():
            if len({call.message for call in uses}) > 1 and uses[0].link.id is not None:
                self._settle(uses, turns)
        for call in pairing.calls:
            if call.answer < 0:
                truly = self._open.get(id(call), call)
                self._waiting.setdefault(_pairs_by(truly.link), []).append(truly)
        for waiting in self._waiting.values():
            waiting.sort(key=lambda call: call.message)

    def _turns(self) -> list[int]:
        """For each position, where the turn of the model begins that it stands in or answers.

        -1 where the last to speak was not the model.
        """
        turns: list[int] = []
        begun = -1
        spoken = False
        for at, fact in enumerate(self.view.facts):
            if fact.role == ASSISTANT:
                begun = begun if spoken else at
            turns.append(begun)
            if fact.role == USER:
                begun = -1
            if fact.role in {ASSISTANT, USER, TOOL}:
                spoken = fact.role == ASSISTANT
        return turns

    def _settle(self, uses: list[Occurrence], turns: list[int]) -> None:
        """Pair the calls of one id in one turn with their results anew, by where these stand.

        The results that stand at the turn belong to its last calls: where one is missing, the call
        that it answered was the earlier one, and the next was made when it was there. The others go
        to the calls that are left, in order.
        """
        results = [
            tie
            for call in uses
            for tie in self.answers(call)
            if tie.link.kind == RESULT and not tie.duplicate and tie.link.state != INTERIM
        ]
        results.sort(key=lambda tie: (tie.message, tie.ordinal))
        turn = turns[uses[0].message]
        near = [tie for tie in results if turns[tie.message] == turn]
        far = [tie for tie in results if turns[tie.message] != turn]
        split = len(uses) - len(near)
        left = uses[:split]
        pairs = [*zip(near, uses[split:], strict=True), *zip(far, left, strict=False)]
        self._homes.update((id(tie), call) for tie, call in pairs)
        walked = (call for call in uses if call.answer < 0)
        opened = zip(walked, left[len(far) :], strict=True)
        self._open.update((id(call), truly) for call, truly in opened)

    # --- calls and results -----------------------------------------------------------------------

    def call_at(self, place: tuple[int, str]) -> Occurrence | None:
        """Return the call at a place."""
        message, path = place
        for call in self.calls.get(message, ()):
            if self.view.place(call.message, call.ordinal) == path:
                return call
        return None

    def open_call_at(self, place: tuple[int, str]) -> Occurrence | None:
        """Return the call that is open, where the walk left the one at a place open."""
        call = self.call_at(place)
        return None if call is None else self._open.get(id(call), call)

    def tie_at(self, place: tuple[int, str]) -> Tie | None:
        """Return how the answering end at a place came out."""
        message, path = place
        for ordinal in range(len(self.view.facts[message].ends)):
            if self.view.place(message, ordinal) == path:
                return self.ties.get((message, ordinal))
        return None

    def answers(self, call: Occurrence | None) -> list[Tie]:
        """Return everything that the walk paired with a call, in order."""
        return self._answers.get(id(call), [])

    def home(self, tie: Tie) -> Occurrence | None:
        """Return the call that a result belongs to."""
        return self._homes.get(id(tie), tie.call)

    def results(self, call: Occurrence) -> list[Tie]:
        """Return everything that belongs to a call, in order."""
        return [
            tie for one in self.uses(call) for tie in self.answers(one) if self.home(tie) is call
        ]

    def uses(self, call: Occurrence) -> list[Occurrence]:
        """Return the calls of one run that share an id, in order."""
        return self._uses[call.run, call.link.key]

    def waits(self, link: Link) -> bool:
        """Whether a call is open that a result like this could answer."""
        return bool(self._waiting.get(_pairs_by(link)))

    def own_call(self, tie: Tie) -> Occurrence | None:
        """Return the open call that a result stands before and belongs to; it is given once.

        Ids are used again, so it must be the nearest open one with nothing of the user's between,
        or the id must leave no choice.
        """
        if tie.duplicate and self._repeats(tie):
            return None
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

    def early_result(self, call: Occurrence) -> Tie | None:
        """Return the second result of an earlier call that belongs to an open one after it."""
        found = self._second.get(_pairs_by(call.link), [])
        at = bisect_left(found, call.message, key=lambda tie: tie.message) - 1
        if at < 0 or id(found[at]) in self._given or self._repeats(found[at]):
            return None
        if self._user_between(found[at].message, call.message):
            return None
        self._given.add(id(found[at]))
        return found[at]

    def _repeats(self, second: Tie) -> bool:
        """Whether a second result says what the first one said: it is the same one, twice."""
        said = self.view.end(second.message, second.ordinal)
        firsts = (tie for tie in self.answers(second.call) if not tie.duplicate)
        return isinstance(said, ToolResult) and any(
            isinstance(one, ToolResult) and one.content == said.content
            for one in (self.view.end(tie.message, tie.ordinal) for tie in firsts)
        )

    def _user_between(self, first: int, last: int) -> bool:
        return bisect_right(self._users, first) < bisect_left(self._users, last)


def _pairs_by(link: Link) -> object:
    return link.key if link.id is not None else (link.family, None, link.name)
