"""OpenAI Chat Completions messages, and the many servers that speak the same shape.

Knows: role, content, tool_calls, tool_call_id, the older function_call and role `function`, and the
fields that compatible servers add (reasoning_content, reasoning). Tool calls are also read in the
flat `{id, name, args}` form that several frameworks use beside these roles.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    FITS,
    LIKELY,
    NO,
    Format,
    blocks_of,
    identifier,
    mapping,
)
from lockstitch.transcript import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["FORMAT"]

_PLAIN = {
    "user": USER_FACTS,
    "system": SYSTEM_FACTS,
    "developer": SYSTEM_FACTS,
    "assistant": ASSISTANT_FACTS,
}
# Keys of an assistant message that hold readable reasoning; servers differ in the name.
_REASONING_KEYS = ("reasoning_content", "reasoning")
_OWN_BLOCKS = frozenset(
    {"image_url", "input_audio", "file", "refusal", "video_url", "document_url"}
)
# Where other formats keep what a message says.
_OTHERS = frozenset({"parts", "contents"})
_OWN_KEYS = frozenset({"refusal", "audio", "annotations", "reasoning_content", "prefix"})


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    message = native if type(native) is dict else mapping(native)
    try:
        role = message["role"]
    except KeyError:
        return OTHER_FACTS
    if role == "tool":
        call_id = message.get("tool_call_id")
        if type(call_id) is str and call_id:
            return Facts(TOOL, (), (), (call_id,))
        named = identifier(call_id)
        name = None if named else message.get("name")
        return facts_with(TOOL, (Link(RESULT, FUNCTION, named, name),))
    if role == "assistant":
        calls = message.get("tool_calls")
        return _asking(calls) if calls else _saying(message)
    if role == "function":
        return Facts(TOOL, (Link(RESULT, FUNCTION, None, message.get("name")),))
    return _PLAIN.get(role, OTHER_FACTS) if type(role) is str else OTHER_FACTS


def _asking(calls: Any) -> Facts:
    asks: list[str] = []
    for call in calls:
        call_id = call.get("id") if type(call) is dict else None
        if type(call_id) is not str or not call_id:
            return facts_with(ASSISTANT, tuple(map(_call_link, calls)))
        asks.append(call_id)
    return Facts(ASSISTANT, (), tuple(asks))


def _saying(message: Mapping[str, Any]) -> Facts:
    old = message.get("function_call")
    if old:
        return Facts(ASSISTANT, (Link(CALL, FUNCTION, None, _called(mapping(old))[0]),))
    return _thoughts_only(message) if message.get("content") is None else ASSISTANT_FACTS


def _call_link(call: Any) -> Link:
    entry = mapping(call)
    call_id = identifier(entry.get("id"))
    # The name matters only where there is no id to pair by.
    return Link(CALL, FUNCTION, call_id, None if call_id else _called(entry)[0])


def _called(entry: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Return name and arguments of a tool call in any of its three shapes."""
    inner = entry.get("function")
    if inner is not None:
        if type(inner) is not dict:
            inner = mapping(inner)
        return inner.get("name"), inner.get("arguments")
    inner = entry.get("custom")
    if inner is not None:
        if type(inner) is not dict:
            inner = mapping(inner)
        return inner.get("name"), inner.get("input")
    return entry.get("name"), entry.get("arguments", entry.get("args"))


def _thoughts_only(message: Mapping[str, Any]) -> Facts:
    thoughts = "content" not in message and any(message.get(key) for key in _REASONING_KEYS)
    if thoughts and not message.get("refusal") and not message.get("audio"):
        return Facts(ASSISTANT, reasoning=True)
    return ASSISTANT_FACTS


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    message = mapping(native)
    found: list[Part] = []
    for key in _REASONING_KEYS:
        value = message.get(key)
        if value:
            found.append(Reasoning(value if isinstance(value, str) else str(value), path=key))
    role = message.get("role")
    if role in {"tool", "function"}:
        found.append(
            ToolResult(
                "function",
                identifier(message.get("tool_call_id")) if role == "tool" else None,
                message.get("content"),
                message.get("name"),
                "content",
            )
        )
        return tuple(found)
    found.extend(_content(message))
    if message.get("refusal"):
        found.append(Text(message["refusal"], "refusal"))
    found.extend(_calls(message))
    if message.get("audio"):
        found.append(Media("audio", path="audio"))
    return tuple(found)


def _content(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        for index, block in enumerate(blocks_of(content)):
            yield _block(block, f"content[{index}]")
    elif isinstance(content, str) or (content is None and "content" in message):
        yield Text(content, "content")
    elif content is not None:
        yield Opaque(type(content).__name__, content, "content")


def _block(block: Mapping[str, Any], path: str) -> Part:
    kind = block.get("type")
    if kind in {"text", "input_text", "output_text", "refusal"}:
        return Text(block.get("text", block.get("refusal")), path)
    if kind in {"thinking", "reasoning"}:
        return Reasoning(
            str(block.get("thinking", block.get("text", ""))), block.get("signature"), path=path
        )
    if kind in _OWN_BLOCKS:
        value: Any = block.get(kind)
        if isinstance(value, dict):
            value = value.get("url") or value.get("data") or value.get("file_data")
        text = value if isinstance(value, str) else ""
        # Only inline data is carried in the request; a link is a few characters.
        inline = len(text) if kind == "input_audio" or text.startswith("data:") else 0
        return Media(str(kind).removesuffix("_url"), encoded=inline, path=path)
    return Opaque(str(kind), block, path)


def _calls(message: Mapping[str, Any]) -> Iterator[Part]:
    if message.get("role") != "assistant":
        return
    for index, call in enumerate(message.get("tool_calls") or ()):
        entry = mapping(call)
        name, arguments = _called(entry)
        yield ToolCall(
            "function", identifier(entry.get("id")), name, arguments, f"tool_calls[{index}]"
        )
    if not message.get("tool_calls") and message.get("function_call"):
        name, arguments = _called(mapping(message["function_call"]))
        yield ToolCall("function", None, name, arguments, "function_call")


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    message = native if type(native) is dict else mapping(native)
    role = message.get("role")
    if type(role) is not str or not _OTHERS.isdisjoint(message):
        return NO
    if message.get("type") == "message":
        return NO
    if role in {"tool", "function"} or message.get("tool_calls") or message.get("function_call"):
        return DEFINITE if role != "user" else FITS
    content = message.get("content")
    if content is None:
        return LIKELY if role == "assistant" else FITS
    strength = FITS if _OWN_KEYS.isdisjoint(message) else LIKELY
    if isinstance(content, (list, tuple)):
        for block in blocks_of(content):
            kind = block.get("type")
            if kind in {"input_text", "output_text"} or not isinstance(kind, str):
                return NO
            if kind in _OWN_BLOCKS:
                strength = max(strength, LIKELY)
            elif kind != "text":
                return NO
    elif not isinstance(content, str):
        return NO
    return strength


FORMAT = Format(
    name="openai-chat",
    title="OpenAI Chat Completions and compatible servers",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
)
