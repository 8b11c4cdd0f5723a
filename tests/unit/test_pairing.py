"""Pairing ties results to calls by consumption, in order, nearest run first."""

from __future__ import annotations

import pytest

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
    CHILD,
    CLIENT_FAMILIES,
    FINAL,
    FUNCTION,
    INTERIM,
    OTHER_FACTS,
    REJECTED,
    REQUEST,
    RESULT,
    SYSTEM_FACTS,
    TOOL,
    USER,
    USER_FACTS,
    Facts,
    Link,
    facts_with,
)
from lockstitch.formats import get_format
from lockstitch.grouping import group
from lockstitch.pairing import pair

SAYS, SPEAKS = ASSISTANT_FACTS, USER_FACTS
THINKS = Facts(ASSISTANT, reasoning=True)


def calls(*ids, family=FUNCTION, name=None, alias=None):
    return facts_with(ASSISTANT, tuple(Link(CALL, family, one, name, alias) for one in ids))


def results(*ids, family=FUNCTION, name=None, state=FINAL):
    return facts_with(TOOL, tuple(Link(RESULT, family, one, name, None, state) for one in ids))


def requests(id_, call_id=None, family="mcp", name=None):
    return Facts(ASSISTANT, (Link(REQUEST, family, id_, name, call_id),))


def decides(id_, call_id=None, state=FINAL):
    return Facts(TOOL, (Link(ANSWER, "mcp", id_, None, call_id, state),))


def names(facts, start=0):
    """The groups, which must not depend on how much detail was asked for."""
    quick = group(facts[start:], start, detail=False)
    full = group(facts[start:], start)
    assert quick.names == full.names
    assert quick.states == full.states
    assert quick.pairing.unmet == full.pairing.unmet
    return full.names


def pairs(facts, start=0):
    """Each answering end with the (position, place) of the call it was paired with."""
    names(facts, start)
    return [
        (tie.message, (tie.call.message, tie.call.ordinal) if tie.call else None)
        for tie in pair(facts[start:], start).ties
    ]


def partners(facts, start=0):
    return [(message, call[0] if call else None) for message, call in pairs(facts, start)]


def unanswered(facts):
    names(facts)
    return [call.message for call in pair(facts).calls if call.answer < 0]


# --- calls and results ----------------------------------------------------------------------------


def test_a_result_pairs_with_its_call():
    walk = pair([SPEAKS, calls("a"), results("a")])
    (tie,) = walk.ties
    assert (tie.message, tie.ordinal, tie.call.message, tie.call.answer) == (2, 0, 1, 2)
    assert not tie.duplicate
    assert not tie.foreign
    assert walk.names == [0, 1, 1]
    assert walk.unmet == []
    assert (walk.start, walk.stop) == (0, 3)


def test_a_result_never_borrows_a_call_of_a_later_turn():
    facts = [SPEAKS, results("a"), calls("a"), results("a")]
    assert partners(facts) == [(1, None), (3, 2)]


def test_a_result_before_its_call_does_not_pair():
    facts = [SPEAKS, results("a"), calls("a")]
    assert partners(facts) == [(1, None)]
    assert pair(facts).unmet == [1]
    assert unanswered(facts) == [2]


def test_an_id_used_again_in_a_later_turn_is_another_call():
    facts = [SPEAKS, calls("a"), results("a"), SPEAKS, calls("a"), results("a")]
    assert partners(facts) == [(2, 1), (5, 4)]
    assert names(facts) == [0, 1, 1, 3, 4, 4]


def test_a_result_takes_the_nearest_open_call_of_its_id():
    facts = [SPEAKS, calls("a"), SPEAKS, calls("a"), results("a")]
    assert partners(facts) == [(4, 3)]
    assert unanswered(facts) == [1]


def test_a_second_result_reaches_back_to_the_call_left_open_in_an_earlier_run():
    facts = [SPEAKS, calls("a"), SPEAKS, calls("a"), results("a"), results("a")]
    assert partners(facts) == [(4, 3), (5, 1)]


def test_two_parallel_calls_with_one_id_in_one_message_pair_in_order():
    facts = [SPEAKS, calls("a", "a"), results("a"), results("a")]
    assert pairs(facts) == [(2, (1, 0)), (3, (1, 1))]
    assert names(facts) == [0, 1, 1, 1]


def test_two_adjacent_assistant_messages_with_one_id_pair_first_in_first_out():
    facts = [SPEAKS, calls("a"), calls("a"), results("a"), results("a")]
    assert partners(facts) == [(3, 1), (4, 2)]
    assert names(facts) == [0, 1, 2, 1, 2]


def test_first_in_first_out_holds_inside_a_run_and_nearest_first_between_runs():
    facts = [calls("a"), SPEAKS, calls("a", "a"), *[results("a")] * 3]
    assert pairs(facts) == [(3, (2, 0)), (4, (2, 1)), (5, (0, 0))]


