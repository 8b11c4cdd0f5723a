"""How Gemini contents are written: in the spelling they came in, with one thing changed."""

import pytest

from lockstitch.formats import FORMATS
from lockstitch.writing import writer_for

WRITER = writer_for("gemini")


def said(key="functionCall", id_="a"):
    return {"role": "model", "parts": [{"text": "t"}, {key: {"id": id_, "name": "f", "args": {}}}]}


def told(key="functionResponse"):
    return {"role": "user", "parts": [{key: {"id": "a", "name": "f", "response": {"x": 1}}}]}


def parts(content):
    return FORMATS["gemini"].parts(content)


@pytest.mark.parametrize("key", ["functionCall", "function_call"])
def test_a_call_is_changed_under_its_own_spelling(key):
    content = said(key)
    call = parts(content)[1]
    assert WRITER.renamed(content, call, "b")["parts"][1][key]["id"] == "b"
    assert WRITER.recalled(content, call, "g")["parts"][1][key]["name"] == "g"
    assert WRITER.rearranged(content, call, {"y": 2})["parts"][1][key]["args"] == {"y": 2}
    assert content == said(key)


@pytest.mark.parametrize("key", ["functionResponse", "function_response"])
def test_a_response_is_changed_under_its_own_spelling(key):
    content = told(key)
    response = parts(content)[0]
    assert WRITER.renamed(content, response, "b")["parts"][0][key]["id"] == "b"
    assert WRITER.result(content, response, {"y": 2})["parts"][0][key]["response"] == {"y": 2}


@pytest.mark.parametrize(
    ("key", "made", "id_"),
    [
        ("functionCall", "functionResponse", "a"),
        ("function_call", "function_response", "a"),
        ("functionCall", "functionResponse", None),
    ],
)
def test_a_made_up_response_says_the_error_in_the_spelling_of_its_call(key, made, id_):
    content = said(key, id_)
    answer = WRITER.answer(parts(content)[1], "unknown", content)[made]
    assert answer["response"] == {"error": "unknown"}
    assert answer.get("id") == id_


def test_what_the_provider_runs_gets_no_made_up_response():
    code = {"role": "model", "parts": [{"executableCode": {"code": "1"}}]}
    assert WRITER.answer(parts(code)[0], "unknown", code) is None


def test_two_responses_become_one_that_holds_both():
    assert WRITER.together({"x": 1}, {"y": 2}) == {"results": [{"x": 1}, {"y": 2}]}
    assert WRITER.together({"x": 1}, {"x": 1}) == {"x": 1}
    assert WRITER.together({"x": 1}, None) == {"x": 1}


def test_a_response_becomes_text_in_a_user_content():
    assert WRITER.content_blocks({"x": 1}) == [{"text": '{"x": 1}'}]
    assert WRITER.content_blocks(None) == []


@pytest.mark.parametrize(
    ("held", "blocks"),
    [(None, []), ({"text": "a"}, [{"text": "a"}]), ([{"text": "a"}], [{"text": "a"}])],
)
def test_a_single_part_may_stand_without_a_list(held, blocks):
    assert WRITER.blocks({"role": "user", "parts": held}) == blocks


def test_contents_of_text_are_written_under_the_roles_of_the_api():
    assert WRITER.said("assistant", "a") == {"role": "model", "parts": [{"text": "a"}]}
    assert WRITER.with_text({"role": "user"}, "b") == {"role": "user", "parts": [{"text": "b"}]}
