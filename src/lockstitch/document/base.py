"""The value that every reader of documents makes.

Must not know: any kind of source.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

__all__ = ["Document", "encoded", "same", "with_fields"]


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A list of native messages and what stands around it.

    Args:
        natives: the messages as they were handed over, or their raw JSON.
        path: how the list is named in reports, `messages` or `input`.
        context: the request around the list, without the list.
        rebuild: makes the caller's own kind of thing again from a list of messages.
    """

    natives: Sequence[Any]
    path: str
    context: Mapping[str, Any]
    rebuild: Callable[[Sequence[Any]], Any]


def same(changed: Sequence[Any], natives: Sequence[Any]) -> bool:
    """Whether these are the very messages of the document, all of them, in order."""
    return changed is natives or (
        len(changed) == len(natives)
        and all(one is other for one, other in zip(changed, natives, strict=True))
    )


def encoded(native: Any) -> bytes:
    """Write one message as JSON: its own bytes where it still has them."""
    if isinstance(native, msgspec.Raw):
        return bytes(native)
    try:
        return msgspec.json.encode(native)
    except UnicodeEncodeError:
        # A lone surrogate: written as the escape that it came from.
        return json.dumps(native).encode()


def with_fields(source: Any, path: str, fields: Mapping[str, Any]) -> Any:
    """Give fields of a request body other values; a bare list has none and comes back as it is.

    `path` says where in the source the list of messages stands. JSON text stays text, and what
    stands beside the fields keeps its bytes.

    >>> with_fields({"messages": [], "tools": None}, "messages", {"tools": []})
    {'messages': [], 'tools': []}
    """
    if isinstance(source, (str, bytes)):
        data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
        if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"{" or path == "lines":
            return source
        changed = _in_json(data.removeprefix(b"\xef\xbb\xbf"), path.split(".")[:-1], fields)
        return changed.decode("utf-8", "surrogatepass") if isinstance(source, str) else changed
    return _in_body(source, path.split(".")[:-1], fields) if isinstance(source, Mapping) else source


def _in_body(body: Mapping[str, Any], outer: list[str], fields: Mapping[str, Any]) -> Any:
    if not outer:
        return {**body, **fields}
    return {**body, outer[0]: _in_body(body[outer[0]], outer[1:], fields)}


def _in_json(body: bytes, outer: list[str], fields: Mapping[str, Any]) -> bytes:
    try:
        held = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        # Lone surrogates and NaN, which the standard reader takes.
        return json.dumps(_in_body(json.loads(body), outer, fields)).encode()
    if outer:
        inner = _in_json(bytes(held[outer[0]]), outer[1:], fields)
        return msgspec.json.encode({**held, outer[0]: msgspec.Raw(inner)})
    return msgspec.json.encode({**held, **fields})
