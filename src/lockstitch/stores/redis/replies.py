"""Replies: from what scripts and hashes hold to rows, versions and times.

Must not know: which operation they reply to.
"""

from __future__ import annotations

from itertools import repeat
from struct import Struct, error
from typing import TYPE_CHECKING, Final

from lockstitch.errors import CorruptRow
from lockstitch.stores.base import Stored
from lockstitch.stores.names import unescaped

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["expiry", "stored", "text", "utf8", "without_ranges"]

_CLOCK: Final = Struct("<d")


def utf8(value: str) -> bytes:
    """Write any text, even what Unicode does not allow."""
    return value.encode("utf-8", "surrogatepass")


def text(value: bytes) -> str:
    """Read what `utf8` wrote."""
    return value.decode("utf-8", "surrogatepass")


def without_ranges(head: bytes | None) -> bytes | None:
    """Return a head without the ranges that stand before it."""
    return None if head is None else head[head.index(b"\n") + 1 :]


def expiry(updated: int, ttl: int) -> float | None:
    """Return when a session expires, in seconds since 1970.

    Args:
        updated: when it was written last, in microseconds.
        ttl: how long it lives from then on, in milliseconds; 0 for ever.

    >>> expiry(1_700_000_000_000_000, 500), expiry(1_700_000_000_000_000, 0)
    (1700000000.5, None)
    """
    return (updated // 1_000 + ttl) / 1_000 if ttl else None


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

    >>> stored((7, 7), [_CLOCK.pack(1_500_000) + b"m1 {}"])
    (Stored(seq=7, meta=b'{}', payload=None, mark='m1', at=1.5),)
    """
    numbers = [seq for at in range(0, len(spans), 2) for seq in range(spans[at], spans[at + 1] + 1)]
    texts = repeat(None, len(rows)) if payloads is None else payloads
    found: list[Stored] = []
    last, mark = b"", ""
    for seq, row, payload in zip(numbers, rows, texts, strict=True):
        try:
            end = row.index(b" ", 8)
            (at,) = _CLOCK.unpack_from(row)
        except (ValueError, error):
            raise CorruptRow(f"it begins with {row[:16]!r}", seq=seq) from None
        whose = row[8:end]
        if whose != last:  # the rows of a batch stand together
            last, mark = whose, unescaped(whose.decode())
        found.append(Stored(seq, row[end + 1 :], payload, mark, at / 1_000_000))
    return tuple(found)
