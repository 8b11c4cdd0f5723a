"""Hypothesis strategies over directives: any steps, in any order, for a history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError:  # pragma: no cover - the test kit's own tests need Hypothesis
    raise MissingExtra("testing", package="hypothesis") from None

from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS
from lockstitch.strategies.directive import HistoryDirective
from lockstitch.strategies.steps import (
    AnthropicCompaction,
    AnthropicEditing,
    ClearMedia,
    ClearRepeats,
    ClearResults,
    DropOldest,
    DropReasoning,
    KeepLast,
    OpenAICompaction,
    OpenAITruncation,
    Pin,
    Step,
    Summarize,
)

if TYPE_CHECKING:
    from lockstitch.testing.subject import Subject

__all__ = ["directives", "steps"]

_few = st.integers(0, 4)


def steps() -> st.SearchStrategy[Step]:
    """Draw a step with settings that small histories feel. Offloading needs a blob store."""
    small = st.integers(0, 30)
    return st.one_of(
        st.builds(
            ClearResults,
            keep_groups=_few,
            keep_turn=st.booleans(),
            head=small,
            tail=small,
            min_chars=small,
            exclude=st.sampled_from(((), ("search",))),
        ),
        st.builds(ClearRepeats, min_chars=small),
        st.builds(ClearMedia, keep_turns=_few, min_chars=small),
        st.builds(DropReasoning, keep_turns=st.integers(1, 3)),
        st.builds(
            Summarize,
            keep_recent=_few,
            max_chars=st.integers(60, 900),
            max_input_chars=st.integers(100, 2_000),
        ),
        st.builds(DropOldest, cut=st.sampled_from(("groups", "prefix"))),
        st.builds(KeepLast, turns=_few),
        st.builds(KeepLast, groups=_few),
        st.builds(AnthropicEditing),
        st.builds(AnthropicCompaction),
        st.builds(OpenAICompaction),
        st.builds(OpenAITruncation),
    )


@st.composite
def directives(draw: Any, subject: Subject) -> HistoryDirective:
    """Draw a directive: limits in any unit, steps in any order, pins."""
    count = len(subject)
    limits: dict[str, Any] = {}
    names = {MESSAGES: "window_messages", TOKENS: "max_tokens", CHARS: "max_chars"}
    for unit in draw(st.lists(st.sampled_from(tuple(names)), max_size=2, unique=True)):
        limits[names[unit]] = draw(st.integers(0, subject.size(unit, None) + 1))
    pins: list[Pin] = []
    if count and draw(st.integers(0, 3)) == 0:
        pins.append(Pin(index=draw(st.integers(0, count - 1))))
    return HistoryDirective(
        kind="steps",
        steps=tuple(draw(st.lists(steps(), max_size=4))),
        low_water=draw(st.sampled_from((None, None, 0.5))) if limits else None,
        cut=draw(st.sampled_from(("groups", "groups", "prefix"))),
        pins=tuple(pins),
        on_overflow=draw(st.sampled_from(("raise", "raise", "smallest", "empty"))),
        trigger_chars=draw(st.sampled_from((None, None, 100))),
        **limits,
    )