def test_a_run_used_up_is_left_for_the_one_before_it():
    facts = [calls("a"), SPEAKS, calls("a"), results("a"), SPEAKS, calls("a"), *[results("a")] * 2]
    assert partners(facts) == [(3, 2), (6, 5), (7, 0)]


def test_calls_after_a_used_up_run_start_a_new_one():
    facts = [calls("a", "a"), *[results("a")] * 2, SPEAKS, calls("a", "a"), *[results("a")] * 2]
    assert pairs(facts) == [(1, (0, 0)), (2, (0, 1)), (5, (4, 0)), (6, (4, 1))]


def test_parallel_calls_pair_by_id_whatever_the_order_of_their_results():
    facts = [SPEAKS, calls("a", "b", "c"), results("c"), results("a"), results("b")]
    assert pairs(facts) == [(2, (1, 2)), (3, (1, 0)), (4, (1, 1))]
    assert names(facts) == [0, 1, 1, 1, 1]


def test_results_of_a_batch_in_one_message_pair_one_by_one():
    facts = [SPEAKS, calls("a", "b"), results("b", "a"), SAYS]
    assert pairs(facts) == [(2, (1, 1)), (2, (1, 0))]
    assert names(facts) == [0, 1, 1, 3]


def test_a_late_result_still_finds_its_call():
    facts = [SPEAKS, calls("a"), SPEAKS, SAYS, SPEAKS, results("a")]
    assert partners(facts) == [(5, 1)]
    assert names(facts) == [0, 1, 2, 3, 4, 1]


def test_a_late_result_finds_its_call_past_a_batch_that_is_settled():
    facts = [SPEAKS, calls("a"), SPEAKS, calls("b"), results("b"), results("a")]
    assert partners(facts) == [(4, 3), (5, 1)]


def test_an_intermediate_result_binds_and_leaves_the_call_open():
    facts = [SPEAKS, calls("a"), results("a", state=INTERIM)]
    assert partners(facts) == [(2, 1)]
    assert unanswered(facts) == [1]


def test_the_final_result_after_an_intermediate_one_closes_the_call():
    facts = [SPEAKS, calls("a"), results("a", state=INTERIM), SPEAKS, results("a")]
    walk = pair(facts)
    assert partners(facts) == [(2, 1), (4, 1)]
    assert walk.calls[0].answer == 4
    assert not any(tie.duplicate for tie in walk.ties)


def test_a_result_that_rejects_closes_the_call():
    facts = [SPEAKS, calls("a"), results("a", state=REJECTED)]
    assert unanswered(facts) == []


def test_a_second_result_is_a_duplicate_of_the_answered_call():
    facts = [SPEAKS, calls("a"), results("a"), results("a")]
    walk = pair(facts)
    assert partners(facts) == [(2, 1), (3, 1)]
    assert [tie.duplicate for tie in walk.ties] == [False, True]
    assert walk.unmet == []
    assert names(facts) == [0, 1, 1, 1]


def test_a_duplicate_binds_to_the_call_answered_last():
    facts = [SPEAKS, calls("a"), results("a"), SPEAKS, calls("a"), results("a"), results("a")]
    assert partners(facts)[-1] == (6, 4)


def test_a_result_of_another_family_is_not_taken_where_its_own_is_open():
    facts = [calls("a", family="custom"), calls("a"), results("a")]
    walk = pair(facts)
    assert partners(facts) == [(2, 1)]
    assert not walk.ties[0].foreign


@pytest.mark.parametrize("asked", CLIENT_FAMILIES)
@pytest.mark.parametrize("given", CLIENT_FAMILIES)
def test_a_result_of_another_client_family_is_taken_and_marked_foreign(asked, given):
    facts = [SPEAKS, calls("a", family=asked), results("a", family=given)]
    walk = pair(facts)
    assert partners(facts) == [(2, 1)]
    assert walk.ties[0].foreign is (asked != given)
    assert walk.calls[0].answer == 2


@pytest.mark.parametrize("family", ["mcp", "server", "program"])
def test_no_result_crosses_between_client_and_provider_families(family):
    assert partners([calls("a", family=family), results("a")]) == [(1, None)]
    assert partners([calls("a"), results("a", family=family)]) == [(1, None)]


def test_a_foreign_result_prefers_nothing_to_a_call_that_is_answered():
    facts = [calls("a", family="custom"), results("a", family="custom"), results("a")]
    assert partners(facts) == [(1, 0), (2, None)]


def test_a_second_foreign_result_is_a_duplicate_too():
    facts = [calls("a", family="tool_search"), results("a"), results("a")]
    assert [tie.duplicate for tie in pair(facts).ties] == [False, True]


def test_a_result_of_the_calls_own_family_after_a_foreign_one_is_a_duplicate():
    facts = [calls("a", family="tool_search"), results("a"), results("a", family="tool_search")]
    assert [tie.duplicate for tie in pair(facts).ties] == [False, True]


# --- calls without an id --------------------------------------------------------------------------


def test_calls_without_an_id_pair_by_name_inside_the_run():
    facts = [SPEAKS, calls(None, name="x"), calls(None, name="y")]
    facts += [results(None, name="y"), results(None, name="x")]
    assert partners(facts) == [(3, 2), (4, 1)]


