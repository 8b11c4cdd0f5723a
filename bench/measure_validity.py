"""Tables (e) and (f): what is wrong with the windows, on histories that were right.

(e) cuts clean histories of 400 messages once, at 30 limits and for 10 seeds, in two shapes: short
turns, and long tool runs. Half of the histories end with a new user message, half in the middle
of a run, since a model is called at both moments. (f) is the coding agent: one task, then 150
tool rounds.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

import histories
import tokens
from judge import Verdict, judge
from peers import CONTENDERS, Contender
from report import Section, Table, count, share
from world import World

MESSAGES = 400
LIMITS = range(20, 80, 2)
SHAPES = {"turns of 0-3 tool rounds": (0, 3), "runs of 5-40 tool rounds": (5, 40)}
TOKEN_LIMITS = (8_000, 16_000)  # for litellm: no limit in messages, and a cut takes long
TOKEN_SLACK = 1.1  # it counts a little differently, so only a tenth too much is over
FINDINGS = ("invalid", "no user start", "no system", "no task", "empty", "over", "refused")
EDGE_ROUNDS = 150
EDGE_LIMIT = 50
EDGE_TOKENS = 8_000


class Listener(logging.Handler):
    """Counts what is logged at warning or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.heard += 1


class Sweep:
    """Table (e)."""

    key = "e"

    def __init__(self, seeds: int, limits: range = LIMITS) -> None:
        self.seeds = seeds
        self.limits = limits
        self.found: dict[str, dict[str, Counter[str]]] = {shape: {} for shape in SHAPES}

    def run(self) -> None:
        """Cut and judge every history at every limit."""
        for shape, rounds in SHAPES.items():
            for seed in range(self.seeds):
                chat = histories.conversation(MESSAGES, seed, rounds=rounds, mid_run=bool(seed % 2))
                world = World(chat)
                for contender in CONTENDERS:
                    if contender.missing:
                        continue
                    tally = self.found[shape].setdefault(contender.key, Counter())
                    limits = self.limits if contender.by_messages else TOKEN_LIMITS
                    for limit in limits:
                        _tally(contender, world, limit, tally)

    def section(self) -> Section:
        """One table for each shape."""
        lead = f"""
Histories of {MESSAGES} messages in which every call is answered, cut once, at {len(self.limits)}
limits from {self.limits[0]} to {self.limits[-1]} messages for each of {self.seeds} seeds.
Half of the histories end with a new user message and half in the middle of a tool run.
*Invalid*: OpenAI would refuse the window, as would any provider.
*No user start*: it does not start with a user message; Anthropic, Bedrock and Gemini refuse that.
*No system*, *no task*: the system message or the newest user message is gone.
*Empty*: nothing is left but the system message.
*Refused*: the contender raised instead of cutting."""
        tables = [self._table(shape) for shape in SHAPES]
        tables[-1].notes.append(
            "litellm has no limit in messages; it is given "
            f"{count(TOKEN_LIMITS[0])} and {count(TOKEN_LIMITS[1])} tokens. "
            "Where it fails on a call without text it logs an error and returns the whole list."
        )
        tables[-1].notes.append("*Apart*: the framework holds the system part outside the list.")
        plot = ("validity.svg", "Share of windows that are invalid or have lost the task")
        return Section("e", "How often one cut breaks a clean history", lead, tables, [plot])

    def _table(self, shape: str) -> Table:
        columns = ["contender", "windows", "invalid", "no user start", "no system", "no task"]
        columns += ["empty", "over the limit", "refused", "says what it dropped"]
        rows: list[list[str]] = []
        for contender in CONTENDERS:
            if contender.missing:
                rows.append([contender.label, *["-"] * 8, contender.missing])
                continue
            tally = self.found[shape][contender.key]
            windows = tally["windows"]
            shares = [share(tally[what], windows) for what in FINDINGS]
            if contender.system_apart:
                shares[FINDINGS.index("no system")] = "apart"
            if not contender.counts_messages:
                shares[FINDINGS.index("over")] = "-"
            rows.append([contender.label, str(windows), *shares, contender.reports])
        return Table(f"Share of windows, {shape}", columns, rows)


