"""An independent judge of windows, written against the OpenAI Chat rules and nothing else.

It shares no code with the library or with any contender, and it sees every window in one shape:
*skeletons*, one for each OpenAI Chat message (`convert.py` makes them from each contender's
objects). What it asks:

* valid: is every call answered by the messages right after it, exactly once, and does every result
  answer such a call? Anything else is an HTTP 400 from the provider.
* system: is the system message still there, unchanged?
* task: is the newest user message still there, unchanged?
* start: is the first message after the system part a user message? OpenAI does not ask for it,
  Anthropic, Bedrock and Gemini do.
* empty: is nothing left but a system message?
* over: is the window longer than the limit, in the unit that the contender counts in?

Where a contender works on Responses items, *valid* is asked by the rules of that API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skeleton:
    """What the judge reads of one OpenAI Chat message."""

    role: str
    text: str = ""
    calls: tuple[str, ...] = ()
    answers: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge found; ``invalid`` is "" or the first breach, in words."""

    kept: int
    invalid: str
    system: bool
    task: bool
    start: bool
    empty: bool
    over: bool

    @property
    def words(self) -> str:
        """The verdict in a few words, worst first."""
        if self.empty:
            return "empty"
        findings = [self.invalid] if self.invalid else []
        if not self.system:
            findings.append("no system part")
        if not self.task:
            findings.append("no task")
        if self.over:
            findings.append("over the limit")
        return ", ".join(findings) or "accepted"


def judge(
    history: Sequence[Skeleton],
    window: Sequence[Skeleton],
    *,
    size: int,
    limit: int | None,
    system_apart: bool,
    items: bool = False,
) -> Verdict:
    """Judge a window cut from a history.

    ``size`` is the window's size in the contender's own unit, ``limit`` what it was given (None
    where that is in a unit that cannot be compared). With ``system_apart`` the contender never
    sees the system part, so it cannot lose it.
    """
    system = next((m for m in history if m.role == "system"), None)
    task = next((m for m in reversed(history) if m.role == "user"), None)
    opening = next((m for m in window if m.role != "system"), None)
    return Verdict(
        kept=len(window),
        invalid=first_breach_of_items(window) if items else first_breach(window),
        system=system_apart or system is None or _holds(window, system),
        task=task is None or _holds(window, task),
        start=opening is None or opening.role == "user",
        empty=all(m.role == "system" for m in window),
        over=limit is not None and size > limit,
    )


def first_breach(window: Sequence[Skeleton]) -> str:
    """Name the first thing that an OpenAI Chat endpoint would refuse, "" where there is none."""
    awaited: set[str] = set()
    for message in window:
        if message.answers is not None:
            if message.answers not in awaited:
                return "orphan result"
            awaited.discard(message.answers)
            continue
        if awaited:
            return "unanswered call"
        awaited = set(message.calls)
    return "unanswered call" if awaited else ""


def first_breach_of_items(window: Sequence[Skeleton]) -> str:
    """The same for the OpenAI Responses rules: order and number count there, nearness does not."""
    awaited: Counter[str] = Counter()
    for message in window:
        if message.answers is not None:
            if not awaited[message.answers]:
                return "orphan result"
            awaited[message.answers] -= 1
        awaited.update(message.calls)
    return "unanswered call" if awaited.total() else ""


def _holds(window: Sequence[Skeleton], message: Skeleton) -> bool:
    return any(m.role == message.role and m.text == message.text for m in window)
