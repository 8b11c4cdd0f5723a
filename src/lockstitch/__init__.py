"""Lockstitch keeps an agent's conversation inside its limits so that the provider accepts it.

import lockstitch as ls

ls.check(messages, profile="anthropic")      # what the provider would refuse, and why
ls.repair(messages, profile="anthropic")     # mended, with an account of every change
ls.trim(messages, max_messages=50)           # a window it accepts, your own objects
ls.plan(messages, max_messages=50)           # the decision before it is taken
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.accepting import check, export, repair
from lockstitch.errors import (
    AmbiguousFormat,
    CannotFit,
    FormatError,
    InvalidHistory,
    LockstitchError,
    MissingExtra,
    PlanMismatch,
    UnknownFormat,
)
from lockstitch.explain import explain
from lockstitch.grouping import Group
from lockstitch.history import apply, dump, groups, load, plan, trim
from lockstitch.measure.counters import ByteCounter, Counter, EstimateCounter
from lockstitch.measure.limits import Limits
from lockstitch.plan import Edit, FloorItem, Plan, Size
from lockstitch.rules.account import Change, Repair
from lockstitch.rules.models import ModelFacts
from lockstitch.rules.report import Report, Violation
from lockstitch.transcript import Message, Transcript

if TYPE_CHECKING:
    __version__: str

__all__ = [
    "AmbiguousFormat",
    "ByteCounter",
    "CannotFit",
    "Change",
    "Counter",
    "Edit",
    "EstimateCounter",
    "FloorItem",
    "FormatError",
    "Group",
    "InvalidHistory",
    "Limits",
    "LockstitchError",
    "Message",
    "MissingExtra",
    "ModelFacts",
    "Plan",
    "PlanMismatch",
    "Repair",
    "Report",
    "Size",
    "Transcript",
    "UnknownFormat",
    "Violation",
    "__version__",
    "apply",
    "check",
    "dump",
    "explain",
    "export",
    "groups",
    "load",
    "plan",
    "repair",
    "trim",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("lockstitch")
    raise AttributeError(f"module 'lockstitch' has no attribute {name!r}")