def test_calls_without_an_id_and_with_one_name_pair_in_order():
    facts = [SPEAKS, calls(None, None, name="x"), results(None, name="x"), results(None, name="x")]
    assert pairs(facts) == [(2, (1, 0)), (3, (1, 1))]


def test_a_result_without_name_or_id_takes_the_first_open_call():
    facts = [calls(None, name="x"), calls(None, name="y"), results(None), results(None)]
    assert partners(facts) == [(2, 0), (3, 1)]


def test_a_named_result_takes_a_call_that_has_no_name():
    assert partners([calls(None), results(None, name="x")]) == [(1, 0)]


def test_a_result_without_an_id_never_reaches_an_earlier_run():
    facts = [calls(None, name="x"), SPEAKS, calls(None, name="y"), results(None, name="x")]
    assert partners(facts) == [(3, None)]


def test_a_result_without_an_id_takes_no_call_of_another_family():
    assert partners([calls(None, family="custom"), results(None)]) == [(1, None)]


def test_a_result_without_an_id_is_an_orphan_when_the_run_is_answered():
    facts = [calls(None, name="x"), results(None, name="x"), results(None, name="x")]
    assert partners(facts) == [(1, 0), (2, None)]
    assert pair(facts).unmet == [2]


def named_result(id_, name):
    """A result that has both, which is more than ids alone can say."""
    return Facts(TOOL, (Link(RESULT, FUNCTION, id_, name),))


def test_a_result_with_an_id_takes_a_call_without_one_by_name():
    facts = [calls(None, name="x"), calls(None, name="y"), named_result("g1", "y")]
    walk = pair(facts)
    assert partners(facts) == [(2, 1)]
    assert walk.ties[0].foreign


@pytest.mark.parametrize(
    "facts",
    [
        [calls(None, name="x"), calls(None, name="y"), results("g1")],
        [calls(None, name="x"), named_result("g1", "y")],
        [Facts(ASSISTANT, (Link(CALL, "custom", "c1", "x"),)), named_result("g1", "x")],
        [calls(None, name="x"), SPEAKS, calls("c1"), named_result("g1", "x")],
        [calls(None, name="x"), results(None, name="x"), named_result("g1", "x")],
    ],
)
def test_a_result_with_an_id_takes_no_call_that_is_not_surely_its_own(facts):
    assert partners(facts)[-1] == (len(facts) - 1, None)


def test_a_result_with_an_id_takes_the_only_call_without_one():
    assert partners([calls(None, name="x"), results("g1")]) == [(1, 0)]


def test_a_call_without_an_id_is_not_found_under_an_empty_key():
    facts = [calls(None, name="x"), SAYS, SPEAKS, SAYS, results(None, name="x")]
    assert partners(facts) == [(4, None)]


# --- runs -----------------------------------------------------------------------------------------


def test_neighbouring_assistant_messages_are_one_run():
    assert pair([calls("a"), SAYS, calls("b")]).last_run == 1


@pytest.mark.parametrize("between", [SPEAKS, results("a")])
def test_a_user_message_or_an_answer_ends_a_run(between):
    walk = pair([calls("a"), between, SAYS, calls("b")])
    assert walk.last_run == 2
    assert [call.run for call in walk.calls] == [1, 2]


@pytest.mark.parametrize("between", [OTHER_FACTS, SYSTEM_FACTS])
def test_a_row_no_one_spoke_does_not_end_a_run(between):
    assert pair([calls("a"), between, calls("b")]).last_run == 1


def test_a_run_is_moved_past_only_by_a_user_message_after_it():
    assert pair([SPEAKS, calls("a"), SPEAKS]).moved_on
    assert not pair([SPEAKS, calls("a")]).moved_on
    assert not pair([SPEAKS, calls("a", "b"), results("a")]).moved_on
    assert not pair([SPEAKS, calls("a"), SYSTEM_FACTS, OTHER_FACTS]).moved_on
    assert not pair([SPEAKS, SAYS, calls("a")]).moved_on
    assert pair([SPEAKS, calls("a", "b"), results("a"), SPEAKS]).moved_on


def test_a_user_message_that_carries_answers_moves_the_conversation_on():
    both = Facts(USER, answers=("a",))
    walk = pair([SPEAKS, calls("a", "b"), both])
    assert walk.moved_on
    assert [(tie.message, tie.call.message) for tie in walk.ties] == [(2, 1)]


# --- reasoning ------------------------------------------------------------------------------------


def test_reasoning_binds_to_what_the_model_said_next():
    assert names([SPEAKS, THINKS, SAYS]) == [0, 1, 1]


def test_reasoning_chains_to_the_call_it_led_to_and_its_result():
    facts = [SPEAKS, THINKS, THINKS, calls("a"), results("a"), THINKS, SAYS]
    assert names(facts) == [0, 1, 1, 1, 1, 5, 5]


