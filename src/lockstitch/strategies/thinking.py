"""Thinking that is bound to what stands before it: how a cut leaves none that would be refused.

Knows: on some models a thinking block is valid only behind the very messages it was made from, and
only a leading run of such blocks may be missing. So the oldest thinking goes first, alone, while
that is enough; when messages must go, what is kept goes without any thinking.

Must not know: which models these are (`rules.models`), how a cut is decided (`planner`).

Source: Anthropic documentation, preserved thinking, prefix checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT
from lockstitch.measure.limits import MESSAGES
from lockstitch.plan import Edit
from lockstitch.strategies.planner import Outcome, Request, plan_edits
from lockstitch.transcript import Reasoning, Transcript
from lockstitch.writing import stripped

if TYPE_CHECKING:
    from lockstitch.formats.base import Format
    from lockstitch.measure.counters import Sizer

__all__ = ["plan_bound"]

Sizers = Callable[[Transcript], list["Sizer"]]


def plan_bound(transcript: Transcript, request: Request, sizers: Sizers) -> Outcome:
    """Decide what stays where thinking is bound to what stands before it.

    Args:
        transcript: the messages.
        request: as for `plan_edits`.
        sizers: makes the sizers of the bounded units for a transcript.

    Raises:
        CannotFit: as `plan_edits`.
    """
    plain = sizers(transcript)
    if all(_total(sizer, transcript) <= _room(request, sizer.unit) for sizer in plain):
        return plan_edits(transcript, request, plain)
    bare = _bare(transcript)
    lean = sizers(bare)
    outcome = plan_edits(bare, request, lean)
    if all(edit.action == "keep" for edit in outcome.edits):
        return _without_oldest(transcript, request, plain, lean)
    edits: list[Edit] = []
    for edit in outcome.edits:
        if edit.action == "drop":
            edits.append(edit)
        else:
            _split(edits, transcript, edit, edit.stop, "bound")
    return Outcome(edits, outcome.after)


def _room(request: Request, unit: str) -> int:
    _, room, _ = request.limits.bounds(unit)
    return room


def _total(sizer: Sizer, transcript: Transcript) -> int:
    if sizer.unit == MESSAGES:
        return len(transcript)
    return sizer.around + sum(map(sizer.size, range(len(transcript))))


def _without_oldest(
    transcript: Transcript, request: Request, plain: list[Sizer], lean: list[Sizer]
) -> Outcome:
    """Let thinking go from the oldest message on until everything fits."""
    over = {
        sizer.unit: _total(sizer, transcript) - request.limits.bounds(sizer.unit)[2]
        for sizer in plain
    }
    stop = 0
    while stop < len(transcript) and any(excess > 0 for excess in over.values()):
        for sizer, less in zip(plain, lean, strict=True):
            over[sizer.unit] -= sizer.size(stop) - less.size(stop)
        stop += 1
    edits: list[Edit] = []
    _split(edits, transcript, Edit("keep", 0, len(transcript), "all"), stop, "thinking")
    after = {unit: excess + request.limits.bounds(unit)[2] for unit, excess in over.items()}
    return Outcome(edits, after)


def _split(edits: list[Edit], transcript: Transcript, kept: Edit, stop: int, reason: str) -> None:
    """Append an edit that keeps, parted where messages before `stop` lose their thinking."""
    begin = kept.start
    for at in range(kept.start, min(kept.stop, stop)):
        if not _thinks(transcript, at):
            continue
        if begin < at:
            edits.append(Edit(kept.action, begin, at, kept.reason))
        if transcript.facts_at(at).reasoning:
            edits.append(Edit("drop", at, at + 1, "unbound"))
        else:
            edits.append(Edit("strip", at, at + 1, reason))
        begin = at + 1
    if begin < kept.stop:
        edits.append(Edit(kept.action, begin, kept.stop, kept.reason))


def _thinks(transcript: Transcript, position: int) -> bool:
    if transcript.facts_at(position).role != ASSISTANT:
        return False
    parts = transcript.parts_at(position)
    return any(isinstance(part, Reasoning) for part in parts)


def _bare(transcript: Transcript) -> Transcript:
    """Return the transcript with every thinking gone, looked at as it is asked for."""
    document = transcript.document
    natives = _Bare(transcript.natives, transcript.format)
    return Transcript(
        type(document)(
            natives=natives,
            path=document.path,
            context=document.context,
            rebuild=document.rebuild,
        ),
        transcript.format,
    )


class _Bare(Sequence[Any]):
    """Messages without the reasoning in them; one that is nothing else stays as it is."""

    def __init__(self, natives: Sequence[Any], format: Format) -> None:
        self._natives = natives
        self._format = format

    def __len__(self) -> int:
        return len(self._natives)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self._natives)))]
        native = self._natives[at]
        if self._format.facts(native).reasoning:
            return native
        return stripped(native, self._format)
