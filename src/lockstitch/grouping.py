"""Grouping: the atomic units of a transcript, their state, and where it may be cut.

Knows: pairing. A group is a connected component over positions: a call, its results, the reasoning
bound to it, the approvals about it; or a lone message. It is named by its first position.

    open        holds a call that can still be answered; never dropped, never summarised
    abandoned   holds a call the conversation has moved past; never blocks anything
    orphan      holds an answer to a call that is not there
    complete    everything else

Must not know: formats, sizes, limits, profiles' names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, overload

import msgspec

from lockstitch.facts import ASSISTANT, CALL, SYSTEM, TOOL, USER, Facts
from lockstitch.pairing import Pairing, pair

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = [
    "ABANDONED",
    "COMPLETE",
    "OPEN",
    "ORPHAN",
    "Group",
    "Groups",
    "Ties",
    "group",
    "run_start",
    "ties_for",
]

COMPLETE: Final = "complete"
OPEN: Final = "open"
ABANDONED: Final = "abandoned"
ORPHAN: Final = "orphan"


class Group(msgspec.Struct, frozen=True):
    """One atomic unit: kept whole or dropped whole.

    `members` are positions, ascending; `calls` counts the calls it holds.

    >>> Group((1, 2), "complete", 1).span
    (1, 3)
    """

    members: tuple[int, ...]
    state: str
    calls: int

    @property
    def first(self) -> int:
        """The position that names the group."""
        return self.members[0]

    @property
    def span(self) -> tuple[int, int]:
        """The stretch from its first to past its last member; others may stand inside."""
        return self.members[0], self.members[-1] + 1

    @property
    def kind(self) -> str:
        """`calls` for a group that holds a call, `message` for any other."""
        return "calls" if self.calls else "message"


class Ties(msgspec.Struct, frozen=True):
    """Which ties beyond pairing hold messages together.

    `whole_response`: all assistant messages of a run. `bound_system`: a system message inside the
    list with the messages beside it.
    """

    whole_response: bool = False
    bound_system: bool = False


_NO_TIES: Final = Ties()


def ties_for(
    transcript: Transcript, *, whole_response: bool = False, bound_system: bool = False
) -> Ties:
    """Combine what the transcript's format demands with what a profile demands."""
    return Ties(
        whole_response or transcript.format.whole_response,
        bound_system and transcript.format.bound_system,
    )


class Groups(Sequence[Group]):
    """The groups over `[start, stop)`, in order of their first message.

    `names[i - start]` is the first position of the group that position `i` is in; `states` holds
    the groups that are not complete. Groups are made when one is asked for.
    """

    __slots__ = ("_made", "facts", "interleaved", "names", "pairing", "start", "states", "stop")

    def __init__(
        self,
        facts: Sequence[Facts],
        pairing: Pairing,
        names: list[int],
        states: dict[int, str],
    ) -> None:
        self.start = pairing.start
        self.stop = pairing.stop
        self.names = names
        self.states = states
        self.pairing = pairing
        # Whether a group has others between its members; sorting what is sorted costs nothing.
        self.interleaved = sorted(names) != names
        self.facts = facts
        self._made: list[Group] | None = None

    def name_of(self, position: int) -> int:
        """Return the first position of the group that holds a position."""
        return self.names[position - self.start]

    def state_of(self, name: int) -> str:
        """Return the state of the group with that name."""
        return self.states.get(name, COMPLETE)

    def untangled(self) -> Groups:
        """Return groups that do not interleave: those that did are one."""
        last = {name: position for position, name in enumerate(self.names, self.start)}
        joined: dict[int, int] = {}
        end = current = -1
        for name, newest in last.items():
            if name > end:
                current = name
            joined[name] = current
            end = max(end, newest)
        names = [joined[name] for name in self.names]
        return Groups(self.facts, self.pairing, names, _states(self.pairing, names))

    @overload
    def __getitem__(self, index: int) -> Group: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Group]: ...

    def __getitem__(self, index: int | slice) -> Group | Sequence[Group]:
        return self._all()[index]

    def __len__(self) -> int:
        return len(set(self.names))

    def _all(self) -> list[Group]:
        if self._made is not None:
            return self._made
        members: dict[int, list[int]] = {}
        calls: dict[int, int] = {}
        position = self.start
        for name, fact in zip(self.names, self.facts, strict=True):
            if name == position:
                members[name] = [position]
            else:
                members[name].append(position)
            if fact.asks or fact.links:
                asked = sum(1 for link in fact.ends if link.kind == CALL)
                calls[name] = calls.get(name, 0) + asked
            position += 1
        self._made = [
            Group(tuple(positions), self.state_of(name), calls.get(name, 0))
            for name, positions in members.items()
        ]
        return self._made


def group(
    facts: Sequence[Facts], start: int = 0, ties: Ties = _NO_TIES, *, detail: bool = True
) -> Groups:
    """Group the messages from `start` to the end.

    Args:
        facts: their facts.
        start: the position of the first; not inside an assistant run.
        ties: ties beyond pairing.
        detail: as for `pair`.

    >>> from lockstitch.facts import Facts, Link
    >>> call = Facts("assistant", (Link("call", "function", "c1"),))
    >>> result = Facts("tool", (Link("result", "function", "c1"),))
    >>> group([call, result, Facts("user")]).names
    [0, 0, 2]
    """
    pairing = pair(facts, start, whole_response=ties.whole_response, detail=detail)
    names = pairing.names
    edges = pairing.edges
    if ties.bound_system:
        edges = edges + _system_edges(facts, start)
    if edges:
        names = _merged(names, edges, start)
    return Groups(facts, pairing, names, _states(pairing, names))


def _system_edges(facts: Sequence[Facts], start: int) -> list[tuple[int, int]]:
    """Tie each system message inside the list to its neighbours."""
    edges: list[tuple[int, int]] = []
    inside = start > 0
    for index, fact in enumerate(facts):
        if fact.role != SYSTEM:
            inside = True
        elif inside:
            if index > 0:
                edges.append((start + index - 1, start + index))
            if index + 1 < len(facts) and facts[index + 1].role == ASSISTANT:
                edges.append((start + index, start + index + 1))
    return edges


def _merged(names: list[int], edges: list[tuple[int, int]], start: int) -> list[int]:
    """Join groups that share a message, each named by its first position."""
    parent = {name: name for name in names}

    def root(name: int) -> int:
        while parent[name] != name:
            parent[name] = name = parent[parent[name]]
        return name

    for one, other in edges:
        a, b = root(names[one - start]), root(names[other - start])
        if a != b:
            parent[max(a, b)] = min(a, b)
    return [root(name) for name in names]


def _states(pairing: Pairing, names: list[int]) -> dict[int, str]:
    start = pairing.start
    states: dict[int, str] = {}
    if start == 0:
        for position in pairing.unmet:
            states[names[position]] = ORPHAN
    for occurrence, answerable in pairing.waiting():
        name = names[occurrence.message - start]
        if answerable:
            states[name] = OPEN
        else:
            states[name] = ABANDONED
    return states


def run_start(facts_at: Callable[[int], Facts], position: int) -> int:
    """Move a position back to where a walk may begin.

    That is: out of the answers to the run before, and to the beginning of that run.
    """
    while position > 0:
        fact = facts_at(position)
        if fact.role == USER and not fact.linked:
            break
        if fact.role == ASSISTANT and facts_at(position - 1).role in {USER, TOOL}:
            break
        position -= 1
    return position
