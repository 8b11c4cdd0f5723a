"""Anthropic Messages: facts, parts and what speaks for the format."""

from __future__ import annotations

import msgspec
import pytest

from lockstitch.facts import ASSISTANT, CALL, FUNCTION, RESULT, TOOL, USER, Facts, Link
from lockstitch.formats.anthropic import FORMAT
from lockstitch.formats.base import DEFINITE, FITS, LIKELY, NO, facts_of
from lockstitch.transcript import Media, Opaque, Reasoning, Text, ToolCall, ToolResult

TEXT = {"type": "text", "text": "t"}
THINKING = {"type": "thinking", "thinking": "hm", "signature": "sig"}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def use(id_="a", name="look_up", **more):
    return {"type": "tool_use", "id": id_, "name": name, "input": {"q": 1}, **more}


def gave(id_="a", content="found", **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ({"role": "user", "content": "x"}, "user"),
        ({"role": "assistant", "content": "x"}, "assistant"),
        ({"role": "system", "content": "x"}, "system"),
        ({"role": "system", "content": [TEXT]}, "system"),
        ({"role": "narrator", "content": "x"}, "other"),
        ({"role": ["user"], "content": "x"}, "other"),
        ({"role": ["user"], "content": [TEXT]}, "other"),
        ({"role": None, "content": [TEXT]}, "other"),
        ({"content": "x"}, "other"),
        ({"role": "user", "content": None}, "user"),
        ({"role": "assistant"}, "assistant"),
        ({"role": "narrator", "content": [TEXT]}, "other"),
        (told(TEXT), "user"),
        (told(), "user"),
        (said(TEXT), "assistant"),
        (said(), "assistant"),
        (told(THINKING), "user"),
        (said(THINKING, TEXT), "assistant"),
        (said({"type": "compaction"}), "assistant"),
    ],
)
def test_a_message_without_calls_says_its_role_alone(message, role):
    assert FORMAT.facts(message) == Facts(role)


def test_uses_are_read_by_id():
    assert FORMAT.facts(said(TEXT, use("a"), use("b"))) == Facts(ASSISTANT, asks=("a", "b"))


def test_a_user_message_of_results_alone_is_a_tools():
    assert FORMAT.facts(told(gave("a"), gave("b"))) == Facts(TOOL, answers=("a", "b"))


def test_a_user_message_with_results_and_words_stays_the_users():
    assert FORMAT.facts(told(gave("a"), TEXT)) == Facts(USER, answers=("a",))
    assert FORMAT.facts(told(gave("a"), "words")) == Facts(USER, answers=("a",))


def test_a_use_without_an_id_is_read_by_name():
    assert FORMAT.facts(said(use(""))) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "look_up"),))


def test_a_result_without_an_id_has_nothing_to_pair_by():
    assert FORMAT.facts(told(gave(None))) == Facts(TOOL, (Link(RESULT, FUNCTION, None),))


@pytest.mark.parametrize(
    ("call", "result", "family"),
    [
        ("server_tool_use", "web_search_tool_result", "server"),
        ("server_tool_use", "bash_code_execution_tool_result", "server"),
        ("server_tool_use", "tool_search_tool_result", "server"),
        ("server_tool_use", "a_tool_of_next_year_tool_result", "server"),
        ("mcp_tool_use", "mcp_tool_result", "mcp"),
    ],
)
def test_tools_the_provider_runs_pair_inside_the_assistants_own_turn(call, result, family):
    message = said(
        {"type": call, "id": "s", "name": "x", "input": {}},
        {"type": result, "tool_use_id": "s", "content": []},
        TEXT,
    )
    assert FORMAT.facts(message) == Facts(
        ASSISTANT, (Link(CALL, family, "s"), Link(RESULT, family, "s"))
    )


@pytest.mark.parametrize(
    ("blocks", "alone"),
    [
        ([THINKING], True),
        ([THINKING, {"type": "redacted_thinking", "data": "x"}], True),
        ([THINKING, TEXT], False),
        ([TEXT], False),
        ([], False),
        ([THINKING, use()], False),
    ],
)
def test_only_a_message_of_thinking_alone_is_bound_forward(blocks, alone):
    assert FORMAT.facts(said(*blocks)).reasoning is alone


@pytest.mark.parametrize(
    "message",
    [
        said(TEXT, use("a"), use("b")),
        said({"type": "server_tool_use", "id": "s"}, {"type": "x_tool_result", "tool_use_id": "s"}),
        told(gave("a"), gave("b")),
        told(gave("a"), TEXT),
        said(THINKING),
        said(THINKING, TEXT),
        told(TEXT),
    ],
)
def test_the_quick_facts_are_those_that_follow_from_the_parts(message):
    assert FORMAT.facts(message) == facts_of(message["role"], FORMAT.parts(message))


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", (Text("hi", "content"),)),
        ("", (Text("", "content"),)),
        (None, (Text(None, "content"),)),
        ([], ()),
        (["a"], (Text("a", "content[0]"),)),
        ((TEXT,), (Text("t", "content[0]"),)),
        (5, (Opaque("int", 5, "content"),)),
    ],
)
def test_content_becomes_parts(content, parts):
    assert FORMAT.parts({"role": "user", "content": content}) == parts


