"""Clearing: stubs in the place of old results, repeats and media.

Knows: which groups are old enough, how a stub is worded, and that it is never larger than what it
replaces. Call, id, name and the mark of an error stay as they are.

Must not know: limits, other steps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lockstitch.facts import CLIENT_FAMILIES, USER
from lockstitch.grouping import OPEN
from lockstitch.plan import Put
from lockstitch.strategies.payloads import Payload, names_in, payloads_at
from lockstitch.transcript import ToolResult
from lockstitch.writing import writer_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.grouping import Group
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.steps import ClearMedia, ClearRepeats, ClearResults, OffloadResults
    from lockstitch.strategies.working import Working

__all__ = ["clear_media", "clear_repeats", "clear_results", "offload_results"]

# What was cleared once is not cleared again.
_STUB: Final = re.compile(r'(\{"\w+": ?")?\[(Cleared|Stored|The same)\b')


def clear_results(work: Working, step: ClearResults, asked: Asked) -> int:
    """Put stubs in the place of old results; return how many messages changed."""
    old = _old(work, asked, step.keep_groups)
    since = _newest_user(work) if step.keep_turn else len(work.rows)
    changed = 0
    for at, payload in _results(work, asked, old):
        if at > since or payload.name in step.exclude or payload.size < step.min_chars:
            continue
        stub = _stub("Cleared", payload, step.head, step.tail, f"recall {payload.handle}")
        changed += _put(work, at, payload, stub, "cleared")
    return changed


def offload_results(work: Working, step: OffloadResults, asked: Asked) -> int:
    """Put stubs that name a blob in the place of large results."""
    old = _old(work, asked, step.keep_groups)
    changed = 0
    for at, payload in _results(work, asked, old):
        if payload.name in step.exclude or payload.size < step.min_chars:
            continue
        stub = _stub("Stored", payload, step.head, step.tail, f"blob {payload.handle}")
        changed += _put(work, at, payload, stub, "offloaded")
    return changed


def clear_repeats(work: Working, step: ClearRepeats, asked: Asked) -> int:
    """Put stubs in for results that a newer one repeats word by word."""
    found = list(_results(work, asked, asked.groups(work)))
    newest = {payload.said: at for at, payload in found}
    changed = 0
    for at, payload in found:
        if payload.size < step.min_chars or payload.name in step.exclude:
            continue
        if newest[payload.said] > at:
            named = f" of {payload.name}" if payload.name else ""
            stub = f"[The same as the newer result{named}, recall {payload.handle}]"
            changed += _put(work, at, payload, stub, "repeated")
    return changed


def clear_media(work: Working, step: ClearMedia, asked: Asked) -> int:
    """Put words in the place of media in old messages of the user."""
    transcript = work.transcript
    users = [at for at in range(len(work.rows)) if transcript.facts_at(at).role == USER]
    since = users[-step.keep_turns] if 0 < step.keep_turns <= len(users) else 0
    if not step.keep_turns:
        since = len(work.rows)
    changed = 0
    for at in users:
        if at >= since or work.rows[at].origin in asked.pinned:
            continue
        puts: list[Put] = []
        for payload in payloads_at(transcript, at):
            stub = f"[{_described(payload)}, cleared; recall {payload.handle}]"
            if payload.kind == "media" and payload.size >= max(step.min_chars, len(stub) + 1):
                puts.append(Put(payload.path, "media", stub, payload.handle))
        if puts:
            work.put(at, puts, "media")
            changed += 1
    return changed


# --- which results --------------------------------------------------------------------------------


def _old(work: Working, asked: Asked, keep: int) -> list[Group]:
    """Return the groups with calls but for the newest ones."""
    calls = [unit for unit in asked.groups(work) if unit.calls]
    calls.sort(key=lambda unit: unit.members[-1])
    return calls[: len(calls) - keep] if keep else calls


def _newest_user(work: Working) -> int:
    transcript = work.transcript
    at = len(work.rows) - 1
    while at >= 0 and transcript.facts_at(at).role != USER:
        at -= 1
    return at


def _results(work: Working, asked: Asked, units: Sequence[Group]) -> Iterator[tuple[int, Payload]]:
    """Yield the results of some groups that can be cleared, with the rows they stand in."""
    transcript = work.transcript
    for unit in sorted(units, key=lambda unit: unit.members):
        if unit.state == OPEN:
            continue
        names = names_in(transcript, unit.members)
        for at in unit.members:
            if work.rows[at].origin in asked.pinned:
                continue
            clearable = {
                part.path
                for part in transcript.parts_at(at)
                if isinstance(part, ToolResult) and part.family in CLIENT_FAMILIES
            }
            for payload in payloads_at(transcript, at, names):
                if payload.path in clearable and not _STUB.match(payload.text):
                    yield at, payload


def _put(work: Working, at: int, payload: Payload, stub: str, reason: str) -> int:
    """Put a stub in, unless it is no smaller or the result takes no text."""
    if len(stub) >= payload.size:
        return 0
    form = work.source.format
    writer = writer_for(form.name)
    native = work.rows[at].native
    part = next(
        part
        for part in form.parts(native)
        if isinstance(part, ToolResult) and part.path == payload.path
    )
    if writer.cleared(writer.fields(native), part, stub) is None:
        return 0
    first = not work.rows[at].puts
    work.put(at, [Put(payload.path, "result", stub, payload.handle)], reason)
    return int(first)


# --- what a stub says -----------------------------------------------------------------------------


def _stub(word: str, payload: Payload, head: int, tail: int, where: str) -> str:
    lines = [f"[{word}: {_described(payload)}, {where}]"]
    text = payload.text
    if len(text) > head + tail:
        lines += [text[:head], "[...]" if head and tail else "", text[len(text) - tail :]]
    else:
        lines.append(text)
    return "\n".join(line for line in lines if line)


def _described(payload: Payload) -> str:
    """Say what it is and how large."""
    pieces = [
        f"{one.kind} ({one.media_type or 'type unknown'}, {one.encoded:,} characters)"
        for one in payload.media
    ]
    if payload.kind == "result":
        of = f" of {payload.name}" if payload.name else ""
        pieces.insert(0, f"{len(payload.text):,} characters{of}")
    return " and ".join(pieces)
