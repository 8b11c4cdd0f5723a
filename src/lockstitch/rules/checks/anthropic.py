"""Checks of Anthropic messages: names, markers, limits, and what a final turn may be.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT, FUNCTION, OTHER, SYSTEM, TOOL, USER
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Media, Opaque, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "abandoned_server_use",
    "assistant_last",
    "empty_compaction",
    "marker_misplaced",
    "odd_call_id",
    "odd_call_name",
    "request_too_big",
    "system_after_start",
    "too_many_markers",
    "too_many_messages",
    "tools_undefined",
    "unanswered_server",
    "white_space_at_end",
]

_ODD: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_ID: Final = 64
_LONGEST_NAME: Final = 200
# A definition of a tool takes no longer name, so a longer one in a history is no tool's.
_LONGEST_DEFINED: Final = 128
_MARKERS: Final = 4
_MESSAGES: Final = 100_000
_BYTES: Final = 32 * 1024 * 1024


# --- calls ----------------------------------------------------------------------------------------


def odd_call_id(view: View) -> Iterator[Finding]:
    """Find ids of calls that hold other characters than letters, digits, `_` and `-`.

    A very long one is only suspected to be refused.
    """
    for call in view.groups.pairing.calls:
        name = call.link.id
        if call.link.family != FUNCTION or name is None:
            continue
        odd = _ODD.search(name)
        if odd is not None or len(name) > _LONGEST_ID:
            yield Finding(
                call.message,
                f"the id {name!r} is none that the target takes: rename it on the call and on its "
                "result",
                view.place(call.message, call.ordinal),
                maybe=odd is None,
            )


def odd_call_name(view: View) -> Iterator[Finding]:
    """Find calls of tools whose name is no name of a tool."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT or not fact.linked:
            continue
        for part in view.parts(index):
            if not isinstance(part, ToolCall) or part.family != FUNCTION or not part.name:
                continue
            name = str(part.name)
            odd = _ODD.search(name) is not None or len(name) > _LONGEST_NAME
            if odd or len(name) > _LONGEST_DEFINED:
                yield Finding(
                    index,
                    f"a tool cannot be called {name[:40]!r}: shorten the name to letters, "
                    "digits, _ and -",
                    part.path,
                    maybe=not odd,
                )


def tools_undefined(view: View) -> Iterator[Finding]:
    """Find calls and results in a request that defines no tools.

    Where the request leaves the field out, a refusal is likely only: one such was accepted.
    """
    context = view.context
    named = "tools" in context
    if context.get("tools") or context.get("mcp_servers"):
        return
    if not named and "model" not in context and "max_tokens" not in context:
        return
    for index, fact in enumerate(view.facts):
        if any(link.family == FUNCTION for link in fact.ends):
            yield Finding(
                index,
                "the history holds tool calls and the request defines no tools: pass them",
                view.place(index, 0),
                maybe=not named,
            )
            return


def unanswered_server(view: View) -> Iterator[Finding]:
    """Find calls of the provider's own tools that have no result and are not going on.

    A paused turn ends with such a call and is sent back as it is; while the provider's code waits
    for a result of the client's, only that result stands behind it.
    """
    rest = _going_on(view)
    for call in view.unanswered():
        if call.link.family == "server" and call.message < rest:
            yield Finding(
                call.message,
                f"the call {call.link.id or call.link.name} of the provider's tool has no result: "
                "bring it back, or drop the call",
                view.place(call.message, call.ordinal),
            )


def _going_on(view: View) -> int:
    """Return where the turn begins that the provider may still be working on."""
    at = len(view.facts)
    while at and view.facts[at - 1].role in {TOOL, OTHER}:
        at -= 1
    while at and view.facts[at - 1].role == ASSISTANT:
        at -= 1
    return at


def abandoned_server_use(view: View) -> Iterator[Finding]:
    """Find a paused turn that was not resumed: the user spoke right after the open call."""
    for call in view.unanswered():
        at = call.message
        if call.link.family != "server" or at + 1 >= len(view.facts):
            continue
        last = view.parts(at)[-1]
        if view.facts[at + 1].role == USER and getattr(last, "id", None) == call.link.id:
            yield Finding(
                at,
                "a paused turn was left: send it back as the last message to resume it first",
                last.path,
                (at + 1,),
            )


# --- the last message -----------------------------------------------------------------------------


