"""Bedrock Converse: roles user and assistant, content as blocks whose one key is their type.

Knows: toolUse and toolResult, tools that the provider runs itself, whose results stand in the
assistant's own turn, reasoning with its signature or redacted, images, documents, video, sound,
guarded and cited text.

Must not know: other formats, any rule. Converse joins nothing: all results of one assistant turn
stand in one user message.

A cache point is a mark between two blocks. It is no part, so that a message of results with a mark
behind them is still a message of results.

Source for the blocks: the service model of bedrock-runtime in botocore 1.44.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    FUNCTION,
    OTHER,
    OTHER_FACTS,
    RESULT,
    SYSTEM,
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
    from collections.abc import Collection, Iterable

__all__ = ["FORMAT"]

_PLAIN = {
    USER: USER_FACTS,
    ASSISTANT: ASSISTANT_FACTS,
    SYSTEM: SYSTEM_FACTS,
    OTHER: OTHER_FACTS,
}
_CALL, _RESULT, _THOUGHT, _MARK = "toolUse", "toolResult", "reasoningContent", "cachePoint"
_UNKNOWN = ""
_MEDIA = frozenset({"image", "document", "video", "audio"})
# Every type whose value is an object.
_OBJECTS = _MEDIA | {
    _CALL,
    _RESULT,
    _THOUGHT,
    _MARK,
    "guardContent",
    "citationsContent",
    "searchResult",
    "toolAddition",
    "toolRemoval",
}
_SERVER = "server"
_MEDIA_TYPES = {"csv": "text/csv", "html": "text/html", "md": "text/markdown", "txt": "text/plain"}


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    message = native if type(native) is dict else mapping(native)
    role = _role(message)
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return _PLAIN[role]
    blocks = [_read(block if type(block) is dict else blocks_of((block,))[0]) for block in content]
    hosted: Collection[str | None] | None = None
    links: list[Link] = []
    count = answers = thoughts = 0
    for kind, value in blocks:
        if kind == _MARK:
            continue
        count += 1
        if kind == _CALL:
            if hosted is None:
                hosted = _hosted(role, blocks)
            link_id = identifier(value.get("toolUseId"))
            links.append(Link(CALL, _call_family(value, hosted), link_id, value.get("name")))
        elif kind == _RESULT:
            answers += 1
            link_id = identifier(value.get("toolUseId"))
            links.append(Link(RESULT, _result_family(role), link_id))
        elif kind == _THOUGHT:
            thoughts += 1
    if links:
        return facts_with(TOOL if role == USER and answers == count else role, tuple(links))
    if role == ASSISTANT and 0 < thoughts == count:
        return Facts(ASSISTANT, reasoning=True)
    return _PLAIN[role]


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    return role if isinstance(role, str) and role in _PLAIN else OTHER


def _read(block: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the type of a block and its value, or unknown and the name of its first key."""
    for kind, value in block.items():
        if (kind == "text" and isinstance(value, str)) or (
            kind in _OBJECTS and (type(value) is dict or isinstance(value, Mapping))
        ):
            return kind, value
    return _UNKNOWN, next(iter(block), "empty")


def _hosted(role: str, blocks: Iterable[tuple[str, Any]]) -> Collection[str | None]:
    """Return the ids that the provider itself answered, inside the assistant's own turn."""
    if role != ASSISTANT:
        return ()
    return {identifier(value.get("toolUseId")) for kind, value in blocks if kind == _RESULT}


def _call_family(use: Mapping[str, Any], hosted: Collection[str | None]) -> str:
    own = use.get("type") == "server_tool_use" or identifier(use.get("toolUseId")) in hosted
    return _SERVER if own else FUNCTION


