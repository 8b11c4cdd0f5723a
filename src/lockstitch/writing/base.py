"""Writing: how a message is changed without touching it, and what a repair adds in one format.

Knows: how to make a copy of a message with a part taken out, put in or rewritten, whatever it came
as: a mapping, raw JSON, an SDK object. Paths are those of parts (`content[1]`, `tool_calls[0]`).

Must not know: why something is changed, any rule, any one format; each format brings a `Writer`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from lockstitch.document.base import encoded
from lockstitch.errors import FormatError
from lockstitch.facts import FUNCTION
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.transcript import Part, Reasoning, Text, ToolCall, ToolResult

__all__ = ["Fields", "Writer", "edited", "first_path", "inside", "joined", "text_of", "without"]

Fields = dict[str, Any]

_NOTHING = object()
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Writer(ABC):
    """How one format is written. A method takes the fields of a message and gives new ones.

    `packed` formats hold results as blocks of a user message; in the others a result is a message
    of its own. `mixes`: a user message may hold results and other things. `key` is the field that
    holds the blocks. `system` is the field of a request that holds instructions outside the list,
    empty where they stand in it.
    """

    packed = False
    mixes = False
    key = "content"
    system = ""

    # --- one message -----------------------------------------------------------------------------

    def fields(self, native: Any) -> Fields:
        """Copy the fields of a message; what they hold is shared and must not be changed."""
        return dict(mapping(native))

    def refit(self, native: Any, fields: Mapping[str, Any]) -> Any:
        """Make a message of the same kind from changed fields.

        Raw JSON stays raw JSON; an SDK object becomes a mapping, which every SDK takes.
        """
        return msgspec.Raw(encoded(dict(fields))) if isinstance(native, msgspec.Raw) else fields

    def blocks(self, fields: Mapping[str, Any]) -> list[Any]:
        """Return the content as a list of blocks; text becomes a block of text."""
        content = fields.get(self.key)
        if isinstance(content, str):
            return [self.text(content)] if content else []
        if content and not isinstance(content, (list, tuple)):
            found = type(content).__name__
            raise FormatError(f"{self.key} must be text or a list of blocks, found {found}")
        return list(blocks_of(content)) if content else []

    def with_blocks(self, fields: Mapping[str, Any], blocks: Sequence[Any]) -> Fields:
        """Set the content to a list of blocks."""
        return {**fields, self.key: list(blocks)}

    def whole(self, part: Part) -> bool:
        """Whether a part is its whole message, so that the one cannot go without the other."""
        return isinstance(part, ToolResult) and not self.packed

    def twins(self, fields: Mapping[str, Any], path: str) -> list[str]:
        """Return the other places in which the part at a path stands; they go with it."""
        return []

    def tidied(self, fields: Fields) -> Fields:
        """Take away fields that hold nothing any more since parts were taken out of them."""
        return fields

    def nameless(self, fields: Mapping[str, Any]) -> bool:
        """Whether a message can do without its own id: nothing refers to it by that."""
        return True

    def says_nothing(self, parts: Sequence[Part]) -> bool:
        """Whether a message of these parts has nothing to say: empty, or reasoning alone."""
        return all(
            isinstance(part, Reasoning)
            or (isinstance(part, Text) and not (part.text or "").strip())
            for part in parts
        )

    def with_text(self, fields: Mapping[str, Any], text: str) -> Fields:
        """Set the content to a text."""
        return {**fields, self.key: text}

    def thoughtless(self, fields: Fields, parts: Sequence[Part]) -> Fields:
        """Leave the reasoning of a message out."""
        paths = [part.path for part in parts if isinstance(part, Reasoning)]
        return self.tidied(without(fields, filter(None, paths)))

    # --- what a repair adds ----------------------------------------------------------------------

    def text(self, text: str) -> Any:
        """Make a block of text."""
        return {"type": "text", "text": text}

    def said(self, role: str, text: str, like: Any = None) -> Any:
        """Make a message of text, under a role of the facts (`user`, `assistant`, `system`).

        `like` is a message of the same history, whose kind the new one takes.
        """
        return {"role": role, "content": text}

    def carrying(self, blocks: Sequence[Any], like: Any = None) -> Any:
        """Make a user message that holds blocks."""
        return {"role": "user", self.key: list(blocks)}

    @abstractmethod
    def answer(self, call: ToolCall, text: str, like: Any = None) -> Any:
        """Make the answer to a call that has none, marked as an error where the format can.

        A block where the format is packed, else a message. `None` where a made-up answer would be
        refused or mislead (screenshots, tools of the provider).
        """

    # --- the request around the list -------------------------------------------------------------

    def instructed(self, context: Mapping[str, Any], text: str) -> Fields:
        """Return the fields around the list that give the model a further instruction."""
        if not self.system:
            return {}
        held = context.get(self.system)
        return {self.system: self.with_instruction(held, text) if held else self.instruction(text)}

    def instruction(self, text: str) -> Any:
        """Make the value of the system field."""
        return text

    def with_instruction(self, held: Any, text: str) -> Any:
        """Add to the value of the system field, which is text or a list of blocks."""
        if isinstance(held, str):
            return joined(held, text)
        return [*held, self.text(text)]

    def defined(self, names: Sequence[str], description: str) -> tuple[str, Any]:
        """Define tools that take any input: the request's field and its value."""
        schema = {"type": "object"}
        tools = [
            {"name": name, "description": description, "input_schema": schema} for name in names
        ]
        return "tools", tools

    # --- parts -----------------------------------------------------------------------------------

    @abstractmethod
    def renamed(self, fields: Mapping[str, Any], part: Part, id: str) -> Fields:
        """Give a call or a result another id."""

    def names(self, call: ToolCall) -> bool:
        """Whether a call without an id can be given one, so that a result can name it."""
        return call.family == FUNCTION and not call.hosted

    @abstractmethod
    def recalled(self, fields: Mapping[str, Any], part: ToolCall, name: str) -> Fields:
        """Give a call another name."""

    @abstractmethod
    def rearranged(self, fields: Mapping[str, Any], part: ToolCall, arguments: Any) -> Fields:
        """Give a call other arguments."""

    @abstractmethod
    def result(self, fields: Mapping[str, Any], part: ToolResult, content: Any) -> Fields:
        """Give a result another content."""

    def cleared(self, fields: Mapping[str, Any], part: ToolResult, text: str) -> Fields | None:
        """Put a text in the place of all that a result says and shows; its marks stay.

        `None` where a result of its kind takes no text.
        """
        return self.result(fields, part, text)

    def shown(self, fields: Mapping[str, Any], part: ToolResult) -> Sequence[Any]:
        """Return the blocks of a result among which media may stand."""
        return part.content if isinstance(part.content, (list, tuple)) else ()

    def unshown_word(self, text: str) -> Any:
        """Make what is put in the place of media that a result showed, `None` where nothing is."""
        return self.text(text)

    def unshown(
        self, fields: Mapping[str, Any], part: ToolResult, words: Mapping[int, Any]
    ) -> Fields:
        """Put words in the place of some blocks of a result."""
        shown = enumerate(self.shown(fields, part))
        return self.result(fields, part, [words.get(place, block) for place, block in shown])

    def together(self, first: Any, second: Any) -> Any:
        """Make one content of those of two results."""
        if first == second or not second:
            return first
        if isinstance(first, str) and isinstance(second, str):
            return joined(first, second)
        return [*self.content_blocks(first), *self.content_blocks(second)]

    def content_blocks(self, content: Any) -> list[Any]:
        """Return the content of a result as blocks that a user message may hold."""
        if content is None:
            return []
        if isinstance(content, (list, tuple)):
            return list(blocks_of(content))
        return [self.text(text_of(content))]

    def quoted(self, note: str, content: Any) -> list[Any]:
        """Return blocks of a user message that quote the content of a result under a note."""
        return [self.text(joined(note, text_of(content)))]

    def merges(self, native: Any) -> bool:
        """Whether this can be made one message with a neighbour of the same role."""
        return True

    def merged(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> Fields:
        """Make one message of two neighbours of one role: the blocks of both, in order."""
        first, second = one.get(self.key), other.get(self.key)
        if isinstance(first, str) and isinstance(second, str):
            return {**other, **one, self.key: joined(first, second)}
        blocks = [*self.blocks(one), *self.blocks(other)]
        return self.with_blocks({**other, **one}, blocks)


def joined(*texts: str) -> str:
    r"""Join texts by an empty line, leaving out empty ones.

    >>> joined("a", "", "b")
    'a\n\nb'
    """
    return "\n\n".join(text for text in texts if text)


def text_of(content: Any) -> str:
    r"""Return the readable text of a result's content, in any format; JSON where there is none.

    >>> text_of([{"type": "text", "text": "a"}, {"text": "b"}])
    'a\n\nb'
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, (list, tuple)):
        return joined(*map(text_of, content))
    fields = (
        mapping(content) if isinstance(content, Mapping) or hasattr(content, "model_dump") else None
    )
    if fields is None:
        return json.dumps(content, ensure_ascii=False, default=str)
    held = fields.get("text")
    return (
        held if isinstance(held, str) else json.dumps(dict(fields), ensure_ascii=False, default=str)
    )


# --- paths ----------------------------------------------------------------------------------------


def _steps(path: str) -> list[str | int]:
    return [name or int(index) for name, index in _STEP.findall(path)]


def inside(fields: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path.

    >>> inside({"content": [{"text": "a"}]}, "content[0].text")
    'a'
    """
    value: Any = fields
    for step in _steps(path):
        value = value[step] if isinstance(step, int) else mapping(value)[step]
    return value


def first_path(first: Mapping[str, Any], now: Mapping[str, Any], path: str) -> str:
    """Return where in the first fields of a message stands what stands at a path of its fields now.

    Parts that were never changed are found wherever they stood. For what was not in the first
    fields, the nearest thing around it is named.

    >>> a, b = {"text": "a"}, {"text": "b"}
    >>> first_path({"content": [a, b]}, {"content": [b]}, "content[0].text")
    'content[1].text'
    >>> first_path({"content": [a]}, {"content": [b]}, "content[0].text")
    'content'
    """
    found = ""
    here: Any = first
    there: Any = now
    for step in _steps(path):
        there = _at(there, step)
        first_step = _same_place(here, there) if isinstance(step, int) else step
        here = _at(here, first_step)
        if here is _NOTHING:
            break
        if isinstance(first_step, int):
            found += f"[{first_step}]"
        else:
            found += f".{first_step}" if found else first_step
    return found


def _at(held: Any, step: str | int) -> Any:
    """Return what stands at one step."""
    if isinstance(step, str):
        known = isinstance(held, Mapping) or hasattr(held, "model_dump") or hasattr(held, "to_dict")
        fields = held if known else {}
        return mapping(fields).get(step, _NOTHING)
    items = held if isinstance(held, (list, tuple)) else ()
    return items[step] if 0 <= step < len(items) else _NOTHING


def _same_place(items: Any, item: Any) -> int:
    """Return where in a list stands the very item, or its equal; -1 where it does not."""
    items = items if isinstance(items, (list, tuple)) else ()
    for at, one in enumerate(items):
        if one is item:
            return at
    return next((at for at, one in enumerate(items) if one == item), -1)


def without(fields: Mapping[str, Any], paths: Iterable[str]) -> Fields:
    """Copy fields with the values at some paths taken out; lists close up.

    >>> without({"content": ["a", "b", "c"]}, ["content[0]", "content[2]"])
    {'content': ['b']}
    """
    changed = dict(fields)
    # From the back, so that the positions of those before stay what they are.
    for steps in sorted((_steps(path) for path in paths), key=_order, reverse=True):
        changed = _taken(changed, steps)
    return changed


def _order(steps: list[str | int]) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in steps]


def _taken(held: Any, steps: list[str | int]) -> Any:
    step, *rest = steps
    if isinstance(step, int):
        items = list(held)
        if rest:
            items[step] = _taken(items[step], rest)
        else:
            del items[step]
        return items
    fields = dict(mapping(held))
    if rest:
        fields[step] = _taken(fields[step], rest)
    else:
        fields.pop(step, None)
    return fields


def edited(fields: Mapping[str, Any], path: str, value: Any) -> Fields:
    """Copy fields with the value at a path replaced.

    >>> edited({"content": [{"text": "a"}]}, "content[0].text", "b")
    {'content': [{'text': 'b'}]}
    """
    changed: Fields = _put(fields, _steps(path), value)
    return changed


def _put(held: Any, steps: list[str | int], value: Any) -> Any:
    step, *rest = steps
    if isinstance(step, int):
        items = list(held)
        items[step] = _put(items[step], rest, value) if rest else value
        return items
    fields = dict(mapping(held))
    fields[step] = _put(fields.get(step, {}), rest, value) if rest else value
    return fields
