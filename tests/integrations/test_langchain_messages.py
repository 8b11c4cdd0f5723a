"""LangChain's own messages: objects, `messages_to_dict`, `dumpd`, `model_dump`, chunks."""

from __future__ import annotations

import json

import pytest

import lockstitch as ls

pytest.importorskip("langchain_core")

from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
    messages_to_dict,
    trim_messages,
)

PROFILES = ["portable", "openai-chat", "openai-responses", "anthropic"]


def identical(one, other):
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))


def tool_call(id_, name="look_up"):
    return {"id": id_, "name": name, "args": {"q": 1}, "type": "tool_call"}


def history():
    return [
        SystemMessage("be brief", id="s"),
        HumanMessage("1"),
        AIMessage("", tool_calls=[tool_call("a"), tool_call("b")]),
        ToolMessage("r", tool_call_id="b"),
        ToolMessage("r", tool_call_id="a", status="error"),
        AIMessage("2"),
        HumanMessage([{"type": "text", "text": "3"}]),
        AIMessage(
            [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "wait"},
                {"type": "tool_use", "id": "c", "name": "look_up", "input": {}},
            ],
            tool_calls=[tool_call("c")],
            response_metadata={"model_provider": "anthropic", "model_name": "claude"},
        ),
        ToolMessage([{"type": "text", "text": "r"}], tool_call_id="c"),
        AIMessage(
            "",
            invalid_tool_calls=[
                {
                    "id": "d",
                    "name": "look_up",
                    "args": "{bad",
                    "error": "no",
                    "type": "invalid_tool_call",
                }
            ],
        ),
        ToolMessage("not JSON", tool_call_id="d"),
        AIMessageChunk("4"),
        HumanMessageChunk("5"),
        AIMessage("6"),
    ]


FORMS = {
    "objects": lambda messages: messages,
    "messages_to_dict": messages_to_dict,
    "dumpd": lambda messages: [dumpd(one) for one in messages],
    "dumpd of the list": dumpd,
    "model_dump": lambda messages: [one.model_dump() for one in messages],
    "JSON text": lambda messages: json.dumps(messages_to_dict(messages)),
}
GROUPS = [(0,), (1,), (2, 3, 4), (5,), (6,), (7, 8), (9, 10), (11,), (12,), (13,)]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_recognised_and_says_the_same(form):
    transcript = ls.load(FORMS[form](history()))
    assert transcript.format.name == "langchain"
    assert [one.role for one in transcript] == [one.role for one in ls.load(history())]
    assert [unit.members for unit in ls.groups(transcript)] == GROUPS
    for profile in PROFILES:
        report = ls.check(transcript, profile=profile, tail="closed")
        assert report.violations == ls.check(history(), profile=profile, tail="closed").violations
        assert report.ok


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_parts(form):
    expected = [one.parts for one in ls.load(history())]
    assert [one.parts for one in ls.load(FORMS[form](history()))] == expected


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_trimming_messages_gives_the_very_same_objects_back(profile, cut):
    messages = history()
    for limit in range(1, 15):
        options = {"profile": profile, "cut": cut, "max_messages": limit, "on_overflow": "empty"}
        window = ls.trim(messages, **options)
        assert identical(window, [messages[at] for at in ls.plan(messages, **options).kept])
        assert len(window) <= limit
        if window:
            assert ls.check(window, profile=profile, format="langchain").ok
        for form in FORMS.values():
            assert ls.plan(form(history()), **options).kept == ls.plan(messages, **options).kept
    assert messages == history()


def test_a_trimmed_list_of_dicts_is_a_list_that_langchain_reads():
    window = ls.trim(messages_to_dict(history()), max_messages=4)
    assert window[0] == message_to_dict(history()[0])


