"""OpenAI Responses: every item type, what it asks, answers or belongs to."""

from __future__ import annotations

import msgspec
import pytest

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    CHILD,
    FUNCTION,
    INTERIM,
    REJECTED,
    REQUEST,
    RESULT,
    TOOL,
    Facts,
    Link,
)
from lockstitch.formats.base import DEFINITE, FITS, NO
from lockstitch.formats.openai_responses import FORMAT
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)


def item(kind, **fields):
    return {"type": kind, **fields}


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "role"),
    [
        ({"role": "user", "content": "x"}, "user"),
        ({"role": "system", "content": "x"}, "system"),
        ({"role": "developer", "content": "x"}, "system"),
        ({"role": "assistant", "content": "x"}, "assistant"),
        (item("message", role="assistant", content=[]), "assistant"),
        (item("message", role="narrator"), "other"),
        (item("message"), "other"),
        (item("message", role=["user"]), "other"),
        ({}, "other"),
        (item("compaction", encrypted_content="x"), "assistant"),
        (item("item_reference", id="x"), "assistant"),
        (item("mcp_list_tools"), "assistant"),
        (item("additional_tools", role="developer"), "system"),
        (item("configuration_update", role="narrator"), "assistant"),
        (item("configuration_update", role=["user"]), "assistant"),
        (item("tool_search_output", execution="server", call_id="t"), "assistant"),
        (item("tool_search_call", execution="server", call_id="t"), "assistant"),
    ],
)
def test_an_item_without_links_says_its_role_alone(native, role):
    assert FORMAT.facts(native) == Facts(role)


def test_a_function_call_is_read_by_its_call_id_and_not_its_item_id():
    native = item("function_call", id="fc_1", call_id="call_1", name="x", arguments="{}")
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("call_1",))


def test_a_function_output_answers_by_call_id():
    native = item("function_call_output", id="fco_1", call_id="call_1", output="x")
    assert FORMAT.facts(native) == Facts(TOOL, answers=("call_1",))


@pytest.mark.parametrize("missing", [None, ""])
def test_a_function_call_without_a_call_id_is_read_by_name(missing):
    native = item("function_call", call_id=missing, name="x")
    assert FORMAT.facts(native) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "x"),))
    native = item("function_call_output", call_id=missing, name="x")
    assert FORMAT.facts(native) == Facts(TOOL, (Link(RESULT, FUNCTION, None, "x"),))


def test_an_output_in_progress_leaves_its_call_open():
    native = item("function_call_output", call_id="a", status="in_progress")
    assert FORMAT.facts(native) == Facts(TOOL, (Link(RESULT, FUNCTION, "a", None, None, INTERIM),))
    native = item("shell_call_output", call_id="a", status="in_progress")
    assert FORMAT.facts(native).links[0].state == INTERIM
    assert FORMAT.facts(item("shell_call_output", call_id="a", status="completed")).links == (
        Link(RESULT, "shell", "a"),
    )


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("custom_tool_call", "custom_tool"),
        ("computer_call", "computer"),
        ("shell_call", "shell"),
        ("apply_patch_call", "apply_patch"),
        ("tool_search_call", "tool_search"),
        ("next_year_call", "next_year"),
        ("program", "program"),
    ],
)
def test_every_call_the_client_runs_is_an_item_that_asks(kind, family):
    asked = FORMAT.facts(item(kind, id="i", call_id="a", name="n"))
    assert asked == Facts(ASSISTANT, (Link(CALL, family, "a", "n"),))


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("custom_tool_call_output", "custom_tool"),
        ("computer_call_output", "computer"),
        ("shell_call_output", "shell"),
        ("apply_patch_call_output", "apply_patch"),
        ("tool_search_output", "tool_search"),
        ("next_year_output", "next_year"),
    ],
)
def test_every_output_is_an_item_that_answers(kind, family):
    assert FORMAT.facts(item(kind, call_id="a")) == Facts(TOOL, (Link(RESULT, family, "a"),))


def test_the_output_of_a_program_is_said_by_the_model():
    assert FORMAT.facts(item("program_output", call_id="p")) == Facts(
        ASSISTANT, (Link(RESULT, "program", "p"),)
    )


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    ],
)
def test_a_call_the_provider_runs_asks_for_nothing(kind):
    assert FORMAT.facts(item(kind, id="x", call_id="y")) == Facts(ASSISTANT)


@pytest.mark.parametrize(
    ("fields", "link"),
    [
        (
            {"id": "lsh", "call_id": "call"},
            Link(CALL, "local_shell", "call", None, "lsh"),
        ),
        ({"id": "lsh"}, Link(CALL, "local_shell", "lsh")),
        ({"id": "same", "call_id": "same"}, Link(CALL, "local_shell", "same")),
        ({"call_id": "call"}, Link(CALL, "local_shell", "call")),
    ],
)
def test_a_local_shell_call_is_known_under_both_of_its_ids(fields, link):
    assert FORMAT.facts(item("local_shell_call", **fields)).links == (link,)


