"""Table (c): what it costs to pair and group a whole history.

The library finds which group each message is in; a group's own object is made when it is read,
which is a row of its own. Three inputs: a transcript whose facts are loaded (what a store hands to
a planner), a transcript fresh from ``load`` (facts are read on the way), and the caller's list.
agent-framework groups its own message objects, as they come from a store: without marks on them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import walks
from ladder import Ladder
from peers import ours
from report import Section, Table, count, significant, times
from timing import Entry, Pace
from world import World, unmarked

WALK, LOADED, READ, FRESH, LISTED = "walk", "loaded", "read", "fresh", "listed"
FRAMEWORK, ANNOTATE = "af-group", "af-annotate"
LABELS = {
    WALK: "bare Python walk (yardstick)",
    LOADED: "**lockstitch** `groups`, facts loaded",
    READ: "**lockstitch** `groups`, facts loaded, each group read",
    FRESH: "**lockstitch** `groups`, after `load`",
    LISTED: "**lockstitch** `groups` of a bare list",
    FRAMEWORK: "agent-framework `group_messages`",
    ANNOTATE: "agent-framework `annotate_message_groups`",
}


class Grouping:
    """Table (c)."""

    key = "c"

    def __init__(self, sizes: list[int], pace: Pace) -> None:
        self.ladder = Ladder(sizes, pace)
        self.groups: dict[str, int] = {}

    def at(self, size: int, world: World) -> None:
        """Measure at one size."""
        makers: dict[str, Any] = {WALK: lambda: Entry("", walks.group_numbers, world.chat)}
        if ours() is not None:
            makers[LOADED] = lambda: Entry(
                "", ours().groups, prepare=lambda: _loaded(world.chat, facts=True)
            )
            makers[READ] = lambda: Entry(
                "",
                lambda transcript: list(ours().groups(transcript)),
                prepare=lambda: _loaded(world.chat, facts=True),
            )
            makers[FRESH] = lambda: Entry(
                "", ours().groups, prepare=lambda: _loaded(world.chat, facts=False)
            )
            makers[LISTED] = lambda: Entry("", ours().groups, world.chat)
        makers[FRAMEWORK] = partial(_framework, world, "group_messages")
        makers[ANNOTATE] = partial(_framework, world, "annotate_message_groups")
        for key, timing in self.ladder.run(size, makers).items():
            result = timing.result
            self.groups[key] = max(result) + 1 if key == WALK else _number(result)

    def section(self) -> Section:
        """The table, in microseconds a message."""
        lead = """
Find every group of a history: each call with its results, and every other message alone.
Lockstitch and the bare walk give each message its group; agent-framework makes a record for each
group, as Lockstitch does when a group is read.
*Growth* is the time a message at the largest history divided by the time a message at 1 000: it
is 1 where the work is linear."""
        sizes = self.ladder.sizes
        compared = 10_000 if 10_000 in sizes else sizes[-1]
        columns = ["contender", *(f"n = {count(size)}" for size in sizes), "growth"]
        columns += [f"to the bare walk, {count(compared)}", f"to lockstitch, {count(compared)}"]
        columns.append(f"groups at {count(sizes[-1])}")
        rows: list[list[str]] = []
        for key, label in LABELS.items():
            if key not in self.ladder.seconds:
                rows.append([label, *["-"] * (len(columns) - 2), "not importable"])
                continue
            grown = self.linearity(key, self.ladder.start, sizes[-1])
            rows.append(
                [
                    label,
                    *(self._each(key, size) for size in sizes),
                    "-" if grown is None else f"x {grown:.1f}",
                    times(self.ladder.ratio(key, WALK, compared)),
                    times(self.ladder.ratio(key, LOADED, compared)),
                    count(self.groups[key]) if self.groups[key] else "-",
                ]
            )
        table = Table("Microseconds a message", columns, rows, self.ladder.notes(LABELS))
        plot = ("grouping.svg", "Time a message to group a whole history")
        return Section("c", "Pair and group a whole history", lead, [table], [plot])

    def linearity(self, key: str, first: int, last: int) -> float | None:
        """How many times as long a message takes at the last size as at the first."""
        grown = self.ladder.growth(key, first, last)
        return grown * first / last if grown else None

    def _each(self, key: str, size: int) -> str:
        seconds = self.ladder.at(key, size)
        return "-" if seconds is None else f"{significant(seconds / size * 1e6)} µs"


def _loaded(chat: list[dict[str, Any]], *, facts: bool) -> Any:
    transcript = ours().load(chat)
    if facts:
        transcript.facts_from(0)
    return transcript


def _framework(world: World, name: str) -> Entry:
    from agent_framework import _compaction

    return Entry("", getattr(_compaction, name), prepare=partial(unmarked, world.agent_framework))


def _number(result: Any) -> int:
    return len(result) if hasattr(result, "__len__") else 0
