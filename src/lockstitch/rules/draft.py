"""Drafts: a history while it is mended, message by message, with an account of every change.

Knows: how a message is replaced, put in, taken out or moved, and where the result of a call
belongs. Natives are never changed; a changed message is a new one.

Must not know: which breach is mended how (`mends`), any one format (`writing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.facts import ASSISTANT, CALL, OTHER, SYSTEM, TOOL, USER
from lockstitch.rules.account import Change
from lockstitch.transcript import ToolResult, Transcript
from lockstitch.writing import Writer, first_path, inside, without

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.facts import Facts
    from lockstitch.rules.profiles import Profile
    from lockstitch.transcript import Part
    from lockstitch.writing import Fields

__all__ = ["Draft", "Entry"]


class Entry:
    """One message of a draft: its native, and where it stood in the input (-1: it was made)."""

    __slots__ = ("at", "gone", "native", "origin", "restored", "seen", "touched")

    def __init__(self, native: Any, origin: int = -1) -> None:
        self.native = native
        self.origin = origin
        # The native that the findings at hand were made of, and where it stood then.
        self.seen = native
        self.at = origin
        # Whether it was changed since; the paths of those findings may be wrong now.
        self.touched = False
        # Whether its turn came back from the record: only once, or two mends could go in a circle.
        self.restored = False
        # Whether it was taken out.
        self.gone = False


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
        # Positions of input messages that were changed and are in no change yet.
        self._unnamed: dict[int, None] = {}
        # By how much messages stand further down than when the round began, roughly.
        self._shift = 0

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
        for at, entry in enumerate(self.entries):
            entry.touched = False
            entry.seen = entry.native
            entry.at = at
        self._shift = 0
        return list(self.entries)

    def position(self, entry: Entry) -> int:
        """Return where a message stands now.

        It is looked for from where it stood outwards, so a round of many changes stays linear.

        Raises:
            ValueError: it was taken out.
        """
        entries = self.entries
        guess = entry.at + self._shift
        for away in range(len(entries) + abs(guess) + 1):
            for at in (guess - away, guess + away):
                if 0 <= at < len(entries) and entries[at] is entry:
                    return at
        raise ValueError("the message is not in the draft any more")

    def facts(self, entry: Entry) -> Facts:
        """Return the facts of a message."""
        return self.format.facts(entry.native)

    def parts(self, entry: Entry) -> tuple[Part, ...]:
        """Return the parts of a message."""
        return self.format.parts(entry.native)

    def fields(self, entry: Entry) -> Fields:
        """Copy the fields of a message."""
        return self.writer.fields(entry.native)

    def place(self, entry: Entry, path: str = "") -> str:
        """Name the place in the input that a path of the findings at hand leads to.

        A part that stood elsewhere in the message at first is found again; one that was not in it
        is named by its message.
        """
        if entry.origin < 0:
            return ""
        whole = f"{self.source.path}[{entry.origin}]"
        native = self.source.natives[entry.origin]
        if path:
            path = first_path(self.writer.fields(native), self.writer.fields(entry.seen), path)
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
        self._unnamed.pop(entry.origin, None)
        self.changes.append(
            Change(
                kind=kind,
                rule=rule,
                index=entry.origin,
                path=self.place(entry, path),
                message=message,
                before=before,
                after=after,
                related=tuple(self._unnamed),
            )
        )
        self._unnamed.clear()

    def _touch(self, entry: Entry) -> None:
        entry.touched = True
        if entry.origin >= 0:
            self._unnamed[entry.origin] = None

    def ask(self, key: str, value: Any, kind: str, rule: str, message: str) -> None:
        """Give a field of the request around the list another value, and account for it."""
        before = {**self.source.context, **self.request}.get(key)
        self.request[key] = value
        self.note(kind, rule, Entry(None), message, key, before=before, after=value)

    def rewrite(self, entry: Entry, fields: Fields) -> None:
        """Give an entry other fields."""
        self.replace(entry, self.writer.refit(entry.native, fields))

    def replace(self, entry: Entry, native: Any) -> None:
        """Put another message in the place of one."""
        entry.native = native
        self._touch(entry)

    def insert(self, at: int, native: Any) -> Entry:
        """Put a message in front of a position."""
        return self._place(at, Entry(native))

    def _place(self, at: int, entry: Entry) -> Entry:
        self._touch(entry)
        entry.gone = False
        self.entries.insert(at, entry)
        self._shift += 1
        entry.at = at - self._shift
        return entry

    def move(self, entry: Entry, at: int) -> None:
        """Move a message to a position, counted without it."""
        self.remove(entry)
        self._place(at, entry)

    def move_behind(self, entry: Entry, other: Entry) -> None:
        """Move a message right behind another one."""
        self.remove(entry)
        self._place(self.position(other) + 1, entry)

    def remove(self, entry: Entry) -> None:
        """Take a message out."""
        del self.entries[self.position(entry)]
        self._touch(entry)
        entry.gone = True
        self._shift -= 1

    def take_out(self, entry: Entry, paths: Sequence[str]) -> list[Any]:
        """Take parts out of a message, and the message with its last part; return what was taken.

        Reasoning that led to nothing that is left goes along.
        """
        fields = self.fields(entry)
        taken = [inside(fields, path) for path in paths]
        twins = [twin for path in paths for twin in self.writer.twins(fields, path)]
        kept = self.writer.tidied(without(fields, [*paths, *twins]))
        left = self.format.parts(self.writer.refit(entry.native, kept))
        if self.writer.says_nothing(left):
            self.remove(entry)
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
            return self._place(at, result if isinstance(result, Entry) else Entry(result))
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
        at = self.position(call) + 1
        if self.format.joins or self.profile.adjacency != "message":
            at = self._after_turn(at, self._asked(call))
        while (
            not self.writer.packed
            and at < len(self.entries)
            and self.facts(self.entries[at]).role == TOOL
        ):
            at += 1
        return at

    def _asked(self, entry: Entry) -> set[str | None]:
        return {link.id for link in self.facts(entry).ends if link.kind == CALL}

    def _after_turn(self, at: int, ids: set[str | None]) -> int:
        """Pass what else the model said in the turn, as far as results must come behind it.

        That is all of it where results stand there; else up to its last call, so that no result
        parts two calls that were made at once. A call of the same id is never passed: only the
        result between them tells the two apart.
        """
        calls = at
        while at < len(self.entries):
            fact = self.facts(self.entries[at])
            if fact.role not in {ASSISTANT, SYSTEM, OTHER}:
                break
            if not ids.isdisjoint(self._asked(self.entries[at])):
                return calls
            at += 1
            if fact.calls and fact.role == ASSISTANT:
                calls = at
        answered = at < len(self.entries) and self._has_results(self.entries[at])
        return at if answered else calls

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
