"""Summaries by Chat Completions, through a client of the OpenAI SDK.

Needs no import of the SDK: the client is the caller's, one for Azure or of a compatible provider
included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.integrations.answers import given, most_tokens, must_be, said_in_chat

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from openai import AsyncOpenAI, OpenAI

    from lockstitch.strategies.asking import Summarizer, SummaryPrompt

__all__ = ["async_summarizer", "summarizer"]


def summarizer(
    client: OpenAI,
    *,
    model: str,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Summarizer:
    """Make a summarizer for `summarize` of a client.

    What it returns raises a ValueError where the answer was cut off or refused, and gives an empty
    text, which is no summary either, where the answer has none. No tools are sent.

    Args:
        client: an `openai.OpenAI`.
        model: the name of the model.
        max_tokens: the most tokens of one answer, thinking included; without it half of the
            characters that the summary may have, and at least 256.
        timeout: seconds for one answer; the client's own by default.
        options: what else goes into the request, such as `reasoning_effort`.

    Raises:
        TypeError: the client must be awaited.

    >>> from types import SimpleNamespace as Stub
    >>> answer = Stub(finish_reason="stop", message=Stub(content="Both are fixed."))
    >>> completions = Stub(create=lambda **request: Stub(choices=[answer]))
    >>> write = summarizer(Stub(chat=Stub(completions=completions)), model="gpt-5-mini")
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> write(SummaryPrompt("Summarise: ..."))
    'Both are fixed.'
    """
    must_be(client.chat.completions.create, awaited=False)
    sent = given(model=model, timeout=timeout) | options

    def write(prompt: SummaryPrompt) -> str:
        request = _request(prompt, max_tokens) | sent
        return said_in_chat(client.chat.completions.create(**request))

    return write


def async_summarizer(
    client: AsyncOpenAI,
    *,
    model: str,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Callable[[SummaryPrompt], Awaitable[str]]:
    """Make a summarizer for `asummarize` of a client; as `summarizer` in all else.

    Args:
        client: an `openai.AsyncOpenAI`.
        model: as for `summarizer`.
        max_tokens: as for `summarizer`.
        timeout: as for `summarizer`.
        options: as for `summarizer`.

    Raises:
        TypeError: the client is not awaited.

    >>> from types import SimpleNamespace as Stub
    >>> async def create(**request):
    ...     answer = Stub(finish_reason="stop", message=Stub(content="Both are fixed."))
    ...     return Stub(choices=[answer])
    >>> client = Stub(chat=Stub(completions=Stub(create=create)))
    >>> write = async_summarizer(client, model="gpt-5-mini")
    >>> import asyncio
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> asyncio.run(write(SummaryPrompt("Summarise: ...")))
    'Both are fixed.'
    """
    must_be(client.chat.completions.create, awaited=True)
    sent = given(model=model, timeout=timeout) | options

    async def write(prompt: SummaryPrompt) -> str:
        request = _request(prompt, max_tokens) | sent
        return said_in_chat(await client.chat.completions.create(**request))

    return write


def _request(prompt: SummaryPrompt, max_tokens: int | None) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": str(prompt)}],
        "max_completion_tokens": most_tokens(prompt) if max_tokens is None else max_tokens,
    }
