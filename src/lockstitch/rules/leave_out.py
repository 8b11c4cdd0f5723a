"""What a caller wants left out of a history: reasoning, and media too large to carry along.

It goes before anything is mended, so that what a target then refuses is mended with the rest. Each
message that changes is in the account; a signature that a target demands back outlives the thought
it stood on.

Must not know: any rule, any one format (`writing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.transcript import Media, Reasoning, ToolResult
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from typing import TypeGuard

    from lockstitch.rules.draft import Draft, Entry
    from lockstitch.transcript import Part

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
        if isinstance(part, ToolResult):
            _without_large_results(draft, entry, part, most)
        elif _large(part, most) and part.path.endswith("]"):
            fields = draft.fields(entry)
            before = inside(fields, part.path)
            note = draft.writer.text(_word(part))
            draft.rewrite(entry, edited(fields, part.path, note))
            said = _gone(part, most)
            draft.note("drop", _ASKED, entry, said, part.path, before=before, after=note)


def _without_large_results(draft: Draft, entry: Entry, result: ToolResult, most: int) -> None:
    fields = draft.fields(entry)
    shown = draft.writer.shown(fields, result)
    # What a result shows is read as if the user showed it.
    media = [
        (int(part.path.rpartition("[")[2][:-1]), part)
        for part in draft.format.parts(draft.writer.carrying(shown))
        if _large(part, most)
    ]
    if not media:
        return
    words = {place: draft.writer.unshown_word(_word(part)) for place, part in media}
    draft.rewrite(entry, draft.writer.unshown(fields, result, words))
    for place, part in media:
        gone = {"before": shown[place], "after": words[place]}
        draft.note("drop", _ASKED, entry, _gone(part, most), result.path, **gone)


def _large(part: Part, most: int) -> TypeGuard[Media]:
    return isinstance(part, Media) and part.encoded > most


def _word(media: Media) -> str:
    return f"[{media.kind} of {media.encoded:,} characters, left out]"


def _gone(media: Media, most: int) -> str:
    return f"the {media.kind} was left out: it has more than {most:,} characters"
