"""Mends of calls and results: what belongs together is brought together, least loss first.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT, TOOL
from lockstitch.rules.ids import fitting
from lockstitch.transcript import ToolCall, ToolResult
from lockstitch.writing import inside, joined, text_of

if TYPE_CHECKING:
    from lockstitch.pairing import Occurrence
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft, Entry

__all__ = [
    "NOTE",
    "UNKNOWN",
    "adopt",
    "answer",
    "bring_back_call",
    "bring_back_result",
    "demote",
    "drop_part",
    "drop_unit",
    "merge_results",
    "move_home",
    "rename_call",
    "rename_repeated",
]

UNKNOWN = "No result was recorded for this call; its outcome is unknown."
"""What a made-up result says. It must not claim that nothing happened: that causes it twice."""
NOTE = "[From a tool, in answer to a call that is no longer part of this conversation:]"
"""What stands above a result that was turned into a note."""


def move_home(draft: Draft, breach: Breach) -> bool:
    """Move a result to its call."""
    part = breach.part()
    if not breach.finding.related or not isinstance(part, ToolResult):
        return False
    call = breach.entries[breach.finding.related[0]]
    before = breach.entry.native
    result = draft.take_result(breach.entry, part.path)
    holder = draft.put_result(call, result)
    draft.note(
        "move",
        breach.rule.id,
        breach.entry,
        f"the result {part.id or part.name} was moved to its call",
        part.path if draft.writer.packed else "",
        before=before,
        after=holder.native,
    )
    return True


# --- a call without a result ----------------------------------------------------------------------


def bring_back_result(draft: Draft, breach: Breach) -> bool:
    """Bring the result of a call back from the record."""
    part = breach.part()
    if breach.record is None or not isinstance(part, ToolCall):
        return False
    found = breach.record.result_of(part, _uses_before(breach, part))
    if found is None:
        return False
    native, result = found
    given = inside(draft.writer.fields(native), result.path) if draft.writer.packed else native
    draft.put_result(breach.entry, given)
    message = f"the result of the call {part.id or part.name} was brought back from the record"
    draft.note("restore", breach.rule.id, breach.entry, message, part.path, after=given)
    return True


def _uses_before(breach: Breach, call: ToolCall) -> int:
    """Count the equal calls in front of one."""
    count = 0
    for at in range(breach.finding.index):
        for part in breach.view.parts(at):
            if isinstance(part, ToolCall) and part.id == call.id and part.name == call.name:
                count += part.arguments == call.arguments
    return count


def answer(draft: Draft, breach: Breach) -> bool:
    """Answer a call in its tool's place, saying that the outcome is unknown."""
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    made = draft.writer.answer(part, UNKNOWN, breach.entry.native)
    if made is None:
        return False
    draft.put_result(breach.entry, made)
    message = f"the call {part.id or part.name} was answered with an error: its outcome is unknown"
    draft.note("synthesize", breach.rule.id, breach.entry, message, part.path, after=made)
    return True


# --- a result without a call ----------------------------------------------------------------------


def bring_back_call(draft: Draft, breach: Breach) -> bool:
    """Bring the call of a result back from the record, with its whole message."""
    part = breach.part()
    if breach.record is None or not isinstance(part, ToolResult):
        return False
    found = breach.record.call_of(part)
    if found is None:
        return False
    native, _ = found
    draft.insert(draft.entries.index(breach.entry), native)
    breach.entry.touched = True
    message = f"the call of the result {part.id} was brought back from the record"
    draft.note("restore", breach.rule.id, breach.entry, message, part.path, after=native)
    return True


def adopt(draft: Draft, breach: Breach) -> bool:
    """Give an orphan the id of the call it stands at, where there is one call and one orphan."""
    part = breach.part()
    if not isinstance(part, ToolResult):
        return False
    call = _lonely_call(breach, part)
    if call is None or call.id is None:
        return False
    before = breach.entry.native
    draft.rewrite(breach.entry, draft.writer.renamed(draft.fields(breach.entry), part, call.id))
    message = f"the result {part.id} was given the id of the call it stands at, {call.id}"
    draft.note(
        "rename",
        breach.rule.id,
        breach.entry,
        message,
        part.path,
        before=before,
        after=breach.entry.native,
    )
    return True


