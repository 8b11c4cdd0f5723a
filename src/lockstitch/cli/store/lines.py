"""Lines: messages from a log that may be torn, with the lines that hold none.

A log of JSON lines is written while things crash: its last line may be cut off, and another program
may have written into it. What can be read is worth keeping, and what cannot has a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.document.lines import BOM, from_lines, is_lines
from lockstitch.errors import FormatError
from lockstitch.formats import FORMATS, detect, get_format, is_distinct
from lockstitch.formats.base import NO, mapping
from lockstitch.history import load

if TYPE_CHECKING:
    from lockstitch.formats import Format

__all__ = ["Skipped", "are_lines", "messages_in"]

_NO_MESSAGE: Final = "no message"


class Skipped(msgspec.Struct, frozen=True):
    """A line that was passed over: its number, and why."""

    line: int
    why: str


class _Line(msgspec.Struct, frozen=True):
    """A message as it stands on its line, and what it says."""

    number: int
    native: Any
    value: Any


def are_lines(data: bytes) -> bool:
    r"""Whether data is JSON lines, even if the first of them is torn.

    >>> are_lines(b'{"role": "us\n{"role": "user", "content": "hi"}\n')
    True
    """
    if is_lines(data):
        return True
    body = data.removeprefix(BOM).lstrip()
    lines = [line for line in body.splitlines() if line.strip()]
    if not body.startswith(b"{") or len(lines) < 2:  # noqa: PLR2004 - one line is no log
        return False
    return 2 * sum(map(_is_object, lines)) >= len(lines)


def _is_object(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def messages_in(data: bytes, format: str | None) -> tuple[list[Any], list[Skipped]]:
    r"""Read the messages in JSON lines, and list the lines that are torn or foreign.

    Args:
        data: the lines.
        format: the format of the messages, where it is known.

    Raises:
        AmbiguousFormat: more than one format fits.

    >>> natives, skipped = messages_in(b'{"role": "user", "content": "hi"}\n{"ro\n', None)
    >>> len(natives), skipped[0].line
    (1, 2)
    """
    lines: list[_Line] = []
    skipped: list[Skipped] = []
    for number, line in enumerate(data.removeprefix(BOM).splitlines(), 1):
        if not line.strip():
            continue
        try:
            (native,) = from_lines(line, text=False).natives
            lines.append(_Line(number, native, mapping(native)))
        except FormatError as error:
            why = str(error).removeprefix("line 1: ")
            if why != "no line holds a message":
                skipped.append(Skipped(number, why))
            elif not line.lstrip().startswith(b"["):  # a row of a log that is about something else
                skipped.append(Skipped(number, _NO_MESSAGE))
        except ValueError as error:
            skipped.append(Skipped(number, str(error)))
    kept, foreign = _readable(lines, format)
    return [one.native for one in kept], sorted([*skipped, *foreign], key=lambda one: one.line)


def _readable(lines: list[_Line], name: str | None) -> tuple[list[_Line], list[Skipped]]:
    """Tell lines that hold a message of one format from others."""
    format = get_format(name) if name is not None else _common(lines)
    kept: list[_Line] = []
    foreign: list[Skipped] = []
    for one in lines:
        why = _NO_MESSAGE if format is None else _wrong_with(one.value, format)
        if why:
            foreign.append(Skipped(one.number, why))
        else:
            kept.append(one)
    return kept, foreign


def _common(lines: list[_Line]) -> Format | None:
    """Find the format of the lines that are a message in any."""
    every = FORMATS.values()
    values = [one.value for one in lines if any(form.evidence(one.value) for form in every)]
    return detect(values)[0] if values else None


def _wrong_with(value: Any, format: Format) -> str:
    """Say why a line cannot be taken for a message of a format; empty where it can."""
    if format.evidence(value) == NO:
        other = is_distinct(value, format)
        if other is None:
            return _NO_MESSAGE
        return f"a message in the format {other.name}, among others in {format.name}"
    try:
        load([value], format=format.name).facts_from(0)
    except FormatError as error:
        return str(error).removeprefix("messages[0]: ")
    return ""
