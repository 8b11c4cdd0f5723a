"""boto3 against the strict Converse server."""

from __future__ import annotations

import pytest

from lockstitch.testing.servers import BedrockServer, call_every_tool

boto3 = pytest.importorskip("boto3")
from botocore.config import Config  # noqa: E402  (after the skip)
from botocore.exceptions import ClientError  # noqa: E402  (after the skip)

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
TOOLS = {
    "tools": [
        {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}}
        for name in ("f", "g")
    ]
}


def said(role, *texts):
    return {"role": role, "content": [{"text": text} for text in texts]}


def used(*ids, text=None):
    uses = [{"toolUse": {"toolUseId": one, "name": "f", "input": {}}} for one in ids]
    return {"role": "assistant", "content": [*([{"text": text}] if text else []), *uses]}


def result(*ids, **fields):
    base = {"content": [{"text": "r"}], **fields}
    results = [{"toolResult": {"toolUseId": one, **base}} for one in ids]
    return {"role": "user", "content": results}


USER, ANSWER = said("user", "q"), said("assistant", "a")


@pytest.fixture
def client(served, closing):
    made = boto3.client(
        "bedrock-runtime",
        endpoint_url=served(BedrockServer(script=call_every_tool("All done."))),
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"max_attempts": 1}, parameter_validation=False),
    )
    yield made
    made.close()


def test_an_agent_calls_both_tools_and_gets_its_answer(client):
    messages = [USER]
    for _ in range(2):
        answer = client.converse(modelId=CLAUDE, messages=messages, toolConfig=TOOLS)
        assert answer["stopReason"] == "tool_use"
        message = answer["output"]["message"]
        messages += [message, result(message["content"][0]["toolUse"]["toolUseId"])]
    answer = client.converse(modelId=CLAUDE, messages=messages, toolConfig=TOOLS)
    assert answer["output"]["message"]["content"] == [{"text": "All done."}]
    assert answer["usage"]["totalTokens"] > 0


def test_the_same_agent_streams_in_binary_frames(client):
    answer = client.converse_stream(modelId=CLAUDE, messages=[USER], toolConfig=TOOLS)
    kinds = [next(iter(event)) for event in answer["stream"]]
    assert kinds == [
        "messageStart",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]
    answer = client.converse_stream(modelId=CLAUDE, messages=[USER])
    deltas = [
        event["contentBlockDelta"] for event in answer["stream"] if "contentBlockDelta" in event
    ]
    assert "".join(delta["delta"]["text"] for delta in deltas) == "All done."


def document(name):
    return {"document": {"format": "txt", "name": name, "source": {"bytes": b"a"}}}


BROKEN = {
    "a result without a use": (
        [result("t1"), ANSWER, USER],
        "The number of toolResult blocks at messages.0.content exceeds the number of toolUse",
    ),
    "a result twice": (
        [USER, used("t1"), result("t1", "t1")],
        "toolResult blocks at messages.2.content exceeds the number of toolUse blocks",
    ),
    "a batch answered in part": (
        [USER, used("t1", "t2"), result("t1")],
        "Expected toolResult blocks at messages.2.content for the following Ids: t2",
    ),
    "a use without a result": (
        [USER, used("t1"), USER],
        "Expected toolResult blocks at messages.2.content for the following Ids: t1",
    ),
    "an open use at the end": (
        [USER, used("t1")],
        "Expected toolResult blocks at messages.2.content for the following Ids: t1",
    ),
    "a result of another use": (
        [USER, used("t1"), result("t2")],
        "Expected toolResult blocks at messages.2.content for the following Ids: t1",
    ),
    "two user messages": ([USER, USER], "A conversation must alternate between user and assistant"),
    "blank text": (
        [USER, said("assistant", " "), USER],
        "The text field in the ContentBlock object at messages.1.content.0 is blank.",
    ),
    "no content": (
        [USER, {"role": "assistant", "content": []}, USER],
        "The content field in the Message object at messages.1 is empty.",
    ),
    "an error without content": (
        [USER, used("t1"), result("t1", content=[], status="error")],
        "messages.2.content.0.toolResult cannot be empty when status value is error.",
    ),
    "an id twice": ([USER, used("t1", "t1"), result("t1", "t1")], "duplicate toolUse Ids"),
    "an id with a blank": (
        [USER, used("bad id!"), result("bad id!")],
        "regular expression pattern",
    ),
    "a use of the user": (
        [{"role": "user", "content": used("t1")["content"]}],
        "may only be in an assistant message",
    ),
    "the role system": ([said("system", "s"), USER], "Member must satisfy enum value set"),
    "a document name twice": (
        [{"role": "user", "content": [{"text": "q"}, document("d"), document("d")]}],
        "Messages can't contain duplicate document names.",
    ),
    "six documents": (
        [{"role": "user", "content": [{"text": "q"}, *(document(f"d{n}") for n in range(6))]}],
        "You can't include more than 5 documents in a request.",
    ),
    "a blank at the end of a prefill": (
        [USER, said("assistant", "a ")],
        "final assistant content cannot end with trailing whitespace",
    ),
}


