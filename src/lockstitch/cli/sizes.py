"""Sizes: characters and tokens of every message of a history, and what comes on top of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.measure.counters import sizer_for
from lockstitch.measure.limits import CHARS, TOKENS

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = ["Sizes", "measure"]


class Sizes(msgspec.Struct, frozen=True, kw_only=True):
    """The size of each message, and of what the request carries beside them."""

    chars: Sequence[int]
    tokens: Sequence[int]
    around_chars: int
    around_tokens: int

    def total(self, positions: Iterable[int]) -> dict[str, int]:
        """Add up some of the messages and what stands around them."""
        chosen = list(positions)
        return {
            "messages": len(chosen),
            "chars": self.around_chars + sum(self.chars[at] for at in chosen),
            "tokens": self.around_tokens + sum(self.tokens[at] for at in chosen),
        }


def measure(transcript: Transcript, counter: Any = None) -> Sizes:
    """Measure every message; `counter` as for `trim`.

    >>> from lockstitch import load
    >>> measure(load([{"role": "user", "content": "hello"}]), "bytes").total([0])
    {'messages': 1, 'chars': 5, 'tokens': 9}
    """
    chars, tokens = sizer_for(transcript, CHARS), sizer_for(transcript, TOKENS, counter)
    positions = range(len(transcript))
    return Sizes(
        chars=[chars.size(at) for at in positions],
        tokens=[tokens.size(at) for at in positions],
        around_chars=chars.around,
        around_tokens=tokens.around,
    )