def test_reasoning_does_not_bind_backwards():
    assert names([SPEAKS, SAYS, THINKS, SAYS]) == [0, 1, 2, 2]


def test_reasoning_does_not_bind_across_a_user_message():
    assert names([SPEAKS, THINKS, SPEAKS, SAYS]) == [0, 1, 2, 3]


def test_reasoning_binds_across_rows_that_no_one_spoke():
    assert names([SPEAKS, THINKS, OTHER_FACTS, SAYS]) == [0, 1, 2, 1]


def test_reasoning_between_two_calls_binds_to_the_second():
    facts = [calls("a"), THINKS, calls("b"), results("a"), results("b")]
    assert names(facts) == [0, 1, 1, 0, 1]


def test_reasoning_that_holds_a_call_of_its_own_still_binds_forward():
    facts = [Facts(ASSISTANT, asks=("a",), reasoning=True), SAYS, results("a")]
    assert names(facts) == [0, 0, 0]


def test_a_whole_response_is_one_group_in_both_directions():
    facts = [SPEAKS, THINKS, calls("a"), SAYS, calls("b"), results("a"), results("b"), SAYS]
    assert pair(facts, whole_response=True).names == [0, 1, 1, 1, 1, 1, 1, 7]
    assert pair(facts, whole_response=True, detail=False).names == [0, 1, 1, 1, 1, 1, 1, 7]
    assert pair(facts).names == [0, 1, 1, 3, 4, 1, 4, 7]


# --- approvals ------------------------------------------------------------------------------------


def test_an_approval_with_its_own_id_binds_request_and_decision():
    facts = [SPEAKS, requests("r"), decides("r")]
    walk = pair(facts)
    assert names(facts) == [0, 1, 1]
    assert walk.requests[0].answer == 2
    assert walk.ties[0].call is walk.requests[0]
    assert walk.waiting() == []


def test_a_request_that_embeds_its_call_binds_to_it_and_is_found_by_that_call():
    facts = [SPEAKS, calls("a"), requests(None, "a", FUNCTION), decides(None, "a"), results("a")]
    walk = pair(facts)
    assert names(facts) == [0, 1, 1, 1, 1]
    assert walk.requests[0].partner is walk.calls[0]
    assert walk.requests[0].answer == 3
    assert walk.calls[0].answer == 4


def test_a_request_with_both_ids_binds_call_request_decision_and_result():
    facts = [SPEAKS, calls("a"), requests("r", "a", FUNCTION), decides("r"), results("a")]
    assert names(facts) == [0, 1, 1, 1, 1]
    assert pair(facts).waiting() == []


def test_a_call_awaiting_approval_waits_however_old_it_is():
    facts = [calls("a"), requests("r", "a", FUNCTION), SPEAKS, SAYS, SPEAKS, SAYS]
    waiting = pair(facts).waiting()
    assert [(one.message, answerable) for one, answerable in waiting] == [(0, True), (1, True)]


def test_an_approved_call_waits_only_for_its_result():
    facts = [calls("a"), requests("r", "a", FUNCTION), decides("r")]
    assert [(one.message, ok) for one, ok in pair(facts).waiting()] == [(0, True)]
    facts += [SPEAKS, SAYS]
    assert [(one.message, ok) for one, ok in pair(facts).waiting()] == [(0, False)]


def test_a_rejection_closes_request_and_call():
    facts = [calls("a"), requests("r", "a", FUNCTION), decides("r", state=REJECTED)]
    walk = pair(facts)
    assert walk.calls[0].answer == 2
    assert walk.requests[0].answer == 2
    assert walk.waiting() == []


def test_a_rejection_of_a_request_without_a_call_closes_the_request():
    assert pair([requests("r"), decides("r", state=REJECTED)]).waiting() == []


def test_a_rejection_does_not_replace_the_answer_a_call_already_has():
    facts = [calls("a"), requests("r", "a", FUNCTION), results("a"), decides("r", state=REJECTED)]
    assert pair(facts).calls[0].answer == 2


def test_a_result_for_the_call_settles_a_request_that_nobody_decided():
    facts = [calls("a"), requests("r", "a", FUNCTION), results("a")]
    walk = pair(facts)
    assert walk.requests[0].answer == -1
    assert not walk.requests[0].waits
    assert walk.waiting() == []


def test_a_request_after_the_result_of_a_provider_still_binds_to_the_call():
    facts = [SPEAKS, calls("a", family="mcp"), results("a", family="mcp"), requests("r", "a")]
    assert names(facts) == [0, 1, 1, 1]
    assert pair(facts).waiting() == []


def test_a_request_after_the_result_of_a_client_is_about_another_call_with_that_id():
    facts = [SPEAKS, calls("a"), results("a"), requests("r", "a", FUNCTION), decides("r")]
    assert names([*facts, results("a")]) == [0, 1, 1, 3, 3, 3]
    assert [call.message for call in pair(facts).calls] == [1, 3]


def test_a_request_for_a_provider_run_call_is_found_under_its_family():
    facts = [SPEAKS, calls("a", family="mcp"), requests("r", "a"), decides("r")]
    assert names(facts) == [0, 1, 1, 1]