def _lonely_call(breach: Breach, orphan: ToolResult) -> ToolCall | None:
    """Return the one call without a result at whose results an orphan stands, alone of its kind."""
    view, index = breach.view, breach.finding.index
    first = index
    while first > 0 and view.facts[first - 1].role == TOOL:
        first -= 1
    last = index
    while last + 1 < len(view.facts) and view.facts[last + 1].role == TOOL:
        last += 1
    if first == 0 or view.facts[first - 1].role != ASSISTANT:
        return None
    pairing = view.groups.pairing
    orphans = [
        tie
        for tie in pairing.ties
        if first <= tie.message <= last and tie.call is None and tie.link.kind == "result"
    ]
    calls = [call for call in pairing.calls if call.message == first - 1 and call.answer < 0]
    if len(orphans) != 1 or len(calls) != 1:
        return None
    elsewhere = any(call.link.id == orphan.id for call in pairing.calls if call.answer < 0)
    found = view.end(calls[0].message, calls[0].ordinal)
    named_alike = not orphan.name or not isinstance(found, ToolCall) or found.name == orphan.name
    if elsewhere or not named_alike or not isinstance(found, ToolCall):
        return None
    return found if found.family == orphan.family else None


def demote(draft: Draft, breach: Breach) -> bool:
    """Turn an orphan into a note of the user's side that quotes it."""
    part = breach.part()
    if not isinstance(part, ToolResult) or part.family in {"server", "mcp"}:
        return False
    writer = draft.writer
    before = breach.entry.native
    if writer.packed:
        _demote_block(draft, breach.entry, part)
    else:
        _demote_message(draft, breach.entry, part)
    message = f"the result {part.id or part.name} has no call and was kept as a note"
    draft.note(
        "demote",
        breach.rule.id,
        breach.entry,
        message,
        part.path,
        before=before,
        after=breach.entry.native,
    )
    return True


def _demote_block(draft: Draft, entry: Entry, part: ToolResult) -> None:
    """Put the note behind the results of the message, where everything else stands."""
    writer = draft.writer
    fields = draft.fields(entry)
    parts = {one.path: one for one in draft.parts(entry)}
    kept: list[Any] = []
    at = 0
    for number, block in enumerate(writer.blocks(fields)):
        path = f"{writer.key}[{number}]"
        if path == part.path:
            continue
        kept.append(block)
        if isinstance(parts.get(path), ToolResult):
            at = len(kept)
    kept[at:at] = writer.quoted(NOTE, part.content)
    draft.rewrite(entry, writer.with_blocks(fields, kept))


def _demote_message(draft: Draft, entry: Entry, part: ToolResult) -> None:
    """Put the note behind the results the orphan stood among: it must not part them."""
    at = draft.entries.index(entry)
    last = at
    while last + 1 < len(draft.entries) and draft.facts(draft.entries[last + 1]).role == TOOL:
        last += 1
    draft.entries.insert(last, draft.entries.pop(at))
    quoted = joined(NOTE, text_of(part.content))
    entry.native = draft.writer.said("user", quoted, entry.native)
    entry.touched = True


# --- dropping -------------------------------------------------------------------------------------


def drop_part(draft: Draft, breach: Breach) -> bool:
    """Drop the part, and its message only where nothing else is in it."""
    part = breach.part()
    before = breach.entry.native
    if part is None or not part.path or draft.writer.whole(part):
        draft.remove(breach.entry)
        path = ""
    else:
        before = inside(draft.fields(breach.entry), part.path)
        draft.take_out(breach.entry, [part.path])
        path = part.path
    draft.note("drop", breach.rule.id, breach.entry, breach.finding.message, path, before=before)
    return True


