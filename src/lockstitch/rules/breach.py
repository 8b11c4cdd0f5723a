"""A breach that is to be mended, and the signature of what mends it.

Must not know: any breach or mend in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from lockstitch.rules.draft import Draft, Entry
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.record import Record
from lockstitch.rules.rule import Rule
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from lockstitch.transcript import Part

__all__ = ["Breach", "Mend"]


class Breach(msgspec.Struct, frozen=True, kw_only=True):
    """One breach, as the mends see it.

    Args:
        rule: the rule that is broken, and `finding` where and how.
        view: the history as it stood when the breach was found.
        entries: its messages; positions of the view count in them.
        lookup: what can be looked up of the view.
        record: what was recorded first, if the caller has it.
    """

    rule: Rule
    finding: Finding
    view: View
    entries: list[Entry]
    lookup: Lookup
    record: Record | None = None

    @property
    def entry(self) -> Entry:
        """The message it was found at."""
        return self.entries[self.finding.index]

    @property
    def place(self) -> tuple[int, str]:
        """The message and the part it was found at."""
        return self.finding.index, self.finding.path

    @property
    def fresh(self) -> bool:
        """Whether the messages it concerns are still as they were when it was found."""
        concerned = (self.finding.index, *self.finding.related)
        return not any(self.entries[at].touched for at in concerned if at >= 0)

    def part(self) -> Part | None:
        """The part it was found at."""
        parts = self.view.parts(self.finding.index)
        return next((part for part in parts if part.path == self.finding.path), None)

    def at(self, index: int, path: str) -> Breach:
        """Look at another part in its stead."""
        finding = msgspec.structs.replace(self.finding, index=index, path=path)
        return msgspec.structs.replace(self, finding=finding)

    def at_open_call(self) -> Breach:
        """Look at the call that is open, where an id was used twice and the walk left another."""
        call = self.lookup.open_call_at(self.place)
        if call is None:
            return self
        return self.at(call.message, self.view.place(call.message, call.ordinal))


Mend = Callable[[Draft, Breach], bool]
"""What mends a breach: changes the draft and accounts for it, or returns False."""
