"""What the work costs at the least: bare walks over dicts, with no checks, no options, no report.

They are the yardstick that timings are divided by, not something to use: they trust their input,
know one format, and keep neither the task nor an open call. Each reads from the tail and stops as
soon as the limit is reached, so its cost follows what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Message = dict[str, Any]


def last_messages(messages: Sequence[Message], limit: int) -> list[Message]:
    """The system message and the longest run of whole tool rounds that ends the list, by count."""
    head = [messages[0]] if messages and messages[0]["role"] == "system" else []
    first = len(head)
    room = limit - first
    position = cut = len(messages)
    unanswered: set[str] = set()
    while position > first and len(messages) - position < room:
        position -= 1
        message = messages[position]
        if message["role"] == "tool":
            unanswered.add(message["tool_call_id"])
            continue
        if calls := message.get("tool_calls"):
            for call in calls:
                unanswered.discard(call["id"])
        if not unanswered:
            cut = position
    return head + list(messages[cut:])


def last_tokens(
    messages: Sequence[Message], limit: int, size_at: Callable[[int], int]
) -> list[Message]:
    """The same under a limit on the sum of sizes; ``size_at`` gives the size of a position."""
    head = [messages[0]] if messages and messages[0]["role"] == "system" else []
    first = len(head)
    room = limit - (size_at(0) if head else 0)
    position = cut = len(messages)
    unanswered: set[str] = set()
    while position > first:
        position -= 1
        room -= size_at(position)
        if room < 0:
            break
        message = messages[position]
        if message["role"] == "tool":
            unanswered.add(message["tool_call_id"])
            continue
        if calls := message.get("tool_calls"):
            for call in calls:
                unanswered.discard(call["id"])
        if not unanswered:
            cut = position
    return head + list(messages[cut:])


def group_numbers(messages: Sequence[Message]) -> list[int]:
    """A group number for each message: a call and its results share one. One pass, forward."""
    numbers: list[int] = []
    asked_in: dict[str, int] = {}
    newest = -1
    for message in messages:
        if message["role"] == "tool" and (number := asked_in.pop(message["tool_call_id"], -1)) >= 0:
            numbers.append(number)
            continue
        newest += 1
        numbers.append(newest)
        for call in message.get("tool_calls") or ():
            asked_in[call["id"]] = newest
    return numbers
