"""How Converse messages are written: copies with one thing changed, the rest as it was."""

import pytest

from lockstitch.formats import FORMATS
from lockstitch.writing import writer_for

WRITER = writer_for("bedrock")
USE = {"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1}}}
GAVE = {"toolResult": {"toolUseId": "a", "content": [{"text": "r"}]}}
SAID = {"role": "assistant", "content": [{"text": "t"}, USE]}
TOLD = {"role": "user", "content": [GAVE]}


def parts(message):
    return FORMATS["bedrock"].parts(message)


def test_a_call_is_renamed_and_given_other_arguments():
    call = parts(SAID)[1]
    assert WRITER.renamed(SAID, call, "b")["content"][1]["toolUse"]["toolUseId"] == "b"
    assert WRITER.recalled(SAID, call, "g")["content"][1]["toolUse"]["name"] == "g"
    assert WRITER.rearranged(SAID, call, {})["content"][1]["toolUse"]["input"] == {}
    assert SAID["content"][1] is USE
    assert USE["toolUse"]["name"] == "f"


def test_a_result_is_renamed_and_given_another_content():
    result = parts(TOLD)[0]
    assert WRITER.renamed(TOLD, result, "b")["content"][0]["toolResult"]["toolUseId"] == "b"
    changed = WRITER.result(TOLD, result, [{"text": "s"}])
    assert changed["content"][0]["toolResult"]["content"] == [{"text": "s"}]


def test_a_made_up_result_is_an_error_and_tools_of_the_provider_get_none():
    made = WRITER.answer(parts(SAID)[1], "unknown", SAID)
    held = {"toolUseId": "a", "content": [{"text": "unknown"}], "status": "error"}
    assert made == {"toolResult": held}
    hosted = {"role": "assistant", "content": [USE, GAVE]}
    assert WRITER.answer(parts(hosted)[0], "unknown", hosted) is None


@pytest.mark.parametrize(
    ("content", "quoted"),
    [
        ([{"text": "r"}, {"image": {}}], [{"text": "note"}, {"text": "r"}, {"image": {}}]),
        ([{"json": {"x": 1}}], [{"text": 'note\n\n{"json": {"x": 1}}'}]),
        (None, [{"text": "note"}]),
    ],
)
def test_a_quoted_result_keeps_what_a_user_message_may_hold(content, quoted):
    assert WRITER.quoted("note", content) == quoted


def test_messages_of_text_are_blocks_and_neighbours_are_joined_block_by_block():
    first, second = WRITER.said("user", "a"), WRITER.said("user", "b")
    assert WRITER.merged(first, second) == {
        "role": "user",
        "content": [{"text": "a"}, {"text": "b"}],
    }
    assert WRITER.with_text(first, "c") == {"role": "user", "content": [{"text": "c"}]}
