"""Reports: what a check found, as data. Phrasing for people lives in `explain`.

Knows: violations and their places. Must not know: how they are found.
"""

from __future__ import annotations

import msgspec

from lockstitch.errors import InvalidHistory

__all__ = ["Report", "Violation"]


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One breach of one rule at one place.

    Args:
        rule: the rule's id in the catalogue.
        severity: `error` where the provider refuses, `warning` where it may.
        index: the position of the message, or -1 when the list as a whole is meant.
        path: the place, `messages[3].content[1]`.
        message: what is wrong and what to do.
        provider_error: what the provider would answer with, empty where no text is known.
        source: where the rule comes from.
        caused: whether an operation of ours caused it; `check` reports what was there.
        related: positions of other messages that take part.
    """

    rule: str
    severity: str
    index: int
    path: str
    message: str
    provider_error: str = ""
    source: str = ""
    caused: bool = False
    related: tuple[int, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found.

    Args:
        profile: the acceptance rules that were asked for.
        format: the format the messages are in.
        messages: how many there are, and `groups` how many atomic units.
        violations: every breach, in order of place.
    """

    profile: str
    format: str
    messages: int
    groups: int
    violations: tuple[Violation, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing of severity `error` was found."""
        return not self.errors

    @property
    def errors(self) -> tuple[Violation, ...]:
        """The violations that the provider refuses."""
        return tuple(found for found in self.violations if found.severity == "error")

    def raise_for_errors(self) -> None:
        """Raise `InvalidHistory` with this report if the provider would refuse the history."""
        if not self.ok:
            raise InvalidHistory(self)

    def summary(self) -> str:
        """Say in one line what was found."""
        errors = len(self.errors)
        warnings = len(self.violations) - errors
        if not self.violations:
            return f"{_count(self.messages, 'message')}, accepted by {self.profile}"
        first = self.violations[0]
        return (
            f"{_count(self.messages, 'message')}, {_count(errors, 'error')} and "
            f"{_count(warnings, 'warning')} for {self.profile}; first: {first.path}: "
            f"{first.message}"
        )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
