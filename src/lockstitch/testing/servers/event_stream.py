"""The binary framing of AWS event streams.

Knows: prelude, headers, payload, and the two checksums of a message.

Must not know: what is in it.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import msgspec

__all__ = ["frame"]

_STRING = 7
_PRELUDE = 12
_CHECKSUM = 4


def frame(kind: str, payload: Any) -> bytes:
    """Write one event of a stream.

    >>> len(frame("messageStart", {"role": "assistant"}))
    118
    """
    named = {
        ":event-type": kind,
        ":content-type": "application/json",
        ":message-type": "event",
    }
    headers = b"".join(
        struct.pack(">B", len(name))
        + name.encode()
        + struct.pack(">BH", _STRING, len(value))
        + value.encode()
        for name, value in named.items()
    )
    body = msgspec.json.encode(payload)
    prelude = struct.pack(">II", _PRELUDE + len(headers) + len(body) + _CHECKSUM, len(headers))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + headers + body
    return message + struct.pack(">I", zlib.crc32(message))
