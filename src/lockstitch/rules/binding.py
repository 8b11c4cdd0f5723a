"""Binding: what of a history still stands as it stood when its thinking was made.

Knows: how a history and its record compare, block by block. Neighbours of one role are one turn,
text alone is a block of text, and cache markers may move: none of these is a change.

Must not know: rules, or how a change is mended.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.facts import ASSISTANT, OTHER
from lockstitch.formats.base import blocks_of, mapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.transcript import Transcript

__all__ = ["Binding", "Gap", "Piece", "bind", "last_turn", "pieces", "turn_of"]

_SEALS: Final = {"thinking": "signature", "redacted_thinking": "data"}


class Piece(msgspec.Struct, frozen=True):
    """One block of a message: who says it, what it is, where it stands."""

    role: str
    block: Mapping[str, Any]
    native: Any
    index: int
    path: str

    @property
    def kind(self) -> str:
        """The type of the block."""
        return str(self.block.get("type"))

    @property
    def thinking(self) -> bool:
        """Whether it is thinking, readable or not."""
        return self.kind in _SEALS

    @property
    def seal(self) -> str | None:
        """The signature of thinking, or the data of redacted thinking."""
        found = self.block.get(_SEALS.get(self.kind, ""))
        return found if isinstance(found, str) else None

    @property
    def words(self) -> tuple[str | None, str]:
        """What of thinking may not change: its seal and its text."""
        return self.seal, str(self.block.get("thinking"))

    def same(self, other: Piece) -> bool:
        """Whether the provider sees the same block."""
        return self.role == other.role and self.block == other.block

    def altered(self, other: Piece) -> bool:
        """Whether it is the same thinking with other words."""
        return (
            self.thinking and bool(self.seal) and self.seal == other.seal and not self.same(other)
        )


class Gap(msgspec.Struct, frozen=True):
    """Thinking of the record that is missing, and the piece that stands where it stood."""

    missing: Piece
    before: Piece


class Binding(msgspec.Struct, frozen=True):
    """How a history stands to its record.

    Args:
        ours: the history block by block, and `theirs` the record.
        unbound: thinking behind the first change in front of it.
        gaps: thinking that is missing although earlier thinking was kept, up to that change.
        kept: the thinking in front of the first gap, and `behind` the first one after it.
    """

    ours: list[Piece]
    theirs: list[Piece]
    unbound: tuple[Piece, ...] = ()
    gaps: tuple[Gap, ...] = ()
    kept: tuple[Piece, ...] = ()
    behind: Piece | None = None


def pieces(transcript: Transcript, start: int = 0, stop: int | None = None) -> list[Piece]:
    """Lay the messages of a transcript out block by block."""
    found: list[Piece] = []
    for index in range(start, len(transcript) if stop is None else stop):
        if transcript.facts_at(index).role == OTHER:
            continue
        message = mapping(transcript.natives[index])
        role = str(message.get("role"))
        content = message.get("content")
        if isinstance(content, str):
            found.append(Piece(role, {"type": "text", "text": content}, content, index, "content"))
        elif isinstance(content, (list, tuple)):
            for at, block in enumerate(blocks_of(content)):
                seen = block
                if "cache_control" in block:
                    seen = {key: value for key, value in block.items() if key != "cache_control"}
                found.append(Piece(role, seen, content[at], index, f"content[{at}]"))
    return found


def bind(history: Transcript, record: Transcript) -> Binding:
    """Compare a history with what its thinking was made from.

    A leading run of thinking may be missing, oldest first; nothing else in front of kept thinking.
    """
    ours, theirs = pieces(history), pieces(record)
    kept: list[Piece] = []
    gaps: list[Gap] = []
    behind: Piece | None = None
    here = there = 0
    while here < len(ours) and there < len(theirs):
        mine, made = ours[here], theirs[there]
        if mine.same(made) or mine.altered(made):
            if mine.thinking and gaps:
                behind = behind or mine
            elif mine.thinking:
                kept.append(mine)
        elif made.thinking:
            # Before any thinking was kept, its absence is the leading run that may be missing.
            if kept:
                gaps.append(Gap(made, mine))
            there += 1
            continue
        else:
            break
        here, there = here + 1, there + 1
    cut = here if there < len(theirs) else len(ours)
    seals = {piece.seal for piece in theirs if piece.thinking and piece.seal}
    unbound = tuple(piece for piece in ours[cut:] if piece.thinking and piece.seal in seals)
    return Binding(ours, theirs, unbound, tuple(gaps), tuple(kept), behind)


def last_turn(transcript: Transcript) -> tuple[int, int]:
    """Return where the newest joined turn of the model begins and ends (`0, 0` without one)."""
    stop = len(transcript)
    while stop and transcript.facts_at(stop - 1).role != ASSISTANT:
        stop -= 1
    start = stop
    while start and transcript.facts_at(start - 1).role == ASSISTANT:
        start -= 1
    return start, stop


def turn_of(record: Sequence[Piece], turn: Sequence[Piece]) -> list[Piece]:
    """Find the turn of the record that a turn of the history is, by thinking, calls, then words."""
    for known in (_by_seal, _by_call, _by_block):
        wanted = [name for piece in turn if (name := known(piece)) is not None]
        for at in range(len(record) - 1 if wanted else -1, -1, -1):
            if record[at].role == ASSISTANT and known(record[at]) in wanted:
                return _turn_around(record, at)
    return []


def _turn_around(record: Sequence[Piece], at: int) -> list[Piece]:
    start, stop = at, at + 1
    while start and record[start - 1].role == ASSISTANT:
        start -= 1
    while stop < len(record) and record[stop].role == ASSISTANT:
        stop += 1
    return list(record[start:stop])


def _by_seal(piece: Piece) -> Any:
    return piece.seal or None


def _by_call(piece: Piece) -> Any:
    return piece.block.get("id") or None


def _by_block(piece: Piece) -> Any:
    return piece.block
