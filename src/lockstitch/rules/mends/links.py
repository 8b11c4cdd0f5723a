"""Mends of calls and results: what belongs together is brought together, least loss first.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. What comes back from the record: `restore`. Must not know: which rule calls
for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import ASSISTANT, RESULT, TOOL
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
    "demote",
    "drop_call",
    "drop_part",
    "merge_results",
    "move_behind",
    "move_home",
    "name_result",
    "rename_call",
    "rename_repeated",
    "take_back",
]

UNKNOWN = "No result was recorded for this call; its outcome is unknown."
"""What a made-up result says. It must not claim that nothing happened: that causes it twice."""
NOTE = "[From a tool, in answer to a call that is no longer part of this conversation:]"
"""What stands above a result that was turned into a note."""


def move_home(draft: Draft, breach: Breach) -> bool:
    """Move a result to its call."""
    part = breach.part()
    tie = breach.lookup.tie_at(breach.place)
    if tie is None or not isinstance(part, ToolResult):
        return False
    # A second result may be the first of a call that it stands before.
    own = breach.lookup.own_call(tie) if tie.duplicate else None
    call = own or breach.lookup.home(tie)
    if call is None:
        return False
    home = breach.entries[call.message]
    if home.touched or breach.view.near(call, tie.message):
        return False
    return _move(draft, breach, part, home)


def move_behind(draft: Draft, breach: Breach) -> bool:
    """Move a result behind the call that it stands before."""
    part = breach.part()
    tie = breach.lookup.tie_at(breach.place)
    if tie is None or not isinstance(part, ToolResult):
        return False
    if tie.call is not None and not tie.duplicate:
        return False  # it has its call, and another one must not take it
    call = breach.lookup.own_call(tie)
    if call is None or breach.entries[call.message].touched:
        return False
    return _move(draft, breach, part, breach.entries[call.message])


def _move(draft: Draft, breach: Breach, part: ToolResult, call: Entry) -> bool:
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


def take_back(draft: Draft, breach: Breach) -> bool:
    """Move the result of a call behind it that stands before it, at an earlier call of its id."""
    call = breach.lookup.open_call_at(breach.place)
    tie = None if call is None else breach.lookup.early_result(call)
    if call is None or tie is None or breach.entries[tie.message].touched:
        return False
    part = breach.view.end(tie.message, tie.ordinal)
    return isinstance(part, ToolResult) and _move(
        draft, breach.at(tie.message, part.path), part, breach.entries[call.message]
    )


def answer(draft: Draft, breach: Breach) -> bool:
    """Answer a call in its tool's place, saying that the outcome is unknown."""
    breach = breach.at_open_call()
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    call = breach.lookup.call_at(breach.place)
    unnamed = part.id is None and call is not None and draft.writer.names(part)
    if unnamed:
        part = msgspec.structs.replace(part, id=_made_id(draft, breach, part.name))
    made = draft.writer.answer(part, UNKNOWN, breach.entry.native)
    if made is None:
        return False
    if unnamed and call is not None and part.id is not None:
        _rename(draft, breach, call, part.id)
    draft.put_result(breach.entry, made)
    message = f"the call {part.id or part.name} was answered with an error: its outcome is unknown"
    draft.note("synthesize", breach.rule.id, breach.entry, message, part.path, after=made)
    return True


# --- a result without a call ----------------------------------------------------------------------


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
    view, index, lookup = breach.view, breach.finding.index, breach.lookup
    first = index
    while first > 0 and view.facts[first - 1].role == TOOL:
        first -= 1
    if first == 0 or view.facts[first - 1].role != ASSISTANT:
        return None
    last = index
    while last + 1 < len(view.facts) and view.facts[last + 1].role == TOOL:
        last += 1
    orphans = [
        tie
        for at in range(first, last + 1)
        for ordinal in range(len(view.facts[at].ends))
        if (tie := lookup.ties.get((at, ordinal))) is not None
        and tie.call is None
        and tie.link.kind == RESULT
    ]
    calls = [call for call in lookup.calls.get(first - 1, ()) if call.answer < 0]
    if len(orphans) != 1 or len(calls) != 1:
        return None
    found = view.end(calls[0].message, calls[0].ordinal)
    return (
        found
        if isinstance(found, ToolCall)
        and found.family == orphan.family
        and (not orphan.name or found.name == orphan.name)
        and not lookup.waits(orphans[0].link)
        else None
    )


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
    last = draft.position(entry)
    while last + 1 < len(draft.entries) and draft.facts(draft.entries[last + 1]).role == TOOL:
        last += 1
    draft.move(entry, last)
    quoted = joined(NOTE, text_of(part.content))
    draft.replace(entry, draft.writer.said("user", quoted, entry.native))


