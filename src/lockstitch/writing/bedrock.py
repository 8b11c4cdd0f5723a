"""How Bedrock Converse messages are written: a block's one key is its type.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited, joined, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.transcript import Part

__all__ = ["WRITER"]

# What a result may hold that a user message may hold as well.
_SHARED = frozenset({"text", "image", "document", "video"})


class BedrockWriter(Writer):
    """Converse messages."""

    packed = True
    mixes = True
    system = "system"

    def text(self, text: str) -> Any:
        """Make a block of text."""
        return {"text": text}

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a message of text."""
        return {"role": role, "content": [{"text": text}]}

    def instruction(self, text: str) -> Any:
        """Make a list of one block."""
        return [self.text(text)]

    def with_text(self, fields: Mapping[str, Any], text: str) -> Fields:
        """Set the content to one block of text."""
        return {**fields, "content": [{"text": text}]}

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a result of status `error`; tools of the provider have none from us."""
        if call.family != "function" or call.id is None:
            return None
        held = {"toolUseId": call.id, "content": [{"text": text}], "status": "error"}
        return {"toolResult": held}

    def quoted(self, note: str, content: Any) -> list[Any]:
        """Quote a result: text and media may stand in a user message as they are."""
        blocks = content if isinstance(content, (list, tuple)) else ()
        if blocks and all(_SHARED.issuperset(block) for block in blocks):
            return [self.text(note), *blocks]
        return [self.text(joined(note, text_of(content)))]

    def defined(self, names: Sequence[str], description: str) -> tuple[str, Any]:
        """Define tools that take any input, as Converse wants them."""
        schema = {"json": {"type": "object"}}
        tools = [
            {"toolSpec": {"name": name, "description": description, "inputSchema": schema}}
            for name in names
        ]
        return "toolConfig", {"tools": tools}

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id."""
        key = "toolResult" if isinstance(part, ToolResult) else "toolUse"
        return edited(fields, f"{part.path}.{key}.toolUseId", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{part.path}.toolUse.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.toolUse.input", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content; text becomes a block."""
        content = [self.text(content)] if isinstance(content, str) else content
        return edited(fields, f"{part.path}.toolResult.content", content)


WRITER = BedrockWriter()
