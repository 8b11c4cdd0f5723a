"""Summaries by a LangChain chat model, or by anything that is invoked as one.

Needs no import of LangChain: the model is the caller's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.integrations.answers import finished, given

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from langchain_core.language_models import LanguageModelInput
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

    from lockstitch.strategies.asking import Summarizer, SummaryPrompt

__all__ = ["async_summarizer", "summarizer"]

# LangChain hands on what the provider says, under the provider's name for it.
_STOPPED: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")


def summarizer(
    model: Runnable[LanguageModelInput, BaseMessage],
    *,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Summarizer:
    """Make a summarizer for `summarize` of a chat model.

    What it returns raises a ValueError where the answer was cut off or refused, and gives an empty
    text, which is no summary either, where the answer has none. No tools are sent, unless the model
    was bound to some.

    Args:
        model: a chat model, which brings its name and its limits along.
        max_tokens: the most tokens of one answer. Sent only if it is given: LangChain has one name
            for it where a model is made, and none where it is called.
        timeout: seconds for one answer; as for `max_tokens`.
        options: what else the model is called with, such as `max_output_tokens`.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> write = summarizer(FakeListChatModel(responses=["Both are fixed."]))
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> write(SummaryPrompt("Summarise: ..."))
    'Both are fixed.'
    """
    sent = given(max_tokens=max_tokens, timeout=timeout) | options

    def write(prompt: SummaryPrompt) -> str:
        return _said(model.invoke(str(prompt), **sent))

    return write


def async_summarizer(
    model: Runnable[LanguageModelInput, BaseMessage],
    *,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Callable[[SummaryPrompt], Awaitable[str]]:
    """Make a summarizer for `asummarize` of a chat model; as `summarizer` in all else.

    Args:
        model: as for `summarizer`.
        max_tokens: as for `summarizer`.
        timeout: as for `summarizer`.
        options: as for `summarizer`.

    >>> from langchain_core.language_models import FakeListChatModel
    >>> write = async_summarizer(FakeListChatModel(responses=["Both are fixed."]))
    >>> import asyncio
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> asyncio.run(write(SummaryPrompt("Summarise: ...")))
    'Both are fixed.'
    """
    sent = given(max_tokens=max_tokens, timeout=timeout) | options

    async def write(prompt: SummaryPrompt) -> str:
        return _said(await model.ainvoke(str(prompt), **sent))

    return write


def _said(message: BaseMessage) -> str:
    told = message.response_metadata
    stopped = next((told[name] for name in _STOPPED if told.get(name)), None)
    refused = message.additional_kwargs.get("refusal")
    return finished(str(message.text), "refusal" if refused else stopped)
