"""The named strategies: one question answered, nothing touched.

Knows: the seed's three strategies under their names, those beside them, and how one is chosen. A
strategy answers with a directive; carrying it out is somebody else's business, and so is any
configuration.

Must not know: messages, how a directive is carried out.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

import msgspec

from lockstitch.errors import ConversationServiceError
from lockstitch.strategies.directive import (
    DEFAULT_KEEP_RECENT,
    DEFAULT_TRIGGER_CHARS,
    HistoryDirective,
    check_size,
)
from lockstitch.strategies.steps import KeepLast, Pin, Step

__all__ = [
    "HistoryStrategy",
    "LastGroupsHistoryStrategy",
    "LastTurnsHistoryStrategy",
    "NullHistoryStrategy",
    "SlidingWindowHistoryStrategy",
    "StepsHistoryStrategy",
    "SummarizingHistoryStrategy",
    "TokenBudgetHistoryStrategy",
    "resolve_history",
]


@runtime_checkable
class HistoryStrategy(Protocol):
    """A policy for keeping a conversation in its window: anything with a `directive()`."""

    def directive(self) -> HistoryDirective:
        """Return what was decided; it must not touch anything."""
        ...


class NullHistoryStrategy(msgspec.Struct, frozen=True):
    """Keep everything: the history grows to the model's own limit.

    >>> NullHistoryStrategy().directive().kind
    'null'
    """

    def directive(self) -> HistoryDirective:
        """Return a directive without limits."""
        return HistoryDirective(kind="null")


class SlidingWindowHistoryStrategy(msgspec.Struct, frozen=True):
    """Keep the newest messages and drop older ones, whole groups at a time.

    Args:
        window_size: most messages in all, the system part included; 0 keeps nothing.

    Raises:
        TypeError, ValueError: it is no whole number of at least 0.

    >>> SlidingWindowHistoryStrategy(40).directive().window_messages
    40
    """

    window_size: int

    def __post_init__(self) -> None:
        check_size("window_size", self.window_size)

    def directive(self) -> HistoryDirective:
        """Return a directive with a limit in messages."""
        return HistoryDirective(kind="sliding_window", window_messages=self.window_size)


class SummarizingHistoryStrategy(msgspec.Struct, frozen=True):
    """Put a running summary in the place of older messages, and keep the newest word by word.

    Args:
        trigger_chars: characters of text above which it is summarised; 16,000 by default, some
            4,000 tokens.
        keep_recent: the newest messages that stay; 10 by default.

    Raises:
        TypeError, ValueError: one of them is no whole number of at least 0.

    >>> SummarizingHistoryStrategy().directive() == HistoryDirective.default()
    True
    """

    trigger_chars: int = DEFAULT_TRIGGER_CHARS
    keep_recent: int = DEFAULT_KEEP_RECENT

    def __post_init__(self) -> None:
        check_size("trigger_chars", self.trigger_chars)
        check_size("keep_recent", self.keep_recent)

    def directive(self) -> HistoryDirective:
        """Return a directive that summarises."""
        return HistoryDirective(
            kind="summarizing",
            summarize=True,
            trigger_chars=self.trigger_chars,
            keep_recent=self.keep_recent,
        )


class TokenBudgetHistoryStrategy(msgspec.Struct, frozen=True, kw_only=True):
    """Keep what fits into a number of tokens, and drop whole groups, oldest first.

    Args:
        max_tokens: most tokens in all, `system` and `tools` of a request body included.
        trim_to: once they are passed, cut to this; half of the limit keeps the prompt prefix the
            same for many turns.
        reserve: tokens kept free for the completion.

    >>> TokenBudgetHistoryStrategy(max_tokens=8_000, trim_to=4_000).directive().trim_to
    4000
    """

    max_tokens: int
    trim_to: int | None = None
    reserve: int = 0

    def __post_init__(self) -> None:
        self.directive()

    def directive(self) -> HistoryDirective:
        """Return a directive with a limit in tokens."""
        return HistoryDirective(
            kind="steps", max_tokens=self.max_tokens, trim_to=self.trim_to, reserve=self.reserve
        )


class LastTurnsHistoryStrategy(msgspec.Struct, frozen=True):
    """Keep the newest turns, each from a user message up to the next one.

    Args:
        turns: how many.
        max_tokens: most tokens besides; a turn that does not fit is cut inside, by groups.

    >>> LastTurnsHistoryStrategy(5).directive().steps
    (KeepLast(turns=5, groups=None),)
    """

    turns: int
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        check_size("turns", self.turns)

    def directive(self) -> HistoryDirective:
        """Return a directive that keeps turns."""
        return HistoryDirective(
            kind="steps", steps=(KeepLast(turns=self.turns),), max_tokens=self.max_tokens
        )


class LastGroupsHistoryStrategy(msgspec.Struct, frozen=True):
    """Keep the newest groups: a call with its results, or a message alone.

    Args:
        groups: how many.
        max_tokens: most tokens besides.

    >>> LastGroupsHistoryStrategy(20).directive().steps
    (KeepLast(turns=None, groups=20),)
    """

    groups: int
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        check_size("groups", self.groups)

    def directive(self) -> HistoryDirective:
        """Return a directive that keeps groups."""
        return HistoryDirective(
            kind="steps", steps=(KeepLast(groups=self.groups),), max_tokens=self.max_tokens
        )


class StepsHistoryStrategy(msgspec.Struct, frozen=True, kw_only=True):
    """Several steps, in order, until the limits hold.

    Args:
        steps: what is done; `lockstitch.strategies` has them all.
        max_messages: a limit, and so are `max_tokens` and `max_chars`; `None` is unlimited.
        trim_to: where a cut stops, in the unit of the only limit.
        low_water: the same as a share of each limit.
        reserve: tokens kept free for the completion.
        cut: as for `trim`.
        pins: what stays.
        must_survive: phrases that the window must say.
        on_overflow: as for `trim`.

    >>> from lockstitch.strategies import ClearResults, Summarize
    >>> strategy = StepsHistoryStrategy(
    ...     steps=(ClearResults(), Summarize()), max_tokens=100_000, low_water=0.5
    ... )
    >>> len(strategy.directive().steps)
    2
    """

    steps: tuple[Step, ...] = ()
    max_messages: int | None = None
    max_tokens: int | None = None
    max_chars: int | None = None
    trim_to: int | None = None
    low_water: float | None = None
    reserve: int = 0
    cut: Literal["groups", "prefix"] = "groups"
    pins: tuple[Pin, ...] = ()
    must_survive: tuple[str, ...] = ()
    on_overflow: Literal["raise", "smallest", "empty"] = "raise"

    def __post_init__(self) -> None:
        self.directive()

    def directive(self) -> HistoryDirective:
        """Return a directive with these steps."""
        return HistoryDirective(
            kind="steps",
            steps=self.steps,
            window_messages=self.max_messages,
            max_tokens=self.max_tokens,
            max_chars=self.max_chars,
            trim_to=self.trim_to,
            low_water=self.low_water,
            reserve=self.reserve,
            cut=self.cut,
            pins=self.pins,
            must_survive=self.must_survive,
            on_overflow=self.on_overflow,
        )


def resolve_history(
    strategy: HistoryStrategy | None, *, default: HistoryStrategy | None = None
) -> HistoryDirective:
    """Return the directive that governs: the strategy's, else the default's, else the framework's.

    Both are looked at, so that a misspelled default does not lie in wait.

    Raises:
        ConversationServiceError: one of them is no strategy: it has no `directive()`, is a class
            rather than a strategy made of it, or answers with something else than a directive.

    >>> resolve_history(None, default=NullHistoryStrategy()).kind
    'null'
    """
    chosen = [_directive_of(one) for one in (strategy, default) if one is not None]
    return chosen[0] if chosen else HistoryDirective.default()


def _directive_of(candidate: object) -> HistoryDirective:
    if isinstance(candidate, type):
        raise ConversationServiceError(
            f"the class {candidate.__name__} is not a history strategy: make one of it, "
            f"{candidate.__name__}(...)"
        )
    if not isinstance(candidate, HistoryStrategy):
        raise ConversationServiceError(f"{type(candidate).__name__} is not a history strategy")
    decided: object = candidate.directive()
    if not isinstance(decided, HistoryDirective):
        raise ConversationServiceError(
            f"{type(candidate).__name__} is not a history strategy: directive() returned "
            f"{type(decided).__name__}, not a HistoryDirective"
        )
    return decided
