"""Checks of servers that speak Chat's shape with rules of their own.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT, CALL, OTHER, SYSTEM, TOOL, USER
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.pairing import Tie

__all__ = [
    "arguments_not_json",
    "call_answered_nowhere",
    "content_beside_calls",
    "content_missing",
    "incomplete_message",
    "leading_result",
    "model_speaks_last",
    "neither_content_nor_calls",
    "no_user_message",
    "opens_with_calls",
    "result_after_user",
    "result_without_id",
    "results_counted",
    "surplus_result",
    "system_inside",
    "unknown_result",
    "user_after_result",
]

_ROLES = frozenset(
    ["user", "assistant", "system", "developer", "tool", "function", "human", "ai", "remove"]
)
_ORPHAN = "the result {} {}: bring its call back, or keep it as a note"


def _said(tie: Tie) -> str:
    return tie.link.id or tie.link.name or "without an id"


# --- results and where they stand ----------------------------------------------------------------


def _strays(view: View) -> Iterator[tuple[Tie, int]]:
    """Yield each result without a call, with what stands before its stretch of results (or -1)."""
    if view.transcript.server_held:
        return
    for tie in view.results():
        if tie.call is None and view.facts[tie.message].role == TOOL:
            before = tie.message - 1
            while before >= 0 and view.facts[before].role in {TOOL, OTHER}:
                before -= 1
            yield tie, before


def _stray(view: View, tie: Tie, what: str) -> Finding:
    message = _ORPHAN.format(_said(tie), what)
    return Finding(tie.message, message, view.place(tie.message, tie.ordinal))


def leading_result(view: View) -> Iterator[Finding]:
    """Find results in front of everything."""
    for tie, before in _strays(view):
        if before < 0:
            yield _stray(view, tie, "opens the list")


def result_after_user(view: View) -> Iterator[Finding]:
    """Find results that follow a message of the user, or the system part."""
    for tie, before in _strays(view):
        if before >= 0 and view.facts[before].role in {USER, SYSTEM}:
            yield _stray(view, tie, f"follows a {view.facts[before].role} message")


def surplus_result(view: View) -> Iterator[Finding]:
    """Find results without a call that are more than the calls they stand at."""
    free = _unanswered_at(view)
    for tie, before in _strays(view):
        if before >= 0 and view.facts[before].role == ASSISTANT:
            free[before] = free.get(before, 0) - 1
            if free[before] < 0:
                yield _stray(view, tie, "is one more than there are calls")


def unknown_result(view: View) -> Iterator[Finding]:
    """Find results without a call that are as many as the unanswered calls they stand at."""
    free = _unanswered_at(view)
    for tie, before in _strays(view):
        if before >= 0 and view.facts[before].role == ASSISTANT:
            free[before] = free.get(before, 0) - 1
            if free[before] >= 0:
                yield _stray(view, tie, "names no call of the message before it")


def _unanswered_at(view: View) -> dict[int, int]:
    """Count the calls without a result, by message."""
    counts: dict[int, int] = {}
    for call in view.groups.pairing.calls:
        if call.answer < 0:
            counts[call.message] = counts.get(call.message, 0) + 1
    return counts


def results_counted(view: View) -> Iterator[Finding]:
    """Find calls without a result.

    A batch that is answered in part at the very end may still be under way; and where a result
    stands at the call that names another, the numbers are right.
    """
    strays: dict[int, int] = {}
    for _, before in _strays(view):
        strays[before] = strays.get(before, 0) + 1
    started = {tie.call.message for tie in view.results() if tie.call is not None}
    for call, answerable in view.groups.pairing.waiting():
        may_wait = answerable and not view.closed
        if call.link.kind != CALL or (may_wait and call.message not in started):
            continue
        counted = strays.get(call.message, 0) > 0
        strays[call.message] = strays.get(call.message, 0) - 1
        yield Finding(
            call.message,
            f"the call {call.link.id or call.link.name} has no result: give it one, or drop it",
            view.place(call.message, call.ordinal),
            maybe=may_wait or counted,
        )


def call_answered_nowhere(view: View) -> Iterator[Finding]:
    """Find calls whose id no result names, wherever it stands."""
    answered = {tie.link.id for tie in view.results()}
    for call in view.unanswered():
        place = view.place(call.message, call.ordinal)
        # Calls that could not be parsed are not looked at.
        if call.link.id not in answered and not place.startswith("invalid_tool_calls"):
            message = f"the call {call.link.id} has no result anywhere: give it one"
            yield Finding(call.message, message, place)


def result_without_id(view: View) -> Iterator[Finding]:
    """Find results that do not say which call they answer."""
    for index, fact in enumerate(view.facts):
        if fact.role != TOOL or fact.answers:
            continue
        native = view.transcript.natives[index]
        for part in view.parts(index):
            unnamed = isinstance(part, ToolResult) and part.id is None
            if unnamed and _role(native) != "function":
                yield Finding(index, "the result names no call: give it the id", part.path)


def _role(native: object) -> object:
    return mapping(native).get("role") if isinstance(native, dict) else None


# --- who speaks when ------------------------------------------------------------------------------


def model_speaks_last(view: View) -> Iterator[Finding]:
    """Find a final message of the model that it is not asked to go on with.

    While the conversation rests, that is how it ends; it is refused when the model is called.
    """
    last = len(view.facts) - 1
    if last < 0 or view.facts[last].role != ASSISTANT or view.facts[last].calls:
        return
    if not _goes_on(view, last):
        message = "the model has the last word: let the user say something, or set prefix"
        yield Finding(last, message, maybe=not view.closed)


def _goes_on(view: View, index: int) -> bool:
    native = view.transcript.natives[index]
    set_by = native if isinstance(native, dict) else getattr(native, "__dict__", None)
    return bool((mapping(native) if set_by is None else set_by).get("prefix"))


def user_after_result(view: View) -> Iterator[Finding]:
    """Find messages of the user right behind a result; newer models take them.

    A system message between the two is no word of the model.
    """
    if view.known.get("user_after_result"):
        return
    before = ""
    for index, fact in enumerate(view.facts):
        if fact.role in {SYSTEM, OTHER}:
            continue
        if before == TOOL and fact.role == USER:
            message = "a user message follows a result: the model must speak between them"
            yield Finding(index, message)
        before = fact.role


def opens_with_calls(view: View) -> Iterator[Finding]:
    """Find calls in the very first message, whose results are then not counted as theirs."""
    if view.facts and view.facts[0].role == ASSISTANT and view.facts[0].calls:
        yield Finding(0, "calls open the list: bring back the user message before them")


def no_user_message(view: View) -> Iterator[Finding]:
    """Find a conversation in which the user says nothing."""
    if view.transcript.server_held or any(fact.role == USER for fact in view.facts):
        return
    for index, fact in enumerate(view.facts):
        if fact.role in {ASSISTANT, TOOL}:
            message = "no user message is left: bring the newest one back"
            yield Finding(index, message)
            return


def system_inside(view: View) -> Iterator[Finding]:
    """Find system messages behind a message of the model or a result."""
    before = ""
    for index, fact in enumerate(view.facts):
        if fact.role == SYSTEM and before in {ASSISTANT, TOOL}:
            message = f"a system message follows a message of role {before}: let the user say it"
            yield Finding(index, message)
        elif fact.role != OTHER:
            before = fact.role


# --- what a message holds -------------------------------------------------------------------------


def _spoken(view: View, index: int) -> list[Text]:
    return [part for part in view.parts(index) if isinstance(part, Text) and part.text]


def neither_content_nor_calls(view: View) -> Iterator[Finding]:
    """Find messages of the model that hold neither content nor calls."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT or fact.linked:
            continue
        if all(
            isinstance(p, Reasoning) or (isinstance(p, Text) and not p.text)
            for p in view.parts(index)
        ):
            message = "the message of the model has neither content nor calls: drop it"
            yield Finding(index, message, "content")


