"""Typed messages: what they hold, and how one is made of a message of the caller's.

Knows: which fields of a message reach a model although the typed message has none for them, and the
shapes in which callers have messages.

Must not know: cuts, langchain's packages.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

import msgspec

from lockstitch.errors import FormatError
from lockstitch.formats import get_format
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.integrations.symfonic.reading import fields_of, is_langchain
from lockstitch.transcript import ToolCall
from lockstitch.writing.langchain import WRITER

__all__ = ["Message", "ReplayedMessage", "typed_message"]

# What LangChain's adapters read of `response_metadata` to write blocks.
_ORIGIN: Final = ("model_provider", "output_version")
_ROLES: Final = {"ai": "assistant", "human": "user", "system": "system", "tool": "tool"}


class Message(msgspec.Struct, frozen=True):
    """A typed message: what every reader of a conversation needs.

    It has neither an id nor `response_metadata`.

    Args:
        role: `user`, `assistant`, `system`, `tool`, or the role of a chat message.
        content: the text, always a `str`.
        tool_calls: the calls of an assistant message, each with `id`, `name` and `args`.
        tool_call_id: of a tool message, which call it answers.
        usage: the tokens that an assistant message took.

    Raises:
        TypeError: the content is no text.

    >>> Message("user", "hi").tool_calls
    ()
    """

    role: str
    content: str = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    tool_call_id: str | None = None
    usage: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.content, str):
            kind = type(self.content).__name__
            raise TypeError(f"content must be text, got {kind}: blocks go into ReplayedMessage")


class ReplayedMessage(Message, frozen=True):
    """A message of the caller's, with what a `Message` has no field for and a model is shown.

    Args:
        blocks: the content where it is a list: `content` holds its text beside it.
        tool_name: of a tool message, its name as the caller gave it, `None` included.
        name: the name of a message that is no tool's.
        status: of a tool message, whether the tool failed.
        invalid_tool_calls: calls whose arguments could not be read; adapters send them.
        additional_kwargs: what else adapters may send: reasoning, audio, a developer's role.
        origin: of blocks, `model_provider` and `output_version`. Without them adapters leave some
            reasoning blocks out.

    >>> ReplayedMessage("user", "a cat?", blocks=[{"type": "text", "text": "a cat?"}]).content
    'a cat?'
    """

    blocks: Sequence[Any] | None = None
    tool_name: str | None = None
    name: str | None = None
    status: str | None = None
    invalid_tool_calls: tuple[Mapping[str, Any], ...] = ()
    additional_kwargs: Mapping[str, Any] | None = None
    origin: Mapping[str, Any] | None = None


def typed_message(native: Any, at: int = 0) -> Message:
    """Make a typed message of one of the caller's; `at` is its position, for errors.

    Raises:
        FormatError: it is no message, or one that has no place here.

    >>> typed_message({"role": "user", "content": "hi"})
    Message(role='user', content='hi', tool_calls=(), tool_call_id=None, usage=None)
    """
    if isinstance(native, Message):
        return native
    fields = _fields(native, f"history[{at}]")
    kind = str(fields.get("type"))
    if kind.endswith("MessageChunk"):
        kind = kind.removesuffix("MessageChunk").lower()
    role = str(fields.get("role")) if kind == "chat" else _ROLES.get(kind)
    if role is None:
        _refuse(kind, f"history[{at}]")
    content = fields.get("content")
    said: dict[str, Any] = {
        "role": role,
        "content": content if isinstance(content, str) else _text(content),
        "tool_calls": tuple(map(_call, fields.get("tool_calls") or ())),
        "usage": fields.get("usage_metadata"),
    }
    beside: dict[str, Any] = {
        "blocks": list(content) if isinstance(content, (list, tuple)) else None,
        "invalid_tool_calls": tuple(map(_call, fields.get("invalid_tool_calls") or ())),
        "additional_kwargs": fields.get("additional_kwargs") or None,
    }
    metadata = fields.get("response_metadata")
    if beside["blocks"] is not None and isinstance(metadata, Mapping):
        beside["origin"] = {key: metadata[key] for key in _ORIGIN if key in metadata} or None
    if role == "tool":
        answered = fields.get("tool_call_id")
        said["tool_call_id"] = None if answered is None else str(answered)
        beside |= {"tool_name": fields.get("name"), "status": fields.get("status") or "success"}
    else:
        beside["name"] = fields.get("name")
    if role != "tool" and not any(value for value in beside.values()) and beside["blocks"] is None:
        return Message(**said)
    return ReplayedMessage(**said, **beside)


def _fields(native: Any, where: str) -> Mapping[str, Any]:
    """Return the fields of a message as LangChain names them."""
    if is_langchain(native):
        return {"type": native.type, **vars(native)}
    if not isinstance(native, (Mapping, msgspec.Raw)) and not hasattr(native, "model_dump"):
        return fields_of(native, where)
    message = mapping(native)
    if "role" in message and message.get("type") in {None, "message"}:
        return _of_chat(message, where)
    path = message.get("id")
    named = str(path[-1]).removesuffix("Message").lower() if isinstance(path, list) else None
    fields = WRITER.fields(native)
    return {"type": fields.get("type") or message.get("type") or named, **fields}


def _of_chat(message: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Read the shape of Chat Completions, in which arguments are text."""
    fields = {**fields_of((str(message["role"]), ""), where), "content": message.get("content")}
    if message["role"] == "developer":
        fields["additional_kwargs"] = {"__openai_role__": "developer"}
    for part in get_format("openai-chat").parts(message):
        if isinstance(part, ToolCall):
            _add_call(fields, part)
    if isinstance(message.get("reasoning_content"), str):
        fields["additional_kwargs"] = {"reasoning_content": message["reasoning_content"]}
    for name in ("name", "tool_call_id"):
        if message.get(name) is not None:
            fields[name] = message[name]
    return fields


def _add_call(fields: dict[str, Any], part: ToolCall) -> None:
    arguments = part.arguments
    call = {"id": part.id, "name": part.name or "", "args": arguments}
    if isinstance(arguments, str):
        try:
            call["args"] = json.loads(arguments or "{}")
        except ValueError as error:
            call |= {"error": str(error), "type": "invalid_tool_call"}
    valid = isinstance(call["args"], Mapping)
    if valid:
        call["type"] = "tool_call"
    fields.setdefault("tool_calls" if valid else "invalid_tool_calls", []).append(call)


def _call(call: Any) -> Mapping[str, Any]:
    """Return a call as a mapping; one that is an object of no package keeps its three fields."""
    if isinstance(call, Mapping):
        return call
    return {name: getattr(call, name, None) for name in ("id", "name", "args")}


def _text(content: Any) -> str:
    if content is None:
        return ""
    if not isinstance(content, (list, tuple)):
        return str(content)
    blocks = blocks_of(content)
    return "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")


def _refuse(kind: str, where: str) -> NoReturn:
    raise FormatError(
        f"a message of the type {kind!r} has no place in a typed history: leave it out, or make it "
        "one of the user, the model, the system or a tool",
        where=where,
    )
