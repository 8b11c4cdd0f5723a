"""Passing over: of a long view that was never cut, what a cut could keep.

A session that grew without a limit, and is now looked at with one, may have a hundred thousand rows
in its view. All but the newest go in any cut; this tells which of the older ones might not, while
they stream by, so that they never are in memory together.

    stretch   assistant messages in a row, with the answers behind them
    settled   every call in it is answered in it, and nothing else is: it goes

Knows: facts. What is not settled may belong to something newer and is held, with the user message
that it answers; so are the system part at the beginning, the newest user message, and every message
tied in any less common way.

Must not know: payloads, limits, backends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import ASSISTANT, SYSTEM, TOOL, USER

if TYPE_CHECKING:
    from lockstitch.stores.head import Entry

__all__ = ["Passing"]


class Passing:
    """Takes the older entries of a view, in order, and holds those that a cut could keep.

    Attributes:
        passed: the rows that went by: ranges of their numbers.
    """

    def __init__(self) -> None:
        self.passed: list[tuple[int, int]] = []
        self._held: list[Entry] = []
        self._stretch: list[Entry] = []
        self._user: Entry | None = None
        self._at_the_head = True

    def take(self, entry: Entry) -> None:
        """Take the next entry."""
        facts = entry.meta.facts
        if self._at_the_head and facts.role == SYSTEM:
            self._held.append(entry)
            return
        self._at_the_head = False
        if facts.role == ASSISTANT:
            if self._stretch and self._stretch[-1].meta.facts.role == TOOL:
                self._settle()
            self._stretch.append(entry)
        elif facts.role == TOOL or facts.linked:
            self._stretch.append(entry)
        else:
            self._settle()
            self._pass(self._user if facts.role == USER else entry)
            self._user = entry if facts.role == USER else self._user

    def held(self) -> list[Entry]:
        """Return what is held, in order."""
        if self._stretch:
            # It may go on in what is newer.
            self._held += self._stretch
            self._stretch = []
        users = [] if self._user is None else [self._user]
        return sorted([*self._held, *users], key=_seq)

    def _settle(self) -> None:
        """Let a stretch go that is settled, and hold any other."""
        stretch, self._stretch = self._stretch, []
        if not _settled(stretch):
            # A window that keeps it begins with the user message that it answers.
            self._held += stretch if self._user is None else [self._user, *stretch]
            self._user = None
            return
        for entry in stretch:
            self._pass(entry)

    def _pass(self, entry: Entry | None) -> None:
        if entry is None or not entry.seq:
            return
        seq = entry.seq
        last = self.passed[-1] if self.passed else None
        if last is not None and last[1] + 1 == seq:
            self.passed[-1] = (last[0], seq)
        elif last is not None and last[1] > seq:
            self._insert(seq)
        else:
            self.passed.append((seq, seq))

    def _insert(self, seq: int) -> None:
        """Put a row among those that went by: a user message is held until a newer one comes."""
        at = len(self.passed)
        while at and self.passed[at - 1][0] > seq:
            at -= 1
        first, last = seq, seq
        if at < len(self.passed) and self.passed[at][0] == seq + 1:
            last = self.passed.pop(at)[1]
        if at and self.passed[at - 1][1] == seq - 1:
            first = self.passed.pop(at - 1)[0]
            at -= 1
        self.passed.insert(at, (first, last))


def _settled(stretch: list[Entry]) -> bool:
    """Whether the calls of a stretch are answered in it, one for one, and nothing else is."""
    asked: list[str] = []
    for entry in stretch:
        facts = entry.meta.facts
        if facts.links:
            return False
        if facts.asks:
            asked += facts.asks
        for one in facts.answers:
            if one not in asked:
                return False
            asked.remove(one)
    return not asked


def _seq(entry: Entry) -> int:
    return entry.seq
