"""Histories of the OpenAI SDK's own objects, alone and mixed with dicts."""

from __future__ import annotations

import copy

import pytest

import lockstitch as ls
from lockstitch.testing import result, system, user

pytest.importorskip("openai")

from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessage,
    ChatCompletionMessageCustomToolCall,
    ChatCompletionMessageFunctionToolCall,
)
from openai.types.chat.chat_completion_message_custom_tool_call import Custom
from openai.types.chat.chat_completion_message_function_tool_call import Function
from openai.types.responses import (
    ResponseComputerToolCall,
    ResponseCustomToolCall,
    ResponseFunctionShellToolCall,
    ResponseFunctionToolCall,
    ResponseFunctionToolCallOutputItem,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_function_shell_tool_call import Action
from openai.types.responses.response_function_web_search import ActionSearch
from openai.types.responses.response_output_item import (
    LocalShellCall,
    LocalShellCallAction,
    McpApprovalRequest,
    McpCall,
)
from openai.types.responses.response_reasoning_item import Summary


def identical(one, other):
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


# --- Chat Completions -----------------------------------------------------------------------------


def function_call(id_, name="look_up"):
    return ChatCompletionMessageFunctionToolCall(
        id=id_, type="function", function=Function(name=name, arguments="{}")
    )


def custom_call(id_):
    return ChatCompletionMessageCustomToolCall(
        id=id_, type="custom", custom=Custom(name="run", input="ls")
    )


def spoken(content, *calls):
    return ChatCompletionMessage(role="assistant", content=content, tool_calls=list(calls) or None)


def chat():
    return [
        system("be brief"),
        user("1"),
        spoken(None, function_call("a"), custom_call("b")),
        result("a"),
        result("b"),
        spoken("2"),
        user("3"),
        spoken(None, function_call("c")),
        result("c"),
        spoken("4"),
    ]


def chat_as_dicts():
    return [one if isinstance(one, dict) else one.model_dump(exclude_unset=True) for one in chat()]


def test_chat_objects_are_recognised_and_checked():
    report = ls.check(chat(), profile="openai-chat", tail="closed")
    assert report.format == "openai-chat"
    assert report.errors == ()


@pytest.mark.parametrize("profile", ["portable", "openai-chat"])
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_trimming_chat_objects_gives_the_very_same_objects_back(profile, cut):
    history = chat()
    before = copy.deepcopy(history)
    for limit in range(3, 11):
        options = {"profile": profile, "cut": cut, "max_messages": limit, "on_overflow": "empty"}
        decision = ls.plan(history, **options)
        assert identical(ls.trim(history, **options), [history[at] for at in decision.kept])
        assert decision.kept == ls.plan(chat_as_dicts(), **options).kept
    assert history == before


def test_chat_objects_and_dicts_agree_in_groups_parts_and_sizes():
    objects, dicts = chat(), chat_as_dicts()
    assert list(ls.groups(objects)) == list(ls.groups(dicts))
    assert [one.parts for one in ls.load(objects)] == [one.parts for one in ls.load(dicts)]
    for counter in ("bytes", "estimate"):
        one = ls.plan(objects, max_tokens=60, counter=counter, on_overflow="smallest")
        other = ls.plan(dicts, max_tokens=60, counter=counter, on_overflow="smallest")
        assert (one.kept, one.after) == (other.kept, other.after)


def test_a_cut_between_a_chat_object_and_its_result_is_found():
    report = ls.check(chat()[3:], profile="openai-chat")
    assert {found.rule for found in report.violations} == {"oc-tool-needs-call"}
    report = ls.check([*chat()[:3], user("on")], profile="openai-chat")
    assert [found.path for found in report.errors] == [
        "messages[2].tool_calls[0]",
        "messages[2].tool_calls[1]",
    ]


def test_a_message_taken_out_of_a_completion_is_recognised():
    completion = ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "logprobs": None,
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "refusal": None,
                        "annotations": [],
                        "vendor_field": 1,
                        "tool_calls": [
                            {
                                "id": "a",
                                "type": "function",
                                "function": {"name": "x", "arguments": "{}"},
                            }
                        ],
                    },
                }
            ],
        }
    )
    history = [user("1"), completion.choices[0].message, result("a")]
    assert ls.check(history, profile="openai-chat", tail="closed").errors == ()
    assert [unit.members for unit in ls.groups(history)] == [(0,), (1, 2)]


