"""How Chat messages and Responses items are changed, and what a repair adds to them."""

from __future__ import annotations

import copy

import pytest

from lockstitch.formats import FORMATS
from lockstitch.testing import call, result
from lockstitch.writing import writer_for

CHAT, RESPONSES = writer_for("openai-chat"), writer_for("openai-responses")


def part_of(format_, native):
    return FORMATS[format_].parts(native)[-1]


def asked(family, **more):
    return {"type": f"{family}_call", "call_id": "a", "name": "f", **more}


# --- Chat Completions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "named", "written"),
    [
        (
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": "a", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "1"}},
        ),
        (
            {"id": "a", "type": "custom", "custom": {"name": "f", "input": "x"}},
            {"id": "a", "type": "custom", "custom": {"name": "g", "input": "x"}},
            {"id": "a", "type": "custom", "custom": {"name": "f", "input": "1"}},
        ),
        (
            {"id": "a", "name": "f", "args": {}},
            {"id": "a", "name": "g", "args": {}},
            {"id": "a", "name": "f", "args": "1"},
        ),
    ],
)
def test_a_call_is_renamed_and_rearranged_wherever_its_name_stands(entry, named, written):
    message = {"role": "assistant", "content": None, "tool_calls": [entry]}
    before = copy.deepcopy(message)
    part = part_of("openai-chat", message)
    assert CHAT.recalled(message, part, "g")["tool_calls"] == [named]
    assert CHAT.rearranged(message, part, "1")["tool_calls"] == [written]
    assert CHAT.renamed(message, part, "b")["tool_calls"][0]["id"] == "b"
    assert message == before


def test_a_chat_result_is_a_message():
    message = result("a")
    part = part_of("openai-chat", message)
    assert CHAT.renamed(message, part, "b") == {**message, "tool_call_id": "b"}
    assert CHAT.result(message, part, "new") == {**message, "content": "new"}
    made = CHAT.answer(part_of("openai-chat", call("a")), "unknown")
    assert made == {"role": "tool", "tool_call_id": "a", "content": "unknown"}


def test_an_older_function_call_is_answered_under_its_name():
    older = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": ""}}
    made = CHAT.answer(part_of("openai-chat", older), "unknown")
    assert made == {"role": "function", "name": "f", "content": "unknown"}


def test_an_emptied_list_of_calls_goes_away():
    assert CHAT.tidied({"role": "assistant", "tool_calls": []}) == {"role": "assistant"}
    assert CHAT.tidied({"tool_calls": [1]}) == {"tool_calls": [1]}


# --- Responses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "answer"),
    [
        (
            asked("function", arguments="{}"),
            {"type": "function_call_output", "call_id": "a", "output": "?"},
        ),
        (
            asked("custom_tool", input="x"),
            {"type": "custom_tool_call_output", "call_id": "a", "output": "?"},
        ),
        (
            asked("apply_patch", operation={}),
            {
                "type": "apply_patch_call_output",
                "call_id": "a",
                "output": "?",
                "status": "failed",
            },
        ),
        (
            asked("local_shell", action={}),
            {"type": "local_shell_call_output", "id": "a", "output": "?"},
        ),
        (
            asked("shell", action={}),
            {
                "type": "shell_call_output",
                "call_id": "a",
                "output": [
                    {"stdout": "", "stderr": "?", "outcome": {"type": "exit", "exit_code": 1}}
                ],
            },
        ),
        (asked("computer", action={}), None),
        (asked("tool_search", arguments={}), None),
        ({"type": "web_search_call", "id": "ws_1"}, None),
        ({"type": "function_call", "name": "f", "arguments": "{}"}, None),
    ],
)
def test_each_kind_of_call_is_answered_in_its_own_way_or_not_at_all(item, answer):
    assert RESPONSES.answer(part_of("openai-responses", item), "?") == answer


def test_an_item_is_renamed_by_the_id_that_pairs_it():
    item = asked("function", id="fc_1", arguments="{}")
    part = part_of("openai-responses", item)
    assert RESPONSES.renamed(item, part, "b") == {**item, "call_id": "b"}
    assert RESPONSES.recalled(item, part, "g") == {**item, "name": "g"}
    assert RESPONSES.rearranged(item, part, "[]") == {**item, "arguments": "[]"}
    output = {"type": "local_shell_call_output", "id": "a", "output": "r"}
    part = part_of("openai-responses", output)
    assert RESPONSES.renamed(output, part, "b") == {**output, "id": "b"}
    assert RESPONSES.result(output, part, "new") == {**output, "output": "new"}


@pytest.mark.parametrize(
    ("message", "blocks"),
    [
        ({"role": "user", "content": "t"}, [{"type": "input_text", "text": "t"}]),
        ({"role": "assistant", "content": "t"}, [{"type": "output_text", "text": "t"}]),
        ({"role": "user", "content": ""}, []),
        ({"role": "user", "content": [{"type": "x"}]}, [{"type": "x"}]),
    ],
)
def test_text_becomes_a_block_of_the_roles_own(message, blocks):
    assert RESPONSES.blocks(message) == blocks


def test_a_part_is_its_item_unless_it_is_a_block_of_a_message():
    whole = [asked("function", arguments="{}"), {"type": "reasoning", "summary": []}]
    whole.append({"type": "x_thing"})
    assert all(RESPONSES.whole(part_of("openai-responses", item)) for item in whole)
    message = {"role": "user", "content": [{"type": "input_text", "text": "t"}, {"type": "x"}]}
    assert not any(RESPONSES.whole(part) for part in FORMATS["openai-responses"].parts(message))
    assert RESPONSES.says_nothing(())
    assert not RESPONSES.says_nothing(FORMATS["openai-responses"].parts(message))
    assert RESPONSES.said("user", "t") == {"role": "user", "content": "t"}
    assert RESPONSES.text("t") == {"type": "input_text", "text": "t"}
