"""How messages of agent-framework are written: results are contents of a message of role `tool`.

A changed object is made anew by its own class, which takes the dicts of contents; so nothing is
imported here. What the provider's SDK returned (`raw_representation`) tells of the message as it
was, and does not go along.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.formats.base import mapping
from lockstitch.writing.base import Fields, Writer, edited, inside, text_of, without

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.transcript import Part, ToolCall, ToolResult

__all__ = ["WRITER"]

_FIELDS = ("role", "contents", "author_name", "message_id", "additional_properties")
# Where a result of each kind keeps what it says; a screenshot or a picture takes no text.
_SAID = {
    "function_result": "result",
    "search_tool_result": "result",
    "mcp_server_tool_result": "output",
    "code_interpreter_tool_result": "outputs",
    "shell_tool_result": "outputs",
}
_RESULTS = frozenset({*_SAID, "computer_tool_result", "image_generation_tool_result"})


class AgentFrameworkWriter(Writer):
    """Messages of agent-framework."""

    packed = True
    key = "contents"

    def fields(self, native: Any) -> Fields:
        """Copy the fields of a message; of an object, those that its class takes."""
        held = getattr(native, "__dict__", None)
        if isinstance(held, dict) and "contents" in held:
            return {key: held[key] for key in _FIELDS if held.get(key) is not None}
        return dict(mapping(native))

    def refit(self, native: Any, fields: Mapping[str, Any]) -> Any:
        """Make a message of the same kind."""
        return super().refit(native, fields) if _is_plain(native) else type(native)(**fields)

    def with_blocks(self, fields: Mapping[str, Any], blocks: Sequence[Any]) -> Fields:
        """Set the contents; what is left of a tool's message without its results is told."""
        told = super().with_blocks(fields, blocks)
        if fields.get("role") == "tool" and not any(map(_is_result, blocks)):
            return {**told, "role": "user"}
        return told

    def with_text(self, fields: Mapping[str, Any], text: str) -> Fields:
        """Set the contents to a text."""
        return self.with_blocks(fields, [self.text(text)])

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a message of text."""
        return _made(role, [self.text(text)], like)

    def carrying(self, blocks: Sequence[Any], like: Any = None) -> Any:
        """Make a message that holds contents: a tool's where they are results, else a user's."""
        return _made("tool" if any(map(_is_result, blocks)) else "user", blocks, like)

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a result that failed; results of the provider's own tools are its own, so none."""
        if call.family != "function" or call.id is None:
            return None
        made = {"type": "function_result", "call_id": call.id, "result": text}
        if call.alias is not None:
            made["id"] = call.alias
        return {**made, "items": [self.text(text)], "exception": text}

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id; a request and a decision embed that of their call."""
        held = inside(fields, part.path)
        if mapping(held).get("function_call") is not None:
            return edited(fields, f"{part.path}.function_call.call_id", id)
        key = "image_id" if mapping(held).get("image_id") else "call_id"
        return edited(fields, f"{part.path}.{key}", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        key = "tool_name" if mapping(inside(fields, part.path)).get("tool_name") else "name"
        return edited(fields, f"{part.path}.{key}", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.arguments", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content; the items beside a text say the same as the text."""
        held = mapping(inside(fields, part.path))
        kind = held.get("type")
        if kind == "text":
            return edited(fields, f"{part.path}.text", text_of(content))
        key = _SAID.get(str(kind), "outputs")
        if key != "result":
            return edited(fields, f"{part.path}.{key}", content)
        listed = isinstance(content, (list, tuple))
        changed = edited(fields, f"{part.path}.result", text_of(content) if listed else content)
        if not listed and "items" not in held:
            return changed
        items = self.content_blocks(content)
        return edited(changed, f"{part.path}.items", items)

    def cleared(self, fields: Mapping[str, Any], part: ToolResult, text: str) -> Fields | None:
        """Put a text in the place of all that a result says, `None` where it takes none."""
        kind = mapping(inside(fields, part.path)).get("type")
        if kind not in _SAID and kind != "text":
            return None
        said: Any = text
        if kind == "shell_tool_result":
            said = [{"type": "shell_command_output", "stdout": text}]
        elif kind == "code_interpreter_tool_result":
            said = [self.text(text)]
        changed = self.result(fields, part, said)
        return without(changed, [f"{part.path}.annotations"])


def _is_plain(native: Any) -> bool:
    return isinstance(native, (dict, msgspec.Raw)) or not hasattr(native, "contents")


def _is_result(block: Any) -> bool:
    return not isinstance(block, str) and mapping(block).get("type") in _RESULTS


def _made(role: str, blocks: Sequence[Any], like: Any) -> Any:
    """Make a message of the kind that another one of the history is."""
    if like is not None and not _is_plain(like):
        return type(like)(role, list(blocks))
    return {"type": "message", "role": role, "contents": list(blocks)}


WRITER = AgentFrameworkWriter()
