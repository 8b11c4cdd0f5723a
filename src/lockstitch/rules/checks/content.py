"""Checks of content: what a message holds, and what of it cannot be sent.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, TOOL, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Reasoning, Text, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.facts import Facts
    from lockstitch.transcript import Part

__all__ = [
    "blank_text",
    "empty_content",
    "empty_error_result",
    "empty_message",
    "empty_text_block",
    "empty_tool_calls",
    "lone_surrogate",
    "no_parts",
    "null_content",
    "result_not_first",
    "unsigned_thinking",
]


def _visible(part: Part) -> bool:
    return not isinstance(part, Text) or bool(part.text and part.text.strip())


def empty_message(view: View) -> Iterator[Finding]:
    """Find messages that hold nothing at all."""
    for index, fact in enumerate(view.facts):
        if fact.linked or fact.role in {OTHER, SYSTEM, TOOL}:
            continue
        if not any(map(_visible, view.parts(index))):
            yield Finding(index, "the message is empty: drop it, or say something", "content")


def no_parts(view: View) -> Iterator[Finding]:
    """Find messages without any part, in the formats whose messages are lists of parts."""
    for index, fact in enumerate(view.facts):
        if fact.role != OTHER and not fact.linked and not view.parts(index):
            held = mapping(view.transcript.natives[index])
            path = next((key for key in ("content", "parts") if key in held), "")
            yield Finding(index, "the message holds nothing: drop it, or say something", path)


def empty_content(view: View) -> Iterator[Finding]:
    """Find messages without content, except a final assistant message."""
    last = len(view.facts) - 1
    for index, fact in enumerate(view.facts):
        if fact.linked or fact.role == OTHER or (index == last and fact.role == ASSISTANT):
            continue
        if not any(not isinstance(part, Text) or part.text for part in view.parts(index)):
            yield Finding(index, "the message has no content: drop it, or say something", "content")


def _texts(view: View) -> Iterator[tuple[int, Text]]:
    for index in range(len(view.facts)):
        for part in view.parts(index):
            if isinstance(part, Text):
                yield index, part


def empty_text_block(view: View) -> Iterator[Finding]:
    """Find text blocks that hold no text."""
    for index, part in _texts(view):
        if not part.text and "[" in part.path:
            yield Finding(index, "the text block is empty: remove it", part.path)


def _searched(fact: Facts) -> bool:
    return fact.role == ASSISTANT and any(link.family == "server" for link in fact.links)


def blank_text(view: View) -> Iterator[Finding]:
    """Find text that is white space alone.

    Between the texts of a turn that used a server tool the provider writes such blocks itself, and
    takes them back.
    """
    for index, part in _texts(view):
        if part.text and not part.text.strip() and not _searched(view.facts[index]):
            yield Finding(index, "the text is only white space: remove it", part.path)


def null_content(view: View) -> Iterator[Finding]:
    """Find null content where something must be said."""
    for index, fact in enumerate(view.facts):
        parts = view.parts(index)
        alone = fact.role != ASSISTANT or all(isinstance(part, Text) for part in parts)
        for part in parts:
            null = (isinstance(part, Text) and part.text is None) or (
                isinstance(part, ToolResult) and part.content is None
            )
            if null and alone and (fact.role != ASSISTANT or len(parts) == 1):
                yield Finding(index, 'content is null: say "" or drop the message', part.path)


def empty_tool_calls(view: View) -> Iterator[Finding]:
    """Find empty arrays of calls."""
    for index, fact in enumerate(view.facts):
        if (
            fact.role == ASSISTANT
            and mapping(view.transcript.natives[index]).get("tool_calls") == []
        ):
            yield Finding(index, "tool_calls is an empty array: remove the key", "tool_calls")


def result_not_first(view: View) -> Iterator[Finding]:
    """Find user turns in which something stands before a result."""
    for index, fact in enumerate(view.facts):
        if fact.role != USER or not fact.linked:
            continue
        other = False
        for part in view.parts(index):
            if isinstance(part, ToolResult) and other:
                yield Finding(
                    index, "a result stands after other content: move it first", part.path
                )
                break
            other = other or not isinstance(part, ToolResult)


def unsigned_thinking(view: View) -> Iterator[Finding]:
    """Find thinking without the signature it was issued with."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT:
            continue
        for part in view.parts(index):
            if isinstance(part, Reasoning) and not part.sealed:
                yield Finding(
                    index,
                    "the thinking block has no signature: bring the original back, or drop it",
                    part.path,
                )


def empty_error_result(view: View) -> Iterator[Finding]:
    """Find results marked as errors that say nothing."""
    for index, fact in enumerate(view.facts):
        if not fact.linked:
            continue
        for part in view.parts(index):
            if isinstance(part, ToolResult) and part.is_error and not part.content:
                yield Finding(index, "the error says nothing: say what went wrong", part.path)


def lone_surrogate(view: View) -> Iterator[Finding]:
    """Find halves of surrogate pairs, which cannot be sent as UTF-8."""
    for index, native in enumerate(view.transcript.natives):
        where = None if _is_writable(native) else _surrogate(native, "")
        if where is not None:
            yield Finding(
                index,
                "the text holds half of a surrogate pair: replace it with U+FFFD",
                where,
            )


def _is_writable(native: object) -> bool:
    """Whether a message can be written as it is, which tells at once that all its text can."""
    try:
        msgspec.json.encode(native)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True


def _surrogate(value: object, path: str) -> str | None:
    """Return the path of the first text that is not well-formed, walking without recursion."""
    todo: list[tuple[object, str]] = [(value, path)]
    while todo:
        item, where = todo.pop()
        if isinstance(item, str):
            if not item.isascii() and not _encodes(item):
                return where
        elif isinstance(item, dict):
            todo.extend(
                (inner, f"{where}.{key}" if where else str(key)) for key, inner in item.items()
            )
            todo.extend((key, where) for key in item)
        elif isinstance(item, (list, tuple)):
            todo.extend((inner, f"{where}[{at}]") for at, inner in enumerate(item))
        elif hasattr(item, "model_dump") or hasattr(item, "to_dict"):
            todo.append((getattr(item, "__dict__", None), where))
    return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
