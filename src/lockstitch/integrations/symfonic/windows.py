"""Windows: which stretches of a history stand alone, found round by round from the newest.

Knows: a round is a message with the bare answers right behind it. Every provider pairs inside of
one round, so each can be judged by itself, by the library's own pairing, and all of them in time
that grows with the number of messages. A round is

    whole     each call has its one result, each result its call
    open      the newest, and results are still to come
    broken    anything else; no window that holds it is accepted

Must not know: message objects, limits' names, logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from lockstitch.facts import ASSISTANT, CALL, OTHER, REQUEST, SYSTEM, USER, Facts
from lockstitch.pairing import pair, settled_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.integrations.symfonic.reading import Reading

__all__ = ["Round", "Start", "newest_suffix", "newest_window", "rounds", "smallest_suffix"]

Start = Literal["any", "user"]


class Round(NamedTuple):
    """The messages of `[start, stop)`, and how they stand."""

    start: int
    stop: int
    state: Literal["whole", "open", "broken"]


def rounds(reading: Reading) -> Iterator[Round]:
    """Go through the rounds, the newest first.

    Answers that follow no call are a broken stretch of their own.

    >>> from lockstitch.integrations.symfonic.reading import read
    >>> history = [("user", "hi"), {"role": "tool", "tool_call_id": "c1"}, ("user", "?")]
    >>> [tuple(each) for each in rounds(read(history))]
    [(2, 3, 'whole'), (1, 2, 'broken'), (0, 1, 'whole')]
    """
    facts = reading.facts
    count = stop = len(facts)
    while stop:
        lead = stop - 1
        if not facts[lead].linked and not (lead and _bound(facts[lead - 1], facts[lead], reading)):
            yield Round(lead, stop, "whole")
            stop = lead
            continue
        while lead and _answers(facts[lead]):
            lead -= 1
        start = lead
        while start and _bound(facts[start - 1], facts[start], reading):
            start -= 1
        if lead < stop - 1 and not any(fact.calls for fact in facts[start : lead + 1]):
            start = lead if _answers(facts[lead]) else lead + 1
            yield Round(start, stop, "broken")
        elif start == lead and _settled(facts, start, stop):
            yield Round(start, stop, "whole")
        else:
            known = reading.unsent.isdisjoint(range(start, stop))
            state = _state(facts[start:stop], last=stop == count) if known else "broken"
            yield Round(start, stop, state)
        stop = start


def _answers(fact: Facts) -> bool:
    """Whether a message answers calls before it."""
    if fact.role == ASSISTANT:
        return False
    return bool(fact.answers) or any(link.kind not in {CALL, REQUEST} for link in fact.links)


def _bound(before: Facts, fact: Facts, reading: Reading) -> bool:
    """Whether no window may begin between two messages of the model."""
    together = reading.whole_runs or before.reasoning
    return together and before.role == ASSISTANT == fact.role


def _settled(facts: list[Facts], start: int, stop: int) -> bool:
    """Whether a round is the common one: calls, and exactly their results."""
    asks = facts[start].asks
    if not asks or len(set(asks)) < len(asks) or facts[start].role != ASSISTANT:
        return False
    return 0 < settled_by(facts, start + 1, asks) == stop - start - 1


def _state(facts: Sequence[Facts], *, last: bool) -> Literal["whole", "open", "broken"]:
    pairing = pair(facts)
    keys = [call.link.key for call in pairing.calls if call.link.id is not None]
    if (
        any(tie.call is None or tie.duplicate for tie in pairing.ties)
        or len(set(keys)) < len(keys)
        # What a person says ends the round.
        or any(fact.role == USER for fact in facts[1:-1])
        or any(fact.calls and fact.role != ASSISTANT for fact in facts)
    ):
        return "broken"
    waiting = pairing.waiting()
    if not waiting:
        return "whole"
    return "open" if last and all(answerable for _, answerable in waiting) else "broken"


def newest_suffix(reading: Reading, first: int, start: Start) -> int | None:
    """Return where the longest suffix begins that stands alone.

    Args:
        reading: the messages; the one before `first` too, if there is one.
        first: the earliest position at which it may begin.
        start: `user` where a message of the user must open it.

    A round that waits for results may end the window and is not one by itself.
    """
    best = None
    speaker = ""
    for each in rounds(reading):
        if each.state == "broken" or each.start < first:
            break
        speaker = _speaker(reading.facts[each.start], speaker)
        if each.state == "whole" and _opens(speaker, start):
            best = each.start
    return best


def smallest_suffix(reading: Reading, start: Start) -> int | None:
    """Return where the shortest suffix begins that stands alone, however long that is."""
    speaker = ""
    for each in rounds(reading):
        if each.state == "broken":
            break
        speaker = _speaker(reading.facts[each.start], speaker)
        if _opens(speaker, start):
            return each.start
    return None


def newest_window(reading: Reading, most: int, start: Start) -> tuple[int, int] | None:
    """Return the newest stretch of at most `most` messages that stands alone.

    Rounds that are broken, or longer than that, are passed over.
    """
    found = list(rounds(reading))
    spoken = _spoken(reading, found)
    last = opening = -1
    for at, newest in enumerate(found):
        if newest.state == "broken" or newest.stop - newest.start > most:
            continue
        last = max(last, at - 1)
        while last + 1 < len(found):
            older = found[last + 1]
            if older.state == "broken" or newest.stop - older.start > most:
                break
            last += 1
            by = spoken[last]
            if start == "any" or (by >= 0 and reading.facts[found[by].start].role == USER):
                opening = last
        # Who opens it must speak inside of it.
        if opening >= at and (start == "any" or spoken[opening] >= at):
            return found[opening].start, newest.stop
    return None


def _spoken(reading: Reading, found: list[Round]) -> list[int]:
    """For each round, which one speaks first in a window that begins with it; -1 for none."""
    by: list[int] = []
    for at, each in enumerate(found):
        silent = reading.facts[each.start].role in {SYSTEM, OTHER}
        by.append((by[-1] if by else -1) if silent else at)
    return by


def _speaker(fact: Facts, after: str) -> str:
    """Return who speaks first in a window that begins with a message."""
    return after if fact.role in {SYSTEM, OTHER} else fact.role


def _opens(speaker: str, start: Start) -> bool:
    return start == "any" or speaker == USER
