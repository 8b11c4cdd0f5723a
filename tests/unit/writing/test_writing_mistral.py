"""How Mistral messages are written: as Chat's, with the tool named beside a result."""

import pytest

from lockstitch.formats import FORMATS
from lockstitch.transcript import ToolCall
from lockstitch.writing import writer_for

FORMAT, WRITER = FORMATS["mistral"], writer_for("mistral")
CALL = {"id": "a", "function": {"name": "f", "arguments": "{}"}}
SAID = {"role": "assistant", "content": "", "tool_calls": [CALL]}
GAVE = {"role": "tool", "tool_call_id": "a", "name": "f", "content": "r"}


def part(native):
    return FORMAT.parts(native)[-1]


def test_a_call_is_given_another_id_name_and_arguments():
    call = part(SAID)
    assert WRITER.renamed(SAID, call, "b")["tool_calls"] == [{**CALL, "id": "b"}]
    named = WRITER.recalled(SAID, call, "g")["tool_calls"][0]["function"]
    assert named == {"name": "g", "arguments": "{}"}
    asked = WRITER.rearranged(SAID, call, '{"x": 1}')["tool_calls"][0]["function"]
    assert asked == {"name": "f", "arguments": '{"x": 1}'}
    assert SAID["tool_calls"] == [CALL]


def test_a_result_is_given_another_id_and_content():
    result = part(GAVE)
    assert WRITER.renamed(GAVE, result, "b") == {**GAVE, "tool_call_id": "b"}
    assert WRITER.result(GAVE, result, "more") == {**GAVE, "content": "more"}


@pytest.mark.parametrize(
    ("id_", "name", "answer"),
    [
        ("a", "f", {"role": "tool", "content": "lost", "tool_call_id": "a", "name": "f"}),
        (None, "f", {"role": "tool", "content": "lost", "name": "f"}),
        ("a", None, {"role": "tool", "content": "lost", "tool_call_id": "a"}),
    ],
)
def test_a_made_up_result_names_what_its_call_names(id_, name, answer):
    call = ToolCall(path="tool_calls[0]", family="function", id=id_, name=name, arguments="{}")
    assert WRITER.answer(call, "lost") == answer


def test_a_list_of_calls_goes_with_the_last_of_them():
    assert WRITER.tidied({"role": "assistant", "content": "x", "tool_calls": []}) == {
        "role": "assistant",
        "content": "x",
    }
    assert WRITER.tidied(dict(SAID)) == SAID


def test_an_object_of_the_sdk_is_copied_with_its_role_and_without_what_was_not_set():
    models = pytest.importorskip("mistralai.client.models")
    message = models.ToolMessage(content="r", tool_call_id="a")
    assert WRITER.fields(message) == {"role": "tool", "content": "r", "tool_call_id": "a"}
    assert WRITER.fields(GAVE) == GAVE
    assert WRITER.fields(GAVE) is not GAVE