# --- Responses ------------------------------------------------------------------------------------


def responses():
    return [
        {"role": "user", "content": "1"},
        ResponseReasoningItem(
            id="rs_1",
            type="reasoning",
            summary=[Summary(text="hm", type="summary_text")],
            encrypted_content="sealed",
        ),
        ResponseFunctionToolCall(
            id="fc_1", call_id="a", name="x", arguments="{}", type="function_call"
        ),
        ResponseFunctionWebSearch(
            id="ws_1",
            type="web_search_call",
            status="completed",
            action=ActionSearch(type="search", query="q"),
        ),
        ResponseFunctionToolCallOutputItem(
            id="fco_1",
            call_id="a",
            output="r",
            status="completed",
            type="function_call_output",
        ),
        ResponseOutputMessage(
            id="msg_1",
            role="assistant",
            status="completed",
            type="message",
            content=[ResponseOutputText(text="2", type="output_text", annotations=[])],
        ),
        {"role": "user", "content": "3"},
        ResponseCustomToolCall(call_id="b", input="raw", name="y", type="custom_tool_call"),
        {"type": "custom_tool_call_output", "call_id": "b", "output": "r"},
        ResponseFunctionShellToolCall(
            id="sh_1",
            call_id="c",
            status="completed",
            type="shell_call",
            action=Action(commands=["ls"]),
            environment=None,
        ),
        {"type": "shell_call_output", "call_id": "c", "output": []},
        ResponseComputerToolCall(
            id="cu_1",
            call_id="d",
            pending_safety_checks=[],
            status="completed",
            type="computer_call",
        ),
        {"type": "computer_call_output", "call_id": "d", "output": {}},
        {"role": "user", "content": "4"},
        LocalShellCall(
            id="lsh_1",
            call_id="e",
            status="completed",
            type="local_shell_call",
            action=LocalShellCallAction(command=["ls"], env={}, type="exec"),
        ),
        {"type": "local_shell_call_output", "id": "lsh_1", "output": "r"},
        McpApprovalRequest(
            id="mcpr_1",
            arguments="{}",
            name="z",
            server_label="s",
            type="mcp_approval_request",
        ),
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        McpCall(
            id="mcp_1",
            arguments="{}",
            name="z",
            server_label="s",
            type="mcp_call",
            approval_request_id="mcpr_1",
        ),
        ResponseOutputMessage(
            id="msg_2",
            role="assistant",
            status="completed",
            type="message",
            content=[ResponseOutputText(text="5", type="output_text", annotations=[])],
        ),
    ]


def responses_as_dicts():
    return [
        one if isinstance(one, dict) else one.model_dump(exclude_unset=True) for one in responses()
    ]


def test_response_items_are_recognised_and_clean():
    for history in (responses(), responses_as_dicts(), {"input": responses()}):
        report = ls.check(history, profile="openai-responses", tail="closed")
        assert report.format == "openai-responses"
        assert report.errors == ()


def test_response_items_group_by_response_and_by_call():
    expected = [
        (0,),
        (1, 2, 3, 4),
        (5,),
        (6,),
        (7, 8),
        (9, 10),
        (11, 12),
        (13,),
        (14, 15),
        (16, 17, 18, 19),
    ]
    for history in (responses(), responses_as_dicts()):
        found = ls.groups(history, profile="openai-responses")
        assert [unit.members for unit in found] == expected
        assert {unit.state for unit in found} == {"complete"}


@pytest.mark.parametrize("profile", ["portable", "openai-responses"])
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_trimming_response_items_gives_the_very_same_objects_back(profile, cut):
    history = responses()
    for limit in range(2, 21):
        options = {"profile": profile, "cut": cut, "max_messages": limit, "on_overflow": "empty"}
        window = ls.trim(history, **options)
        assert identical(window, [history[at] for at in ls.plan(history, **options).kept])
        assert ls.plan(responses_as_dicts(), **options).kept == ls.plan(history, **options).kept
        if window:
            assert ls.check(window, profile=profile, format="openai-responses").ok


def test_parts_of_response_items_agree_with_those_of_their_dicts():
    for one, other in zip(ls.load(responses()), ls.load(responses_as_dicts()), strict=True):
        assert one.parts == other.parts
        assert one.role == other.role
