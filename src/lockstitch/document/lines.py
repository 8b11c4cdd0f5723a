"""Documents that are JSON lines: one message, or one row of a log, on each line.

Knows: which rows carry a message; how to write kept and changed ones back in their order.

Must not know: what a message means.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.document.base import NOTHING, Document, encoded, same
from lockstitch.document.jsontext import Reparse, decode
from lockstitch.document.objects import is_message
from lockstitch.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["BOM", "from_lines", "is_lines"]

# In a log of session events, those of user and agent are the conversation; status, span and thread
# events are about it.
SPEAKERS = ("user.", "agent.")
# What an object has that holds a list rather than being a message.
LISTS = {"messages", "input", "contents", "request", "state"}
BOM = b"\xef\xbb\xbf"


def is_lines(data: bytes) -> bool:
    """Tell JSON lines from one document.

    The first line is complete and another follows it; or there is one line, and it is a message
    rather than something that holds a list of them.
    """
    first, _, rest = data.removeprefix(BOM).lstrip().partition(b"\n")
    if first[:1] == b"[" and first[1:].lstrip()[:1] in {b"{", b"["}:
        # A list of messages; a row that is a list begins with the name of its operation.
        return False
    value = _first(first)
    if value is None or rest.strip():
        return value is not None
    match value:
        case {"role": str()} | {"type": str()} | [str(), {"type": str()}]:
            held = value if isinstance(value, dict) else {}
            return is_message(held) or not LISTS & held.keys()
        case _:
            return False


def _first(line: bytes) -> Any:
    """Read a line, `None` where it is not complete or not JSON; of an object only its own keys.

    The line may be a whole request body, so what its keys hold is not built: text is `""`.
    """
    try:
        held = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    else:
        return {
            key: "" if bytes(memoryview(raw)[:1]) == b'"' else None for key, raw in held.items()
        }
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def from_lines(data: bytes, *, text: bool) -> Document:
    """Read one message from each line; rows that carry none stay where they are."""
    mark = BOM if data.startswith(BOM) else b""
    lines = data.removeprefix(mark).splitlines(keepends=True)
    natives: list[Any] = []
    at: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        native = _line(line, number)
        if native is not None:
            natives.append(native)
            at.append(number - 1)
    if not natives:
        raise FormatError("no line holds a message")
    places = {id(native): place for native, place in zip(natives, at, strict=True)}
    carried = set(at)

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> Any:
        if same(changed, natives):
            joined = data
        else:
            joined = mark + b"".join(_merge(lines, changed, places, carried))
        return joined.decode("utf-8", "surrogatepass") if text else joined

    return Document(natives=natives, path="lines", context={}, rebuild=rebuild)


def _line(line: bytes, number: int) -> Any:
    """Return the message on a line, or `None` for a row that carries none."""
    body = line.strip()
    row: Any
    try:
        row = decode(body, msgspec.Raw if body[:1] == b"{" else Any)
    except Reparse:
        row = json.loads(body)
    except FormatError as error:
        raise FormatError(str(error), where=f"line {number}") from None
    if body[:1] == b"{":
        return row
    # Rows of [operation, payload]: the streamed events are the record, the sent ones repeat them.
    match row:
        case [str() as operation, {"type": str() as kind} as event] if operation.endswith(
            ".stream"
        ):
            return event if kind.startswith(SPEAKERS) else None
        case _:
            return None


def _merge(
    lines: list[bytes], changed: Sequence[Any], places: dict[int, int], carried: set[int]
) -> Iterable[bytes]:
    """Write messages in order, each that was kept as the line it was.

    Rows that carry no message stay where they were among the kept ones; a message that was added or
    changed follows the one before it.
    """
    row = 0
    ended = True
    for native in changed:
        place = places.get(id(native), -1)
        for number in range(row, place):
            if number not in carried:
                yield from _whole(lines[number], ended=ended)
                ended = lines[number].endswith(b"\n")
        row = max(row, place + 1)
        line = lines[place] if place >= 0 else encoded(native) + b"\n"
        yield from _whole(line, ended=ended)
        ended = line.endswith(b"\n")
    for number in range(row, len(lines)):
        if number not in carried:
            yield from _whole(lines[number], ended=ended)
            ended = lines[number].endswith(b"\n")


def _whole(line: bytes, *, ended: bool) -> Iterable[bytes]:
    """Yield a line, after the end that the one before it lacks."""
    if not ended:
        yield b"\n"
    yield line
