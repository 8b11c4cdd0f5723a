"""Replies: from what scripts and hashes hold to rows, versions and times.

Must not know: which operation they reply to.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Final

from lockstitch.errors import CorruptRow
from lockstitch.stores.base import Stored
from lockstitch.stores.names import unescaped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["expiry", "stored", "text", "utf8"]

_CLOCK: Final = 16  # digits of microseconds since 1970; they stay sixteen until 2286


def utf8(value: str) -> bytes:
    """Write any text, even one that is not Unicode."""
    return value.encode("utf-8", "surrogatepass")


def text(value: bytes) -> str:
    """Read what `utf8` wrote."""
    return value.decode("utf-8", "surrogatepass")


def expiry(milliseconds: int) -> float | None:
    """Return when a session expires, in seconds since 1970.

    >>> expiry(0), expiry(1_700_000_000_500)
    (None, 1700000000.5)
    """
    return milliseconds / 1_000 if milliseconds else None


def stored(
    spans: Sequence[int], rows: Sequence[bytes], payloads: Sequence[bytes] | None = None
) -> tuple[Stored, ...]:
    """Return rows as they were read.

    Args:
        spans: their numbers: first, last, first, last, ...
        rows: when each came, its mark and its meta.
        payloads: their payloads; `None` when they were not asked for.

    Raises:
        CorruptRow: one of them is not as it was written.

    >>> stored((7, 7), [b"1700000000500000m1 {}"])
    (Stored(seq=7, meta=b'{}', payload=None, mark='m1', at=1700000000.5),)
    """
    numbers = [seq for at in range(0, len(spans), 2) for seq in range(spans[at], spans[at + 1] + 1)]
    texts = repeat(None, len(rows)) if payloads is None else payloads
    found: list[Stored] = []
    last, mark = b"", ""
    for seq, row, payload in zip(numbers, rows, texts, strict=True):
        try:
            end = row.index(b" ", _CLOCK)
            at = int(row[:_CLOCK]) / 1_000_000
        except ValueError:
            raise CorruptRow(f"it begins with {row[:_CLOCK]!r}", seq=seq) from None
        whose = row[_CLOCK:end]
        if whose != last:  # the rows of a batch stand together
            last, mark = whose, unescaped(whose.decode())
        found.append(Stored(seq, row[end + 1 :], payload, mark, at))
    return tuple(found)
