"""Old reasoning, left out: the oldest first, and never that of the open turn.

Knows: that reasoning of the newest turns goes back with the calls it led to, and that an item of a
response carries an id that is good only beside the reasoning it was made with.

Must not know: limits, other steps. Thinking that is bound to what stands before it is `thinking`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, USER
from lockstitch.formats.base import mapping
from lockstitch.plan import Put
from lockstitch.transcript import Reasoning
from lockstitch.writing import writer_for

if TYPE_CHECKING:
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.steps import DropReasoning
    from lockstitch.strategies.working import Working
    from lockstitch.transcript import Transcript

__all__ = ["drop_reasoning", "strip_all", "strip_oldest"]


def drop_reasoning(work: Working, step: DropReasoning, asked: Asked) -> int:
    """Leave the reasoning of older turns out; return how many messages changed or went."""
    transcript = work.transcript
    users = [at for at in range(len(work.rows)) if transcript.facts_at(at).role == USER]
    since = users[-step.keep_turns] if step.keep_turns <= len(users) else 0
    gone: dict[int, str] = {}
    changed = 0
    for at in range(since):
        if work.rows[at].origin in asked.pinned:
            continue
        if not transcript.facts_at(at).reasoning:
            if thinks(transcript, at):
                work.strip(at, "thinking")
                changed += 1
            continue
        led = _led(work, at, since) if transcript.format.whole_response else []
        if led is not None and not any(work.rows[item].origin in asked.pinned for item in led):
            gone[at] = "thoughts"
            for item in led:
                work.put(item, [Put("id", "gone")], "unled")
                changed += 1
    if gone:
        work.drop(gone)
    return changed + len(gone)


def _led(work: Working, at: int, since: int) -> list[int] | None:
    """Return the items with an id that reasoning led to; `None` where one cannot do without it."""
    found: list[int] = []
    writer = writer_for(work.source.format.name)
    for item in range(at + 1, since):
        fact = work.source.format.facts(work.rows[item].native)
        if fact.role != ASSISTANT or fact.reasoning:
            break
        fields = mapping(work.rows[item].native)
        if fields.get("id"):
            if not writer.nameless(fields):
                return None
            found.append(item)
    return found


def thinks(transcript: Transcript, at: int) -> bool:
    """Whether there is reasoning in a message."""
    if transcript.facts_at(at).role != ASSISTANT:
        return False
    return any(isinstance(part, Reasoning) for part in transcript.parts_at(at))


def strip_oldest(work: Working, over: dict[str, int]) -> int:
    """Leave bound thinking out from the oldest on until nothing is over; return how many changed.

    `over` says by how much each unit is over what it is to come down to, and is brought up to date.
    """
    transcript = work.transcript
    sizers = {sizer.unit: sizer for sizer in work.sizers()}
    gone: dict[int, str] = {}
    changed = 0
    for at in range(len(work.rows)):
        if all(excess <= 0 for excess in over.values()):
            break
        if thinks(transcript, at):
            before = {unit: sizers[unit].size(at) for unit in over}
            _strip(work, transcript, at, gone, "thinking")
            for unit in over:
                over[unit] -= before[unit] - (0 if at in gone else sizers[unit].size(at))
            changed += 1
    if gone:
        work.drop(gone)
    return changed


def strip_all(work: Working) -> int:
    """Leave all bound thinking out, since messages before it change; return how many changed."""
    transcript = work.transcript
    gone: dict[int, str] = {}
    changed = 0
    for at, row in enumerate(work.rows):
        if thinks(transcript, at):
            _strip(work, transcript, at, gone, "bound")
            changed += 1
        elif row.bare:
            row.reason = "bound"
    if gone:
        work.drop(gone)
    return changed


def _strip(
    work: Working, transcript: Transcript, at: int, gone: dict[int, str], reason: str
) -> None:
    if transcript.facts_at(at).reasoning:
        gone[at] = "unbound"
    else:
        work.strip(at, reason)
