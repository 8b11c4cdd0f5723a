"""JSON that only the standard reader takes: lone surrogates, NaN, numbers beyond a float.

Knows: how to find, with that reader, where each message begins and ends, so that here too a kept
message is written back as it was.

Must not know: what a message means.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lockstitch.document.base import NOTHING, Document, encoded, same
from lockstitch.document.objects import find_list, from_mapping
from lockstitch.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["reparsed"]

_SPACE = " \t\r\n"
_read = json.JSONDecoder().raw_decode


def reparsed(data: bytes, *, text: bool) -> Document:
    """Read JSON that the standard reader was seen to take.

    `text` says whether the caller handed over a string.
    """
    whole = data.decode()
    start = _skip(whole, 1 if whole[:1] == "\ufeff" else 0)
    value, _ = _read(whole, start)
    path, context, holder = "messages", NOTHING, -1
    if not isinstance(value, list):
        steps, found = find_list(value)
        path = ".".join(steps)
        inner = from_mapping(value)
        context = inner.context
        if isinstance(found, str):
            return _wrapping(inner, whole, text=text)
        for key in steps:
            holder, start = start, _value_at(whole, start, key)
    spans = list(_elements(whole, start))
    natives = [native for native, _, _ in spans]
    kept = {id(native): whole[begin:end] for native, begin, end in spans}
    before = whole[: spans[0][1]] if spans else whole[: start + 1]
    after = whole[spans[-1][2] :] if spans else whole[start + 1 :]
    gap = whole[spans[0][2] : spans[1][1]] if spans[1:] else ","

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
        if same(changed, natives):
            joined = whole
        else:
            pieces = [kept.get(id(native)) or encoded(native).decode() for native in changed]
            joined = before + gap.join(pieces) + after
        if around and holder >= 0:
            joined = _with_fields(joined, holder, around)
        return joined if text else joined.encode()

    return Document(natives=natives, path=path, context=context, rebuild=rebuild)


def _wrapping(inner: Document, whole: str, *, text: bool) -> Document:
    """Keep the text of a body whose list is a bare string; what is changed is written anew."""

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
        untouched = not around and same(changed, inner.natives)
        joined = whole if untouched else json.dumps(inner.rebuild(changed, around))
        return joined if text else joined.encode()

    return Document(natives=inner.natives, path=inner.path, context=inner.context, rebuild=rebuild)


def _skip(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _elements(text: str, start: int) -> Iterator[tuple[Any, int, int]]:
    """Yield each element of the list that opens at `start`, with where it begins and ends."""
    at = _skip(text, start + 1)
    while text[at] != "]":
        value, end = _read(text, at)
        yield value, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _with_fields(text: str, start: int, fields: Mapping[str, Any]) -> str:
    """Set fields of the object that opens at `start`, and leave every other character as it is."""
    for name, value in fields.items():
        places = _values(text, start)
        if name in places:
            _, end = _read(text, places[name])
            text = text[: places[name]] + encoded(value).decode() + text[end:]
        else:
            field = f"{json.dumps(name)}: {encoded(value).decode()}, "
            text = text[: start + 1] + field + text[start + 1 :]
    return text


def _value_at(text: str, start: int, key: str) -> int:
    """Return where the value of a key begins, in the object that opens at `start`."""
    return _values(text, start)[key]


def _values(text: str, start: int) -> dict[str, int]:
    """Return where the value of each key begins, in the object that opens at `start`."""
    at = _skip(text, start + 1)
    found: dict[str, int] = {}
    while text[at] != "}":
        name, end = _read(text, at)
        at = _skip(text, _skip(text, end) + 1)
        if name in found:
            raise FormatError(f"the key {name!r} stands twice in one object: remove one of the two")
        found[name] = at
        _, end = _read(text, at)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found
