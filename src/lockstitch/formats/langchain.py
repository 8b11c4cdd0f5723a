"""LangChain messages: objects, `messages_to_dict`, `dumpd` and `model_dump` shapes.

Knows: where each of the four shapes keeps its fields, and in which places a call may stand: in
`tool_calls`, in `invalid_tool_calls` (adapters send those too, so they need an answer), in the
provider's own form under `additional_kwargs`, or only as a content block.

Must not know: the langchain packages; objects are read through their attributes. Other formats, any
rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import FormatError
from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    FUNCTION,
    OTHER_FACTS,
    RESULT,
    SYSTEM_FACTS,
    TOOL,
    USER_FACTS,
    Facts,
    Link,
    facts_with,
)
from lockstitch.formats.base import (
    DEFINITE,
    NO,
    Format,
    blocks_of,
    facts_of,
    identifier,
    mapping,
    said,
)
from lockstitch.transcript import (
    Media,
    Opaque,
    Part,
    Provenance,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["FORMAT"]

_KINDS = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "function",
    "remove": "other",
    "chat": "chat",
}
# The last step of a dumpd id names the class.
_CLASSES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "RemoveMessage": "remove",
    "ChatMessage": "chat",
}
_PLAIN = {"user": USER_FACTS, "assistant": ASSISTANT_FACTS, "system": SYSTEM_FACTS}
# What every LangChain message object has, and no SDK's message object.
_OBJECT_FIELDS = {"content", "additional_kwargs", "response_metadata"}
# Every field of a dumped message.
_FIELDS = _OBJECT_FIELDS | {
    "artifact",
    "example",
    "id",
    "invalid_tool_calls",
    "name",
    "role",
    "status",
    "tool_call_id",
    "tool_calls",
    "type",
    "usage_metadata",
}
_SERVER_CALLS = {"server_tool_use": "server", "server_tool_call": "server", "mcp_tool_use": "mcp"}
_SERVER_RESULTS = {"server_tool_result": "server", "mcp_tool_result": "mcp"}
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_MEDIA = frozenset({"image_url", "image", "input_audio", "audio", "video", "file", "document"})


def _fields(native: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the role and the fields of a message in any of the four shapes."""
    if isinstance(native, (dict, msgspec.Raw)):
        message = mapping(native)
        if "lc" in message and "kwargs" in message:
            name = str((message.get("id") or ("",))[-1]).removesuffix("Chunk")
            return _role(_CLASSES.get(name, name), message["kwargs"]), message["kwargs"]
        if isinstance(message.get("data"), dict) and "content" not in message:
            return _role(message.get("type"), message["data"]), message["data"]
        return _role(message.get("type"), message), message
    fields = getattr(native, "__dict__", None)
    if not isinstance(fields, dict) or "content" not in fields:
        raise FormatError(f"expected a LangChain message, found {type(native).__name__}")
    kind = fields.get("type") or getattr(native, "type", None)
    return _role(kind, fields), fields


def _role(kind: Any, fields: Mapping[str, Any]) -> str:
    """Map a message type to a role; chunks are what they are chunks of."""
    name = str(kind)
    if name.endswith("MessageChunk"):
        name = name.removesuffix("MessageChunk").lower()
    role = _KINDS.get(name, "other")
    if role == "chat":
        said = str(fields.get("role"))
        return {"human": "user", "ai": "assistant"}.get(said, said)
    return role


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    role, fields = _fields(native)
    if role == "tool":
        call_id = identifier(fields.get("tool_call_id"))
        if call_id is not None:
            return Facts(TOOL, (), (), (call_id,))
        return Facts(TOOL, (Link(RESULT, FUNCTION, None, fields.get("name")),))
    plain = type(fields.get("content")) is str
    if plain and role == "assistant" and not fields.get("additional_kwargs"):
        calls = fields.get("tool_calls")
        if not calls and not fields.get("invalid_tool_calls"):
            return ASSISTANT_FACTS
        return facts_with(ASSISTANT, tuple(_links(fields)))
    if plain and role in {"user", "system"}:
        return _PLAIN[role]
    if role == "function":
        return Facts(TOOL, (Link(RESULT, FUNCTION, None, fields.get("name")),))
    found = facts_of(role, parts(native))
    if found.linked or found.reasoning:
        return found
    return _PLAIN.get(found.role, OTHER_FACTS)


def _links(fields: Mapping[str, Any]) -> Iterator[Link]:
    for key in ("tool_calls", "invalid_tool_calls"):
        for call in fields.get(key) or ():
            entry = call if type(call) is dict else _object(call)
            yield Link(CALL, FUNCTION, identifier(entry.get("id")), entry.get("name"))


