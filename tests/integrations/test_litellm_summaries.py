"""Summaries through LiteLLM: its own mock, and the strict server at the end of its client."""

from __future__ import annotations

import asyncio
import sys

import pytest

import lockstitch as ls
from lockstitch.integrations.litellm import async_summarizer, summarizer
from lockstitch.testing.servers import OpenAIChatServer, reply

litellm = pytest.importorskip("litellm")

MODEL = "gpt-5-mini"
SAID = "The zebra test is fixed."


def mocked(finish_reason, content=SAID):
    """Return what makes LiteLLM's mock answer with a reason of its own."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
    return litellm.ModelResponse(choices=[choice])


def test_older_messages_give_way_to_what_the_model_wrote(history):
    write = summarizer(MODEL, mock_response=SAID)
    done = ls.summarize(history, write, keep_recent=2)
    assert done.summary.endswith(SAID)
    assert done.messages[-2:] == history[-2:]


def test_older_messages_give_way_to_what_an_awaited_model_wrote(history):
    write = async_summarizer(MODEL, mock_response=SAID)
    done = asyncio.run(ls.asummarize(history, write, keep_recent=2))
    assert done.summary.endswith(SAID)
    assert done.messages[-2:] == history[-2:]


def test_a_request_reaches_the_provider_with_a_limit_and_no_tools(served, prompt):
    server = OpenAIChatServer(script=reply(SAID))
    write = summarizer(f"openai/{MODEL}", api_base=served(server) + "/v1", api_key="none")
    assert write(prompt) == SAID
    body = server.requests[0].body
    assert body["messages"] == [{"role": "user", "content": str(prompt)}]
    assert body["max_completion_tokens"] == 500
    assert "tools" not in body


def test_what_the_caller_says_is_handed_on(monkeypatch, prompt):
    asked = []
    monkeypatch.setattr(litellm, "completion", lambda **sent: asked.append(sent) or mocked("stop"))
    summarizer(MODEL, max_tokens=9, timeout=2.5, temperature=0)(prompt)
    [sent] = asked
    assert (sent["max_tokens"], sent["timeout"], sent["temperature"]) == (9, 2.5, 0)


def test_a_truncated_answer_is_no_summary(history):
    done = ls.summarize(history, summarizer(MODEL, mock_response=mocked("length")), keep_recent=2)
    assert done.messages == history
    assert "cut off ('length')" in str(done.failure)


def test_a_refusal_is_no_summary(prompt):
    with pytest.raises(ValueError, match="refused"):
        summarizer(MODEL, mock_response=mocked("content_filter", ""))(prompt)


def test_an_answer_without_text_is_blank(history):
    write = summarizer(MODEL, mock_response=mocked("stop", None))
    done = ls.summarize(history, write, keep_recent=2)
    assert done.messages == history
    assert "it is blank" in str(done.failure)


@pytest.mark.parametrize("make", [summarizer, async_summarizer])
def test_without_the_package_the_extra_is_named(monkeypatch, make):
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ls.MissingExtra, match=r"pip install 'lockstitch\[litellm\]'"):
        make(MODEL)
