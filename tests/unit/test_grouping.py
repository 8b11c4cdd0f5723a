"""Groups are whole, know their state, and say where a walk may begin."""

from __future__ import annotations

import pytest

from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    ASSISTANT_FACTS,
    CALL,
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
from lockstitch.grouping import (
    ABANDONED,
    COMPLETE,
    OPEN,
    ORPHAN,
    Group,
    Ties,
    group,
    run_start,
    ties_for,
)
from lockstitch.history import groups, load
from lockstitch.testing import assistant, call, result, system, user

SAYS, SPEAKS, INSTRUCTS = ASSISTANT_FACTS, USER_FACTS, SYSTEM_FACTS
THINKS = Facts(ASSISTANT, reasoning=True)


def calls(*ids):
    return facts_with(ASSISTANT, tuple(Link(CALL, FUNCTION, one) for one in ids))


def results(*ids, state=FINAL):
    return facts_with(TOOL, tuple(Link(RESULT, FUNCTION, one, None, None, state) for one in ids))


def requests(id_, call_id=None):
    return Facts(ASSISTANT, (Link(REQUEST, FUNCTION, id_, None, call_id),))


def decides(id_, state=FINAL):
    return Facts(TOOL, (Link(ANSWER, FUNCTION, id_, None, None, state),))


def states(*facts, start=0, ties=None):
    """The states by the name of the group; those that are complete are left out."""
    found = {}
    for detail in (True, False):
        grouped = group(list(facts), start, ties or Ties(), detail=detail)
        found[detail] = grouped.states
    assert found[True] == found[False]
    return found[True]


# --- states ---------------------------------------------------------------------------------------


def test_a_round_with_its_result_is_complete():
    grouped = group([SPEAKS, calls("a"), results("a"), SAYS])
    assert grouped.states == {}
    assert grouped.state_of(1) == COMPLETE


@pytest.mark.parametrize(
    "after",
    [
        [],
        [results("b")],
        [results("a", state=INTERIM)],
        [INSTRUCTS],
        [OTHER_FACTS],
        [SAYS],
        [calls("c"), results("b")],
    ],
)
def test_a_call_is_open_while_nothing_but_answers_and_its_own_run_came_after_it(after):
    assert states(SPEAKS, calls("a", "b"), *after)[1] == OPEN


@pytest.mark.parametrize(
    "after",
    [
        [SPEAKS],
        [SPEAKS, SAYS],
        [results("b"), SPEAKS],
        [results("b"), SAYS],
        [results("b"), calls("c"), results("c")],
        [results("a", state=INTERIM), results("b"), SPEAKS],
        [Facts(USER, answers=("b",))],
    ],
)
def test_a_call_that_the_conversation_moved_past_is_abandoned(after):
    assert states(SPEAKS, calls("a", "b"), *after)[1] == ABANDONED


def test_a_call_whose_id_was_declared_again_is_abandoned():
    found = states(SPEAKS, calls("a"), SPEAKS, calls("a"))
    assert found == {1: ABANDONED, 3: OPEN}


def test_a_late_result_completes_an_old_call():
    assert states(SPEAKS, calls("a"), SPEAKS, SAYS, results("a")) == {}


def test_a_group_that_awaits_approval_is_open_however_old():
    found = states(calls("a"), requests("r", "a"), SPEAKS, SAYS, SPEAKS, SAYS)
    assert found == {0: OPEN}


def test_a_request_of_its_own_is_open_however_old():
    assert states(requests("r"), SPEAKS, SAYS) == {0: OPEN}


@pytest.mark.parametrize("state", [FINAL, REJECTED])
def test_a_request_that_was_decided_is_no_longer_open(state):
    assert states(requests("r"), decides("r", state), SPEAKS, SAYS) == {}


def test_a_call_that_was_approved_and_never_ran_is_abandoned_like_any_other():
    facts = [calls("a"), requests("r", "a"), decides("r")]
    assert states(*facts) == {0: OPEN}
    assert states(*facts, SPEAKS) == {0: ABANDONED}


def test_a_call_that_was_rejected_is_complete():
    assert states(calls("a"), requests("r", "a"), decides("r", REJECTED), SPEAKS) == {}


def test_an_answer_without_its_call_is_an_orphan():
    assert states(SPEAKS, results("a"), decides("r")) == {1: ORPHAN, 2: ORPHAN}


def test_no_suffix_calls_anything_an_orphan():
    grouped = group([SPEAKS, results("a")], 5)
    assert grouped.states == {}
    assert grouped.pairing.unmet == [6]