def _object(call: Any) -> Mapping[str, Any]:
    """Read a tool call that is an object with attributes (frozen dataclasses of older agents)."""
    if hasattr(call, "model_dump"):
        return mapping(call)
    return {key: getattr(call, key, None) for key in ("id", "name", "args")}


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    role, fields = _fields(native)
    content = fields.get("content")
    if role in {"tool", "function"}:
        return (
            ToolResult(
                "function",
                identifier(fields.get("tool_call_id")) if role == "tool" else None,
                content,
                fields.get("name"),
                "content",
                is_error=fields.get("status") == "error",
            ),
        )
    calls = tuple(_calls(fields)) if role == "assistant" else ()
    known = {call.id for call in calls}
    found: list[Part] = []
    if isinstance(content, (list, tuple)):
        origin = _provenance(fields)
        for index, block in enumerate(blocks_of(content)):
            part = _block(block, f"content[{index}]", origin)
            # A call stands twice: as a block and in tool_calls. The block alone counts when it is
            # the only one.
            if not (isinstance(part, ToolCall) and part.family == "function" and part.id in known):
                found.append(part)
    elif isinstance(content, str) or (content is None and "content" in fields):
        if content or not calls:
            found.append(Text(content, "content"))
    elif content is not None:
        found.append(Opaque(type(content).__name__, content, "content"))
    return (*_kwargs_reasoning(fields), *found, *calls)


def _kwargs_reasoning(fields: Mapping[str, Any]) -> tuple[Part, ...]:
    extra = fields.get("additional_kwargs")
    value = extra.get("reasoning_content") if isinstance(extra, dict) else None
    if isinstance(value, str) and value:
        return (Reasoning(value, path="additional_kwargs.reasoning_content"),)
    return ()


def _provenance(fields: Mapping[str, Any]) -> Provenance | None:
    said = fields.get("response_metadata")
    if not isinstance(said, dict):
        return None
    provider, model = said.get("model_provider"), said.get("model_name") or said.get("model")
    return Provenance(provider=provider, model=model) if provider or model else None


def _calls(fields: Mapping[str, Any]) -> Iterator[ToolCall]:
    stated = False
    for key in ("tool_calls", "invalid_tool_calls"):
        for index, call in enumerate(fields.get(key) or ()):
            stated = True
            entry = call if type(call) is dict else _object(call)
            yield ToolCall(
                "function",
                identifier(entry.get("id")),
                entry.get("name"),
                entry.get("args"),
                f"{key}[{index}]",
            )
    extra = fields.get("additional_kwargs")
    if stated or not isinstance(extra, dict):
        return
    for index, call in enumerate(extra.get("tool_calls") or ()):
        inner: Any = call.get("function") or {}
        yield ToolCall(
            "function",
            identifier(call.get("id")),
            inner.get("name"),
            inner.get("arguments"),
            f"additional_kwargs.tool_calls[{index}]",
        )
    old = extra.get("function_call")
    if isinstance(old, dict) and not extra.get("tool_calls"):
        path = "additional_kwargs.function_call"
        yield ToolCall("function", None, old.get("name"), old.get("arguments"), path)


def _block(block: Mapping[str, Any], path: str, origin: Provenance | None) -> Part:
    kind = str(block.get("type"))
    if kind in {"text", "output_text", "input_text", "refusal"}:
        return said(block.get("text", block.get("refusal")), path)
    if kind in {"tool_use", "tool_call", "function_call"}:
        call_id = block.get("call_id") or block.get("id")
        arguments = block.get("input", block.get("args", block.get("arguments")))
        return ToolCall("function", identifier(call_id), block.get("name"), arguments, path)
    if kind in _SERVER_CALLS:
        call_id = identifier(block.get("id"))
        return ToolCall(_SERVER_CALLS[kind], call_id, block.get("name"), block.get("input"), path)
    if kind == "tool_result" or kind in _SERVER_RESULTS or kind.endswith("_tool_result"):
        family = "function" if kind == "tool_result" else _SERVER_RESULTS.get(kind, "server")
        call_id = identifier(block.get("tool_use_id") or block.get("tool_call_id"))
        return ToolResult(family, call_id, block.get("content", block.get("output")), path=path)
    if kind in _THOUGHTS:
        text = block.get("thinking") or block.get("reasoning") or block.get("text") or ""
        sealed = block.get("signature") or block.get("data") or block.get("encrypted_content")
        return Reasoning(str(text), sealed, identifier(block.get("id")), path, origin)
    if kind in _MEDIA:
        return Media(kind.removesuffix("_url"), encoded=_encoded(block), path=path)
    return Opaque(kind, block, path)


def _encoded(block: Mapping[str, Any]) -> int:
    """Count the characters of inline data, wherever a provider's block keeps it."""
    for key in ("data", "base64", "image_url", "source", "url"):
        value: Any = block.get(key)
        if isinstance(value, dict):
            value = value.get("data") or value.get("url")
        if isinstance(value, str) and (key in {"data", "base64", "source"} or value[:5] == "data:"):
            return len(value)
    return 0


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    if not isinstance(native, (dict, msgspec.Raw)):
        fields: Any = getattr(native, "__dict__", None)
        known = isinstance(fields, dict) and fields.keys() >= _OBJECT_FIELDS
        return DEFINITE if known else NO
    message = mapping(native)
    if "lc" in message and "kwargs" in message:
        return DEFINITE
    kind = str(message.get("type"))
    if kind not in _KINDS and not kind.endswith("MessageChunk"):
        return NO
    # Logs of other tools have rows of type "system" too, with fields that no message here has.
    whole = isinstance(message.get("data"), dict) and message.keys() <= {"type", "data"}
    flat = message.keys() <= _FIELDS and ("content" in message or kind == "remove")
    flat = flat and (message.get("role") is None or kind == "chat")
    return DEFINITE if whole or flat else NO


FORMAT = Format(
    name="langchain",
    title="LangChain messages",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
)
