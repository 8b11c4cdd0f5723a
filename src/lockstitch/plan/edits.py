"""Edits: what becomes of messages, as inert data.

Knows: ranges of positions, parts by their paths, sizes.

Must not know: messages, how a decision is reached or carried out.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lockstitch.plan.reasons import REASONS

__all__ = ["Edit", "FloorItem", "Put", "Size", "StepReport"]


class Size(msgspec.Struct, frozen=True, omit_defaults=True):
    """A size in each unit that was measured; `None` where it was not."""

    messages: int
    tokens: int | None = None
    chars: int | None = None


class Put(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is put in the place of one part of a message.

    Args:
        path: the place of the part in the message, `content[0]`.
        kind: `result` for what a result says, `media`, or `gone` for a field that is taken away.
        text: what stands there now.
        handle: names the payload that stood there, for `lockstitch.recall`.

    >>> Put("content[0]", "result", "[cleared]").handle
    ''
    """

    path: str
    kind: Literal["result", "media", "gone"]
    text: str = ""
    handle: str = ""


class Edit(msgspec.Struct, frozen=True, omit_defaults=True):
    """What becomes of the messages in `[start, stop)`, and why (a key of `REASONS`).

    `strip` keeps them without the reasoning in them. `replace` keeps one with `puts` in it, and
    without its reasoning too where it is `bare`. `insert` puts a message of `role` that says `text`
    in front of `start`; it is about no message of the input, so `stop` is `start`.

    >>> Edit("drop", 0, 12, "oldest").count
    12
    """

    action: Literal["keep", "strip", "replace", "drop", "insert"]
    start: int
    stop: int
    reason: str
    puts: tuple[Put, ...] = ()
    bare: bool = False
    text: str = ""
    role: str = ""

    @property
    def count(self) -> int:
        """How many messages it is about."""
        return self.stop - self.start


class StepReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one step of a strategy came to.

    Args:
        step: its name.
        changed: how many messages it changed, dropped or put in.
        after: the size of the window behind it, in each bounded unit.
        why_not: why it changed nothing; empty where it did.
    """

    step: str
    changed: int
    after: dict[str, int] = {}
    why_not: str = ""


class FloorItem(msgspec.Struct, frozen=True):
    """One part of the smallest window: its positions, its size, and why it must stay.

    What the request needs beside the messages has no position: `start` and `stop` are 0.
    """

    start: int
    stop: int
    size: int
    reason: str

    def describe(self, unit: str) -> str:
        """Say in a few words what it is."""
        last = self.stop - 1
        at = f"[{self.start}] " if last == self.start else f"[{self.start}..{last}] "
        named = unit.removesuffix("s") if self.size == 1 else unit
        return f"{at if self.stop else ''}{self.size} {named} ({REASONS[self.reason]})"
