"""Strategies: what to keep, when to cut, and how to say so.

The named strategies, the steps that they are made of, and the presets; all of it data. What carries
them out are the other modules of this folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lockstitch.strategies.asking import AsyncSummarizer, Summarizer, SummaryPrompt
    from lockstitch.strategies.digesting import digest
    from lockstitch.strategies.directive import HistoryDirective
    from lockstitch.strategies.managed import ProviderReport, read_answer
    from lockstitch.strategies.named import (
        HistoryStrategy,
        LastGroupsHistoryStrategy,
        LastTurnsHistoryStrategy,
        NullHistoryStrategy,
        SlidingWindowHistoryStrategy,
        StepsHistoryStrategy,
        SummarizingHistoryStrategy,
        TokenBudgetHistoryStrategy,
        resolve_history,
    )
    from lockstitch.strategies.presets import PRESETS, Preset, preset
    from lockstitch.strategies.steps import (
        AnthropicCompaction,
        AnthropicEditing,
        ClearMedia,
        ClearRepeats,
        ClearResults,
        DropOldest,
        DropReasoning,
        KeepLast,
        OffloadResults,
        OpenAICompaction,
        OpenAITruncation,
        Pin,
        Step,
        Summarize,
    )

__all__ = [
    "PRESETS",
    "AnthropicCompaction",
    "AnthropicEditing",
    "AsyncSummarizer",
    "ClearMedia",
    "ClearRepeats",
    "ClearResults",
    "DropOldest",
    "DropReasoning",
    "HistoryDirective",
    "HistoryStrategy",
    "KeepLast",
    "LastGroupsHistoryStrategy",
    "LastTurnsHistoryStrategy",
    "NullHistoryStrategy",
    "OffloadResults",
    "OpenAICompaction",
    "OpenAITruncation",
    "Pin",
    "Preset",
    "ProviderReport",
    "SlidingWindowHistoryStrategy",
    "Step",
    "StepsHistoryStrategy",
    "Summarize",
    "Summarizer",
    "SummarizingHistoryStrategy",
    "SummaryPrompt",
    "TokenBudgetHistoryStrategy",
    "digest",
    "preset",
    "read_answer",
    "resolve_history",
]


def __getattr__(name: str) -> Any:
    # Looked up when it is asked for, so that a plain cut does not load strategies.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lockstitch.strategies import (
        asking,
        digesting,
        directive,
        managed,
        named,
        presets,
        steps,
    )

    homes = (asking, digesting, directive, managed, named, presets, steps)
    return next(getattr(home, name) for home in homes if name in home.__all__)