@pytest.mark.parametrize(("messages", "text"), BROKEN.values(), ids=BROKEN)
def test_a_broken_history_is_refused_with_bedrocks_words(client, messages, text):
    with pytest.raises(ClientError) as caught:
        client.converse(modelId=CLAUDE, messages=messages, toolConfig=TOOLS)
    assert caught.value.response["Error"]["Code"] == "ValidationException"
    assert text in caught.value.response["Error"]["Message"]


def test_tool_blocks_need_a_tool_configuration(client):
    with pytest.raises(client.exceptions.ValidationException, match="toolConfig field must be"):
        client.converse(modelId=CLAUDE, messages=[USER, used("t1"), result("t1")])


@pytest.mark.parametrize(
    ("model", "messages", "text"),
    [
        (
            "us.anthropic.claude-sonnet-4-6",
            [USER, ANSWER],
            "does not support assistant message prefill",
        ),
        ("us.amazon.nova-pro-v1:0", [ANSWER, USER], "must start with a user message"),
        (
            "us.meta.llama4-maverick-17b-instruct-v1:0",
            [USER, used("t1", text="look"), result("t1")],
            "messages.1.content: Conversation blocks and tool use blocks cannot be provided",
        ),
        (
            "mistral.mistral-large-2402-v1:0",
            [
                USER,
                used("t1"),
                {**result("t1"), "content": [*result("t1")["content"], {"text": "x"}]},
            ],
            "messages.2.content: Conversation blocks and tool result blocks cannot be provided",
        ),
    ],
)
def test_some_models_refuse_more(client, model, messages, text):
    with pytest.raises(client.exceptions.ValidationException) as caught:
        client.converse(modelId=model, messages=messages, toolConfig=TOOLS)
    assert text in str(caught.value)


@pytest.mark.parametrize("messages", [[USER, ANSWER], [ANSWER, USER]])
def test_claude_of_old_takes_a_prefill_and_a_first_assistant_message(client, messages):
    assert client.converse(modelId=CLAUDE, messages=messages)["stopReason"] == "end_turn"


def test_llama_takes_results_alone(client):
    llama = "us.meta.llama4-maverick-17b-instruct-v1:0"
    messages = [USER, used("t1"), result("t1")]
    answer = client.converse(modelId=llama, messages=messages, toolConfig=TOOLS)
    assert answer["stopReason"] == "tool_use"


@pytest.mark.parametrize("messages", [None, [], ["q"], [{"role": "user"}]])
def test_a_malformed_body_is_refused(messages):
    assert BedrockServer().ask({"messages": messages}).status == 400


def test_another_operation_is_not_there():
    assert BedrockServer().ask({}, path="/model/m/invoke").status == 404
