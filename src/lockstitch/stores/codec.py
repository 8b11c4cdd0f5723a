"""The codec: values as bytes and back, without a loss that nobody hears of.

Knows: JSON by msgspec, which is quick, and three things that it would change in silence: a number
that is none (NaN, infinity) becomes null, bytes become text, a tuple becomes a list. Values that
hold one are written with tags. Half a surrogate pair is kept as the escape that it came from.

Must not know: what the values mean.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any, Final, TypeVar

import msgspec

from lockstitch.errors import FormatError
from lockstitch.formats.base import mapping

__all__ = ["read", "read_as", "read_native", "write", "write_native"]

T = TypeVar("T")

PLAIN: Final = b"j"
TAGGED: Final = b"t"
_TAG: Final = "$lockstitch"
_ODD: Final = (float, bytes, bytearray, memoryview, tuple)
_SIMPLE: Final = (str, int, bool, type(None))

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def write(value: Any) -> bytes:
    """Write a value of ours; half a surrogate pair in a text is kept."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def read(data: bytes) -> Any:
    """Read plain JSON.

    Raises:
        ValueError: it is none.
    """
    try:
        return _decode(data)
    except msgspec.DecodeError:
        # msgspec takes no half of a surrogate pair; the standard library does.
        return json.loads(data)


def read_as(data: bytes, kind: type[T]) -> T:
    """Read a value of ours.

    Raises:
        ValueError: it is none.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), kind)


def write_native(native: Any, where: str) -> bytes:
    """Write a message; raw JSON is kept byte by byte.

    Args:
        native: the message, as it was handed over.
        where: its place, for errors.

    Raises:
        FormatError: it holds what cannot be written and read back the same.
    """
    if isinstance(native, msgspec.Raw):
        return PLAIN + bytes(native)
    try:
        value = native if type(native) is dict else dict(mapping(native))
        odd = _oddities(value, where)
        if odd:
            return TAGGED + json.dumps(_tagged(value), separators=(",", ":")).encode()
        return PLAIN + write(value)
    except RecursionError:
        raise FormatError("nested too deeply to be stored safely", where=where) from None


def _oddities(value: Any, where: str) -> bool:
    """Whether there is anything in a value that plain JSON would change.

    Raises:
        FormatError: there is something that cannot be kept at all.
    """
    kind = type(value)
    if kind is dict:
        odd = _TAG in value
        for key, item in value.items():
            if type(key) is not str:
                raise FormatError(f"the key {key!r} is no text", where=where)
            if type(item) not in _SIMPLE and _oddities(item, f"{where}.{key}"):
                odd = True
        return odd
    if kind is list or kind is tuple:
        odd = kind is tuple
        for at, item in enumerate(value):
            if type(item) not in _SIMPLE and _oddities(item, f"{where}[{at}]"):
                odd = True
        return odd
    if kind is float:
        return not math.isfinite(value)
    if kind in _ODD:
        return True
    if isinstance(value, msgspec.Raw):
        return False
    raise FormatError(
        f"{kind.__name__} cannot be stored and read back the same: hand over what JSON can hold, "
        "or bytes",
        where=where,
    )


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        held = {key: _tagged(item) for key, item in value.items()}
        return {_TAG: "object", "value": held} if _TAG in value else held
    if isinstance(value, tuple):
        return {_TAG: "tuple", "value": [_tagged(item) for item in value]}
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {_TAG: "bytes", "value": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: "number", "value": repr(value)}
    if isinstance(value, msgspec.Raw):
        return read(bytes(value))
    return value


def read_native(data: bytes) -> Any:
    """Read what `write_native` wrote.

    Raises:
        ValueError: it is not that.
    """
    kind, body = data[:1], data[1:]
    if kind == PLAIN:
        return read(body)
    if kind == TAGGED:
        return _untagged(json.loads(body))
    raise ValueError(f"unknown codec {kind!r}")


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get(_TAG)
    if tag is None:
        return {key: _untagged(item) for key, item in value.items()}
    held = value["value"]
    if tag == "object":
        return {key: _untagged(item) for key, item in held.items()}
    if tag == "tuple":
        return tuple([_untagged(item) for item in held])
    if tag == "bytes":
        return base64.b64decode(held)
    if tag == "number":
        return float(held)
    raise ValueError(f"unknown tag {tag!r}")
