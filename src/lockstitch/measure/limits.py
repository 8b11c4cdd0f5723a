"""Limits: how large a window may be. Values that refuse nonsense when they are built.

Knows: the three units and what a limit means everywhere: `None` is unlimited, 0 keeps nothing.
Must not know: messages, counters, strategies.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["CHARS", "MESSAGES", "TOKENS", "Limits"]

MESSAGES: Final = "messages"
TOKENS: Final = "tokens"
CHARS: Final = "chars"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of a window.

    Args:
        max_messages: most messages, `None` for no bound, 0 to keep nothing.
        max_tokens: most tokens, likewise.
        max_chars: most characters, likewise.
        trim_to: where a cut stops once a limit is passed, in the unit of the only limit set; the
            limit itself by default.
        low_water: the same as a share of the room under each limit, above 0 and at most 1.
        reserve: tokens (or characters, where only those are bounded) kept free for the completion
            and for what the request carries beside the messages.

    Raises:
        TypeError: a value is no plain integer (bool, float and str are refused).
        ValueError: a value is negative, or goes with no limit.

    >>> Limits(max_messages=50).units
    ('messages',)
    """

    max_messages: int | None = None
    max_tokens: int | None = None
    max_chars: int | None = None
    trim_to: int | None = None
    reserve: int = 0
    low_water: float | None = None

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if (value is None and name != "reserve") or name == "low_water":
                continue
            if type(value) is not int:
                raise TypeError(f"{name} must be an integer{_unless(name)}, got {value!r}")
            if value < 0:
                raise ValueError(f"{name} must not be negative, got {value}{_hint(name)}")
        units = self.units
        if self.trim_to is not None:
            if len(units) != 1:
                raise ValueError("trim_to goes with exactly one limit: its unit would be unclear")
            limit = self.limit(units[0])
            if limit is not None and self.trim_to > limit:
                raise ValueError(f"trim_to ({self.trim_to}) must not exceed the limit ({limit})")
        if self.low_water is not None:
            self._check_low_water(self.low_water)
        if self.reserve and not (self.max_tokens is not None or self.max_chars is not None):
            raise ValueError("reserve goes with max_tokens or max_chars")

    def _check_low_water(self, share: float) -> None:
        if type(share) not in (int, float):
            raise TypeError(f"low_water must be a share such as 0.5, or None, got {share!r}")
        if not 0 < share <= 1:
            raise ValueError(f"low_water must be above 0 and at most 1, got {share}")
        if self.trim_to is not None:
            raise ValueError("trim_to and low_water say the same: give one of them")

    @property
    def units(self) -> tuple[str, ...]:
        """The units that are bounded."""
        pairs = ((MESSAGES, self.max_messages), (TOKENS, self.max_tokens), (CHARS, self.max_chars))
        return tuple(unit for unit, limit in pairs if limit is not None)

    @property
    def nothing(self) -> bool:
        """Whether a limit of 0 asks for an empty window."""
        return self.max_messages == 0 or self.max_tokens == 0 or self.max_chars == 0

    def limit(self, unit: str) -> int | None:
        """Return the limit in a unit, as it was asked for."""
        found: int | None = getattr(self, f"max_{unit}")
        return found

    def bounds(self, unit: str) -> tuple[int, int, int]:
        """Return, for a bounded unit, the limit, the room under it, and where a cut stops.

        The room is the limit less the reserve; a cut stops at `trim_to` if that is lower, or at
        `low_water`'s share of the room.
        """
        limit = self.limit(unit)
        if limit is None:
            raise ValueError(f"no limit is set in {unit}")
        room = limit
        if self.reserve and (unit == TOKENS or (unit == CHARS and self.max_tokens is None)):
            room -= self.reserve
        if self.low_water is not None:
            return limit, room, int(room * self.low_water)
        return limit, room, room if self.trim_to is None else min(self.trim_to, room)


def _unless(name: str) -> str:
    return "" if name == "reserve" else " or None"


def _hint(name: str) -> str:
    return "; 0 keeps nothing, None is unlimited" if name.startswith("max_") else ""
