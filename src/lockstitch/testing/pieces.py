"""Pieces: what a list of messages holds, part by part, to tell what was kept, made and lost.

Knows: when two parts are the same wherever they stand. The judges of repairs and the law of
accounting count with them. Must not know: how a history was changed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.formats import FORMATS
from lockstitch.formats.base import mapping
from lockstitch.history import load
from lockstitch.rules.check import view_of
from lockstitch.rules.profiles import get_profile
from lockstitch.transcript import Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.transcript import Part

__all__ = ["Pair", "Piece", "made_results", "pairs_of", "pieces", "strings"]

# Where a part stands and what is known beside it do not make it another part.
_BESIDE: Final = frozenset({"path", "provenance", "alias"})


class Piece(msgspec.Struct, frozen=True):
    """One part at a message; equal parts have equal keys."""

    message: int
    key: str
    part: Any


def pieces(natives: Sequence[Any], format: str) -> Iterator[Piece]:
    """Yield the parts of messages that say something; blank text says nothing.

    >>> from lockstitch.testing import user
    >>> [piece.message for piece in pieces([user("a"), user(""), user("a")], "openai-chat")]
    [0, 2]
    """
    read = FORMATS[format]
    for at, native in enumerate(natives):
        for part in read.parts(native):
            if not isinstance(part, Text) or (part.text or "").strip():
                yield Piece(at, _key(part), part)


def _key(part: Part) -> str:
    held = {name: getattr(part, name) for name in part.__struct_fields__ if name not in _BESIDE}
    return f"{type(part).__name__} {json.dumps(held, sort_keys=True, default=str)}"


def strings(value: Any) -> Iterator[str]:
    """Yield every text that a value holds, however deep.

    >>> sorted(strings({"a": ["b", {"c": "d"}]}))
    ['b', 'd']
    """
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            todo.extend(item.values())
        elif isinstance(item, (list, tuple)):
            todo.extend(item)
        elif isinstance(item, msgspec.Raw):
            todo.append(msgspec.json.decode(item))
        elif hasattr(item, "model_dump") or hasattr(item, "to_dict"):
            todo.append(mapping(item))


# --- results -------------------------------------------------------------------------------------


class Pair(msgspec.Struct, frozen=True):
    """A call and its result as they are linked, each with its message."""

    call: ToolCall
    result: ToolResult
    call_at: int
    result_at: int


def pairs_of(source: Any, format: str, profile: str) -> list[Pair]:
    """Return the calls of a history that have their result, as a profile sees it.

    >>> from lockstitch.testing import call, result
    >>> [pair.call.id for pair in pairs_of([call("a"), result("a")], "openai-chat", "portable")]
    ['a']
    """
    view = view_of(load(source, format=format), get_profile(profile), tail="closed")
    found: list[Pair] = []
    for tie in view.results():
        if tie.call is None or tie.duplicate:
            continue
        call = view.end(tie.call.message, tie.call.ordinal)
        result = view.end(tie.message, tie.ordinal)
        if isinstance(call, ToolCall) and isinstance(result, ToolResult):
            found.append(Pair(call, result, tie.call.message, tie.message))
    return found


def made_results(before: Sequence[Any], after: Sequence[Any], format: str) -> list[Piece]:
    """Return the results of the one list that are not those of the other, however they moved.

    A result is known again by all it holds, else by its id, else by what it says: one that was
    merged with another or whose id was renamed was not made.
    """
    made = [one for one in pieces(after, format) if isinstance(one.part, ToolResult)]
    given = [one for one in pieces(before, format) if isinstance(one.part, ToolResult)]
    for known in (_whole, _by_id, _by_content):
        held = Counter(known(one.part) for one in given)
        left: list[Piece] = []
        matched: Counter[str] = Counter()
        for one in made:
            name = known(one.part)
            if matched[name] < held[name]:
                matched[name] += 1
            else:
                left.append(one)
        kept: list[Piece] = []
        for one in given:
            name = known(one.part)
            if matched[name]:
                matched[name] -= 1
            else:
                kept.append(one)
        made, given = left, kept
    return made


def _whole(part: ToolResult) -> str:
    return _key(part)


def _by_id(part: ToolResult) -> str:
    return str(part.id or part.name)


def _by_content(part: ToolResult) -> str:
    return json.dumps(part.content, sort_keys=True, default=str)
