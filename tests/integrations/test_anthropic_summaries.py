"""Summaries through the Anthropic SDK: its own clients, a strict server, answers that are none."""

from __future__ import annotations

import asyncio

import pytest

import lockstitch as ls
from lockstitch.integrations.anthropic import async_summarizer, summarizer
from lockstitch.testing.servers import AnthropicServer, reply

anthropic = pytest.importorskip("anthropic")
http = pytest.importorskip("httpx2")

MODEL = "claude-opus-4-8"


@pytest.fixture
def history():
    use = {"type": "tool_use", "id": "c1", "name": "shell", "input": {}}
    gave = {"type": "tool_result", "tool_use_id": "c1", "content": "FAILED test_zebra"}
    return [
        {"role": "user", "content": "Make the test pass."},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [gave]},
        {"role": "assistant", "content": "It was the zebra."},
        {"role": "user", "content": "And the others?"},
        {"role": "assistant", "content": "All pass."},
    ]


@pytest.fixture
def server():
    return AnthropicServer(script=reply("The zebra test is fixed."))


@pytest.fixture
def client(server, served, closing):
    return closing(anthropic.Anthropic(base_url=served(server), api_key="none", max_retries=0))


def awaited(server, use):
    """Use an async client whose requests the server answers without a socket."""

    async def run():
        web = http.AsyncClient(transport=http.ASGITransport(app=server))
        async with anthropic.AsyncAnthropic(
            api_key="none", max_retries=0, http_client=web
        ) as client:
            return await use(client)

    return asyncio.run(run())


@pytest.fixture
def answering(closing):
    """Make a client that gets one answer, in the words of the wire."""

    def make(*content, stop_reason="end_turn"):
        body = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": list(content),
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        transport = http.MockTransport(lambda _: http.Response(200, json=body))
        web = http.Client(transport=transport)
        return closing(anthropic.Anthropic(api_key="none", max_retries=0, http_client=web))

    return make


def text(words):
    return {"type": "text", "text": words}


def test_older_messages_give_way_to_what_the_model_wrote(client, server, history):
    write = summarizer(client, model=MODEL)
    done = ls.summarize(history, write, keep_recent=2, profile="anthropic")
    assert done.failure is None
    assert done.summary.endswith("The zebra test is fixed.")
    assert "It was the zebra." in server.requests[0].body["messages"][0]["content"]
    assert done.messages[-2:] == history[-2:]
    assert ls.check(done.messages, profile="anthropic", tail="open").ok
    assert server.refusals == []


def test_older_messages_give_way_to_what_an_awaited_model_wrote(server, history):
    def use(client):
        write = async_summarizer(client, model=MODEL)
        return ls.asummarize(history, write, keep_recent=2, profile="anthropic")

    done = awaited(server, use)
    assert done.summary.endswith("The zebra test is fixed.")
    assert done.messages[-2:] == history[-2:]


def test_a_request_holds_the_prompt_and_a_limit_and_no_tools(client, server, prompt):
    summarizer(client, model=MODEL)(prompt)
    assert server.requests[0].body == {
        "model": MODEL,
        "messages": [{"role": "user", "content": str(prompt)}],
        "max_tokens": 500,
    }


def test_what_the_caller_says_goes_into_the_request(client, server, prompt):
    summarizer(client, model=MODEL, max_tokens=9, timeout=30, system="Be brief.")(prompt)
    body = server.requests[0].body
    assert (body["max_tokens"], body["system"]) == (9, "Be brief.")


def test_thinking_is_no_part_of_the_summary(answering, prompt):
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    client = answering(thinking, text("The zebra "), text("is fixed."))
    assert summarizer(client, model=MODEL)(prompt) == "The zebra is fixed."


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_truncated_answer_is_no_summary(answering, history, stop_reason):
    client = answering(text("The zebra is"), stop_reason=stop_reason)
    done = ls.summarize(history, summarizer(client, model=MODEL), keep_recent=2)
    assert done.messages == history
    assert f"cut off ('{stop_reason}')" in str(done.failure)


def test_a_refusal_is_no_summary(answering, prompt):
    client = answering(text("The zeb"), stop_reason="refusal")
    with pytest.raises(ValueError, match="refused"):
        summarizer(client, model=MODEL)(prompt)


def test_an_answer_without_text_is_blank(answering, history):
    done = ls.summarize(history, summarizer(answering(), model=MODEL), keep_recent=2)
    assert done.messages == history
    assert "it is blank" in str(done.failure)


def test_a_client_that_must_be_awaited_is_refused_before_it_is_asked(server):
    async def use(client):
        with pytest.raises(TypeError, match="take async_summarizer"):
            summarizer(client, model=MODEL)

    awaited(server, use)
    assert server.requests == []


def test_a_client_that_is_not_awaited_is_refused_before_it_is_asked(client, server):
    with pytest.raises(TypeError, match="hand over the SDK's async client"):
        async_summarizer(client, model=MODEL)
    assert server.requests == []