def test_no_other_call_is_known_under_its_item_id():
    assert FORMAT.facts(item("shell_call", id="sh")).links == (Link(CALL, "shell", None),)
    assert FORMAT.facts(item("shell_call_output", id="sh")).links == (Link(RESULT, "shell", None),)


def test_a_local_shell_output_names_its_call_in_either_field():
    assert FORMAT.facts(item("local_shell_call_output", id="lsh")).links == (
        Link(RESULT, "local_shell", "lsh"),
    )
    assert FORMAT.facts(item("local_shell_call_output", id="lsh", call_id="c")).links == (
        Link(RESULT, "local_shell", "c"),
    )


def test_reasoning_is_an_item_of_its_own():
    assert FORMAT.facts(item("reasoning", id="rs_1", summary=[])) == Facts(
        ASSISTANT, reasoning=True
    )


def test_approvals_are_requests_and_decisions():
    assert FORMAT.facts(item("mcp_approval_request", id="r", name="x")) == Facts(
        ASSISTANT, (Link(REQUEST, "mcp", "r", "x"),)
    )
    for approve, state in ((True, "final"), (False, REJECTED)):
        native = item("mcp_approval_response", approval_request_id="r", approve=approve)
        assert FORMAT.facts(native) == Facts(TOOL, (Link(ANSWER, "mcp", "r", state=state),))
    assert FORMAT.facts(item("mcp_approval_response", approval_request_id="r")).links == (
        Link(ANSWER, "mcp", "r"),
    )


def test_an_mcp_call_belongs_to_the_request_it_came_from():
    native = item("mcp_call", id="m", approval_request_id="r")
    assert FORMAT.facts(native) == Facts(ASSISTANT, (Link(CHILD, "mcp", "r"),))


def test_an_item_called_by_a_program_belongs_to_it():
    caller = {"type": "program", "caller_id": "p"}
    assert FORMAT.facts(item("function_call", call_id="a", name="x", caller=caller)) == Facts(
        ASSISTANT, (Link(CALL, FUNCTION, "a", "x"), Link(CHILD, "program", "p"))
    )
    assert FORMAT.facts(item("shell_call", call_id="a", caller=caller)).links == (
        Link(CALL, "shell", "a"),
        Link(CHILD, "program", "p"),
    )


@pytest.mark.parametrize("caller", [None, "p", {"type": "direct"}])
def test_an_item_called_by_the_model_itself_belongs_to_nothing(caller):
    native = item("function_call", call_id="a", name="x", caller=caller)
    assert FORMAT.facts(native) == Facts(ASSISTANT, asks=("a",))


def test_what_asks_for_approval_is_told_at_once():
    request = item("mcp_approval_request", id="r")
    other = item("message", role="user", content="no mcp_approval_response here")
    tricky = item("message", role="user", content="mcp_approval_request")
    for native, asked in ((request, True), (other, False), (tricky, False)):
        assert FORMAT.asks(native) is asked
        assert FORMAT.asks(msgspec.Raw(msgspec.json.encode(native))) is asked
        assert FORMAT.asks(Dumps(native)) is asked


# --- parts ----------------------------------------------------------------------------------------