def _result_family(role: str) -> str:
    return _SERVER if role == ASSISTANT else FUNCTION


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    message = mapping(native)
    content = message.get("content")
    if isinstance(content, (list, tuple)):
        role = _role(message)
        listed = blocks_of(content)
        hosted = _hosted(role, map(_read, listed))
        return tuple(
            _part(block, f"content[{index}]", role, hosted)
            for index, block in enumerate(listed)
            if _read(block)[0] != _MARK
        )
    if isinstance(content, str) or (content is None and "content" in message):
        return (Text(content, "content"),)
    return () if content is None else (Opaque(type(content).__name__, content, "content"),)


def _part(block: Mapping[str, Any], path: str, role: str, hosted: Collection[str | None]) -> Part:
    kind, value = _read(block)
    if kind == _UNKNOWN:
        return Opaque(value, block, path)
    if kind == "text":
        return said(value, path)
    if kind == _CALL:
        return ToolCall(
            _call_family(value, hosted),
            identifier(value.get("toolUseId")),
            value.get("name"),
            value.get("input"),
            path,
        )
    if kind == _RESULT:
        return ToolResult(
            _result_family(role),
            identifier(value.get("toolUseId")),
            value.get("content"),
            path=path,
            is_error=value.get("status") == "error",
        )
    if kind == _THOUGHT:
        return _reasoning(value, path)
    if kind in _MEDIA:
        return _media(kind, value, path)
    return _wrapped(kind, value, path) or Opaque(kind, block, path)


def _reasoning(value: Mapping[str, Any], path: str) -> Reasoning:
    said = value.get("reasoningText")
    if isinstance(said, Mapping):
        return Reasoning(str(said.get("text") or ""), said.get("signature"), path=path)
    sealed = value.get("redactedContent")
    if isinstance(sealed, bytes):
        sealed = b64encode(sealed).decode()  # as it is written in JSON
    return Reasoning("", sealed, path=path)


def _wrapped(kind: str, value: Mapping[str, Any], path: str) -> Part | None:
    """Read text or a picture that stands inside a guard or beside its citations."""
    if kind == "citationsContent":
        return Text(_texts(value.get("content")), path)
    inner: Any = value.get("text") if kind == "guardContent" else None
    if isinstance(inner, Mapping):
        return said(inner.get("text"), path)
    inner = value.get("image") if kind == "guardContent" else None
    return _media("image", inner, path) if isinstance(inner, Mapping) else None


def _texts(content: Any) -> str:
    pieces = content if isinstance(content, (list, tuple)) else ()
    return "".join(str(piece.get("text") or "") for piece in blocks_of(pieces))


def _media(kind: str, value: Mapping[str, Any], path: str) -> Media:
    source: Any = value.get("source")
    written = value.get("format")
    media_type = None
    if written:
        whole = "application" if kind == "document" else kind
        media_type = _MEDIA_TYPES.get(written, f"{whole}/{written}")
    return Media(kind, media_type, _encoded(source) if isinstance(source, Mapping) else 0, path)


def _encoded(source: Mapping[str, Any]) -> int:
    """Count the characters of inline data as they are sent; boto takes the bytes themselves."""
    data = source.get("bytes")
    if isinstance(data, (bytes, bytearray)):
        return -(-len(data) // 3) * 4
    text = data or source.get("text") or _texts(source.get("content"))
    return len(text) if isinstance(text, str) else 0


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    message = native if type(native) is dict else mapping(native)
    content = message.get("content")
    if (
        _role(message) == OTHER
        or not isinstance(content, (list, tuple))
        or any(message.get(key) for key in ("parts", "type", "tool_calls", "function_call"))
    ):
        return NO
    strength = FITS
    for block in blocks_of(content):
        if "type" in block or not block:
            return NO
        kind, value = _read(block)
        if kind == "text":
            strength = max(strength, LIKELY)
        elif kind != _UNKNOWN:
            strength = DEFINITE
        elif value in _OBJECTS or len(block) > 1:
            return NO  # `{"image": "https://..."}` is how others write it
    return strength


FORMAT = Format(
    name="bedrock",
    title="Bedrock Converse",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    system_keys=("system",),
)
