"""The Mistral SDK against the strict Mistral server."""

from __future__ import annotations

import pytest

from lockstitch.testing.servers import MistralServer, call_every_tool

pytest.importorskip("mistralai")
from mistralai.client import Mistral
from mistralai.client.errors import SDKError

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("f", "g")
]
USER = {"role": "user", "content": "q"}
SYSTEM = {"role": "system", "content": "s"}
ANSWER = {"role": "assistant", "content": "a"}


def called(*ids, content=""):
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def answered(one):
    return {"role": "tool", "tool_call_id": one, "content": "r"}


@pytest.fixture
def server():
    return MistralServer(script=call_every_tool("All done."))


@pytest.fixture
def client(server, served, closing):
    return closing(Mistral(api_key="none", server_url=served(server)))


def test_an_agent_calls_both_tools_and_gets_its_answer(client):
    messages = [USER]
    for _ in range(2):
        answer = client.chat.complete(model="mistral-large", messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        assert answer.choices[0].finish_reason == "tool_calls"
        assert len(message.tool_calls[0].id) == 9
        messages += [message, answered(message.tool_calls[0].id)]
    answer = client.chat.complete(model="mistral-large", messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content == "All done."


def test_the_same_agent_streams(client):
    with client.chat.stream(model="m", messages=[USER], tools=TOOLS) as stream:
        deltas = [event.data.choices[0].delta for event in stream]
    names = [call.function.name for delta in deltas for call in delta.tool_calls or ()]
    assert names[0] == "f"
    with client.chat.stream(model="m", messages=[USER]) as stream:
        text = "".join(event.data.choices[0].delta.content or "" for event in stream)
    assert text == "All done."


A, B = "abcdefghi", "123456789"
BROKEN = {
    "an assistant message at the end": ([USER, ANSWER], "Expected last role User or Tool"),
    "a result after the user": ([USER, answered(A), ANSWER, USER], "'tool' after role 'user'"),
    "a batch answered in part": (
        [USER, called(A, B), answered(A)],
        "Not the same number of function calls and responses",
    ),
    "a call without a result": (
        [USER, called(A), USER],
        "Not the same number of function calls and responses",
    ),
    "a result twice": (
        [USER, called(A), answered(A), answered(A)],
        "Not the same number of function calls and responses",
    ),
    "a result after a plain answer": (
        [USER, ANSWER, answered(A)],
        "Not the same number of function calls and responses",
    ),
    "an id of another provider": (
        [USER, called("call_123"), answered("call_123")],
        "Tool call id was call_123 but must be a-z, A-Z, 0-9, with a length of 9.",
    ),
    "a system message late": (
        [USER, ANSWER, SYSTEM, USER],
        "Unexpected role 'system' after role 'assistant'",
    ),
    "a result first": ([answered(A)], "must start with a user message or system message"),
    "an empty assistant message": (
        [USER, {"role": "assistant", "content": ""}, USER],
        "Assistant message must have either content or tool_calls",
    ),
    "an id twice in a batch": (
        [USER, called(A, A), answered(A), answered(A)],
        f"Duplicate tool call id {A} in assistant message",
    ),
    "a result of an unknown call": (
        [USER, called(A), answered("zzzzzzzzz")],
        "Unexpected tool call id zzzzzzzzz in tool results",
    ),
    "no messages": ([], "Conversation must have at least one message"),
}


@pytest.mark.parametrize(("messages", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_mistrals_words(client, messages, text):
    with pytest.raises(SDKError) as caught:
        client.chat.complete(model="mistral-large", messages=messages)
    assert caught.value.status_code == 400
    assert text in str(caught.value)


def test_a_user_message_after_a_result_is_taken_as_recorded_or_refused_as_reported():
    body = {"model": "m", "messages": [USER, called(A), answered(A), USER]}
    assert MistralServer().ask(body).ok
    older = MistralServer(user_after_tool=False)
    assert older.ask(body).status == 400
    assert older.refusals[0].text == "Unexpected role 'user' after role 'tool'"


def test_a_prefix_may_stand_at_the_end():
    body = {"model": "m", "messages": [USER, {**ANSWER, "prefix": True}]}
    assert MistralServer().ask(body).ok


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [USER]},
        {"model": "m"},
        {"model": "m", "messages": [{"role": "model", "content": "a"}]},
        {"model": "m", "messages": [{"role": "user", "content": 1}]},
        {"model": "m", "messages": [{"role": "assistant", "content": "a", "tool_calls": "c"}]},
    ],
)
def test_a_malformed_body_is_unprocessable(body):
    assert MistralServer().ask(body).status == 422


def test_another_path_is_not_there():
    assert MistralServer().ask({}, path="/v1/x").status == 404