# --- dropping -------------------------------------------------------------------------------------


def drop_part(draft: Draft, breach: Breach) -> bool:
    """Drop the part, and its message only where nothing else is in it."""
    part = breach.part()
    entry = breach.entry
    native = entry.native
    before, path = native, ""
    if part is None or not part.path or draft.writer.whole(part):
        draft.remove(entry)
    else:
        (taken,) = draft.take_out(entry, [part.path])
        if not entry.gone:
            before, path = taken, part.path
    after = None if entry.gone else entry.native
    draft.note(
        "drop", breach.rule.id, entry, breach.finding.message, path, before=before, after=after
    )
    return True


def drop_call(draft: Draft, breach: Breach) -> bool:
    """Drop a call that has no result."""
    breach = breach.at_open_call()
    # It may stand in another message, whose parts are counted anew once one of them is gone.
    return breach.fresh and drop_part(draft, breach)


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
    second = breach.lookup.tie_at(breach.place)
    firsts = (
        (breach.entries[tie.message], breach.view.end(tie.message, tie.ordinal))
        for tie in breach.lookup.answers(second.call if second is not None else None)
        if not tie.duplicate
    )
    return next(((entry, part) for entry, part in firsts if isinstance(part, ToolResult)), None)


def rename_repeated(draft: Draft, breach: Breach) -> bool:
    """Give the second call of one id in a turn a name of its own, and its result with it."""
    call = breach.lookup.call_at(breach.place)
    if call is None or call.link.id is None:
        return False
    if breach.lookup.open_call_at(breach.place) is not call:
        return False  # once the open one is answered, the two are in turns of their own
    number = breach.lookup.uses(call).index(call) + 1
    name = fitting(call.link.id, draft.profile.ids, breach.lookup.ids, number=number)
    return _rename(draft, breach, call, name)


def rename_call(draft: Draft, breach: Breach) -> bool:
    """Give a call and its result an id that the target takes; equal ids stay equal."""
    call = breach.lookup.call_at(breach.place)
    old = call.link.id if call is not None else None
    if call is None or old is None:
        return False
    if old not in draft.names:
        draft.names[old] = fitting(old, draft.profile.ids, breach.lookup.ids)
        breach.lookup.ids.add(draft.names[old])
    return _rename(draft, breach, call, draft.names[old])


def name_result(draft: Draft, breach: Breach) -> bool:
    """Let a result that names no call name its own; where that has no id either, both get one."""
    part = breach.part()
    tie = breach.lookup.tie_at(breach.place)
    if tie is None or tie.call is None or not isinstance(part, ToolResult):
        return adopt(draft, breach)
    called = tie.call.link
    if called.id is None:
        return _rename(draft, breach, tie.call, _made_id(draft, breach, called.name))
    before = breach.entry.native
    draft.rewrite(breach.entry, draft.writer.renamed(draft.fields(breach.entry), part, called.id))
    message = f"the result was given the id of its call, {called.id}"
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


def _made_id(draft: Draft, breach: Breach, tool: str | None) -> str:
    """Make an id for a call that has none, from its name."""
    made = fitting(f"call_{tool or 'tool'}", draft.profile.ids, breach.lookup.ids)
    breach.lookup.ids.add(made)
    return made


def _rename(draft: Draft, breach: Breach, call: Occurrence, name: str) -> bool:
    view = breach.view
    ends = [(call.message, call.ordinal)]
    ends += [(tie.message, tie.ordinal) for tie in breach.lookup.results(call)]
    parts = [(message, view.end(message, ordinal)) for message, ordinal in ends]
    for message, part in ((message, part) for message, part in parts if part is not None):
        entry = breach.entries[message]
        before = entry.native
        # Only ids change, so the paths of other breaches hold.
        touched = entry.touched
        draft.rewrite(entry, draft.writer.renamed(draft.fields(entry), part, name))
        entry.touched = touched
        old = call.link.id
        said = f"the id {old} was renamed to {name}" if old else f"the id {name} was given"
        draft.note(
            "rename", breach.rule.id, entry, said, part.path, before=before, after=entry.native
        )
    return True
