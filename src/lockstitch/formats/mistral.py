"""Mistral chat messages: Chat's roles and calls, with chunks and habits of their own.

Knows: thinking as a list of chunks, document and image links as bare strings, references, `prefix`;
calls whose arguments are text or an object and whose id is absent or the word "null", which is what
Mistral's SDK writes where there is none; results that name their tool.

Must not know: other formats, any rule. Most of these messages look like OpenAI Chat's. Only what
nobody else writes is taken for certain, so that a plain Chat history stays one.

Source for the chunks: the types of the mistralai SDK, release 3.7.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    from collections.abc import Iterator

__all__ = ["FORMAT"]

_PLAIN = {"user": USER_FACTS, "system": SYSTEM_FACTS, "assistant": ASSISTANT_FACTS}
_ROLES = frozenset({*_PLAIN, "tool"})
_MEDIA = {
    "image_url": "image",
    "document_url": "document",
    "input_audio": "audio",
    "file": "file",
}
_CHUNKS = frozenset({"text", "resource", "resource_link", *_MEDIA})
# The SDK's default for an id that the server left out.
_NO_ID = "null"


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    message = native if type(native) is dict else _message(native)
    role = message.get("role")
    if role == "tool":
        call_id = _id(message.get("tool_call_id"))
        return facts_with(TOOL, (Link(RESULT, FUNCTION, call_id, message.get("name")),))
    if role == "assistant":
        calls = message.get("tool_calls")
        if calls:
            return facts_with(ASSISTANT, tuple(map(_call_link, calls)))
        content = message.get("content")
        if isinstance(content, (list, tuple)) and content:
            alone = all(chunk.get("type") == "thinking" for chunk in _chunks(content))
            return Facts(ASSISTANT, reasoning=True) if alone else ASSISTANT_FACTS
        return ASSISTANT_FACTS
    return _PLAIN.get(role, OTHER_FACTS) if isinstance(role, str) else OTHER_FACTS


def _message(native: Any) -> Mapping[str, Any]:
    """Look at a message as a mapping."""
    return mapping(_dumped(native))


def _dumped(native: Any) -> Any:
    """Dump an object of Mistral's SDK with its defaults: role and type are among them."""
    dump = None if type(native) is dict else getattr(native, "model_dump", None)
    return dump(exclude_unset=False) if callable(dump) else native


def _chunks(content: Any) -> list[Mapping[str, Any]]:
    return blocks_of(map(_dumped, content))


def _id(value: Any) -> str | None:
    return None if value == _NO_ID else identifier(value)


def _call_link(call: Any) -> Link:
    entry = call if type(call) is dict else mapping(call)
    return Link(CALL, FUNCTION, _id(entry.get("id")), _called(entry)[0])


def _called(entry: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Return name and arguments of a call."""
    inner = entry.get("function")
    if inner is None:
        return None, None
    function = inner if type(inner) is dict else mapping(inner)
    return function.get("name"), function.get("arguments")


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    message = _message(native)
    role = message.get("role")
    if role == "tool":
        call_id = _id(message.get("tool_call_id"))
        return (
            ToolResult(FUNCTION, call_id, message.get("content"), message.get("name"), "content"),
        )
    found = list(_content(message))
    if role == "assistant":
        for index, call in enumerate(message.get("tool_calls") or ()):
            entry = mapping(call)
            name, arguments = _called(entry)
            path = f"tool_calls[{index}]"
            found.append(ToolCall(FUNCTION, _id(entry.get("id")), name, arguments, path))
    return tuple(found)


def _content(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        for index, chunk in enumerate(_chunks(content)):
            yield _chunk(chunk, f"content[{index}]")
    elif isinstance(content, str) or (content is None and "content" in message):
        yield Text(content, "content")
    elif content is not None:
        yield Opaque(type(content).__name__, content, "content")


def _chunk(chunk: Mapping[str, Any], path: str) -> Part:
    kind = chunk.get("type")
    if kind == "text":
        return Text(chunk.get("text"), path)
    if kind == "thinking":
        return Reasoning(_thought(chunk.get("thinking")), chunk.get("signature"), path=path)
    if isinstance(kind, str) and kind in _MEDIA:
        value: Any = chunk.get(kind)
        if isinstance(value, Mapping) or hasattr(value, "model_dump"):
            inner = mapping(value)
            value = inner.get("url") or inner.get("data")
        return Media(_MEDIA[kind], encoded=_encoded(kind, value), path=path)
    return Opaque(str(kind), chunk, path)


def _thought(thinking: Any) -> str:
    """Return the readable text of a thinking chunk; it may refer to sources in between."""
    if isinstance(thinking, str):
        return thinking
    pieces = thinking if isinstance(thinking, (list, tuple)) else ()
    return "".join(str(piece.get("text") or "") for piece in _chunks(pieces))


def _encoded(kind: str, value: Any) -> int:
    """Count the characters of inline data; a link is a few characters."""
    text = value if isinstance(value, str) else ""
    bare = kind == "input_audio" and not text.startswith(("http://", "https://"))
    return len(text) if bare or text.startswith("data:") else 0


# Keys that other formats have in a message.
_OTHERS = frozenset({"parts", "contents", "type"})


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    message = native if type(native) is dict else _message(native)
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        return NO
    if not _OTHERS.isdisjoint(message) or message.get("function_call"):
        return NO
    strength = LIKELY if role == "assistant" and "prefix" in message else FITS
    content = message.get("content")
    if content is None or isinstance(content, str):
        return strength
    if not isinstance(content, (list, tuple)):
        return NO
    for chunk in _chunks(content):
        if _is_own(chunk):
            strength = DEFINITE
        elif chunk.get("type") not in _CHUNKS:
            return NO
    return strength


def _is_own(chunk: Mapping[str, Any]) -> bool:
    """Tell a chunk that nobody else writes."""
    kind = chunk.get("type")
    if kind == "thinking":
        return isinstance(chunk.get("thinking"), (list, tuple))
    if kind == "document_url":
        return isinstance(chunk.get("document_url"), str)
    return kind == "reference" and "reference_ids" in chunk


FORMAT = Format(
    name="mistral",
    title="Mistral chat completions",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    dialect_of="openai-chat",
)
