"""Messages: symfonic's typed messages, in from LangChain's and out to them again.

Knows: the contract of `symfonic.agent.cutover.messages`, which fields of a message reach a model
although the typed message has none for them, and which results are named after their call.

Must not know: how a cut is decided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from lockstitch.errors import FormatError, MissingExtra
from lockstitch.formats import get_format
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.integrations.symfonic.history_trim import (
    log_history_trim,
    pair_aware_history_slice,
)
from lockstitch.integrations.symfonic.reading import fields_of, is_langchain, read
from lockstitch.pairing import pair
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.langchain import WRITER

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = [
    "STOCK_HISTORY_CAP",
    "CheckpointHistory",
    "Message",
    "ReplayedMessage",
    "as_kernel_history",
    "as_legacy_messages",
    "history_cap",
    "named_tool_messages",
    "to_langchain",
]

STOCK_HISTORY_CAP: Final = 200
"""The default of `AgentConfig.max_conversation_messages` in symfonic-core 9.12.0."""

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
        additional_kwargs: what else adapters may send: reasoning, a refusal, a developer's role.

    >>> ReplayedMessage("user", "a cat?", blocks=[{"type": "text", "text": "a cat?"}]).content
    'a cat?'
    """

    blocks: Sequence[Any] | None = None
    tool_name: str | None = None
    name: str | None = None
    status: str | None = None
    invalid_tool_calls: tuple[Mapping[str, Any], ...] = ()
    additional_kwargs: Mapping[str, Any] | None = None


class CheckpointHistory(tuple[Any, ...]):
    """Messages of a checkpoint: their first turn was cut to the cap, so they are not cut again.

    >>> len(as_kernel_history(CheckpointHistory([("user", "1"), ("ai", "2")]), cap=1))
    2
    """

    __slots__ = ()


def history_cap(stated: Any) -> int:
    """Return the cap that somebody stated, or the stock cap where none was.

    Args:
        stated: a whole number, 0 and less included, which keep nothing; anything else (`None`,
            `True`, a float, text) states none.

    >>> history_cap(12), history_cap(0), history_cap(None), history_cap(True)
    (12, 0, 200, 200)
    """
    if isinstance(stated, int) and not isinstance(stated, bool):
        return stated
    return STOCK_HISTORY_CAP


def as_kernel_history(history: Any, *, cap: int) -> tuple[Message, ...]:
    """Cut a history to a cap and make typed messages of what stays, in the order it has.

    Lost are each message's `id`, `response_metadata` and `artifact`, and the chunks of a streamed
    message. Adapters send none of them, with one exception: where LangChain wrote
    `output_version="v1"` into `response_metadata`, they read from it in which form the blocks are.

    Args:
        history: messages as for `pair_aware_history_slice`; a `CheckpointHistory` is neither cut
            nor logged; nothing at all gives nothing.
        cap: the most messages.

    Returns:
        A `Message` for each, a `ReplayedMessage` where there is more to it, and always of a tool's.

    Raises:
        TypeError: the cap is no whole number, or the history no list of messages.
        FormatError: something in it is no message, or one that has no place here.

    >>> [message.content for message in as_kernel_history([("user", "1"), ("ai", "2")], cap=1)]
    ['2']
    """
    if isinstance(history, CheckpointHistory):
        return tuple(_typed(native, at) for at, native in enumerate(history))
    if not history:
        return ()
    messages = list(history)
    log_history_trim(messages, cap)
    retained = pair_aware_history_slice(messages, cap)
    first = len(messages) - len(retained)
    return tuple(_typed(native, first + at) for at, native in enumerate(retained))


def to_langchain(message: Message) -> BaseMessage:
    """Make the LangChain message that a model is shown.

    Args:
        message: a typed message. Of a replayed one the blocks are the content, where it has some.

    Raises:
        MissingExtra: langchain-core is not installed.

    >>> to_langchain(Message("user", "hi")).content
    'hi'
    """
    try:
        from langchain_core import messages as made
    except ImportError:
        raise MissingExtra("langchain", package="langchain-core") from None
    fields: dict[str, Any] = {"content": message.content}
    if isinstance(message, ReplayedMessage):
        if message.blocks is not None:
            fields["content"] = list(message.blocks)
        if message.name is not None:
            fields["name"] = message.name
        if message.additional_kwargs:
            fields["additional_kwargs"] = dict(message.additional_kwargs)
    match message.role:
        case "user":
            return made.HumanMessage(**fields)
        case "system":
            return made.SystemMessage(**fields)
        case "assistant":
            invalid = message.invalid_tool_calls if isinstance(message, ReplayedMessage) else ()
            return made.AIMessage(
                **fields,
                tool_calls=[dict(call) for call in message.tool_calls],
                invalid_tool_calls=[dict(call) for call in invalid],
                usage_metadata=message.usage,
            )
        case "tool":
            if isinstance(message, ReplayedMessage):
                fields["name"] = message.tool_name
                fields["status"] = message.status or "success"
            return made.ToolMessage(**fields, tool_call_id=message.tool_call_id or "")
        case role:
            return made.ChatMessage(**fields, role=role)


def as_legacy_messages(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Write typed messages as `model_dump` of LangChain's, with the names of tools.

    Not the way back of `as_kernel_history`: `id` and `response_metadata` are there and empty.

    Raises:
        MissingExtra: langchain-core is not installed.

    >>> as_legacy_messages([Message("user", "hi")])[0]["type"]
    'human'
    """
    typed = list(messages)
    return named_tool_messages(typed, [to_langchain(message).model_dump() for message in typed])


def named_tool_messages(
    typed: Sequence[Message], dumps: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Name the results that the kernel made itself after the calls that they answer.

    A result is paired with its call as everywhere here, so that an id which is used again names
    each result after its own call. The name of a replayed one is the caller's, `None` too.

    Args:
        typed: the messages.
        dumps: the same as dicts. They are not changed.

    Returns:
        The dicts, those of named results as copies.

    >>> asked = Message("assistant", tool_calls=({"id": "c", "name": "look", "args": {}},))
    >>> named_tool_messages([asked, Message("tool", "ok", (), "c")], [{}, {"name": None}])[1]
    {'name': 'look'}
    """
    named = [dict(dump) for dump in dumps]
    called: dict[int, list[str | None]] = {}
    for tie in pair(read(typed).facts).ties:
        message = typed[tie.message]
        if tie.call is None or message.role != "tool" or isinstance(message, ReplayedMessage):
            continue
        at = tie.call.message
        if at not in called:
            called[at] = _names(typed[at])
        named[tie.message]["name"] = called[at][tie.call.ordinal]
    return named


def _names(message: Message) -> list[str | None]:
    """Return the names of what a message asks for, in the order in which it is paired."""
    parts = get_format("langchain").parts(fields_of(message, "messages"))
    return [part.name for part in parts if isinstance(part, (ToolCall, ToolResult))]


def _typed(native: Any, at: int) -> Message:
    """Make a typed message of one of the caller's."""
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