def test_a_request_whose_call_is_missing_stands_for_itself():
    facts = [SPEAKS, requests("r", "gone"), decides("r")]
    walk = pair(facts)
    assert names(facts) == [0, 1, 1]
    assert walk.unmet == []
    assert walk.requests[0].partner is None


def test_a_request_for_a_client_whose_call_is_missing_stands_for_the_call_too():
    walk = pair([SPEAKS, requests("r", "gone", FUNCTION), decides("r")])
    assert walk.names == [0, 1, 1]
    assert walk.unmet == []
    assert walk.requests[0].partner is walk.calls[0]
    assert walk.waiting() == [(walk.calls[0], True)]


def test_a_request_asked_again_leaves_only_the_newer_one_waiting():
    facts = [requests("r"), SPEAKS, requests("r")]
    walk = pair(facts)
    assert [request.answer for request in walk.requests] == [2, -1]
    assert [(one.message, ok) for one, ok in walk.waiting()] == [(2, True)]


def test_a_request_used_again_after_its_decision_keeps_that_decision():
    facts = [requests("r"), decides("r"), requests("r"), decides("r")]
    walk = pair(facts)
    assert [request.answer for request in walk.requests] == [1, 3]
    assert [(tie.message, tie.call.message) for tie in walk.ties] == [(1, 0), (3, 2)]


def test_a_decision_by_call_id_takes_the_newest_request_about_that_call():
    facts = [calls("a"), requests("r1", "a", FUNCTION), requests("r2", "a", FUNCTION)]
    facts.append(decides("unknown", "a"))
    assert partners(facts) == [(3, 2)]


@pytest.mark.parametrize("decision", [decides("r"), decides(None, "a"), decides("r", "a")])
def test_a_decision_without_a_request_is_an_orphan(decision):
    facts = [SPEAKS, calls("b"), requests("q", "b", FUNCTION), decision]
    assert partners(facts) == [(3, None)]
    assert pair(facts).unmet == [3]


# --- children -------------------------------------------------------------------------------------


def child(family, id_, *more):
    return Facts(ASSISTANT, (Link(CHILD, family, id_), *more))


def test_an_mcp_call_is_tied_to_the_request_it_came_from():
    facts = [SPEAKS, requests("r"), decides("r"), child("mcp", "r")]
    assert names(facts) == [0, 1, 1, 1]
    assert partners(facts) == [(2, 1), (3, 1)]


def test_a_child_of_an_mcp_call_is_found_where_no_request_has_that_id():
    facts = [calls("m", family="mcp"), SPEAKS, child("mcp", "m")]
    assert names(facts) == [0, 1, 0]


def test_an_item_that_a_program_called_belongs_to_the_program():
    inner = child("program", "p", Link(CALL, FUNCTION, "a"))
    facts = [SPEAKS, calls("p", family="program"), inner, results("a")]
    facts.append(results("p", family="program"))
    assert names(facts) == [0, 1, 1, 1, 1]
    assert unanswered(facts) == []


def test_a_child_finds_a_program_that_has_ended():
    facts = [calls("p", family="program"), results("p", family="program"), child("program", "p")]
    assert names(facts) == [0, 0, 0]


def test_a_child_without_a_parent_is_an_orphan():
    facts = [SPEAKS, child("program", "p")]
    assert partners(facts) == [(1, None)]
    assert pair(facts).unmet == [1]


def test_only_children_of_mcp_look_for_a_request():
    assert partners([requests("r"), child("program", "r")]) == [(1, None)]


# --- server tools, inside messages and across them ------------------------------------------------


def test_a_server_tool_and_its_result_inside_one_message_pair():
    inside = Facts(ASSISTANT, (Link(CALL, "server", "s"), Link(RESULT, "server", "s")))
    walk = pair([SPEAKS, inside])
    assert [(tie.message, tie.call.message) for tie in walk.ties] == [(1, 1)]
    assert walk.calls[0].answer == 1
    assert walk.names == [0, 1]
    assert walk.edges == []


def test_a_server_tool_inside_a_message_that_reasoning_led_to_adds_no_tie():
    inside = Facts(ASSISTANT, (Link(CALL, "server", "s"), Link(RESULT, "server", "s")))
    walk = pair([SPEAKS, THINKS, inside])
    assert walk.names == [0, 1, 1]
    assert walk.edges == []


def test_a_server_tool_and_its_result_across_joined_messages_pair():
    said = Facts(ASSISTANT, (Link(RESULT, "server", "s"),))
    facts = [SPEAKS, calls("s", family="server"), said]
    assert partners(facts) == [(2, 1)]
    assert names(facts) == [0, 1, 1]


def test_a_message_that_answers_two_groups_ties_them_together():
    facts = [SPEAKS, calls("a"), SAYS, calls("b"), results("a", "b")]
    assert names(facts) == [0, 1, 2, 1, 1]


# --- families of Responses ------------------------------------------------------------------------


