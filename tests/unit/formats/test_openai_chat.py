"""OpenAI Chat Completions: facts, parts and what speaks for the format."""

from __future__ import annotations

import msgspec
import pytest

from lockstitch.facts import ASSISTANT, CALL, FUNCTION, RESULT, TOOL, Facts, Link
from lockstitch.formats.base import DEFINITE, FITS, LIKELY, NO
from lockstitch.formats.openai_chat import FORMAT
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.transcript import Media, Opaque, Reasoning, Text, ToolCall, ToolResult


def calling(*tool_calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(tool_calls), **more}


def function(id_="a", name="look_up", arguments="{}"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (user(), "user"),
        (system(), "system"),
        ({"role": "developer", "content": "x"}, "system"),
        (assistant(), "assistant"),
        ({"role": "assistant"}, "assistant"),
        ({"role": "narrator", "content": "x"}, "other"),
        ({"role": None, "content": "x"}, "other"),
        ({"role": ["user"], "content": "x"}, "other"),
        ({"content": "x"}, "other"),
        (user([{"type": "text", "text": "x"}]), "user"),
    ],
)
def test_a_message_without_calls_says_its_role_alone(message, role):
    assert FORMAT.facts(message) == Facts(role)


def test_calls_are_read_by_id():
    assert FORMAT.facts(call("a", "b")) == Facts(ASSISTANT, asks=("a", "b"))


def test_a_tool_message_answers_by_id():
    assert FORMAT.facts(result("a")) == Facts(TOOL, answers=("a",))


@pytest.mark.parametrize("missing", [None, "", "absent"])
def test_a_call_without_an_id_is_read_by_name(missing):
    entry = function("b")
    entry["id"] = missing
    if missing == "absent":
        del entry["id"]
    assert FORMAT.facts(calling(function("a"), entry)) == Facts(
        ASSISTANT, (Link(CALL, FUNCTION, "a"), Link(CALL, FUNCTION, None, "look_up"))
    )


@pytest.mark.parametrize("missing", [None, "", "absent"])
def test_a_tool_message_without_an_id_is_read_by_name(missing):
    message = {"role": "tool", "tool_call_id": missing, "name": "look_up", "content": "x"}
    if missing == "absent":
        del message["tool_call_id"]
    assert FORMAT.facts(message) == Facts(TOOL, (Link(RESULT, FUNCTION, None, "look_up"),))


def test_ids_that_are_numbers_pair_as_text():
    entry = function(7)
    assert FORMAT.facts(calling(entry)) == Facts(ASSISTANT, asks=("7",))
    assert FORMAT.facts({"role": "tool", "tool_call_id": 7, "content": ""}) == Facts(
        TOOL, answers=("7",)
    )
    assert FORMAT.facts({"role": "tool", "tool_call_id": 0, "name": "n", "content": ""}) == Facts(
        TOOL, answers=("0",)
    )


def test_the_older_function_call_pairs_by_name():
    asked = {"role": "assistant", "content": None, "function_call": {"name": "x", "arguments": ""}}
    given = {"role": "function", "name": "x", "content": "1"}
    assert FORMAT.facts(asked) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "x"),))
    assert FORMAT.facts(given) == Facts(TOOL, (Link(RESULT, FUNCTION, None, "x"),))


def test_tool_calls_come_before_an_older_function_call_beside_them():
    both = calling(function("a"), function_call={"name": "x", "arguments": ""})
    assert FORMAT.facts(both) == Facts(ASSISTANT, asks=("a",))
    assert FORMAT.parts(both) == (
        Text(None, "content"),
        ToolCall("function", "a", "look_up", "{}", "tool_calls[0]"),
    )


@pytest.mark.parametrize(
    "message",
    [
        assistant("x") | {"tool_calls": []},
        assistant("x") | {"tool_calls": None},
        assistant("x") | {"function_call": None},
    ],
)
def test_an_empty_list_of_calls_asks_for_nothing(message):
    assert FORMAT.facts(message) == Facts(ASSISTANT)


