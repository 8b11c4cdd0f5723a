"""Summaries by Messages, through a client of the Anthropic SDK.

Needs no import of the SDK: the client is the caller's, one for Bedrock or Vertex included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.integrations.answers import finished, given, most_tokens, must_be

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anthropic import Anthropic, AsyncAnthropic

    from lockstitch.strategies.asking import Summarizer, SummaryPrompt

__all__ = ["async_summarizer", "summarizer"]


def summarizer(
    client: Anthropic,
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
        client: an `anthropic.Anthropic`.
        model: the name of the model.
        max_tokens: the most tokens of one answer, thinking included; without it half of the
            characters that the summary may have, and at least 256.
        timeout: seconds for one answer; the client's own by default.
        options: what else goes into the request, such as `system`.

    Raises:
        TypeError: the client must be awaited.

    >>> from types import SimpleNamespace as Stub
    >>> said = Stub(type="text", text="Both are fixed.")
    >>> answer = Stub(stop_reason="end_turn", content=[said])
    >>> client = Stub(messages=Stub(create=lambda **request: answer))
    >>> write = summarizer(client, model="claude-haiku-4-5")
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> write(SummaryPrompt("Summarise: ..."))
    'Both are fixed.'
    """
    must_be(client.messages.create, awaited=False)
    sent = given(model=model, timeout=timeout) | options

    def write(prompt: SummaryPrompt) -> str:
        request = _request(prompt, max_tokens) | sent
        return _said(client.messages.create(**request))

    return write


def async_summarizer(
    client: AsyncAnthropic,
    *,
    model: str,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Callable[[SummaryPrompt], Awaitable[str]]:
    """Make a summarizer for `asummarize` of a client; as `summarizer` in all else.

    Args:
        client: an `anthropic.AsyncAnthropic`.
        model: as for `summarizer`.
        max_tokens: as for `summarizer`.
        timeout: as for `summarizer`.
        options: as for `summarizer`.

    Raises:
        TypeError: the client is not awaited.

    >>> from types import SimpleNamespace as Stub
    >>> async def create(**request):
    ...     said = Stub(type="text", text="Both are fixed.")
    ...     return Stub(stop_reason="end_turn", content=[said])
    >>> write = async_summarizer(Stub(messages=Stub(create=create)), model="claude-haiku-4-5")
    >>> import asyncio
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> asyncio.run(write(SummaryPrompt("Summarise: ...")))
    'Both are fixed.'
    """
    must_be(client.messages.create, awaited=True)
    sent = given(model=model, timeout=timeout) | options

    async def write(prompt: SummaryPrompt) -> str:
        request = _request(prompt, max_tokens) | sent
        return _said(await client.messages.create(**request))

    return write


def _request(prompt: SummaryPrompt, max_tokens: int | None) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": str(prompt)}],
        "max_tokens": most_tokens(prompt) if max_tokens is None else max_tokens,
    }


def _said(message: Any) -> str:
    said = "".join(block.text for block in message.content if block.type == "text")
    return finished(said, message.stop_reason)