def test_a_call_that_nobody_answered_is_found():
    messages = [HumanMessage("1"), AIMessage("", tool_calls=[tool_call("a")]), HumanMessage("2")]
    (found,) = ls.check(messages, profile="portable").violations
    assert (found.rule, found.path) == ("po-call-answered", "messages[1].tool_calls[0]")
    messages[1] = AIMessage(
        "",
        invalid_tool_calls=[{"id": "a", "name": "x", "args": "{", "error": None}],
    )
    (found,) = ls.check(messages, profile="portable").violations
    assert found.path == "messages[1].invalid_tool_calls[0]"


def test_what_langchains_own_trimmer_breaks_is_found_and_ours_is_clean():
    messages = [HumanMessage("task"), *history()[2:6], HumanMessage("3"), AIMessage("4")]
    broken = trim_messages(messages, max_tokens=5, token_counter=len, strategy="last")
    assert not ls.check(broken, profile="portable").ok
    assert ls.check(ls.trim(messages, max_messages=5), profile="portable").ok


def test_a_function_message_answers_by_name():
    asked = AIMessage("", additional_kwargs={"function_call": {"name": "x", "arguments": "{}"}})
    messages = [HumanMessage("1"), asked, FunctionMessage("r", name="x"), AIMessage("2")]
    for form in FORMS.values():
        found = ls.groups(form(messages), profile="openai-chat")
        assert [unit.members for unit in found] == [(0,), (1, 2), (3,)]


def test_a_remove_message_is_a_row_that_no_model_sees():
    messages = [HumanMessage("1"), RemoveMessage(id="x"), AIMessage("2")]
    for form in FORMS.values():
        assert [one.role for one in ls.load(form(messages))] == ["user", "other", "assistant"]


@pytest.mark.parametrize(("said", "role"), [("user", "user"), ("assistant", "assistant")])
def test_a_chat_message_has_the_role_it_names_in_every_form(said, role):
    messages = [HumanMessage("0"), ChatMessage("1", role=said)]
    for form in FORMS.values():
        assert [one.role for one in ls.load(form(messages))] == ["user", role]


def test_chat_messages_alone_are_recognised_in_every_form():
    messages = [ChatMessage("1", role="user"), ChatMessage("2", role="assistant")]
    for form in FORMS.values():
        transcript = ls.load(form(messages))
        assert transcript.format.name == "langchain"
        assert [one.role for one in transcript] == ["user", "assistant"]


def test_chunks_with_calls_pair_with_their_results():
    chunk = AIMessageChunk(
        "",
        tool_call_chunks=[
            {"id": "a", "name": "x", "args": "{}", "index": 0, "type": "tool_call_chunk"}
        ],
    )
    messages = [HumanMessage("1"), chunk, ToolMessage("r", tool_call_id="a")]
    for form in FORMS.values():
        assert [unit.members for unit in ls.groups(form(messages))] == [(0,), (1, 2)]


def test_content_blocks_of_version_one_are_read():
    message = AIMessage(
        content_blocks=[
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "text", "text": "wait"},
            {"type": "tool_call", "id": "a", "name": "x", "args": {}},
        ]
    )
    messages = [HumanMessage("1"), message, ToolMessage("r", tool_call_id="a")]
    assert [unit.members for unit in ls.groups(messages)] == [(0,), (1, 2)]
    kinds = [type(part).__name__ for part in ls.load(messages).message(1).parts]
    assert kinds == ["Reasoning", "Text", "ToolCall"]


def test_tokens_of_objects_and_of_dicts_are_the_same():
    for limit in (40, 80, 120):
        plans = [
            ls.plan(form(history()), max_tokens=limit, counter="bytes", on_overflow="smallest")
            for form in FORMS.values()
        ]
        assert len({(tuple(one.kept), one.after) for one in plans}) == 1


def test_nothing_of_langchain_is_imported_to_read_a_list_of_its_dicts():
    import subprocess
    import sys

    code = (
        "import sys, lockstitch as ls\n"
        "ls.check([{'type': 'human', 'content': 'x'}])\n"
        "assert not any(name.startswith('langchain') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
