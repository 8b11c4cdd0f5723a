"""The view of a history that checks look at, and the findings they make.

Knows: facts, groups and parts, each looked up once; how near a result stands to its call.

Must not know: rules, or what is looked for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from lockstitch.facts import (
    ASSISTANT,
    OTHER,
    PROVIDER_FAMILIES,
    REQUEST,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
)
from lockstitch.rules.binding import bind
from lockstitch.rules.ids import FREE, IdShape
from lockstitch.transcript import Approval, ApprovalRequest, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockstitch.facts import Facts
    from lockstitch.grouping import Groups
    from lockstitch.pairing import Occurrence, Tie
    from lockstitch.rules.binding import Binding
    from lockstitch.transcript import Part, Transcript

__all__ = ["Finding", "View"]


class Finding(msgspec.Struct, frozen=True):
    """One breach: at which message, at which of its places, and in words what it is.

    `maybe`: what was seen makes a refusal likely and does not prove it, so it is a warning.
    """

    index: int
    message: str
    path: str = ""
    related: tuple[int, ...] = ()
    maybe: bool = False


class View:
    """A history as checks see it: facts, groups and parts, each looked up once.

    Args:
        transcript: the messages.
        groups: their groups, over the whole list.
        adjacency: `message`, `run` or `order`, as a profile demands and the format allows.
        ids: what the target takes as the id of a call.
        closed: whether the model is about to be called, so that nothing may be left open.
        known: what is known of the model, by the names of `models`.
        record: the history as it was first recorded, where the caller has it.
    """

    def __init__(
        self,
        transcript: Transcript,
        groups: Groups,
        *,
        adjacency: str,
        closed: bool,
        ids: IdShape = FREE,
        known: Mapping[str, bool] | None = None,
        record: Transcript | None = None,
    ) -> None:
        self.transcript = transcript
        self.context = transcript.context
        self.known = known or {}
        self.record = record
        self.groups = groups
        self.facts: list[Facts] = transcript.facts_from(0)
        self.adjacency = adjacency
        self.closed = closed
        self.ids = ids
        self._parts: dict[int, tuple[Part, ...]] = {}
        self._runs: dict[int, int] = {}
        self._speakers = self._who_spoke_before()

    @cached_property
    def binding(self) -> Binding | None:
        """How the history stands to its record, `None` where there is none."""
        return bind(self.transcript, self.record) if self.record is not None else None

    def parts(self, index: int) -> tuple[Part, ...]:
        """Return the parts of one message."""
        found = self._parts.get(index)
        if found is None:
            found = self._parts[index] = self.transcript.parts_at(index)
        return found

    def end(self, index: int, ordinal: int) -> Part | None:
        """Return the part behind one link of a message."""
        linking = [part for part in self.parts(index) if _links(part)]
        return linking[ordinal] if ordinal < len(linking) else None

    def place(self, index: int, ordinal: int) -> str:
        """Return the path of one link inside its message."""
        part = self.end(index, ordinal)
        return part.path if part is not None else ""

    def _who_spoke_before(self) -> list[int]:
        """For each position, the last message before it that is no bare answer."""
        before: list[int] = []
        last = -1
        run, spoken = 0, False
        for index, fact in enumerate(self.facts):
            before.append(last)
            role = fact.role
            if role == ASSISTANT:
                run += not spoken
                self._runs[index] = run
            if role in {ASSISTANT, USER, TOOL}:
                spoken = role == ASSISTANT
            if role in {TOOL, OTHER} or (role == SYSTEM and self.adjacency == "run"):
                continue
            last = index
        return before

    def near(self, call: Occurrence, answer: int) -> bool:
        """Whether a result stands close enough to its call."""
        if self.adjacency == "order" or call.message == answer:
            return True
        speaker = self._speakers[answer]
        # In the joined view any assistant message of the same run is the same turn.
        joined = self.adjacency == "run" and self._runs.get(speaker) == self._runs.get(call.message)
        return speaker == call.message or joined

    def unanswered(self) -> Iterator[Occurrence]:
        """Yield the calls that lack a result and may not lack it.

        What the provider runs itself goes on while its turn does, whoever is called.
        """
        for call, answerable in self.groups.pairing.waiting():
            closed = self.closed and call.link.family not in PROVIDER_FAMILIES
            if call.link.kind != REQUEST and (closed or not answerable):
                yield call

    def results(self) -> Iterator[Tie]:
        """Yield how each result came out."""
        return (tie for tie in self.groups.pairing.ties if tie.link.kind == RESULT)


def _links(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return not part.hosted
    return isinstance(part, (ToolResult, ApprovalRequest, Approval))