def test_an_open_call_outweighs_an_abandoned_one_in_the_same_group():
    tied = Ties(whole_response=True)
    # The run is one group; one call in it waits for an approval, the other is past.
    facts = [calls("a"), calls("b"), requests("r", "b"), SPEAKS]
    assert states(*facts, ties=tied) == {0: OPEN}
    assert states(calls("b"), requests("r", "b"), calls("a"), SPEAKS, ties=tied) == {0: OPEN}


def test_an_abandoned_call_outweighs_an_orphan_in_the_same_group():
    facts = [SPEAKS, Facts(ASSISTANT, (Link(RESULT, FUNCTION, "x"), Link(CALL, FUNCTION, "a")))]
    assert states(*facts, SPEAKS) == {1: ABANDONED}
    assert states(*facts) == {1: OPEN}


# --- what is one group ----------------------------------------------------------------------------


def test_reasoning_call_and_result_are_one_group():
    grouped = group([SPEAKS, THINKS, calls("a"), results("a"), SAYS])
    assert grouped.names == [0, 1, 1, 1, 4]


def test_reasoning_between_the_calls_of_a_run_ties_only_forward():
    grouped = group([calls("a"), THINKS, calls("b"), results("a"), results("b")])
    assert grouped.names == [0, 1, 1, 0, 1]
    assert grouped.interleaved


def test_groups_that_stand_one_after_another_are_not_interleaved():
    assert not group([SPEAKS, calls("a"), results("a"), SPEAKS]).interleaved


def test_a_whole_response_is_one_group_where_it_is_demanded():
    facts = [SPEAKS, calls("a"), SAYS, results("a"), SAYS]
    assert group(facts).names == [0, 1, 2, 1, 4]
    assert group(facts, ties=Ties(whole_response=True)).names == [0, 1, 1, 1, 4]


def test_groups_that_share_a_message_join_into_the_first_of_them():
    facts = [SPEAKS, calls("a"), calls("b"), calls("c"), results("c", "b"), results("a", "b", "c")]
    # The second answer to b and c is a duplicate, which ties it to their calls all the same.
    assert group(facts).names == [0, 1, 1, 1, 1, 1]


def test_a_chain_of_shared_messages_joins_from_end_to_end():
    facts = [calls("a"), calls("b"), calls("c"), calls("d")]
    facts += [results("c", "d"), results("a", "b"), results("b", "c")]
    assert group(facts).names == [0, 0, 0, 0, 0, 0, 0]


def test_joining_does_not_depend_on_where_the_window_begins():
    facts = [calls("a"), calls("b"), results("a", "b"), SPEAKS]
    assert group(facts, 7).names == [7, 7, 7, 10]


def system_names(*facts, start=0):
    return group(list(facts), start, Ties(bound_system=True)).names


def test_a_system_message_inside_the_list_is_bound_to_its_neighbours():
    assert system_names(SPEAKS, INSTRUCTS, SAYS, SPEAKS) == [0, 0, 0, 3]


def test_system_messages_that_open_the_list_are_bound_to_nothing():
    assert system_names(INSTRUCTS, INSTRUCTS, SPEAKS, SAYS) == [0, 1, 2, 3]


def test_a_system_message_is_not_bound_to_a_user_message_after_it():
    assert system_names(SPEAKS, INSTRUCTS, SPEAKS) == [0, 0, 2]


def test_a_system_message_at_the_end_is_bound_to_what_it_follows():
    assert system_names(SPEAKS, SAYS, SPEAKS, INSTRUCTS) == [0, 1, 2, 2]


def test_a_system_message_binds_the_round_before_it_to_the_reply_after_it():
    assert system_names(SPEAKS, calls("a"), results("a"), INSTRUCTS, SAYS) == [0, 1, 1, 1, 1]


def test_a_system_message_right_at_the_start_of_a_suffix_is_inside_the_list():
    assert system_names(INSTRUCTS, SAYS, SPEAKS, start=4) == [4, 4, 6]
    assert system_names(INSTRUCTS, SAYS, SPEAKS, start=1) == [1, 1, 3]


def test_system_messages_are_free_where_nothing_binds_them():
    assert group([SPEAKS, INSTRUCTS, SAYS]).names == [0, 1, 2]


# --- ties for a format and a profile --------------------------------------------------------------


