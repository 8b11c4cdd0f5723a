"""The facade: one call each, arguments checked first, the caller's own kind of thing back."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

HISTORY = [
    system("s"),
    user("1"),
    call("a"),
    result("a"),
    assistant("2"),
    user("3"),
    assistant("4"),
]


def test_every_public_name_is_there():
    for name in ls.__all__:
        assert getattr(ls, name) is not None


def test_the_version_is_the_installed_one():
    assert ls.__version__ == version("lockstitch")


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'lockstitch' has no attribute 'trimm'"):
        _ = ls.trimm


# --- load and dump --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        HISTORY,
        {"model": "m", "messages": HISTORY},
        json.dumps(HISTORY),
        json.dumps({"messages": HISTORY}, indent=1).encode(),
        "\n".join(map(json.dumps, HISTORY)),
    ],
)
def test_what_was_loaded_is_written_back_as_it_was(source):
    assert ls.dump(ls.load(source)) == source
    assert type(ls.dump(ls.load(source))) is type(source)


@pytest.mark.parametrize("wrong", [HISTORY, "[]", None])
def test_only_what_was_loaded_is_written_back(wrong):
    with pytest.raises(TypeError, match="dump takes what load returned, got "):
        ls.dump(wrong)


def test_loading_copies_nothing():
    assert ls.load(HISTORY).natives is HISTORY


def test_a_named_format_is_not_looked_for():
    assert ls.load(HISTORY, format="langchain").format.name == "langchain"
    assert ls.load([5, None], format="openai-chat").natives == [5, None]


def test_a_transcript_is_taken_wherever_a_source_is():
    transcript = ls.load(HISTORY)
    body = ls.load({"model": "m", "messages": HISTORY})
    assert ls.check(transcript) == ls.check(HISTORY)
    assert ls.plan(transcript, max_messages=3) == ls.plan(HISTORY, max_messages=3)
    assert ls.trim(transcript, max_messages=3) == ls.trim(HISTORY, max_messages=3)
    assert ls.trim(body, max_messages=3) == {"model": "m", "messages": [HISTORY[0], *HISTORY[5:]]}
    assert list(ls.groups(transcript)) == list(ls.groups(HISTORY))
    decision = ls.plan(HISTORY, max_messages=3)
    assert ls.apply(decision, transcript) == [HISTORY[0], *HISTORY[5:]]


def test_a_transcript_answers_again_and_again_whatever_was_asked_before():
    transcript = ls.load(HISTORY * 30)
    for limit in (4, 200, 9, 50, 4, 210):
        assert ls.trim(transcript, max_messages=limit, on_overflow="empty") == ls.trim(
            HISTORY * 30, max_messages=limit, on_overflow="empty"
        )
        assert ls.check(transcript) == ls.check(HISTORY * 30)


# --- groups ---------------------------------------------------------------------------------------


def test_groups_follow_the_profile():
    history = [
        user("0"),
        {"role": "assistant", "content": [{"type": "text", "text": "1"}]},
        user("2"),
        system("3"),
        assistant("4"),
    ]
    free = ls.groups(history, profile="openai-chat", format="anthropic")
    bound = ls.groups(history, profile="anthropic", format="anthropic")
    assert [unit.members for unit in free] == [(0,), (1,), (2,), (3,), (4,)]
    assert [unit.members for unit in bound] == [(0,), (1,), (2, 3, 4)]


def test_groups_of_responses_hold_whole_responses():
    history = [
        {"role": "user", "content": "go"},
        {"type": "reasoning", "id": "rs", "summary": []},
        {"role": "assistant", "content": "wait"},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        {"type": "web_search_call", "id": "ws"},
        {"type": "function_call_output", "call_id": "a", "output": "r"},
        {"role": "assistant", "content": "done"},
    ]
    for profile in ("portable", "openai-responses", "anthropic", "openai-chat"):
        found = ls.groups(history, profile=profile)
        assert [unit.members for unit in found] == [(0,), (1, 2, 3, 4, 5), (6,)]


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [ls.trim, ls.plan])
@pytest.mark.parametrize(
    "wrong",
    [
        {"max_messages": "5"},
        {"max_tokens": -1},
        {"trim_to": 3},
        {"cut": "middle"},
        {"on_overflow": "shrug"},
        {"floor": 1},
        {"profile": "nobody"},
        {"reserve": 3},
    ],
)
def test_arguments_are_checked_before_anything_is_read(function, wrong):
    class Untouchable:
        def __iter__(self):
            raise AssertionError("read before the arguments were checked")

    with pytest.raises((TypeError, ValueError)):
        function(Untouchable(), **wrong)


def test_options_go_by_name():
    with pytest.raises(TypeError, match="positional"):
        ls.trim(HISTORY, 5)
    with pytest.raises(ls.ConversationServiceError, match="int is not a history strategy"):
        ls.plan(HISTORY, 5)


def test_asking_twice_gives_the_same_and_asking_otherwise_does_not():
    assert ls.trim(HISTORY, max_messages=3) == ls.trim(HISTORY, max_messages=3)
    assert ls.trim(HISTORY, max_messages=3) != ls.trim(HISTORY, max_messages=7)
    assert ls.trim(HISTORY, max_messages=5) != ls.trim(HISTORY, max_messages=5, pins=[1])


def test_the_same_pins_mean_another_position_in_another_history():
    longer = [*HISTORY, user("5"), assistant("6")]
    assert 6 in ls.plan(HISTORY, max_messages=4, pins=[-1]).kept
    assert 8 in ls.plan(longer, max_messages=4, pins=[-1]).kept
    with pytest.raises(ValueError, match="pin 8 is outside the history of 7 messages"):
        ls.plan(HISTORY, max_messages=4, pins=[8])


# --- trim, plan and apply agree -------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("profile", ["portable", "openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("floor", [True, False])
def test_trim_is_plan_and_apply(cut, profile, floor):
    for limit in (None, 0, 1, 2, 3, 5, 7, 9):
        options = {"cut": cut, "profile": profile, "floor": floor, "on_overflow": "smallest"}
        decision = ls.plan(HISTORY, max_messages=limit, **options)
        window = ls.trim(HISTORY, max_messages=limit, **options)
        assert ls.apply(decision, HISTORY) == window
        assert [HISTORY[at] for at in decision.kept] == window


def test_a_plan_explains_itself():
    decision = ls.plan(HISTORY, max_messages=3)
    assert decision.explain() == ls.explain(decision)
    assert decision.explain(HISTORY, as_="json") == ls.explain(decision, HISTORY, as_="json")
    json.loads(decision.explain(as_="json"))


def test_a_plan_measures_tokens_where_everything_fits():
    decision = ls.plan(HISTORY, max_tokens=1_000, max_chars=900, counter=[1] * 7)
    assert decision.kept == list(range(7))
    assert decision.after.tokens == 7
    assert decision.after.chars == 1 + 1 + len("look_up{}") + len("found") + 1 + 1 + 1


def test_a_plan_that_keeps_nothing_weighs_nothing():
    decision = ls.plan(HISTORY, max_tokens=0)
    assert decision.kept == []
    assert decision.after.messages == 0
    assert not decision.after.tokens
