"""How LangChain messages are written, in each of their shapes: objects, and three kinds of dict.

A call stands in several places of its message: in `tool_calls`, as a block of the content, in the
provider's own form under `additional_kwargs`, in the chunks of a stream. Adapters read whichever
they like, so a change is made in all of them. A changed object is a copy of its own class. A made
message takes the shape of one of the history; an object is made from the classes that came with
that one, so nothing is imported here.

Must not know: other formats, any rule.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.formats.base import mapping
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited, inside, without

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
            copied = getattr(native, "model_copy", None) or getattr(native, "copy", None)
            if copied is not None:
                return copied(update=dict(fields))
            made = object.__new__(type(native))
            vars(made).update({**vars(native), **fields})
            return made
        message = mapping(native)
        holder = _holder(message)
        return super().refit(native, {**message, holder: dict(fields)} if holder else fields)

    def twins(self, fields: Mapping[str, Any], path: str) -> list[str]:
        """Return the other places in which the call at a path stands."""
        key, _, _ = path.partition("[")
        if key not in _STATED:
            return []
        called = inside(fields, path)
        same = [at for at in _stated(fields) if _id(inside(fields, at)) == _id(called)]
        number = same.index(path)
        found = [
            [at for at in places if _id(inside(fields, at)) == _id(called)]
            for places in _copies(fields)
        ]
        return [places[number] for places in found if number < len(places)]

    def tidied(self, fields: Fields) -> Fields:
        """Take an emptied list of the provider's own calls away.

        The list of calls itself stays: an empty one is what every message has.
        """
        extra = fields.get("additional_kwargs")
        if isinstance(extra, dict) and extra.get("tool_calls") == []:
            return without(fields, ["additional_kwargs.tool_calls"])
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
        return self._set(
            fields, part.path, id, lambda held: "call_id" if "call_id" in held else "id"
        )

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name, in every place where it stands."""
        return self._set(fields, part.path, name, lambda held: f"{_inner(held)}name")

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments, as text or as an object as each place has them."""
        return self._set(fields, part.path, arguments, _arguments)

    def _set(
        self, fields: Mapping[str, Any], path: str, value: Any, key: Callable[[Fields], str]
    ) -> Fields:
        changed = dict(fields)
        for place in (path, *self.twins(fields, path)):
            at = f"{place}.{key(dict(mapping(inside(changed, place))))}"
            changed = edited(changed, at, _as_before(value, changed, at))
        return changed

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""
        return {**fields, "content": content}


def _holder(message: Mapping[str, Any]) -> str:
    """Return the key under which a message in a wrapper keeps its fields."""
    if "lc" in message and "kwargs" in message:
        return "kwargs"
    return "data" if isinstance(message.get("data"), dict) and "content" not in message else ""


_STATED = ("tool_calls", "invalid_tool_calls")
_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})


def _stated(fields: Mapping[str, Any]) -> list[str]:
    return [f"{key}[{at}]" for key in _STATED for at in range(len(fields.get(key) or ()))]


def _copies(fields: Mapping[str, Any]) -> list[list[str]]:
    """List the places of calls beside `tool_calls`: blocks, the provider's form, chunks."""
    content, extra = fields.get("content"), fields.get("additional_kwargs")
    blocks = content if isinstance(content, list) else ()
    own = (extra.get("tool_calls") if isinstance(extra, dict) else None) or ()
    return [
        [
            f"content[{at}]"
            for at, block in enumerate(blocks)
            if isinstance(block, dict) and block.get("type") in _BLOCKS
        ],
        [f"additional_kwargs.tool_calls[{at}]" for at in range(len(own))],
        [f"tool_call_chunks[{at}]" for at in range(len(fields.get("tool_call_chunks") or ()))],
    ]


def _id(call: Any) -> Any:
    held = mapping(call)
    return held.get("call_id") or held.get("id")


def _inner(held: Mapping[str, Any]) -> str:
    """Return the step to what holds name and arguments."""
    return "function." if isinstance(held.get("function"), Mapping) else ""


def _arguments(held: Mapping[str, Any]) -> str:
    step = _inner(held)
    inner = held["function"] if step else held
    return step + next(key for key in ("args", "input", "arguments") if key in inner)


def _as_before(value: Any, fields: Mapping[str, Any], path: str) -> Any:
    """Write a value as text where text stood, as an object where an object did."""
    held = inside(fields, path)
    if isinstance(held, Mapping) and isinstance(value, str):
        return json.loads(value)
    if isinstance(held, str) and isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    return value


def _made(kind: str, fields: Fields, like: Any) -> Any:
    """Make a message of a type in the shape of another one."""
    if like is None:
        return {"type": kind, **fields}
    if not isinstance(like, (dict, msgspec.Raw)):
        made = _class(_CLASSES[kind], like)
        return {"type": kind, **fields} if made is None else made(**fields)
    message = mapping(like)
    if "lc" in message and "kwargs" in message:
        path = ["langchain", "schema", "messages", _CLASSES[kind]]
        made = {**fields, "type": kind}
        return {"lc": 1, "type": "constructor", "id": path, "kwargs": made}
    return {"type": kind, "data": fields} if _holder(message) else {"type": kind, **fields}


def _class(name: str, like: Any) -> Any:
    """Find a message class where the class of another message comes from, `None` if not there."""
    for base in type(like).__mro__:
        package = sys.modules.get(base.__module__.rpartition(".")[0])
        found = getattr(package, name, None)
        if found is not None:
            return found
    return None


WRITER = LangChainWriter()