def _final(view: View) -> int:
    """Return the last message where it is the model's own and asks for nothing, else -1."""
    at = len(view.facts) - 1
    while at >= 0 and view.facts[at].role == OTHER:
        at -= 1
    if at < 0 or view.facts[at].role != ASSISTANT or view.facts[at].linked:
        return -1
    # A compaction that was paused after goes back as it is.
    if any(isinstance(part, Opaque) for part in view.parts(at)):
        return -1
    return at


def assistant_last(view: View) -> Iterator[Finding]:
    """Find a history that ends with the model's own words; at rest that is how most end."""
    at = _final(view)
    if at >= 0:
        yield Finding(
            at,
            "the last message is the model's: let the user have the last word",
            maybe=not view.closed,
        )


def white_space_at_end(view: View) -> Iterator[Finding]:
    """Find a final text of the model that ends with white space."""
    at = _final(view)
    parts = view.parts(at) if at >= 0 else ()
    last = parts[-1] if parts else None
    if isinstance(last, Text) and last.text and last.text.strip() and last.text[-1].isspace():
        yield Finding(
            at,
            "the text that the model is to go on with ends with white space: take it away",
            last.path,
            maybe=not view.closed,
        )


# --- system ---------------------------------------------------------------------------------------


def system_after_start(view: View) -> Iterator[Finding]:
    """Find system messages inside the list, for a model that is known to take none."""
    if view.known.get("mid_system", True):
        return
    for index, fact in enumerate(view.facts):
        if index and fact.role == SYSTEM:
            yield Finding(
                index, "the model takes no system message inside the list: let the user say it"
            )


# --- blocks ---------------------------------------------------------------------------------------


def empty_compaction(view: View) -> Iterator[Finding]:
    """Find compaction blocks with an empty summary; null marks one that failed, and is taken."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT:
            continue
        for part in view.parts(index):
            if not isinstance(part, Opaque) or part.type != "compaction":
                continue
            if mapping(part.value).get("content") == "":
                yield Finding(
                    index,
                    "the compaction block is empty: bring the original back, or drop it",
                    part.path,
                )


def _marked(content: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every block with a cache marker, those inside results too."""
    if not isinstance(content, (list, tuple)):
        return
    for at, block in enumerate(blocks_of(content)):
        here = f"{path}[{at}]"
        if block.get("type") == "tool_result":
            yield from _marked(block.get("content"), f"{here}.content")
        if block.get("cache_control"):
            yield here, block


def too_many_markers(view: View) -> Iterator[Finding]:
    """Find cache markers beyond those that a request may have, the oldest of the list first."""
    context = view.context
    outside = int(bool(context.get("cache_control")))
    for key in ("tools", "system"):
        held = context.get(key)
        blocks = held if isinstance(held, (list, tuple)) else ()
        outside += sum(isinstance(one, dict) and bool(one.get("cache_control")) for one in blocks)
    found = [
        (index, path)
        for index, native in enumerate(view.transcript.natives)
        for path, _ in _marked(mapping(native).get("content"), "content")
    ]
    excess = len(found) + outside - _MARKERS
    for index, path in found[: max(excess, 0)]:
        yield Finding(
            index,
            f"the request has {len(found) + outside} cache markers and may have {_MARKERS}: take "
            "the oldest away",
            f"{path}.cache_control",
        )


def marker_misplaced(view: View) -> Iterator[Finding]:
    """Find cache markers on thinking and on empty text."""
    for index, native in enumerate(view.transcript.natives):
        for path, block in _marked(mapping(native).get("content"), "content"):
            empty = block.get("type") == "text" and not block.get("text")
            if empty or block.get("type") in {"thinking", "redacted_thinking"}:
                yield Finding(
                    index, "a cache marker cannot stand here: move it to another block", path
                )


# --- the size of the request ----------------------------------------------------------------------


def too_many_messages(view: View) -> Iterator[Finding]:
    """Find a list that is longer than a request may be."""
    if len(view.facts) > _MESSAGES:
        yield Finding(-1, f"there are {len(view.facts)} messages: trim to {_MESSAGES} at most")


def request_too_big(view: View) -> Iterator[Finding]:
    """Find a request whose text and inline data alone are more than one may hold."""
    size = 0
    for index in range(len(view.facts)):
        for part in view.parts(index):
            if isinstance(part, Text):
                size += len(part.text or "")
            elif isinstance(part, Media):
                size += part.encoded
            elif isinstance(part, ToolResult) and isinstance(part.content, str):
                size += len(part.content)
    if size > _BYTES:
        yield Finding(
            -1,
            f"text and media alone are {size} bytes and a request may have {_BYTES}: send files by "
            "their ids, or trim",
        )
