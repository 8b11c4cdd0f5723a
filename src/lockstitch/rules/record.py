"""The record beside a history that is to be mended: what was there before something was lost.

Knows: how to find in it the other half of what a history holds. Must not know: drafts, rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import USER
from lockstitch.formats.base import mapping
from lockstitch.grouping import group
from lockstitch.transcript import Reasoning, ToolCall, ToolResult
from lockstitch.writing import inside

if TYPE_CHECKING:
    from lockstitch.pairing import Pairing
    from lockstitch.transcript import Part, Transcript

__all__ = ["Record"]


class Record:
    """A history as it was first recorded, to look things up in.

    Args:
        transcript: the record, in the format of the history.
    """

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self._pairing: Pairing = group(transcript.facts_from(0), 0).pairing

    def result_of(self, call: ToolCall, occurrence: int = 0) -> tuple[Any, ToolResult] | None:
        """Return the message and the part that answered a call.

        `occurrence` counts equal calls before it in the history at hand.
        """
        found = [
            (tie.message, tie.ordinal)
            for tie in self._pairing.ties
            if tie.call is not None
            and not tie.duplicate
            and tie.link.kind == "result"
            and _same_call(self._end(tie.call.message, tie.call.ordinal), call)
        ]
        if not found:
            return None
        message, ordinal = found[min(occurrence, len(found) - 1)]
        part = self._end(message, ordinal)
        return (self.transcript.natives[message], part) if isinstance(part, ToolResult) else None

    def call_of(self, result: ToolResult) -> tuple[Any, ToolCall] | None:
        """Return the message and the part that a result answered."""
        for tie in self._pairing.ties:
            if tie.call is None or tie.duplicate:
                continue
            part = self._end(tie.message, tie.ordinal)
            if (
                isinstance(part, ToolResult)
                and part.id == result.id
                and part.content == result.content
            ):
                call = self._end(tie.call.message, tie.call.ordinal)
                if isinstance(call, ToolCall):
                    return self.transcript.natives[tie.call.message], call
        return None

    def position(self, native: Any) -> int:
        """Return where a message stands in the record, -1 where it does not."""
        for at, held in enumerate(self.transcript.natives):
            if held is native or held == native:
                return at
        return -1

    def user_before(self, native: Any) -> Any:
        """Return the user message that opens the turn of a message, `None` where none is known."""
        at = self.position(native)
        for before in range(at - 1, -1, -1):
            if self.transcript.facts_at(before).role == USER:
                return self.transcript.natives[before]
        return None

    def thought(self, thought: Reasoning) -> Any:
        """Return the native reasoning of the same text that still has its seal."""
        for at in range(len(self.transcript)):
            message = self.transcript.message(at)
            for part in message.parts:
                if isinstance(part, Reasoning) and part.sealed and part.text == thought.text:
                    return inside(mapping(message.native), part.path)
        return None

    def _end(self, message: int, ordinal: int) -> Part | None:
        transcript = self.transcript
        linking = [
            part
            for part in transcript.format.parts(transcript.natives[message])
            if isinstance(part, ToolResult) or (isinstance(part, ToolCall) and not part.hosted)
        ]
        return linking[ordinal] if ordinal < len(linking) else None


def _same_call(part: Part | None, call: ToolCall) -> bool:
    return (
        isinstance(part, ToolCall)
        and (part.family, part.id, part.name) == (call.family, call.id, call.name)
        and part.arguments == call.arguments
    )
