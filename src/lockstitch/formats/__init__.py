"""The formats this version reads, and which of them a list of messages is in.

Knows: every format module, and how to weigh what single messages say. Refuses to guess: where two
formats fit and would be read differently, it names both. Messages that say the same in every format
that fits (plain text under user, assistant, system) are read as the first of them; nothing depends
on the choice.

Must not know: rules, limits, where the messages came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import AmbiguousFormat, FormatError, UnknownFormat
from lockstitch.formats import (
    agent_framework,
    anthropic,
    anthropic_events,
    bedrock,
    gemini,
    langchain,
    mistral,
    openai_chat,
    openai_responses,
)
from lockstitch.formats.base import DEFINITE, FITS, LIKELY, NO, Format, mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["ALL", "ENDS", "ENOUGH", "FORMATS", "Format", "detect", "get_format", "is_distinct"]

# In the order in which messages that all of them read alike are given to one.
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        openai_chat,
        anthropic,
        openai_responses,
        langchain,
        anthropic_events,
        mistral,
        gemini,
        bedrock,
        agent_framework,
    )
}
_EVERY = tuple(FORMATS.values())
# How much of a history to look at.
ALL: Final = "all"
ENOUGH: Final = "enough"
ENDS: Final = "ends"
# A history this short is always looked at whole. Of a longer one a few messages from each end are,
# for a shape that settles it at once, and more before it is taken for plain text.
SHORT = 64
QUICK = 8
HEADS = 2
SAMPLE = 64
# Who says what is plain text; a tuple, since a role may be something that cannot be hashed.
SPOKEN = ("user", "assistant", "system")


def get_format(name: str) -> Format:
    """Return a format by its name.

    Raises:
        ValueError: no format has that name.

    >>> get_format("anthropic").title
    'Anthropic Messages'
    """
    try:
        return FORMATS[name]
    except (KeyError, TypeError):
        known = ", ".join(FORMATS)
        raise ValueError(f"no format is called {name!r}; there are: {known}") from None


def detect(
    natives: Sequence[Any],
    *,
    among: Iterable[Format] | None = None,
    hint: str | None = None,
    path: str = "messages",
    look: str = ALL,
) -> tuple[Format, bool]:
    """Find the format of a list of messages.

    Args:
        natives: the messages.
        among: the formats to choose from; all by default.
        hint: a format that the request around the list speaks for.
        path: how the list is named in errors.
        look: `ALL` messages (as always in a short history); `ENOUGH` of them to find one that
            settles it; or only those at the `ENDS`, which a decision about the tail can afford.

    Returns:
        The format, and whether it is settled; where only plain text was seen at the ends, a message
        between them may still say otherwise.

    Raises:
        UnknownFormat: no format fits.
        AmbiguousFormat: several fit and would be read differently.
    """
    formats = _EVERY if among is None else tuple(among)
    count = len(natives)
    if look != ALL and count > SHORT:
        quick = _quick(natives, formats, path)
        if quick is not None:
            return quick, True
    spread = look != ENDS or count <= 2 * SAMPLE
    order = range(count) if spread else (*range(count - SAMPLE, count), *range(SAMPLE))
    if count and among is None and hint is None and all(_is_plain(natives[at]) for at in order):
        return _EVERY[0], spread
    claims = _claims(natives, order, formats, path)
    if hint is not None and hint in claims and not any(s > LIKELY for s, _ in claims.values()):
        claims[hint] = (DEFINITE, claims[hint][1])
    best = max((strength for strength, _ in claims.values()), default=NO)
    if best == NO:
        raise UnknownFormat(_nothing_fits(natives), where=f"{path}[0]", known=tuple(FORMATS))
    winners = [(name, where) for name, (strength, where) in claims.items() if strength == best]
    if len(winners) == 2:  # noqa: PLR2004 - a base and its dialect
        winners = _of_dialects(winners, sure=best == DEFINITE)
    if best > FITS and len(winners) > 1:
        raise AmbiguousFormat(winners)
    return FORMATS[winners[0][0]], spread or best == DEFINITE


def _of_dialects(winners: list[tuple[str, str]], *, sure: bool) -> list[tuple[str, str]]:
    """Settle a tie between a format and a dialect of it: the dialect, if it is sure."""
    for name, _ in winners:
        base = FORMATS[name].dialect_of
        chosen = name if sure else base
        if base in dict(winners):
            return [winner for winner in winners if winner[0] == chosen]
    return winners


def _quick(natives: Sequence[Any], formats: tuple[Format, ...], path: str) -> Format | None:
    """Find the format that one of the last messages definitely is in and the first ones can be in.

    The shapes exclude each other: where a message fits one format, no other is sure of it.
    """
    count = len(natives)
    for index in range(count - 1, max(count - QUICK, 0) - 1, -1):
        for form in formats:
            strength = _evidence(form, natives[index], path, index)
            if strength == DEFINITE:
                for at in range(min(HEADS, index)):
                    if _evidence(form, natives[at], path, at) == NO:
                        return None
                return form
            if strength != NO:
                break
    return None


def _is_plain(native: Any) -> bool:
    """Whether a message is plain text that every format reads alike, at the least cost.

    Most batches of a chat are nothing else, and the formats need not be asked about them.
    """
    return (
        type(native) is dict
        and len(native) == 2  # noqa: PLR2004 - the role and the text
        and type(native.get("content")) is str
        and native.get("role") in SPOKEN
    )


def _decoded(raw: msgspec.Raw, path: str, index: int) -> Any:
    """Decode a message once for all the formats that look at it."""
    try:
        return mapping(raw)
    except FormatError as error:
        raise FormatError(str(error), where=f"{path}[{index}]") from None


def _evidence(form: Format, native: Any, path: str, index: int) -> int:
    try:
        return form.evidence(native)
    except FormatError as error:
        raise FormatError(str(error), where=f"{path}[{index}]") from None


def _claims(
    natives: Sequence[Any], order: Iterable[int], formats: tuple[Format, ...], path: str
) -> dict[str, tuple[int, str]]:
    """Weigh the messages: per format the strongest claim and the place that makes it.

    A format that cannot read one of the messages is out, unless another message is definitely in
    it: then the odd message is damage, not a vote.
    """
    claims: dict[str, tuple[int, str]] = {}
    misfits: set[str] = set()
    for index in order:
        native = natives[index]
        if isinstance(native, msgspec.Raw):
            native = _decoded(native, path, index)
        for form in formats:
            strength = _evidence(form, native, path, index)
            if strength == NO:
                misfits.add(form.name)
            elif strength > claims.get(form.name, (NO, ""))[0]:
                claims[form.name] = (strength, f"{path}[{index}]")
    return {
        name: claim for name, claim in claims.items() if name not in misfits or claim[0] == DEFINITE
    }


def is_distinct(native: Any, chosen: Format) -> Format | None:
    """Return another format that one message definitely is in, if it is not the chosen one."""
    if chosen.evidence(native) != NO:
        return None
    for form in FORMATS.values():
        if form is not chosen and form.evidence(native) >= LIKELY:
            return form
    return None


def _nothing_fits(natives: Sequence[Any]) -> str:
    first = natives[0]
    if isinstance(first, msgspec.Raw):
        first = mapping(first)
    shown = sorted(map(str, first)) if isinstance(first, dict) else type(first).__name__
    return (
        f"no known format fits (the first message has {shown}). Known formats: "
        f"{', '.join(FORMATS)}. Name the one you mean with format=..."
    )
