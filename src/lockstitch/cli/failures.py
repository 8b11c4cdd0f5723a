"""Failures: what went wrong, in the words of the command line, and the exit code it means.

The library names arguments (`format=...`), a person at a prompt types options (`--format`).
"""

from __future__ import annotations

import re
from typing import Any

import click

from lockstitch.errors import (
    AmbiguousFormat,
    CannotFit,
    FormatError,
    LockstitchError,
    PinLost,
)

__all__ = ["REFUSED", "UNUSABLE", "DoesNotFit", "Unusable", "as_document", "options_for", "phrase"]

REFUSED = 1
UNUSABLE = 2

_ARGUMENTS = re.compile(r"\b(max_messages|max_tokens|max_chars|trim_to|reserve|on_overflow)\b")


class Unusable(click.ClickException):
    """The input or an argument cannot be used."""

    exit_code = UNUSABLE

    def __init__(self, message: str, cause: LockstitchError | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.told = False  # whether it was printed as JSON


class DoesNotFit(click.ClickException):
    """No window fits the limit, or none that holds what must be in it."""

    exit_code = REFUSED

    def __init__(self, name: str, cause: CannotFit | PinLost, said: str = "") -> None:
        super().__init__(f"{name}: {said or phrase(cause)}")
        self.cause = cause
        self.told = False  # as above


def phrase(error: LockstitchError) -> str:
    """Say what an error says, with options in the place of arguments.

    >>> print(phrase(AmbiguousFormat([("langchain", "messages[1]"), ("anthropic", "messages[2]")])))
    more than one format fits: langchain (see messages[1]), anthropic (see messages[2]).
    Choose one: --format langchain or --format anthropic.
    """
    if isinstance(error, AmbiguousFormat):
        seen = ", ".join(f"{name} (see {where})" for name, where in error.candidates)
        names = " or ".join(f"--format {name}" for name, _ in error.candidates)
        return f"more than one format fits: {seen}. Choose one: {names}."
    if isinstance(error, CannotFit):
        floor = "".join(f"\n  {item.describe(error.unit)}" for item in error.floor)
        return (
            f"the limit is {error.limit:,} {error.unit}, and what must stay needs "
            f"{error.needed:,}.{floor}\nRaise the limit, or choose --on-overflow smallest to get "
            "that window anyway, or --on-overflow empty to get none."
        )
    return str(error).replace("format=...", "--format NAME")


def options_for(message: str) -> str:
    """Write the names of arguments as options.

    >>> options_for("trim_to (9) must not exceed the limit (5)")
    '--trim-to (9) must not exceed the limit (5)'
    """
    return _ARGUMENTS.sub(lambda found: "--" + found[0].replace("_", "-"), message)


def as_document(name: str, failure: Unusable | DoesNotFit, *, key: str = "file") -> dict[str, Any]:
    """Return what `--json` prints in the place of a result; `key` says what `name` is of."""
    cause = failure.cause
    error: dict[str, Any] = {
        "type": type(cause).__name__ if cause is not None else "Unusable",
        "message": failure.message.removeprefix(f"{name}: "),
    }
    if isinstance(cause, FormatError):
        error["where"] = cause.where
    if isinstance(cause, AmbiguousFormat):
        error["candidates"] = [list(candidate) for candidate in cause.candidates]
    if isinstance(cause, CannotFit):
        error |= {"needed": cause.needed, "limit": cause.limit, "unit": cause.unit}
        error["floor"] = [
            {"start": item.start, "stop": item.stop, "size": item.size, "reason": item.reason}
            for item in cause.floor
        ]
    if isinstance(cause, PinLost):
        error["lost"] = list(cause.lost)
    return {key: name, "error": error}
