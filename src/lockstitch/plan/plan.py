"""Plans: a decision as inert data.

Knows: the edits, sizes before and after, and what the decision was made for. A plan's size follows
what is kept, not the history. It serialises, it can be shown before it is taken, and it refuses
messages that it was not made for.

Must not know: how the decision was reached, how it is carried out (`applying`).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import FormatError
from lockstitch.plan.edits import Edit, Size, StepReport
from lockstitch.plan.pending import PendingSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lockstitch.transcript import Transcript

__all__ = ["Plan", "fingerprint", "phrase_with"]


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
        strategy: the kind of the directive it was made by; empty where limits alone were given.
        fired: why anything was done, one entry for each limit that was passed.
        steps: what each step came to, as far as they were taken.
        pending: the summary that is still to be written; `apply` wants it in.
        request: fields of the request around the list that the provider's own management takes.

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
    strategy: str = ""
    fired: tuple[str, ...] = ()
    steps: tuple[StepReport, ...] = ()
    pending: PendingSummary | None = None
    request: dict[str, Any] = {}

    @property
    def kept(self) -> list[int]:
        """The positions that stay, in order."""
        return [
            at
            for edit in self.edits
            if edit.action not in {"drop", "insert"}
            for at in range(edit.start, edit.stop)
        ]

    @property
    def inserted(self) -> list[str]:
        """What is said by messages that are put in, in order."""
        return [edit.text for edit in self.edits if edit.action == "insert"]

    @property
    def replaced(self) -> list[int]:
        """The positions that stay with something put in the place of a part of them, in order."""
        return [edit.start for edit in self.edits if edit.action == "replace"]

    @property
    def stripped(self) -> list[int]:
        """The positions that stay without the reasoning in them, in order."""
        return [
            at
            for edit in self.edits
            if edit.action == "strip"
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
        """Whether anything goes, messages or the reasoning in them."""
        return any(edit.action != "keep" for edit in self.edits)

    def summarized(self, text: str) -> Plan:
        """Put the text of the summary in, and return the plan that can be applied.

        Raises:
            ValueError: no summary is pending, or the text is blank, or longer than what was
                reserved for it, or than what it stands for.
        """
        if self.pending is None:
            raise ValueError("no summary is pending in this plan")
        said = self.pending.worded(text)
        edits = tuple(
            msgspec.structs.replace(edit, text=said) if edit.reason == "summary" else edit
            for edit in self.edits
        )
        return msgspec.structs.replace(self, edits=edits, pending=None)

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
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
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
        if edit.action not in {"drop", "insert"}:
            for at in range(edit.start, edit.stop):
                facts = f"{at}:{transcript.facts_at(at)!r}"
                digest.update(facts.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
