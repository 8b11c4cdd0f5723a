"""Mends from the record: what a history lost comes back as it was.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where there
is no record or it does not hold what is wanted. Must not know: which rule calls for which mend
(`mends`), how things are found in the record (`record`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT, OTHER, TOOL
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing import inside

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry
    from lockstitch.rules.record import Record

__all__ = ["bring_back_call", "bring_back_newest", "bring_back_result", "bring_back_user"]


def bring_back_result(draft: Draft, breach: Breach) -> bool:
    """Bring the result of a call back from the record."""
    breach = breach.at_open_call()
    part = breach.part()
    if breach.record is None or not isinstance(part, ToolCall):
        return False
    found = breach.record.result_of(part, breach.entry.origin)
    if found is None:
        return False
    native, result = found
    given = inside(draft.writer.fields(native), result.path) if draft.writer.packed else native
    draft.put_result(breach.entry, given)
    message = f"the result of the call {part.id or part.name} was brought back from the record"
    draft.note("restore", breach.rule.id, breach.entry, message, part.path, after=given)
    return True


def bring_back_call(draft: Draft, breach: Breach) -> bool:
    """Bring the call of a result back from the record, with its whole message."""
    part = breach.part()
    record = breach.record
    if record is None or not isinstance(part, ToolResult):
        return False
    place = record.call_of(part, breach.entry.origin)
    if place is None:
        return False
    if place in breach.lookup.restored:
        return True  # it came back with another of its results
    if record.kept(place) or not _lost(breach, record, place):
        return False
    breach.lookup.restored.add(place)
    rest = _rest_of(breach, record, place)
    before = None if rest is None else rest.native
    natives = record.with_thoughts(place)
    if rest is not None:
        draft.replace(rest, natives[-1])
    else:
        _put_back(draft, breach, natives, part)
    message = f"the call of the result {part.id or part.name} was brought back from the record"
    for native in natives[-1:] if rest is not None else natives:
        draft.note(
            "restore", breach.rule.id, breach.entry, message, part.path, before=before, after=native
        )
    return True


def _put_back(draft: Draft, breach: Breach, natives: list[Any], part: ToolResult) -> None:
    """Put a call before its result; results of others in the same message stay before both."""
    entry = breach.entry
    ties = [breach.lookup.ties.get((breach.finding.index, at)) for at in range(_ends(breach))]
    others = any(tie is not None and tie.call is not None and not tie.duplicate for tie in ties)
    at = draft.position(entry) + others
    made = [draft.insert(at, native) for native in reversed(natives)]
    if others:
        draft.put_result(made[0], draft.take_result(entry, part.path))


def _ends(breach: Breach) -> int:
    return len(breach.view.facts[breach.finding.index].ends)


def _lost(breach: Breach, record: Record, place: int) -> bool:
    """Whether a call is gone, though its result found another call of its id to go with."""
    tie = breach.lookup.tie_at(breach.place)
    if tie is None or tie.call is None or tie.duplicate:
        return True
    return record.place_of(breach.entries[tie.call.message].origin) not in {-1, place}


def _rest_of(breach: Breach, record: Record, place: int) -> Entry | None:
    """Find what is left of a message that lost a call: the rest of it stands before the result."""
    for at in range(breach.finding.index - 1, -1, -1):
        entry = breach.entries[at]
        role = breach.view.facts[at].role
        if role == ASSISTANT and not entry.touched:
            return entry if record.holds(place, breach.view.parts(at)) else None
        if role not in {TOOL, OTHER}:
            return None
    return None


def bring_back_user(draft: Draft, breach: Breach) -> bool:
    """Bring back from the record the user message that opened the turn."""
    if breach.record is None:
        return False
    found = breach.record.user_before(breach.entry.native)
    if found is None:
        return False
    draft.insert(draft.position(breach.entry), found)
    breach.entry.touched = True
    message = "the user message that opens the turn was brought back from the record"
    draft.note("restore", breach.rule.id, breach.entry, message, "", after=found)
    return True


def bring_back_newest(draft: Draft, breach: Breach) -> bool:
    """Bring back from the record the newest user message, where no message is left."""
    found = None if breach.record is None else breach.record.newest_user()
    if found is None:
        return False
    message = "the newest user message was brought back from the record"
    entry = draft.insert(len(draft.entries), found)
    draft.note("restore", breach.rule.id, entry, message, after=found)
    return True
