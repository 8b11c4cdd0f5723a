"""Printing: messages as JSON, times and ranges for people."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lockstitch.cli.render import say

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["json_of", "list_of", "print_json", "ranges", "when"]


def json_of(value: Any) -> str:
    """Write a value as JSON on one line; bytes in a message are written in base 64.

    >>> json_of({"role": "user", "content": b"hi"})
    '{"role": "user", "content": "aGk="}'
    """
    return json.dumps(value, default=_odd)


def _odd(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    dump = getattr(value, "model_dump", None)
    return dump(mode="json") if callable(dump) else str(value)


def list_of(messages: Iterable[Any]) -> bytes:
    r"""Write messages as a JSON list, one on each line.

    >>> list_of([1, 2])
    b'[1,\n 2]\n'
    """
    return f"[{f',{chr(10)} '.join(map(json_of, messages))}]\n".encode()


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    say(json_of(value))


def when(at: float) -> str:
    """Write a time.

    >>> when(0.0)
    '1970-01-01 00:00:00'
    """
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def ranges(numbers: Iterable[int]) -> str:
    """Write numbers in short.

    >>> ranges([1, 2, 3, 7])
    '1-3, 7'
    """
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] + 1 == number:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in found)
