"""How Mistral messages are written: as Chat's, and a result names its tool.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstitch.transcript import Part

__all__ = ["WRITER"]


class MistralWriter(Writer):
    """Mistral messages."""

    def fields(self, native: Any) -> Fields:
        """Copy the fields; an object of the SDK has its role among the defaults."""
        dump = getattr(native, "model_dump", None)
        if type(native) is not dict and callable(dump):
            return dict(mapping(dump(exclude_none=True)))
        return super().fields(native)

    def tidied(self, fields: Fields) -> Fields:
        """Take an emptied list of calls away."""
        if fields.get("tool_calls") == []:
            del fields["tool_calls"]
        return fields

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a tool message; this format has no mark for errors."""
        message: Fields = {"role": "tool", "content": text}
        if call.id is not None:
            message["tool_call_id"] = call.id
        if call.name is not None:
            message["name"] = call.name
        return message

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id."""
        if isinstance(part, ToolResult):
            return {**fields, "tool_call_id": id}
        return edited(fields, f"{part.path}.id", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{part.path}.function.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.function.arguments", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""
        return {**fields, "content": content}


WRITER = MistralWriter()
