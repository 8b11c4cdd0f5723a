"""Messages of Microsoft's agent-framework: `Message` objects, `Message.to_dict()`, their JSON.

Knows: the content types of `agent-framework-core` 1.23, which of them call, answer, ask and decide,
and under which id each pairs. An id that the framework gives to one occurrence of a call goes
before the provider's, which may come again. An approval request embeds its call: it stands for it
where the call has no content of its own.

Must not know: the framework; objects are read through their attributes. Other formats, any rule.

What the framework notes about a message in `additional_properties` (groups, exclusions, summaries,
attribution) is about an earlier decision of its own. It is carried along and never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import FormatError
from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    FINAL,
    FUNCTION,
    INTERIM,
    OTHER,
    OTHER_FACTS,
    SYSTEM,
    SYSTEM_FACTS,
    TOOL,
    USER,
    USER_FACTS,
    Facts,
)
from lockstitch.formats.base import DEFINITE, NO, Format, facts_of, identifier, mapping, said
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FORMAT"]

# Roles are open; one that nobody knows is a row that no model sees.
_ROLES = {
    "user": USER,
    "assistant": ASSISTANT,
    "system": SYSTEM,
    "developer": SYSTEM,
    "tool": TOOL,
}
_PLAIN = {
    USER: USER_FACTS,
    ASSISTANT: ASSISTANT_FACTS,
    SYSTEM: SYSTEM_FACTS,
    OTHER: OTHER_FACTS,
}
# Of each kind of call and result: the family that pairs, and where the content keeps its payload.
_CALLS = {
    "function_call": (FUNCTION, "arguments"),
    "computer_tool_call": ("computer", "actions"),
    "shell_tool_call": ("shell", "commands"),
    "mcp_server_tool_call": ("mcp", "arguments"),
    "code_interpreter_tool_call": ("server", "inputs"),
    "image_generation_tool_call": ("server", ""),
    "search_tool_call": ("server", "arguments"),
}
_RESULTS = {
    "function_result": (FUNCTION, "result"),
    "computer_tool_result": ("computer", "screenshot"),
    "shell_tool_result": ("shell", "outputs"),
    "mcp_server_tool_result": ("mcp", "output"),
    "code_interpreter_tool_result": ("server", "outputs"),
    "image_generation_tool_result": ("server", "outputs"),
    "search_tool_result": ("server", "result"),
}
_REQUEST = "function_approval_request"
_RESPONSE = "function_approval_response"
_MEDIA = frozenset({"data", "uri", "hosted_file"})
# What every message object has, and no other SDK's message object.
_OBJECT_FIELDS = {"role", "contents", "additional_properties"}


def _fields(native: Any) -> Mapping[str, Any]:
    """Return the fields of a message or a content: of an object its attributes, uncopied."""
    if type(native) is dict or isinstance(native, (Mapping, msgspec.Raw)):
        return mapping(native)
    held = getattr(native, "__dict__", None)
    if isinstance(held, dict) and ("contents" in held or "type" in held):
        return held
    raise FormatError(
        f"expected a message of agent-framework or its dict, found {type(native).__name__}"
    )


def _contents(message: Mapping[str, Any]) -> Sequence[Any]:
    held = message.get("contents")
    if isinstance(held, (list, tuple)):
        return held
    return () if held is None else (held,)


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    return _ROLES.get(role, OTHER) if type(role) is str else OTHER


def facts(native: Any) -> Facts:
    """Return the facts of one message."""
    message = native if type(native) is dict else _fields(native)
    role = _role(message)
    if role != TOOL:
        contents = message.get("contents")
        if type(contents) is list and len(contents) == 1:
            content = contents[0]
            kind = content.get("type") if type(content) is dict else None
            if kind == "text":
                return _PLAIN[role]
    found = facts_of(role, _parts(message, role))
    if found.linked or found.reasoning:
        return found
    return _PLAIN.get(found.role, found)


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one message."""
    message = _fields(native)
    return _parts(message, _role(message))


def _parts(message: Mapping[str, Any], role: str) -> tuple[Part, ...]:
    found = [
        _part(content, f"contents[{index}]") for index, content in enumerate(_contents(message))
    ]
    texts = [part for part in found if isinstance(part, Text)] if role == TOOL else []
    if texts and len(texts) == len(found):
        # What a tool says without naming its call answers the one it stands behind.
        found[0] = ToolResult(FUNCTION, None, texts[0].text, None, texts[0].path)
    return tuple(found)


def _part(native: Any, path: str) -> Part:
    if isinstance(native, str):
        return Text(native, path)
    content = native if type(native) is dict else _fields(native)
    kind = str(content.get("type"))
    if kind == "text":
        return said(content.get("text"), path)
    if kind == "text_reasoning":
        sealed = content.get("protected_data")
        text = content.get("text")
        return Reasoning(
            text if isinstance(text, str) else "",
            sealed if isinstance(sealed, str) and sealed else None,
            identifier(content.get("id")),
            path,
        )
    if kind in _CALLS:
        return _call(content, kind, path)
    if kind in _RESULTS:
        return _result(content, kind, path)
    if kind == _REQUEST:
        return _request(content, path)
    if kind == _RESPONSE:
        return _decision(content, path)
    if kind in _MEDIA:
        return _media(content, path)
    return Opaque(kind, _plain(native), path)


