"""Gemini contents: roles user and model, each content a list of parts, in both styles of keys.

Knows: the camelCase of the wire and the snake_case of the SDK; calls with and without ids; code
that the provider runs and tools of its own, whose results stand in the model's own turn; answers
that say a call still runs (`willContinue`, and the `{"status": "pending"}` of ADK); signatures.

Must not know: other formats, any rule. Neighbouring contents of one role are joined by the API
before it pairs; that is pairing's knowledge (runs), not this file's.

A signature rides on one part and stays there. That of a thought is the `sealed` of its `Reasoning`,
and so is that of a part that holds nothing else; on a call or on text it is left in the native.

Source for the fields: the types of the google-genai SDK, release 3.6.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    FINAL,
    FUNCTION,
    INTERIM,
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
)
from lockstitch.transcript import Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FORMAT"]

# `function` and `tool` are refused or old, `assistant` and `system` are mistakes; all are read.
_ROLES = {
    "user": USER,
    "function": USER,
    "tool": USER,
    "model": ASSISTANT,
    "assistant": ASSISTANT,
    "system": SYSTEM,
}
_PLAIN = {
    USER: USER_FACTS,
    ASSISTANT: ASSISTANT_FACTS,
    SYSTEM: SYSTEM_FACTS,
    OTHER: OTHER_FACTS,
}

# What the key of a part says its value is; anything else is unknown.
_UNKNOWN, _TEXT, _MEDIA, _CALL, _RESPONSE = "unknown", "text", "media", "call", "response"
_CODE, _OUTCOME, _TOOL_CALL, _TOOL_RESPONSE = "code", "outcome", "tool call", "tool response"
_KINDS = {
    "text": _TEXT,
    "inlineData": _MEDIA,
    "inline_data": _MEDIA,
    "fileData": _MEDIA,
    "file_data": _MEDIA,
    "functionCall": _CALL,
    "function_call": _CALL,
    "functionResponse": _RESPONSE,
    "function_response": _RESPONSE,
    "executableCode": _CODE,
    "executable_code": _CODE,
    "codeExecutionResult": _OUTCOME,
    "code_execution_result": _OUTCOME,
    "toolCall": _TOOL_CALL,
    "tool_call": _TOOL_CALL,
    "toolResponse": _TOOL_RESPONSE,
    "tool_response": _TOOL_RESPONSE,
}
# Keys that say something about a part and hold nothing of it.
_ABOUT = frozenset(
    {
        "thought",
        "thoughtSignature",
        "thought_signature",
        "videoMetadata",
        "video_metadata",
        "mediaResolution",
        "media_resolution",
        "partMetadata",
        "part_metadata",
    }
)
# The family of each kind that calls or answers. What the provider runs pairs as well: its two
# halves may stand in neighbouring contents.
_CALLS = {_CALL: FUNCTION, _CODE: "code_execution", _TOOL_CALL: "server"}
# Calls by which Google's ADK asks a person: their names in its `flows/llm_flows/functions.py`.
_PERSON = frozenset({"adk_request_confirmation", "adk_request_credential", "adk_request_input"})
_PREFIX = b"adk_request_"
_RESULTS = {_RESPONSE: FUNCTION, _OUTCOME: "code_execution", _TOOL_RESPONSE: "server"}
# How other formats name the type of a part; no part here has any of these keys.
_FOREIGN = ("type", "kind", "part_kind")


def facts(native: Any) -> Facts:
    """Return the facts of one content."""
    content = native if type(native) is dict else mapping(native)
    links: list[Link] = []
    count = answers = thoughts = 0
    for piece in _pieces(content.get("parts")):
        count += 1
        part = piece if type(piece) is dict else blocks_of((piece,))[0]
        kind, value = _read(part)
        if kind in _CALLS:
            link_id, name = identifier(value.get("id")), _name(value)
            state = INTERIM if name in _PERSON else FINAL
            links.append(Link(CALL, _CALLS[kind], link_id, name, None, state))
        elif kind in _RESULTS:
            answers += 1
            link_id, state = identifier(value.get("id")), _state(kind, value)
            links.append(Link(RESULT, _RESULTS[kind], link_id, _name(value), None, state))
        elif _is_thought(part, kind, value):
            thoughts += 1
    role = _role(content.get("role"), spoken=answers < len(links) or thoughts > 0)
    if links:
        if role == USER and answers == count:
            role = TOOL
        return facts_with(role, tuple(links))
    if role == ASSISTANT and 0 < thoughts == count:
        return Facts(ASSISTANT, reasoning=True)
    return _PLAIN[role]


def asks(native: Any) -> bool:
    """Tell whether a content asks a person for something, at the least cost."""
    if isinstance(native, msgspec.Raw) and _PREFIX not in bytes(native):
        return False
    read = map(_read, blocks_of(_pieces(mapping(native).get("parts"))))
    return any(kind in _CALLS and _name(value) in _PERSON for kind, value in read)


def _role(role: Any, *, spoken: bool) -> str:
    """Tell who speaks; a content without a role is the user's unless only a model says such."""
    if role is None:
        return ASSISTANT if spoken else USER
    return _ROLES.get(role, OTHER) if isinstance(role, str) else OTHER


def _pieces(parts: Any) -> Sequence[Any]:
    """Return the parts as a list; the API and the SDKs take a single one without."""
    if isinstance(parts, (list, tuple)):
        return parts
    return () if parts is None else (parts,)


