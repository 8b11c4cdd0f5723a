"""Checks: every predicate by the name the catalogue uses.

A check takes a `View` of the history and yields `Finding`s; which rule a finding belongs to, how
grave it is and what the provider says is the catalogue's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from lockstitch.facts import CLIENT_FAMILIES
from lockstitch.rules.checks import (
    bedrock,
    call_ids,
    chat,
    compatible,
    content,
    gemini,
    item_ids,
    links,
    order,
    responses,
    stored,
    templates,
    thoughts,
)
from lockstitch.rules.profiles import get_profile
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
    "unanswered_server": _among(links.unanswered, "server"),
    "unanswered_shell": _among(links.unanswered, "shell", "apply_patch"),
    "unsigned_thinking": content.unsigned_thinking,
    # Chat Completions
    "arguments_not_text": chat.arguments_not_text,
    "audio_refused": chat.audio_refused,
    "chat_call_id": call_ids.misshapen(get_profile("openai-chat").ids),
    "developer_refused": chat.developer_refused,
    "large_batch": chat.large_batch,
    "media_in_result": chat.media_in_result,
    "reused_id": chat.reused_id,
    "system_refused": chat.system_refused,
    "unanswered_too": chat.unanswered_too,
    # Responses
    "call_without_reasoning": item_ids.unbound("function_call", "custom_tool_call"),
    "children_without_program": stored.children_without_program,
    "foreign_follower": item_ids.foreign_follower,
    "hosted_without_reasoning": item_ids.unbound(*item_ids.HOSTED),
    "item_id_characters": item_ids.item_id_characters,
    "item_id_length": item_ids.item_id_length,
    "item_id_prefix": item_ids.item_id_prefix,
    "lost_compaction": stored.lost_compaction,
    "message_among_calls": responses.message_among_calls,
    "message_without_reasoning": item_ids.unbound("message"),
    "open_call_in_chain": stored.open_call_in_chain,
    "orphan_mcp_call": stored.orphan_mcp_call,
    "output_without_id": responses.output_without_id,
    "refused_file": responses.refused_file,
    "request_sent_again": stored.request_sent_again,
    "responses_call_id": call_ids.misshapen(get_profile("openai-responses").ids),
    "sent_again": stored.sent_again,
    "strange_seal": stored.strange_seal,
    "summary_missing": responses.summary_missing,
    "trigger_not_last": responses.trigger_not_last,
    "unsealed_reasoning": stored.unsealed_reasoning,
    "unstored_reference": stored.unstored_reference,
    "wrong_block": responses.wrong_block,
    # Mistral, the servers that speak Chat's shape, chat templates, LangChain.
    "arguments_not_json": compatible.arguments_not_json,
    "call_answered_nowhere": compatible.call_answered_nowhere,
    "content_beside_calls": compatible.content_beside_calls,
    "content_missing": compatible.content_missing,
    "id_not_of_nine": compatible.id_not_of_nine,
    "incomplete_message": compatible.incomplete_message,
    "leading_result": compatible.leading_result,
    "model_speaks_last": compatible.model_speaks_last,
    "neither_content_nor_calls": compatible.neither_content_nor_calls,
    "no_user_message": compatible.no_user_message,
    "opens_with_calls": compatible.opens_with_calls,
    "result_after_user": compatible.result_after_user,
    "result_without_id": compatible.result_without_id,
    "results_counted": compatible.results_counted,
    "surplus_result": compatible.surplus_result,
    "system_inside": compatible.system_inside,
    "unknown_result": compatible.unknown_result,
    "user_after_result": compatible.user_after_result,
    "content_beside_thinking": templates.content_beside_thinking,
    "final_assistant_thinking": templates.final_assistant_thinking,
    "media_in_system": templates.media_in_system,
    "roles_repeat": templates.roles_repeat,
    "several_calls": templates.several_calls,
    "system_anywhere": templates.system_anywhere,
    "system_later": templates.system_later,
    "two_assistants_last": templates.two_assistants_last,
    "user_not_first": templates.user_not_first,
    "call_without_thoughts": thoughts.call_without_thoughts,
    "call_without_reasoning_in_turn": thoughts.call_without_reasoning_in_turn,
    "reasoning_field": thoughts.reasoning_field,
    "turn_without_reasoning": thoughts.turn_without_reasoning,
    "turn_without_thinking": thoughts.turn_without_thinking,
    # Gemini
    "call_after_model_text": gemini.call_after_model_text,
    "call_leads": gemini.call_leads,
    "dangling_call": gemini.dangling_call,
    "ends_with_model": gemini.ends_with_model,
    "part_without_data": gemini.part_without_data,
    "parts_empty": gemini.parts_empty,
    "response_astray": gemini.response_astray,
    "response_count": gemini.response_count,
    "response_name": gemini.response_name,
    "signature_corrupt": gemini.signature_corrupt,
    "signature_missing": gemini.signature_missing,
    "strange_role": gemini.strange_role,
    # Bedrock Converse
    "bad_call_id": bedrock.bad_call_id,
    "bad_tool_name": bedrock.bad_tool_name,
    "blank_block": bedrock.blank_block,
    "duplicate_document": bedrock.duplicate_document,
    "equal_neighbours": bedrock.equal_neighbours,
    "error_result_empty": bedrock.error_result_empty,
    "final_whitespace": bedrock.final_whitespace,
    "no_blocks": bedrock.no_blocks,
    "result_not_next": bedrock.result_not_next,
    "s3_in_result": bedrock.s3_in_result,
    "s3_source": bedrock.s3_source,
    "system_in_list": bedrock.system_in_list,
    "text_beside_call": bedrock.text_beside_call,
    "text_beside_result": bedrock.text_beside_result,
    "too_many_documents": bedrock.too_many_documents,
    "tools_not_defined": bedrock.tools_not_defined,
    "video_block": bedrock.video_block,
}
