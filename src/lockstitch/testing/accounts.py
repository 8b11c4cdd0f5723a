"""Accounts: whether the changes that were reported explain how one history became another.

Law four, counted: every part that is gone belongs to a message that a change names, every part that
is new says what a change put there, and no untouched message changed places unsaid. Judged from the
two lists and the report alone. Must not know: how a change was made, or why.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any

from lockstitch.testing.pieces import Piece, pieces, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lockstitch.rules.account import Change

__all__ = ["unaccounted"]

# What says of which kind a part is, and where it stands.
_NATURE = frozenset({"path", "family", "state", "kind", "type", "media_type"})


def unaccounted(
    before: Sequence[Any], after: Sequence[Any], changes: Sequence[Change], format: str
) -> list[str]:
    """List what became of a history and is not in the account.

    >>> from lockstitch.testing import assistant, user
    >>> unaccounted([user("1"), assistant("2")], [user("1")], (), "openai-chat")
    ['a part of message 1 is gone and no change names it']
    """
    if not changes and len(before) == len(after) and all(map(_is, before, after)):
        return []
    old, new = list(pieces(before, format)), list(pieces(after, format))
    return [
        *_gone(old, new, changes),
        *_new(old, new, changes),
        *_moved(before, after, changes),
    ]


def _is(one: object, other: object) -> bool:
    return one is other


def _surplus(some: Sequence[Piece], others: Sequence[Piece]) -> dict[str, int]:
    return dict(Counter(one.key for one in some) - Counter(one.key for one in others))


def _gone(old: Sequence[Piece], new: Sequence[Piece], changes: Sequence[Change]) -> Iterator[str]:
    lost = _surplus(old, new)
    named = {change.index for change in changes}
    told = [text for change in changes for text in strings(change.after)] if lost else []
    explained: Counter[str] = Counter()
    places: dict[str, list[int]] = {}
    for piece in old:
        if piece.key in lost:
            # Merged into another message, it is said there: what a change made of it is shown.
            explained[piece.key] += piece.message in named or all(
                any(text in one for one in told) for text in _held(piece)
            )
            places.setdefault(piece.key, []).append(piece.message)
    for key, times in lost.items():
        if explained[key] < times:
            where = " or ".join(map(str, dict.fromkeys(places[key])))
            yield f"a part of message {where} is gone and no change names it"


def _new(old: Sequence[Piece], new: Sequence[Piece], changes: Sequence[Change]) -> Iterator[str]:
    gained = _surplus(new, old)
    told = {text for change in changes for text in strings(change.after)}
    for piece in new:
        if gained.get(piece.key):
            gained[piece.key] -= 1
            if not _held(piece) <= told:
                yield f"message {piece.message} of the result holds what no change put there"


def _held(piece: Piece) -> set[str]:
    """Return the texts that a part holds."""
    return {
        text
        for name in piece.part.__struct_fields__
        if name not in _NATURE
        for text in strings(getattr(piece.part, name))
    }


def _moved(before: Sequence[Any], after: Sequence[Any], changes: Sequence[Change]) -> Iterator[str]:
    where = {id(native): at for at, native in enumerate(before)}
    moved = {change.index for change in changes}
    kept = [where[id(native)] for native in after if id(native) in where]
    stayed = [at for at in kept if at not in moved]
    for one, other in itertools.pairwise(stayed):
        if one > other:
            yield f"message {other} changed places with {one} and no change says so"
