"""The record beside a history that is to be mended: what was there before something was lost.

Knows: which message of the history is which of the record, and how to find in the record the other
half of what the history holds. Ids come back in later turns, so equal calls and equal results are
told apart by where they stand.

Must not know: drafts, rules.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import RESULT, USER
from lockstitch.formats.base import mapping
from lockstitch.grouping import group
from lockstitch.transcript import Reasoning, ToolCall, ToolResult
from lockstitch.writing import inside

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lockstitch.pairing import Tie
    from lockstitch.transcript import Part, Transcript

__all__ = ["Record"]


class Record:
    """A history as it was first recorded, to look things up in.

    Args:
        transcript: the record, in the format of the history.
        history: the history that is to be mended.
    """

    def __init__(self, transcript: Transcript, history: Transcript) -> None:
        self.transcript = transcript
        self._history = history
        self._places: list[int] | None = None
        self._present: set[int] = set()
        self._answered: dict[object, list[Tie]] = {}
        self._answering: dict[object, list[Tie]] = {}
        self._seals: dict[str, Any] | None = None
        # What was brought back, so that nothing is brought back twice.
        self._given: set[tuple[int, int]] = set()

    # --- what belongs to what --------------------------------------------------------------------

    def result_of(self, call: ToolCall, at: int) -> tuple[Any, ToolResult] | None:
        """Return the message and the part that answered a call, once.

        `at` is the position of the call's message in the history, -1 where it was not in it.
        """
        self._look()
        tie = self._chosen(self._answered.get(_call_key(call), ()), at, of_call=True)
        if tie is None:
            return None
        self._given.add((tie.message, tie.ordinal))
        part = self._end(tie.message, tie.ordinal)
        return (
            (self.transcript.natives[tie.message], part) if isinstance(part, ToolResult) else None
        )

    def call_of(self, result: ToolResult, at: int) -> int | None:
        """Return where in the record the message stands whose call a result answered, once.

        `at` is the position of the result's message in the history.
        """
        self._look()
        tie = self._chosen(self._answering.get(_result_key(result), ()), at, of_call=False)
        if tie is None or tie.call is None:
            return None
        self._given.add((tie.message, tie.ordinal))
        return tie.call.message

    def place_of(self, at: int) -> int:
        """Return where in the record a message of the history stands, -1 where it does not."""
        self._look()
        return self._places[at] if self._places and at >= 0 else -1

    def kept(self, place: int) -> bool:
        """Whether a message of the record is in the history, or was brought back."""
        self._look()
        return place in self._present

    def holds(self, place: int, parts: Sequence[Part]) -> bool:
        """Whether a message of the record holds all of these parts."""
        held = {_plain(part) for part in self.transcript.message(place).parts}
        return held.issuperset(map(_plain, parts))

    def with_thoughts(self, at: int) -> list[Any]:
        """Return a message of the record, and the lost reasoning that led to it in front of it."""
        self._look()
        first = at
        while (
            first > 0
            and self.transcript.facts_at(first - 1).reasoning
            and first - 1 not in self._present
        ):
            first -= 1
        self._present.update(range(first, at + 1))
        return list(self.transcript.natives[first : at + 1])

    def newest_user(self) -> Any:
        """Return the newest user message, `None` where there is none."""
        return self._user_before(len(self.transcript.natives))

    def user_before(self, native: Any) -> Any:
        """Return the user message that opens the turn of a message, `None` where none is known."""
        at = next(
            (
                at
                for at, held in enumerate(self.transcript.natives)
                if held is native or held == native
            ),
            -1,
        )
        return self._user_before(at)

    def _user_before(self, at: int) -> Any:
        for before in range(at - 1, -1, -1):
            if self.transcript.facts_at(before).role == USER:
                return self.transcript.natives[before]
        return None

    def thought(self, thought: Reasoning) -> Any:
        """Return the native reasoning of the same text that still has its seal."""
        if self._seals is None:
            self._seals = {}
            for message in self.transcript:
                for part in message.parts:
                    if isinstance(part, Reasoning) and part.sealed:
                        found = inside(mapping(message.native), part.path)
                        self._seals.setdefault(part.text, found)
        return self._seals.get(thought.text)

    # --- which of several ------------------------------------------------------------------------

    def _chosen(self, ties: Iterable[Tie], at: int, *, of_call: bool) -> Tie | None:
        """Choose among the places in the record that fit: the one in this place, else the nearest.

        Where the message at hand is in the record as it is, only what it held there fits.
        """
        free = [tie for tie in ties if (tie.message, tie.ordinal) not in self._given]
        if not free:
            return None
        low, high, exact = self._window(at)
        for tie in free:
            place = tie.call.message if of_call and tie.call is not None else tie.message
            if low <= place <= high:
                return tie
        return None if exact else free[0]

    def _window(self, at: int) -> tuple[int, int, bool]:
        """Say between which messages of the record one of the history belongs."""
        places = self._places or []
        last = len(self.transcript) - 1
        if at < 0:
            return 0, last, False
        if places[at] >= 0:
            return places[at], places[at], True
        before = next((places[one] for one in range(at, -1, -1) if places[one] >= 0), -1)
        after = next((place for place in places[at:] if place > before), last + 1)
        return before + 1, after - 1, False

    def _look(self) -> None:
        """Go through the record, once, when something is first asked."""
        if self._places is not None:
            return
        ends = (
            (
                tie,
                self._end(tie.call.message, tie.call.ordinal),
                self._end(tie.message, tie.ordinal),
            )
            for tie in group(self.transcript.facts_from(0), 0).pairing.ties
            if tie.call is not None and not tie.duplicate and tie.link.kind == RESULT
        )
        paired = (
            (tie, call, result)
            for tie, call, result in ends
            if isinstance(call, ToolCall) and isinstance(result, ToolResult)
        )
        for tie, call, result in paired:
            self._answered.setdefault(_call_key(call), []).append(tie)
            self._answering.setdefault(_result_key(result), []).append(tie)
        self._places = _aligned(_prints(self._history), _prints(self.transcript))
        self._present = {place for place in self._places if place >= 0}

    def _end(self, message: int, ordinal: int) -> Part | None:
        transcript = self.transcript
        linking = [
            part
            for part in transcript.parts_at(message)
            if isinstance(part, ToolResult) or (isinstance(part, ToolCall) and not part.hosted)
        ]
        return linking[ordinal] if ordinal < len(linking) else None


def _plain(part: Part) -> str:
    return repr(msgspec.structs.replace(part, path=""))


def _call_key(call: ToolCall) -> object:
    return call.family, call.id, call.name, repr(call.arguments)


def _result_key(result: ToolResult) -> object:
    return result.family, result.id, repr(result.content)


# --- which message is which -----------------------------------------------------------------------


def _prints(transcript: Transcript) -> list[object]:
    """Return for each message what tells it from others, whatever kind of object it is."""
    return [(message.role, repr(message.parts)) for message in transcript]


def _aligned(prints: Sequence[object], recorded: Sequence[object]) -> list[int]:
    """Say for each message of a history where it stands in the record, -1 where it does not.

    Messages that stand once in both, in one order, are sure; the rest are sought between them.
    """
    places: dict[object, list[int]] = {}
    for at, one in enumerate(recorded):
        places.setdefault(one, []).append(at)
    counts: dict[object, int] = {}
    for one in prints:
        counts[one] = counts.get(one, 0) + 1
    once = [
        (at, places[one][0])
        for at, one in enumerate(prints)
        if counts[one] == 1 and len(places.get(one, ())) == 1
    ]
    found = [-1] * len(prints)
    for at, place in _rising(once):
        found[at] = place
        places[prints[at]].clear()
    last = -1
    for at, one in enumerate(prints):
        if found[at] >= 0:
            last = found[at]
            continue
        held = places.get(one)
        if held:
            nearest = bisect_left(held, last + 1)
            found[at] = held.pop(nearest if nearest < len(held) else 0)
            last = max(last, found[at])
    return found


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs that rises in both."""
    ends: list[int] = []
    tails: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        at = bisect_left(ends, place)
        before.append(tails[at - 1] if at else -1)
        ends[at : at + 1] = [place]
        tails[at : at + 1] = [number]
    found: list[tuple[int, int]] = []
    number = tails[-1] if tails else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
