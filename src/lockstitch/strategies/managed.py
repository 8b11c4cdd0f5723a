"""Management on the provider's side: what it is asked to do, and what it says that it did.

Knows: the request fields of Anthropic's context editing and compaction and of OpenAI's compaction
and truncation; the reports in their answers; and that what a compaction stands for need not be sent
again.

Must not know: limits; how anything is cleared on this side.

Source: Claude documentation, context editing and compaction; OpenAI documentation, compaction;
types of the anthropic and openai SDKs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.formats.base import mapping
from lockstitch.strategies.keeping import head_of
from lockstitch.strategies.steps import (
    AnthropicCompaction,
    AnthropicEditing,
    OpenAICompaction,
    OpenAITruncation,
)
from lockstitch.transcript import Opaque

if TYPE_CHECKING:
    from lockstitch.strategies.asked import Asked
    from lockstitch.strategies.steps import Step
    from lockstitch.strategies.working import Working
    from lockstitch.transcript import Transcript

__all__ = [
    "BETAS",
    "MANAGED",
    "ProviderReport",
    "drop_compacted",
    "managed_for",
    "newest_compaction",
    "read_answer",
    "request_fields",
]

MANAGED: Final = (AnthropicEditing, AnthropicCompaction, OpenAICompaction, OpenAITruncation)
BETAS: Final = {
    "clear_tool_uses_20250919": "context-management-2025-06-27",
    "clear_thinking_20251015": "context-management-2025-06-27",
    "compact_20260112": "compact-2026-01-12",
}
"""The header `anthropic-beta` that each kind of edit wants."""
_THINKING: Final = "clear_thinking_20251015"
_FORMAT: Final[dict[type, str]] = {
    AnthropicEditing: "anthropic",
    AnthropicCompaction: "anthropic",
    OpenAICompaction: "openai-responses",
    OpenAITruncation: "openai-responses",
}


class ProviderReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider says that it did to the history before the model saw it.

    Args:
        cleared_tool_uses: how many tool uses it cleared.
        cleared_thinking_turns: of how many turns it cleared the thinking.
        cleared_tokens: input tokens that this saved.
        dropped_thinking: how many thinking blocks it dropped as bound to another history.
        compacted: whether its answer carries a compaction.
        truncated: whether it may have left items out, which it does not report.

    >>> ProviderReport().changed
    False
    """

    cleared_tool_uses: int = 0
    cleared_thinking_turns: int = 0
    cleared_tokens: int = 0
    dropped_thinking: int = 0
    compacted: bool = False
    truncated: bool = False

    @property
    def changed(self) -> bool:
        """Whether the model saw something else than what was sent."""
        return self != ProviderReport()


def managed_for(step: Step, format: str, profile: str) -> str:
    """Say why a step of the provider's goes neither with the format nor with the target.

    Messages of plain text are of many formats; then it is the target that tells.
    """
    wanted = _FORMAT[type(step)]
    return "" if wanted in (format, profile) else f"for the target {wanted}"


def request_fields(steps: Sequence[Step], transcript: Transcript, profile: str) -> dict[str, Any]:
    """Return the fields of the request that ask the provider for what the steps say.

    What the request asks for itself stays, but for edits of the same type.
    """
    fitting = [
        step
        for step in steps
        if isinstance(step, MANAGED) and not managed_for(step, transcript.format.name, profile)
    ]
    edits: list[dict[str, Any]] = []
    fields: dict[str, Any] = {}
    for step in fitting:
        if isinstance(step, AnthropicEditing):
            edits += _editing(step)
        elif isinstance(step, AnthropicCompaction):
            edits.append(_compaction(step))
        elif isinstance(step, OpenAICompaction):
            compaction = {"type": "compaction", "compact_threshold": step.threshold_tokens}
            held = transcript.context.get("context_management")
            fields["context_management"] = [*_others(held, [compaction]), compaction]
        else:
            fields["truncation"] = "auto"
    if edits:
        held = transcript.context.get("context_management")
        given = mapping(held) if isinstance(held, Mapping) else {}
        edits = [*_others(given.get("edits"), edits), *edits]
        # The provider wants thinking to be cleared before anything else.
        edits.sort(key=lambda edit: edit["type"] != _THINKING)
        fields["context_management"] = {**given, "edits": edits}
    return fields


