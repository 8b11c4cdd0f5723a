"""Checks: every predicate by the name the catalogue uses.

A check takes a `View` of the history and yields `Finding`s; which rule a finding belongs to, how
grave it is and what the provider says is the catalogue's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lockstitch.facts import CLIENT_FAMILIES
from lockstitch.rules.checks import anthropic, content, images, links, order, thinking
from lockstitch.rules.view import Finding, View

__all__ = ["CHECKS", "Check"]

Check = Callable[[View], Iterator[Finding]]


def _among(
    check: Callable[[View, tuple[str, ...] | None], Iterator[Finding]], *families: str
) -> Check:
    return lambda view: check(view, families)


CHECKS: Final[dict[str, Check]] = {
    "blank_text": content.blank_text,
    "call_of_another_role": links.call_of_another_role,
    "displaced_result": links.displaced_result,
    "duplicate_item": order.duplicate_item,
    "duplicate_result": links.duplicate_result,
    "empty_content": content.empty_content,
    "empty_message": content.empty_message,
    "empty_text_block": content.empty_text_block,
    "empty_tool_calls": content.empty_tool_calls,
    "first_not_user": order.first_not_user,
    "lone_reasoning": order.lone_reasoning,
    "lone_surrogate": content.lone_surrogate,
    "no_messages": order.no_messages,
    "null_content": content.null_content,
    "orphan_approval": links.orphan_approval,
    "orphan_client_result": _among(links.orphans, *CLIENT_FAMILIES),
    "orphan_result": links.orphans,
    "orphan_server_result": _among(links.orphans, "server", "mcp"),
    "partly_answered_batch": links.partly_answered_batch,
    "repeated_id_in_turn": links.repeated_id_in_turn,
    "result_before_call": links.result_before_call,
    "result_not_first": content.result_not_first,
    "system_first": order.system_first,
    "system_misplaced": order.system_misplaced,
    "unanswered_call": links.unanswered,
    "unanswered_computer": _among(links.unanswered, "computer"),
    "unanswered_custom": _among(links.unanswered, "custom_tool"),
    "unanswered_function": _among(links.unanswered, "function", "tool_search"),
    "unanswered_local_shell": _among(links.unanswered, "local_shell"),
    "unanswered_mcp": _among(links.unanswered, "mcp"),
    "unanswered_shell": _among(links.unanswered, "shell", "apply_patch"),
    "unsigned_thinking": content.unsigned_thinking,
    # Anthropic messages.
    "abandoned_server_use": anthropic.abandoned_server_use,
    "altered_thinking": thinking.altered_thinking,
    "assistant_last": anthropic.assistant_last,
    "empty_compaction": anthropic.empty_compaction,
    "empty_error_result": anthropic.empty_error_result,
    "filtered_turn": thinking.filtered_turn,
    "foreign_signature": thinking.foreign_signature,
    "large_image_among_many": images.large_image_among_many,
    "marker_misplaced": anthropic.marker_misplaced,
    "odd_call_id": anthropic.odd_call_id,
    "odd_call_name": anthropic.odd_call_name,
    "request_changed": thinking.request_changed,
    "request_too_big": anthropic.request_too_big,
    "system_inside": anthropic.system_inside,
    "thinking_absent": thinking.thinking_absent,
    "thinking_at_end": thinking.thinking_at_end,
    "thinking_leads": thinking.thinking_leads,
    "thinking_removed_amid": thinking.thinking_removed_amid,
    "thinking_unbound": thinking.thinking_unbound,
    "too_many_markers": anthropic.too_many_markers,
    "too_many_messages": anthropic.too_many_messages,
    "tools_undefined": anthropic.tools_undefined,
    "unanswered_server": anthropic.unanswered_server,
    "white_space_at_end": anthropic.white_space_at_end,
}