def drop_unit(draft: Draft, breach: Breach) -> bool:
    """Drop a call with all that is bound to it."""
    view = breach.view
    name = view.groups.names[breach.finding.index - view.groups.start]
    members = [
        at for at in range(len(view.facts)) if view.groups.names[at - view.groups.start] == name
    ]
    if any(view.facts[at].role not in {ASSISTANT, TOOL} for at in members):
        return False
    for at in members:
        entry = breach.entries[at]
        draft.remove(entry)
        draft.note("drop", breach.rule.id, entry, breach.finding.message, "", before=entry.native)
    return True


# --- two results, two calls of one id -------------------------------------------------------------


def merge_results(draft: Draft, breach: Breach) -> bool:
    """Make one result of two for the same call; nothing of either is lost."""
    part = breach.part()
    first = _first_result(breach)
    if not isinstance(part, ToolResult) or first is None:
        return False
    entry, kept = first
    writer = draft.writer
    before = inside(draft.fields(breach.entry), part.path) if writer.packed else breach.entry.native
    content = writer.together(kept.content, part.content)
    if content != kept.content:
        draft.rewrite(entry, writer.result(draft.fields(entry), kept, content))
    draft.take_result(breach.entry, part.path)
    message = f"the second result of the call {part.id or part.name} was merged into the first"
    path = part.path if writer.packed else ""
    draft.note(
        "merge", breach.rule.id, breach.entry, message, path, before=before, after=entry.native
    )
    return True


def _first_result(breach: Breach) -> tuple[Entry, ToolResult] | None:
    """Find the result that a second one doubles."""
    pairing = breach.view.groups.pairing
    second = next(
        (
            tie
            for tie in pairing.ties
            if tie.duplicate
            and tie.message == breach.finding.index
            and breach.view.place(tie.message, tie.ordinal) == breach.finding.path
        ),
        None,
    )
    if second is None:
        return None
    for tie in pairing.ties:
        if tie.call is second.call and not tie.duplicate and tie.link.kind == "result":
            part = breach.view.end(tie.message, tie.ordinal)
            if isinstance(part, ToolResult):
                return breach.entries[tie.message], part
    return None


def rename_repeated(draft: Draft, breach: Breach) -> bool:
    """Give the second call of one id in a turn a name of its own, and its result with it."""
    call = _occurrence(breach)
    if call is None or call.link.id is None:
        return False
    uses = [
        one
        for one in breach.view.groups.pairing.calls
        if one.run == call.run and one.link.key == call.link.key
    ]
    number = uses.index(call) + 1
    name = fitting(call.link.id, draft.profile.ids, _ids(breach), number=number)
    return _rename(draft, breach, call, name)


def rename_call(draft: Draft, breach: Breach) -> bool:
    """Give a call and its result an id that the target takes; equal ids stay equal."""
    call = _occurrence(breach)
    old = call.link.id if call is not None else None
    if call is None or old is None:
        return False
    if old not in draft.names:
        taken = _ids(breach) | set(draft.names.values())
        draft.names[old] = fitting(old, draft.profile.ids, taken)
    return _rename(draft, breach, call, draft.names[old])


def _occurrence(breach: Breach) -> Occurrence | None:
    """Find the call at the place of a breach."""
    for call in breach.view.groups.pairing.calls:
        at_it = call.message == breach.finding.index
        if at_it and breach.view.place(call.message, call.ordinal) == breach.finding.path:
            return call
    return None


def _ids(breach: Breach) -> set[str]:
    return {link.id for fact in breach.view.facts for link in fact.ends if link.id is not None}


def _rename(draft: Draft, breach: Breach, call: Occurrence, name: str) -> bool:
    view = breach.view
    ends = [(call.message, call.ordinal)]
    ends += [(tie.message, tie.ordinal) for tie in view.groups.pairing.ties if tie.call is call]
    for message, ordinal in ends:
        entry = breach.entries[message]
        part = view.end(message, ordinal)
        if part is None:
            continue
        before = entry.native
        # Only ids change, so the paths of other breaches hold.
        touched = entry.touched
        draft.rewrite(entry, draft.writer.renamed(draft.fields(entry), part, name))
        entry.touched = touched
        said = f"the id {call.link.id} was renamed to {name}"
        draft.note(
            "rename", breach.rule.id, entry, said, part.path, before=before, after=entry.native
        )
    return True
