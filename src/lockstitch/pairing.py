"""Pairing: the one ordered walk that ties results to calls, decisions to requests.

Knows: facts, and the order of messages. A call opens an occurrence; a result consumes one: of its
own family and id, in the nearest assistant run that has one open, first in, first out inside that
run. Nothing is ever decided by membership in a set of ids, so an id that comes back in a later turn
is simply another occurrence.

    run         a maximal stretch of assistant messages with no user message and no answers between
    nearest     the run closest before the result
    occurrence  a result that names the one occurrence it answers goes there first
    no id       pairs by name and order, inside the run that was just spoken
    no call     of its own family: one of another client-run family with that id is taken
    answered    a second result for a call that has one binds to it, as a duplicate
    neither     an orphan

Must not know: text, formats, providers, limits.

The walk may begin in the middle of a transcript. Matching inside a suffix is the same as in the
whole (it is bracket matching: what stands before never changes a pair found after it), so a walk
from `start` is final except for the ends listed in `unmet`, which need what lies before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    CLIENT_FAMILIES,
    FUNCTION,
    INTERIM,
    REJECTED,
    REQUEST,
    RESULT,
    TOOL,
    USER,
    Facts,
    Link,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Occurrence", "Pairing", "Tie", "pair", "settled_by"]

_WIDE: Final = 16
_Key = str | tuple[str, str | None] | None


class Occurrence(msgspec.Struct, gc=False, eq=False):
    """One call, or one approval request, at one place.

    `message` is its position and `ordinal` its place among the links of that message. `run` numbers
    the assistant run it was spoken in. `answer` is the position of the message that closed it, -1
    while nothing has. `partner` is the call that a request asks about.
    """

    message: int
    ordinal: int
    link: Link
    run: int
    answer: int = -1
    partner: Occurrence | None = None

    @property
    def waits(self) -> bool:
        """Whether nothing has closed it, nor the call it asks about."""
        return self.answer < 0 and (self.partner is None or self.partner.answer < 0)


class Tie(msgspec.Struct, frozen=True, gc=False, eq=False):
    """How one answering end came out: `call` is what it was paired with, `None` for an orphan.

    `duplicate` marks a second answer to a call; `foreign` one taken by a call of another family.
    """

    message: int
    ordinal: int
    link: Link
    call: Occurrence | None
    duplicate: bool = False
    foreign: bool = False


class Pairing(msgspec.Struct, eq=False):
    """The outcome of one walk over `[start, stop)`.

    `names` gives for each position the first one that it belongs with; `edges` are further ties, of
    messages that belong with more than one. `calls` and `requests` are every occurrence in
    order; `ties` every answering end in order; `unmet` the positions whose other half lies before
    `start` (orphans, when `start` is 0). `last_run` is the number of the newest assistant run and
    `moved_on` whether a user message came after it.
    """

    start: int
    stop: int
    names: list[int]
    edges: list[tuple[int, int]]
    calls: list[Occurrence]
    requests: list[Occurrence]
    ties: list[Tie]
    unmet: list[int]
    last_run: int
    moved_on: bool

    def waiting(self) -> list[tuple[Occurrence, bool]]:
        """Return what is not answered, each with whether it still can be.

        A call can still be answered while the run it was spoken in is the newest thing said; a
        call that awaits an approval or an answer of a person, and the request for it, wait as long
        as it takes.
        """
        pending = [request for request in self.requests if request.waits]
        asked = {id(request.partner) for request in pending}
        current = -1 if self.moved_on else self.last_run
        found = [
            (call, call.run == current or id(call) in asked or call.link.state == INTERIM)
            for call in self.calls
            if call.answer < 0
        ]
        found.extend((request, True) for request in pending)
        return found


def pair(
    facts: Sequence[Facts], start: int = 0, *, whole_response: bool = False, detail: bool = True
) -> Pairing:
    """Walk messages once, in order, and tie what belongs together.

    Args:
        facts: the facts of the messages from position `start` to the end.
        start: the position of the first of them. It must not lie inside an assistant run.
        whole_response: tie all assistant messages of one run to each other.
        detail: list every call and tie. Without it the rounds that are settled at once (calls, then
            exactly their results) are named and otherwise passed over, which is all that a decision
            needs and takes a third of the time.

    Linear in the number of messages and links.

    >>> from lockstitch.facts import Facts, Link
    >>> call = Facts("assistant", (Link("call", "function", "c1"),))
    >>> result = Facts("tool", (Link("result", "function", "c1"),))
    >>> pair([call, result]).names
    [0, 0]
    """
    walk = _Walk(start)
    names, waiting = walk.names, walk.waiting
    # Where the run last spoke; -1 between runs. `thinking`: what it said was reasoning alone.
    spoken = last_spoken = last_user = -1
    thinking = False
    settled = 0
    position = start - 1
    for fact in facts:
        position += 1
        if settled:
            settled -= 1
            continue
        role = fact.role
        if role == ASSISTANT:
            if spoken < 0:
                walk.run += 1
                walk.first_of_run = len(walk.calls)
                name = position
            elif thinking or whole_response:
                name = names[spoken - start]
            else:
                name = position
            names.append(name)
            spoken = last_spoken = position
            thinking = fact.reasoning
            asks = fact.asks
            if asks:
                if not detail and (not waiting or waiting.keys().isdisjoint(asks)):
                    settled = settled_by(facts, position - start + 1, asks)
                    if settled:
                        names += [name] * settled
                        spoken = -1
                        continue
                walk.take(position, fact.ends)
            elif fact.links or fact.answers:
                walk.take(position, fact.ends)
            continue
        names.append(position)
        if fact.answers or fact.links:
            walk.take(position, fact.ends, calls=False)
        if role == USER:
            last_user = position
            spoken = -1
        elif role == TOOL:
            spoken = -1
    if walk.missed and not detail:
        # What was passed over may be the other half of something: look at everything after all.
        return pair(facts, start, whole_response=whole_response)
    return Pairing(
        start=start,
        stop=position + 1,
        names=names,
        edges=walk.edges,
        calls=walk.calls,
        requests=walk.requests,
        ties=walk.ties,
        unmet=walk.unmet,
        last_run=walk.run,
        moved_on=last_user > last_spoken,
    )


def settled_by(facts: Sequence[Facts], at: int, asks: tuple[str, ...]) -> int:
    """Count the messages from `at` on that settle a call message: exactly the results it asks for.

    All of them join the one group of the message, so which result goes with which call of equal
    ids makes no difference here.
    """
    count = len(asks)
    if count == 1:
        if at == len(facts):
            return 0
        answer = facts[at]
        return 1 if answer.answers == asks and answer.role == TOOL else 0
    if count > _WIDE:
        # A wide batch would make the search below quadratic; the walk takes it in its stride.
        return 0
    left = list(asks)
    taken = 0
    for answer in facts[at : at + count]:
        given = answer.answers
        if not given or answer.role != TOOL:
            return 0
        for one in given:
            if one not in left:
                return 0
            left.remove(one)
        taken += 1
        if not left:
            return taken
    return 0


class _Walk:
    """The occurrences that are open while a walk goes on."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.run = 0
        self.names: list[int] = []
        self.edges: list[tuple[int, int]] = []
        self.calls: list[Occurrence] = []
        self.requests: list[Occurrence] = []
        self.ties: list[Tie] = []
        self.unmet: list[int] = []
        # The one open occurrence of a key, or a stack of runs where there are more.
        self.waiting: dict[_Key, Occurrence | _Stack] = {}
        self.closed: dict[_Key, Occurrence] = {}
        self.first_of_run = 0
        # Whether something was looked for in vain.
        self.missed = False
        self._aliases: dict[_Key, Occurrence] = {}
        self._asked: dict[str | None, Occurrence] = {}

    def take(self, position: int, links: tuple[Link, ...], *, calls: bool = True) -> None:
        """Read the links of one message, in order; only the model's messages hold `calls`."""
        ordinal = -1
        for link in links:
            ordinal += 1
            kind = link.kind
            if kind == CALL:
                if not calls:
                    continue
                occurrence = Occurrence(position, ordinal, link, self.run)
                self.calls.append(occurrence)
                if link.id is not None:
                    self._register(occurrence, link)
            elif kind == RESULT:
                self._result(position, ordinal, link)
            elif kind == REQUEST:
                self._request(position, ordinal, link)
            elif kind == ANSWER:
                self._answer(position, ordinal, link)
            else:
                self._child(position, ordinal, link)

    def _tie(self, earlier: int, position: int) -> None:
        """Record that two messages belong together."""
        at = position - self.start
        if self.names[at] == position:
            self.names[at] = self.names[earlier - self.start]
        elif earlier != position:
            self.edges.append((earlier, position))

    def _register(self, occurrence: Occurrence, link: Link) -> None:
        """Make a call findable under its id."""
        key = link.id if link.family == FUNCTION else (link.family, link.id)
        held = self.waiting.setdefault(key, occurrence)
        if held is not occurrence:
            stack = _Stack(held) if isinstance(held, Occurrence) else held
            self.waiting[key] = stack
            stack.push(occurrence)
        if link.alias is not None:
            self._aliases[link.family, link.alias] = occurrence

    def _result(self, position: int, ordinal: int, link: Link) -> None:
        if link.id is None:
            self._close(position, ordinal, link, self._by_name(link))
            return
        if link.alias is not None and self._by_occurrence(position, ordinal, link):
            return
        key = link.id if link.family == FUNCTION else (link.family, link.id)
        held = self.waiting.get(key)
        if held is None:
            self._late(position, ordinal, link)
            return
        if isinstance(held, Occurrence):
            occurrence = held if held.answer < 0 else None
        else:
            occurrence = held.nearest()
        if occurrence is None:
            self._late(position, ordinal, link)
            return
        self._close(position, ordinal, link, occurrence)

    def _by_occurrence(self, position: int, ordinal: int, link: Link) -> bool:
        """Place a result that names the one occurrence it answers, if that says where."""
        occurrence = self._aliases.get((link.family, link.alias))
        if occurrence is None and self.start:
            # It may lie before the start; only one that does not is found by the call's id.
            self.missed = True
            self.unmet.append(position)
            return True
        if occurrence is None or occurrence.answer >= 0:
            return False
        self._close(position, ordinal, link, occurrence)
        return True

    def _nearest(self, key: _Key) -> Occurrence | None:
        """Find the first open occurrence of the nearest run that has one."""
        held = self.waiting.get(key)
        if isinstance(held, Occurrence):
            return held if held.answer < 0 else None
        return held.nearest() if held is not None else None

    def _by_name(self, link: Link) -> Occurrence | None:
        """Find the first open call of the run just spoken for a result without an id."""
        for occurrence in self.calls[self.first_of_run :]:
            if occurrence.answer < 0 and occurrence.link.family == link.family:
                name = occurrence.link.name
                if link.name is None or name is None or name == link.name:
                    return occurrence
        return None

    def _late(self, position: int, ordinal: int, link: Link) -> None:
        """Place a result whose own family has no open call of its id in what was walked."""
        occurrence = self._aliases.get(link.key)
        if occurrence is not None and occurrence.answer < 0:
            self._close(position, ordinal, link, occurrence)
            return
        self.missed = True
        if self.start:
            self.unmet.append(position)
            return
        occurrence = self._foreign(link) or self._unnamed(link)
        if occurrence is not None:
            self._close(position, ordinal, link, occurrence, foreign=True)
            return
        closed = self.closed.get(link.key)
        if closed is None:
            self._close(position, ordinal, link, None)
            return
        self._tie(closed.message, position)
        self.ties.append(Tie(position, ordinal, link, closed, duplicate=True))

    def _foreign(self, link: Link) -> Occurrence | None:
        if link.family not in CLIENT_FAMILIES:
            return None
        for family in CLIENT_FAMILIES:
            key = link.id if family == FUNCTION else (family, link.id)
            occurrence = self._nearest(key) if key else None
            if occurrence is not None:
                return occurrence
        return None

    def _unnamed(self, link: Link) -> Occurrence | None:
        """Find a call without an id for a result that has one, by name, in the run just spoken."""
        found = [
            occurrence
            for occurrence in self.calls[self.first_of_run :]
            if occurrence.answer < 0
            and occurrence.link.id is None
            and occurrence.link.family == link.family
            and (link.name is None or occurrence.link.name == link.name)
        ]
        # Without a name to go by, only where there is no choice.
        return found[0] if found and (link.name is not None or len(found) == 1) else None

    def _close(
        self,
        position: int,
        ordinal: int,
        link: Link,
        occurrence: Occurrence | None,
        *,
        foreign: bool = False,
    ) -> None:
        self.ties.append(Tie(position, ordinal, link, occurrence, foreign=foreign))
        if occurrence is None:
            self.unmet.append(position)
            return
        self._tie(occurrence.message, position)
        if link.state != INTERIM:
            occurrence.answer = position
            # Findable under the result's key and under every key of the call.
            call = occurrence.link
            self.closed[link.key] = self.closed[call.key] = occurrence
            if call.alias is not None:
                self.closed[call.family, call.alias] = occurrence

    def _request(self, position: int, ordinal: int, link: Link) -> None:
        request = Occurrence(position, ordinal, link, self.run)
        self.requests.append(request)
        earlier = self._asked.get(link.id)
        if earlier is not None and earlier.answer < 0:
            earlier.answer = position  # asked again: the newer request is the one that waits
        self._asked[link.id] = request
        if link.alias is None:
            return
        key: _Key = link.alias if link.family == FUNCTION else (link.family, link.alias)
        request.partner = self._nearest(key)
        if request.partner is None and link.family != FUNCTION:
            request.partner = self.closed.get(key)
        if request.partner is not None:
            self._tie(request.partner.message, position)
            return
        self.missed = True
        if self.start:
            self.unmet.append(position)
        elif link.family == FUNCTION:
            # The call that it embeds stands nowhere else; its result will name it.
            request.partner = Occurrence(
                position, ordinal, Link(CALL, FUNCTION, link.alias, link.name), self.run
            )
            self.calls.append(request.partner)
            self._register(request.partner, request.partner.link)

    def _answer(self, position: int, ordinal: int, link: Link) -> None:
        request = self._asked.get(link.id) or self._asked_about(link.alias)
        if request is None and self.start:
            self.unmet.append(position)
            return
        self.ties.append(Tie(position, ordinal, link, request))
        if request is None:
            self.unmet.append(position)
            return
        self._tie(request.message, position)
        request.answer = position
        if link.state == REJECTED and request.partner is not None and request.partner.answer < 0:
            request.partner.answer = position

    def _asked_about(self, call_id: str | None) -> Occurrence | None:
        if call_id is None:
            return None
        for request in reversed(self.requests):
            if request.link.alias == call_id:
                return request
        return None

    def _child(self, position: int, ordinal: int, link: Link) -> None:
        parent = self._asked.get(link.id) if link.family == "mcp" else None
        if parent is None:
            parent = self._nearest(link.key) or self.closed.get(link.key)
        if parent is not None:
            self._tie(parent.message, position)
        else:
            self.missed = True
            self.unmet.append(position)
        if parent is not None or not self.start:
            self.ties.append(Tie(position, ordinal, link, parent))


class _Stack:
    """The open occurrences of one key: runs, the nearest last, each first in, first out."""

    __slots__ = ("_runs",)

    def __init__(self, first: Occurrence) -> None:
        # Each run is [number, index of the next, *occurrences].
        self._runs: list[list[Any]] = [[first.run, 2, first]]

    def push(self, occurrence: Occurrence) -> None:
        """Add an occurrence of the run that is being spoken."""
        if self._runs and self._runs[-1][0] == occurrence.run:
            self._runs[-1].append(occurrence)
        else:
            self._runs.append([occurrence.run, 2, occurrence])

    def nearest(self) -> Occurrence | None:
        """Return the first open occurrence of the nearest run that has one."""
        while self._runs:
            run = self._runs[-1]
            at = run[1]
            if at == len(run):
                self._runs.pop()
            elif run[at].answer >= 0:
                run[1] = at + 1
            else:
                found: Occurrence = run[at]
                return found
        return None
