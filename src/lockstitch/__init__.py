"""Lockstitch keeps an agent's conversation inside its limits so that the provider accepts it.

import lockstitch as ls

ls.check(messages, profile="anthropic")      # what the provider would refuse, and why
ls.repair(messages, profile="anthropic")     # mended, with an account of every change
ls.trim(messages, max_messages=50)           # a window it accepts, your own objects
ls.plan(messages, max_messages=50)           # the decision before it is taken
ls.summarize(messages, my_model)             # older messages give way to a summary
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.accepting import check, export, repair
from lockstitch.errors import (
    AmbiguousFormat,
    CannotFit,
    ConversationServiceError,
    FormatError,
    InvalidHistory,
    LockstitchError,
    MissingExtra,
    PinLost,
    PlanMismatch,
    SummaryFailed,
    UnknownFormat,
)
from lockstitch.events import Event, add_hearer, listen
from lockstitch.explain import explain
from lockstitch.grouping import Group
from lockstitch.history import apply, dump, groups, load, plan, trim
from lockstitch.logs import LogHearer
from lockstitch.measure.counters import ByteCounter, Counter, EstimateCounter
from lockstitch.measure.limits import Limits
from lockstitch.plan import Edit, FloorItem, Plan, Size
from lockstitch.rules.account import Change, Repair
from lockstitch.rules.models import ModelFacts
from lockstitch.rules.report import Report, Violation
from lockstitch.transcript import Message, Transcript

if TYPE_CHECKING:
    from lockstitch.strategies import (
        HistoryDirective,
        HistoryStrategy,
        LastGroupsHistoryStrategy,
        LastTurnsHistoryStrategy,
        NullHistoryStrategy,
        Pin,
        SlidingWindowHistoryStrategy,
        StepsHistoryStrategy,
        SummarizingHistoryStrategy,
        TokenBudgetHistoryStrategy,
        digest,
        preset,
        read_answer,
        resolve_history,
    )
    from lockstitch.summarizing import Summarized, asummarize, recall, summarize

    __version__: str

__all__ = [
    "AmbiguousFormat",
    "ByteCounter",
    "CannotFit",
    "Change",
    "ConversationServiceError",
    "Counter",
    "Edit",
    "EstimateCounter",
    "Event",
    "FloorItem",
    "FormatError",
    "Group",
    "HistoryDirective",
    "HistoryStrategy",
    "InvalidHistory",
    "LastGroupsHistoryStrategy",
    "LastTurnsHistoryStrategy",
    "Limits",
    "LockstitchError",
    "Message",
    "MissingExtra",
    "ModelFacts",
    "NullHistoryStrategy",
    "Pin",
    "PinLost",
    "Plan",
    "PlanMismatch",
    "Repair",
    "Report",
    "Size",
    "SlidingWindowHistoryStrategy",
    "StepsHistoryStrategy",
    "Summarized",
    "SummarizingHistoryStrategy",
    "SummaryFailed",
    "TokenBudgetHistoryStrategy",
    "Transcript",
    "UnknownFormat",
    "Violation",
    "__version__",
    "apply",
    "asummarize",
    "check",
    "digest",
    "dump",
    "explain",
    "export",
    "groups",
    "listen",
    "load",
    "plan",
    "preset",
    "read_answer",
    "recall",
    "repair",
    "resolve_history",
    "summarize",
    "trim",
]


# A plain cut loads no strategies: these come with the first use of one of them.
_STRATEGIES = frozenset(
    {
        "HistoryDirective",
        "HistoryStrategy",
        "LastGroupsHistoryStrategy",
        "LastTurnsHistoryStrategy",
        "NullHistoryStrategy",
        "Pin",
        "SlidingWindowHistoryStrategy",
        "StepsHistoryStrategy",
        "SummarizingHistoryStrategy",
        "TokenBudgetHistoryStrategy",
        "digest",
        "preset",
        "read_answer",
        "resolve_history",
    }
)
_SUMMARIZING = frozenset({"Summarized", "asummarize", "recall", "summarize"})

add_hearer(LogHearer())


def __getattr__(name: str) -> Any:
    if name in _STRATEGIES:
        from lockstitch import strategies

        return getattr(strategies, name)
    if name in _SUMMARIZING:
        from lockstitch import summarizing

        return getattr(summarizing, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("lockstitch")
    raise AttributeError(f"module 'lockstitch' has no attribute {name!r}")
