"""Documents that are JSON text: a list of messages, or an object that holds one.

Knows: how to split JSON into the raw bytes of its messages without touching them, and to put them
back together with what stood around and between them. A message nobody changed keeps its number
spelling, key order, escapes and white space.

Must not know: what a message means.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.document.base import NOTHING, Document, encoded, same
from lockstitch.document.objects import find_list
from lockstitch.document.scanned import reparsed
from lockstitch.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Reparse", "decode", "from_json"]

# Where the fields around a list begin, and where the value of each stands.
_Fields = tuple[int, dict[str, tuple[int, int]]]
_Split = tuple[bytes, list[msgspec.Raw], bytes, str, dict[str, Any], _Fields | None]


def from_json(data: bytes, *, text: bool) -> Document:
    """Read JSON or JSON lines; `text` says whether the caller handed over a string."""
    body = data[3:] if data[:3] == b"\xef\xbb\xbf" else data
    head = body.lstrip(b" \t\r\n")[:1]
    if not head:
        raise FormatError(
            "the input is empty: expected a JSON list of messages or an object that holds one"
        )
    if head not in {b"[", b"{"}:
        raise FormatError(
            f"not JSON: expected '[' or '{{', found {head!r} "
            f"(byte {len(body) - len(body.lstrip())})"
        )
    split = _split_list if head == b"[" else _split_object
    try:
        before, natives, after, path, context, fields = split(body)
    except Reparse:
        return reparsed(data, text=text)
    gap = _gap(body, natives, len(before))

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
        if not (around and fields) and same(changed, natives):
            joined = data
        else:
            left, right = before, after
            if around and fields:
                left, right = _with_fields(body, before, after, fields, around)
            joined = left + gap.join(map(encoded, changed)) + right
        return joined.decode("utf-8", "surrogatepass") if text else joined

    return Document(natives=natives, path=path, context=context, rebuild=rebuild)


class Reparse(Exception):
    """The fast reader refuses what the standard one takes: lone surrogates, NaN."""


def _raws(data: bytes) -> list[msgspec.Raw]:
    found: list[msgspec.Raw] = decode(data, list[msgspec.Raw])
    return found


def decode(data: bytes, kind: Any) -> Any:
    """Decode JSON into a type; raise `Reparse` where only the standard reader can."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"expected {'a list' if kind is not dict else 'an object'}: {error}"
        ) from None
    except msgspec.DecodeError as error:
        _check_standard(data, error)
        raise Reparse from None
    except RecursionError:
        raise FormatError(
            "nested too deeply to be read safely (more than about 1,000 levels)"
        ) from None


def _check_standard(data: bytes, error: msgspec.DecodeError) -> None:
    """Raise unless the standard reader takes the data all the same."""
    try:
        json.loads(data)
    except RecursionError:
        raise FormatError(
            "nested too deeply to be read safely (more than about 1,000 levels)"
        ) from None
    except UnicodeDecodeError as problem:
        raise FormatError(f"not UTF-8: {problem.reason} (byte {problem.start})") from None
    except json.JSONDecodeError:
        said = str(error)
        if "truncated" in said:
            said = f"the JSON breaks off at byte {len(data)}, before it is complete"
        raise FormatError(f"not JSON: {said}") from None


def _with_fields(
    body: bytes, before: bytes, after: bytes, fields: _Fields, around: Mapping[str, Any]
) -> tuple[bytes, bytes]:
    """Set fields around the list; every other byte of what stands before and after it is kept."""
    behind = len(body) - len(after)
    opening, spans = fields
    edits: list[tuple[int, int, bytes]] = []
    for name, value in around.items():
        if name in spans:
            edits.append((*spans[name], encoded(value)))
        else:
            edits.append((opening, opening, encoded(name) + b": " + encoded(value) + b", "))
    # From the back, so that the places of those in front stay what they are.
    for start, stop, written in sorted(edits, reverse=True):
        if start < behind:
            before = before[:start] + written + before[stop:]
        else:
            after = after[: start - behind] + written + after[stop - behind :]
    return before, after


