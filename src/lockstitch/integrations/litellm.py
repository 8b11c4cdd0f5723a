"""Summaries by any model that LiteLLM reaches, named as LiteLLM names it.

LiteLLM takes seconds to import, so it is imported when a summarizer is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.errors import MissingExtra
from lockstitch.integrations.answers import given, most_tokens, said_in_chat

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lockstitch.strategies.asking import Summarizer, SummaryPrompt

__all__ = ["async_summarizer", "summarizer"]


def summarizer(
    model: str, *, max_tokens: int | None = None, timeout: float | None = None, **options: Any
) -> Summarizer:
    """Make a summarizer for `summarize` of the name of a model.

    What it returns raises a ValueError where the answer was cut off or refused, and gives an empty
    text, which is no summary either, where the answer has none. No tools are sent.

    Args:
        model: the name of the model, such as `anthropic/claude-haiku-4-5`.
        max_tokens: the most tokens of one answer, thinking included; without it half of the
            characters that the summary may have, and at least 256.
        timeout: seconds for one answer; LiteLLM's own by default.
        options: what else `litellm.completion` takes, such as `api_base` and `api_key`.

    Raises:
        MissingExtra: LiteLLM is not installed.

    >>> write = summarizer("gpt-5-mini", mock_response="Both are fixed.")
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> write(SummaryPrompt("Summarise: ..."))
    'Both are fixed.'
    """
    completion = _litellm().completion
    sent = given(model=model, timeout=timeout) | options

    def write(prompt: SummaryPrompt) -> str:
        return said_in_chat(completion(**_request(prompt, max_tokens) | sent))

    return write


def async_summarizer(
    model: str,
    *,
    max_tokens: int | None = None,
    timeout: float | None = None,
    **options: Any,
) -> Callable[[SummaryPrompt], Awaitable[str]]:
    """Make a summarizer for `asummarize` of the name of a model; as `summarizer` in all else.

    Args:
        model: as for `summarizer`.
        max_tokens: as for `summarizer`.
        timeout: as for `summarizer`.
        options: what else `litellm.acompletion` takes.

    Raises:
        MissingExtra: LiteLLM is not installed.

    >>> write = async_summarizer("gpt-5-mini", mock_response="Both are fixed.")
    >>> import asyncio
    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> asyncio.run(write(SummaryPrompt("Summarise: ...")))
    'Both are fixed.'
    """
    completion = _litellm().acompletion
    sent = given(model=model, timeout=timeout) | options

    async def write(prompt: SummaryPrompt) -> str:
        return said_in_chat(await completion(**_request(prompt, max_tokens) | sent))

    return write


def _litellm() -> Any:
    try:
        import litellm
    except ImportError:
        raise MissingExtra("litellm", package="litellm") from None
    return litellm


def _request(prompt: SummaryPrompt, max_tokens: int | None) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": str(prompt)}],
        "max_tokens": most_tokens(prompt) if max_tokens is None else max_tokens,
    }
