"""Mends: for every check, what mends its breaches under each kind of repair. A table.

The order of the table is the order of mending: what moves comes before what is made up, and what is
made up before what is dropped, since a moved result answers a call and a restored one has a home.
The order of the kinds under one check is the rule's own (`repairs`), least loss first.

Must not know: rule ids, formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.rules.mends import (
    chat,
    compatible,
    content,
    links,
    markers,
    media,
    order,
    request,
    responses,
    restore,
    stored,
    thinking,
    turns,
)

if TYPE_CHECKING:
    from lockstitch.rules.breach import Mend

__all__ = ["MENDS"]


_ANSWER: Final[dict[str, Mend]] = {
    "restore": restore.bring_back_result,
    "move": links.take_back,
    "synthesize": links.answer,
    "drop": links.drop_call,
}
_HOME: Final[dict[str, Mend]] = {
    "restore": restore.bring_back_call,
    "move": links.move_behind,
    "rename": links.adopt,
    "demote": links.demote,
    "drop": links.drop_part,
}
_ITEM_ID: Final[dict[str, Mend]] = {
    "rename": responses.settle_id,
    "drop": responses.drop_thought,
}
_SEALED: Final[dict[str, Mend]] = {
    "restore": stored.bring_back_sealed,
    "drop": responses.drop_thought,
}
_UNBOUND: Final[dict[str, Mend]] = {
    "restore": stored.bring_back_thought,
    "rename": responses.forget_id,
}

_THOUGHTS: Final[dict[str, Mend]] = {
    "restore": compatible.bring_back_thoughts,
    "synthesize": compatible.leave_thoughts_empty,
}
_OPENED: Final[dict[str, Mend]] = {
    "restore": restore.bring_back_user,
    "synthesize": order.open_with_user,
}

MENDS: Final[dict[str, dict[str, Mend]]] = {
    # What the server of Responses holds comes before what the list lacks.
    "request_sent_again": {"drop": order.drop_item},
    "sent_again": {"drop": stored.send_the_rest},
    "open_call_in_chain": {"synthesize": stored.answer_chain},
    "unstored_reference": {"restore": stored.bring_back_item, "drop": order.drop_item},
    "trigger_not_last": {"move": responses.trigger_last, "drop": responses.drop_trigger},
    "duplicate_item": {"rename": responses.tell_apart, "drop": order.drop_item},
    # What cannot even be loaded.
    "incomplete_message": {"replace": compatible.write_content},
    "arguments_not_json": {"replace": content.wrap_arguments},
    "lone_surrogate": {"replace": content.well_formed},
    "strange_role": {"move": turns.lift_instructions, "replace": turns.write_role},
    "system_in_list": {"move": order.lift_system},
    "result_before_call": {"restore": restore.bring_back_call, "move": links.move_behind},
    "response_astray": {"move": links.move_home},
    "displaced_result": {"restore": restore.bring_back_call, "move": links.move_home},
    "duplicate_result": {
        "restore": restore.bring_back_call,
        "move": links.move_behind,
        "merge": links.merge_results,
        "drop": links.drop_part,
    },
    "repeated_id_in_turn": {"rename": links.rename_repeated},
    "call_of_another_role": {"drop": links.drop_part},
    "orphan_result": _HOME,
    "orphan_client_result": _HOME,
    "orphan_server_result": {"drop": links.drop_part},
    "orphan_approval": {"drop": links.drop_part},
    "partly_answered_batch": _ANSWER,
    "unanswered_call": _ANSWER,
    "unanswered_function": _ANSWER,
    "unanswered_custom": _ANSWER,
    "unanswered_shell": _ANSWER,
    "unanswered_local_shell": _ANSWER,
    "unanswered_computer": _ANSWER,
    "unanswered_mcp": _ANSWER,
    "unanswered_server": _ANSWER,
    # Mistral's counting of results, and LangChain's.
    "unknown_result": _HOME,
    "leading_result": _HOME,
    "result_after_user": _HOME,
    "surplus_result": _HOME,
    "result_without_id": {**_HOME, "rename": links.name_result},
    "results_counted": _ANSWER,
    "call_answered_nowhere": _ANSWER,
    "several_calls": {"move": compatible.one_call_each},
    "misshapen_id": {"rename": links.rename_call},
    # Reasoning, and what stands beside calls.
    "call_without_thoughts": _THOUGHTS,
    "call_without_reasoning_in_turn": _THOUGHTS,
    "turn_without_reasoning": _THOUGHTS,
    "reasoning_field": {"drop": content.drop_key},
    "content_beside_calls": {"drop": compatible.blank_content},
    "content_beside_thinking": {"drop": compatible.blank_content},
    "content_missing": {"replace": content.say_nothing},
    "response_count": _ANSWER,
    "dangling_call": _ANSWER,
    "result_not_next": {
        "merge": turns.gather_result,
        "restore": turns.bring_back_missing,
        "synthesize": turns.answer_missing,
        "drop": turns.drop_missing,
    },
    "result_not_first": {"move": content.results_first},
    "lone_reasoning": {"drop": links.drop_part},
    "unsigned_thinking": {"restore": content.bring_back_seal, "drop": links.drop_part},
    "empty_tool_calls": {"drop": content.drop_key},
    "null_content": {"replace": content.say_nothing},
    "marker_misplaced": {"move": markers.move_marker, "drop": markers.drop_marker},
    "empty_text_block": {"drop": content.drop_text, "replace": content.fill},
    "blank_text": {"drop": content.drop_text, "replace": content.fill},
    "empty_content": {"drop": content.drop_message, "replace": content.fill},
    "empty_message": {"drop": content.drop_message, "replace": content.fill},
    "system_first": {"move": order.lift_system},
    "system_misplaced": {"move": order.settle_system, "demote": order.as_user},
    "neither_content_nor_calls": {"drop": content.drop_message, "replace": content.fill},
    "media_in_system": {"move": compatible.move_media},
    "system_anywhere": {"merge": compatible.fold_system, "demote": order.as_user},
    "system_inside": {"demote": order.as_user},
    "system_later": {"demote": order.as_user},
    "no_user_message": _OPENED,
    "opens_with_calls": _OPENED,
    "user_not_first": _OPENED,
    # Converse and Gemini: content first, then neighbours, then who speaks first and last.
    "no_messages": {"restore": restore.bring_back_newest},
    "no_parts": {"drop": content.drop_message, "replace": content.fill},
    "part_without_data": {"drop": links.drop_part},
    "blank_block": {"drop": turns.drop_blank, "replace": content.fill},
    "empty_error_result": {"replace": content.fill},
    "video_block": {"demote": media.stub},
    "s3_in_result": {"move": media.put_beside},
    "s3_source": {"demote": media.stub},
    "too_many_documents": {"demote": media.stub},
    "duplicate_document": {"rename": media.rename_document},
    "equal_neighbours": {"merge": order.merge_neighbours},
    "call_after_model_text": {"merge": order.merge_neighbours},
    "text_beside_call": {"drop": links.drop_part},
    "text_beside_result": {"move": turns.fold_into_result},
    "bad_tool_name": {"rename": content.shorten_name},
    "response_name": {"rename": turns.name_response},
    "signature_missing": {
        "restore": turns.bring_back_signature,
        "replace": turns.bypass_signature,
    },
    "signature_corrupt": {
        "restore": turns.bring_back_signature,
        "replace": turns.bypass_signature,
    },
    "final_whitespace": {"replace": content.strip_end},
    "call_leads": {"restore": restore.bring_back_user, "synthesize": order.open_with_user},
    "ends_with_model": {"synthesize": order.go_on},
    "first_not_user": {"restore": restore.bring_back_user, "synthesize": order.open_with_user},
    # Chat Completions
    "arguments_not_text": {"replace": content.write_arguments},
    "large_batch": {"move": chat.part_batch},
    "media_in_result": {"move": chat.hoist_media},
    "audio_refused": {"drop": chat.leave_out},
    "system_refused": {"replace": chat.as_developer, "demote": chat.as_user},
    "developer_refused": {"demote": chat.as_user},
    # Responses; an id that is left out may leave reasoning behind, so ids come first
    "item_id_characters": _ITEM_ID,
    "item_id_prefix": _ITEM_ID,
    "item_id_length": _ITEM_ID,
    "summary_missing": {"replace": responses.write_summary},
    "unsealed_reasoning": _SEALED,
    "strange_seal": _SEALED,
    "foreign_follower": {"restore": stored.bring_back_follower, "drop": responses.drop_thought},
    "call_without_reasoning": _UNBOUND,
    "message_without_reasoning": _UNBOUND,
    "output_without_id": {"demote": links.demote},
    "message_among_calls": {"move": responses.message_first},
    "wrong_block": {"replace": responses.own_block},
    "refused_file": {"drop": responses.leave_out_file},
    # Anthropic messages. What changes the request or ends the list comes after all that may add to
    # it, and thinking last: it is bound to what every other mend has left in front of it.
    "system_after_start": {"demote": order.as_user},
    "odd_call_id": {"rename": links.rename_call},
    "odd_call_name": {"rename": content.shorten_name},
    "empty_compaction": {"drop": links.drop_part},
    "too_many_markers": {"drop": content.drop_key},
    "large_image_among_many": {"drop": media.stand_for_image},
    "tools_undefined": {"synthesize": request.define_tools},
    "tools_not_defined": {"synthesize": request.define_tools},
    "thinking_at_end": {"synthesize": order.go_on, "drop": links.drop_part},
    "assistant_last": {"synthesize": order.go_on, "drop": content.drop_message},
    "white_space_at_end": {"replace": content.strip_end},
    "foreign_signature": {"drop": links.drop_part},
    "altered_thinking": {"restore": thinking.bring_back_block, "drop": thinking.drop_of_turn},
    "filtered_turn": {"restore": thinking.bring_back_turn, "drop": thinking.drop_of_turn},
    "thinking_absent": {"restore": thinking.bring_back_turn},
    "thinking_removed_amid": {
        "restore": thinking.bring_back_between,
        "drop": thinking.drop_older,
    },
    "thinking_unbound": {"drop": thinking.drop_unbound},
    "request_changed": {"drop": thinking.drop_all},
    "thinking_leads": {"restore": thinking.bring_back_turn, "replace": thinking.switch_off},
    # Last, since every mend above may change who stands beside whom.
    "user_after_result": {"synthesize": order.bridge},
    "two_assistants_last": {"merge": order.merge_neighbours},
    "roles_repeat": {"merge": order.merge_neighbours, "synthesize": compatible.take_turns},
    "model_speaks_last": {"synthesize": order.go_on},
    "final_assistant_thinking": {"synthesize": order.go_on},
}