def _read(part: Mapping[str, Any]) -> tuple[str, Any]:
    """Say what a part holds: a kind and its value, or unknown and the name of the key.

    Null is absent: the SDK's dumps name every field of a part.
    """
    text: Any = None
    unknown = ""
    for key, value in part.items():
        if value is None:
            continue
        kind = _KINDS.get(key)
        if kind == _TEXT:
            text = value
        elif kind is not None:
            held = _object(value)
            if held is not None and not (kind == _CALL and _is_fragment(held)):
                return kind, held
            unknown = unknown or key
        elif key not in _ABOUT:
            unknown = unknown or key
    if text is None and unknown:
        return _UNKNOWN, unknown
    return _TEXT, text


def _object(value: Any) -> Mapping[str, Any] | None:
    if type(value) is dict or isinstance(value, Mapping):
        return value
    return mapping(value) if hasattr(value, "model_dump") else None


def _is_fragment(call: Mapping[str, Any]) -> bool:
    """Tell whether a call is a further piece of a streamed one, which alone has a name."""
    named = _name(call) or identifier(call.get("id"))
    return not named and not call.get("args")


def _name(value: Mapping[str, Any]) -> str | None:
    name = value.get("name") or value.get("toolType") or value.get("tool_type")
    return str(getattr(name, "value", name)) if name else None


def _state(kind: str, value: Mapping[str, Any]) -> str:
    """Tell a last answer from one that says the call still runs."""
    if kind != _RESPONSE:
        return FINAL
    response = _object(value.get("response"))
    pending = response is not None and response.get("status") == "pending"
    more = value.get("willContinue") or value.get("will_continue")
    return INTERIM if pending or more else FINAL


def _signature(part: Mapping[str, Any]) -> str | None:
    """Return the signature as it is written in JSON; the SDK's objects hold its bytes."""
    signature = part.get("thoughtSignature") or part.get("thought_signature")
    if isinstance(signature, bytes):
        return urlsafe_b64encode(signature).decode()
    return str(signature) if signature else None


def _is_thought(part: Mapping[str, Any], kind: str, value: Any) -> bool:
    if part.get("thought") and kind in {_TEXT, _MEDIA}:
        return True
    return kind == _TEXT and not value and _signature(part) is not None


def parts(native: Any) -> tuple[Part, ...]:
    """Return the parts of one content."""
    held = mapping(native).get("parts")
    listed = isinstance(held, (list, tuple))
    return tuple(
        _part(part, f"parts[{index}]" if listed else "parts")
        for index, part in enumerate(blocks_of(_pieces(held)))
    )


def _part(part: Mapping[str, Any], path: str) -> Part:
    kind, value = _read(part)
    if _is_thought(part, kind, value):
        text = value if isinstance(value, str) else ""
        return Reasoning(text, _signature(part), path=path)
    if kind == _TEXT:
        if value is None:
            return Opaque("empty", part, path)
        return Text(value if isinstance(value, str) else str(value), path)
    if kind == _MEDIA:
        return _media(value, path)
    if kind in _CALLS:
        arguments = value.get("args", value.get("code"))
        return ToolCall(
            _CALLS[kind],
            identifier(value.get("id")),
            _name(value),
            arguments,
            path,
            waits=_name(value) in _PERSON,
        )
    if kind in _RESULTS:
        return ToolResult(
            _RESULTS[kind],
            identifier(value.get("id")),
            _answer(value),
            _name(value),
            path,
            is_error=value.get("outcome") in {"OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED"},
            state=_state(kind, value),
        )
    return Opaque(value, part, path)


def _answer(value: Mapping[str, Any]) -> Any:
    """Return what was answered; pictures and files stand beside the response."""
    response = value.get("response", value.get("output"))
    beside = value.get("parts")
    return [response, *beside] if isinstance(beside, (list, tuple)) and beside else response


def _media(value: Mapping[str, Any], path: str) -> Media:
    media_type = value.get("mimeType") or value.get("mime_type")
    kind = str(media_type).partition("/")[0] if media_type else "file"
    data = value.get("data")
    if isinstance(data, bytes):
        encoded = -(-len(data) // 3) * 4
    else:
        encoded = len(data) if isinstance(data, str) else 0
    return Media("document" if kind in {"application", "text"} else kind, media_type, encoded, path)


def evidence(native: Any) -> int:
    """Say how strongly one content speaks for this format."""
    content = native if type(native) is dict else mapping(native)
    role = content.get("role")
    if not (role is None or (isinstance(role, str) and role in _ROLES)):
        return NO
    if any(key in content for key in ("content", *_FOREIGN)):
        return NO
    of_model = role == "model"
    if content.get("parts") is None:
        return LIKELY if of_model and content.keys() <= {"role", "parts"} else NO
    strength = LIKELY if of_model else FITS
    for piece in _pieces(content["parts"]):
        if isinstance(piece, str):
            strength = max(strength, LIKELY)
            continue
        part = _object(piece)
        if part is None or any(part.get(key) is not None for key in _FOREIGN):
            return NO
        kind, value = _read(part)
        if kind == _TEXT:
            if value is not None:
                strength = max(strength, DEFINITE if of_model else LIKELY)
        elif kind in _CALLS or kind in _RESULTS or kind == _MEDIA:
            strength = DEFINITE
    return strength


FORMAT = Format(
    name="gemini",
    title="Gemini generateContent",
    keys=("contents",),
    facts=facts,
    parts=parts,
    evidence=evidence,
    system_keys=("systemInstruction", "system_instruction"),
    joins=True,
    asks=asks,
)