def _pairs_by(content: Mapping[str, Any]) -> str | None:
    return identifier(content.get("call_id")) or identifier(content.get("image_id"))


def _occurrence(content: Mapping[str, Any], call_id: str | None) -> str | None:
    """Return the framework's id of one occurrence of a function call, where it says more."""
    if call_id is None:
        return None
    known = identifier(content.get("id"))
    return known if known != call_id else None


def _call(content: Mapping[str, Any], kind: str, path: str) -> ToolCall:
    family, key = _CALLS[kind]
    call_id = _pairs_by(content)
    return ToolCall(
        family,
        call_id,
        content.get("name") or content.get("tool_name"),
        _plain(content.get(key)) if key else None,
        path,
        _occurrence(content, call_id) if family == FUNCTION else None,
    )


def _result(content: Mapping[str, Any], kind: str, path: str) -> ToolResult:
    family, key = _RESULTS[kind]
    call_id = _pairs_by(content)
    return ToolResult(
        family,
        call_id,
        _answered(content, key),
        content.get("name") or content.get("tool_name"),
        path,
        is_error=content.get("exception") is not None,
        state=INTERIM if content.get("status") == "in_progress" else FINAL,
        alias=_occurrence(content, call_id) if family == FUNCTION else None,
    )


def _answered(content: Mapping[str, Any], key: str) -> Any:
    """Return what was answered: the text, or the items beside it where they hold more than text."""
    told = content.get(key)
    items = content.get("items") if key == "result" else None
    if isinstance(items, (list, tuple)) and items:
        rich = any(_fields(item).get("type") != "text" for item in items if type(item) is not str)
        if rich or told is None:
            return _plain(items)
    return _plain(told)


def _embedded(content: Mapping[str, Any]) -> Mapping[str, Any]:
    held = content.get("function_call")
    return {} if held is None or isinstance(held, str) else _fields(held)


def _is_hosted(call: Mapping[str, Any]) -> bool:
    """Whether the provider runs a call; older messages say so by the label of its server alone."""
    if call.get("hosted") is not None:
        return bool(call["hosted"])
    extra = call.get("additional_properties")
    labelled = isinstance(extra, Mapping) and extra.get("server_label")
    return bool(labelled) or not call


def _request(content: Mapping[str, Any], path: str) -> ApprovalRequest:
    call = _embedded(content)
    hosted = _is_hosted(call)
    return ApprovalRequest(
        identifier(content.get("id")),
        None if hosted else identifier(call.get("call_id")),
        call.get("name"),
        _plain(call.get("arguments")),
        path,
        "mcp" if hosted else FUNCTION,
    )


def _decision(content: Mapping[str, Any], path: str) -> Approval:
    call = _embedded(content)
    hosted = _is_hosted(call)
    return Approval(
        identifier(content.get("id")),
        content.get("approved") is True,
        path,
        identifier(call.get("call_id")),
        "mcp" if hosted else FUNCTION,
    )


def _media(content: Mapping[str, Any], path: str) -> Media:
    media_type = content.get("media_type")
    media_type = media_type if isinstance(media_type, str) else None
    kind = (media_type or "").partition("/")[0]
    if kind not in {"image", "audio", "video"}:
        kind = "document" if kind in {"application", "text"} else "file"
    data = content.get("data") or content.get("uri")
    inline = isinstance(data, str) and (content.get("type") == "data" or data.startswith("data:"))
    return Media(kind, media_type, len(data) if inline and isinstance(data, str) else 0, path)


def _plain(value: Any) -> Any:
    """Return a payload as JSON has it: contents inside it as their dicts."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value] if any(map(_is_object, value)) else value
    return mapping(value) if _is_object(value) else value


def _is_object(value: Any) -> bool:
    return hasattr(value, "to_dict") and not isinstance(value, type)


def asks(native: Any) -> bool:
    """Tell whether a message asks a person for approval, at the least cost."""
    if isinstance(native, msgspec.Raw) and _REQUEST.encode() not in bytes(native):
        return False
    return any(
        not isinstance(content, str) and _fields(content).get("type") == _REQUEST
        for content in _contents(_fields(native))
    )


def evidence(native: Any) -> int:
    """Say how strongly one message speaks for this format."""
    if not isinstance(native, (Mapping, msgspec.Raw)):
        held = getattr(native, "__dict__", None)
        return DEFINITE if isinstance(held, dict) and held.keys() >= _OBJECT_FIELDS else NO
    message = mapping(native)
    listed = isinstance(message.get("contents"), (list, tuple))
    if not listed or not isinstance(message.get("role"), str):
        return NO
    return DEFINITE if message.keys().isdisjoint({"content", "parts"}) else NO


FORMAT = Format(
    name="agent-framework",
    title="Microsoft agent-framework messages",
    keys=("messages",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    asks=asks,
)
