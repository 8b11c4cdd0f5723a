"""What a caller wants left out of a history: reasoning, and media too large to carry along.

It goes before anything is mended, so that what a target then refuses is mended with the rest. Each
message that changes is in the account; a signature that a target demands back outlives the thought
it stood on.

Must not know: any rule, any one format (`writing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.transcript import Media, Reasoning
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from lockstitch.rules.draft import Draft, Entry

__all__ = ["leave_out"]

_ASKED = ""  # no rule demands it; the caller does


def leave_out(draft: Draft, *, reasoning: bool, max_part_chars: int | None) -> None:
    """Take out of a draft what the caller does not want in it.

    Args:
        draft: the history.
        reasoning: whether reasoning goes.
        max_part_chars: the most characters of inline data that a part may have.
    """
    for entry in list(draft.entries):
        if reasoning:
            _without_reasoning(draft, entry)
        if max_part_chars is not None:
            _without_large_media(draft, entry, max_part_chars)


def _without_reasoning(draft: Draft, entry: Entry) -> None:
    thoughts = [part for part in draft.parts(entry) if isinstance(part, Reasoning)]
    if not thoughts:
        return
    before = entry.native
    kept = draft.writer.thoughtless(draft.fields(entry), draft.parts(entry))
    left = draft.format.parts(draft.writer.refit(before, kept))
    if not left or draft.writer.whole(thoughts[0]):
        draft.remove(entry)
        after = None
    elif kept == draft.fields(entry):
        return  # nothing but the seal is left of it
    else:
        draft.rewrite(entry, kept)
        after = entry.native
    draft.note("drop", _ASKED, entry, "the reasoning was left out", before=before, after=after)


def _without_large_media(draft: Draft, entry: Entry, most: int) -> None:
    for part in draft.parts(entry):
        if not isinstance(part, Media) or part.encoded <= most or not part.path.endswith("]"):
            continue
        fields = draft.fields(entry)
        before = inside(fields, part.path)
        note = draft.writer.text(f"[{part.kind} of {part.encoded:,} characters, left out]")
        draft.rewrite(entry, edited(fields, part.path, note))
        message = f"the {part.kind} was left out: it has more than {most:,} characters"
        draft.note("drop", _ASKED, entry, message, part.path, before=before, after=note)
