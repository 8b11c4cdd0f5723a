"""Compaction: a strategy of ours where agent-framework takes a `CompactionStrategy`.

Knows: the framework's contract. A strategy is awaited with the list, says what the model is not to
see by a flag on the message, puts summaries into the list, and returns whether it changed anything.
Both halves of a decision, what is left out and the summary that stands for it, are written in one
go, after everything that can fail.

    dropped        the message is flagged as excluded, with the reason of the plan
    summarised     flagged too, and linked with the summary that stands in the list
    changed        a copy takes the place of the message in the list; what it held before is kept in
                   the copy under `_lockstitch_before`, which no client sends

Must not know: how anything is decided (`directing`), who writes a summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.blobs import write_blobs
from lockstitch.directing import Direction
from lockstitch.errors import MissingExtra
from lockstitch.events import telling
from lockstitch.grouping import group, ties_for
from lockstitch.opening import Opened
from lockstitch.plan.applying import put_in, said_in
from lockstitch.strategies.asking import answered_async
from lockstitch.strategies.digesting import digest
from lockstitch.strategies.directive import HistoryDirective
from lockstitch.writing import stripped

try:
    from agent_framework import (
        EXCLUDE_REASON_KEY,
        EXCLUDED_KEY,
        GROUP_ANNOTATION_KEY,
        GROUP_HAS_REASONING_KEY,
        GROUP_ID_KEY,
        GROUP_INDEX_KEY,
        GROUP_KIND_KEY,
        SUMMARIZED_BY_SUMMARY_ID_KEY,
        SUMMARY_OF_GROUP_IDS_KEY,
        SUMMARY_OF_MESSAGE_IDS_KEY,
    )
except ImportError:
    raise MissingExtra("agent-framework", package="agent-framework-core") from None

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from agent_framework import Message

    from lockstitch.blobs import BlobStore
    from lockstitch.plan import Plan
    from lockstitch.plan.edits import Edit
    from lockstitch.rules.models import ModelFacts
    from lockstitch.strategies.asking import AsyncSummarizer
    from lockstitch.strategies.named import HistoryStrategy
    from lockstitch.strategies.pins import Pinning

__all__ = ["BEFORE", "LockstitchCompaction"]

_FORMAT: Final = "agent-framework"
BEFORE: Final = "_lockstitch_before"
"""Under this additional property a changed message keeps the contents that it had."""


class LockstitchCompaction:
    """Any strategy of ours as a compaction strategy of agent-framework.

    Args:
        strategy: what decides; without one, the limits do.
        max_messages: limits as for `lockstitch.trim`; they overrule those of the strategy.
        max_tokens: as for `trim`.
        max_chars: as for `trim`.
        trim_to: as for `trim`.
        profile: the acceptance rules of the target.
        cut: as for `trim`.
        pins: as for `trim`; a position is one among the messages that are not excluded.
        counter: as for `trim`.
        reserve: as for `trim`.
        floor: as for `trim`.
        on_overflow: as for `trim`; by default the smallest window is kept, for a run must go on.
        model: as for `trim`.
        models: as for `trim`.
        summarizer: who writes a summary that the strategy asks for; may be awaited. Where it fails,
            the history is cut without one, as far as limits demand.
        blobs: as for `trim`.

    Raises:
        MissingExtra: agent-framework is not installed.
        ConversationServiceError, TypeError, ValueError: as `trim`.

    >>> import asyncio
    >>> from agent_framework import Message, apply_compaction
    >>> chat = [Message("user", ["1"]), Message("assistant", ["2"]), Message("user", ["3"])]
    >>> kept = asyncio.run(apply_compaction(chat, strategy=LockstitchCompaction(max_messages=1)))
    >>> [message.text for message in kept], len(chat)
    (['3'], 3)
    """

    def __init__(
        self,
        strategy: HistoryStrategy | None = None,
        *,
        max_messages: int | None = None,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        trim_to: int | None = None,
        profile: str = "portable",
        cut: str = "groups",
        pins: Collection[Pinning] = (),
        counter: Any = None,
        reserve: int = 0,
        floor: bool = True,
        on_overflow: str = "smallest",
        model: str | None = None,
        models: Iterable[ModelFacts] = (),
        summarizer: AsyncSummarizer = digest,
        blobs: BlobStore | None = None,
    ) -> None:
        self.strategy = HistoryDirective(kind="null") if strategy is None else strategy
        self.overrides: dict[str, Any] = {
            "window_messages": max_messages,
            "max_tokens": max_tokens,
            "max_chars": max_chars,
            "trim_to": trim_to,
            "reserve": reserve or None,
            "cut": None if cut == "groups" else cut,
            "on_overflow": on_overflow,
        }
        self.options: dict[str, Any] = {
            "profile": profile,
            "pins": tuple(pins),
            "counter": counter,
            "floor": floor,
            "model": model,
            "models": tuple(models),
        }
        self.summarizer = summarizer
        self.blobs = blobs
        # A strategy that is none, or a limit that is none, is told here and not in the first run.
        Direction(
            Opened([], _FORMAT), self.strategy, self.overrides, **{**self.options, "pins": ()}
        )

    async def __call__(self, messages: list[Message]) -> bool:
        """Compact the list in place; return whether anything was changed."""
        changed = self._include_whole_groups(messages)
        shown = [at for at, message in enumerate(messages) if not _is_excluded(message)]
        with telling("compact", failing=True) as told:
            way = self._direction([messages[at] for at in shown])
            decision, failure = await answered_async(way.finishing(), self.summarizer)
            write_blobs(decision, way.transcript, self.blobs)
            told.event = way.event(told, "compact", decision, failure)
            written = _Written(messages, shown, way)
            return written.carry_out(decision) or changed

    def _direction(self, shown: list[Message]) -> Direction:
        return Direction(Opened(shown, _FORMAT), self.strategy, self.overrides, **self.options)

    def _include_whole_groups(self, messages: list[Message]) -> bool:
        """Take a group back in of which a part is shown: a late result brings its call along."""
        transcript = Opened(messages, _FORMAT).transcript
        changed = False
        for unit in group(transcript.facts_from(0), 0, ties_for(transcript)):
            excluded = [at for at in unit.members if _is_excluded(messages[at])]
            if excluded and len(excluded) < len(unit.members):
                changed = True
                for at in excluded:
                    messages[at].additional_properties[EXCLUDED_KEY] = False
        return changed


class _Written:
    """A decision about the shown messages, written into the list that they stand in."""

    def __init__(self, messages: list[Message], shown: list[int], way: Direction) -> None:
        self.messages = messages
        self.shown = shown
        self.transcript = way.transcript

    def carry_out(self, decision: Plan) -> bool:
        """Write every edit of a plan; return whether there was one that changes anything."""
        edits = [edit for edit in decision.edits if edit.action != "keep"]
        summary = self._summary(edits)
        for edit in edits:
            for at in self.shown[edit.start : edit.stop]:
                if edit.action == "drop":
                    self._exclude(at, edit.reason, summary)
                else:
                    self._change(at, edit)
        for edit in reversed(edits):
            if edit.action == "insert":
                self._insert(edit, summary)
        if edits:
            self._forget_reasoning()
        return bool(edits)

    def _forget_reasoning(self) -> None:
        """Say of no group that it has reasoning, of which none is shown: clients refuse that."""
        shown = [message for message in self.messages if not _is_excluded(message)]
        thinking = {_annotation(one).get(GROUP_ID_KEY) for one in shown if _thinks(one)}
        for message in shown:
            annotation = _annotation(message)
            if annotation.get(GROUP_HAS_REASONING_KEY) and (
                annotation.get(GROUP_ID_KEY) not in thinking
            ):
                annotation[GROUP_HAS_REASONING_KEY] = False
                message.additional_properties[GROUP_ANNOTATION_KEY] = annotation

    def _summary(self, edits: Iterable[Edit]) -> Message | None:
        """Make the message of the summary that a plan puts in, `None` where it puts in none."""
        made = next((edit for edit in edits if edit.reason == "summary"), None)
        if made is None:
            return None
        message: Message = said_in(self.transcript, made.role, made.text)
        known = {one.message_id for one in self.messages}
        number = len(self.messages)
        while f"summary_{number}" in known:
            number += 1
        message.message_id = f"summary_{number}"
        return message

    def _exclude(self, at: int, reason: str, summary: Message | None) -> None:
        message = self.messages[at]
        message.additional_properties[EXCLUDED_KEY] = True
        message.additional_properties[EXCLUDE_REASON_KEY] = f"lockstitch_{reason}"
        if summary is None or reason not in _SUMMARISED:
            return
        annotation = _annotation(message)
        annotation[SUMMARIZED_BY_SUMMARY_ID_KEY] = summary.message_id
        message.additional_properties[GROUP_ANNOTATION_KEY] = annotation
        links = _annotation(summary)
        for key, name in (
            (SUMMARY_OF_MESSAGE_IDS_KEY, message.message_id),
            (SUMMARY_OF_GROUP_IDS_KEY, annotation.get(GROUP_ID_KEY)),
        ):
            held = links.setdefault(key, [])
            if name is not None and name not in held:
                held.append(name)
        summary.additional_properties[GROUP_ANNOTATION_KEY] = links

    def _change(self, at: int, edit: Edit) -> None:
        """Put a changed copy in the place of a message."""
        message = self.messages[at]
        form = self.transcript.format
        if edit.action == "strip":
            copied: Message = stripped(message, form)
        else:
            copied = put_in(message, form, edit.puts, bare=edit.bare)
        before = [content.to_dict() for content in message.contents]
        copied.additional_properties = {BEFORE: before, **message.additional_properties}
        annotation = _annotation(message)
        # What was counted was said of the message as it was.
        annotation = {key: value for key, value in annotation.items() if key not in _COUNTED}
        if annotation:
            copied.additional_properties[GROUP_ANNOTATION_KEY] = annotation
        self.messages[at] = copied

    def _insert(self, edit: Edit, summary: Message | None) -> None:
        if edit.reason == "summary" and summary is not None:
            made = summary
        else:
            made = said_in(self.transcript, edit.role, edit.text)
        at = self.shown[edit.start] if edit.start < len(self.shown) else len(self.messages)
        index = -1
        for message in self.messages:
            index = max(index, _annotation(message).get(GROUP_INDEX_KEY) or 0)
        made.additional_properties[GROUP_ANNOTATION_KEY] = {
            GROUP_ID_KEY: f"group_{made.message_id or len(self.messages)}",
            GROUP_KIND_KEY: "user" if made.role == "user" else "assistant_text",
            GROUP_INDEX_KEY: index + 1,
            GROUP_HAS_REASONING_KEY: False,
            **_annotation(made),
        }
        made.additional_properties[EXCLUDED_KEY] = False
        self.messages.insert(at, made)


# The reasons of a plan under which a message is in the summary.
_SUMMARISED: Final = frozenset({"summarized", "superseded"})
_COUNTED: Final = frozenset({"token_count", "token_count_basis"})


def _is_excluded(message: Message) -> bool:
    return bool(message.additional_properties.get(EXCLUDED_KEY, False))


def _thinks(message: Message) -> bool:
    return any(content.type == "text_reasoning" for content in message.contents)


def _annotation(message: Message) -> dict[str, Any]:
    """Copy what the framework notes about a message's group."""
    held = message.additional_properties.get(GROUP_ANNOTATION_KEY)
    return dict(held) if isinstance(held, dict) else {}
