"""Mends of thinking: brought back as it was issued, or dropped; never changed, never kept in part.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.formats.base import mapping
from lockstitch.rules.binding import Piece, last_turn, pieces, turn_of
from lockstitch.writing import edited, inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = [
    "bring_back_between",
    "bring_back_block",
    "bring_back_turn",
    "drop_all",
    "drop_of_turn",
    "drop_older",
    "drop_unbound",
    "switch_off",
]


def bring_back_block(draft: Draft, breach: Breach) -> bool:
    """Bring one thinking block back as the provider issued it; without a place, the whole turn."""
    if not breach.finding.path.endswith("]"):
        return bring_back_turn(draft, breach)
    binding = breach.view.binding
    now = mapping(inside(draft.fields(breach.entry), breach.finding.path))
    seal = now.get("signature")
    issued = binding.theirs if binding is not None and breach.record is not None else ()
    made = next((one for one in issued if one.thinking and one.seal == seal), None)
    if made is None:
        return False
    draft.rewrite(
        breach.entry, edited(draft.fields(breach.entry), breach.finding.path, made.native)
    )
    message = "the thinking was brought back from the record, as it was issued"
    draft.note(
        "restore",
        breach.rule.id,
        breach.entry,
        message,
        breach.finding.path,
        before=now,
        after=made.native,
    )
    return True


def bring_back_turn(draft: Draft, breach: Breach) -> bool:
    """Bring a turn of the model back from the record, block by block, into its last message."""
    view = breach.view
    if breach.record is None or view.binding is None:
        return False
    start = stop = breach.finding.index
    while start and view.facts[start - 1].role == view.facts[stop].role:
        start -= 1
    while stop + 1 < len(view.facts) and view.facts[stop + 1].role == view.facts[start].role:
        stop += 1
    ours = pieces(view.transcript, start, stop + 1)
    theirs = turn_of(view.binding.theirs, ours)
    if not any(piece.thinking for piece in theirs) or _same(ours, theirs):
        return False
    entries = breach.entries[start : stop + 1]
    entry = entries[-1]
    if entry.restored:
        return False
    entry.restored = True
    before = entry.native
    draft.rewrite(entry, draft.writer.with_blocks(draft.fields(entry), list(_blocks(theirs))))
    for other in entries[:-1]:
        draft.remove(other)
    message = "the turn was brought back from the record, with every block in its place"
    draft.note(
        "restore", breach.rule.id, entry, message, "content", before=before, after=entry.native
    )
    return True


def _same(ours: Sequence[Piece], theirs: Sequence[Piece]) -> bool:
    return [piece.block for piece in ours] == [piece.block for piece in theirs]


def _blocks(turn: Sequence[Piece]) -> Sequence[Any]:
    return [
        {"type": "text", "text": piece.native} if piece.path == "content" else piece.native
        for piece in turn
    ]


def bring_back_between(draft: Draft, breach: Breach) -> bool:
    """Put thinking back where it was taken out while older thinking was kept."""
    view = breach.view
    if breach.record is None or view.binding is None:
        return False
    put = False
    # From the back, so that the places of those before hold.
    for gap in reversed(view.binding.gaps):
        entry = breach.entries[gap.before.index]
        if gap.before.role != gap.missing.role:
            return put
        blocks = draft.writer.blocks(draft.fields(entry))
        at = _number(gap.before.path)
        before = entry.native
        changed = [*blocks[:at], gap.missing.native, *blocks[at:]]
        draft.rewrite(entry, draft.writer.with_blocks(draft.fields(entry), changed))
        message = "the thinking that was taken out here was brought back from the record"
        draft.note(
            "restore",
            breach.rule.id,
            entry,
            message,
            gap.before.path,
            before=before,
            after=entry.native,
        )
        put = True
    return put


def _number(path: str) -> int:
    """Return which block a path names; content that is bare text is its first."""
    return int(path[path.index("[") + 1 : -1]) if path.endswith("]") else 0


def drop_older(draft: Draft, breach: Breach) -> bool:
    """Drop all thinking older than what was taken out: the oldest may go."""
    binding = breach.view.binding
    return binding is not None and _drop(draft, breach, binding.kept)


def drop_of_turn(draft: Draft, breach: Breach) -> bool:
    """Drop all thinking of the newest turn, since a part of it is refused."""
    view = breach.view
    turn = pieces(view.transcript, *last_turn(view.transcript))
    return _drop(draft, breach, [piece for piece in turn if piece.thinking])


def drop_unbound(draft: Draft, breach: Breach) -> bool:
    """Drop all thinking behind a change, at once; of the newest turn all, or it is kept in part."""
    view = breach.view
    unbound = view.binding.unbound if view.binding is not None else ()
    gone = {(piece.index, piece.path): piece for piece in unbound}
    newest = pieces(view.transcript, *last_turn(view.transcript))
    if any((piece.index, piece.path) in gone for piece in newest):
        gone |= {(piece.index, piece.path): piece for piece in newest if piece.thinking}
    return _drop(draft, breach, list(gone.values()))


def drop_all(draft: Draft, breach: Breach) -> bool:
    """Drop all thinking: what all of it was made under is no more."""
    thinking = [piece for piece in pieces(breach.view.transcript) if piece.thinking]
    return _drop(draft, breach, thinking)


def _drop(draft: Draft, breach: Breach, thinking: Sequence[Piece]) -> bool:
    by_message: dict[int, list[Piece]] = {}
    for piece in thinking:
        by_message.setdefault(piece.index, []).append(piece)
    for index, gone in by_message.items():
        entry = breach.entries[index]
        draft.take_out(entry, [piece.path for piece in gone])
        for piece in gone:
            draft.note(
                "drop",
                breach.rule.id,
                entry,
                f"thinking was dropped: {breach.finding.message}",
                piece.path,
                before=piece.native,
            )
    return bool(by_message)


def switch_off(draft: Draft, breach: Breach) -> bool:
    """Switch thinking off for the request, where the thinking it wants cannot be brought back."""
    message = f"thinking was switched off for this request: {breach.finding.message}"
    draft.ask("thinking", {"type": "disabled"}, "replace", breach.rule.id, message)
    return True
