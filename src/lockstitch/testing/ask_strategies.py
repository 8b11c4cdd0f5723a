"""Hypothesis strategies over what is asked of `trim`, given the history it is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError:  # pragma: no cover - the test kit's own tests need Hypothesis
    raise MissingExtra("testing", package="hypothesis") from None

from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS
from lockstitch.testing.asks import Ask

if TYPE_CHECKING:
    from lockstitch.testing.subject import Subject

__all__ = ["asks"]


@st.composite
def asks(draw: Any, subject: Subject, profile: str) -> Ask:
    """Draw arguments for `trim`: any unit, limit, cut and policy, under one profile."""
    count = len(subject)
    unit = draw(st.sampled_from((MESSAGES, MESSAGES, MESSAGES, TOKENS, CHARS)))
    counter: Any = None
    if unit == TOKENS:
        counter = draw(st.sampled_from((None, "bytes", "sizes")))
        if counter == "sizes":
            counter = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
    limit = draw(st.integers(0, subject.size(unit, counter) + 1))
    pins: tuple[int, ...] = ()
    if count and draw(st.integers(0, 3)) == 0:
        pins = tuple(draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=2)))
    return Ask(
        limit=limit,
        unit=unit,
        counter=counter,
        profile=profile,
        cut=draw(st.sampled_from(("groups", "prefix"))),
        floor=draw(st.booleans()),
        on_overflow=draw(st.sampled_from(("raise", "raise", "smallest", "empty"))),
        trim_to=limit // 2 if draw(st.integers(0, 4)) == 0 else None,
        reserve=limit // 4 if unit != MESSAGES and draw(st.integers(0, 3)) == 0 else 0,
        pins=pins,
    )
