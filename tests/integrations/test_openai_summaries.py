"""Summaries through the OpenAI SDK: its own clients, a strict server, and answers that are none."""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path

import pytest

import lockstitch as ls
from lockstitch.integrations.openai import async_summarizer, summarizer
from lockstitch.strategies.asking import SummaryPrompt
from lockstitch.testing.servers import OpenAIChatServer, reply

openai = pytest.importorskip("openai")
http = pytest.importorskip("httpx2")

MODEL = "gpt-5-mini"


@pytest.fixture
def server():
    return OpenAIChatServer(script=reply("The zebra test is fixed."))


@pytest.fixture
def client(server, served, closing):
    made = openai.OpenAI(base_url=served(server) + "/v1", api_key="none", max_retries=0)
    return closing(made)


def awaited(server, use):
    """Use an async client whose requests the server answers without a socket."""

    async def run():
        web = http.AsyncClient(transport=http.ASGITransport(app=server))
        async with openai.AsyncOpenAI(api_key="none", max_retries=0, http_client=web) as client:
            return await use(client)

    return asyncio.run(run())


@pytest.fixture
def answering(closing):
    """Make a client that gets one answer, in the words of the wire."""

    def make(message, finish_reason="stop", **fields):
        choice = {"index": 0, "message": message, "finish_reason": finish_reason}
        body = {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [choice],
            **fields,
        }
        transport = http.MockTransport(lambda _: http.Response(200, json=body))
        web = http.Client(transport=transport)
        return closing(openai.OpenAI(api_key="none", max_retries=0, http_client=web))

    return make


def said(text, **fields):
    return {"role": "assistant", "content": text, **fields}


def test_older_messages_give_way_to_what_the_model_wrote(client, server, history):
    done = ls.summarize(history, summarizer(client, model=MODEL), keep_recent=2)
    assert done.failure is None
    assert done.summary.endswith("The zebra test is fixed.")
    assert "It was the zebra." in server.requests[0].body["messages"][0]["content"]
    assert [message["role"] for message in done.messages] == ["system", "user", "user", "assistant"]
    assert done.messages[-2:] == history[-2:]
    assert ls.check(done.messages, profile="openai-chat").ok
    assert server.refusals == []


def test_older_messages_give_way_to_what_an_awaited_model_wrote(server, history):
    def use(client):
        return ls.asummarize(history, async_summarizer(client, model=MODEL), keep_recent=2)

    done = awaited(server, use)
    assert done.summary.endswith("The zebra test is fixed.")
    assert done.messages[-2:] == history[-2:]


def test_a_request_holds_the_prompt_and_a_limit_and_no_tools(client, server, prompt):
    summarizer(client, model=MODEL)(prompt)
    assert server.requests[0].body == {
        "model": MODEL,
        "messages": [{"role": "user", "content": str(prompt)}],
        "max_completion_tokens": 500,
    }


def test_a_short_summary_still_gets_room_to_think(client, server):
    summarizer(client, model=MODEL)(SummaryPrompt("Summarise: ...", room=40))
    assert server.requests[0].body["max_completion_tokens"] == 256


def test_what_the_caller_says_goes_into_the_request(client, server, prompt):
    write = summarizer(client, model=MODEL, max_tokens=9, reasoning_effort="low")
    write(prompt)
    body = server.requests[0].body
    assert (body["max_completion_tokens"], body["reasoning_effort"]) == (9, "low")


def test_an_answer_is_waited_for_as_long_as_the_caller_says(closing, prompt):
    waited = []

    def slow(request):
        waited.append(request.extensions["timeout"]["read"])
        raise http.ReadTimeout("too slow", request=request)

    web = http.Client(transport=http.MockTransport(slow))
    client = closing(openai.OpenAI(api_key="none", max_retries=0, http_client=web))
    with pytest.raises(openai.APITimeoutError):
        summarizer(client, model=MODEL, timeout=1.5)(prompt)
    with pytest.raises(openai.APITimeoutError):
        summarizer(client, model=MODEL)(prompt)
    assert waited == [1.5, client.timeout.read]


def test_a_truncated_answer_is_no_summary(answering, history):
    write = summarizer(answering(said("The zebra is"), "length"), model=MODEL)
    done = ls.summarize(history, write, keep_recent=2)
    assert done.messages == history
    assert "cut off ('length')" in str(done.failure)
    assert isinstance(done.failure.__cause__, ValueError)


@pytest.mark.parametrize(
    ("message", "finish_reason"),
    [
        (said(None, refusal="I'd rather not."), "stop"),
        (said(""), "content_filter"),
        (said("The zeb"), "content_filter"),
    ],
)
def test_a_refusal_is_no_summary_and_is_not_quoted(answering, prompt, message, finish_reason):
    write = summarizer(answering(message, finish_reason), model=MODEL)
    with pytest.raises(ValueError, match=r"^the model refused to answer \('\w+'\)$"):
        write(prompt)


@pytest.mark.parametrize("fields", [{}, {"choices": []}])
def test_an_answer_without_text_is_blank(answering, history, fields):
    write = summarizer(answering(said(None), **fields), model=MODEL)
    done = ls.summarize(history, write, keep_recent=2)
    assert done.messages == history
    assert "it is blank" in str(done.failure)


def test_an_error_of_the_provider_leaves_the_history_as_it_was(closing, history):
    transport = http.MockTransport(lambda _: http.Response(503, text="overloaded"))
    web = http.Client(transport=transport)
    client = closing(openai.OpenAI(api_key="none", max_retries=0, http_client=web))
    done = ls.summarize(history, summarizer(client, model=MODEL), keep_recent=2)
    assert done.messages == history
    assert isinstance(done.failure.__cause__, openai.InternalServerError)


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


@pytest.mark.parametrize("name", ["anthropic", "litellm", "openai"])
def test_a_module_and_the_package_of_the_same_name_are_two(name):
    ours = importlib.import_module(f"lockstitch.integrations.{name}")
    theirs = importlib.import_module(name)
    assert "summarizer" in vars(ours)
    assert "summarizer" not in vars(theirs)
    assert Path(ours.__file__).parent.name == "integrations"
    assert Path(theirs.__file__).parent.name == name
