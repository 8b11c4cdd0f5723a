"""What is summarised: which groups go into the running summary, and what is said of them.

Knows: what a summary must leave alone (the system part, pins, open calls, the user's newest
messages, the newest messages that were asked for), where it stands, which messages it covers, and
how a message is told in lines of text.

Must not know: who writes the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.facts import ASSISTANT, OTHER, USER
from lockstitch.grouping import OPEN, ORPHAN
from lockstitch.measure.counters import MESSAGE_OVERHEAD, written
from lockstitch.measure.limits import CHARS, MESSAGES, TOKENS
from lockstitch.plan.pending import SMALL, Line, PendingSummary, heading, numbers_of
from lockstitch.strategies.keeping import head_of
from lockstitch.strategies.payloads import names_in, payloads_at
from lockstitch.strategies.standing import REPLY, first_text, replies, summaries
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from lockstitch.writing import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lockstitch.grouping import Group
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.steps import Summarize
    from lockstitch.strategies.working import Working
    from lockstitch.transcript import Transcript

    Told = Text | Reasoning | ToolCall | ApprovalRequest | Approval | Media | Opaque

__all__ = ["lines_of", "part_from_user", "summarize"]

# As many characters as a token of English prose has, less a margin: what fits is reserved.
_CHARS_PER_TOKEN: Final = 3
# A summary may take this share of what a cut stops at, so that something besides it fits.
_SHARE: Final = 4
# With fewer characters than this behind its heading a summary says nothing.
_LEAST: Final = 40

Ranges = tuple[tuple[int, int], ...]


def summarize(
    work: Working, step: Summarize, asked: Asked, *, least: int = 0
) -> tuple[int, PendingSummary | None, str]:
    """Choose what is summarised, take it out, and put a place for the summary in.

    Args:
        work: the history.
        step: the settings.
        asked: the target and the limits.
        least: the fewest characters that are worth a summary.

    Returns:
        How many messages it covers, what is to be written, and why nothing is.
    """
    earlier = summaries(work.transcript)
    replied = replies(work.transcript, earlier)
    chosen = _chosen(work, step, asked, {*earlier, *replied})
    covered = sorted(at for unit in chosen for at in unit.members)
    groups = tuple(filter(None, (_told(work.transcript, unit) for unit in chosen)))
    size = sum(len(line.text) + len(line.name) for lines in groups for line in lines)
    if not groups or (len(covered) == 1 and size <= SMALL):
        return 0, None, "nothing is old enough to be summarised"
    if size < least:
        return 0, None, f"{size:,} characters could be summarised, which is not worth it"
    said = [first_text(work.transcript, at) for at in earlier]
    previous = "\n\n".join(text.split("\n", 1)[1] for text in said)
    numbers = _numbers(said, {*earlier, *replied}, covered, len(work.rows))
    size += len(previous)
    most = _most(work, step, asked, max(size, SMALL))
    if most < len(heading(numbers)) + _LEAST:
        return 0, None, "the limits leave no room for a summary"
    head = head_of(work)
    position = _origin_from(work, head)
    covers = _ranges([work.rows[at].origin for at in covered])
    gone = dict.fromkeys(covered, "summarized")
    gone |= dict.fromkeys([*earlier, *replied], "superseded")
    work.drop(gone)
    reserved = {MESSAGES: 1, CHARS: most, TOKENS: -(-most // _CHARS_PER_TOKEN) + MESSAGE_OVERHEAD}
    if USER in asked.profile.parted:
        # Room for the reply that may be wanted behind it.
        reserved = {unit: held + _reply_size(unit) for unit, held in reserved.items()}
    work.insert(head, USER, heading(numbers), "summary", reserved)
    pending = PendingSummary(
        covers=covers,
        position=position,
        numbers=numbers,
        groups=groups,
        size=size,
        max_chars=most,
        max_input_chars=step.max_input_chars,
        previous=previous,
        instructions=step.instructions,
    )
    return len(covered), pending, ""


def part_from_user(work: Working, asked: Asked) -> None:
    """Put the model's reply behind a summary, where the user's next message may not follow it."""
    if USER not in asked.profile.parted:
        return
    at = next((at for at, row in enumerate(work.rows) if row.reason == "summary"), -1)
    if at < 0 or at + 1 == len(work.rows) or work.transcript.facts_at(at + 1).role != USER:
        return
    row = work.rows[at]
    row.reserved = {unit: held - _reply_size(unit) for unit, held in row.reserved.items()}
    row.sizes = {}
    work.insert(at + 1, ASSISTANT, REPLY, "reply", {})


def _reply_size(unit: str) -> int:
    return {MESSAGES: 1, CHARS: len(REPLY)}.get(unit, len(REPLY) // 2 + MESSAGE_OVERHEAD)


# --- which messages it stands for ----------------------------------------------------------------


def _numbers(said: Sequence[str], skip: set[int], covered: Sequence[int], count: int) -> Ranges:
    """Return the numbers of all that a summary covers, with what it takes over from earlier ones.

    A message has the number that it had before anything was summarised: the smallest that no
    summary and no message before it has.
    """
    taken = sorted(pair for text in said for pair in numbers_of(text) or ())
    wanted = set(covered)
    found = list(taken)
    ranges = iter(taken)
    held = next(ranges, None)
    number = 0
    for at in range(count):
        if at in skip:
            continue
        number += 1
        while held is not None and number >= held[0]:
            number = max(number, held[1] + 1)
            held = next(ranges, None)
        if at in wanted:
            found.append((number, number))
    return _joined(sorted(found))


def _joined(pairs: Sequence[tuple[int, int]]) -> Ranges:
    joined: list[tuple[int, int]] = []
    for first, last in pairs:
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


# --- what goes in ---------------------------------------------------------------------------------


def _chosen(work: Working, step: Summarize, asked: Asked, skip: set[int]) -> list[Group]:
    """Return the groups that are old enough, in order."""
    transcript = work.transcript
    count = len(work.rows)
    head = head_of(work)
    recent = count - step.keep_recent
    asking = _asking(work)
    chosen: list[Group] = []
    for unit in asked.groups(work):
        first, newest = unit.members[0], unit.members[-1]
        if unit.state == OPEN or first < head or skip.intersection(unit.members):
            continue
        if any(work.rows[at].origin in asked.pinned or at in asking for at in unit.members):
            continue
        # A result without its call would be refused, and its text is not lost in a summary.
        if newest >= recent and not (unit.state == ORPHAN and newest < count - 1):
            continue
        if all(transcript.facts_at(at).role == OTHER for at in unit.members):
            continue
        chosen.append(unit)
    return chosen


def _asking(work: Working) -> set[int]:
    """Return the newest messages of the user that stand in a row: what is asked now."""
    transcript = work.transcript
    at = len(work.rows) - 1
    while at >= 0 and transcript.facts_at(at).role != USER:
        at -= 1
    found: set[int] = set()
    while at >= 0 and transcript.facts_at(at).role == USER:
        found.add(at)
        at -= 1
    return found


def _most(work: Working, step: Summarize, asked: Asked, size: int) -> int:
    """Return the most characters that the summary may have."""
    most = min(step.max_chars, size)
    for sizer in work.sizers():
        if asked.limits.limit(sizer.unit) is None:
            continue
        _, room, target = asked.limits.bounds(sizer.unit)
        share = (target - sizer.around) // _SHARE
        if sizer.unit == CHARS:
            most = min(most, share)
        elif sizer.unit == TOKENS:
            most = min(most, share * _CHARS_PER_TOKEN)
        elif room < 2 + (USER in asked.profile.parted):
            return 0
    return most


def _origin_from(work: Working, at: int) -> int:
    """Return the position in the input of the first row from a place on."""
    return next((row.origin for row in work.rows[at:] if row.origin >= 0), len(work.source))


def _ranges(positions: Sequence[int]) -> Ranges:
    """Return positions as ranges `(start, stop)`."""
    found: list[tuple[int, int]] = []
    for at in positions:
        if found and found[-1][1] == at:
            found[-1] = found[-1][0], at + 1
        else:
            found.append((at, at + 1))
    return tuple(found)


# --- how it is told -------------------------------------------------------------------------------


def _told(transcript: Transcript, unit: Group) -> tuple[Line, ...]:
    names = names_in(transcript, unit.members)
    return tuple(line for at in unit.members for line in lines_of(transcript, at, names))


def lines_of(
    transcript: Transcript, at: int, names: Mapping[str | None, str | None]
) -> Iterator[Line]:
    """Tell a message in lines: everything it says and does, one line for each part.

    What nobody can read (sealed reasoning, an image) is named with its size.
    """
    role = transcript.facts_at(at).role
    parts = transcript.parts_at(at)
    results = any(isinstance(part, ToolResult) for part in parts)
    payloads = {one.path: one for one in payloads_at(transcript, at, names)} if results else {}
    for part in parts:
        if isinstance(part, ToolResult):
            held = payloads[part.path]
            shown = [f"[{one.kind} of {one.encoded:,} characters]" for one in held.media]
            text = "\n".join(filter(None, [held.text, *shown]))
            yield Line("result", text, held.name, failed=part.is_error)
        else:
            line = _line(part, role)
            if line is not None:
                yield line


def _line(part: Told, role: str) -> Line | None:
    """Tell one part; results are told with their payloads."""
    if isinstance(part, Text):
        kind = role if role in ("system", "user", "assistant") else "other"
        return Line(kind, part.text) if part.text and part.text.strip() else None  # type: ignore[arg-type]
    if isinstance(part, Reasoning):
        return Line("thought", part.text) if part.text else None
    if isinstance(part, (ToolCall, ApprovalRequest)):
        arguments = part.arguments
        text = arguments if isinstance(arguments, str) else written(arguments or {})
        if isinstance(part, ApprovalRequest):
            return Line("other", f"approval was asked for: {part.name or 'a call'}({text})")
        return Line("call", text, part.name or part.family)
    if isinstance(part, Approval):
        return Line("other", "approved" if part.approved else "not approved")
    if isinstance(part, Media):
        return Line("other", f"{part.kind} of {part.encoded:,} characters")
    return Line("other", f"{part.type}: {text_of(part.value)}")
