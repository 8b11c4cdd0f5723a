"""(g) How often the prompt prefix changes while a conversation grows, turn by turn.

A prompt cache pays as long as each prompt begins with the one before it. Counted, not timed.
"""

from __future__ import annotations

import msgspec

import histories
from report import Section, Table, count

TURNS = 200
TOKENS = 128_000
MESSAGES = 250


class Prefix:
    """Table (g)."""

    key = "g"

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rows: list[list[str]] = []
        self.turns = 0

    def run(self) -> None:
        """Grow one history with each strategy, keeping the window and appending to it."""
        import lockstitch as ls

        turns = list(_turns(histories.conversation(3_000, self.seed)))[: TURNS + 1]
        self.turns = len(turns) - 1
        default = ls.TokenBudgetHistoryStrategy(max_tokens=TOKENS, trim_to=TOKENS // 2)
        messages = ls.SlidingWindowHistoryStrategy(MESSAGES)
        exact = ls.TokenBudgetHistoryStrategy(max_tokens=TOKENS)
        strategies = [
            (f"exact window: the last {MESSAGES} messages", messages, True),
            ("exact window: the last tokens, cut from the whole history", exact, True),
            ("exact window: the last tokens, kept and appended to", exact, False),
            ("default of a session: down to half of the limit", default, False),
            ("default of the framework: a running summary", None, False),
            *(
                (f"preset `{name}`", _limited(ls.preset(name)), False)
                for name in ("chat", "agent", "coding-agent", "long-running")
            ),
        ]
        for label, strategy, anew in strategies:
            self.rows.append([label, *_grown(turns, strategy, anew=anew)])

    def section(self) -> Section:
        """The table."""
        lead = f"""
{self.turns} turns of a chat with tools are appended one by one, and the window is made for each.
The limit is {count(TOKENS)} tokens, by the estimate; the framework's own default goes by 16 000
characters. A turn changes the prefix where its prompt does not begin with the prompt before it. The
turns before the first cut are left out; the share of a prompt that stood in the one before it is
what a cache can hold."""
        columns = ["strategy", "turns that change the prefix", "one in", "of a prompt, the same"]
        return Section(
            "g", "How often the prompt prefix changes", lead, [Table("", columns, self.rows)]
        )


def _limited(directive):
    return msgspec.structs.replace(directive, max_tokens=TOKENS)


def _turns(messages):
    """Yield the system part, then one turn after another."""
    turn = []
    for message in messages:
        if message["role"] == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    yield turn


def _grown(turns, strategy, *, anew):
    import lockstitch as ls

    chosen = ls.HistoryDirective.default() if strategy is None else strategy
    record, view = list(turns[0]), list(turns[0])
    changed = 0
    shares = []
    for turn in turns[1:]:
        before = view
        record += turn
        view = ls.trim(record if anew else [*view, *turn], strategy=chosen)
        same = _common(before, view)
        cut = same < len(before)
        changed += cut
        if changed:
            shares.append(same / len(view))
    total = len(shares)
    often = f"{total / changed:.0f}" if changed else "never"
    return [f"{changed} of {total}", often, f"{sum(shares) / max(total, 1):.0%}"]


def _common(one, other):
    """Return how many messages two prompts begin with alike."""
    same = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        same += 1
    return same
