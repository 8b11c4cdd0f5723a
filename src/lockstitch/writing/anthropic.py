"""How Anthropic messages are written: results are blocks at the head of a user message.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing.base import Fields, Writer, edited, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockstitch.transcript import Part

__all__ = ["WRITER"]

# What a result may hold that a user message may hold as well; a `tool_reference` may not.
_SHARED = frozenset({"text", "image", "document", "search_result"})


class AnthropicWriter(Writer):
    """Anthropic messages."""

    packed = True
    mixes = True
    system = "system"

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a `tool_result`; results of the provider's own tools are encrypted, so none."""
        if call.family != "function" or call.id is None:
            return None
        return {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": True}

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id."""
        key = "tool_use_id" if isinstance(part, ToolResult) else "id"
        return edited(fields, f"{part.path}.{key}", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{part.path}.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.input", arguments)

    def quoted(self, note: str, content: Any) -> list[Any]:
        """Quote a result: what a user message may hold as well stays as it is."""
        if isinstance(content, (list, tuple)):
            blocks = self.content_blocks(content)
            return [
                self.text(note),
                *(one if _shared(one) else self.text(text_of(one)) for one in blocks),
            ]
        return super().quoted(note, content)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""
        return edited(fields, f"{part.path}.content", content)


def _shared(block: Any) -> bool:
    return mapping(block).get("type") in _SHARED


WRITER = AnthropicWriter()
