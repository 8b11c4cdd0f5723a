"""Python objects: lists, request bodies, whatever can be gone through; none is ever changed."""

from __future__ import annotations

import copy
from collections import UserDict, deque
from types import MappingProxyType

import pytest

import lockstitch as ls
from lockstitch.document import open_document
from lockstitch.document.base import same
from lockstitch.testing import assistant, call, result, system, user

HISTORY = [system(), user("1"), call("a"), result("a"), assistant("2"), user("3"), assistant("4")]


def bodies():
    return [
        {"model": "m", "messages": list(HISTORY), "tools": [{"n": 1}], "stream": True},
        {"id": 7, "request": {"model": "m", "messages": list(HISTORY), "top": 1}, "status": 200},
        {"request": {"request": {"messages": list(HISTORY), "x": [1]}, "y": 2}, "z": 3},
    ]


def identical(one, other):
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def test_a_list_comes_back_as_a_list_of_the_very_same_objects():
    kept = ls.trim(HISTORY, max_messages=3)
    assert type(kept) is list
    assert identical(kept, [HISTORY[0], *HISTORY[5:]])


def test_a_list_that_fits_comes_back_with_the_very_same_objects():
    assert identical(ls.trim(HISTORY, max_messages=7), HISTORY)
    assert identical(ls.dump(ls.load(HISTORY)), HISTORY)


@pytest.mark.parametrize("kind", [tuple, iter, deque, lambda items: (item for item in items)])
def test_whatever_can_be_gone_through_is_taken(kind):
    kept = ls.trim(kind(HISTORY), max_messages=3)
    assert identical(kept, [HISTORY[0], *HISTORY[5:]])
    assert ls.check(kind(HISTORY), profile="portable").ok


def test_a_tuple_is_read_in_place():
    history = tuple(HISTORY)
    assert ls.load(history).natives is history


@pytest.mark.parametrize("empty", [[], (), iter(()), "[]", b" [ ] ", {"messages": []}])
def test_an_empty_list_is_a_history_of_no_messages(empty):
    transcript = ls.load(empty)
    assert len(transcript) == 0
    assert list(transcript) == []
    assert ls.groups(transcript)[:] == []


@pytest.mark.parametrize("empty", [[], "[]", b" [ ] ", {"messages": []}, '{"messages":[ ]}'])
def test_trimming_nothing_gives_nothing_back_in_the_same_wrapping(empty):
    for options in (
        {},
        {"max_messages": 3},
        {"max_messages": 0},
        {"cut": "prefix", "floor": False},
    ):
        assert ls.trim(empty, **options) == empty


@pytest.mark.parametrize("number", range(3))
def test_a_request_body_keeps_its_wrapping_and_gets_a_shorter_list(number):
    body = bodies()[number]
    before = copy.deepcopy(body)
    kept = ls.trim(body, max_messages=3)

    def cut(value):
        if isinstance(value, dict):
            return {
                key: ([HISTORY[0], *HISTORY[5:]] if key == "messages" else cut(inner))
                for key, inner in value.items()
            }
        return value

    assert kept == cut(before)
    assert list(kept) == list(body)
    assert body == before
    assert kept is not body


def test_the_messages_of_a_request_body_are_the_very_same_objects():
    body = bodies()[1]
    kept = ls.trim(body, max_messages=3)
    assert identical(kept["request"]["messages"], [HISTORY[0], *HISTORY[5:]])


@pytest.mark.parametrize("number", range(3))
def test_a_request_body_that_fits_equals_what_was_handed_over(number):
    body = bodies()[number]
    assert ls.trim(body, max_messages=99) == body
    assert ls.dump(ls.load(body)) == body


@pytest.mark.parametrize("wrap", [UserDict, MappingProxyType])
def test_any_mapping_is_a_request_body(wrap):
    kept = ls.trim(wrap(bodies()[0]), max_messages=3)
    assert kept["model"] == "m"
    assert len(kept["messages"]) == 3


def test_what_stands_around_the_list_is_the_context_and_the_list_is_not():
    outer, nested, twice = (open_document(body) for body in bodies())
    assert (outer.path, outer.context) == (
        "messages",
        {"model": "m", "tools": [{"n": 1}], "stream": True},
    )
    assert (nested.path, nested.context) == ("request.messages", {"model": "m", "top": 1})
    assert (twice.path, twice.context) == ("request.request.messages", {"x": [1]})


