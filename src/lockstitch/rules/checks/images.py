"""Checks of images: how large each is and how many there are, as far as their bytes show it.

Sizes are read from the first bytes of inline data; of linked images nothing is known.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Any, Final, Literal

from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Media, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["image_size", "large_image_among_many"]

# From how many images and documents on each may have only so many pixels a side.
_MANY: Final = 20
_SIDE: Final = 2_000
# Enough of the encoded data to hold the header of any picture with ordinary metadata.
_HEAD: Final = 256 * 1024

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_GIF: Final = (b"GIF87a", b"GIF89a")
_JPEG: Final = b"\xff\xd8"
# The markers of a JPEG that begin a frame; C4, C8 and CC stand among them and begin none.
_FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def large_image_among_many(view: View) -> Iterator[Finding]:
    """Find images that are too large for a request that holds many."""
    found: list[tuple[int, str, Any]] = []
    for index in range(len(view.facts)):
        for part in view.parts(index):
            if isinstance(part, Media) or (
                isinstance(part, ToolResult) and isinstance(part.content, (list, tuple))
            ):
                found += ((index, path, data) for path, data in _inside(view, index, part))
    if len(found) <= _MANY:
        return
    for index, path, data in found:
        size = image_size(data) if isinstance(data, str) else None
        if size is not None and max(size) > _SIDE:
            yield Finding(
                index,
                f"this image of {size[0]} by {size[1]} pixels is one of {len(found)}: with more "
                f"than {_MANY}, none may have more than {_SIDE} pixels a side",
                path,
            )


def _inside(view: View, index: int, part: Media | ToolResult) -> Iterator[tuple[str, Any]]:
    """Yield the place and the inline data of an image or document, or of those in a result."""
    if isinstance(part, ToolResult):
        for at, block in enumerate(part.content):
            if isinstance(block, dict) and block.get("type") in {"image", "document"}:
                yield f"{part.path}.content[{at}]", _data(block)
    elif part.kind in {"image", "document"}:
        blocks = mapping(view.transcript.natives[index])["content"]
        yield part.path, _data(mapping(blocks[int(part.path[len("content[") : -1])]))


def _data(block: Any) -> Any:
    source = block.get("source")
    return source.get("data") if isinstance(source, dict) else None


def image_size(data: str) -> tuple[int, int] | None:
    """Read width and height of an image from its base64 data, `None` where they are not there.

    >>> image_size("iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSnc")
    (8, 8)
    """
    head = data[: _HEAD - _HEAD % 4]
    try:
        raw = base64.b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return None
    if raw.startswith(_PNG):
        return _pair(raw[16:20], raw[20:24], "big")
    if raw.startswith(_GIF):
        return _pair(raw[6:8], raw[8:10], "little")
    return _jpeg(raw) if raw.startswith(_JPEG) else None


def _pair(width: bytes, height: bytes, order: Literal["big", "little"]) -> tuple[int, int] | None:
    if not height:
        return None
    return int.from_bytes(width, order), int.from_bytes(height, order)


def _jpeg(raw: bytes) -> tuple[int, int] | None:
    """Walk the segments of a JPEG to the one that says how large it is."""
    at = len(_JPEG)
    while raw[at : at + 1] == b"\xff":
        if int.from_bytes(raw[at + 1 : at + 2]) in _FRAMES:
            return _pair(raw[at + 7 : at + 9], raw[at + 5 : at + 7], "big")
        at += 2 + int.from_bytes(raw[at + 2 : at + 4])
    return None
