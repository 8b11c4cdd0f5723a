"""Every error that Lockstitch raises, and whose fault each one is.

    LockstitchError
    ├── FormatError           the input is not what its format says      .where
    │   ├── UnknownFormat     no known format fits                       .known
    │   └── AmbiguousFormat   more than one format fits                  .candidates
    ├── InvalidHistory        rules are broken and the caller insisted   .report
    ├── CannotFit             the smallest window is over the limit      .needed .limit .floor
    ├── PinLost               what had to survive a cut would not        .lost
    ├── SummaryFailed         no summary that can be used came back      .attempts
    ├── PlanMismatch          a plan made for other messages
    ├── ConversationServiceError  what was handed over is no strategy
    ├── StoreError            a store did not do what it was asked       .retryable
    │   ├── Conflict          the session is not what it was taken for   .expected .found
    │   ├── CorruptRow        what is stored cannot be read              .seq
    │   ├── SchemaTooNew      a newer version of Lockstitch wrote it     .found .known
    │   └── StoreUnavailable  no answer within the time                  .attempts
    └── MissingExtra          an optional package is not installed       .extra

Wrong arguments stay `TypeError` and `ValueError`: they are mistakes in the caller's code, not
states of a conversation. Every message says what was found, where (`messages[3].content[1]`) and
what to do about it.

This module knows nothing of the rest of the package; anything may import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.plan import FloorItem
    from lockstitch.rules.report import Report

__all__ = [
    "AmbiguousFormat",
    "CannotFit",
    "Conflict",
    "ConversationServiceError",
    "CorruptRow",
    "FormatError",
    "InvalidHistory",
    "LockstitchError",
    "MissingExtra",
    "PinLost",
    "PlanMismatch",
    "SchemaTooNew",
    "StoreError",
    "StoreUnavailable",
    "SummaryFailed",
    "UnknownFormat",
]


class LockstitchError(Exception):
    """The base of every error that is about a conversation rather than about a call.

    >>> issubclass(CannotFit, LockstitchError)
    True
    """


class FormatError(LockstitchError):
    """The input is not what its format says it is.

    Args:
        message: what was found and what to do.
        where: the place, as a path into what was handed over (`messages[3].content[1]`), a byte
            offset or a line; empty when the whole input is meant.

    >>> str(FormatError("expected an object, found a number", where="messages[3]"))
    'messages[3]: expected an object, found a number'
    """

    def __init__(self, message: str, *, where: str = "") -> None:
        self.where = where
        super().__init__(f"{where}: {message}" if where else message)


class UnknownFormat(FormatError):
    """No known format fits the messages.

    >>> UnknownFormat("nothing fits", known=("openai-chat",)).known
    ('openai-chat',)
    """

    def __init__(self, message: str, *, where: str = "", known: Sequence[str] = ()) -> None:
        self.known = tuple(known)
        super().__init__(message, where=where)


class AmbiguousFormat(FormatError):
    """More than one format fits, and the answers would differ, so nothing was guessed.

    Args:
        candidates: one pair for each format that fits: its name and the place that speaks for it.

    >>> error = AmbiguousFormat([("openai-chat", "messages[1]"), ("anthropic", "messages[2]")])
    >>> error.candidates[0]
    ('openai-chat', 'messages[1]')
    """

    def __init__(self, candidates: Sequence[tuple[str, str]]) -> None:
        self.candidates = tuple(candidates)
        seen = ", ".join(f"{name} (see {where})" for name, where in self.candidates)
        names = " or ".join(f'format="{name}"' for name, _ in self.candidates)
        super().__init__(f"more than one format fits: {seen}. Name the one you mean: {names}.")


class InvalidHistory(LockstitchError):
    """The history breaks rules of the profile, and the caller asked for an error.

    Args:
        report: the whole finding; `report.violations` lists each breach with its place.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(report.summary())


class CannotFit(LockstitchError):
    """The smallest window worth sending is larger than the limit.

    Args:
        needed: size of that smallest window, in `unit`, `reserve` included.
        limit: the limit that was asked for, in `unit`.
        floor: what the window must hold: positions, sizes, and why each is needed.
        unit: `messages`, `tokens` or `chars`.

    >>> error = CannotFit(needed=120, limit=100, unit="tokens", floor=())
    >>> error.needed, error.limit
    (120, 100)
    """

    def __init__(
        self, *, needed: int, limit: int, unit: str, floor: Sequence[FloorItem] = ()
    ) -> None:
        self.needed = needed
        self.limit = limit
        self.unit = unit
        self.floor = tuple(floor)
        parts = "; ".join(item.describe(unit) for item in self.floor)
        super().__init__(
            f"the limit is {limit} {unit}, the smallest window that keeps what must stay needs "
            f"{needed}{': ' + parts if parts else ''}. Raise the limit, or choose "
            'on_overflow="smallest" to get that window anyway, or on_overflow="empty" to get none.'
        )


