"""How OpenAI Chat messages are written: a result is a message of role `tool`.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited, inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstitch.transcript import Part

__all__ = ["WRITER"]


class ChatWriter(Writer):
    """Chat messages."""

    def tidied(self, fields: Fields) -> Fields:
        """Take an emptied list of calls away."""
        if fields.get("tool_calls") == []:
            del fields["tool_calls"]
        return fields

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a tool message; this format has no mark for errors."""
        if call.id is None:
            return {"role": "function", "name": call.name, "content": text}
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    def names(self, call: ToolCall) -> bool:
        """Whether a call can be given an id; the one call of the older form has none."""
        return call.path.startswith("tool_calls")

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id."""
        if isinstance(part, ToolResult):
            return {**fields, "tool_call_id": id}
        return edited(fields, f"{part.path}.id", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{_called(fields, part)}.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        at = _called(fields, part)
        held = inside(fields, at)
        key = next(key for key in ("arguments", "input", "args") if key in held)
        return edited(fields, f"{at}.{key}", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""
        return {**fields, "content": content}


def _called(fields: Mapping[str, Any], part: ToolCall) -> str:
    """Return the path of what holds the name and the arguments of a call."""
    entry = inside(fields, part.path)
    inner = next((key for key in ("function", "custom") if entry.get(key) is not None), None)
    return f"{part.path}.{inner}" if inner else part.path


WRITER = ChatWriter()
