"""Summaries: older messages give way to one running summary, written by whom the caller chooses.

Knows: the call that does it, sync and to be awaited, and what it returns. It does no I/O of its
own: a summarizer is a function that takes a prompt and returns text.

Must not know: what is summarised (`strategies.summaries`), how it is asked for (`asking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.directing import Direction
from lockstitch.errors import SummaryFailed
from lockstitch.events import telling
from lockstitch.formats import ALL
from lockstitch.opening import Opened
from lockstitch.plan import Plan
from lockstitch.strategies.asking import AsyncSummarizer, Summarizer, answered_async
from lockstitch.strategies.digesting import digest
from lockstitch.strategies.directive import DEFAULT_KEEP_RECENT, HistoryDirective
from lockstitch.strategies.payloads import find
from lockstitch.strategies.steps import Summarize

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from lockstitch.blobs import BlobStore
    from lockstitch.rules.models import ModelFacts
    from lockstitch.strategies.named import HistoryStrategy
    from lockstitch.strategies.pins import Pinning

__all__ = ["Summarized", "asummarize", "recall", "summarize"]


class Summarized(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary came to.

    Args:
        messages: the history with the summary in it, of the kind that was handed over; as it was
            where no summary was called for or could be had.
        plan: the decision, with what became of every message.
        summary: the text of the summary, its heading included; `None` where there is none.
        failure: why no summary could be had, where one was wanted.
    """

    messages: Any
    plan: Plan
    summary: str | None = None
    failure: SummaryFailed | None = None


def summarize(
    source: Any,
    summarizer: Summarizer = digest,
    *,
    keep_recent: int = DEFAULT_KEEP_RECENT,
    max_summary_chars: int = 4_000,
    max_input_chars: int = 100_000,
    instructions: str = "",
    strategy: HistoryStrategy | None = None,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    profile: str = "portable",
    format: str | None = None,
    pins: Collection[Pinning] = (),
    counter: Any = None,
    reserve: int = 0,
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
    blobs: BlobStore | None = None,
) -> Summarized:
    r"""Put one running summary in the place of older messages.

    The system part, pins, open calls, what the user asked last and the newest messages stay word by
    word. An earlier summary is taken up into the new one, in its place. Blank, growing and refused
    summaries are not taken; after two attempts the history stays as it was, cut only as far as a
    limit demands.

    Args:
        source: as for `load`.
        summarizer: takes a prompt, which is a text, and returns the summary; the built-in `digest`
            needs no model.
        keep_recent: the newest messages that stay.
        max_summary_chars: the most characters of the summary.
        max_input_chars: the most characters of one prompt; more goes in several.
        instructions: what the summarizer is told besides.
        strategy: a strategy of your own that summarises; then `keep_recent` and what follows is its
            to say.
        max_messages: limits as for `trim`; with any of them, a summary is made when it is passed,
            without, it is made now.
        max_tokens: as for `trim`.
        max_chars: as for `trim`.
        profile: as for `trim`.
        format: as for `load`.
        pins: as for `trim`.
        counter: as for `trim`.
        reserve: as for `trim`.
        model: as for `trim`.
        models: as for `trim`.
        blobs: as for `trim`.

    Raises:
        CannotFit, FormatError, TypeError, ValueError: as `trim`.

    >>> from lockstitch.testing import assistant, user
    >>> chat = [user("Fix it."), assistant("Done."), user("And that?"), assistant("Also.")]
    >>> done = summarize(chat, lambda prompt: "Both are fixed.", keep_recent=1)
    >>> [message["content"] for message in done.messages]
    ['[Summary of 2 earlier messages: 1-2]\nBoth are fixed.', 'And that?', 'Also.']
    """
    step = _step(keep_recent, max_summary_chars, max_input_chars, instructions)
    with telling("summarize", failing=True) as told:
        way = _direction(
            source,
            strategy,
            step,
            _limits(max_messages, max_tokens, max_chars, reserve),
            format=format,
            profile=profile,
            pins=pins,
            counter=counter,
            model=model,
            models=models,
        )
        messages, decision, failure = way.carried_out(told, "summarize", summarizer, blobs)
    return _done(messages, decision, failure)


async def asummarize(
    source: Any,
    summarizer: AsyncSummarizer = digest,
    *,
    keep_recent: int = DEFAULT_KEEP_RECENT,
    max_summary_chars: int = 4_000,
    max_input_chars: int = 100_000,
    instructions: str = "",
    strategy: HistoryStrategy | None = None,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    profile: str = "portable",
    format: str | None = None,
    pins: Collection[Pinning] = (),
    counter: Any = None,
    reserve: int = 0,
    model: str | None = None,
    models: Iterable[ModelFacts] = (),
    blobs: BlobStore | None = None,
) -> Summarized:
    """Do what `summarize` does with a summarizer that is awaited.

    Cancelled at any await, it leaves everything as it was: nothing is changed in place.
    """
    step = _step(keep_recent, max_summary_chars, max_input_chars, instructions)
    with telling("summarize", failing=True) as told:
        way = _direction(
            source,
            strategy,
            step,
            _limits(max_messages, max_tokens, max_chars, reserve),
            format=format,
            profile=profile,
            pins=pins,
            counter=counter,
            model=model,
            models=models,
        )
        decision, failure = await answered_async(way.finishing(), summarizer)
        messages = way.applied(told, "summarize", decision, failure, blobs)
    return _done(messages, decision, failure)


def recall(source: Any, handle: str, *, format: str | None = None) -> Any:
    """Return the payload that a stub names: what a result said, or the media that stood there.

    Args:
        source: the history as it was recorded, before anything was cleared.
        handle: from the stub, or from `handle` of a plan's `puts`.
        format: as for `load`.

    Raises:
        FormatError: nothing in the history has that handle.

    >>> from lockstitch.strategies import ClearResults, StepsHistoryStrategy
    >>> from lockstitch.testing import call, result, user
    >>> history = [user("1"), call("a"), result("a", "x" * 2_000), user("2")]
    >>> strategy = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_chars=1_000)
    >>> from lockstitch import plan
    >>> put = plan(history, strategy).edits[1].puts[0]
    >>> recall(history, put.handle) == "x" * 2_000
    True
    """
    return find(Opened(source, format, look=ALL).transcript, handle)


def _step(keep_recent: int, max_chars: int, max_input_chars: int, instructions: str) -> Summarize:
    return Summarize(
        keep_recent=keep_recent,
        max_chars=max_chars,
        max_input_chars=max_input_chars,
        instructions=instructions,
    )


def _limits(
    max_messages: int | None, max_tokens: int | None, max_chars: int | None, reserve: int
) -> dict[str, Any]:
    return {
        "window_messages": max_messages,
        "max_tokens": max_tokens,
        "max_chars": max_chars,
        "reserve": reserve or None,
    }


def _direction(
    source: Any,
    strategy: HistoryStrategy | None,
    step: Summarize,
    limits: dict[str, Any],
    *,
    format: str | None,
    **rest: Any,
) -> Direction:
    chosen = strategy or HistoryDirective(kind="summarizing", summarize=True, steps=(step,))
    bounded = any(value is not None for value in limits.values())
    opened = Opened(source, format, look=ALL)
    return Direction(opened, chosen, limits, now=strategy is None and not bounded, **rest)


def _done(messages: Any, decision: Plan, failure: SummaryFailed | None) -> Summarized:
    said = next((edit.text for edit in decision.edits if edit.reason == "summary"), None)
    return Summarized(messages=messages, plan=decision, summary=said, failure=failure)
