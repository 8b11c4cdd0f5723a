"""How Gemini contents are written: roles user and model, parts under camel or snake case.

A made part follows the spelling of the message that it answers.

Must not know: other formats, any rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import blocks_of, mapping
from lockstitch.transcript import Reasoning
from lockstitch.writing.base import Fields, Writer, edited, inside, text_of, without

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lockstitch.transcript import Part, ToolCall, ToolResult

__all__ = ["WRITER"]

_SNAKE = "system_instruction"
_CALL = ("functionCall", "function_call")
_RESPONSE = ("functionResponse", "function_response")


class GeminiWriter(Writer):
    """Gemini contents."""

    packed = True
    key = "parts"
    system = "systemInstruction"

    def blocks(self, fields: Mapping[str, Any]) -> list[Any]:
        """Return the parts as a list; a single one may stand without."""
        held = fields.get("parts")
        if held is None:
            return []
        return list(blocks_of(held if isinstance(held, (list, tuple)) else (held,)))

    def instructed(self, context: Mapping[str, Any], text: str) -> Fields:
        """Return the fields around the list; the SDK keeps the instruction in its `config`."""
        config = context.get("config")
        if config is not None:
            return {
                "config": {**mapping(config), **self._instructed(mapping(config), text, _SNAKE)}
            }
        return self._instructed(context, text, _SNAKE if _SNAKE in context else self.system)

    def _instructed(self, fields: Mapping[str, Any], text: str, key: str) -> Fields:
        held = fields.get(key)
        return {key: self.with_instruction(held, text) if held else self.instruction(text)}

    def instruction(self, text: str) -> Any:
        """Make a content of one part."""
        return {"parts": [self.text(text)]}

    def with_instruction(self, held: Any, text: str) -> Any:
        """Add to an instruction: text, a content, or a list of parts."""
        if isinstance(held, (str, list)):
            return super().with_instruction(held, text)
        return self.with_blocks(mapping(held), [*self.blocks(mapping(held)), self.text(text)])

    def text(self, text: str) -> Any:
        """Make a part of text."""
        return {"text": text}

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a content of text."""
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}

    def with_text(self, fields: Mapping[str, Any], text: str) -> Fields:
        """Set the parts to one of text."""
        return {**fields, "parts": [{"text": text}]}

    def thoughtless(self, fields: Fields, parts: Sequence[Part]) -> Fields:
        """Leave the words of thoughts out; a signature stays, since it must be handed back."""
        kept: list[Any] = []
        for block, part in zip(self.blocks(fields), parts, strict=True):
            if not isinstance(part, Reasoning):
                kept.append(block)
            elif part.sealed:
                kept.append({**mapping(block), "text": ""})
        return {**fields, "parts": kept}

    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make a function response that says the error; what the provider runs has none."""
        if call.family != "function" or call.name is None:
            return None
        response: Fields = {"name": call.name, "response": {"error": text}}
        if call.id is not None:
            response["id"] = call.id
        snake = like is not None and _spelled(mapping(like), call.path) == _CALL[1]
        return {_RESPONSE[snake]: response}

    def together(self, first: Any, second: Any) -> Any:
        """Make one response of two: both, in order."""
        return first if first == second or not second else {"results": [first, second]}

    def names(self, call: ToolCall) -> bool:
        """Whether a call is given an id; here name and order tell which it is."""
        return False

    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a response another id."""
        return edited(fields, f"{part.path}.{_spelled(fields, part.path)}.id", id)

    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""
        return edited(fields, f"{part.path}.{_spelled(fields, part.path)}.name", name)

    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""
        return edited(fields, f"{part.path}.{_spelled(fields, part.path)}.args", arguments)

    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a response another content."""
        key = _spelled(fields, part.path)
        return edited(fields, f"{part.path}.{key}.response", content)

    def cleared(self, fields: Mapping[str, Any], part: ToolResult, text: str) -> Fields | None:
        """Put a text under the key that the response has, and take its media out."""
        held = mapping(inside(fields, part.path))[_spelled(fields, part.path)]
        response = mapping(mapping(held).get("response") or {})
        key = next((key for key in ("error", "output") if key in response), "result")
        cleared = self.result(fields, part, {key: text})
        count = len(self.shown(cleared, part))
        return self.unshown(cleared, part, dict.fromkeys(range(count))) if count else cleared

    def shown(self, fields: Mapping[str, Any], part: ToolResult) -> Sequence[Any]:
        """Return the media of a response, which stand beside what it says."""
        held = inside(fields, part.path)
        spelled = next((key for key in _RESPONSE if held.get(key)), None)
        return mapping(held[spelled]).get("parts") or () if spelled else ()

    def unshown_word(self, text: str) -> Any:
        """Put nothing in the place of media: no words may stand among them."""
        return None

    def unshown(
        self, fields: Mapping[str, Any], part: ToolResult, words: Mapping[int, Any]
    ) -> Fields:
        """Take media out of a response."""
        path = f"{part.path}.{_spelled(fields, part.path)}.parts"
        gone = [f"{path}[{place}]" for place in words]
        return without(fields, gone if len(gone) < len(self.shown(fields, part)) else [path])

    def content_blocks(self, content: Any) -> list[Any]:
        """Return a response as parts that a user content may hold."""
        return [] if content is None else [self.text(text_of(content))]


def _spelled(fields: Mapping[str, Any], path: str) -> str:
    """Return the key under which a part has its call or response."""
    part = mapping(inside(fields, path))
    return next(key for key in (*_CALL, *_RESPONSE) if part.get(key) is not None)


WRITER = GeminiWriter()