def content_beside_calls(view: View) -> Iterator[Finding]:
    """Find text beside calls in one message."""
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT and fact.calls and _spoken(view, index):
            message = "text stands beside calls: leave the text out for this model"
            yield Finding(index, message, "content")


def content_missing(view: View) -> Iterator[Finding]:
    """Find messages whose content is null, an empty list or not there."""
    for index, fact in enumerate(view.facts):
        if fact.role == OTHER:
            continue
        if mapping(view.transcript.natives[index]).get("content") in (None, []):
            yield Finding(index, 'the message has no content: say ""', "content")


def arguments_not_json(view: View) -> Iterator[Finding]:
    """Find calls whose arguments cannot be read as JSON."""
    for index, fact in enumerate(view.facts):
        if not fact.calls:
            continue
        for part in view.parts(index):
            if isinstance(part, ToolCall) and not _parses(part.arguments):
                message = f"the arguments of the call {part.id} are no JSON: keep them as text"
                yield Finding(index, message, part.path)


def _parses(text: Any) -> bool:
    """Whether arguments can be read; what is no text is an object already."""
    if not isinstance(text, str):
        return True
    try:
        # Line breaks inside of strings are let through by the readers that were tried.
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def incomplete_message(view: View) -> Iterator[Finding]:
    """Find messages without a role or without content, which cannot even be loaded."""
    for index, native in enumerate(view.transcript.natives):
        message = mapping(native)
        role = message.get("role", message.get("type"))
        if role not in _ROLES:
            yield Finding(index, f"no message has the role {role!r}", "role")
        elif "content" not in message:
            yield Finding(index, 'the message has no content: say ""', "content")
