"""Checks of what Chat Completions demands beyond calls and results: roles, media, batches, text.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from lockstitch.facts import ASSISTANT, CALL, SYSTEM, TOOL, USER
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.rules.checks.links import unanswered
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Media, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BATCH",
    "arguments_not_text",
    "audio_refused",
    "developer_refused",
    "large_batch",
    "media_in_result",
    "reused_id",
    "system_refused",
    "unanswered_too",
]

BATCH: Final = 128
"""How many calls one message may hold."""


def large_batch(view: View) -> Iterator[Finding]:
    """Find messages with more calls than one may hold."""
    for index, fact in enumerate(view.facts):
        count = len(fact.asks) or sum(link.kind == CALL for link in fact.links)
        if count > BATCH:
            yield Finding(
                index,
                f"the message holds {count} calls, and {BATCH} are taken: part it in several",
                "tool_calls",
            )


def arguments_not_text(view: View) -> Iterator[Finding]:
    """Find arguments that are an object where JSON text is wanted."""
    for index, fact in enumerate(view.facts):
        if not fact.calls:
            continue
        for part in view.parts(index):
            if (
                isinstance(part, ToolCall)
                and part.arguments is not None
                and not isinstance(part.arguments, str)
            ):
                yield Finding(
                    index, "the arguments are no text: write them as JSON text", part.path
                )


def media_in_result(view: View) -> Iterator[Finding]:
    """Find results that hold anything but text."""
    for index, fact in enumerate(view.facts):
        if fact.role != TOOL:
            continue
        content = mapping(view.transcript.natives[index]).get("content")
        if not isinstance(content, (list, tuple)):
            continue
        if any(block.get("type") not in {"text", "refusal"} for block in blocks_of(content)):
            yield Finding(
                index,
                "a result holds media: move it to a user message after the results",
                "content",
            )


def audio_refused(view: View) -> Iterator[Finding]:
    """Find sound, where the model is known to refuse it."""
    # Of a model that nothing is known of, nothing is said.
    if not view.known.get("no_audio"):
        return
    for index, fact in enumerate(view.facts):
        if fact.role == USER:
            for part in view.parts(index):
                if isinstance(part, Media) and part.kind in {"audio", "input_audio"}:
                    yield Finding(index, "this model takes no sound: leave it out", part.path)


def _of_role(view: View, role: str) -> Iterator[int]:
    for index, fact in enumerate(view.facts):
        if fact.role == SYSTEM and mapping(view.transcript.natives[index]).get("role") == role:
            yield index


def system_refused(view: View) -> Iterator[Finding]:
    """Find messages of the role system.

    Few models refuse it; where the model is not known, that is said when it is about to be called.
    """
    if "no_system" not in view.known and not view.closed:
        return
    for index in _of_role(view, "system"):
        yield Finding(index, "the role system may be refused: say developer, or user", "role")


def developer_refused(view: View) -> Iterator[Finding]:
    """Find messages of the role developer, where the model is known to refuse it."""
    # Nearly every model takes it; of one that nothing is known of, nothing is said.
    if view.known.get("no_developer"):
        for index in _of_role(view, "developer"):
            yield Finding(index, "the role developer is refused: say it as the user", "role")


def reused_id(view: View) -> Iterator[Finding]:
    """Find ids that a later call has again."""
    first: dict[object, int] = {}
    for call in view.groups.pairing.calls:
        if call.link.id is None or call.link.kind != CALL:
            continue
        before = first.setdefault(call.link.key, call.message)
        if before != call.message and view.facts[call.message].role == ASSISTANT:
            yield Finding(
                call.message,
                f"the id {call.link.id} was used before, for another call",
                view.place(call.message, call.ordinal),
                (before,),
            )


def unanswered_too(view: View) -> Iterator[Finding]:
    """Find calls without a result once more, for a rule that repeats another one's demand."""
    return (msgspec.structs.replace(finding, maybe=True) for finding in unanswered(view))
