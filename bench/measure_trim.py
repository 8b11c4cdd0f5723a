"""Tables (a) and (b): what it costs to cut a history to 50 messages, or to 8 000 tokens.

Each contender is timed on the same history at every size, and what it returned is judged, so that a
fast wrong answer is seen to be one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import tokens
from judge import Verdict, judge
from ladder import Ladder
from peers import BARE, CONTENDERS, OURS, Contender, Sizes
from report import Section, Table, count, duration, times
from timing import Pace, Timing

if TYPE_CHECKING:
    from world import World

LIMIT_MESSAGES = 50
LIMIT_TOKENS = 8_000
TOKEN_TABLES: dict[Sizes, str] = {
    "known": "Sizes known: an exact count was stored with each message",
    "estimated": "Sizes unknown: each library's own estimate",
    "exact": "Sizes unknown: exact counts, o200k_base, from the text",
}


class TrimByMessages:
    """Table (a)."""

    key = "a"

    def __init__(self, sizes: list[int], pace: Pace) -> None:
        self.ladder = Ladder(sizes, pace)
        self.verdicts: dict[str, dict[int, Verdict]] = {}
        self.contenders = [c for c in CONTENDERS if c.by_messages]

    def at(self, size: int, world: World) -> None:
        """Measure at one size."""
        makers = {
            c.key: partial(c.by_messages, world, LIMIT_MESSAGES)
            for c in self.contenders
            if c.by_messages and not c.missing
        }
        for key, timing in self.ladder.run(size, makers).items():
            contender = next(c for c in self.contenders if c.key == key)
            limit = LIMIT_MESSAGES if contender.counts_messages else None
            verdict = _verdict(contender, world, timing, limit)
            self.verdicts.setdefault(key, {})[size] = verdict

    def section(self) -> Section:
        """The table, with one note for each gap in it."""
        lead = f"""
Keep the last {LIMIT_MESSAGES} messages of a conversation that ends with a new user message.
Times are the median of one call.
*Growth* is the time at the largest history divided by the time at 1 000 messages: 1 means that the
past costs nothing.
*Result* is the judge's word on the window that was returned."""
        table = Table("", *_grid(self.ladder, self.contenders, self.verdicts))
        table.notes = self.ladder.notes({c.key: c.label for c in self.contenders})
        table.notes.append(
            "agent-framework's sliding window counts groups: it is given "
            f"{LIMIT_MESSAGES * 2 // 5} of them, about {LIMIT_MESSAGES} messages. "
            "symfonic-core and strands hold the system part outside the list, and strands joins "
            "parallel results into one message and counts that."
        )
        return Section(
            "a",
            "Trim to the last 50 messages",
            lead,
            [table],
            [("trim-messages.svg", "Time to trim to 50 messages by history length")],
        )


class TrimByTokens:
    """Table (b), three times: sizes known, estimated by each library, counted exactly."""

    key = "b"

    def __init__(self, sizes: list[int], pace: Pace) -> None:
        self.ladders: dict[Sizes, Ladder] = {kind: Ladder(sizes, pace) for kind in TOKEN_TABLES}
        self.verdicts: dict[Sizes, dict[str, dict[int, Verdict]]] = {k: {} for k in TOKEN_TABLES}
        self.kept_tokens: dict[tuple[Sizes, str], int] = {}
        self.contenders = [c for c in CONTENDERS if c.by_tokens]

    def at(self, size: int, world: World) -> None:
        """Measure at one size."""
        weights = dict(zip(world.skeletons, world.sizes, strict=True))
        for kind, ladder in self.ladders.items():
            makers: dict[str, Any] = {}
            for contender in self.contenders:
                if contender.by_tokens is None or contender.missing:
                    continue
                if contender.key == "litellm" and kind != "exact":
                    continue
                makers[contender.key] = partial(contender.by_tokens, world, LIMIT_TOKENS, kind)
            for key, timing in ladder.run(size, makers).items():
                contender = next(c for c in self.contenders if c.key == key)
                verdict = _verdict(contender, world, timing, None)
                self.verdicts[kind].setdefault(key, {})[size] = verdict
                window = contender.read(timing.result)
                self.kept_tokens[kind, key] = sum(
                    tokens.weigh(m.text, weights.get(m)) for m in window
                )

    def section(self) -> Section:
        """Three tables."""
        lead = f"""
Keep what fits into {count(LIMIT_TOKENS)} tokens.
A store that counts a message once, when it is appended, trims with the sizes known.
A library that is handed a bare list must count, and the question is how much of the list it counts.
Libraries without a limit in tokens are not in these tables.
*Tokens kept* is counted with o200k_base, whatever the contender counted with."""
        tables: list[Table] = []
        for kind, title in TOKEN_TABLES.items():
            ladder = self.ladders[kind]
            shown = [c for c in self.contenders if c.key != "litellm" or kind == "exact"]
            columns, rows = _grid(ladder, shown, self.verdicts[kind])
            columns.insert(-1, "tokens kept")
            for contender, row in zip(shown, rows, strict=True):
                kept = self.kept_tokens.get((kind, contender.key))
                row.insert(-1, "-" if kept is None else count(kept))
            notes = ladder.notes({c.key: c.label for c in shown})
            tables.append(Table(title, columns, rows, notes))
        tables[-1].notes.append(
            "litellm's time hangs on the ending: where a shortened message lands on the limit it "
            "stops there, else it counts the window again for every older message and takes some "
            "40 times as long, as it does with `--seed 2`."
        )
        tables[0].notes.append(
            "langchain-core is given a counter that looks the sizes up; agent-framework the "
            "annotations that it leaves on messages itself."
        )
        return Section(
            "b",
            "Trim to 8 000 tokens",
            lead,
            tables,
            [("trim-tokens.svg", "Time to trim to 8 000 tokens by history length")],
        )


def _verdict(contender: Contender, world: World, timing: Timing, limit: int | None) -> Verdict:
    return judge(
        world.skeletons,
        contender.read(timing.result),
        size=len(timing.result),
        limit=limit,
        system_apart=contender.system_apart,
    )


def _grid(
    ladder: Ladder, contenders: list[Contender], verdicts: dict[str, dict[int, Verdict]]
) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of one table of contenders by size."""
    compared = 10_000 if 10_000 in ladder.sizes else ladder.sizes[-1]
    columns = ["contender", *(f"n = {count(size)}" for size in ladder.sizes)]
    columns += [
        "growth",
        f"to the bare walk, {count(compared)}",
        f"to lockstitch, {count(compared)}",
    ]
    columns += ["kept", "result"]
    rows: list[list[str]] = []
    for contender in contenders:
        key = contender.key
        if contender.missing:
            rows.append([contender.label, *["-"] * (len(columns) - 2), contender.missing])
            continue
        judged = verdicts.get(key, {})
        words = {verdict.words for verdict in judged.values()}
        newest = judged[max(judged)] if judged else None
        rows.append(
            [
                contender.label,
                *(duration(ladder.at(key, size)) for size in ladder.sizes),
                ladder.growth_cell(key),
                times(ladder.ratio(key, BARE, compared)),
                times(ladder.ratio(key, OURS, compared)),
                "-" if newest is None else str(newest.kept),
                "; ".join(sorted(words)) or "-",
            ]
        )
    return columns, rows
