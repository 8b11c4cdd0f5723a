"""Request bodies: instructions that left the list are put into the body's own field.

Every other value of the body keeps its bytes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = ["with_system"]


def with_system(data: bytes, transcript: Transcript, text: str) -> bytes | None:
    r"""Write instructions behind those that a body has; `None` where it has no place for them.

    Args:
        data: the body as text, or a bare list.
        transcript: what it was read as.
        text: the instructions.

    >>> from lockstitch import load
    >>> body = b'{"max_tokens": 9, "system": "Be brief.", "messages": []}'
    >>> with_system(body, load(body, format="anthropic"), "Be kind.")
    b'{"max_tokens": 9, "system": "Be brief.\\n\\nBe kind.", "messages": []}'
    """
    keys = transcript.format.system_keys
    if not keys:
        return None
    key = next((name for name in keys if name in transcript.context), keys[0])
    try:
        value = _joined(transcript.context.get(key), text, transcript.format.name)
        return _put(data, transcript.path.split(".")[:-1], key, json.dumps(value).encode())
    except (msgspec.DecodeError, TypeError):
        return None


def _joined(held: Any, text: str, format: str) -> Any:
    """Add a text to what the field holds, in the form that it has there."""
    if isinstance(held, str):
        return f"{held}\n\n{text}" if held else text
    if format == "gemini":
        parts = held["parts"] if held else []
        return {**(held or {}), "parts": [*parts, {"text": text}]}
    block = {"text": text} if format == "bedrock" else {"type": "text", "text": text}
    if held is None:
        return [block] if format == "bedrock" else text
    return [*held, block]


def _put(data: bytes, steps: list[str], key: str, value: bytes) -> bytes:
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    if steps:
        value = _put(bytes(fields[steps[0]]), steps[1:], key, value)
        key = steps[0]
    fields[key] = msgspec.Raw(value)
    written = (json.dumps(name).encode() + b": " + bytes(raw) for name, raw in fields.items())
    return b"{" + b", ".join(written) + b"}"