def items(*natives):
    form = get_format("openai-responses")
    return [form.facts(native) for native in natives]


@pytest.mark.parametrize(
    "family",
    ["function", "custom_tool", "computer", "shell", "local_shell", "apply_patch", "tool_search"],
)
def test_every_call_family_of_responses_pairs_with_its_output(family):
    kind = f"{family}_call" if family != "tool_search" else "tool_search_call"
    output = f"{kind}_output" if family != "tool_search" else "tool_search_output"
    facts = items({"type": kind, "call_id": "c1"}, {"type": output, "call_id": "c1"})
    walk = pair(facts)
    assert partners(facts) == [(1, 0)]
    assert not walk.ties[0].foreign
    assert unanswered(facts) == []


@pytest.mark.parametrize(
    "kind",
    [
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    ],
)
def test_a_call_the_provider_runs_itself_waits_for_nothing(kind):
    walk = pair(items({"type": kind, "id": "x1"}))
    assert walk.calls == []
    assert walk.waiting() == []


@pytest.mark.parametrize("output", [{"id": "lsh_1"}, {"id": "call_1"}, {"call_id": "call_1"}])
def test_a_local_shell_output_is_found_under_either_id(output):
    call = {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1"}
    facts = items(call, {"type": "local_shell_call_output", **output})
    assert partners(facts) == [(1, 0)]


def test_a_second_local_shell_output_under_the_other_id_is_a_duplicate():
    facts = items(
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1"},
        {"type": "local_shell_call_output", "id": "lsh_1"},
        {"type": "local_shell_call_output", "id": "call_1"},
    )
    assert [(tie.duplicate, tie.call is not None) for tie in pair(facts).ties] == [
        (False, True),
        (True, True),
    ]


def test_a_local_shell_output_under_the_item_id_does_not_take_an_answered_call():
    facts = items(
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1"},
        {"type": "local_shell_call_output", "id": "call_1"},
        {"type": "local_shell_call_output", "id": "lsh_1"},
    )
    walk = pair(facts)
    assert walk.calls[0].answer == 1


def test_a_client_tool_search_answered_by_a_function_output_is_foreign():
    facts = items(
        {"type": "tool_search_call", "call_id": "t1", "execution": "client"},
        {"type": "function_call_output", "call_id": "t1", "output": "x"},
    )
    assert partners(facts) == [(1, 0)]
    assert pair(facts).ties[0].foreign


@pytest.mark.parametrize("kind", ["custom_tool", "computer", "shell", "apply_patch", "local_shell"])
def test_a_client_call_of_responses_answered_by_a_function_output_is_foreign(kind):
    facts = items(
        {"type": f"{kind}_call", "call_id": "t1"},
        {"type": "function_call_output", "call_id": "t1", "output": "x"},
    )
    assert partners(facts) == [(1, 0)]
    assert pair(facts).ties[0].foreign


def test_approval_request_response_and_mcp_call_are_one_group():
    facts = items(
        {"role": "user", "content": "go"},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "mcp_call", "id": "mcp_1", "approval_request_id": "mcpr_1"},
    )
    assert names(facts) == [0, 1, 1, 1]


# --- wide batches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 15, 16, 17, 40])
def test_a_wide_batch_pairs_like_a_narrow_one(width):
    ids = [f"c{number}" for number in range(width)]
    facts = [SPEAKS, calls(*ids), *(results(one) for one in reversed(ids)), SAYS]
    assert names(facts) == [0, *[1] * (width + 1), width + 2]
    assert unanswered(facts) == []


@pytest.mark.parametrize(
    ("facts", "grouped"),
    [
        ([calls("a"), results("b")], [0, 1]),
        ([calls("a")], [0]),
        ([calls("a", "b"), results("a")], [0, 0]),
        ([calls("a", "b"), results("a"), SPEAKS], [0, 0, 2]),
        ([calls("a", "b"), results("a"), results("c")], [0, 0, 2]),
        ([calls("a", "b"), SAYS, results("a", "b")], [0, 1, 0]),
        ([calls("a", "b"), results("a", "a"), results("b")], [0, 0, 0]),
        ([calls("a"), Facts(USER, answers=("a",))], [0, 0]),
        ([calls("a"), Facts(ASSISTANT, answers=("a",))], [0, 0]),
        ([calls("a", "b"), Facts(ASSISTANT, answers=("a", "b")), SAYS], [0, 0, 2]),
        ([calls("a", "b"), results("a"), Facts(USER, answers=("b",)), SAYS], [0, 0, 0, 3]),
        ([calls("a"), SPEAKS, calls("a"), results("a"), results("a")], [0, 1, 2, 2, 0]),
    ],
)
def test_only_a_round_that_is_exactly_settled_is_passed_over(facts, grouped):
    assert names(facts) == grouped


def test_a_settled_round_is_looked_at_again_when_something_is_missed():
    facts = [SPEAKS, calls("a"), results("a"), SAYS, results("a")]
    assert names(facts) == [0, 1, 1, 3, 1]
    quick = pair(facts, detail=False)
    assert [tie.duplicate for tie in quick.ties] == [False, True]


