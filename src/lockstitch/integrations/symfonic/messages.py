"""Messages: symfonic's typed messages, in from LangChain's and out to them again.

Knows: the contract of `symfonic.agent.cutover.messages`, and which results are named after their
call.

Must not know: how a cut is decided, how a typed message is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import MissingExtra
from lockstitch.formats import get_format
from lockstitch.integrations.symfonic.history_trim import (
    log_history_trim,
    pair_aware_history_slice,
)
from lockstitch.integrations.symfonic.reading import fields_of, read
from lockstitch.integrations.symfonic.typed import Message, ReplayedMessage, typed_message
from lockstitch.pairing import pair
from lockstitch.transcript import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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

    Lost are each message's `id` and `artifact`, the chunks of a streamed message, and
    `response_metadata` but for what tells adapters in which form blocks are. A model that goes on
    from `response_metadata["id"]` or `["container"]` starts anew.

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
        return tuple(typed_message(native, at) for at, native in enumerate(history))
    if not history:
        return ()
    messages = list(history)
    log_history_trim(messages, cap)
    retained = pair_aware_history_slice(messages, cap)
    first = len(messages) - len(retained)
    return tuple(typed_message(native, first + at) for at, native in enumerate(retained))


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
        if message.origin:
            fields["response_metadata"] = dict(message.origin)
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
    dumps = [to_langchain(message).model_dump() for message in typed]
    return named_tool_messages(typed, [{**dump, "response_metadata": {}} for dump in dumps])


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
