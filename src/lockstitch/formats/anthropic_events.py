"""Events of Anthropic's managed agent sessions, as the sessions API streams them.

Knows: which events are messages of the conversation, which call and which answer, and that a tool
confirmation is a person's decision about a call. Status, span and thread events are rows that no
model sees; they are kept and otherwise left alone.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    OTHER_FACTS,
    REQUEST,
    RESULT,
    TOOL,
    USER_FACTS,
    Facts,
    Link,
)
from lockstitch.formats.base import DEFINITE, NO, Format, blocks_of, identifier, mapping, said
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Part,
    Reasoning,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMAT"]

_CALLS = {
    "agent.custom_tool_use": "custom",
    "agent.mcp_tool_use": "mcp",
    "agent.tool_use": "server",
}
# The family a result answers, and the field that names its call.
_RESULTS = {
    "user.custom_tool_result": ("custom", "custom_tool_use_id"),
    "agent.mcp_tool_result": ("mcp", "mcp_tool_use_id"),
    "agent.tool_result": ("server", "tool_use_id"),
}
_CONFIRMATION = "user.tool_confirmation"


def facts(native: Any) -> Facts:
    """Return the facts of one event."""
    event = mapping(native)
    kind = str(event.get("type"))
    if kind == "user.message":
        return USER_FACTS
    if kind == "agent.message":
        return ASSISTANT_FACTS
    if kind == "agent.thinking":
        return Facts(ASSISTANT, reasoning=True)
    if kind in _CALLS:
        call_id, name = identifier(event.get("id")), event.get("name")
        call = Link(CALL, _CALLS[kind], call_id, name)
        if event.get("evaluated_permission") == "ask":
            return Facts(ASSISTANT, (call, Link(REQUEST, _CALLS[kind], call_id, name, call_id)))
        return Facts(ASSISTANT, (call,))
    if kind in _RESULTS:
        family, field = _RESULTS[kind]
        return Facts(TOOL, (Link(RESULT, family, identifier(event.get(field))),))
    if kind == _CONFIRMATION:
        # The denial is followed by a tool result, so the decision itself does not close the call.
        return Facts(TOOL, (Link(ANSWER, "mcp", identifier(event.get("tool_use_id"))),))
    return OTHER_FACTS


def asks(native: Any) -> bool:
    """Tell whether an event asks a person for approval."""
    return mapping(native).get("evaluated_permission") == "ask"


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one event."""
    event = mapping(native)
    kind = str(event.get("type"))
    if kind in _CALLS:
        call = ToolCall(
            _CALLS[kind],
            identifier(event.get("id")),
            event.get("name"),
            event.get("input"),
            "input",
        )
        if event.get("evaluated_permission") == "ask":
            return (call, ApprovalRequest(call.id, call.id, call.name))
        return (call,)
    if kind in _RESULTS:
        family, field = _RESULTS[kind]
        failed = bool(event.get("is_error"))
        call_id = identifier(event.get(field))
        return (ToolResult(family, call_id, event.get("content"), None, "content", failed),)
    if kind == _CONFIRMATION:
        return (Approval(identifier(event.get("tool_use_id")), event.get("result") != "deny"),)
    if kind == "agent.thinking":
        return (Reasoning("", None, identifier(event.get("id"))),)
    if kind in {"user.message", "agent.message"}:
        return tuple(
            _block(block, f"content[{index}]")
            for index, block in enumerate(blocks_of(event.get("content") or ()))
        )
    return (Opaque(kind, event),)


def _block(block: Mapping[str, Any], path: str) -> Part:
    kind = str(block.get("type"))
    if kind == "text":
        return said(block.get("text"), path)
    if kind in {"image", "document"}:
        source: Any = block.get("source") or {}
        data = source.get("data")
        return Media(kind, source.get("media_type"), len(data) if data else 0, path)
    return Opaque(kind, block, path)


def evidence(native: Any) -> int:
    """Say how strongly one event speaks for this format."""
    kind = mapping(native).get("type")
    known = isinstance(kind, str) and kind.startswith(("agent.", "user.", "session.", "span."))
    return DEFINITE if known else NO


FORMAT = Format(
    name="anthropic-events",
    title="Anthropic managed agent events",
    keys=("events",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    asks=asks,
    joins=True,
)
