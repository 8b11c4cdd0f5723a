"""Settings: what is stored with a session so that every handle on it decides alike.

Knows: strategy, profile, model, retention, what is done on overflow; what a limit is for a session.

Must not know: messages, backends.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from lockstitch.errors import CorruptRow, SchemaTooNew
from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS, Limits
from lockstitch.rules.profiles import Profile, get_profile
from lockstitch.stores.codec import read_as, write
from lockstitch.stores.rows import SEALED
from lockstitch.strategies.directive import HistoryDirective
from lockstitch.strategies.named import HistoryStrategy, resolve_history
from lockstitch.strategies.steps import DropOldest, KeepLast

__all__ = ["EXACT", "Overflow", "Retention", "Settings", "Terms", "check_ttl", "directive_of"]

SETTINGS: Final = 1
EXACT: Final = 8
"""Up to a limit of so many messages a cut stops at the limit and not at half of it: so few have no
prefix that would be worth keeping stable."""

Overflow = Literal["drop", "smallest", "raise"]


class Retention(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the record is kept; what the view shows always is.

    Args:
        messages: the newest that are kept; `None` for all.
        seconds: how old they may get; `None` for any age.

    >>> Retention(messages=10_000).seconds is None
    True
    """

    messages: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.messages is not None and type(self.messages) is not int:
            raise TypeError(f"messages must be an integer or None, got {self.messages!r}")
        for name in ("messages", "seconds"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} must not be negative, got {value}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is stored with a session.

    Args:
        format: of its messages; empty before the first.
        directive: what its strategy decided; `None` for no limit.
        profile: the target.
        model: the model, where it is known.
        retention: how much of the record is kept; `None` for all of it.
        overflow: what is done when what must stay is over a limit: `drop` it with a warning, show
            the `smallest` window anyway, or `raise` from `window`.
        copying: names the session that is being copied here, until it is all here.
        version: of this shape.
    """

    format: str = ""
    directive: HistoryDirective | None = None
    profile: str = "portable"
    model: str = ""
    retention: Retention | None = None
    overflow: Overflow = "drop"
    copying: str = ""
    version: int = SETTINGS

    def __post_init__(self) -> None:
        if self.overflow not in ("drop", "smallest", "raise"):
            raise ValueError(
                f'on_overflow must be "drop", "smallest" or "raise", got {self.overflow!r}'
            )

    @classmethod
    def read(cls, data: bytes) -> Settings:
        """Read settings; nothing is those of a session that was given none.

        Raises:
            SchemaTooNew: a newer version of Lockstitch wrote them.
            CorruptRow: they cannot be read.
        """
        if not data:
            return cls()
        if data.startswith(SEALED):
            raise CorruptRow("the session is encrypted: open the store with its keys")
        try:
            found = read_as(data, cls)
        except ValueError as error:
            raise CorruptRow(f"the settings of the session cannot be read: {error}") from None
        if found.version > SETTINGS:
            raise SchemaTooNew(found=found.version, known=SETTINGS, where="the session")
        return found

    def written(self) -> bytes:
        """Write them."""
        return write(self)


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a cut is decided by, worked out once for many decisions.

    Args:
        directive: steps and limits.
        limits: the limits, with the mark that a cut goes down to.
        profile: the target.
        model: the model, empty where it is not known.
        counter: what counts tokens, as for `trim`.
        overflow: as in `Settings`.
        bounded: whether there is anything to be kept to.
        by_facts: whether whole groups are all that a cut may drop, so that it needs no payloads.
        units: the units in which messages are counted when they are appended.
        ceilings: the size in each unit above which there is something to do.
        keeps_last: the step that keeps so many turns or groups, if there is one.
    """

    directive: HistoryDirective
    limits: Limits
    profile: Profile
    model: str
    counter: Any
    overflow: Overflow
    bounded: bool
    by_facts: bool
    units: tuple[str, ...]
    ceilings: dict[str, int]
    keeps_last: KeepLast | None

    @classmethod
    def of(cls, settings: Settings, counter: Any) -> Terms:
        """Make the terms of settings."""
        asks = settings.directive or _NOTHING
        limits = _marked(asks.limits())
        ceilings = {unit: limits.bounds(unit)[1] for unit in limits.units}
        if asks.trigger_chars is not None:
            ceilings[CHARS] = min(ceilings.get(CHARS, asks.trigger_chars), asks.trigger_chars)
        plain = all(isinstance(step, DropOldest) for step in asks.planned_steps())
        return cls(
            directive=asks,
            limits=limits,
            profile=get_profile(settings.profile),
            model=settings.model,
            counter=counter,
            overflow="smallest" if asks.on_overflow == "smallest" else settings.overflow,
            bounded=asks.bounded,
            by_facts=plain and not (asks.pins or asks.must_survive or settings.model),
            units=tuple(unit for unit in (TOKENS, CHARS) if unit in ceilings),
            ceilings=ceilings,
            keeps_last=next((one for one in asks.steps if isinstance(one, KeepLast)), None),
        )


_NOTHING: Final = HistoryDirective(kind="null")


@lru_cache(maxsize=64)
def _marked(limits: Limits) -> Limits:
    """Give limits the mark that a session's cuts go down to: half, where nobody said another."""
    if limits.trim_to is not None or limits.low_water is not None or not limits.units:
        return limits
    if limits.units == (MESSAGES,) and (limits.max_messages or 0) <= EXACT:
        return limits
    return msgspec.structs.replace(limits, low_water=0.5)


def directive_of(
    strategy: HistoryStrategy | None,
    max_messages: int | None,
    max_tokens: int | None,
    max_chars: int | None,
) -> HistoryDirective | None:
    """Return what a strategy and limits beside it decide; the limits overrule its own.

    Raises:
        ConversationServiceError: the strategy is none.
        TypeError, ValueError: a limit is not what it must be.

    >>> directive_of(None, 50, None, None).window_messages
    50
    """
    limits = {"window_messages": max_messages, "max_tokens": max_tokens, "max_chars": max_chars}
    given: dict[str, Any] = {name: size for name, size in limits.items() if size is not None}
    if strategy is None:
        return HistoryDirective(kind="sliding_window", **given) if given else None
    decided = resolve_history(strategy)
    return msgspec.structs.replace(decided, **given) if given else decided


def check_ttl(ttl: float | None) -> None:
    """Refuse what is no time that a session lives.

    >>> check_ttl(-1)
    Traceback (most recent call last):
    ValueError: ttl must be seconds, 0 for never, got -1
    """
    if ttl is not None and (isinstance(ttl, bool) or ttl < 0):
        raise ValueError(f"ttl must be seconds, 0 for never, got {ttl!r}")
