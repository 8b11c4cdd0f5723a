"""Rows: a message and what decisions read of it, as two strings of bytes.

Knows: the envelope of a row. Its meta holds the facts, the sizes with what counted them, a checksum
of the payload, and of the first row of a batch how many rows came with it; so decisions never look
at a payload, and an old payload is never parsed to append a new one.

Must not know: where rows are kept, what a view is.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import CorruptRow, SchemaTooNew
from lockstitch.facts import (
    ASSISTANT,
    ASSISTANT_FACTS,
    OTHER,
    OTHER_FACTS,
    SYSTEM,
    SYSTEM_FACTS,
    USER,
    USER_FACTS,
    Facts,
    Link,
)
from lockstitch.formats import FORMATS
from lockstitch.stores.base import Row, Stored
from lockstitch.stores.codec import read_native, write_native
from lockstitch.stores.objects import marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.measure.counters import Sizer
    from lockstitch.transcript import Transcript

__all__ = ["ENVELOPE", "SEALED", "UNREADABLE", "Meta", "make_rows", "native_of", "read_meta"]

ENVELOPE: Final = 1
"""The version of the envelope that this code writes, and the newest that it reads."""
SEALED: Final = b"LS1"
"""How bytes begin that were encrypted; nothing else of ours begins so."""
UNREADABLE: Final = b"\xc1"
"""How bytes begin that stand for some that could not be opened; the rest says why. No meta and no
payload begins so."""

_SHARED: Final = {
    SYSTEM: SYSTEM_FACTS,
    USER: USER_FACTS,
    ASSISTANT: ASSISTANT_FACTS,
    OTHER: OTHER_FACTS,
}


class _Envelope(msgspec.Struct, frozen=True, array_like=True):
    """A meta as it is written: the version first, so that a newer one is known by it."""

    version: int
    format: str
    role: str
    reasoning: bool
    asks: tuple[str, ...]
    answers: tuple[str, ...]
    links: tuple[tuple[str, str, str | None, str | None, str | None, str], ...]
    chars: int | None
    tokens: int | None
    counter: str
    checksum: int
    batch: int
    key: str | None


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a row without its payload.

    Args:
        format: the format of the message; empty where it is the same in most of them.
        facts: its facts.
        chars: its characters of text, `None` where nobody counted; `tokens` likewise.
        counter: what counted the tokens.
        checksum: of the payload.
        batch: of the first row of a batch, how many rows it has; 0 of the others.
        key: of the first row, the caller's key for the batch, if there was one.
    """

    format: str
    facts: Facts
    chars: int | None = None
    tokens: int | None = None
    counter: str = ""
    checksum: int = 0
    batch: int = 0
    key: str | None = None

    def size(self, unit: str, counter: str) -> int | None:
        """Return the size in a unit, `None` where it was not counted by that counter."""
        if unit == "messages":
            return 1
        if unit == "chars":
            return self.chars
        return self.tokens if self.counter == counter else None


_encode = msgspec.msgpack.Encoder().encode
_envelopes = msgspec.msgpack.Decoder(_Envelope)
_anything = msgspec.msgpack.Decoder()


def make_rows(
    transcript: Transcript,
    sizers: Sequence[Sizer],
    *,
    key: str | None = None,
    sure: bool = True,
    where: str = "messages",
) -> tuple[tuple[Row, ...], list[Meta]]:
    """Make the rows of a batch, and what is known of each.

    Args:
        transcript: the messages.
        sizers: what counts them.
        key: the caller's key for the batch.
        sure: whether the format is settled; plain text is the same in most of them.
        where: how the list is named in errors.

    Raises:
        FormatError: a message cannot be stored and read back the same.
    """
    rows: list[Row] = []
    metas: list[Meta] = []
    facts = transcript.facts_from(0)
    format = transcript.format.name if sure else ""
    tokens = next((sizer for sizer in sizers if sizer.unit == "tokens"), None)
    chars = next((sizer for sizer in sizers if sizer.unit == "chars"), None)
    batch = len(facts)
    for at, native in enumerate(transcript.natives):
        payload = write_native(marked(native), f"{where}[{at}]")
        meta = Meta(
            format=format,
            facts=facts[at],
            chars=chars.size(at) if chars else None,
            tokens=tokens.size(at) if tokens else None,
            counter=tokens.counter if tokens else "",
            checksum=zlib.crc32(payload),
            batch=batch,
            key=key,
        )
        # Only the first row of a batch says so.
        batch, key = 0, None
        rows.append(Row(_written(meta), payload))
        metas.append(meta)
    return tuple(rows), metas


