"""Opening: from what a caller handed over to a transcript in one format.

Knows: how sure the format is, and that a message met while planning may show it to be another.

Must not know: how anything is decided.
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from lockstitch.document import open_document
from lockstitch.formats import ENDS, FORMATS, Format, detect, get_format, is_distinct
from lockstitch.measure.counters import Sizer, sizer_for
from lockstitch.measure.limits import TOKENS
from lockstitch.strategies.planner import Outcome, Request, plan_edits
from lockstitch.strategies.thinking import plan_bound
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Collection

    from lockstitch.document import Document

__all__ = ["Opened"]

# What an empty list is read as: it is an empty list in every format.
_EMPTY = "openai-chat"


class Opened:
    """A source that was opened: its document, its transcript, and how sure the format is."""

    __slots__ = ("document", "sure", "transcript")

    def __init__(self, source: Any, format: str | None, *, look: str = ENDS) -> None:
        if isinstance(source, Transcript):
            self.document = source.document
            self.transcript = source
            self.sure = True
            return
        self.document = document = open_document(source)
        found, self.sure = _find_format(document, format, look)
        self.transcript = Transcript(document, found)

    def decide(
        self, ask: Request, counter: Any, *, bound: bool = False
    ) -> tuple[Outcome, list[Sizer]]:
        """Plan, and plan again should a message turn up that shows the format to be another.

        `bound`: thinking is valid only behind the very messages it was made from.
        """
        transcript = self.transcript
        count = len(transcript)
        pins = _positions(ask.pins, count) if ask.pins else ask.pins
        if pins is not ask.pins:
            ask = Request(
                limits=ask.limits,
                profile=ask.profile,
                cut=ask.cut,
                pins=pins,
                floor=ask.floor,
                on_overflow=ask.on_overflow,
            )
        while True:
            transcript = self.transcript
            sizers = _sizers(transcript, ask, counter)
            if bound:
                outcome = plan_bound(transcript, ask, partial(_sizers, ask=ask, counter=counter))
            else:
                outcome = plan_edits(transcript, ask, sizers)
            if self.sure or not self._misread(outcome):
                return outcome, sizers

    def model(self, named: str | None) -> str | None:
        """Return the name of the model: the caller's, or the one in the request body."""
        context = self.document.context
        found = named or context.get("model") or context.get("modelId")
        return found if isinstance(found, str) else None

    def _misread(self, outcome: Outcome) -> bool:
        """Whether a message near or in the window is of another format; then that is the format.

        Asked only where nothing but plain text was seen at the ends of the history.
        """
        transcript = self.transcript
        kept = [edit for edit in outcome.edits if edit.action == "keep"]
        ranges = [range(edit.start, edit.stop) for edit in kept]
        if kept:
            # What was cut off right in front of the window may have been cut off wrongly.
            size = sum(edit.count for edit in kept)
            ranges.append(range(max(0, kept[-1].start - size), kept[-1].start))
        for position in chain.from_iterable(ranges):
            other = is_distinct(transcript.natives[position], transcript.format)
            if other is not None:
                self.transcript = Transcript(self.document, other)
                self.sure = True
                return True
        return False


def _sizers(transcript: Transcript, ask: Request, counter: Any) -> list[Sizer]:
    return [
        sizer_for(transcript, unit, counter if unit == TOKENS else None)
        for unit in ask.limits.units
    ]


def _find_format(document: Document, name: str | None, look: str) -> tuple[Format, bool]:
    if name is not None:
        return get_format(name), True
    if not document.natives:
        return FORMATS[_EMPTY], True
    among = None
    hint = None
    key = document.path.rpartition(".")[2]
    if key not in ("messages", "lines"):
        among = [form for form in FORMATS.values() if key in form.keys]
    elif document.context:
        hint = next(
            (
                form.name
                for form in FORMATS.values()
                if any(key in document.context for key in form.system_keys)
            ),
            None,
        )
    return detect(document.natives, among=among, hint=hint, path=document.path, look=look)


def _positions(pins: Collection[int], count: int) -> frozenset[int]:
    """Check pinned positions; negative ones count from the end, as everywhere in Python."""
    found: set[int] = set()
    for pin in pins:
        if not -count <= pin < count:
            raise ValueError(f"pin {pin} is outside the history of {count} messages")
        found.add(pin % count)
    return frozenset(found)
