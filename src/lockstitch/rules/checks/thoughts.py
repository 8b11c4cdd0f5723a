"""Checks of reasoning that a server wants passed back, or does not want to see.

Each takes a `View` and yields `Finding`s. Knows: the fields in which servers that speak Chat's
shape carry reasoning, and how a request turns thinking on or off. Must not know: rule ids, texts,
sources, or which model thinks by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "FIELD",
    "call_without_reasoning_in_turn",
    "call_without_thoughts",
    "reasoning_field",
    "thinking_on",
    "turn_without_reasoning",
]

FIELD = "reasoning_content"
"""The field in which these servers hand reasoning out and want it back."""


def thinking_on(view: View) -> bool | None:
    """Say whether the model is asked to think: by the request, else as the model does by itself.

    `None` where neither says.
    """
    stated = _stated(view.context)
    return view.known.get("thinks") if stated is None else stated


def _stated(request: Mapping[str, Any]) -> bool | None:
    thinking = request.get("thinking")
    if isinstance(thinking, Mapping):
        thinking = thinking.get("type")
    if isinstance(thinking, str):
        return thinking != "disabled"
    effort = request.get("reasoning_effort")
    if isinstance(effort, str):
        return effort != "none"
    for switch in (thinking, request.get("enable_thinking")):
        if isinstance(switch, bool):
            return switch
    for key in ("chat_template_kwargs", "extra_body"):
        inner = request.get(key)
        if isinstance(inner, Mapping):
            return _stated(inner)
    return None


def _lacks(view: View, index: int) -> bool:
    return mapping(view.transcript.natives[index]).get(FIELD) is None


def _missing(view: View, index: int, what: str) -> Finding:
    message = f"{what} lacks {FIELD}: bring it back, or send it empty"
    return Finding(index, message, maybe=thinking_on(view) is None)


def call_without_thoughts(view: View) -> Iterator[Finding]:
    """Find calls that came without the reasoning that led to them."""
    if thinking_on(view) is not False:
        yield from _calls_from(view, 0)


def call_without_reasoning_in_turn(view: View) -> Iterator[Finding]:
    """Find such calls in the newest turn alone."""
    if thinking_on(view) is False:
        return
    start = len(view.facts)
    while start > 0 and view.facts[start - 1].role != USER:
        start -= 1
    yield from _calls_from(view, start)


def _calls_from(view: View, start: int) -> Iterator[Finding]:
    for index in range(start, len(view.facts)):
        fact = view.facts[index]
        if fact.role == ASSISTANT and fact.calls and _lacks(view, index):
            yield _missing(view, index, "the message with calls")


def turn_without_reasoning(view: View) -> Iterator[Finding]:
    """Find messages of the model without reasoning, in a conversation that used tools."""
    if thinking_on(view) is False or not any(fact.calls for fact in view.facts):
        return
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT and _lacks(view, index):
            yield _missing(view, index, "the message of the model")


def reasoning_field(view: View) -> Iterator[Finding]:
    """Find reasoning in the field that is the server's own to write."""
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT and FIELD in mapping(view.transcript.natives[index]):
            yield Finding(index, f"{FIELD} is not taken in the input: leave it out", FIELD)