def test_a_list_has_no_context():
    document = open_document(HISTORY)
    assert (document.path, document.context) == ("messages", {})


def test_an_input_list_is_found_under_its_key():
    body = {"model": "m", "input": [user("1"), assistant("2"), user("3")]}
    assert ls.trim(body, max_messages=1) == {"model": "m", "input": [user("3")]}
    assert ls.load(body).path == "input"


def test_a_bare_string_input_is_a_history_of_one_message():
    body = {"model": "m", "input": "hello"}
    (message,) = ls.load(body)
    assert (message.role, message.native) == ("user", {"role": "user", "content": "hello"})
    assert ls.trim(body, max_messages=1) == body
    assert ls.dump(ls.load(body)) == body
    assert ls.trim(body, max_messages=0) == {"model": "m", "input": []}
    assert body == {"model": "m", "input": "hello"}


def test_a_nested_string_input_comes_back_as_a_string():
    body = {"request": {"input": "hello"}, "status": 200}
    assert ls.trim(body, max_messages=1) == body


def test_the_messages_key_is_preferred_where_input_is_no_list():
    assert ls.load({"messages": [user()], "input": None}).path == "messages"
    assert ls.load({"messages": None, "input": [user()]}).path == "input"
    assert ls.load({"messages": "text", "request": {"messages": [user()]}}).path == (
        "request.messages"
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"messages": [], "input": []},
            "the object holds 'messages' and 'input': hand over the list you mean",
        ),
        ({"messages": [], "input": "x"}, "the object holds 'messages' and 'input'"),
        (
            {"model": "m", "a": 1},
            r"looked for 'messages' and 'input' and 'contents', the object has a, model$",
        ),
        ({}, "the object has no keys at all"),
        ({"messages": "text"}, "no list of messages found"),
        ({"request": []}, "no list of messages found"),
        ({"request": {"x": 1}}, "the object has x$"),
        ({str(at): 0 for at in range(10, 40)}, "the object has 10, 11, .*, 21$"),
    ],
)
def test_an_object_without_exactly_one_list_is_refused(body, said):
    with pytest.raises(ls.FormatError, match=said):
        open_document(body)


@pytest.mark.parametrize("source", [None, 5, 1.5, object(), True])
def test_what_holds_no_messages_at_all_is_refused_by_its_type(source):
    for function in (ls.load, ls.check, ls.trim, ls.plan, ls.groups):
        with pytest.raises(
            ls.FormatError,
            match="expected a list of messages, a request body, JSON text or a path, found "
            + type(source).__name__,
        ):
            function(source)


@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("floor", [True, False])
def test_no_function_ever_changes_what_it_was_given(cut, floor):
    body = {"messages": [*HISTORY, user([{"type": "text", "text": "x"}])], "tools": [{"a": [1]}]}
    before = copy.deepcopy(body)
    for limit in (None, 0, 1, 3, 5, 8):
        options = {"cut": cut, "floor": floor, "on_overflow": "smallest", "max_messages": limit}
        ls.trim(body, **options)
        ls.trim(body["messages"], **options)
        ls.apply(ls.plan(body, **options), body)
    ls.trim(body, max_tokens=40, on_overflow="empty")
    for profile in ("portable", "openai-chat", "openai-responses", "anthropic"):
        ls.check(body, profile=profile, tail="closed")
        ls.groups(body, profile=profile)
    list(ls.load(body))
    assert body == before


def test_two_lists_are_the_same_only_message_by_message():
    one, other = user("1"), user("1")
    assert same([one, other], [one, other])
    assert same([], [])
    assert not same([one, one], [one, other])
    assert not same([one], [one, other])
    assert not same([other, one], [one, other])


def test_messages_that_were_looked_at_once_more_are_not_the_callers_business():
    transcript = ls.load(HISTORY)
    assert ls.trim(transcript, max_messages=3) == ls.trim(HISTORY, max_messages=3)
    assert ls.trim(ls.load(bodies()[0]), max_messages=3) == ls.trim(bodies()[0], max_messages=3)
