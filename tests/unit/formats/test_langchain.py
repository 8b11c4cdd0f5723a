"""LangChain messages in all four shapes: objects, `messages_to_dict`, `dumpd`, `model_dump`."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest

from lockstitch.errors import FormatError
from lockstitch.facts import ASSISTANT, CALL, FUNCTION, RESULT, TOOL, Facts, Link
from lockstitch.formats.base import DEFINITE, NO
from lockstitch.formats.langchain import FORMAT
from lockstitch.transcript import (
    Media,
    Opaque,
    Provenance,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

LC_CLASSES = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
    "function": "FunctionMessage",
    "remove": "RemoveMessage",
    "chat": "ChatMessage",
}


class Lookalike:
    """A message object: what can be read of one without importing the framework."""

    def __init__(self, type, **fields):
        self.__dict__.update(
            type=type, **{"additional_kwargs": {}, "response_metadata": {}, **fields}
        )


def message(kind, content="x", **fields):
    return {"type": kind, "content": content, **fields}


def shapes(kind, content="x", **fields):
    """One message in every shape it is stored in."""
    flat = message(kind, content, **fields)
    inner = {name: value for name, value in flat.items() if name != "type"}
    dumped = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", LC_CLASSES[kind]]}
    return [
        flat,
        {"type": kind, "data": flat},
        dumped | {"kwargs": inner},
        Lookalike(kind, **inner),
        msgspec.Raw(msgspec.json.encode(flat)),
    ]


def tool_call(id_="a", name="look_up", args=None):
    return {"id": id_, "name": name, "args": args or {}, "type": "tool_call"}


# --- the four shapes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "role"),
    [("human", "user"), ("ai", "assistant"), ("system", "system"), ("remove", "other")],
)
def test_every_shape_says_its_role(kind, role):
    for native in shapes(kind):
        assert FORMAT.facts(native) == Facts(role)
        assert FORMAT.evidence(native) == DEFINITE


def test_every_shape_says_its_calls():
    for native in shapes("ai", "", tool_calls=[tool_call("a"), tool_call("b")]):
        assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a", "b"))


def test_every_shape_says_what_it_answers():
    for native in shapes("tool", "found", tool_call_id="a"):
        assert FORMAT.facts(native) == Facts(TOOL, answers=("a",))
        assert FORMAT.parts(native) == (ToolResult("function", "a", "found", path="content"),)


def test_a_function_message_answers_by_name():
    for native in shapes("function", "found", name="x"):
        assert FORMAT.facts(native) == Facts(TOOL, (Link(RESULT, FUNCTION, None, "x"),))
        assert FORMAT.parts(native) == (ToolResult("function", None, "found", "x", "content"),)


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("human", "user"),
        ("ai", "assistant"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("system", "system"),
        ("narrator", "other"),
        (None, "other"),
    ],
)
def test_a_chat_message_has_the_role_it_names(said, role):
    for native in shapes("chat", role=said):
        assert FORMAT.facts(native) == Facts(role)


@pytest.mark.parametrize(
    ("native", "role"),
    [
        (message("AIMessageChunk"), "assistant"),
        (message("HumanMessageChunk"), "user"),
        (message("SystemMessageChunk"), "system"),
        ({"lc": 1, "id": ["AIMessageChunk"], "kwargs": {"content": "x"}}, "assistant"),
        ({"lc": 1, "id": None, "kwargs": {"content": "x"}}, "other"),
        ({"lc": 1, "id": ["x", "NextYearMessage"], "kwargs": {"content": "x"}}, "other"),
        (message("next_year"), "other"),
        (Lookalike("AIMessageChunk", content="x"), "assistant"),
    ],
)
def test_chunks_are_what_they_are_chunks_of_and_the_unknown_is_other(native, role):
    assert FORMAT.facts(native).role == role


def test_a_message_whose_data_is_beside_its_content_is_flat():
    assert FORMAT.facts(message("human", data={"type": "ai"})) == Facts("user")


def test_an_object_may_have_its_type_on_the_class():
    class Human:
        type = "human"

        def __init__(self):
            self.content = "x"

    assert FORMAT.facts(Human()) == Facts("user")


@pytest.mark.parametrize("native", [SimpleNamespace(text="x"), 5, "words", None])
def test_an_object_without_content_is_no_message(native):
    with pytest.raises(FormatError, match="expected a LangChain message, found"):
        FORMAT.facts(native)


# --- calls, wherever they stand -------------------------------------------------------------------


def test_an_invalid_call_needs_an_answer_too():
    native = message(
        "ai", "", tool_calls=[tool_call("a")], invalid_tool_calls=[tool_call("b", args="{bad")]
    )
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a", "b"))
    assert FORMAT.parts(native) == (
        ToolCall("function", "a", "look_up", {}, "tool_calls[0]"),
        ToolCall("function", "b", "look_up", "{bad", "invalid_tool_calls[0]"),
    )


def test_a_message_of_invalid_calls_alone_asks():
    native = message("ai", "", invalid_tool_calls=[tool_call("b")])
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("b",))


@pytest.mark.parametrize("missing", [None, ""])
def test_a_call_without_an_id_is_read_by_name(missing):
    native = message("ai", "", tool_calls=[tool_call(missing)])
    assert FORMAT.facts(native) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "look_up"),))
    answer = message("tool", tool_call_id=missing, name="look_up")
    assert FORMAT.facts(answer) == Facts(TOOL, (Link(RESULT, FUNCTION, None, "look_up"),))


def test_a_call_in_the_providers_own_form_counts_where_it_is_the_only_one():
    own = {"tool_calls": [{"id": "p", "function": {"name": "x", "arguments": "{}"}}, {"id": "q"}]}
    native = message("ai", "", additional_kwargs=own)
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("p", "q"))
    assert FORMAT.parts(native) == (
        ToolCall("function", "p", "x", "{}", "additional_kwargs.tool_calls[0]"),
        ToolCall("function", "q", None, None, "additional_kwargs.tool_calls[1]"),
    )
    both = message("ai", "", additional_kwargs=own, tool_calls=[tool_call("p")])
    assert FORMAT.facts(both) == Facts(ASSISTANT, asks=("p",))


def test_an_older_function_call_in_the_providers_own_form_counts_too():
    own = {"function_call": {"name": "x", "arguments": "{}"}}
    native = message("ai", "", additional_kwargs=own)
    assert FORMAT.facts(native) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "x"),))
    assert FORMAT.parts(native) == (
        ToolCall("function", None, "x", "{}", "additional_kwargs.function_call"),
    )
    more = own | {"tool_calls": [{"id": "p"}]}
    assert FORMAT.facts(message("ai", "", additional_kwargs=more)) == Facts(ASSISTANT, asks=("p",))


@pytest.mark.parametrize("extra", [None, {}, {"refusal": "no"}, "odd"])
def test_other_additional_kwargs_ask_for_nothing(extra):
    native = message("ai", "x", additional_kwargs=extra)
    assert FORMAT.facts(native) == Facts(ASSISTANT)
    assert FORMAT.parts(native) == (Text("x", "content"),)


def test_calls_beside_additional_kwargs_are_read_all_the_same():
    native = message("ai", "x", additional_kwargs={"n": 1}, tool_calls=[tool_call("a")])
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a",))


@pytest.mark.parametrize("kind", ["tool_use", "tool_call", "function_call"])
def test_a_call_that_stands_only_as_a_block_counts(kind):
    native = message("ai", [{"type": kind, "id": "b", "name": "x", "args": {}}])
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("b",))
    assert FORMAT.parts(native) == (ToolCall("function", "b", "x", {}, "content[0]"),)


def test_a_call_that_stands_twice_is_counted_once():
    block = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
    native = message("ai", [{"type": "text", "text": "t"}, block], tool_calls=[tool_call("a")])
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a",))
    assert [part.path for part in FORMAT.parts(native)] == ["content[0]", "tool_calls[0]"]


def test_a_server_tool_with_the_id_of_a_call_is_not_taken_for_it():
    block = {"type": "server_tool_use", "id": "a", "name": "x", "input": {}}
    native = message("ai", [block], tool_calls=[tool_call("a")])
    assert [part.family for part in FORMAT.parts(native)] == ["server", "function"]


class Call:
    """A tool call as older agents keep it."""

    def __init__(self, id, name, args):
        self.id, self.name, self.args = id, name, args


class Dumped(Call):
    def model_dump(self, *, exclude_unset):
        return {"id": self.id + "!", "name": self.name, "args": self.args}


def test_calls_that_are_objects_read_like_dicts():
    native = Lookalike("ai", content="", tool_calls=[Call("a", "x", {}), Dumped("b", "y", {})])
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a", "b!"))
    assert [part.name for part in FORMAT.parts(native)] == ["x", "y"]


# --- content --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", (Text("hi", "content"),)),
        ("", (Text("", "content"),)),
        (None, (Text(None, "content"),)),
        ([], ()),
        (["a", "b"], (Text("a", "content[0]"), Text("b", "content[1]"))),
        (5, (Opaque("int", 5, "content"),)),
    ],
)
def test_content_becomes_parts(content, parts):
    assert FORMAT.parts(message("human", content)) == parts


def test_absent_content_is_no_part_at_all():
    assert FORMAT.parts({"type": "remove", "id": "m"}) == ()


def test_empty_content_beside_calls_is_no_part():
    native = message("ai", "", tool_calls=[tool_call()])
    assert [type(part) for part in FORMAT.parts(native)] == [ToolCall]
    native = message("ai", "t", tool_calls=[tool_call()])
    assert [type(part) for part in FORMAT.parts(native)] == [Text, ToolCall]
    assert FORMAT.facts(message("ai", None, tool_calls=[tool_call()])) == Facts(
        ASSISTANT, asks=("a",)
    )


def test_only_an_ai_message_calls():
    assert FORMAT.facts(message("human", "x", tool_calls=[tool_call()])) == Facts("user")
    assert FORMAT.parts(message("human", "x", tool_calls=[tool_call()])) == (Text("x", "content"),)


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "output_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "input_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "refusal", "refusal": "no"}, Text("no", "content[0]")),
        (
            {"type": "function_call", "id": "fc", "call_id": "c", "name": "x", "arguments": "1"},
            ToolCall("function", "c", "x", "1", "content[0]"),
        ),
        (
            {"type": "server_tool_use", "id": "s", "name": "x", "input": {}},
            ToolCall("server", "s", "x", {}, "content[0]"),
        ),
        (
            {"type": "server_tool_call", "id": "s", "name": "x"},
            ToolCall("server", "s", "x", None, "content[0]"),
        ),
        (
            {"type": "mcp_tool_use", "id": "m", "name": "x"},
            ToolCall("mcp", "m", "x", None, "content[0]"),
        ),
        (
            {"type": "tool_result", "tool_use_id": "a", "content": "r"},
            ToolResult("function", "a", "r", path="content[0]"),
        ),
        (
            {"type": "server_tool_result", "tool_call_id": "s", "output": "r"},
            ToolResult("server", "s", "r", path="content[0]"),
        ),
        (
            {"type": "mcp_tool_result", "tool_use_id": "m", "content": "r"},
            ToolResult("mcp", "m", "r", path="content[0]"),
        ),
        (
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            ToolResult("server", "s", [], path="content[0]"),
        ),
        (
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            Reasoning("hm", "sig", path="content[0]"),
        ),
        (
            {"type": "redacted_thinking", "data": "sealed"},
            Reasoning("", "sealed", path="content[0]"),
        ),
        (
            {"type": "reasoning", "reasoning": "hm", "id": "rs", "encrypted_content": "e"},
            Reasoning("hm", "e", "rs", "content[0]"),
        ),
        ({"type": "reasoning_content", "text": "hm"}, Reasoning("hm", path="content[0]")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            Media("image", encoded=26, path="content[0]"),
        ),
        (
            {"type": "image_url", "image_url": "https://example.com/a.png"},
            Media("image", encoded=0, path="content[0]"),
        ),
        ({"type": "image", "base64": "AAAA"}, Media("image", encoded=4, path="content[0]")),
        (
            {"type": "image", "source": {"type": "base64", "data": "AAAAAA"}},
            Media("image", encoded=6, path="content[0]"),
        ),
        ({"type": "audio", "data": "AA"}, Media("audio", encoded=2, path="content[0]")),
        ({"type": "video", "url": "data:,abc"}, Media("video", encoded=9, path="content[0]")),
        ({"type": "file", "file_id": "f"}, Media("file", encoded=0, path="content[0]")),
        ({"type": "sticker"}, Opaque("sticker", {"type": "sticker"}, "content[0]")),
    ],
)
def test_blocks_become_parts_with_their_place(block, part):
    assert FORMAT.parts(message("ai", [block])) == (part,)


@pytest.mark.parametrize(
    ("metadata", "origin"),
    [
        (
            {"model_provider": "openai", "model_name": "m"},
            Provenance(provider="openai", model="m"),
        ),
        ({"model": "m"}, Provenance(model="m")),
        ({"model_provider": "openai"}, Provenance(provider="openai")),
        ({}, None),
        (None, None),
        ("odd", None),
    ],
)
def test_reasoning_knows_where_it_comes_from(metadata, origin):
    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    (part,) = FORMAT.parts(message("ai", [block], response_metadata=metadata))
    assert part.provenance == origin


def test_reasoning_in_additional_kwargs_comes_first():
    native = message("ai", "x", additional_kwargs={"reasoning_content": "hm"})
    assert FORMAT.parts(native) == (
        Reasoning("hm", path="additional_kwargs.reasoning_content"),
        Text("x", "content"),
    )
    for nothing in ("", None, 5):
        native = message("ai", "x", additional_kwargs={"reasoning_content": nothing})
        assert FORMAT.parts(native) == (Text("x", "content"),)


def test_a_message_of_reasoning_alone_is_bound_forward():
    block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    assert FORMAT.facts(message("ai", [block])) == Facts(ASSISTANT, reasoning=True)
    assert FORMAT.facts(message("ai", [block, "t"])) == Facts(ASSISTANT)


def test_a_human_message_of_results_alone_is_a_tools():
    block = {"type": "tool_result", "tool_use_id": "a", "content": "r"}
    assert FORMAT.facts(message("human", [block])) == Facts(TOOL, answers=("a",))
    assert FORMAT.facts(message("human", [block, "t"])) == Facts("user", answers=("a",))


def test_a_failed_tool_message_says_so():
    (part,) = FORMAT.parts(message("tool", tool_call_id="a", status="error"))
    assert part.is_error
    (part,) = FORMAT.parts(message("tool", tool_call_id="a", status="success"))
    assert not part.is_error


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "strength"),
    [
        (message("human"), DEFINITE),
        (message("AIMessageChunk"), DEFINITE),
        ({"type": "human", "data": {}}, DEFINITE),
        ({"type": "remove", "id": "m"}, DEFINITE),
        ({"type": "human"}, NO),
        (message("human", role="user"), NO),
        (message("chat", role=None), DEFINITE),
        ({"lc": 1, "kwargs": {}}, DEFINITE),
        ({"lc": 1}, NO),
        (message("next_year"), NO),
        ({"role": "user", "content": "x"}, NO),
        ({"type": "function_call", "call_id": "a"}, NO),
        (Lookalike("human", content="x"), DEFINITE),
        (SimpleNamespace(content="x"), NO),
        ("words", NO),
        (5, NO),
    ],
)
def test_how_strongly_a_message_speaks_for_the_format(native, strength):
    assert FORMAT.evidence(native) == strength


def test_a_chat_message_is_recognised_with_the_role_it_carries():
    assert FORMAT.evidence(message("chat", role="user")) == DEFINITE
