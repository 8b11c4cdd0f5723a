"""Rows: what there is to say about a subject, as data, before anyone writes it down.

Must not know: how rows are worked out (`of_plan`, `of_report`, `of_repair`) or written (`render`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from lockstitch.rules.account import Change
from lockstitch.rules.report import Violation

__all__ = ["Explanation", "MessageRow", "RangeRow", "Row"]


class RangeRow(msgspec.Struct, frozen=True):
    """What becomes of the messages in `[start, stop)`, and why.

    A message that is put in stands in front of `start`, and `stop` is `start`.
    """

    action: str
    start: int
    stop: int
    messages: int
    reason: str
    why: str


class MessageRow(msgspec.Struct, frozen=True):
    """What becomes of one message, and why. One that is put in has the position -1.

    `group` is the first position of its group and `state` that group's state; `tokens` is there
    where the plan counted tokens with a counter that is known by name.
    """

    position: int
    action: str
    pinned: bool
    role: str
    group: int
    state: str
    chars: int
    tokens: int | None
    reason: str
    why: str
    preview: str


Row = RangeRow | MessageRow | Violation | Change


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to say about a plan, a report or a repair.

    Args:
        kind: `ranges` and `messages` are about a plan, `violations` about a report, `changes` about
            a repair.
        summary: all of it in one line.
        head: what is true of the whole; keys of the JSON document.
        rows: one for each range, message, violation or change.
        remaining: the breaches that a repair could not mend.
        previews: how the messages begin that violations are about, where the messages were given.
    """

    kind: Literal["ranges", "messages", "violations", "changes"]
    summary: str
    head: dict[str, Any]
    rows: Sequence[Row]
    remaining: Sequence[Violation] = ()
    previews: Mapping[int, str] = {}

    @property
    def violations(self) -> list[Violation]:
        """All violations of a report, or those that a repair left."""
        return [*(row for row in self.rows if isinstance(row, Violation)), *self.remaining]

    @property
    def changes(self) -> list[Change]:
        """All changes of a repair."""
        return [row for row in self.rows if isinstance(row, Change)]
