"""Lockstitch keeps an agent's conversation inside its limits so that the provider accepts it.

import lockstitch as ls

ls.check(messages, profile="anthropic")      # what the provider would refuse, and why
ls.repair(messages, profile="anthropic")     # mended, with an account of every change
ls.trim(messages, max_messages=50)           # a window it accepts, your own objects
ls.plan(messages, max_messages=50)           # the decision before it is taken
ls.summarize(messages, my_model)             # older messages give way to a summary

store = ls.open_store("sqlite:///chat.db")   # or memory://, redis://, postgresql://
chat = store.session("user-42", max_messages=50)
chat.append(messages)                        # lands whole, in one round trip
chat.window()                                # what the model is shown
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.accepting import check, export, repair
from lockstitch.errors import (
    AmbiguousFormat,
    CannotFit,
    Conflict,
    ConversationServiceError,
    CorruptRow,
    FormatError,
    InvalidHistory,
    LockstitchError,
    MissingExtra,
    PinLost,
    PlanMismatch,
    SchemaTooNew,
    StoreError,
    StoreUnavailable,
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
    from lockstitch.stores.connecting import open_async_store, open_store
    from lockstitch.stores.settings import Retention
    from lockstitch.stores.store import AsyncSession, AsyncStore, Session, Store
    from lockstitch.stores.values import (
        Finding,
        Receipt,
        Recorded,
        SessionEvent,
        SessionInfo,
        Window,
    )
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
    "AsyncSession",
    "AsyncStore",
    "ByteCounter",
    "CannotFit",
    "Change",
    "Conflict",
    "ConversationServiceError",
    "CorruptRow",
    "Counter",
    "Edit",
    "EstimateCounter",
    "Event",
    "Finding",
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
    "Receipt",
    "Recorded",
    "Repair",
    "Report",
    "Retention",
    "SchemaTooNew",
    "Session",
    "SessionEvent",
    "SessionInfo",
    "Size",
    "SlidingWindowHistoryStrategy",
    "StepsHistoryStrategy",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "Summarized",
    "SummarizingHistoryStrategy",
    "SummaryFailed",
    "TokenBudgetHistoryStrategy",
    "Transcript",
    "UnknownFormat",
    "Violation",
    "Window",
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
    "open_async_store",
    "open_store",
    "plan",
    "preset",
    "read_answer",
    "recall",
    "repair",
    "resolve_history",
    "summarize",
    "trim",
]


# A plain cut loads no strategies and no stores: these come with the first use of one of them.
_LAZY = {
    "lockstitch.strategies": (
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
    ),
    "lockstitch.summarizing": ("Summarized", "asummarize", "recall", "summarize"),
    "lockstitch.stores.connecting": ("open_async_store", "open_store"),
    "lockstitch.stores.settings": ("Retention",),
    "lockstitch.stores.store": ("AsyncSession", "AsyncStore", "Session", "Store"),
    "lockstitch.stores.values": (
        "Finding",
        "Receipt",
        "Recorded",
        "SessionEvent",
        "SessionInfo",
        "Window",
    ),
}
_HOMES = {name: module for module, names in _LAZY.items() for name in names}

add_hearer(LogHearer())


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is not None:
        from importlib import import_module

        return getattr(import_module(home), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("lockstitch")
    raise AttributeError(f"module 'lockstitch' has no attribute {name!r}")