def test_absent_content_is_no_part_at_all():
    assert FORMAT.parts({"role": "user"}) == ()


PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (TEXT, Text("t", "content[0]")),
        ({"type": "text"}, Text(None, "content[0]")),
        (use(), ToolCall("function", "a", "look_up", {"q": 1}, "content[0]")),
        (
            {"type": "server_tool_use", "id": "s", "name": "x", "input": {}},
            ToolCall("server", "s", "x", {}, "content[0]"),
        ),
        (
            {"type": "mcp_tool_use", "id": "m", "name": "x", "input": {}},
            ToolCall("mcp", "m", "x", {}, "content[0]"),
        ),
        (THINKING, Reasoning("hm", "sig", path="content[0]")),
        ({"type": "thinking"}, Reasoning("", None, path="content[0]")),
        (
            {"type": "redacted_thinking", "data": "sealed"},
            Reasoning("", "sealed", path="content[0]"),
        ),
        (gave("a", "x"), ToolResult("function", "a", "x", path="content[0]")),
        (
            gave("a", [TEXT], is_error=True),
            ToolResult("function", "a", [TEXT], path="content[0]", is_error=True),
        ),
        (
            {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": {"u": 1}},
            ToolResult("server", "s", {"u": 1}, path="content[0]"),
        ),
        (
            {"type": "image", "source": PNG},
            Media("image", "image/png", 4, "content[0]"),
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
            Media("image", None, 0, "content[0]"),
        ),
        ({"type": "document", "source": "odd"}, Media("document", None, 0, "content[0]")),
        ({"type": "container_upload"}, Media("container_upload", None, 0, "content[0]")),
        ({"type": "sticker"}, Opaque("sticker", {"type": "sticker"}, "content[0]")),
        ({"n": 1}, Opaque("None", {"n": 1}, "content[0]")),
    ],
)
def test_blocks_become_parts_with_their_place(block, part):
    assert FORMAT.parts({"role": "user", "content": [block]}) == (part,)


def test_the_second_block_has_the_second_place():
    assert [part.path for part in FORMAT.parts(said(TEXT, use()))] == ["content[0]", "content[1]"]


class Dumps:
    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields


def test_blocks_that_are_objects_read_like_dicts():
    message = said(Dumps(**TEXT), use("a"), Dumps(**use("b")))
    assert FORMAT.facts(message) == Facts(ASSISTANT, asks=("a", "b"))
    assert FORMAT.parts(message) == FORMAT.parts(said(TEXT, use("a"), use("b")))
    assert FORMAT.facts(Dumps(**said(use("a")))) == Facts(ASSISTANT, asks=("a",))


def test_raw_json_reads_like_a_dict():
    message = said(THINKING, use("a"))
    raw = msgspec.Raw(msgspec.json.encode(message))
    assert FORMAT.facts(raw) == FORMAT.facts(message)
    assert FORMAT.parts(raw) == FORMAT.parts(message)
    assert FORMAT.evidence(raw) == DEFINITE


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "strength"),
    [
        ({"role": "user", "content": "x"}, FITS),
        ({"role": "system", "content": "x"}, FITS),
        ({"role": "developer", "content": "x"}, NO),
        ({"role": "tool", "content": "x"}, NO),
        ({"role": "user", "content": None}, NO),
        ({"role": "user"}, NO),
        ({"role": "user", "content": 5}, NO),
        ({"role": "user", "content": "x", "parts": []}, NO),
        ({"role": "user", "content": "x", "type": "message"}, NO),
        ({"role": "assistant", "content": "x", "type": "message", "id": "msg_1"}, FITS),
        ({"role": "assistant", "content": "x", "tool_calls": [1]}, NO),
        ({"role": "assistant", "content": "x", "function_call": {"name": "x"}}, NO),
        ({"role": "assistant", "content": "x", "tool_calls": None}, FITS),
        (told(TEXT), FITS),
        (told(), FITS),
        (told("words"), FITS),
        (said(use()), DEFINITE),
        (told(gave()), DEFINITE),
        (told({"type": "next_year_tool_result"}), DEFINITE),
        (said(use(), TEXT, THINKING), DEFINITE),
        (said(TEXT, THINKING), LIKELY),
        (said(THINKING, TEXT), LIKELY),
        (said({"type": "redacted_thinking"}), LIKELY),
        (told({"type": "document"}), LIKELY),
        (told({"type": "image", "source": PNG}), LIKELY),
        (told({"type": "image"}), NO),
        (told({"type": "image_url"}), NO),
        (told(TEXT, {"type": "sticker"}), NO),
        (told({"n": 1}), NO),
    ],
)
def test_how_strongly_a_message_speaks_for_the_format(message, strength):
    assert FORMAT.evidence(message) == strength
