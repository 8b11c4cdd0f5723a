"""Drafts: a history while it is mended, message by message, with an account of every change.

Knows: how a message is replaced, put in, taken out or moved, and where the result of a call
belongs. Natives are never changed; a changed message is a new one.

Must not know: which breach is mended how (`mends`), any one format (`writing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import ASSISTANT, OTHER, SYSTEM, TOOL, USER
from lockstitch.transcript import ToolResult, Transcript
from lockstitch.writing import Writer, inside, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.facts import Facts
    from lockstitch.rules.profiles import Profile
    from lockstitch.transcript import Part
    from lockstitch.writing import Fields

__all__ = ["Change", "Draft", "Entry"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was changed.

    Args:
        kind: `restore`, `move`, `merge`, `rename`, `replace`, `synthesize`, `demote` or `drop`.
        rule: the rule whose breach it mends.
        index: the position in the input of the message it concerns, -1 for one that was made.
        path: the place in the input, `messages[3].content[1]`.
        message: what was done and why.
        before: the native message or part as it was, `None` for what was not there.
        after: as it is now, `None` for what is gone.
    """

    kind: str
    rule: str
    index: int
    path: str
    message: str
    before: Any = None
    after: Any = None


class Entry:
    """One message of a draft: its native, and where it stood in the input (-1: it was made)."""

    __slots__ = ("native", "origin", "restored", "touched")

    def __init__(self, native: Any, origin: int = -1) -> None:
        self.native = native
        self.origin = origin
        # Whether it was changed since the findings at hand were made; their paths may be wrong now.
        self.touched = False
        # Whether its turn came back from the record: only once, or two mends could go in a circle.
        self.restored = False


