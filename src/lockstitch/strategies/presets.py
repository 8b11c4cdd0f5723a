"""Presets: whole directives for common kinds of agents, by name. Data, each with what it keeps.

A limit is yours to set: what fits is a question of the model and of the bill. The low mark is half
of it everywhere, so that the prompt prefix stays the same between cuts.

Must not know: how a step is carried out.
"""

from __future__ import annotations

from typing import Final

import msgspec

from lockstitch.strategies.directive import HistoryDirective
from lockstitch.strategies.steps import (
    ClearMedia,
    ClearRepeats,
    ClearResults,
    DropReasoning,
    Summarize,
)

__all__ = ["PRESETS", "Preset", "preset"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A directive with a name, and what it keeps and gives up, in words."""

    name: str
    keeps: str
    gives_up: str
    directive: HistoryDirective


PRESETS: Final[dict[str, Preset]] = {
    one.name: one
    for one in (
        Preset(
            name="chat",
            keeps="the system part, the ten newest messages word by word, and a summary of what "
            "was said before",
            gives_up="old images first, then old turns for the summary",
            directive=HistoryDirective(
                kind="steps",
                low_water=0.5,
                steps=(ClearMedia(keep_turns=2), DropReasoning(), Summarize(keep_recent=10)),
            ),
        ),
        Preset(
            name="agent",
            keeps="the task, every call with its arguments, and the results of the four newest "
            "rounds; no model is asked for a summary",
            gives_up="old results for stubs, then old reasoning, then the oldest rounds",
            directive=HistoryDirective(
                kind="steps",
                low_water=0.5,
                steps=(ClearRepeats(), ClearResults(keep_groups=4), ClearMedia(), DropReasoning()),
            ),
        ),
        Preset(
            name="coding-agent",
            keeps="the task, every call with its arguments, the beginning and end of each result, "
            "the eight newest rounds whole, and a summary of what went before",
            gives_up="files that were read again, then old results for stubs, then old rounds for "
            "the summary",
            directive=HistoryDirective(
                kind="steps",
                low_water=0.5,
                steps=(
                    ClearRepeats(),
                    ClearResults(keep_groups=8, head=400, tail=400, min_chars=1_200),
                    ClearMedia(),
                    DropReasoning(),
                    Summarize(keep_recent=20, max_chars=8_000),
                ),
            ),
        ),
        Preset(
            name="long-running",
            keeps="the system part, the twenty newest messages, and a running summary that is "
            "rewritten in its place",
            gives_up="old results for stubs, then everything older for the summary",
            directive=HistoryDirective(
                kind="steps",
                low_water=0.5,
                steps=(
                    ClearRepeats(),
                    ClearResults(keep_groups=4),
                    ClearMedia(),
                    DropReasoning(),
                    Summarize(keep_recent=20, max_chars=12_000),
                ),
            ),
        ),
    )
}
"""Every preset, by its name."""


def preset(name: str) -> HistoryDirective:
    """Return the directive of a preset; set limits with `msgspec.structs.replace` or in the call.

    Raises:
        ValueError: no preset has that name.

    >>> [type(step).__name__ for step in preset("chat").steps]
    ['ClearMedia', 'DropReasoning', 'Summarize']
    """
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        raise ValueError(f"no preset is called {name!r}; there are: {known}")
    return PRESETS[name].directive