def _written(meta: Meta) -> bytes:
    facts = meta.facts
    links = facts.links
    envelope = _Envelope(
        ENVELOPE,
        meta.format,
        facts.role,
        facts.reasoning,
        facts.asks,
        facts.answers,
        tuple([msgspec.structs.astuple(link) for link in links]) if links else (),
        meta.chars,
        meta.tokens,
        meta.counter,
        meta.checksum,
        meta.batch,
        meta.key,
    )
    try:
        return _encode(envelope)
    except UnicodeEncodeError:
        # An id with half a surrogate pair: written as msgpack's bytes, which take anything.
        return _encode(_bytewise(msgspec.structs.astuple(envelope)))


def _bytewise(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return [_bytewise(item) for item in value] if isinstance(value, tuple) else value


def _textwise(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogatepass")
    return [_textwise(item) for item in value] if isinstance(value, list) else value


def read_meta(stored: Stored) -> Meta:
    """Read the meta of a row.

    Raises:
        CorruptRow: it cannot be read.
        SchemaTooNew: a newer version of Lockstitch wrote it.
    """
    if stored.meta.startswith(UNREADABLE):
        raise CorruptRow(_told(stored.meta), seq=stored.seq)
    envelope: _Envelope | None
    try:
        envelope = _envelopes.decode(stored.meta)
        version = envelope.version
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        envelope, version = _second_look(stored, error)
    if version != ENVELOPE or envelope is None:
        raise SchemaTooNew(found=version, known=ENVELOPE, where=f"row {stored.seq}")
    if envelope.asks or envelope.answers or envelope.links or envelope.reasoning:
        links = tuple([Link(*link) for link in envelope.links])
        facts = Facts(
            envelope.role, links, envelope.asks, envelope.answers, reasoning=envelope.reasoning
        )
    else:
        facts = _SHARED.get(envelope.role) or Facts(envelope.role)
    return Meta(
        format=envelope.format,
        facts=facts,
        chars=envelope.chars,
        tokens=envelope.tokens,
        counter=envelope.counter,
        checksum=envelope.checksum,
        batch=envelope.batch,
        key=envelope.key,
    )


def _told(unreadable: bytes) -> str:
    """Return why something is unreadable, which may be garbage that only begins like this."""
    return unreadable[1:].decode(errors="replace") or "it cannot be read"


def _second_look(stored: Stored, error: Exception) -> tuple[_Envelope | None, int]:
    """Read a meta that is not of today's shape: one of bytes, or of a later version."""
    try:
        value = _textwise(_anything.decode(stored.meta))
        version = value[0]
        if type(version) is int and version > ENVELOPE:
            return None, version
        return msgspec.convert(value, _Envelope), version
    except (msgspec.MsgspecError, ValueError, TypeError, LookupError):
        raise CorruptRow(f"its meta cannot be read: {error}", seq=stored.seq) from None


def native_of(stored: Stored, meta: Meta) -> Any:
    """Read the message of a row.

    Raises:
        CorruptRow: it cannot be read, or its checksum differs.
    """
    payload = stored.payload
    if not payload:
        raise CorruptRow("its payload is not there", seq=stored.seq)
    if payload.startswith(UNREADABLE):
        raise CorruptRow(_told(payload), seq=stored.seq)
    if zlib.crc32(payload) != meta.checksum:
        raise CorruptRow("its payload has another checksum", seq=stored.seq)
    if meta.format and meta.format not in FORMATS:
        raise CorruptRow(f"its format {meta.format!r} is not known", seq=stored.seq)
    try:
        return read_native(payload)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise CorruptRow(f"its payload cannot be read: {error}", seq=stored.seq) from None
