"""Checks of the shape of the list: who speaks first, what stands beside what.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, TOOL, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "duplicate_item",
    "first_not_user",
    "lone_reasoning",
    "no_messages",
    "system_first",
    "system_in_list",
    "system_misplaced",
]


def _conversation(view: View) -> Iterator[int]:
    """Yield the positions that are neither system part nor rows outside the conversation."""
    return (index for index, fact in enumerate(view.facts) if fact.role not in {SYSTEM, OTHER})


def no_messages(view: View) -> Iterator[Finding]:
    """Find a list with nothing to answer."""
    if next(_conversation(view), None) is None and not view.transcript.server_held:
        yield Finding(
            -1, "there is no message besides the system part: keep the newest user message"
        )


def first_not_user(view: View) -> Iterator[Finding]:
    """Find a conversation that starts with somebody other than the user."""
    first = next(_conversation(view), None)
    if first is None or view.transcript.server_held or view.facts[first].role == USER:
        return
    yield Finding(
        first,
        "the conversation does not start with a user message: bring it back, or start later",
    )


def system_first(view: View) -> Iterator[Finding]:
    """Find a system message in front of the list."""
    if view.facts and view.facts[0].role == SYSTEM:
        yield Finding(0, "a system message opens the list: move it to the request's system field")


def system_in_list(view: View) -> Iterator[Finding]:
    """Find system messages inside the list."""
    for index, fact in enumerate(view.facts):
        if fact.role == SYSTEM:
            yield Finding(
                index, "a system message: move it out of the list, or let the user say it"
            )


def system_misplaced(view: View) -> Iterator[Finding]:
    """Find system messages inside the list in places where they are refused."""
    facts = view.facts
    for index in range(1, len(facts)):
        if facts[index].role != SYSTEM:
            continue
        before = facts[index - 1].role
        after = facts[index + 1].role if index + 1 < len(facts) else ASSISTANT
        hosted = before == ASSISTANT and any(
            link.family in {"server", "mcp"} for link in facts[index - 1].links
        )
        if not (before in {USER, TOOL} or hosted) or after != ASSISTANT:
            yield Finding(
                index,
                "a system message inside the list must follow a user turn and be followed by an "
                "assistant turn, or be last",
            )


def lone_reasoning(view: View) -> Iterator[Finding]:
    """Find reasoning that is not followed by an item of its response."""
    facts = view.facts
    for index, fact in enumerate(facts):
        if fact.reasoning and (index + 1 == len(facts) or facts[index + 1].role != ASSISTANT):
            yield Finding(
                index, "reasoning without the item it led to: bring the item back, or drop both"
            )


def duplicate_item(view: View) -> Iterator[Finding]:
    """Find items that stand twice."""
    if view.known.get("ids_unchecked"):
        return
    seen: dict[object, int] = {}
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        name = item.get("id")
        # The output of a local shell call carries the id of its call in this place.
        if not name or item.get("type") == "local_shell_call_output":
            continue
        first = seen.setdefault(name, index)
        if first != index:
            yield Finding(
                index, f"the item {name} stands twice: drop one of the two", "id", (first,)
            )
