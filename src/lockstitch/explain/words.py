"""Words: numbers with their nouns, and the beginning of a message or of a value on one line.

Must not know: plans, reports, repairs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import FormatError
from lockstitch.formats.base import mapping
from lockstitch.measure.counters import texts_of
from lockstitch.transcript import Media, Reasoning

if TYPE_CHECKING:
    from lockstitch.transcript import Part, Transcript

__all__ = ["PREVIEW", "count", "one_line", "plain", "preview", "shortened"]

PREVIEW: Final = 40
VALUE: Final = 100
# What is shown of one string inside a value: calls carry whole files in their arguments.
_STRING: Final = 60


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    >>> count(1, "message"), count(1200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def preview(transcript: Transcript, position: int, width: int = PREVIEW) -> str:
    r"""Show the beginning of what a message says, on one line.

    Calls are shown as `name(arguments)`, media as their kind. Characters that would move a cursor,
    or that cannot be written, are shown as escapes.

    >>> from lockstitch import load
    >>> print(preview(load([{"role": "user", "content": "two\nlines"}]), 0))
    two\nlines
    """
    said = ""
    for part in transcript.parts_at(position):
        said = f"{said} {_words_of(part)}".strip()
        if len(said) > width:
            break
    return one_line(said or "[empty]", width)


def _words_of(part: Part) -> str:
    if isinstance(part, Media):
        return f"[{part.kind}]"
    if isinstance(part, Reasoning):
        return part.text[: 2 * PREVIEW] or "[reasoning]"
    texts = [text[: 2 * PREVIEW] for text in texts_of(part)]
    if hasattr(part, "arguments") and texts:
        return f"{texts[0]}({' '.join(texts[1:])})"
    return " ".join(texts)


def one_line(text: str, width: int) -> str:
    r"""Show the beginning of a text on one line of at most `width` characters.

    >>> print(one_line("two\nlines", 40), one_line("abcdef", 4))
    two\nlines abc…
    """
    shown = ""
    for sign in text[: width + 1].rstrip():
        shown += sign if sign.isprintable() else sign.encode("unicode_escape").decode()
        if len(shown) > width:
            return shown[: width - 1] + "…"
    return shown


def shortened(value: Any, width: int = VALUE) -> str:
    """Show the beginning of a native message or part, long strings inside it cut.

    >>> shortened({"role": "user", "content": "x" * 500}, 60)[:48]
    '{"role": "user", "content": "xxxxxxxxxxxxxxxxxxx'
    """
    if isinstance(value, str):
        return one_line(value, width)
    return one_line(json.dumps(_cut(plain(value)), ensure_ascii=False), width)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _STRING else value[:_STRING] + "…"
    if isinstance(value, list):
        return [_cut(one) for one in value]
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return value


def plain(value: Any) -> Any:
    """Return a native value as what JSON can write: raw JSON decoded, objects as mappings."""
    if isinstance(value, msgspec.Raw):
        return json.loads(bytes(value))
    return json.loads(json.dumps(value, default=_opened))


def _opened(value: Any) -> Any:
    """Look into what `json` cannot write."""
    if isinstance(value, msgspec.Raw):
        return json.loads(bytes(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"[{len(value)} bytes]"
    try:
        return dict(mapping(value))
    except FormatError:
        return str(value)
