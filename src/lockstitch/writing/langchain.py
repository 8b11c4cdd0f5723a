"""How LangChain messages are written, in each of their shapes: objects, and three kinds of dict.

A changed object is a copy of its own class. A made message takes the shape of one of the history;
an object is made from the classes that came with that one, so nothing is imported here.

Must not know: other formats, any rule.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.formats.base import mapping
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.transcript import Part

__all__ = ["WRITER"]

_TYPES = {"user": "human", "assistant": "ai", "system": "system", "tool": "tool"}
_CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
}


class LangChainWriter(Writer):
    """LangChain messages."""

    def fields(self, native: Any) -> Fields:
        """Copy the fields of a message, wherever its shape keeps them."""
        if not isinstance(native, (dict, msgspec.Raw)):
            return dict(vars(native))
        message = mapping(native)
        return dict(message[_holder(message)] if _holder(message) else message)

    def refit(self, native: Any, fields: Mapping[str, Any]) -> Any:
        """Make a message of the same shape."""
        if not isinstance(native, (dict, msgspec.Raw)):
            copied = getattr(native, "model_copy", None) or native.copy
            return copied(update=dict(fields))
        message = mapping(native)
        holder = _holder(message)
        return super().refit(native, {**message, holder: dict(fields)} if holder else fields)

    def tidied(self, fields: Fields) -> Fields:
        """Nothing: an empty list of calls is what every message has."""
        return fields

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a message of text."""
        return _made(_TYPES[role], {"content": text}, like)

    def carrying(self, blocks: Sequence[Any], like: Any = None) -> Any:
        """Make a user message that holds blocks."""
        return _made("human", {"content": list(blocks)}, like)

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a tool message of status `error`."""
        if call.family != "function":
            return None
        fields: Fields = {"content": text, "tool_call_id": call.id or "", "status": "error"}
        if call.name is not None:
            fields["name"] = call.name
        return _made("tool", fields, like)

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id, in every place where it stands."""
        if isinstance(part, ToolResult):
            return {**fields, "tool_call_id": id}
        changed = edited(fields, f"{part.path}.id", id)
        old = part.id if isinstance(part, ToolCall) else None
        content = changed.get("content")
        if isinstance(content, list) and part.path.startswith("tool_calls"):
            changed["content"] = [_renamed_block(block, old, id) for block in content]
        return changed

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{part.path}.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.args", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""
        return {**fields, "content": content}


def _holder(message: Mapping[str, Any]) -> str:
    """Return the key under which a message in a wrapper keeps its fields."""
    if "lc" in message and "kwargs" in message:
        return "kwargs"
    return "data" if isinstance(message.get("data"), dict) and "content" not in message else ""


def _renamed_block(block: Any, old: str | None, new: str) -> Any:
    calls = isinstance(block, dict) and block.get("type") in {"tool_use", "tool_call"}
    return {**block, "id": new} if calls and block.get("id") == old else block


def _made(kind: str, fields: Fields, like: Any) -> Any:
    """Make a message of a type in the shape of another one."""
    if like is None:
        return {"type": kind, **fields}
    if not isinstance(like, (dict, msgspec.Raw)):
        return _class(_CLASSES[kind], like)(**fields)
    message = mapping(like)
    if "lc" in message and "kwargs" in message:
        path = ["langchain", "schema", "messages", _CLASSES[kind]]
        made = {**fields, "type": kind}
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": made}
    return {"type": kind, "data": fields} if _holder(message) else {"type": kind, **fields}


def _class(name: str, like: Any) -> Any:
    """Find a message class where the class of another message comes from."""
    for base in type(like).__mro__:
        package = sys.modules.get(base.__module__.rpartition(".")[0])
        found = getattr(package, name, None)
        if found is not None:
            return found
    raise TypeError(f"no {name} stands beside {type(like).__name__}")


WRITER = LangChainWriter()
