"""How fields are copied, edited and found again by paths, without touching what was handed over."""

import copy

import pytest

from lockstitch.writing import (
    edited,
    first_path,
    inside,
    joined,
    text_of,
    without,
    writer_for,
)

FIELDS = {"role": "user", "content": [{"text": "a"}, {"text": "b", "x": {"y": [1, 2]}}]}


def test_editing_and_taking_out_leave_the_given_fields_alone():
    given = copy.deepcopy(FIELDS)
    assert edited(given, "content[1].x.y[0]", 9)["content"][1] == {"text": "b", "x": {"y": [9, 2]}}
    assert without(given, ["content[0]", "content[1].x"]) == {
        "role": "user",
        "content": [{"text": "b"}],
    }
    assert given == FIELDS
    assert edited(given, "content[1].text", "c")["content"][0] is given["content"][0]


def test_several_paths_of_one_list_are_taken_out_at_once():
    assert without({"content": list("abcd")}, ["content[0]", "content[2]", "content[3]"]) == {
        "content": ["b"]
    }
    assert without({"a": 1}, ["missing"]) == {"a": 1}


def test_a_path_leads_inside():
    assert inside(FIELDS, "content[1].x.y[1]") == 2
    with pytest.raises(KeyError):
        inside(FIELDS, "missing")


@pytest.mark.parametrize(
    ("now", "path", "first"),
    [
        (FIELDS, "content[1].text", "content[1].text"),
        ({"content": [FIELDS["content"][1]]}, "content[0].x.y[1]", "content[1].x.y[1]"),
        ({"content": [{"text": "b", "x": {"y": [1, 2]}}]}, "content[0]", "content[1]"),
        ({"content": [{"text": "new"}]}, "content[0]", "content"),
        ({"content": "text"}, "content[0]", "content"),
        (FIELDS, "tool_calls", ""),
        (FIELDS, "content[7].text", "content"),
        (FIELDS, "content[0].text.deeper", "content[0].text"),
    ],
)
def test_a_path_of_changed_fields_is_found_in_the_first_ones(now, path, first):
    assert first_path(FIELDS, now, path) == first


def test_a_null_is_something_that_is_there():
    assert first_path({"content": None}, {"content": None}, "content") == "content"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("a", "a"),
        ([{"text": "a"}, "b", {"text": None, "n": 1}], 'a\n\nb\n\n{"text": null, "n": 1}'),
        ({"result": 1}, '{"result": 1}'),
        (5, "5"),
    ],
)
def test_a_result_is_read_as_text_whatever_it_is(content, text):
    assert text_of(content) == text


def test_empty_texts_leave_no_gap():
    assert joined("", "a", "", "b", "") == "a\n\nb"


TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("a", "a", "a"),
        ("a", None, "a"),
        ("a", "b", "a\n\nb"),
        (None, "b", [{"type": "text", "text": "b"}]),
        ([TEXT], "b", [TEXT, {"type": "text", "text": "b"}]),
        ([TEXT], {"n": 1}, [TEXT, {"type": "text", "text": '{"n": 1}'}]),
    ],
)
def test_two_results_become_one_that_says_both(first, second, both):
    assert writer_for("openai-chat").together(first, second) == both
