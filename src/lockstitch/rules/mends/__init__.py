"""Mends: for every check, what mends its breaches under each kind of repair. A table.

The order of the table is the order of mending: what moves comes before what is made up, and what is
made up before what is dropped, since a moved result answers a call and a restored one has a home.
The order of the kinds under one check is the rule's own (`repairs`), least loss first.

Must not know: rule ids, formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.rules.mends import content, links, order

if TYPE_CHECKING:
    from lockstitch.rules.breach import Mend

__all__ = ["KINDS", "LOSSLESS", "MENDS"]

KINDS: Final = ("move", "synthesize", "merge", "demote", "drop")
"""The kinds of repair that can be forbidden."""
LOSSLESS: Final = ("restore", "rename", "replace")
"""The kinds that lose and add nothing, and are always allowed."""

_ANSWER: Final[dict[str, Mend]] = {
    "restore": links.bring_back_result,
    "move": links.take_back,
    "synthesize": links.answer,
    "drop": links.drop_call,
}
_HOME: Final[dict[str, Mend]] = {
    "restore": links.bring_back_call,
    "move": links.move_behind,
    "rename": links.adopt,
    "demote": links.demote,
    "drop": links.drop_part,
}

MENDS: Final[dict[str, dict[str, Mend]]] = {
    "duplicate_item": {"drop": order.drop_item},
    "lone_surrogate": {"replace": content.well_formed},
    "result_before_call": {"restore": links.bring_back_call, "move": links.move_behind},
    "displaced_result": {"restore": links.bring_back_call, "move": links.move_home},
    "duplicate_result": {
        "restore": links.bring_back_call,
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
    "result_not_first": {"move": content.results_first},
    "lone_reasoning": {"drop": links.drop_part},
    "unsigned_thinking": {"restore": content.bring_back_seal, "drop": links.drop_part},
    "empty_tool_calls": {"drop": content.drop_key},
    "null_content": {"replace": content.say_nothing},
    "empty_text_block": {"drop": links.drop_part, "replace": content.fill},
    "blank_text": {"drop": links.drop_part, "replace": content.fill},
    "empty_content": {"drop": content.drop_message, "replace": content.fill},
    "empty_message": {"drop": content.drop_message, "replace": content.fill},
    "system_first": {"move": order.lift_system},
    "system_misplaced": {"move": order.settle_system},
    "first_not_user": {"restore": order.bring_back_user, "synthesize": order.open_with_user},
}
