"""How OpenAI Responses items are written: a call, its output and reasoning are items of their own.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.transcript import Media, Opaque, Text, ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.transcript import Part

__all__ = ["WRITER"]

# A made-up screenshot or search result would mislead the model.
_UNANSWERABLE = frozenset({"computer", "tool_search", "program"})
# By the id of an approval request or of a call that the provider ran, others refer to it.
_KNOWN_OTHERWISE = frozenset({None, "message", "function_call", "custom_tool_call"})
_ARGUMENTS = ("arguments", "input", "action", "operation", "code")


class ResponsesWriter(Writer):
    """Responses items."""

    system = "instructions"

    def whole(self, part: Part) -> bool:
        """Whether the part is the item itself; content blocks of a message are not."""
        return not isinstance(part, (Text, Media)) and not (isinstance(part, Opaque) and part.path)

    def text(self, text: str) -> Any:
        """Make a block of text of the user's."""
        return {"type": "input_text", "text": text}

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a message in its short form, which takes text under any role."""
        return {"role": role, "content": text}

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make the output item that the kind of call is answered with."""
        if call.id is None or call.hosted or call.family in _UNANSWERABLE:
            return None
        item: Fields = {"type": f"{call.family}_call_output", "call_id": call.id, "output": text}
        if call.family == "apply_patch":
            item["status"] = "failed"
        elif call.family == "local_shell":
            # The types name the call of this output in `id`.
            item = {"type": "local_shell_call_output", "id": call.id, "output": text}
        elif call.family == "shell":
            ended = {"type": "exit", "exit_code": 1}
            item["output"] = [{"stdout": "", "stderr": text, "outcome": ended}]
        return item

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or an output another id."""
        unnamed = isinstance(part, (ToolCall, ToolResult)) and part.id is None
        key = "call_id" if fields.get("call_id") or unnamed else "id"
        return {**fields, key: id}

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return {**fields, "name": name}

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        key = next(key for key in _ARGUMENTS if key in fields)
        return {**fields, key: arguments}

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give an output another content."""
        return {**fields, "output": content}

    def cleared(self, fields: Mapping[str, Any], part: ToolResult, text: str) -> Fields | None:
        """Put a text in the place of an output, in the shape that its type has."""
        if part.family in _UNANSWERABLE:
            return None
        if part.family == "shell":
            ran = part.content[-1] if isinstance(part.content, list) and part.content else {}
            ended = mapping(ran).get("outcome", {"type": "exit", "exit_code": 0})
            return self.result(fields, part, [{"stdout": text, "stderr": "", "outcome": ended}])
        return self.result(fields, part, text)

    def blocks(self, fields: Mapping[str, Any]) -> list[Any]:
        """Return the content as a list of blocks, of the kind that the role has."""
        content = fields.get("content")
        if isinstance(content, str) and content:
            kind = "output_text" if fields.get("role") == "assistant" else "input_text"
            return [{"type": kind, "text": content}]
        return super().blocks(fields)

    def merges(self, native: Any) -> bool:
        """Whether this is a message; reasoning and what the provider ran are items of their own."""
        return mapping(native).get("type") in (None, "message")

    def nameless(self, fields: Mapping[str, Any]) -> bool:
        """Whether an item is known to others by a call id, or not at all."""
        return fields.get("type") in _KNOWN_OTHERWISE

    def says_nothing(self, parts: Sequence[Part]) -> bool:
        """Whether an item of these parts has nothing to say."""
        return not parts or super().says_nothing(parts)


WRITER = ResponsesWriter()
