"""The terms and the account of a repair: what it may do, every change, what came of it.

Data, apart from what mends, so that telling of a repair does not load the means to make one.

Must not know: how anything is mended.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

import msgspec

from lockstitch.rules.profiles import Profile
from lockstitch.rules.report import Violation

__all__ = ["KINDS", "LOSSLESS", "Change", "Repair", "Terms"]

KINDS: Final = ("move", "synthesize", "merge", "demote", "drop")
"""The kinds of repair that can be forbidden."""
LOSSLESS: Final = ("restore", "rename", "replace")
"""The kinds that lose and add nothing, and are always allowed."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was changed.

    Args:
        kind: `restore`, `move`, `merge`, `rename`, `replace`, `synthesize`, `demote` or `drop`.
        rule: the rule whose breach it mends.
        index: the position in the input of the message it concerns, -1 for one that was made.
        path: the place in the input, `messages[3].content[1]`; empty for what was not in it.
        message: what was done and why.
        before: the native message or part as it was, `None` for what was not there.
        after: as it is now, `None` for what is gone.
        related: the positions in the input of other messages that were changed along with it.
    """

    kind: str
    rule: str
    index: int
    path: str
    message: str
    before: Any = None
    after: Any = None
    related: tuple[int, ...] = ()


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair came to.

    Args:
        messages: the mended history, of the kind that was handed over.
        changes: every change, in the order they were made.
        remaining: the breaches that could not be mended.
        system: instructions that stood in the list and belong into the request's own field. Where a
            request body was handed over, `messages` is the body, and has them there.
        request: fields of the request around the list that were given other values. A request body
            comes back with them; beside a bare list they are yours to set.
        origins: for each message of the mended history its position in the input, -1 for one that
            was put in.
        profile: the target it was made for, and `format` the format of the messages.
    """

    messages: Any
    changes: tuple[Change, ...] = ()
    remaining: tuple[Violation, ...] = ()
    system: str | None = None
    request: Mapping[str, Any] = {}
    origins: tuple[int, ...] = ()
    profile: str = ""
    format: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing of severity `error` is left."""
        return not any(one.severity == "error" for one in self.remaining)

    def summary(self) -> str:
        """Say in one line what was done."""
        if not self.changes and not self.remaining:
            return "nothing to repair"
        counts: dict[str, int] = {}
        for change in self.changes:
            counts[change.kind] = counts.get(change.kind, 0) + 1
        done = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "no change"
        left = f"; {len(self.remaining)} could not be mended" if self.remaining else ""
        return f"{done}{left}"


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair may do and what it goes by.

    Args:
        profile: the target.
        tail: as for a check.
        known: what is known of the model.
        allow: the kinds of repair that may be used, of `KINDS`.
        target_only: mend only how the target wants things written, warnings included.
        drop_reasoning: leave reasoning out.
        max_part_chars: leave media of more inline characters out; `None` leaves none out.
    """

    profile: Profile
    tail: str = "closed"
    known: Mapping[str, bool] = {}
    allow: Collection[str] = KINDS
    target_only: bool = False
    drop_reasoning: bool = False
    max_part_chars: int | None = None
