"""Summaries through LangChain: its own fake chat models, with messages as adapters make them."""

from __future__ import annotations

import asyncio

import pytest

import lockstitch as ls
from lockstitch.integrations.langchain import async_summarizer, summarizer

pytest.importorskip("langchain_core")

from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage


class Recording(GenericFakeChatModel):
    """A fake that keeps what it was called with."""

    called: list

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.called.append((messages, kwargs))
        return super()._generate(messages, stop=stop, run_manager=run_manager, **kwargs)


def answering(content="The zebra test is fixed.", **fields):
    return Recording(messages=iter([AIMessage(content, **fields)] * 9), called=[])


@pytest.fixture
def history():
    return [
        HumanMessage("Make the test pass."),
        AIMessage("It was the zebra."),
        HumanMessage("And the others?"),
        AIMessage("All pass."),
    ]


def test_older_messages_give_way_to_what_the_model_wrote(history):
    write = summarizer(FakeListChatModel(responses=["The zebra test is fixed."]))
    done = ls.summarize(history, write, keep_recent=2)
    assert done.summary.endswith("The zebra test is fixed.")
    assert [message.type for message in done.messages] == ["human", "human", "ai"]
    assert done.messages[-1] is history[-1]


def test_older_messages_give_way_to_what_an_awaited_model_wrote(history):
    write = async_summarizer(FakeListChatModel(responses=["The zebra test is fixed."]))
    done = asyncio.run(ls.asummarize(history, write, keep_recent=2))
    assert done.summary.endswith("The zebra test is fixed.")
    assert done.messages[-1] is history[-1]


def test_a_model_is_asked_with_the_prompt_and_nothing_else(prompt):
    model = answering()
    summarizer(model)(prompt)
    [(messages, options)] = model.called
    assert messages == [HumanMessage(str(prompt))]
    assert options == {}


def test_what_the_caller_says_goes_to_the_model(prompt):
    model = answering()
    summarizer(model, max_tokens=9, timeout=2.5, stop=["END"])(prompt)
    assert model.called[0][1] == {"max_tokens": 9, "timeout": 2.5}
    asyncio.run(async_summarizer(model, max_output_tokens=9)(prompt))
    assert model.called[1][1] == {"max_output_tokens": 9}


def test_a_model_with_bound_options_will_do(prompt):
    model = answering()
    assert summarizer(model.bind(temperature=0))(prompt) == "The zebra test is fixed."
    assert model.called[0][1] == {"temperature": 0}


def test_of_an_answer_in_blocks_the_text_is_taken(prompt):
    blocks = [
        {"type": "reasoning", "reasoning": "Hm."},
        {"type": "text", "text": "The zebra "},
        {"type": "text", "text": "is fixed."},
    ]
    answer = summarizer(answering(blocks))(prompt)
    assert answer == "The zebra is fixed."
    assert type(answer) is str


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"},
        {"finish_reason": "MAX_TOKENS"},
        {"stop_reason": "max_tokens"},
        {"stopReason": "max_tokens"},
        {"done_reason": "length"},
    ],
)
def test_a_truncated_answer_is_no_summary(history, metadata):
    model = answering("The zebra is", response_metadata=metadata)
    done = ls.summarize(history, summarizer(model), keep_recent=2)
    assert done.messages == history
    assert "cut off" in str(done.failure)


@pytest.mark.parametrize(
    "fields",
    [
        {"response_metadata": {"finish_reason": "content_filter"}},
        {"response_metadata": {"finish_reason": "SAFETY"}},
        {"response_metadata": {"stop_reason": "refusal"}},
        {"response_metadata": {"stopReason": "guardrail_intervened"}},
        {"additional_kwargs": {"refusal": "I'd rather not."}},
    ],
)
def test_a_refusal_is_no_summary(prompt, fields):
    with pytest.raises(ValueError, match="refused"):
        summarizer(answering("", **fields))(prompt)


def test_an_answer_without_text_is_blank(history):
    done = ls.summarize(history, summarizer(answering([])), keep_recent=2)
    assert done.messages == history
    assert "it is blank" in str(done.failure)