def test_only_an_assistant_can_call():
    assert FORMAT.facts(user() | {"tool_calls": [function()]}) == Facts("user")
    assert FORMAT.parts(user("x") | {"tool_calls": [function()]}) == (Text("x", "content"),)


@pytest.mark.parametrize(
    ("message", "alone"),
    [
        ({"reasoning_content": "hm"}, True),
        ({"reasoning": "hm"}, True),
        ({"reasoning": "hm", "content": None}, False),
        ({"reasoning": "hm", "content": ""}, False),
        ({"reasoning": ""}, False),
        ({"reasoning": "hm", "refusal": "no"}, False),
        ({"reasoning": "hm", "audio": {"id": "a"}}, False),
        ({"reasoning": "hm", "refusal": None, "audio": None}, True),
        ({}, False),
    ],
)
def test_a_message_of_reasoning_alone_is_bound_forward(message, alone):
    assert FORMAT.facts({"role": "assistant", **message}) == Facts(ASSISTANT, reasoning=alone)


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", (Text("hi", "content"),)),
        ("", (Text("", "content"),)),
        (None, (Text(None, "content"),)),
        ([], ()),
        (["a", "b"], (Text("a", "content[0]"), Text("b", "content[1]"))),
        (({"type": "text", "text": "t"},), (Text("t", "content[0]"),)),
        (5, (Opaque("int", 5, "content"),)),
    ],
)
def test_content_becomes_parts(content, parts):
    assert FORMAT.parts({"role": "user", "content": content}) == parts


def test_absent_content_is_no_part_at_all():
    assert FORMAT.parts({"role": "user"}) == ()


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "input_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "output_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "refusal", "refusal": "no"}, Text("no", "content[0]")),
        (
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            Reasoning("hm", "s", path="content[0]"),
        ),
        ({"type": "reasoning", "text": "hm"}, Reasoning("hm", path="content[0]")),
        ({"type": "reasoning"}, Reasoning("", path="content[0]")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            Media("image", encoded=26, path="content[0]"),
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            Media("image", encoded=0, path="content[0]"),
        ),
        (
            {"type": "image_url", "image_url": "data:,x"},
            Media("image", encoded=7, path="content[0]"),
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            Media("input_audio", encoded=4, path="content[0]"),
        ),
        (
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}},
            Media("file", encoded=30, path="content[0]"),
        ),
        ({"type": "file", "file": {"file_id": "f"}}, Media("file", encoded=0, path="content[0]")),
        ({"type": "video_url"}, Media("video", encoded=0, path="content[0]")),
        ({"type": "sticker", "n": 1}, Opaque("sticker", {"type": "sticker", "n": 1}, "content[0]")),
        ({"n": 1}, Opaque("None", {"n": 1}, "content[0]")),
    ],
)
def test_blocks_become_parts_with_their_place(block, part):
    assert FORMAT.parts({"role": "user", "content": [block]}) == (part,)


def test_the_second_block_has_the_second_place():
    blocks = [{"type": "text", "text": "t"}, {"type": "video_url"}]
    assert [part.path for part in FORMAT.parts(user(blocks))] == ["content[0]", "content[1]"]


def test_everything_an_assistant_message_can_hold_is_a_part():
    message = calling(
        function("a", "x", '{"q": 1}'),
        {"id": "b", "type": "custom", "custom": {"name": "y", "input": "raw"}},
        {"id": "c", "name": "z", "args": {"k": 2}},
        {"id": "d", "name": "w", "arguments": "{}"},
        reasoning_content="because",
        reasoning=["it", "is"],
        refusal="no",
        audio={"id": "au"},
    )
    assert FORMAT.parts(message) == (
        Reasoning("because", path="reasoning_content"),
        Reasoning("['it', 'is']", path="reasoning"),
        Text(None, "content"),
        Text("no", "refusal"),
        ToolCall("function", "a", "x", '{"q": 1}', "tool_calls[0]"),
        ToolCall("function", "b", "y", "raw", "tool_calls[1]"),
        ToolCall("function", "c", "z", {"k": 2}, "tool_calls[2]"),
        ToolCall("function", "d", "w", "{}", "tool_calls[3]"),
        Media("audio", path="audio"),
    )


