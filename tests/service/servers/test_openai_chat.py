"""The OpenAI SDK against the strict Chat Completions server."""

from __future__ import annotations

import pytest

from lockstitch.testing.servers import OpenAIChatServer, call_every_tool

openai = pytest.importorskip("openai")

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("f", "g")
]
USER = {"role": "user", "content": "q"}


def called(*ids, **fields):
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls, **fields}


def answered(one, content="r"):
    return {"role": "tool", "tool_call_id": one, "content": content}


@pytest.fixture
def client(served, closing):
    server = OpenAIChatServer(script=call_every_tool("All done."))
    made = openai.OpenAI(base_url=served(server) + "/v1", api_key="none", max_retries=0)
    return closing(made)


def test_an_agent_calls_both_tools_and_gets_its_answer(client):
    messages = [USER]
    for _ in range(2):
        answer = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS)
        message = answer.choices[0].message
        assert answer.choices[0].finish_reason == "tool_calls"
        messages += [message, answered(message.tool_calls[0].id)]
    answer = client.chat.completions.create(model="gpt-5", messages=messages, tools=TOOLS)
    assert answer.choices[0].message.content == "All done."
    assert answer.usage.total_tokens > 0


def test_the_same_agent_streams(client):
    with client.chat.completions.stream(model="gpt-5", messages=[USER], tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert [call.function.name for call in message.tool_calls] == ["f"]
    call = message.tool_calls[0].to_dict()
    call["function"].pop("parsed_arguments", None)
    messages = [USER, {"role": "assistant", "tool_calls": [call]}, answered(call["id"])]
    with client.chat.completions.stream(model="gpt-5", messages=messages) as stream:
        text = "".join(event.delta for event in stream if event.type == "content.delta")
    assert text == "All done."


BROKEN = {
    "a call without a result": ([USER, called("c1"), USER], "'tool_calls' must be followed by"),
    "a batch answered in part": (
        [USER, called("c1", "c2"), answered("c1"), {"role": "assistant", "content": "a"}],
        "did not have response messages: c2",
    ),
    "an open call at the end": ([USER, called("c1")], "did not have response messages: c1"),
    "a result without a call": ([USER, answered("c1")], "must be a response to a preceeding"),
    "a result of another call": (
        [USER, called("c1"), answered("c1"), answered("c2")],
        "'tool_call_id' of 'messages[3]' not found",
    ),
    "a result twice": (
        [USER, called("c1"), answered("c1"), answered("c1"), USER],
        "'tool_call_id' of 'messages[3]' not found",
    ),
    "a user message in between": (
        [USER, called("c1"), USER, answered("c1")],
        "did not have response messages: c1",
    ),
    "a result before its call": (
        [USER, answered("c1"), called("c1"), USER],
        "must be a response to a preceeding message",
    ),
    "no calls in the list of calls": (
        [USER, {"role": "assistant", "content": "a", "tool_calls": []}],
        "Invalid 'messages[1].tool_calls': empty array.",
    ),
    "too many calls": (
        [USER, called(*(f"c{n}" for n in range(129)))],
        "array too long. Expected an array with maximum length 128",
    ),
    "null content": (
        [USER, {"role": "assistant", "content": None}, USER],
        "Invalid value for 'content': expected a string, got null.",
    ),
    "a long id": (
        [USER, called("c" * 41), answered("c" * 41)],
        "maximum length 40, but got a string with length 41 instead.",
    ),
    "arguments that are no string": (
        [
            USER,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "f", "arguments": {}}}
                ],
            },
            answered("c"),
        ],
        "expected a string, but got an object",
    ),
    "an image in a result": (
        [USER, called("c"), answered("c", [{"type": "image_url", "image_url": {"url": "u"}}])],
        "Image URLs are only allowed for messages with role 'user'",
    ),
    "an unknown role": ([{"role": "model", "content": "a"}], "Invalid value: 'model'."),
    "no messages": ([], "Invalid 'messages': empty array."),
    "messages that are no objects": (["q"], "Invalid type for 'messages'"),
    "content of a strange type": (
        [{"role": "user", "content": 1}],
        "Invalid type for 'messages[0]",
    ),
    "calls of a strange type": (
        [{"role": "assistant", "content": "a", "tool_calls": "c"}],
        "Invalid type for 'messages[0].tool_calls'",
    ),
    "a result without an id": (
        [USER, {"role": "tool", "content": "r"}],
        "Missing required parameter: 'messages[1].tool_call_id'.",
    ),
}


@pytest.mark.parametrize(("messages", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_openais_words(client, messages, text):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="gpt-5", messages=messages)
    assert text in str(caught.value)
    assert caught.value.type == "invalid_request_error"


def test_a_system_message_is_refused_by_the_first_reasoning_models(client):
    with pytest.raises(openai.BadRequestError, match="does not support 'system' with this model"):
        client.chat.completions.create(
            model="o1-mini", messages=[{"role": "system", "content": "s"}, USER]
        )


def test_an_id_may_come_back_in_a_later_round(client):
    messages = [USER, called("c"), answered("c"), called("c"), answered("c"), USER]
    assert client.chat.completions.create(model="gpt-5", messages=messages).choices


def test_model_and_messages_are_required():
    server = OpenAIChatServer()
    server.ask({"messages": [USER]})
    server.ask({"model": "gpt-5"})
    texts = [refusal.text for refusal in server.refusals]
    assert texts == [
        "you must provide a model parameter",
        "Missing required parameter: 'messages'.",
    ]
