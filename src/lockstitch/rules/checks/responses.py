"""Checks of the shape of Responses items: fields that must be there, blocks, order, files.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT, TOOL
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.rules.checks.item_ids import kind_of
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "message_among_calls",
    "output_without_id",
    "refused_file",
    "summary_missing",
    "trigger_not_last",
    "wrong_block",
]

_MODELS: Final = frozenset({"output_text", "refusal"})
_USERS: Final = frozenset({"input_text", "input_image", "input_file", "input_audio"})


def summary_missing(view: View) -> Iterator[Finding]:
    """Find reasoning items without their summary, which may be empty and not absent."""
    for index, fact in enumerate(view.facts):
        if fact.reasoning:
            item = mapping(view.transcript.natives[index])
            if kind_of(item) == "reasoning" and item.get("summary") is None:
                yield Finding(index, "the reasoning has no summary: write an empty list", "summary")


def output_without_id(view: View) -> Iterator[Finding]:
    """Find outputs that name no call."""
    for tie in view.results():
        if tie.link.id is None and view.facts[tie.message].role == TOOL:
            yield Finding(
                tie.message,
                "the output names no call: give it the call_id, or keep it as a note",
                view.place(tie.message, tie.ordinal),
            )


def wrong_block(view: View) -> Iterator[Finding]:
    """Find content blocks of the other side: the model's in a user message, or the reverse."""
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        content = item.get("content")
        if kind_of(item) != "message" or not isinstance(content, (list, tuple)):
            continue
        wrong = _USERS if item.get("role") == ASSISTANT else _MODELS
        for at, block in enumerate(blocks_of(content)):
            kind = str(block.get("type"))
            if kind in wrong or kind == "text":
                said = f"a block of the type {block['type']} does not stand under this role"
                yield Finding(index, f"{said}: write it as the role's own", f"content[{at}]")


def trigger_not_last(view: View) -> Iterator[Finding]:
    """Find the trigger of a compaction anywhere but at the end."""
    for index, native in enumerate(view.transcript.natives[:-1]):
        if mapping(native).get("type") == "compaction_trigger":
            yield Finding(index, "the trigger of a compaction is not the last item: move it there")


def message_among_calls(view: View) -> Iterator[Finding]:
    """Find messages of the model between a call and its output."""
    answers = {call.message: call.answer for call in view.groups.pairing.calls if call.answer >= 0}
    first, end = -1, -1
    for index, fact in enumerate(view.facts):
        if index in answers:
            first, end = (index if index > end else first), max(end, answers[index])
        elif (
            index < end
            and fact.role == ASSISTANT
            and not fact.reasoning
            and kind_of(mapping(view.transcript.natives[index])) == "message"
        ):
            yield Finding(
                index,
                "a message stands between a call and its output: move it in front of the call",
                "",
                (first,),
            )


def refused_file(view: View) -> Iterator[Finding]:
    """Find files of sound or video, which are not taken as files."""
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        for key in ("content", "output"):
            held = item.get(key)
            if not isinstance(held, (list, tuple)) or not held:
                continue
            for at, block in enumerate(held):
                kind = _media_type(block)
                if kind.startswith(("audio/", "video/")):
                    said = f"a file of the type {kind} is not taken: leave it out"
                    yield Finding(index, said, f"{key}[{at}]")


def _media_type(block: Any) -> str:
    fields = mapping(block) if not isinstance(block, str) else {}
    data = fields.get("file_data") if fields.get("type") == "input_file" else None
    return data[5:].partition(";")[0] if isinstance(data, str) and data[:5] == "data:" else ""