class Edge:
    """Table (f)."""

    key = "f"

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self.messages = 0

    def run(self) -> None:
        """Cut the coding run once with each contender."""
        world = World(histories.coding_run(EDGE_ROUNDS))
        self.messages = len(world.chat)
        for contender in CONTENDERS:
            if contender.missing:
                self.rows.append([contender.label, *["-"] * 6, contender.missing])
                continue
            limit = EDGE_LIMIT if contender.by_messages else EDGE_TOKENS
            verdict, first, warnings, error = _cut(contender, world, limit)
            if verdict is None:
                self.rows.append([contender.label, *["-"] * 5, str(warnings), error])
                continue
            system = "apart" if contender.system_apart else _yes(verdict.system)
            self.rows.append(
                [
                    contender.label,
                    str(verdict.kept),
                    verdict.invalid or "accepted",
                    first,
                    _yes(verdict.task),
                    system,
                    str(warnings),
                    contender.explain(world, limit) if contender.explain else contender.reports,
                ]
            )

    def section(self) -> Section:
        """The table."""
        lead = f"""
One system message, one user message with the task, {EDGE_ROUNDS} tool rounds: {self.messages}
messages, cut to the last {EDGE_LIMIT} (litellm: {count(EDGE_TOKENS)} tokens) while the run goes on.
The user message is the only place where the task is written down."""
        columns = ["contender", f"kept of {self.messages}", "a provider says", "starts with"]
        columns += ["task kept", "system kept", "warnings logged", "says what it dropped"]
        return Section(
            "f", "The edge: one task, 150 tool rounds", lead, [Table("", columns, self.rows)]
        )


def _tally(contender: Contender, world: World, limit: int, tally: Counter[str]) -> None:
    tally["windows"] += 1
    verdict, *_ = _cut(contender, world, limit)
    if verdict is None:
        tally["refused"] += 1
        return
    tally["invalid"] += bool(verdict.invalid)
    tally["valid, no task"] += not verdict.invalid and not verdict.task
    tally["no user start"] += not verdict.start
    tally["no system"] += not verdict.system
    tally["no task"] += not verdict.task
    tally["empty"] += verdict.empty
    tally["over"] += verdict.over


def _cut(contender: Contender, world: World, limit: int) -> tuple[Verdict | None, str, int, str]:
    """The verdict on one cut, the role it starts with, the warnings, and what was raised."""
    listener = Listener()
    logging.getLogger().addHandler(listener)
    try:
        result = _result(contender, world, limit)
    except Exception as error:
        return None, "", listener.heard, f"raised {type(error).__name__}"
    finally:
        logging.getLogger().removeHandler(listener)
    window = contender.read(result)
    size, bound = len(result), limit if contender.counts_messages else None
    if contender.by_messages is None:
        weights = dict(zip(world.skeletons, world.sizes, strict=True))
        size = sum(tokens.weigh(m.text, weights.get(m)) for m in window)
        bound = int(limit * TOKEN_SLACK)
    verdict = judge(
        world.skeletons,
        window,
        size=size,
        limit=bound,
        system_apart=contender.system_apart,
    )
    return verdict, window[0].role if window else "-", listener.heard, ""


def _result(contender: Contender, world: World, limit: int) -> Any:
    if contender.by_messages:
        entry = contender.by_messages(world, limit)
    else:
        assert contender.by_tokens is not None
        made = contender.by_tokens(world, limit, "exact")
        assert made is not None
        entry = made
    return entry.run(entry.given if entry.prepare is None else entry.prepare())


def _yes(answer: object) -> str:
    return "yes" if answer else "**no**"
