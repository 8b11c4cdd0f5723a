"""Files: reading a history from a path or standard input, writing one back the way it was read.

JSON, JSON lines, and gzip of either, known by what the data begins with and not by the name. The
input is never written to unless it is named with `-o`, and then it is replaced in one step.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.cli.failures import Unusable, phrase
from lockstitch.errors import AmbiguousFormat, FormatError
from lockstitch.formats import is_distinct
from lockstitch.history import load

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockstitch.transcript import Transcript

__all__ = [
    "Input",
    "open_input",
    "open_record",
    "raw_json",
    "read_input",
    "write_file",
    "write_pieces",
    "write_stdout",
]

_GZIP = b"\x1f\x8b"


class Input(msgspec.Struct, frozen=True):
    """What was read: the name it was asked for by, its bytes, whether they came compressed."""

    name: str
    data: bytes
    zipped: bool


def read_input(name: str) -> Input:
    """Read a file, or standard input for `-`.

    Raises:
        Unusable: it cannot be read; the message names it.
    """
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise Unusable(f"{name}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a name with a NUL in it
        raise Unusable(f"{name!r}: cannot be read: {error}") from None
    if not data.startswith(_GZIP):
        return Input(name, data, zipped=False)
    try:
        return Input(name, gzip.decompress(data), zipped=True)
    except (OSError, EOFError, zlib.error) as error:
        raise Unusable(f"{name}: damaged gzip data: {error}") from None


def open_input(source: Input, format: str | None) -> Transcript:
    """Open the history in an input, and look at every message of it once.

    Raises:
        Unusable: it holds none, or a message cannot be read; the message says where.
    """
    transcript: Transcript | None = None
    try:
        transcript = load(source.data, format=format)
        transcript.facts_from(0)
    except FormatError as error:
        where = "" if error.where or transcript is None else f"{_first_bad(transcript)}: "
        raise Unusable(f"{source.name}: {where}{phrase(error)}", error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{source.name}: {_bad_bytes(source.data, error)}") from None
    return transcript


def open_record(source: Input, beside: Transcript, format: str | None) -> Transcript:
    """Open a record in the format of the history beside it; `format` as it was asked for.

    Raises:
        Unusable: it cannot be read, or it is in another format.
    """
    if format is None:
        _check_known(source)
    record = open_input(source, beside.format.name)
    for position, native in enumerate(record.natives):
        other = is_distinct(native, beside.format)
        if other is not None:
            raise Unusable(
                f"{source.name}: {record.path}[{position}] is in the format {other.name}, and the "
                f"history in {beside.format.name}: a record is in the format of its history"
            )
    return record


def _check_known(source: Input) -> None:
    """Raise unless some format fits; more than one may."""
    try:
        open_input(source, None)
    except Unusable as failure:
        if not isinstance(failure.cause, AmbiguousFormat):
            raise


def _first_bad(transcript: Transcript) -> str:
    """Find the message that cannot be read."""
    position = 0
    with suppress(FormatError):
        while position < len(transcript):
            transcript.facts_at(position)
            position += 1
    return f"{transcript.path}[{position}]"


def _bad_bytes(data: bytes, error: Exception) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return f"not UTF-8: {problem.reason} (byte {problem.start})"
    return str(error)


def write_stdout(data: bytes, *, zipped: bool) -> None:
    """Write a history to standard output the way it was read.

    A terminal gets text that ends in a line end, whatever was read.
    """
    stream = sys.stdout.buffer
    if stream.isatty():
        data = data if data.endswith(b"\n") else data + b"\n"
    elif zipped:
        data = _compressed(data)
    stream.write(data)
    stream.flush()


def write_file(name: str, data: bytes, *, zipped: bool) -> None:
    """Write a history to a file in one step: a reader sees the old one or the new one.

    Raises:
        Unusable: it cannot be written; whatever was there still is.
    """
    write_pieces(name, [_compressed(data) if zipped else data])


def write_pieces(name: str, pieces: Iterable[bytes]) -> None:
    """Write a file in one step, of pieces that are made one after the other.

    Raises:
        Unusable: it cannot be written; whatever was there still is.
    """
    target = Path(os.path.realpath(name))  # a link stays a link
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            with target.open("wb") as stream:
                stream.writelines(pieces)
            return
        mode = target.stat().st_mode & 0o7777 if target.exists() else None
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(pieces)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask() if mode is None else mode)
            Path(temporary).replace(target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Unusable(f"{name}: cannot be written: {error.strerror or error}") from None


def _compressed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # the same history gives the same file


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def raw_json(native: Any) -> bytes:
    """Write one message as it stands in the file.

    What the fast reader refuses (lone surrogates, NaN) was read by the standard one, so that writes
    it: it keeps both, where msgspec would fail on one and write null for the other.
    """
    return bytes(native) if isinstance(native, msgspec.Raw) else json.dumps(native).encode()
