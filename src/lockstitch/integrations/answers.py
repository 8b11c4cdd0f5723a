"""Answers: what a model said, as far as a summary can be made of it.

Knows: how many tokens a summary may take, by which words the providers say that a model was cut off
or refused, and where Chat Completions keeps its text.

Must not know: clients, requests.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.strategies.asking import SummaryPrompt

__all__ = ["finished", "given", "most_tokens", "must_be", "said_in_chat"]

_LEAST_TOKENS: Final = 256
_CHARS_OF_TOKEN: Final = 2

_CUT_OFF: Final = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSED: Final = frozenset(
    {
        "blocklist",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "prohibited_content",
        "recitation",
        "refusal",
        "safety",
        "spii",
    }
)


def most_tokens(prompt: SummaryPrompt) -> int:
    """Return how many tokens an answer may take: half as many as it may have characters.

    >>> from lockstitch.strategies.asking import SummaryPrompt
    >>> most_tokens(SummaryPrompt("Summarise: ...", room=4_000)), most_tokens(SummaryPrompt(""))
    (2000, 256)
    """
    return max(_LEAST_TOKENS, prompt.room // _CHARS_OF_TOKEN)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not `None`: to send that would overrule the client's own.

    >>> given(timeout=None, max_tokens=300)
    {'max_tokens': 300}
    """
    return {name: value for name, value in options.items() if value is not None}


def must_be(create: Callable[..., Any], *, awaited: bool) -> None:
    """Refuse a client of the wrong kind before it is asked for anything.

    Raises:
        TypeError: what makes its answers must be awaited and should not, or the other way round.

    >>> must_be(print, awaited=True)
    Traceback (most recent call last):
    TypeError: this client is not awaited: take summarizer, or hand over the SDK's async client
    """
    # The SDKs wrap their methods to check arguments; what is wrapped is what tells.
    if inspect.iscoroutinefunction(inspect.unwrap(create)) == awaited:
        return
    if awaited:
        raise TypeError(
            "this client is not awaited: take summarizer, or hand over the SDK's async client"
        )
    raise TypeError("this client must be awaited: take async_summarizer, with asummarize")


def finished(text: str, stopped: str | None) -> str:
    """Return an answer that ended because all was said.

    Args:
        text: the answer.
        stopped: why it ended, in the provider's word.

    Raises:
        ValueError: it was cut off, so that its end is missing, or the model refused.

    >>> finished("Both are fixed.", "stop")
    'Both are fixed.'
    >>> finished("Both are", "max_tokens")
    Traceback (most recent call last):
    ValueError: the answer was cut off ('max_tokens'), its end is missing: allow more max_tokens
    """
    word = (stopped or "").lower()
    if word in _CUT_OFF:
        raise ValueError(
            f"the answer was cut off ({stopped!r}), its end is missing: allow more max_tokens"
        )
    if word in _REFUSED:
        raise ValueError(f"the model refused to answer ({stopped!r})")
    return text


def said_in_chat(completion: Any) -> str:
    """Return the text of a chat completion; an empty one where it has none.

    Raises:
        ValueError: as `finished`.
    """
    if not completion.choices:
        return ""
    choice = completion.choices[0]
    refused = getattr(choice.message, "refusal", None)
    return finished(choice.message.content or "", "refusal" if refused else choice.finish_reason)