class Draft:
    """A history that is being mended.

    Args:
        transcript: the history as it came.
        writer: how its format is written.
        profile: the target it is mended for.
    """

    def __init__(self, transcript: Transcript, writer: Writer, profile: Profile) -> None:
        self.source = transcript
        self.format = transcript.format
        self.writer = writer
        self.profile = profile
        self.entries = [Entry(native, at) for at, native in enumerate(transcript.natives)]
        self.changes: list[Change] = []
        # Instructions taken out of the list, for the request's own field.
        self.system: list[str] = []
        # Fields of the request around the list that were given other values.
        self.request: dict[str, Any] = {}
        # Ids that were given out, by the id that they stand for.
        self.names: dict[str, str] = {}

    # --- looking ---------------------------------------------------------------------------------

    def transcript(self) -> Transcript:
        """Return the draft as a transcript, to be checked again."""
        document = self.source.document
        return Transcript(
            type(document)(
                natives=[entry.native for entry in self.entries],
                path=document.path,
                context={**document.context, **self.request},
                rebuild=document.rebuild,
            ),
            self.format,
        )

    def lonely(self, entry: Entry) -> bool:
        """Whether a message is the only one that says anything to the model."""
        return not any(
            other is not entry and self.facts(other).role not in {OTHER, SYSTEM}
            for other in self.entries
        )

    def begin(self) -> list[Entry]:
        """Start a round: findings are about to be made of the entries as they stand."""
        for entry in self.entries:
            entry.touched = False
        return list(self.entries)

    def facts(self, entry: Entry) -> Facts:
        """Return the facts of a message."""
        return self.format.facts(entry.native)

    def parts(self, entry: Entry) -> tuple[Part, ...]:
        """Return the parts of a message."""
        return self.format.parts(entry.native)

    def part(self, entry: Entry, path: str) -> Part | None:
        """Return the part of a message at a path."""
        return next((part for part in self.parts(entry) if part.path == path), None)

    def fields(self, entry: Entry) -> Fields:
        """Copy the fields of a message."""
        return self.writer.fields(entry.native)

    def place(self, entry: Entry, path: str = "") -> str:
        """Name a place in the input."""
        if entry.origin < 0:
            return path
        whole = f"{self.source.path}[{entry.origin}]"
        return f"{whole}.{path}" if path else whole

    # --- changing --------------------------------------------------------------------------------

    def note(
        self,
        kind: str,
        rule: str,
        entry: Entry,
        message: str,
        path: str = "",
        *,
        before: Any = None,
        after: Any = None,
    ) -> None:
        """Write a change into the account."""
        self.changes.append(
            Change(
                kind=kind,
                rule=rule,
                index=entry.origin,
                path=self.place(entry, path),
                message=message,
                before=before,
                after=after,
            )
        )

    def ask(self, key: str, value: Any, kind: str, rule: str, message: str) -> None:
        """Give a field of the request around the list another value, and account for it."""
        before = {**self.source.context, **self.request}.get(key)
        self.request[key] = value
        self.note(kind, rule, Entry(None), message, key, before=before, after=value)

    def rewrite(self, entry: Entry, fields: Fields) -> None:
        """Give an entry other fields."""
        entry.native = self.writer.refit(entry.native, fields)
        entry.touched = True

    def insert(self, at: int, native: Any) -> Entry:
        """Put a message in front of a position."""
        entry = Entry(native)
        entry.touched = True
        self.entries.insert(at, entry)
        return entry

    def remove(self, entry: Entry) -> None:
        """Take a message out."""
        entry.touched = True
        self.entries.remove(entry)

    def take_out(self, entry: Entry, paths: Sequence[str]) -> list[Any]:
        """Take parts out of a message, and the message with its last part; return what was taken.

        Reasoning that led to nothing that is left goes along.
        """
        fields = self.fields(entry)
        taken = [inside(fields, path) for path in paths]
        twins = [twin for path in paths for twin in self.writer.twins(fields, path)]
        kept = self.writer.tidied(without(fields, [*paths, *twins]))
        entry.touched = True
        left = self.format.parts(self.writer.refit(entry.native, kept))
        if self.writer.says_nothing(left):
            self.entries.remove(entry)
        else:
            self.rewrite(entry, kept)
        return taken

    # --- results ---------------------------------------------------------------------------------

    def take_result(self, entry: Entry, path: str) -> Any:
        """Take a result out: a block where the format packs results, else the whole message."""
        if not self.writer.packed:
            self.remove(entry)
            return entry
        return self.take_out(entry, [path])[0]

    def put_result(self, call: Entry, result: Any) -> Entry:
        """Put a result where the target expects it; return the message that holds it.

        `result` is a block where the format packs results, else a message or an entry.
        """
        at = self._after(call)
        if not self.writer.packed:
            entry = result if isinstance(result, Entry) else Entry(result)
            entry.touched = True
            self.entries.insert(at, entry)
            return entry
        beside = self.entries[at] if at < len(self.entries) else None
        if beside is not None and self._takes_results(beside):
            fields = self.fields(beside)
            blocks = self.writer.blocks(fields)
            leading = self._leading_results(beside, len(blocks))
            blocks.insert(leading, result)
            self.rewrite(beside, self.writer.with_blocks(fields, blocks))
            return beside
        return self.insert(at, self.writer.carrying([result], call.native))

    def _after(self, call: Entry) -> int:
        """Return the position behind the results that stand at a call."""
        at = self.entries.index(call) + 1
        adjacency = "run" if self.format.joins else self.profile.adjacency
        # What the assistant says once a result stands there is another run.
        answered = False
        while at < len(self.entries):
            fact = self.facts(self.entries[at])
            passes = (
                fact.role == TOOL and not self.writer.packed
                if adjacency == "message"
                else fact.role == ASSISTANT
                if adjacency == "run" and self.writer.packed
                else fact.role == TOOL
                or (fact.role == ASSISTANT and not answered and (adjacency == "run" or fact.calls))
            )
            if not passes:
                break
            answered = answered or fact.role == TOOL
            at += 1
        return at

    def _takes_results(self, entry: Entry) -> bool:
        role = self.facts(entry).role
        return role == TOOL or (role == USER and (self.writer.mixes or self._has_results(entry)))

    def _has_results(self, entry: Entry) -> bool:
        return any(isinstance(part, ToolResult) for part in self.parts(entry))

    def _leading_results(self, entry: Entry, count: int) -> int:
        leading = 0
        for part in self.parts(entry):
            if not isinstance(part, ToolResult):
                break
            leading += 1
        return min(leading, count)
