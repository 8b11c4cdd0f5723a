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
from lockstitch.rules.catalog import RULES
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
def sessions(draw, reused):
    """Draw a whole session whose every text says which one it is."""
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
    pairs = {}
    for tie in pairing.ties:
        if tie.call is not None and tie.link.kind == RESULT:
            arguments = str(ends[tie.call.message, tie.call.ordinal].arguments)
            result = text_of(ends[tie.message, tie.ordinal].content)
            pairs[arguments] = f"{pairs.get(arguments, '')} {result}".strip()
    return texts, calls, results, pairs


@in_every_format
@pytest.mark.parametrize("breakage", SIX)
@given(data=st.data())
@spread(len(SIX) * len(WRITTEN))
def test_each_breakage_is_mended_and_nothing_is_lost_or_paired_anew(breakage, format, shape, data):
    reused = data.draw(st.booleans())
    whole = data.draw(sessions(reused))
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
        if reused and (shape == "packed" or profile == "openai-responses"):
            # One message then holds two calls of one id, or the target takes it as it stands;
            # nothing tells which of them a result was for.
            continue
        if profile == "langchain":
            continue  # it takes a result wherever it stands, in front of its call too
        for arguments, result in kept.items():
            assert result in now[3][arguments]


@in_every_format
@given(data=st.data())
@spread(len(WRITTEN))
def test_several_breakages_at_once_are_mended_and_nothing_is_lost(format, shape, data):
    steps = data.draw(sessions(data.draw(st.booleans())))
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


# --- over every kind of history ------------------------------------------------------------------

of_every_kind = pytest.mark.parametrize("kind", sorted(KINDS))


def histories(data, kind, format):
    """Draw a history; stand-ins for LangChain's objects are made real ones."""
    natives = data.draw(KINDS[kind](format))
    if natives and not isinstance(natives[0], dict):
        messages = pytest.importorskip("langchain_core.messages")
        rows = [{"type": one.type, "data": dict(vars(one))} for one in natives]
        return messages.messages_from_dict(rows)
    return natives


def holds(message, made, format):
    """Whether a message is what a change made, or holds it."""
    if message is made or message == made:
        return True
    writer = writer_for(format)
    return writer.packed and any(made == block for block in writer.blocks(writer.fields(message)))


@of_every_kind
@pytest.mark.parametrize("format", sorted(WRITERS))
@given(data=st.data())
@spread(len(KINDS) * len(WRITERS))
def test_repair_ends_in_a_fixed_point_accounts_for_itself_and_touches_nothing(kind, format, data):
    natives = histories(data, kind, format)
    before = copy.deepcopy(natives)
    for profile in profiles_of(format):
        options = {"profile": profile, "format": format}
        mended = ls.repair(natives, **options)
        assert natives == before
        assert mended.ok
        _check_fixed(mended, options)
        _check_account(mended, natives, format)
        report = ls.check(natives, tail="closed", **options)
        fine = report.ok and not any(RULES[one.rule].disputed for one in report.violations)
        assert (not mended.changes) == fine
        if fine:
            assert all(one is other for one, other in zip(mended.messages, natives, strict=True))
        planned = ls.repair(natives, dry_run=True, **options)
        assert planned.changes == mended.changes
        assert planned.origins == mended.origins
        assert all(one is other for one, other in zip(planned.messages, natives, strict=True))


def _check_fixed(mended, options):
    again = ls.repair(mended.messages, **options)
    assert again.changes == ()
    assert all(one is other for one, other in zip(again.messages, mended.messages, strict=True))


def _check_account(mended, natives, format):
    named = {at for change in mended.changes for at in (change.index, *change.related)}
    assert len(mended.origins) == len(mended.messages)
    untouched = set()
    for message, origin in zip(mended.messages, mended.origins, strict=True):
        if origin >= 0 and message is natives[origin]:
            untouched.add(origin)
        elif origin >= 0:
            assert origin in named
        else:
            assert any(holds(message, change.after, format) for change in mended.changes)
    assert set(range(len(natives))) - untouched <= named
    for change in mended.changes:
        assert change.kind
        assert change.before is not None or change.after is not None
        if change.path:
            head, _, path = change.path.partition(".")
            assert head == f"messages[{change.index}]"
            inside(writer_for(format).fields(natives[change.index]), path)


@pytest.mark.parametrize("format", sorted(WRITERS))
@given(data=st.data())
@spread(len(WRITERS))
def test_the_same_history_is_mended_alike_and_text_as_its_messages_are(format, data):
    natives = data.draw(KINDS["broken"](format))
    if not all(isinstance(native, dict) for native in natives):
        return
    options = {"profile": "portable", "format": format}
    first = ls.repair(natives, **options)
    again = ls.repair(copy.deepcopy(natives), **options)
    assert again.messages == first.messages
    assert again.changes == first.changes
    text = json.dumps(natives, indent=1)
    written = ls.repair(text, **options).messages
    assert json.loads(written) == json.loads(json.dumps(first.messages))
    if not first.changes:
        assert written == text


@pytest.mark.parametrize("format", sorted(WRITERS))
@given(data=st.data())
@spread(len(WRITERS))
def test_with_the_record_what_was_deleted_comes_back_whole(format, data):
    reused = data.draw(st.booleans())
    whole = data.draw(sessions(reused))
    steps = whole
    for breakage in data.draw(
        st.lists(
            st.sampled_from(("delete call", "delete result")),
            min_size=1,
            max_size=1 if reused else 3,
        )
    ):
        steps = BREAKAGES[breakage](steps, data.draw(st.integers(0, 30)))
    shape = SHAPES[format][0]
    record, natives = render(whole, format, shape), render(steps, format, shape)
    for profile in profiles_of(format):
        mended = ls.repair(natives, profile=profile, format=format, record=record)
        assert mended.ok
        had, now = facts_about(natives, format), facts_about(mended.messages, format)
        was = facts_about(record, format)
        if mended.changes == () or shape == "packed" or profile == "langchain":
            continue  # the last of them takes a result without its call
        for arguments, result in was[3].items():
            if arguments in had[1] or result in had[2]:
                assert result in now[3][arguments]
