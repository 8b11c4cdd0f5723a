"""How Anthropic messages are written: copies with one thing changed, the rest shared."""

from __future__ import annotations

import msgspec
import pytest

from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing import writer_for

WRITER = writer_for("anthropic")
USE = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
GAVE = {"type": "tool_result", "tool_use_id": "a", "content": "r"}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "t"}, USE]}
TOLD = {"role": "user", "content": [GAVE]}
CALL = ToolCall("function", "a", "f", {"x": 1}, "content[1]")
RESULT = ToolResult("function", "a", "r", path="content[0]")


def test_an_answer_is_a_result_marked_as_an_error():
    assert WRITER.answer(CALL, "unknown") == {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": "unknown",
        "is_error": True,
    }


@pytest.mark.parametrize(
    "call",
    [ToolCall("server", "a", "f"), ToolCall("mcp", "a", "f"), ToolCall("function", None, "f")],
)
def test_the_providers_own_tools_and_calls_without_an_id_get_no_answer_from_us(call):
    assert WRITER.answer(call, "unknown") is None


def test_a_call_is_given_another_id_name_or_arguments_and_nothing_else_changes():
    assert WRITER.renamed(SAID, CALL, "b")["content"][1] == {**USE, "id": "b"}
    assert WRITER.recalled(SAID, CALL, "g")["content"][1] == {**USE, "name": "g"}
    assert WRITER.rearranged(SAID, CALL, {})["content"][1] == {**USE, "input": {}}
    assert WRITER.recalled(SAID, CALL, "g")["content"][0] is SAID["content"][0]
    assert SAID["content"][1] is USE
    assert USE["name"] == "f"


def test_a_result_is_given_another_id_or_content():
    assert WRITER.renamed(TOLD, RESULT, "b")["content"] == [{**GAVE, "tool_use_id": "b"}]
    assert WRITER.result(TOLD, RESULT, [])["content"] == [{**GAVE, "content": []}]


def test_a_result_is_quoted_as_text_or_as_the_blocks_it_holds():
    assert WRITER.quoted("note:", "r") == [{"type": "text", "text": "note:\n\nr"}]
    image = {"type": "image", "source": {"type": "url", "url": "u"}}
    assert WRITER.quoted("note:", [image]) == [{"type": "text", "text": "note:"}, image]
    assert WRITER.quoted("note:", None) == [{"type": "text", "text": "note:"}]


def test_raw_json_stays_raw_json():
    raw = msgspec.Raw(msgspec.json.encode(TOLD))
    changed = WRITER.refit(raw, WRITER.renamed(WRITER.fields(raw), RESULT, "b"))
    assert isinstance(changed, msgspec.Raw)
    assert msgspec.json.decode(changed)["content"][0]["tool_use_id"] == "b"
