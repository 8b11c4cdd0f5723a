"""Hypothesis strategies: histories of every kind a store or a provider has seen, in every format.

    valid         what every provider accepts
    broken        a valid history with one or more of the usual breakages
    reused        ids from a small pool, several calls of one message with one id
    overlapping   results far from their calls, calls of one turn answered in another
    interleaved   two writers' histories in one list

Each takes the name of a format and gives lists of native messages; `steps_of_*` give the same as
steps. `facts_lists` gives what pairing reads, with everything that no format says.

Needs Hypothesis: pip install 'lockstitch[testing]'.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from lockstitch.errors import MissingExtra

try:
    from hypothesis import strategies as st
except ImportError:  # pragma: no cover - the test kit's own tests need Hypothesis
    raise MissingExtra("testing", package="hypothesis") from None

from lockstitch.facts import FUNCTION, INTERIM
from lockstitch.testing.breakages import (
    BREAKAGES,
    interleave,
    move_results_away,
    without_ids,
)
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import (
    Ask,
    Call,
    Calls,
    Decide,
    Hosted,
    Result,
    Say,
    Step,
    System,
    Think,
    Unknown,
    User,
)

__all__ = ["KINDS", "broken", "interleaved", "overlapping", "reused", "steps_of_valid", "valid"]

# What a format has a word for, beside messages, calls and results.
_OWN_SYSTEM: Final = frozenset(
    {"openai-chat", "openai-responses", "langchain", "mistral", "agent-framework"}
)
_HOSTED: Final = frozenset(
    {"anthropic", "openai-responses", "anthropic-events", "gemini", "bedrock", "agent-framework"}
)
# The family of calls that wait for a person first, where a format marks that on the call.
_ASKING: Final = {"anthropic-events": "mcp", "agent-framework": FUNCTION}
_FAMILIES: Final = {
    "openai-chat": (FUNCTION, "custom"),
    "openai-responses": (FUNCTION, "custom", "shell", "apply_patch", "computer", "local_shell"),
    "anthropic-events": ("custom", "server", "mcp"),
    "agent-framework": (FUNCTION, "computer", "shell"),
}

_WORDS: Final = (
    *("go on", "naïve café", "日本語", "🧵🪡", "a\u0301\u200d", "\x00\t tab"),
    *("{}", "x" * 300),
)
_texts = st.one_of(
    st.sampled_from(_WORDS),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).map("t{}".format),
)
_thoughts = st.one_of(st.none(), st.none(), _texts)
_values = st.sampled_from(
    (None, True, 0, -1, 1.5, 2**63, 2**80, "", "é", [], [1, [2]], {"deep": {"er": [None]}})
)
_arguments = st.dictionaries(st.sampled_from(("city", "q", "n")), _values, max_size=2)


class _Ids:
    """Hands out ids: fresh ones, or ones from a small pool. Mistral's have nine characters."""

    def __init__(self, draw: Any, format: str, pool: int) -> None:
        self._draw = draw
        self._write = "call{:05d}" if format == "mistral" else "call_{}"
        self._pool = pool
        self._count = 0

    def next(self) -> str:
        self._count += 1
        if self._pool:
            return self._write.format(self._draw(st.integers(0, self._pool - 1)))
        return self._write.format(self._count)


def _rounds(draw: Any, format: str, ids: _Ids) -> list[Step]:
    """Draw one round of calls with all of their results, in any order."""
    families = _FAMILIES.get(format, (FUNCTION,))
    hosted = format in _HOSTED and draw(st.integers(0, 5)) == 0
    if hosted:
        return [Hosted(ids.next(), mcp=draw(st.booleans()))]
    steps: list[Step] = [Think(draw(_texts))] if draw(st.integers(0, 4)) == 0 else []
    asks = format in _ASKING and draw(st.integers(0, 3)) == 0
    count = draw(st.sampled_from((1, 1, 1, 2, 3, 4)))
    calls = tuple(
        Call(
            ids.next(),
            draw(st.sampled_from(("look_up", "edit"))),
            draw(_arguments),
            _ASKING[format] if asks else draw(st.sampled_from((families[0], *families))),
            draw(_thoughts) if at else None,
            asks=asks,
        )
        for at in range(count)
    )
    steps.append(Calls(calls, draw(st.sampled_from((None, "", "Let me see."))), draw(_thoughts)))
    if asks:
        steps += [Decide(call.id or "", draw(st.booleans())) for call in calls]
    order = draw(st.permutations(calls))
    steps += [
        Result(call.id, draw(_texts), call.family, call.name, draw(st.integers(0, 4)) == 0)
        for call in order
    ]
    if draw(st.integers(0, 5)) == 0:
        # Coding agents put a word of their own beside results; packed, it shares their message.
        steps.append(User("a reminder"))
    return steps


