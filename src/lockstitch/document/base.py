"""The value that every reader of documents makes.

Must not know: any kind of source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec

__all__ = ["NOTHING", "Document", "Rebuild", "encoded", "same"]

NOTHING: Final[Mapping[str, Any]] = {}


class Rebuild(Protocol):
    """Makes the caller's own kind of thing again.

    `changed` is the list of messages; `around` holds the fields of the request around it that are
    to be other than they were. A bare list has none, so there they are left out.
    """

    def __call__(self, changed: Sequence[Any], around: Mapping[str, Any] = ...) -> Any:
        """Put messages back into what they were handed over in."""
        ...


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
    rebuild: Rebuild


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
