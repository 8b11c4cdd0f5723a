"""Checks of chat templates, which render a list of messages or raise.

Each takes a `View` and yields `Finding`s. Tool rounds (messages with calls, and results) do not
count where user and model take turns. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.checks.order import first_not_user
from lockstitch.rules.checks.thoughts import FIELD, thinking_on
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Media, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "content_beside_thinking",
    "final_assistant_thinking",
    "media_in_system",
    "roles_repeat",
    "several_calls",
    "system_later",
    "two_assistants_last",
    "user_not_first",
]

_THOUGHTS = ("thinking", FIELD, "reasoning")


def _strict(view: View) -> bool:
    """Whether the template may demand turns: where it is not known, the strictest one counts."""
    return view.known.get("strict_turns", True)


def user_not_first(view: View) -> Iterator[Finding]:
    """Find a conversation that starts with somebody other than the user."""
    return first_not_user(view) if _strict(view) else iter(())


def roles_repeat(view: View) -> Iterator[Finding]:
    """Find two messages of one side with no word of the other between them."""
    if not _strict(view):
        return
    before = ""
    for index, fact in enumerate(view.facts):
        role = fact.role
        if role not in {USER, ASSISTANT} or fact.calls or _within(view, index):
            continue
        if role == before:
            message = f"two messages of role {role} follow each other: merge them"
            yield Finding(index, message)
        before = role


def _within(view: View, index: int) -> bool:
    """Whether this is no message but a piece of one: reasoning, a search the provider ran."""
    if view.facts[index].role != ASSISTANT or not view.transcript.format.joins:
        return False
    return not any(isinstance(part, (Text, Media)) for part in view.parts(index))


def system_later(view: View) -> Iterator[Finding]:
    """Find system messages that do not open the list."""
    opened = False
    for index, fact in enumerate(view.facts):
        if fact.role == SYSTEM and opened:
            yield Finding(index, "a system message stands inside the list: let the user say it")
        opened = opened or fact.role not in {SYSTEM, OTHER}


def media_in_system(view: View) -> Iterator[Finding]:
    """Find images and other media in system messages."""
    for index, fact in enumerate(view.facts):
        if fact.role == SYSTEM:
            for part in view.parts(index):
                if isinstance(part, Media):
                    message = f"a system message holds {part.kind}: move it to a user message"
                    yield Finding(index, message, part.path)


def several_calls(view: View) -> Iterator[Finding]:
    """Find messages with more than one call."""
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT and len(fact.asks or fact.links) > 1 and fact.calls:
            yield Finding(index, "the message holds several calls: make one message of each")


def content_beside_thinking(view: View) -> Iterator[Finding]:
    """Find messages with calls that hold both content and thinking."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT or not fact.calls:
            continue
        spoken = any(isinstance(part, Text) and part.text for part in view.parts(index))
        message = mapping(view.transcript.natives[index])
        if spoken and any(message.get(key) for key in _THOUGHTS):
            said = "content and thinking stand beside calls: leave the content out"
            yield Finding(index, said, "content")


def _speaks(view: View, index: int) -> bool:
    return index >= 0 and view.facts[index].role == ASSISTANT and not view.facts[index].calls


def two_assistants_last(view: View) -> Iterator[Finding]:
    """Find two messages of the model at the end of the list."""
    last = len(view.facts) - 1
    before = last - 1
    while before >= 0 and _within(view, before):
        before -= 1
    if _speaks(view, last) and not _within(view, last) and _speaks(view, before):
        yield Finding(last, "the list ends with two messages of the model: merge them")


def final_assistant_thinking(view: View) -> Iterator[Finding]:
    """Find a final message of the model, to be gone on with, where the model is to think first."""
    last = len(view.facts) - 1
    on = thinking_on(view)
    if on is not False and _speaks(view, last):
        message = "the model has the last word and is to think: let the user say something"
        yield Finding(last, message, maybe=not (on and view.closed))
