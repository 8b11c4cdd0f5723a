"""Asks: what is asked of `trim` when laws are tried, one value for each window.

Knows: the arguments of `trim`, and which of them make a ladder over one history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.testing.subject import Subject

__all__ = ["Ask", "few", "ladder"]

_ARGUMENT: Final = {MESSAGES: "max_messages", TOKENS: "max_tokens", CHARS: "max_chars"}
# Every limit up to this many messages is tried; above it, Fibonacci's steps.
DENSE: Final = 16
_STEPS: Final = (21, 34, 50, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765, 10946)
# Where many profiles are tried, these are the limits in messages.
_FEW: Final = (1, 2, 4, 8, 21, 89)
FRACTIONS: Final = (0.02, 0.1, 0.25, 0.5, 0.75, 0.95)


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One set of arguments for `trim`: one limit in one unit, and the policies.

    >>> Ask(limit=5).arguments()["max_messages"]
    5
    """

    limit: int
    unit: str = MESSAGES
    counter: Any = None
    profile: str = "portable"
    cut: Literal["groups", "prefix"] = "groups"
    floor: bool = True
    on_overflow: Literal["raise", "smallest", "empty"] = "raise"
    trim_to: int | None = None
    reserve: int = 0
    pins: tuple[int, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments for `trim` and `plan`."""
        return {
            _ARGUMENT[self.unit]: self.limit,
            "counter": self.counter,
            "profile": self.profile,
            "cut": self.cut,
            "floor": self.floor,
            "on_overflow": self.on_overflow,
            "trim_to": self.trim_to,
            "reserve": self.reserve,
            "pins": self.pins,
        }

    def after(self, kept: Sequence[int]) -> Ask:
        """Return the same ask about the messages at `kept` alone."""
        where = {position: at for at, position in enumerate(kept)}
        counter = self.counter
        if isinstance(counter, (list, tuple)):
            counter = [counter[position] for position in kept]  # pyright: ignore[reportUnknownVariableType]
        pins = tuple(where[pin] for pin in self.pins if pin in where)
        return msgspec.structs.replace(self, counter=counter, pins=pins)

    def __str__(self) -> str:
        said = f"{_ARGUMENT[self.unit]}={self.limit} cut={self.cut} profile={self.profile}"
        for name, value, usual in (
            ("counter", self.counter, None),
            ("floor", self.floor, True),
            ("on_overflow", self.on_overflow, "raise"),
            ("trim_to", self.trim_to, None),
            ("reserve", self.reserve, 0),
            ("pins", self.pins, ()),
        ):
            if value != usual:
                said += f" {name}={value}"
        return said


def ladder(subject: Subject, profiles: Sequence[str]) -> Iterator[Ask]:
    """Yield the windows that the laws are tried on for one history.

    Limits from 0 to past its end in messages, fractions of its size in characters and in tokens by
    the bound and by the estimate; both cuts; with the floor and without; and a few with pins, a low
    mark, a reserve and the other answers to an overflow.
    """
    count = len(subject)
    rungs = [
        *range(min(count, DENSE) + 1),
        *(step for step in _STEPS if step < count),
        count,
        count + 1,
    ]
    sizes = {
        (unit, counter): subject.size(unit, counter)
        for unit, counter in ((CHARS, None), (TOKENS, "bytes"), (TOKENS, None))
    }
    for profile in profiles:
        for cut in ("groups", "prefix"):
            for floor in (True, False):
                for limit in dict.fromkeys(rungs):
                    yield Ask(limit=limit, profile=profile, cut=cut, floor=floor)
                for (unit, counter), size in sizes.items():
                    for fraction in FRACTIONS:
                        limit = int(size * fraction) + 1
                        yield Ask(
                            limit=limit,
                            unit=unit,
                            counter=counter,
                            profile=profile,
                            cut=cut,
                            floor=floor,
                        )
            yield from _special(count, profile, cut, sizes[TOKENS, "bytes"])


def few(subject: Subject, profiles: Sequence[str]) -> Iterator[Ask]:
    """Yield a few windows for each of many profiles: both cuts, with the floor and without.

    >>> from lockstitch.testing import assistant, user
    >>> from lockstitch.testing.subject import Subject
    >>> len(list(few(Subject.of([user(), assistant()]), ["portable"])))
    10
    """
    count = len(subject)
    rungs = dict.fromkeys((*(step for step in _FEW if step < count), count // 2, count))
    for profile in profiles:
        for cut in ("groups", "prefix"):
            for floor in (True, False):
                for limit in rungs:
                    yield Ask(limit=limit, profile=profile, cut=cut, floor=floor)
            yield Ask(limit=2, profile=profile, cut=cut, on_overflow="smallest")


def _special(
    count: int, profile: str, cut: Literal["groups", "prefix"], tokens: int
) -> Iterator[Ask]:
    half = count // 2
    for on_overflow in ("smallest", "empty"):
        for limit in (1, 2, half):
            yield Ask(limit=limit, profile=profile, cut=cut, on_overflow=on_overflow)
    yield Ask(limit=half + 1, trim_to=half // 2, profile=profile, cut=cut)
    if half > 1:
        pins = (1, half)
        yield Ask(limit=half + 2, pins=pins, profile=profile, cut=cut)
        yield Ask(limit=half + 2, pins=pins, floor=False, profile=profile, cut=cut)
    yield Ask(
        limit=tokens, unit=TOKENS, counter="bytes", reserve=tokens // 3, profile=profile, cut=cut
    )