@pytest.mark.parametrize(
    ("format_", "asked", "expected"),
    [
        ("openai-chat", (False, False), Ties()),
        ("openai-chat", (True, True), Ties(whole_response=True)),
        ("openai-responses", (False, False), Ties(whole_response=True)),
        ("anthropic", (False, False), Ties()),
        ("anthropic", (False, True), Ties(bound_system=True)),
        ("anthropic", (True, True), Ties(whole_response=True, bound_system=True)),
    ],
)
def test_ties_combine_what_the_format_and_the_profile_demand(format_, asked, expected):
    transcript = load([], format=format_)
    whole, bound = asked
    assert ties_for(transcript, whole_response=whole, bound_system=bound) == expected


# --- groups as values -----------------------------------------------------------------------------


def test_a_group_knows_its_name_its_span_and_its_kind():
    unit = Group((2, 5, 6), "open", 1)
    assert (unit.first, unit.span, unit.kind) == (2, (2, 7), "calls")
    assert Group((4,), "complete", 0).kind == "message"


def test_all_groups_are_listed_in_order_with_members_states_and_calls():
    history = [
        system("s"),
        user("1"),
        call("a", "b"),
        result("a"),
        result("b"),
        user("2"),
        call("c"),
        user("3"),
        result("x"),
        assistant("4"),
        call("d"),
    ]
    found = groups(history, profile="openai-chat")
    assert [(unit.members, unit.state, unit.calls) for unit in found] == [
        ((0,), "complete", 0),
        ((1,), "complete", 0),
        ((2, 3, 4), "complete", 2),
        ((5,), "complete", 0),
        ((6,), "abandoned", 1),
        ((7,), "complete", 0),
        ((8,), "orphan", 0),
        ((9,), "complete", 0),
        ((10,), "open", 1),
    ]


def test_requests_and_answers_are_not_counted_as_calls():
    facts = [calls("a"), requests("r", "a"), decides("r"), results("a")]
    (unit,) = group(facts)
    assert unit.members == (0, 1, 2, 3)
    assert unit.calls == 1


def test_the_calls_of_every_message_of_a_group_are_added_up():
    facts = [calls("a"), calls("b", "c"), results("a", "b", "c")]
    (unit,) = group(facts)
    assert unit.calls == 3


def test_groups_are_a_sequence_that_is_made_once():
    grouped = group([SPEAKS, calls("a"), results("a"), SAYS])
    assert len(grouped) == 3
    assert grouped[1] is grouped[1]
    assert [unit.first for unit in grouped[1:]] == [1, 3]
    assert grouped[-1] == Group((3,), COMPLETE, 0)


def test_a_window_names_groups_by_position_in_the_whole_list():
    facts = [calls("a"), results("a"), SPEAKS]
    grouped = group(facts, 4)
    assert grouped.name_of(5) == 4
    assert grouped.state_of(6) == COMPLETE
    assert (grouped.start, grouped.stop) == (4, 7)
    assert [unit.members for unit in grouped] == [(4, 5), (6,)]


# --- where a walk may begin -----------------------------------------------------------------------


ROUNDS = [
    system("s"),  # 0
    user("1"),  # 1
    call("a"),  # 2
    result("a"),  # 3
    call("b", "c"),  # 4
    result("b"),  # 5
    result("c"),  # 6
    assistant("2"),  # 7
    assistant("3"),  # 8
    user("4"),  # 9
    assistant("5"),  # 10
]


@pytest.mark.parametrize(
    ("position", "start"),
    [
        (0, 0),
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 4),
        (5, 4),
        (6, 4),
        (7, 7),
        (8, 7),
        (9, 9),
        (10, 10),
    ],
)
def test_a_walk_begins_at_a_user_message_or_at_the_start_of_a_run(position, start):
    transcript = load(ROUNDS, format="openai-chat")
    assert run_start(transcript.facts_at, position) == start


def test_a_walk_does_not_begin_at_a_user_message_that_carries_answers():
    both = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "t"}],
    }
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "x"}]}
    transcript = load([user("1"), asked, both], format="anthropic")
    assert run_start(transcript.facts_at, 2) == 1


def test_a_walk_does_not_begin_after_a_system_message_inside_the_list():
    transcript = load([user("1"), system("s"), assistant("2"), assistant("3")], format="anthropic")
    assert [run_start(transcript.facts_at, at) for at in range(4)] == [0, 0, 0, 0]


def test_a_walk_reaches_the_very_first_message_when_nothing_else_will_do():
    transcript = load([assistant("1"), assistant("2")], format="openai-chat")
    assert run_start(transcript.facts_at, 1) == 0