def _approvals(draw: Any, ids: _Ids) -> list[Step]:
    """Draw a request of its own and the decision about it, as Responses has them."""
    number = ids.next()
    ran = f"mcp_{number}" if draw(st.booleans()) else None
    approved = ran is not None or draw(st.booleans())
    return [Ask(f"mcpr_{number}"), Decide(f"mcpr_{number}", approved, ran)]


@st.composite
def steps_of_valid(draw: Any, format: str, pool: int = 0) -> list[Step]:
    """Draw what happens in a history that every provider accepts.

    Args:
        draw: passed by Hypothesis.
        format: decides which steps there are.
        pool: how many ids there are to take from; 0 for a fresh one each time.
    """
    ids = _Ids(draw, format, pool)
    steps: list[Step] = []
    if format in _OWN_SYSTEM:
        steps += [System(draw(_texts)) for _ in range(draw(st.sampled_from((0, 1, 1, 2))))]
    turns = draw(st.integers(1, 4))
    for turn in range(turns):
        steps.append(User(draw(_texts), draw(st.booleans())))
        if format == "anthropic" and draw(st.integers(0, 7)) == 0:
            steps.append(System(draw(_texts)))
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2, 3, 5)))):
            steps += _rounds(draw, format, ids)
        if format == "openai-responses" and draw(st.integers(0, 5)) == 0:
            steps += _approvals(draw, ids)
        if turn + 1 < turns or draw(st.booleans()):
            steps.append(Say(draw(_texts), draw(_thoughts), draw(st.booleans())))
    if draw(st.integers(0, 3)) == 0:
        steps += _open_tail(draw, format, ids)
    return _in_order(_placed(steps), format)


def _placed(steps: list[Step]) -> list[Step]:
    """Drop system messages inside the list that what follows would make illegal."""
    kept: list[Step] = []
    for at, step in enumerate(steps):
        after = steps[at + 1] if at + 1 < len(steps) else None
        placed = after is None or isinstance(after, (Say, Calls, Think, Hosted))
        if not placed and isinstance(step, System) and kept and not isinstance(kept[-1], System):
            continue
        kept.append(step)
    return kept


def _in_order(steps: list[Step], format: str) -> list[Step]:
    """Let the sides speak in the order that the format's own provider asks for.

    Mistral wants the model to speak between a result and the user; Gemini wants a call in the first
    content of the model's turn, so what is thought before it is thought in it.
    """
    if format not in {"mistral", "gemini"}:
        return steps
    told: list[Step] = []
    for step in steps:
        said = step
        before = told[-1] if told else None
        if format == "mistral" and isinstance(before, Result) and isinstance(step, User):
            told.append(Say("noted"))
        if format == "gemini":
            if isinstance(before, Think) and isinstance(step, (Calls, Hosted)):
                told.pop()
                if isinstance(step, Calls):
                    said = msgspec.structs.replace(step, thought=before.text)
            if isinstance(step, Calls) and told and isinstance(told[-1], Hosted):
                told.append(User("and then?"))
        told.append(said)
    return told