class PinLost(LockstitchError):
    """What had to survive a cut is not in the window, so the cut was refused.

    Args:
        lost: the phrases and pins that are not there, in words.

    >>> str(PinLost(["the phrase 'ask first'"]))
    "the window would lose the phrase 'ask first': pin what says it, or raise the limit"
    """

    def __init__(self, lost: Sequence[str]) -> None:
        self.lost = tuple(lost)
        super().__init__(
            f"the window would lose {', '.join(self.lost)}: pin what says it, or raise the limit"
        )


class SummaryFailed(LockstitchError):
    """No summary that can be used came back; the history is as it was.

    Args:
        why: what was wrong with the last one.
        attempts: how often the summarizer was asked.
        brief: the same without any words of others, for events and logs.

    >>> SummaryFailed("it is blank", attempts=2).attempts
    2
    """

    def __init__(self, why: str, *, attempts: int, brief: str = "") -> None:
        self.attempts = attempts
        self.brief = brief or why
        asked = "once" if attempts == 1 else f"{attempts} times"
        super().__init__(f"the summarizer was asked {asked} and gave no summary: {why}")


class ConversationServiceError(LockstitchError):
    """What was handed over as a strategy is none.

    >>> raise ConversationServiceError("int is not a history strategy")
    Traceback (most recent call last):
    lockstitch.errors.ConversationServiceError: int is not a history strategy
    """


class PlanMismatch(LockstitchError):
    """A plan was applied to messages other than those it was made for."""


class StoreError(LockstitchError):
    """A store did not do what it was asked; nothing is half written.

    Args:
        message: what happened, and what to do.
        retryable: whether the same may well work a little later.

    >>> StoreError("the disk is full").retryable
    False
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(message)


class Conflict(StoreError):
    """The session is not what it was taken for: somebody else has written to it.

    Args:
        message: what was refused.
        expected: the number of the newest row that was expected.
        found: the number of the newest row that there is; `None` where the session is gone.
    """

    def __init__(self, message: str, *, expected: int | None, found: int | None) -> None:
        self.expected = expected
        self.found = found
        super().__init__(message, retryable=True)


class CorruptRow(StoreError):
    """What is stored cannot be read; everything beside it can.

    Args:
        why: what is wrong with it.
        seq: the number of the row; 0 for what is no row.

    >>> str(CorruptRow("the checksum differs", seq=7))
    'row 7 is damaged: the checksum differs'
    """

    def __init__(self, why: str, *, seq: int = 0) -> None:
        self.seq = seq
        self.why = why
        super().__init__(f"row {seq} is damaged: {why}" if seq else why)


class SchemaTooNew(StoreError):
    """What is stored was written by a newer version of Lockstitch.

    Args:
        found: the version of the schema that is there.
        known: the newest that this version knows.
        where: what it is the version of.

    >>> str(SchemaTooNew(found=9, known=1, where="chat.db"))
    'chat.db has schema 9, this version of lockstitch knows 1: upgrade lockstitch'
    """

    def __init__(self, *, found: int, known: int, where: str) -> None:
        self.found = found
        self.known = known
        super().__init__(
            f"{where} has schema {found}, this version of lockstitch knows {known}: "
            "upgrade lockstitch"
        )


class StoreUnavailable(StoreError):
    """No answer came within the time; what was asked for has not been half done.

    Args:
        message: what was tried.
        attempts: how often.
    """

    def __init__(self, message: str, *, attempts: int = 1) -> None:
        self.attempts = attempts
        super().__init__(message, retryable=True)


class MissingExtra(LockstitchError):
    """A feature needs a package that is not installed.

    >>> str(MissingExtra("langchain", package="langchain-core"))
    "langchain-core is not installed: pip install 'lockstitch[langchain]'"
    """

    def __init__(self, extra: str, *, package: str) -> None:
        self.extra = extra
        self.package = package
        super().__init__(f"{package} is not installed: pip install 'lockstitch[{extra}]'")
