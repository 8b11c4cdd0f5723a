"""Repair over generated histories: what it leaves, what it keeps, what it says, what it touches."""

import copy
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spread import spread

import lockstitch as ls
from lockstitch.facts import RESULT
from lockstitch.grouping import group
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import Call, Calls, Result, Say, System, User
from lockstitch.testing.strategies import KINDS
from lockstitch.transcript import Text, ToolCall, ToolResult
from lockstitch.writing import WRITERS, inside, text_of, writer_for

# Every format that can be mended, in every shape it comes in; LangChain's objects are real ones.
WRITTEN = [(form, shape) for form in sorted(WRITERS) for shape in SHAPES[form]]
SIX = (
    "answer early",
    "answer late",
    "delete call",
    "delete result",
    "double result",
    "interrupt",
)

in_every_format = pytest.mark.parametrize(
    ("format", "shape"), WRITTEN, ids=["-".join(one) for one in WRITTEN]
)


def natives_of(steps, format, shape):
    if shape != "object":
        return render(steps, format, shape)
    messages = pytest.importorskip("langchain_core.messages")
    return messages.messages_from_dict(render(steps, format, "dict"))


def profiles_of(format):
    return sorted({"portable", format} & PROFILES.keys())


@st.composite
def sessions(draw):
    """Draw a whole session whose every text says which one it is; its ids come back or do not."""
    reused = draw(st.booleans())
    steps = [System("be brief")] if draw(st.booleans()) else []
    count = 0
    for turn in range(draw(st.integers(1, 3))):
        steps.append(User(f"question {turn}"))
        for number in range(draw(st.integers(1, 2))):
            width = draw(st.integers(1, 3))
            calls = []
            for place in range(width):
                count += 1
                name = f"call_{place}" if reused else f"call_{count}"
                calls.append(Call(name, "look_up", {"number": count}))
            text = draw(st.sampled_from((None, f"let me see {turn} {number}")))
            steps.append(Calls(tuple(calls), text))
            steps += [Result(one.id, f"found {one.arguments['number']}.") for one in calls]
        steps.append(Say(f"done {turn}"))
    return steps


def facts_about(natives, format):
    """Return the calls of a history with the results that they are paired with, and all texts."""
    transcript = ls.load(natives, format=format)
    pairing = group(transcript.facts_from(0)).pairing
    ends = {}
    texts, calls, results = [], Counter(), []
    for index, message in enumerate(transcript):
        links = [part for part in message.parts if isinstance(part, (ToolCall, ToolResult))]
        ends.update({(index, ordinal): part for ordinal, part in enumerate(links)})
        for part in message.parts:
            if isinstance(part, Text):
                texts.append(part.text or "")
            elif isinstance(part, ToolCall):
                calls[str(part.arguments)] += 1
            elif isinstance(part, ToolResult):
                results.append(text_of(part.content))
    pairs = {
        str(ends[tie.call.message, tie.call.ordinal].arguments): text_of(
            ends[tie.message, tie.ordinal].content
        )
        for tie in pairing.ties
        if tie.call is not None and tie.link.kind == RESULT and not tie.duplicate
    }
    return texts, calls, results, pairs


@in_every_format
@pytest.mark.parametrize("breakage", SIX)
@given(data=st.data())
@spread(len(SIX) * len(WRITTEN))
def test_each_breakage_is_mended_and_nothing_is_lost_or_paired_anew(breakage, format, shape, data):
    whole = data.draw(sessions())
    steps = BREAKAGES[breakage](whole, data.draw(st.integers(0, 30)))
    natives = natives_of(steps, format, shape)
    for profile in profiles_of(format):
        mended = ls.repair(natives, profile=profile, format=format)
        assert mended.ok
        was = facts_about(natives_of(whole, format, shape), format)
        had, now = facts_about(natives, format), facts_about(mended.messages, format)
        said = "\n".join([*now[0], *now[2], mended.system or ""])
        assert all(text in said for text in (*had[0], *had[2]))
        assert now[1] == had[1]
        kept = {
            arguments: result
            for arguments, result in was[3].items()
            if arguments in had[1] and result in had[2]
        }
        for arguments, result in kept.items():
            assert result in now[3][arguments]


@in_every_format
@given(data=st.data())
@spread(len(WRITTEN))
def test_several_breakages_at_once_are_mended_and_nothing_is_lost(format, shape, data):
    steps = data.draw(sessions())
    for breakage in data.draw(st.lists(st.sampled_from(SIX), min_size=2, max_size=4)):
        steps = BREAKAGES[breakage](steps, data.draw(st.integers(0, 30)))
    natives = natives_of(steps, format, shape)
    for profile in profiles_of(format):
        mended = ls.repair(natives, profile=profile, format=format)
        assert mended.ok
        had, now = facts_about(natives, format), facts_about(mended.messages, format)
        said = "\n".join([*now[0], *now[2], mended.system or ""])
        assert all(text in said for text in (*had[0], *had[2]))
        assert now[1] == had[1]