def _others(held: Any, ours: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the edits that a request asks for itself and that ours do not replace."""
    types = {edit["type"] for edit in ours}
    given: Sequence[Any] = held if isinstance(held, (list, tuple)) else ()
    return [edit for edit in given if mapping(edit).get("type") not in types]


def _editing(step: AnthropicEditing) -> list[dict[str, Any]]:
    edits: list[dict[str, Any]] = []
    if step.keep_thinking_turns is not None:
        kept = {"type": "thinking_turns", "value": step.keep_thinking_turns}
        edits.append({"type": _THINKING, "keep": kept})
    if step.keep_tool_uses is None:
        return edits
    edit: dict[str, Any] = {
        "type": "clear_tool_uses_20250919",
        "keep": {"type": "tool_uses", "value": step.keep_tool_uses},
    }
    if step.trigger_tokens is not None:
        edit["trigger"] = {"type": "input_tokens", "value": step.trigger_tokens}
    if step.clear_at_least is not None:
        edit["clear_at_least"] = {"type": "input_tokens", "value": step.clear_at_least}
    if step.exclude:
        edit["exclude_tools"] = list(step.exclude)
    if step.clear_inputs:
        edit["clear_tool_inputs"] = True
    return [*edits, edit]


def _compaction(step: AnthropicCompaction) -> dict[str, Any]:
    edit: dict[str, Any] = {
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": step.trigger_tokens},
    }
    if step.pause:
        edit["pause_after_compaction"] = True
    if step.instructions:
        edit["instructions"] = step.instructions
    return edit


def drop_compacted(work: Working, asked: Asked) -> int:
    """Drop what the newest compaction stands for: every whole group before it, but for pins.

    Where the provider holds the conversation it must not be thinned out on this side.
    """
    if work.source.server_held:
        return 0
    at = newest_compaction(work.transcript)
    head = head_of(work)
    gone = {
        member: "compacted"
        for unit in asked.groups(work)
        if unit.members[-1] < at
        and unit.first >= head
        and not any(work.rows[member].origin in asked.pinned for member in unit.members)
        for member in unit.members
    }
    work.drop(gone)
    return len(gone)


def newest_compaction(transcript: Transcript) -> int:
    """Return where the newest compaction stands, -1 where there is none."""
    for at in range(len(transcript) - 1, -1, -1):
        for part in transcript.parts_at(at):
            if isinstance(part, Opaque) and part.type == "compaction" and _stands(part.value):
                return at
    return -1


def _stands(value: Any) -> bool:
    """Whether a compaction stands for anything: one that failed says null and nothing else."""
    held = mapping(value)
    return bool(held.get("encrypted_content") or held.get("content"))


def read_answer(answer: Any) -> ProviderReport:
    """Read in a provider's answer what it did to the history.

    Args:
        answer: the response of Anthropic's Messages API or of OpenAI's Responses API, as an SDK
            object or a mapping.

    Raises:
        FormatError: it is neither.

    >>> edits = [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8}]
    >>> read_answer({"content": [], "context_management": {"applied_edits": edits}})
    ProviderReport(cleared_tool_uses=8, cleared_thinking_turns=0, cleared_tokens=0, \
dropped_thinking=0, compacted=False, truncated=False)
    """
    held = mapping(answer)
    managed = held.get("context_management")
    applied = mapping(managed).get("applied_edits") if isinstance(managed, Mapping) else None
    edits = [mapping(edit) for edit in applied or ()]
    written = [mapping(one) for one in (held.get("content") or held.get("output") or ())]
    changed = [mapping(one) for one in held.get("input_transformations") or ()]
    return ProviderReport(
        cleared_tool_uses=_sum(edits, "cleared_tool_uses"),
        cleared_thinking_turns=_sum(edits, "cleared_thinking_turns"),
        cleared_tokens=_sum(edits, "cleared_input_tokens"),
        dropped_thinking=len(changed),
        compacted=any(one.get("type") == "compaction" for one in written),
        truncated=held.get("truncation") == "auto",
    )


def _sum(edits: Sequence[Mapping[str, Any]], key: str) -> int:
    return sum(int(edit.get(key) or 0) for edit in edits)