def test_a_tool_message_is_one_result():
    message = {"role": "tool", "tool_call_id": "a", "name": "x", "content": [{"type": "text"}]}
    assert FORMAT.parts(message) == (
        ToolResult("function", "a", [{"type": "text"}], "x", "content"),
    )


def test_a_function_message_is_a_result_without_an_id():
    message = {"role": "function", "tool_call_id": "ignored", "name": "x", "content": "1"}
    assert FORMAT.parts(message) == (ToolResult("function", None, "1", "x", "content"),)


def test_the_older_function_call_is_a_call_without_an_id():
    message = {"role": "assistant", "content": "", "function_call": {"name": "x", "arguments": "1"}}
    assert FORMAT.parts(message) == (
        Text("", "content"),
        ToolCall("function", None, "x", "1", "function_call"),
    )


class Dumps:
    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields


def test_calls_that_are_objects_read_like_dicts():
    inner = Dumps(name="x", arguments="1")
    own = Dumps(name="y", input="2")
    message = calling(
        Dumps(id="a", function=inner),
        {"id": "b", "custom": own},
        Dumps(function=inner),
    )
    assert FORMAT.facts(message) == Facts(
        ASSISTANT,
        (
            Link(CALL, FUNCTION, "a"),
            Link(CALL, FUNCTION, "b"),
            Link(CALL, FUNCTION, None, "x"),
        ),
    )
    assert [(one.name, one.arguments) for one in FORMAT.parts(message)[1:]] == [
        ("x", "1"),
        ("y", "2"),
        ("x", "1"),
    ]


def test_raw_json_reads_like_a_dict():
    raw = msgspec.Raw(msgspec.json.encode(call("a")))
    assert FORMAT.facts(raw) == FORMAT.facts(call("a"))
    assert FORMAT.parts(raw) == FORMAT.parts(call("a"))
    assert FORMAT.evidence(raw) == DEFINITE


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "strength"),
    [
        (user("x"), FITS),
        (system("x"), FITS),
        (assistant("x"), FITS),
        (user([{"type": "text", "text": "x"}]), FITS),
        (user([{"type": "text", "text": "x"}, {"type": "image_url"}]), LIKELY),
        (user([{"type": "image_url"}, {"type": "text", "text": "x"}]), LIKELY),
        (user([{"type": "input_text", "text": "x"}]), NO),
        (user([{"type": "output_text", "text": "x"}]), NO),
        (user([{"type": "image"}]), NO),
        (user([{"text": "x"}]), NO),
        (user(["x"]), FITS),
        (user(5), NO),
        (user(None), FITS),
        ({"role": "assistant", "content": None}, LIKELY),
        ({"role": "assistant"}, LIKELY),
        (assistant("x") | {"refusal": None}, LIKELY),
        (assistant("x") | {"reasoning_content": "hm"}, LIKELY),
        (call("a"), DEFINITE),
        (result("a"), DEFINITE),
        ({"role": "function", "name": "x", "content": ""}, DEFINITE),
        ({"role": "assistant", "function_call": {"name": "x"}}, DEFINITE),
        (user("x") | {"tool_calls": [function()]}, FITS),
        (user("x") | {"parts": []}, NO),
        (user("x") | {"type": "message"}, NO),
        ({"role": 5, "content": "x"}, NO),
        ({"content": "x"}, NO),
        ({"type": "function_call", "call_id": "a"}, NO),
    ],
)
def test_how_strongly_a_message_speaks_for_the_format(message, strength):
    assert FORMAT.evidence(message) == strength
