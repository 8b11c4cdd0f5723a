"""Documents: what the caller handed over, and how to put a changed list back into it.

Knows: lists, request bodies that wrap the list, JSON text and bytes, JSON lines.

Must not know: what a message means. Reads no files; an object with `read_bytes` or `read` is asked
for its bytes, and that is all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.document.base import NOTHING, Document, same
from lockstitch.document.jsontext import from_json
from lockstitch.document.lines import BOM, from_lines, is_lines
from lockstitch.document.objects import from_list, from_mapping
from lockstitch.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Document", "open_document"]


def open_document(source: Any) -> Document:
    """Look at what the caller handed over.

    Takes a list or other iterable of messages; a mapping that holds one under `messages` or `input`
    (or under `request`, as in recorded exchanges); JSON text or bytes of these; JSON lines; a path
    or an open file.

    Raises:
        FormatError: it is not JSON (with the byte), or there is no list of messages in it.

    >>> open_document('{"model": "m", "messages": [{"role": "user", "content": "hi"}]}').context
    {'model': 'm'}
    """
    if type(source) is list:
        return from_list(source)
    if hasattr(source, "read_bytes"):
        source = source.read_bytes()
    elif hasattr(source, "read"):
        source = source.read()
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(source), text=False)
    if isinstance(source, str):
        return _from_text(source)
    if isinstance(source, Mapping):
        return from_mapping(source)
    if isinstance(source, Iterable):
        return from_list(source)
    raise FormatError(
        f"expected a list of messages, a request body, JSON text or a path, found "
        f"{type(source).__name__}"
    )


def _from_text(text: str) -> Document:
    try:
        return _from_bytes(text.encode(), text=True)
    except UnicodeEncodeError:
        # Half a surrogate pair stands in the text itself; JSON can spell it as an escape.
        spelled = _from_bytes(text.encode("utf-8", "backslashreplace"), text=True)

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
        if not around and same(changed, spelled.natives):
            return text
        return spelled.rebuild(changed, around)

    return msgspec.structs.replace(spelled, rebuild=rebuild)


def _from_bytes(data: bytes, *, text: bool) -> Document:
    if not text and not data.isascii() and data.removeprefix(BOM).lstrip()[:1] in {b"[", b"{"}:
        _check_encoding(data)
    read = from_lines if is_lines(data) else from_json
    return read(data, text=text)


def _check_encoding(data: bytes) -> None:
    # Messages are split off without being read; what is no text must not wait in one of them.
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        raise FormatError(f"not UTF-8: {problem.reason} (byte {problem.start})") from None
