"""Hypothesis strategies over facts: what pairing reads, with everything that no format says.

Ids come from a small pool, so that most things meet; roles and links are combined freely, since a
damaged store holds what no client would write.
"""

from __future__ import annotations

from typing import Any, Final

from lockstitch.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError:  # pragma: no cover - the test kit's own tests need Hypothesis
    raise MissingExtra("testing", package="hypothesis") from None

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    CHILD,
    FINAL,
    FUNCTION,
    INTERIM,
    OTHER,
    REJECTED,
    REQUEST,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
    Facts,
    Link,
    facts_with,
)

__all__ = ["facts_lists"]

_IDS: Final = ("a", "b", "c")
_FAMILIES: Final = (
    *(FUNCTION, FUNCTION, FUNCTION),
    *("custom", "tool_search", "local_shell", "server", "mcp"),
)

_ids = st.sampled_from(_IDS)
_names = st.sampled_from((None, "look", "edit"))
_families = st.sampled_from(_FAMILIES)


@st.composite
def _call(draw: Any, ids: Any) -> Link:
    family = draw(_families)
    one = draw(ids)
    # A second id goes with a first; what has none pairs by name.
    twice = draw(st.integers(0, 3)) == 0 if family == FUNCTION else draw(st.booleans())
    both = one is not None and family in {"local_shell", FUNCTION} and twice
    return Link(CALL, family, one, draw(_names), draw(_ids) if both else None)


@st.composite
def _result(draw: Any, ids: Any) -> Link:
    state = draw(st.sampled_from((FINAL, FINAL, FINAL, INTERIM, REJECTED)))
    family, one = draw(_families), draw(ids)
    both = one is not None and family == FUNCTION and draw(st.integers(0, 3)) == 0
    return Link(RESULT, family, one, draw(_names), draw(_ids) if both else None, state)


@st.composite
def _approval(draw: Any, ids: Any) -> Link:
    kind = draw(st.sampled_from((REQUEST, ANSWER, CHILD)))
    family = draw(st.sampled_from(("mcp", FUNCTION, "custom")))
    if kind == REQUEST:
        return Link(REQUEST, family, draw(ids), None, draw(st.one_of(st.none(), _ids)))
    if kind == ANSWER:
        state = draw(st.sampled_from((FINAL, REJECTED)))
        return Link(ANSWER, family, draw(ids), None, draw(st.one_of(st.none(), _ids)), state)
    return Link(CHILD, draw(st.sampled_from(("mcp", "program"))), draw(_ids))


# How often a message is of each shape, in twentieths.
_SHAPES: Final = (
    *(("calls",) * 6),
    *(("results",) * 6),
    *(("plain",) * 3),
    "thought",
    *(("mixed",) * 4),
)


@st.composite
def _message(draw: Any, ids: Any, *, approvals: bool) -> Facts:
    shape = draw(st.sampled_from(_SHAPES))
    if shape == "calls":
        links = tuple(draw(st.lists(_call(ids), min_size=1, max_size=3)))
        return facts_with(ASSISTANT, links)
    if shape == "results":
        links = tuple(draw(st.lists(_result(ids), min_size=1, max_size=2)))
        return facts_with(TOOL, links)
    if shape == "plain":
        return Facts(draw(st.sampled_from((USER, USER, ASSISTANT, SYSTEM, OTHER))))
    if shape == "thought":
        return Facts(ASSISTANT, reasoning=True)
    ends = [_call(ids), _result(ids)]
    if approvals:
        ends += [_approval(ids), _approval(ids)]
    links = tuple(draw(st.lists(st.one_of(ends), min_size=1, max_size=3)))
    # A message of the role `tool` holds answers and nothing else: that is what the role means.
    only_answers = all(link.kind in {RESULT, ANSWER} for link in links)
    role = draw(st.sampled_from((ASSISTANT, ASSISTANT, TOOL if only_answers else USER, USER)))
    return facts_with(role, links)


def facts_lists(*, approvals: bool = True, nameless: bool = True, most: int = 14) -> Any:
    """Give lists of facts with all kinds of links, families and states.

    Args:
        approvals: with requests, decisions and children.
        nameless: with calls and results that have no id.
        most: the length of the longest list.
    """
    ids = st.one_of(_ids, _ids, _ids, st.none()) if nameless else _ids
    return st.lists(_message(ids, approvals=approvals), max_size=most)