def test_without_detail_settled_rounds_are_not_listed():
    facts = [SPEAKS, calls("a"), results("a"), calls("b")]
    quick = pair(facts, detail=False)
    assert [call.link.id for call in quick.calls] == ["b"]
    assert quick.ties == []
    assert quick.last_run == 2


@pytest.mark.parametrize("width", [1, 2, 16, 17])
@pytest.mark.parametrize("packed", [True, False])
def test_rounds_up_to_sixteen_calls_wide_are_passed_over_without_detail(width, packed):
    ids = [f"c{number}" for number in range(width)]
    given = [results(*reversed(ids))] if packed else [results(one) for one in reversed(ids)]
    quick = pair([SPEAKS, calls(*ids), *given, SAYS], detail=False)
    assert len(quick.calls) == (0 if width <= 16 else width)
    assert quick.waiting() == []
    assert quick.last_run == 2


def test_a_round_with_one_id_twice_is_passed_over_once_both_are_answered():
    assert pair([calls("a", "a"), results("a"), results("a")], detail=False).calls == []
    assert len(pair([calls("a", "a"), results("a"), SPEAKS], detail=False).calls) == 2


@pytest.mark.parametrize(
    "facts",
    [
        [calls("a", "b"), results("a"), Facts(USER, answers=("b",))],
        [calls("a", "b"), Facts(ASSISTANT, answers=("a", "b"))],
        [calls("a", "b"), results("a"), results("c")],
        [calls("a", "b"), results("a"), SAYS],
        [calls("a", "b"), results("a", "a")],
        [calls("a"), Facts(USER, answers=("a",))],
        [calls("a"), results("b")],
        [calls("a"), results("a", "b")],
    ],
)
def test_any_other_round_is_walked_even_without_detail(facts):
    assert pair(facts, detail=False).calls


def test_a_run_goes_on_past_a_round_that_was_passed_over():
    # The next message is a run of its own, so nothing said before it is tied to it.
    facts = [SPEAKS, THINKS, calls("a", "b"), results("a", "b"), SAYS, THINKS, calls("c")]
    assert names(facts) == [0, 1, 1, 1, 4, 5, 5]
    assert pair(facts, detail=False, whole_response=True).names == [0, 1, 1, 1, 4, 4, 4]


# --- suffixes -------------------------------------------------------------------------------------


HISTORY = [
    SPEAKS,
    calls("far"),
    SPEAKS,
    calls("a"),
    results("a"),
    SPEAKS,
    calls("b"),
    results("b"),
    results("far"),
    SAYS,
]


def test_a_suffix_without_loose_ends_needs_nothing_before_it():
    walk = pair(HISTORY[2:8], 2)
    assert walk.unmet == []
    assert walk.names == [2, 3, 3, 5, 6, 6]
    assert (walk.start, walk.stop) == (2, 8)


def test_unmet_lists_exactly_the_ends_that_need_earlier_messages():
    assert pair(HISTORY[5:], 5).unmet == [8]
    assert pair(HISTORY[7:], 7).unmet == [7, 8]
    assert pair(HISTORY[1:], 1).unmet == []


@pytest.mark.parametrize("detail", [True, False])
def test_a_suffix_walk_pairs_inside_itself_as_the_full_walk_does(detail):
    full = pair(HISTORY)
    for start in (2, 3, 5, 6, 8):
        walk = pair(HISTORY[start:], start, detail=detail)
        known = [(tie.message, tie.call.message) for tie in walk.ties if tie.call]
        whole = [(tie.message, tie.call.message) for tie in full.ties]
        assert set(known) <= set(whole)
        if detail:
            met = {message for message, _ in known}
            assert {m for m, _ in whole if m >= start} - met == set(walk.unmet)


@pytest.mark.parametrize(
    "end",
    [
        results("x"),
        results(None, name="x"),
        results("x", family="mcp"),
        requests("r", "x", FUNCTION),
        decides("x"),
        decides(None, "x"),
        child("mcp", "x"),
        child("program", "x"),
    ],
)
def test_every_end_without_its_other_half_is_unmet_in_a_suffix(end):
    for detail in (True, False):
        walk = pair([SPEAKS, SAYS, end], 10, detail=detail)
        assert walk.unmet == [12]


def test_a_request_of_its_own_needs_nothing_before_it():
    assert pair([SPEAKS, requests("r")], 10).unmet == []


def test_reasoning_binds_forward_in_a_suffix_too():
    assert names([SPEAKS] * 5 + [THINKS, calls("a"), results("a")], 5) == [5, 5, 5]
    walk = pair([THINKS, SAYS, SPEAKS], 40, whole_response=True)
    assert walk.names == [40, 40, 42]