class Dumps:
    def __init__(self, fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields


@pytest.mark.parametrize(
    ("native", "parts"),
    [
        ({"role": "user", "content": "hi"}, (Text("hi", "content"),)),
        ({"role": "user", "content": None}, (Text(None, "content"),)),
        ({"role": "user", "content": 5}, (Opaque("int", 5, "content"),)),
        ({"role": "user"}, ()),
        (
            item("reasoning", id="rs", encrypted_content="sealed"),
            (Reasoning("", "sealed", "rs"),),
        ),
        (
            item(
                "reasoning",
                summary=[{"type": "summary_text", "text": "a"}],
                content=[{"type": "reasoning_text", "text": "b"}, {"type": "x"}],
            ),
            (Reasoning("a\nb\n"),),
        ),
        (
            item("mcp_approval_request", id="r", name="x", arguments="{}"),
            (ApprovalRequest("r", None, "x", "{}"),),
        ),
        (
            item("mcp_approval_response", approval_request_id="r", approve=False),
            (Approval("r", approved=False),),
        ),
        (item("mcp_approval_response", approval_request_id="r"), (Approval("r"),)),
        (
            item("function_call_output", call_id="a", output="x"),
            (ToolResult("function", "a", "x", path="output"),),
        ),
        (
            item("function_call_output", call_id="a", status="in_progress"),
            (ToolResult("function", "a", None, path="output", state=INTERIM),),
        ),
        (
            item("tool_search_output", call_id="a", tools=[1]),
            (ToolResult("tool_search", "a", [1], path="output"),),
        ),
        (
            item("function_call", call_id="a", name="x", arguments="{}"),
            (ToolCall("function", "a", "x", "{}", "arguments"),),
        ),
        (
            item("custom_tool_call", call_id="a", name="x", input="raw"),
            (ToolCall("custom_tool", "a", "x", "raw", "arguments"),),
        ),
        (
            item("computer_call", call_id="a", action={"type": "click"}),
            (ToolCall("computer", "a", None, {"type": "click"}, "arguments"),),
        ),
        (
            item("apply_patch_call", call_id="a", operation={"path": "f"}),
            (ToolCall("apply_patch", "a", None, {"path": "f"}, "arguments"),),
        ),
        (
            item("local_shell_call", id="l", call_id="a", action={}),
            (ToolCall("local_shell", "a", None, {}, "arguments", "l"),),
        ),
        (
            item("program", call_id="p", code="1"),
            (ToolCall("program", "p", None, "1", "arguments"),),
        ),
        (
            item("code_interpreter_call", id="ci", code="1"),
            (ToolCall("code_interpreter", "ci", None, "1", "arguments", hosted=True),),
        ),
        (
            item("web_search_call", id="ws"),
            (ToolCall("web_search", "ws", None, None, "arguments", hosted=True),),
        ),
        (item("compaction", id="c"), (Opaque("compaction", {"type": "compaction", "id": "c"}),)),
    ],
)
def test_items_become_parts(native, parts):
    assert FORMAT.parts(native) == parts


@pytest.mark.parametrize(
    ("block", "part"),
    [
        ({"type": "input_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "output_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "summary_text", "text": "t"}, Text("t", "content[0]")),
        ({"type": "refusal", "refusal": "no"}, Text("no", "content[0]")),
        (
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
            Media("image", encoded=26, path="content[0]"),
        ),
        (
            {"type": "input_image", "image_url": "https://example.com/a.png"},
            Media("image", encoded=0, path="content[0]"),
        ),
        ({"type": "input_image", "file_id": "f"}, Media("image", encoded=0, path="content[0]")),
        (
            {"type": "input_file", "file_data": "data:application/pdf;base64,AA"},
            Media("file", encoded=30, path="content[0]"),
        ),
        ({"type": "input_audio"}, Media("audio", encoded=0, path="content[0]")),
        ({"type": "sticker"}, Opaque("sticker", {"type": "sticker"}, "content[0]")),
    ],
)
def test_blocks_become_parts_with_their_place(block, part):
    assert FORMAT.parts({"role": "user", "content": [block]}) == (part,)


def test_the_second_block_has_the_second_place():
    native = {"role": "user", "content": ["a", "b"]}
    assert [part.path for part in FORMAT.parts(native)] == ["content[0]", "content[1]"]


def test_raw_json_and_objects_read_like_dicts():
    native = item("function_call", call_id="a", name="x", arguments="{}")
    for other in (msgspec.Raw(msgspec.json.encode(native)), Dumps(native)):
        assert FORMAT.facts(other) == FORMAT.facts(native)
        assert FORMAT.parts(other) == FORMAT.parts(native)
        assert FORMAT.evidence(other) == DEFINITE


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "strength"),
    [
        (item("function_call"), DEFINITE),
        (item("function_call_output"), DEFINITE),
        (item("next_year_call"), DEFINITE),
        (item("reasoning"), DEFINITE),
        (item("compaction"), DEFINITE),
        (item("item_reference"), DEFINITE),
        (item("additional_tools"), DEFINITE),
        (item("program"), DEFINITE),
        (item("program_output"), DEFINITE),
        (item("mcp_list_tools"), DEFINITE),
        (item("mcp_approval_request"), DEFINITE),
        (item("tool_search_output"), DEFINITE),
        (item("human", content="x"), NO),
        (item("unheard_of"), NO),
        (item(5), NO),
        ({"role": "user", "content": "x"}, FITS),
        (item("message", role="user", content="x"), DEFINITE),
        (item("message", role="narrator", content="x"), NO),
        ({"role": "tool", "content": "x"}, NO),
        ({"role": "assistant", "content": "x", "tool_calls": [1]}, NO),
        ({"role": "user", "content": None}, NO),
        ({"role": "user"}, NO),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, DEFINITE),
        ({"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}, DEFINITE),
        ({"role": "user", "content": [{"type": "input_image"}, {"type": "x"}]}, DEFINITE),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "x"}]}, FITS),
        ({"role": "user", "content": [{"type": "text", "text": "x"}]}, NO),
        ({"role": "user", "content": []}, FITS),
    ],
)
def test_how_strongly_an_item_speaks_for_the_format(native, strength):
    assert FORMAT.evidence(native) == strength
