"""The slice: the newest messages of a history that fit under a cap, and what is told of the rest.

Knows: the contract of `symfonic.agent.history_trim`: the same objects, a suffix, never over the
cap. What comes out pairs as every provider wants it, or is empty.

Must not know: how a message is converted, langchain's packages.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from lockstitch.errors import FormatError
from lockstitch.events import Event
from lockstitch.integrations.symfonic.reading import as_sequence, read
from lockstitch.integrations.symfonic.windows import (
    Start,
    newest_suffix,
    newest_window,
    rounds,
    smallest_suffix,
)
from lockstitch.plan.edits import Size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["log_history_trim", "pair_aware_history_slice"]

Otherwise = Literal["empty", "older", "smallest"]

# What operators filter on. The text goes on after the numbers; it begins as theirs does.
_SEED_LOG: Final = logging.getLogger("symfonic.agent")
_LOG: Final = logging.getLogger("lockstitch")


class _Asked(NamedTuple):
    """The arguments of a slice, checked."""

    cap: int
    start: Start
    otherwise: Otherwise
    format: str | None


def pair_aware_history_slice(
    history: Iterable[Any],
    cap: int,
    *,
    start: Start = "any",
    otherwise: Otherwise = "empty",
    format: str | None = None,
) -> list[Any]:
    """Return the newest messages, at most `cap` of them, none parted from what it belongs with.

    A suffix can neither move nor mend: it begins behind the newest damage. `lockstitch.repair`
    mends a history first, `lockstitch.trim` keeps the system part and the task.

    Args:
        history: the messages, of any kind: LangChain's, dicts, objects with `tool_calls` and
            `tool_call_id`. Nothing in it is changed.
        cap: the most messages; 0 and less keep nothing.
        start: `user` where the target wants the user to speak first (Bedrock, Gemini, chat
            templates). The default takes any start, as symfonic does.
        otherwise: what to give where no suffix can stand: the `empty` list, as symfonic does; the
            newest `older` stretch of at most `cap` messages that can, or a call that waits alone;
            or the `smallest` suffix that can, though it is over the cap.
        format: the format of dicts and SDK objects, where their shape does not tell.

    Returns:
        The caller's own objects. Calls at the end may wait for their results, behind something
        else; such a round alone is no window by default.

    Raises:
        TypeError, ValueError: an argument is not what it must be.
        FormatError: something in the history is no message.

    >>> from lockstitch.testing import assistant, call, result, user
    >>> history = [user("1"), call("a"), result("a"), assistant("2"), user("3")]
    >>> pair_aware_history_slice(history, 3) == history[3:]
    True
    """
    asked = _checked(cap, start, otherwise, format)
    messages = as_sequence(history)
    begin, end = _decide(messages, asked)
    return list(messages[begin:end])


def log_history_trim(
    history: Sequence[Any] | None,
    cap: int,
    *,
    start: Start = "any",
    otherwise: Otherwise = "empty",
    format: str | None = None,
) -> None:
    """Log that a slice is about to drop messages: once as symfonic does, once exactly.

    The record of `symfonic.agent` (DEBUG) counts what is over the cap, and there is none where
    nothing is. The one of `lockstitch` (INFO) says what the slice really drops, where and why,
    also where nothing is over the cap; its event is `record.lockstitch`.

    Args:
        history: the messages; `None` is no history, and nothing is said of it.
        cap: as for `pair_aware_history_slice`, and so are the others.

    Raises:
        TypeError, ValueError: an argument is not what it must be.

    >>> log_history_trim(None, 3)
    """
    asked = _checked(cap, start, otherwise, format)
    if history is None:
        return
    messages = as_sequence(history)
    if len(messages) > cap:
        _SEED_LOG.debug(
            "Dropping %d oldest history messages (cap=%d). Where the cap falls inside a tool round "
            "the whole round goes; the logger lockstitch says at INFO what is dropped and why. To "
            "keep more, raise agent.max_conversation_messages.",
            len(messages) - cap,
            cap,
        )
    if _LOG.isEnabledFor(logging.INFO):
        _log_exactly(messages, asked)


def _checked(cap: Any, start: Any, otherwise: Any, format: str | None) -> _Asked:
    if not isinstance(cap, int) or isinstance(cap, bool):
        raise TypeError(f"cap must be a whole number of messages, got {cap!r}")
    if start not in ("any", "user"):
        raise ValueError(f'start must be "any" or "user", got {start!r}')
    if otherwise not in ("empty", "older", "smallest"):
        raise ValueError(f'otherwise must be "empty", "older" or "smallest", got {otherwise!r}')
    return _Asked(cap, start, otherwise, format)


def _decide(messages: Sequence[Any], asked: _Asked) -> tuple[int, int]:
    """Return the first position that is kept, and the one behind the last."""
    count, cap = len(messages), asked.cap
    if cap <= 0 or not count:
        return count, count
    earliest = max(0, count - cap)
    # The message before tells whether a window may begin at the earliest.
    base = max(0, earliest - 1)
    begin = newest_suffix(read(messages, base, asked.format), earliest - base, asked.start)
    if begin is not None:
        return base + begin, count
    if asked.otherwise == "older":
        found = newest_window(read(messages, 0, asked.format), cap, asked.start)
        return found or (count, count)
    if asked.otherwise == "smallest":
        begin = smallest_suffix(read(messages, 0, asked.format), asked.start)
    return (count if begin is None else begin), count


def _log_exactly(messages: Sequence[Any], asked: _Asked) -> None:
    try:
        begin, end = _decide(messages, asked)
        dropped = _dropped(messages, asked, begin, end)
    except FormatError as error:
        # The slice itself raises it; here it must not keep a caller from going on.
        _LOG.warning("slice: what it drops of %d messages is unknown: %s", len(messages), error)
        return
    if not dropped:
        return
    count, kept = len(messages), end - begin
    told = ", ".join(f"{_span(start, stop)} {reason}" for start, stop, reason in dropped)
    event = Event(
        operation="slice",
        profile="",
        format=asked.format or "",
        strategy="symfonic",
        fired=tuple(dict.fromkeys(reason for _, _, reason in dropped)),
        before=Size(count),
        after=Size(kept),
        limit={"messages": asked.cap},
        messages_dropped=count - kept,
    )
    _LOG.info(
        "slice: %d of %d messages dropped (cap=%d): %s",
        count - kept,
        count,
        asked.cap,
        told,
        extra={"lockstitch": event},
    )


def _span(start: int, stop: int) -> str:
    return str(start) if stop - start == 1 else f"{start}-{stop - 1}"


def _dropped(
    messages: Sequence[Any], asked: _Asked, begin: int, end: int
) -> list[tuple[int, int, str]]:
    """Return the ranges that go, each with its reason in the words of plans."""
    count, cap = len(messages), asked.cap
    if begin == 0 and end == count:
        return []
    if cap <= 0:
        return [(0, count, "zero")]
    earliest = max(0, count - cap)
    found: list[tuple[int, int, str]] = []
    damaged = False
    for each in rounds(read(messages, 0, asked.format)):
        if begin <= each.start < end:
            continue
        damaged = damaged or each.state == "broken"
        if each.state != "broken" and each.stop - each.start > cap:
            reason = "too-large"
        elif each.start < earliest and each.state != "broken":
            reason = "oldest"
        elif damaged and each.stop > earliest:
            reason = "damaged"
        else:
            reason = "start" if each.start >= earliest else "oldest"
        if found and found[-1][2] == reason and found[-1][0] == each.stop:
            found[-1] = (each.start, found[-1][1], reason)
        else:
            found.append((each.start, each.stop, reason))
    return found[::-1]