def _open_tail(draw: Any, format: str, ids: _Ids) -> list[Step]:
    """Draw calls at the end of which not all, or none, are answered yet."""
    said = _rounds(draw, format, ids)
    steps = [step for step in said if not isinstance(step, (Hosted, User))]
    answers = [step for step in steps if isinstance(step, Result)]
    gone = draw(st.integers(1, len(answers))) if answers else 0
    kept = [step for step in steps if not isinstance(step, Result)]
    if format == "openai-responses" and draw(st.integers(0, 3)) == 0:
        return [Ask("mcpr_open")]
    interim = [
        Result(one.id, "still running", one.family, one.name, state=INTERIM)
        for one in answers[:gone]
        if format == "openai-responses" and draw(st.integers(0, 3)) == 0
    ]
    # What follows an assistant's words at the end belongs to the same run, so it is still open.
    return [User("last"), *kept, *interim, *answers[gone:]]


# --- natives -------------------------------------------------------------------------------------


def _natives(draw: Any, steps: list[Step], format: str) -> list[Any]:
    if format == "gemini" and draw(st.integers(0, 2)) == 0:
        steps = without_ids(steps)
    natives = render(steps, format, draw(st.sampled_from(SHAPES[format])))
    for native in natives:
        if isinstance(native, dict) and draw(st.integers(0, 9)) == 0:
            # A field nobody knows, where the message keeps its fields.
            holder: Any = native.get("data") or native.get("kwargs") or native
            holder[draw(st.sampled_from(("x_note", "cache_control", "annotations_v2")))] = draw(
                _values
            )
        content: Any = native.get("content") if isinstance(native, dict) else None
        # Not at the end: beside the first results of an open batch it would be the next word.
        inside = format == "anthropic" and native is not natives[-1]
        if inside and isinstance(content, list) and draw(st.integers(0, 9)) == 0:
            content.append({"type": "x_widget", "value": draw(_values)})
    if format in {"openai-responses", "anthropic-events"} and draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(natives)))
        row = render([Unknown("x_note", draw(_values))], format)
        if format == "anthropic-events" or _between_turns(natives, at):
            natives[at:at] = row
    return natives


def _between_turns(natives: list[Any], at: int) -> bool:
    """Whether an unknown item at a place parts no call from its output."""
    return at < len(natives) and natives[at].get("role") == "assistant"


@st.composite
def valid(draw: Any, format: str) -> list[Any]:
    """Draw a history that the format's own profile and `portable` accept (the tail may be open)."""
    return _natives(draw, draw(steps_of_valid(format)), format)


@st.composite
def broken(draw: Any, format: str) -> list[Any]:
    """Draw a history with one to three breakages.

    A result or a call deleted, a result doubled, moved behind a later user message or before its
    call, a user message between the two, ids missing, empty messages.
    """
    steps: list[Step] = draw(steps_of_valid(format))
    for _ in range(draw(st.integers(1, 3))):
        breakage = BREAKAGES[draw(st.sampled_from(sorted(BREAKAGES)))]
        steps = breakage(steps, draw(st.integers(0, 30)))
    return _natives(draw, steps, format)


@st.composite
def reused(draw: Any, format: str) -> list[Any]:
    """Draw a history whose ids come from a pool of one to three."""
    steps: list[Step] = draw(steps_of_valid(format, draw(st.integers(1, 3))))
    if draw(st.booleans()):
        breakage = BREAKAGES[draw(st.sampled_from(sorted(BREAKAGES)))]
        steps = breakage(steps, draw(st.integers(0, 30)))
    return _natives(draw, steps, format)


@st.composite
def overlapping(draw: Any, format: str) -> list[Any]:
    """Draw a history in which results stand far from their calls."""
    steps: list[Step] = draw(steps_of_valid(format, draw(st.sampled_from((0, 0, 2)))))
    distances = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    return _natives(draw, move_results_away(steps, distances), format)


@st.composite
def interleaved(draw: Any, format: str) -> list[Any]:
    """Draw the histories of two writers in one list, each in its own order."""
    pool = draw(st.sampled_from((0, 0, 2)))
    one: list[Step] = draw(steps_of_valid(format, pool))
    other: list[Step] = draw(steps_of_valid(format, pool))
    turns = draw(st.lists(st.booleans(), min_size=1, max_size=12))
    return _natives(draw, interleave(one, other, turns), format)


KINDS: Final = {
    "valid": valid,
    "broken": broken,
    "reused": reused,
    "overlapping": overlapping,
    "interleaved": interleaved,
}
"""Every kind of history by its name: a function from a format to a strategy."""
