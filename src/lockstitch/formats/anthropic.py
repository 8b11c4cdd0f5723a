"""Anthropic Messages: roles user and assistant, content as text or typed blocks.

Knows: tool_use and tool_result, server tools and MCP tools whose results stand in the assistant's
own turn, thinking and redacted thinking, images and documents, system messages inside the list.

Must not know: other formats, any rule. Neighbouring turns of one role are joined by the API before
it pairs; that is pairing's knowledge (runs), not this file's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    OTHER_FACTS,
    RESULT,
    SYSTEM_FACTS,
    TOOL,
    USER,
    USER_FACTS,
    Facts,
    Link,
    facts_with,
)
from lockstitch.formats.base import (
    DEFINITE,
    FITS,
    LIKELY,
    NO,
    Format,
    blocks_of,
    identifier,
    mapping,
    said,
)
from lockstitch.transcript import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FORMAT"]

_PLAIN = {"user": USER_FACTS, "assistant": ASSISTANT_FACTS, "system": SYSTEM_FACTS}
_CALLS = {"tool_use": "function", "server_tool_use": "server", "mcp_tool_use": "mcp"}
_RESULTS = {"tool_result": "function", "mcp_tool_result": "mcp"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_MEDIA = frozenset({"image", "document", "container_upload", "file"})
_OWN = frozenset(
    {"compaction", "tool_addition", "search_result", "fallback", "container_upload", "document"}
)


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    message = native if type(native) is dict else mapping(native)
    role = message.get("role")
    content = message.get("content")
    if type(content) is str:
        return _PLAIN.get(role, OTHER_FACTS) if type(role) is str else OTHER_FACTS
    if not isinstance(content, (list, tuple)) or type(role) is not str:
        return _PLAIN.get(str(role), OTHER_FACTS)
    links: list[Link] = []
    answers = thoughts = 0
    for item in content:
        block = item if type(item) is dict else blocks_of((item,))[0]
        kind = block.get("type")
        if kind == "text" or type(kind) is not str:
            continue
        if kind in _THOUGHTS:
            thoughts += 1
            continue
        call_family = _CALLS.get(kind)
        family = call_family or _result_family(kind)
        if family is None:
            continue
        if call_family:
            link_id = identifier(block.get("id"))
            links.append(
                Link(CALL, family, link_id, block.get("name") if link_id is None else None)
            )
        else:
            answers += 1
            link_id = identifier(block.get("tool_use_id"))
            links.append(Link(RESULT, family, link_id))
    if role == "assistant":
        if not links:
            alone = 0 < thoughts == len(content)
            return Facts(ASSISTANT, reasoning=True) if alone else ASSISTANT_FACTS
        return facts_with(ASSISTANT, tuple(links))
    if links and role == "user":
        return facts_with(TOOL if answers == len(content) else USER, tuple(links))
    return _PLAIN.get(role, OTHER_FACTS)


def _result_family(kind: str) -> str | None:
    """Name the family of a result block; every unknown `..._tool_result` is a server tool's."""
    return _RESULTS.get(kind) or ("server" if kind.endswith("_tool_result") else None)


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    message = mapping(native)
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        return tuple(
            _block(block, f"content[{index}]") for index, block in enumerate(blocks_of(content))
        )
    if isinstance(content, str) or (content is None and "content" in message):
        return (Text(content, "content"),)
    return () if content is None else (Opaque(type(content).__name__, content, "content"),)


def _block(block: Mapping[str, Any], path: str) -> Part:
    kind = str(block.get("type"))
    if kind == "text":
        return said(block.get("text"), path)
    if kind in _CALLS:
        return ToolCall(
            _CALLS[kind], identifier(block.get("id")), block.get("name"), block.get("input"), path
        )
    if kind == "thinking":
        return Reasoning(str(block.get("thinking") or ""), block.get("signature"), path=path)
    if kind == "redacted_thinking":
        return Reasoning("", block.get("data"), path=path)
    family = _result_family(kind)
    if family:
        return ToolResult(
            family,
            identifier(block.get("tool_use_id")),
            block.get("content"),
            path=path,
            is_error=bool(block.get("is_error")),
        )
    if kind in _MEDIA:
        source: Any = block.get("source")
        source = source if isinstance(source, dict) else {}
        data = source.get("data")
        return Media(
            kind, source.get("media_type"), len(data) if isinstance(data, str) else 0, path
        )
    return Opaque(kind, block, path)


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    message = mapping(native)
    role = message.get("role")
    if (
        type(role) is not str
        or role not in _PLAIN
        or "parts" in message
        or (message.get("type") == "message" and "id" not in message)
    ):
        return NO
    if message.get("tool_calls") or message.get("function_call"):
        return NO
    content = message.get("content")
    if isinstance(content, str):
        return FITS
    if not isinstance(content, (list, tuple)):
        return NO
    strength = FITS
    for block in blocks_of(content):
        kind = block.get("type")
        if type(kind) is not str:
            return NO
        if kind in _CALLS or _result_family(kind):
            strength = DEFINITE
        elif kind == "thinking" and not isinstance(block.get("thinking", ""), str):
            return NO
        elif kind in _THOUGHTS or kind in _OWN or (kind == "image" and "source" in block):
            strength = max(strength, LIKELY)
        elif kind != "text":
            return NO
    return strength


FORMAT = Format(
    name="anthropic",
    title="Anthropic Messages",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    system_keys=("system",),
    bound_system=True,
    joins=True,
)