def test_a_server_tool_in_the_very_first_message_is_answered():
    inside = Facts(ASSISTANT, (Link(CALL, "server", "s"), Link(RESULT, "server", "s")))
    again = Facts(ASSISTANT, (Link(RESULT, "server", "s"),))
    assert pair([inside]).waiting() == []
    assert pair([inside, SPEAKS]).waiting() == []
    assert [tie.duplicate for tie in pair([inside, again]).ties] == [False, True]
    twice = Facts(
        ASSISTANT,
        (
            *(Link(CALL, "server", "s"), Link(CALL, "server", "s")),
            *(Link(RESULT, "server", "s"), Link(RESULT, "server", "s")),
        ),
    )
    walk = pair([twice])
    assert [tie.call.ordinal for tie in walk.ties] == [0, 1]
    assert walk.waiting() == []


def test_a_request_about_a_call_answered_in_the_very_first_message_waits_for_nothing():
    first = Facts(
        ASSISTANT,
        (
            Link(CALL, "mcp", "a"),
            Link(RESULT, "mcp", "a"),
            Link(REQUEST, "mcp", "r", None, "a"),
        ),
    )
    walk = pair([first, SPEAKS])
    assert not walk.requests[0].waits
    assert walk.waiting() == []
    rejected = pair([first, decides("r", state=REJECTED)])
    assert rejected.calls[0].answer == 0


def test_a_suffix_claims_no_orphans():
    walk = pair([SPEAKS, results("x"), decides("r"), child("mcp", "y")], 10)
    assert walk.ties == []
    assert walk.unmet == [11, 12, 13]


def test_a_suffix_takes_no_foreign_call_before_it_knows_its_own_is_not_further_back():
    facts = [calls("a"), SPEAKS, calls("a", family="custom"), results("a")]
    assert pair(facts[1:], 1).unmet == [3]
    assert partners(facts) == [(3, 0)]


def test_only_the_model_calls():
    told = facts_with(USER, (Link(CALL, FUNCTION, "a"),))
    found = group([SPEAKS, told, results("a")], 0).pairing
    assert found.calls == []
    assert [tie.call for tie in found.ties] == [None]


# --- the first message of all ---------------------------------------------------------------------

CALLED, GIVEN = Link(CALL, FUNCTION, "a", "f", "b"), Link(RESULT, FUNCTION, "a", "f")
SHELL, RAN = Link(CALL, "shell", "a", None, "b"), Link(RESULT, "shell", "a")
BARE, BARELY = Link(CALL, FUNCTION, None, "f"), Link(RESULT, FUNCTION, None, "f")


@pytest.mark.parametrize(
    ("first", "again", "call", "duplicate"),
    [
        ((CALLED, GIVEN), GIVEN, True, True),
        # By the alias of the call, by its name, and by an id where the call has none.
        ((SHELL, RAN), Link(RESULT, "shell", "b"), True, True),
        ((BARE, BARELY), BARELY, False, False),
        ((BARE, BARELY), Link(RESULT, FUNCTION, "z", "f"), False, False),
        # A result of another family takes an open call and no answered one.
        ((CALLED, GIVEN), Link(RESULT, "custom", "a", "f"), False, False),
    ],
)
def test_a_call_that_its_own_message_answers_is_answered_in_the_first_of_all_too(
    first, again, call, duplicate
):
    tie = pair([Facts(ASSISTANT, first), Facts(ASSISTANT, (again,))]).ties[-1]
    assert (tie.call is not None, tie.duplicate, tie.foreign) == (call, duplicate, False)


def test_a_request_that_its_own_message_answers_is_not_closed_again():
    asked = Link(REQUEST, "mcp", "r", "f")
    first = Facts(ASSISTANT, (asked, Link(ANSWER, "mcp", "r")))
    walked = pair([first, Facts(ASSISTANT, (asked,))])
    assert [request.answer for request in walked.requests] == [0, -1]


def test_a_tie_says_which_end_of_its_message_it_is():
    ends = (GIVEN, Link(RESULT, FUNCTION, "b", "f"), Link(ANSWER, "mcp", "r"))
    ends += (Link(CHILD, "mcp", "r"), Link(RESULT, FUNCTION, "none"))
    asked = Facts(ASSISTANT, (CALLED, Link(REQUEST, "mcp", "r", "f")))
    walked = pair([asked, Facts(TOOL, ends)])
    assert [tie.ordinal for tie in walked.ties] == [0, 1, 2, 3, 4]
    assert [(one.ordinal, one.run) for one in walked.calls + walked.requests] == [(0, 1), (1, 1)]
    by_alias = pair([Facts(ASSISTANT, (SHELL,)), Facts(TOOL, (BARELY, Link(RESULT, "shell", "b")))])
    assert [tie.ordinal for tie in by_alias.ties] == [0, 1]


def test_a_child_of_a_call_that_was_settled_at_once_is_of_its_group():
    child = Facts(ASSISTANT, (Link(CHILD, FUNCTION, "a"),))
    assert names([calls("a"), results("a"), child]) == [0, 0, 0]


def test_a_request_about_one_of_two_calls_of_one_id_is_of_their_group():
    assert names([calls("a", "a"), requests("r", "a", FUNCTION), SPEAKS]) == [0, 0, 2]
