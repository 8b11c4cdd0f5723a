"""Mends: for every check, what mends its breaches under each kind of repair. A table.

The order of the table is the order of mending: what moves comes before what is made up, and what is
made up before what is dropped, since a moved result answers a call and a restored one has a home.
The order of the kinds under one check is the rule's own (`repairs`), least loss first.

Must not know: rule ids, formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.rules.mends import anthropic, content, links, order, thinking

if TYPE_CHECKING:
    from lockstitch.rules.breach import Mend

__all__ = ["KINDS", "LOSSLESS", "MENDS"]

KINDS: Final = ("move", "synthesize", "merge", "demote", "drop")
"""The kinds of repair that can be forbidden."""
LOSSLESS: Final = ("restore", "rename", "replace")
"""The kinds that lose and add nothing, and are always allowed."""

_ANSWER: Final[dict[str, Mend]] = {
    "restore": links.bring_back_result,
    "synthesize": links.answer,
    "drop": links.drop_part,
}
_HOME: Final[dict[str, Mend]] = {
    "restore": links.bring_back_call,
    "rename": links.adopt,
    "demote": links.demote,
    "drop": links.drop_part,
}

MENDS: Final[dict[str, dict[str, Mend]]] = {
    "duplicate_item": {"drop": order.drop_item},
    "lone_surrogate": {"replace": content.well_formed},
    "result_before_call": {"move": links.move_home},
    "displaced_result": {"move": links.move_home},
    "duplicate_result": {"merge": links.merge_results, "drop": links.drop_part},
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
    "result_not_first": {"move": content.results_first},
    "lone_reasoning": {"drop": links.drop_part},
    "unsigned_thinking": {"restore": content.bring_back_seal, "drop": links.drop_part},
    "empty_tool_calls": {"drop": content.drop_key},
    "null_content": {"replace": content.say_nothing},
    "marker_misplaced": {"move": anthropic.move_marker},
    "empty_text_block": {"drop": content.drop_text, "replace": content.fill},
    "blank_text": {"drop": content.drop_text, "replace": content.fill},
    "empty_content": {"drop": content.drop_message, "replace": content.fill},
    "empty_message": {"drop": content.drop_message, "replace": content.fill},
    "system_first": {"move": order.lift_system},
    "system_misplaced": {"move": order.settle_system},
    "first_not_user": {"restore": order.bring_back_user, "synthesize": order.open_with_user},
    # Anthropic messages. What changes the request or ends the list comes after all that may add to
    # it, and thinking last: it is bound to what every other mend has left in front of it.
    "system_inside": {"demote": order.as_user},
    "odd_call_id": {"rename": links.rename_call},
    "odd_call_name": {"rename": content.shorten_name},
    "empty_error_result": {"replace": content.fill},
    "empty_compaction": {"drop": links.drop_part},
    "too_many_markers": {"drop": content.drop_key},
    "large_image_among_many": {"drop": anthropic.stand_for_image},
    "tools_undefined": {"synthesize": anthropic.define_tools},
    "thinking_at_end": {"synthesize": order.go_on, "drop": links.drop_part},
    "assistant_last": {"synthesize": order.go_on, "drop": content.drop_message},
    "white_space_at_end": {"replace": anthropic.strip_end},
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
}