def _split_list(body: bytes) -> _Split:
    natives = _raws(body)
    start = body.index(b"[") + 1
    before, after = _around(body, natives, start, len(body))
    return before, natives, after, "messages", {}, None


def _split_object(body: bytes) -> _Split:
    fields, spans = _spans(body, 0)
    opening = 0
    steps, found = find_list({key: _peek(raw) for key, raw in fields.items()})
    *outer, key = steps
    for step in outer:
        opening, _ = spans[step]
        fields, spans = _spans(bytes(fields[step]), opening)
    if isinstance(found, str):
        raise Reparse
    start, stop = spans[key]
    natives = _raws(body[start:stop])
    before, after = _around(body, natives, start + 1, stop)
    context = {name: _value(raw) for name, raw in fields.items() if name != key}
    return before, natives, after, ".".join(steps), context, (body.index(b"{", opening) + 1, spans)


def _peek(raw: msgspec.Raw) -> Any:
    """Decode only what finding the list needs: which values are lists, objects or strings."""
    data = bytes(raw)
    if data[:1] == b"[":
        return []
    if data[:1] == b"{":
        return {key: _peek(value) for key, value in decode(data, dict[str, msgspec.Raw]).items()}
    return "" if data[:1] == b'"' else None


def _value(raw: msgspec.Raw) -> Any:
    return decode(bytes(raw), Any)


def _spans(body: bytes, offset: int) -> tuple[dict[str, msgspec.Raw], dict[str, tuple[int, int]]]:
    """Return an object's raw values and where each stands; the object begins at `offset`."""
    fields: dict[str, msgspec.Raw] = decode(body, dict[str, msgspec.Raw])
    spans: dict[str, tuple[int, int]] = {}
    at = body.index(b"{") + 1
    for key, raw in fields.items():
        quote = body.index(b'"', at)
        end = _string_end(body, quote)
        start = _skip(body, body.index(b":", end) + 1)
        value = bytes(raw)
        if _value_key(body[quote:end]) != key or not body.startswith(value, start):
            name = _value_key(body[quote:end])
            raise FormatError(f"the key {name!r} stands twice in one object: remove one of the two")
        at = start + len(value)
        spans[key] = (offset + start, offset + at)
    if body[_skip(body, at) : _skip(body, at) + 1] != b"}":
        raise FormatError("a key stands twice in one object: remove one of the two")
    return fields, spans


def _value_key(quoted: bytes) -> Any:
    return msgspec.json.decode(quoted)


def _string_end(body: bytes, quote: int) -> int:
    """Return the position after the string that opens at `quote`."""
    at = quote + 1
    while True:
        at = body.index(b'"', at)
        slashes = at - len(body[:at].rstrip(b"\\")) if body[at - 1 : at] == b"\\" else 0
        at += 1
        if slashes % 2 == 0:
            return at


def _skip(body: bytes, at: int) -> int:
    while body[at : at + 1] in {b" ", b"\t", b"\r", b"\n"}:
        at += 1
    return at


def _around(body: bytes, natives: list[msgspec.Raw], start: int, stop: int) -> tuple[bytes, bytes]:
    """Return what stands before the first message and after the last one."""
    if not natives:
        return body[:start], body[start:]
    first = _skip(body, start)
    close = body.rindex(b"]", start, stop)
    last = len(body[:close].rstrip(b" \t\r\n"))
    return body[:first], body[last:]


def _gap(body: bytes, natives: list[msgspec.Raw], first: int) -> bytes:
    """Return what stands between two messages, so that a cut file looks like the one it was."""
    if len(natives) <= 1:
        return b","
    end = first + len(bytes(natives[0]))
    return body[end : body.index(bytes(natives[1]), end)]
