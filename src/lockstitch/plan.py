"""Plans: a decision as inert data, and the one function that carries it out.

Knows: ranges of positions, what becomes of each, and why. A plan's size follows what is kept, not
the history. It serialises, it can be shown before it is taken, and it refuses messages that it was
not made for.

Must not know: how the decision was reached.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from lockstitch.errors import FormatError, PlanMismatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lockstitch.transcript import Transcript

__all__ = [
    "DROPPED",
    "KEPT",
    "REASONS",
    "Edit",
    "FloorItem",
    "Plan",
    "Size",
    "apply_plan",
    "fingerprint",
    "phrase_with",
]

# Why an edit is in a plan: one word in the data, one sentence for people. No word stands in both
# tables, so a reason tells what became of the messages.
KEPT: Final[dict[str, str]] = {
    "all": "everything fits",
    "system": "the system part stays",
    "pinned": "pinned by the caller",
    "task": "the newest user message stays",
    "lead": "the user message that the kept work answers",
    "between": "stands between two turns of one side that stay",
    "open": "a call that still waits for its result stays",
    "newest": "the newest complete group stays",
    "recent": "fits into the limit",
    "request": "system, tools and reserve of the request",
}
DROPPED: Final[dict[str, str]] = {
    "oldest": "the limit is reached; oldest groups go first",
    "too-large": "larger than the whole limit",
    "start": "the window could not start here",
    "damaged": "broken before; the window starts behind it",
    "joined": "a hole would join it to a turn that uses the same id",
    "neighbour": "a hole would put it beside a turn of its own side",
    "zero": "a limit of 0 keeps nothing",
    "overflow": "the floor does not fit and an empty window was asked for",
}
REASONS: Final[dict[str, str]] = {**KEPT, **DROPPED}


class Size(msgspec.Struct, frozen=True, omit_defaults=True):
    """A size in each unit that was measured; `None` where it was not."""

    messages: int
    tokens: int | None = None
    chars: int | None = None


class Edit(msgspec.Struct, frozen=True):
    """What becomes of the messages in `[start, stop)`, and why (a key of `REASONS`).

    >>> Edit("drop", 0, 12, "oldest").count
    12
    """

    action: Literal["keep", "drop"]
    start: int
    stop: int
    reason: str

    @property
    def count(self) -> int:
        """How many messages it is about."""
        return self.stop - self.start


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


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A decision about one transcript.

    Args:
        format: the format of the messages.
        profile: the acceptance rules it was made under.
        length: how many messages it is about.
        edits: what becomes of them, in order, without gaps.
        before: the size before, as far as it was measured.
        after: the size after.
        limit: the limit of each unit that is bounded.
        counter: what counted tokens, and `counter_kind` how sure it is.
        changed_from: the first position of the result whose bytes differ from the input's at that
            position; equal to the length of the result where nothing before its end changed.
        fingerprint: identifies the messages it was made for.

    >>> plan = Plan(
    ...     format="openai-chat",
    ...     profile="portable",
    ...     length=1,
    ...     before=Size(1),
    ...     after=Size(1),
    ...     edits=(Edit("keep", 0, 1, "all"),),
    ...     limit={},
    ...     changed_from=1,
    ... )
    >>> plan.kept
    [0]
    """

    format: str
    profile: str
    length: int
    edits: tuple[Edit, ...]
    before: Size
    after: Size
    limit: dict[str, int]
    changed_from: int
    counter: str | None = None
    counter_kind: str | None = None
    fingerprint: str = ""

    @property
    def kept(self) -> list[int]:
        """The positions that stay, in order."""
        return [
            at
            for edit in self.edits
            if edit.action == "keep"
            for at in range(edit.start, edit.stop)
        ]

    @property
    def dropped(self) -> list[int]:
        """The positions that go, in order."""
        return [
            at
            for edit in self.edits
            if edit.action == "drop"
            for at in range(edit.start, edit.stop)
        ]

    @property
    def changes(self) -> bool:
        """Whether anything goes."""
        return any(edit.action == "drop" for edit in self.edits)

    def explain(self, messages: Any = None, *, as_: str = "text") -> str:
        """Say what stays, what goes and why, as `lockstitch.explain` does.

        Args:
            messages: the messages the plan was made for, to have a row for each of them.
            as_: `text`, `table` (Markdown) or `json`.
        """
        return _PHRASING[0](self, messages, as_=as_)

    def to_json(self) -> bytes:
        """Write the plan as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes | str) -> Plan:
        """Read a plan that `to_json` wrote.

        Raises:
            FormatError: it is no plan.
        """
        try:
            return msgspec.json.decode(data, type=cls)
        except msgspec.DecodeError as error:
            raise FormatError(f"not a plan: {error}") from None


_PHRASING: list[Callable[..., str]] = []


def phrase_with(explain: Callable[..., str]) -> None:
    """Let the layer that phrases plans say how; a plan itself is data and knows no words."""
    _PHRASING[:] = [explain]


def fingerprint(transcript: Transcript, edits: Sequence[Edit]) -> str:
    """Identify the messages a plan is about by what the decision read of them.

    It covers how many there are and the facts of those that are kept, so making and checking it
    costs what is kept.
    """
    digest = hashlib.blake2b(f"{transcript.format.name}:{len(transcript)}".encode(), digest_size=12)
    for edit in edits:
        if edit.action == "keep":
            for at in range(edit.start, edit.stop):
                facts = f"{at}:{transcript.facts_at(at)!r}"
                digest.update(facts.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def apply_plan(plan: Plan, transcript: Transcript) -> list[Any]:
    """Carry a plan out: the kept native messages, the very objects that went in.

    Raises:
        PlanMismatch: the plan was made for other messages.
    """
    if plan.length != len(transcript) or plan.format != transcript.format.name:
        raise PlanMismatch(
            f"the plan was made for {plan.length} {plan.format} messages, these are "
            f"{len(transcript)} in {transcript.format.name}: make a new plan"
        )
    if plan.fingerprint and plan.fingerprint != fingerprint(transcript, plan.edits):
        raise PlanMismatch(
            "the plan was made for other messages (roles or ids of the kept ones differ): make a "
            "new plan"
        )
    kept: list[Any] = []
    for edit in plan.edits:
        if edit.action == "keep":
            kept.extend(transcript.natives[edit.start : edit.stop])
    return kept
