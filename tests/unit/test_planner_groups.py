"""The groups cut: whole groups go, oldest first, and what must stay stays."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

PROFILES = ["portable", "openai-chat", "openai-responses", "anthropic"]

HISTORY = [
    system("s"),  # 0
    user("1"),  # 1
    call("a"),  # 2
    result("a"),  # 3
    assistant("2"),  # 4
    user("3"),  # 5
    call("b"),  # 6
    result("b"),  # 7
    assistant("4"),  # 8
    user("5"),  # 9
    assistant("6"),  # 10
]


def kept(history, limit, **options):
    return ls.plan(history, max_messages=limit, **options).kept


def edits(history, limit, **options):
    decision = ls.plan(history, max_messages=limit, **options)
    return [(edit.start, edit.stop, edit.reason) for edit in decision.edits]


def floor_of(history, **options):
    """What must stay, as it is told when nothing more than one message is allowed."""
    with pytest.raises(ls.CannotFit) as caught:
        ls.plan(history, **({"max_messages": 1} | options))
    return [(item.start, item.stop, item.size, item.reason) for item in caught.value.floor]


def rounds(count, start=0):
    names = (f"c{at}" for at in range(start, start + count))
    return [message for name in names for message in (call(name), result(name))]


# --- limits ---------------------------------------------------------------------------------------


def test_no_limit_keeps_everything():
    assert edits(HISTORY, None) == [(0, 11, "all")]
    assert ls.trim(HISTORY) == HISTORY


@pytest.mark.parametrize("limit", [11, 12, 10_000])
def test_a_limit_that_is_not_passed_keeps_everything(limit):
    assert edits(HISTORY, limit) == [(0, 11, "all")]


@pytest.mark.parametrize("options", [{}, {"cut": "prefix"}, {"floor": False}, {"pins": [2]}])
def test_a_limit_of_zero_keeps_nothing_whatever_else_is_asked(options):
    assert edits(HISTORY, 0, **options) == [(0, 11, "zero")]
    assert ls.trim(HISTORY, max_messages=0, **options) == []


@pytest.mark.parametrize(
    "limits",
    [
        {"max_messages": 0, "max_tokens": 1000},
        {"max_messages": 1000, "max_tokens": 0},
        {"max_chars": 0},
    ],
)
def test_any_limit_of_zero_is_enough(limits):
    assert ls.trim(HISTORY, **limits) == []


@pytest.mark.parametrize("limit", [0, 1, None])
def test_a_history_of_no_messages_stays_one(limit):
    decision = ls.plan([], max_messages=limit)
    assert (decision.edits, decision.kept, decision.changed_from) == ((), [], 0)


def test_a_limit_of_one_keeps_the_only_message_there_is():
    assert kept([user("1")], 1) == [0]


def test_a_limit_of_one_keeps_the_newest_message_where_that_is_enough():
    assert kept([user("1"), assistant("2"), user("3")], 1) == [2]


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (3, [0, 9, 10]),
        (4, [0, 8, 9, 10]),
        (5, [0, 8, 9, 10]),
        (6, [0, 6, 7, 8, 9, 10]),
        (7, [0, 5, 6, 7, 8, 9, 10]),
        (8, [0, 4, 5, 6, 7, 8, 9, 10]),
        (9, [0, 4, 5, 6, 7, 8, 9, 10]),
        (10, [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_whole_groups_go_oldest_first(limit, positions):
    assert kept(HISTORY, limit, profile="openai-chat") == positions


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (3, [0, 9, 10]),
        (4, [0, 9, 10]),
        (5, [0, 9, 10]),
        (6, [0, 9, 10]),
        (7, [0, 5, 6, 7, 8, 9, 10]),
        (8, [0, 5, 6, 7, 8, 9, 10]),
        (9, [0, 5, 6, 7, 8, 9, 10]),
        (10, [0, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_where_a_user_must_speak_first_the_window_starts_there(limit, positions):
    assert kept(HISTORY, limit) == positions


def test_every_edit_says_why():
    assert edits(HISTORY, 8) == [
        (0, 1, "system"),
        (1, 4, "oldest"),
        (4, 5, "start"),
        (5, 9, "recent"),
        (9, 10, "task"),
        (10, 11, "newest"),
    ]


# --- the floor ------------------------------------------------------------------------------------


def test_the_floor_is_the_system_part_the_newest_user_message_and_the_newest_complete_group():
    assert floor_of(HISTORY) == [
        (0, 1, 1, "system"),
        (9, 10, 1, "task"),
        (10, 11, 1, "newest"),
    ]


def test_cannot_fit_says_what_would_do():
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(HISTORY, max_messages=2)
    error = caught.value
    assert (error.needed, error.limit, error.unit) == (3, 2, "messages")
    assert ls.trim(HISTORY, max_messages=error.needed) == [HISTORY[0], *HISTORY[9:]]


@pytest.mark.parametrize(
    ("history", "limit", "reason"),
    [
        ([system("s1"), system("s2"), system("s3")], 2, "system"),
        ([*(system() for _ in range(5)), user("1")], 4, "system"),
        ([user("1"), call("a", "b"), result("a")], 1, "open"),
        ([user("1"), call("a", "b"), result("a"), result("b")], 3, "newest"),
        ([user("1"), assistant("2")], 1, "task"),
    ],
)
def test_each_member_of_the_floor_alone_can_be_too_much(history, limit, reason):
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(history, max_messages=limit)
    assert caught.value.limit == limit
    assert caught.value.needed == sum(item.size for item in caught.value.floor) > limit
    assert reason in {item.reason for item in caught.value.floor}


def test_a_pin_alone_can_be_too_much():
    history = [user("1"), call(*"abcdef"), *map(result, "abcdef"), user("2")]
    assert floor_of(history, max_messages=5, pins=[3], profile="openai-chat") == [
        (1, 8, 7, "pinned"),
        (8, 9, 1, "task"),
    ]


def test_a_floor_member_that_stands_far_back_is_listed_too():
    history = [user("the task"), *rounds(100)]
    assert floor_of(history) == [(0, 1, 1, "task"), (199, 201, 2, "newest")]


def test_the_newest_message_is_the_task_and_the_newest_group_at_once():
    assert floor_of([system(), user("1"), assistant("2"), user("3")]) == [
        (0, 1, 1, "system"),
        (3, 4, 1, "task"),
    ]


def test_the_newest_complete_group_need_not_be_the_last_one():
    history = [user("1"), call("a"), result("a"), call("b")]
    assert floor_of(history) == [
        (0, 1, 1, "task"),
        (1, 3, 2, "newest"),
        (3, 4, 1, "open"),
    ]


def test_an_abandoned_call_is_no_part_of_the_floor():
    history = [user("1"), assistant("2"), call("a"), user("3"), assistant("4")]
    assert [item[3] for item in floor_of(history)] == ["task", "newest"]
    assert kept(history, 2) == [3, 4]


def test_an_orphan_is_no_part_of_the_floor():
    history = [user("1"), assistant("2"), user("3"), assistant("4"), result("gone")]
    assert kept(history, 2) == [2, 3]


def test_damage_is_kept_like_anything_else_where_it_fits():
    history = [user("1"), assistant("2"), user("3"), result("gone"), assistant("4")]
    assert kept(history, 4, profile="openai-chat") == [1, 2, 3, 4]


def test_system_messages_inside_the_list_are_no_system_part():
    history = [system("s"), user("1"), system("inside"), user("2"), assistant("3")]
    assert kept(history, 3) == [0, 3, 4]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_history_without_any_user_message_has_no_task_to_keep(profile):
    history = [system("s"), *rounds(5)]
    decision = ls.plan(history, max_messages=5, profile=profile)
    assert decision.kept[0] == 0
    assert len(decision.kept) <= 5
    assert decision.kept[-2:] == [9, 10]


def test_without_a_floor_nothing_is_protected():
    assert kept(HISTORY, 1, floor=False) == []
    assert kept(HISTORY, 2, floor=False) == [9, 10]
    assert kept(HISTORY, 6, floor=False) == [5, 6, 7, 8, 9, 10]
    assert kept(HISTORY, 10, floor=False) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    assert kept(HISTORY, 1, floor=False, profile="openai-chat") == [10]


def test_without_a_floor_open_groups_go_too():
    history = [user("1"), call("a", "b"), result("a")]
    assert edits(history, 1, floor=False, profile="openai-chat") == [
        (0, 1, "recent"),
        (1, 3, "too-large"),
    ]
    assert kept(history, 2, floor=False, profile="openai-chat") == [1, 2]


def test_without_a_floor_no_lead_is_brought_back():
    history = [user("1"), *rounds(10)]
    assert kept(history, 4, floor=False) == []
    assert kept(history, 4, floor=False, profile="openai-chat") == [17, 18, 19, 20]


@pytest.mark.parametrize("profile", PROFILES)
def test_without_a_floor_a_system_part_alone_is_no_window(profile):
    history = [system("s"), call(*"abc"), *map(result, "abc")]
    assert edits(history, 3, floor=False, profile=profile) == [
        (0, 1, "oldest"),
        (1, 5, "too-large"),
    ]
    assert kept(history, 5, floor=False, profile="openai-chat") == [0, 1, 2, 3, 4]
    assert kept([system("s")], 1, floor=False, profile=profile) == [0]


@pytest.mark.parametrize("floor", [0, 1, None, "yes"])
def test_floor_is_true_or_false(floor):
    with pytest.raises(TypeError, match="floor must be True or False, got"):
        ls.trim(HISTORY, max_messages=5, floor=floor)


# --- when the floor does not fit ------------------------------------------------------------------


def test_smallest_gives_the_floor_all_the_same():
    assert kept(HISTORY, 2, on_overflow="smallest") == [0, 9, 10]
    assert edits(HISTORY, 1, on_overflow="smallest") == [
        (0, 1, "system"),
        (1, 9, "oldest"),
        (9, 10, "task"),
        (10, 11, "newest"),
    ]
    assert kept(HISTORY, 7, on_overflow="smallest") == kept(HISTORY, 7)


def test_empty_gives_nothing():
    assert edits(HISTORY, 2, on_overflow="empty") == [(0, 11, "overflow")]
    assert ls.trim(HISTORY, max_messages=2, on_overflow="empty") == []
    assert kept(HISTORY, 7, on_overflow="empty") == kept(HISTORY, 7)


@pytest.mark.parametrize("policy", ["smallest", "empty"])
def test_both_work_far_from_the_tail_and_for_either_cut(policy):
    history = [user("the task"), *rounds(500)]
    expected = [0, 999, 1000] if policy == "smallest" else []
    for cut in ("groups", "prefix"):
        assert kept(history, 2, on_overflow=policy, cut=cut) == expected
    decision = ls.plan(history, max_messages=2, on_overflow=policy)
    assert decision.after.messages == len(expected)
    assert sum(edit.count for edit in decision.edits) == 1001


@pytest.mark.parametrize("policy", ["smallest", "empty"])
def test_sizes_after_an_overflow_are_those_of_what_is_kept(policy):
    decision = ls.plan(HISTORY, max_chars=1, on_overflow=policy)
    assert decision.after.chars == (3 if policy == "smallest" else 0)


@pytest.mark.parametrize("policy", ["", "ignore", None, []])
def test_an_unknown_policy_is_refused(policy):
    with pytest.raises((ValueError, TypeError), match='on_overflow must be "raise", "smallest" or'):
        ls.trim(HISTORY, max_messages=5, on_overflow=policy)


@pytest.mark.parametrize("cut", ["", "turns", None, []])
def test_an_unknown_cut_is_refused(cut):
    with pytest.raises((ValueError, TypeError), match='cut must be "groups" or "prefix", got'):
        ls.trim(HISTORY, max_messages=5, cut=cut)


# --- open groups ----------------------------------------------------------------------------------


def test_an_open_call_and_the_results_it_has_stay():
    history = [user("1"), assistant("2"), user("3"), call("a", "b", "c"), result("b")]
    assert edits(history, 3) == [(0, 2, "oldest"), (2, 3, "task"), (3, 5, "open")]


def responses(*items):
    return [{"role": "user", "content": "go"}, *items]


def request(id_):
    return {"type": "mcp_approval_request", "id": id_, "name": "x", "arguments": "{}"}


def said(text):
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("length", [10, 100, 1_000])
def test_a_group_far_back_that_awaits_approval_stays(length):
    talk = [message for at in range(length) for message in (user(str(at)), said(str(at)))]
    history = responses(request("r1"), *talk)
    decision = ls.plan(history, max_messages=6, format="openai-responses", profile="portable")
    assert decision.kept == [0, 1, *range(len(history) - 4, len(history))]
    assert [edit.reason for edit in decision.edits] == [
        "lead",
        "open",
        "oldest",
        "recent",
        "task",
        "newest",
    ]


def test_an_approval_that_was_given_far_back_stays_no_longer():
    talk = [message for at in range(100) for message in (user(str(at)), said(str(at)))]
    answer = {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": True}
    history = responses(request("r1"), answer, *talk)
    assert kept(history, 4, format="openai-responses") == [199, 200, 201, 202]


def test_an_approval_given_in_the_window_brings_the_request_along():
    talk = [message for at in range(300) for message in (user(str(at)), said(str(at)))]
    answer = {"type": "mcp_approval_response", "approval_request_id": "r1", "approve": True}
    history = responses(request("r1"), *talk, answer)
    decision = ls.plan(history, max_messages=6, format="openai-responses")
    assert decision.kept == [0, 1, 599, 600, 601, 602]


# --- a user message for what is kept --------------------------------------------------------------


def test_one_turn_of_many_rounds_keeps_its_task():
    history = [system("s"), user("task"), *rounds(10)]
    assert kept(history, 4) == [0, 1, 20, 21]
    assert kept(history, 5) == [0, 1, 20, 21]
    assert kept(history, 6) == [0, 1, 18, 19, 20, 21]
    assert kept(history, 21) == [0, 1, *range(4, 22)]


TURNS = [
    system("s"),  # 0
    user("old"),  # 1
    assistant("x"),  # 2
    user("earlier task"),  # 3
    *rounds(3),  # 4-9
    assistant("done"),  # 10
    user("new"),  # 11
    assistant("ok"),  # 12
]


def test_kept_tool_rounds_get_the_user_message_they_answer_in_exchange_for_the_oldest():
    assert edits(TURNS, 8) == [
        (0, 1, "system"),
        (1, 3, "oldest"),
        (3, 4, "lead"),
        (4, 8, "oldest"),
        (8, 11, "recent"),
        (11, 12, "task"),
        (12, 13, "newest"),
    ]
    assert kept(TURNS, 7) == [0, 3, 8, 9, 10, 11, 12]
    assert kept(TURNS, 9) == [0, 3, 6, 7, 8, 9, 10, 11, 12]
    assert kept(TURNS, 11) == [0, *range(3, 13)]


def test_a_lone_answer_goes_the_way_of_its_question():
    assert edits(TURNS, 5) == [
        (0, 1, "system"),
        (1, 10, "oldest"),
        (10, 11, "start"),
        (11, 12, "task"),
        (12, 13, "newest"),
    ]


def test_a_user_message_that_does_not_fit_costs_the_rounds_that_need_it():
    assert kept(TURNS, 6) == [0, 11, 12]
    assert kept(TURNS, 6, profile="openai-chat") == [0, 8, 9, 10, 11, 12]


def test_profiles_that_take_any_start_get_the_lead_too_where_it_fits():
    assert kept(TURNS, 7, profile="openai-chat") == [0, 3, 8, 9, 10, 11, 12]
    assert kept(TURNS, 7, profile="openai-chat", floor=False) == [6, 7, 8, 9, 10, 11, 12]


def test_the_lead_far_before_the_window_is_found():
    history = [system("s"), user("task"), *rounds(200), assistant("x"), user("new"), assistant("y")]
    end = len(history)
    assert kept(history, 10) == [0, 1, *range(end - 7, end)]
    assert kept(history, 11) == [0, 1, *range(end - 9, end)]
    assert ls.check(ls.trim(history, max_messages=10)).ok


def test_what_must_stay_gets_a_user_message_in_front_where_one_is_demanded():
    history = [user("0"), assistant("1"), user("2"), call("a"), result("a"), user("3"), said("4")]
    assert edits(history, 5, pins=[3]) == [
        (0, 2, "oldest"),
        (2, 3, "lead"),
        (3, 5, "pinned"),
        (5, 6, "task"),
        (6, 7, "newest"),
    ]
    with pytest.raises(ls.CannotFit) as caught:
        kept(history, 4, pins=[3])
    assert caught.value.needed == 5
    assert kept(history, 4, pins=[3], profile="openai-chat") == [3, 4, 5, 6]


@pytest.mark.parametrize("profile", ["portable", "anthropic"])
@pytest.mark.parametrize("count", [5, 100, 1_000])
def test_a_task_far_back_comes_with_the_system_message_bound_to_it(profile, count):
    tail = [one for at in range(count) for one in (said_uses(f"c{at}"), told_results(f"c{at}"))]
    options = {"profile": profile, "format": "anthropic"}
    bound = [user("task"), system("note"), assistant("so be it"), *tail]
    end = len(bound)
    assert kept(bound, 8, **options) == [0, 1, 2, *range(end - 4, end)]
    assert kept(bound, 8, pins=[1], **options) == [0, 1, 2, *range(end - 4, end)]
    free = [user("task"), assistant("so be it"), system("note"), *tail]
    assert kept(free, 8, **options) == [0, *range(end - 6, end)]
    led = [system("s"), user("task"), *tail]
    end = len(led)
    assert kept(led, 8, **options) == [0, 1, *range(end - 6, end)]
    assert kept([*bound, user("new"), system("more")], 8, **options)[-2:] == [end + 1, end + 2]


@pytest.mark.parametrize("count", [5, 100, 1_000])
def test_where_nothing_binds_it_a_system_message_far_back_goes(count):
    bound = [user("task"), system("note"), assistant("so be it"), *rounds(count)]
    end = len(bound)
    assert kept(bound, 8, profile="anthropic") == [0, *range(end - 6, end)]
    assert kept(bound, 8, pins=[1], profile="anthropic") == [0, 1, *range(end - 6, end)]


@pytest.mark.parametrize("count", [5, 100, 1_000])
def test_pins_and_lead_far_back_are_not_counted_twice(count):
    history = [system("s"), user("task"), *rounds(count), user("next"), assistant("ok")]
    end = len(history)
    for pins in ([1], [0, 1], [1, -1], [0, 1, 2]):
        decision = ls.plan(history, max_messages=8, pins=pins)
        assert decision.after.messages == len(decision.kept) == 8
        assert decision.kept[:2] == [0, 1]
        assert decision.kept[-2:] == [end - 2, end - 1]


def said_uses(*ids):
    uses = [{"type": "tool_use", "id": one, "name": "x", "input": {}} for one in ids]
    return {"role": "assistant", "content": uses}


def told_results(*ids, words=()):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "r"} for one in ids]
    blocks += [{"type": "text", "text": one} for one in words]
    return {"role": "user", "content": blocks}


def remarked(count):
    """A task, and a user message that holds a result and a remark, then plain rounds."""
    rounds_ = [one for at in range(count) for one in (said_uses(f"c{at}"), told_results(f"c{at}"))]
    return [
        user("task"),  # 0
        said_uses("first"),  # 1
        told_results("first", words=["and mind the cost"]),  # 2
        *rounds_,
    ]


@pytest.mark.parametrize("profile", ["openai-chat", "anthropic"])
def test_a_lead_is_a_user_message_that_carries_no_results_of_its_own(profile):
    history = [*remarked(200), said_uses("far"), user("news"), told_results("far")]
    end = len(history)
    assert kept(history, 3, profile=profile) == [end - 3, end - 2, end - 1]
    assert kept(history, 5, profile=profile) == [0, end - 3, end - 2, end - 1]
    assert kept(history, 5, pins=[2], profile=profile) == [1, 2, end - 3, end - 2, end - 1]


@pytest.mark.parametrize("count", [1, 2, 20, 200])
@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("pins", [(), (2,), (3,), (5,)])
@pytest.mark.parametrize("tail", [[], [user("next"), assistant("ok")]])
def test_a_lead_that_carries_results_does_not_leave_its_call_in_front(count, cut, pins, tail):
    history = [*remarked(count), *tail]
    pins = [pin for pin in pins if pin < len(history)]
    assert ls.check(history, profile="portable").ok
    for limit in (*range(1, min(len(history), 60) + 1), len(history) - 1):
        window = ls.trim(history, max_messages=limit, cut=cut, pins=pins, on_overflow="empty")
        assert len(window) <= limit
        if window:
            assert ls.check(window, profile="portable", format="anthropic").violations == ()


def test_a_call_under_the_users_role_is_no_call_of_the_model():
    use = {"type": "tool_use", "id": "a", "name": "x", "input": {}}
    history = [
        user("0"),
        {"role": "user", "content": [use]},
        told_results("a"),
        assistant("3"),
        user("4"),
        assistant("5"),
    ]
    options = {"format": "anthropic", "profile": "anthropic"}
    assert [unit.state for unit in ls.groups(history, **options)][2] == "orphan"
    assert [(found.rule, found.index) for found in ls.check(history, **options).errors] == [
        ("an-tool-use-role", 1),
        ("an-result-needs-use", 2),
    ]
    assert kept(history, 4, format="anthropic", profile="openai-chat") == [2, 3, 4, 5]


# --- a group larger than everything ---------------------------------------------------------------


WIDE = [
    user("0"),  # 0
    assistant("1"),  # 1
    user("2"),  # 2
    call(*"abcdef"),  # 3
    *map(result, "abcdef"),  # 4-9
    user("3"),  # 10
    assistant("4"),  # 11
]


def test_a_group_larger_than_the_whole_limit_goes_alone():
    assert edits(WIDE, 6) == [
        (0, 3, "recent"),
        (3, 10, "too-large"),
        (10, 11, "task"),
        (11, 12, "newest"),
    ]
    assert edits(WIDE, 3) == [
        (0, 2, "oldest"),
        (2, 3, "recent"),
        (3, 10, "too-large"),
        (10, 11, "task"),
        (11, 12, "newest"),
    ]


def test_a_group_that_fits_into_the_limit_but_not_beside_the_floor_ends_the_window():
    # Skipping it would keep older small talk while newer work goes.
    for limit in (7, 8):
        assert kept(WIDE, limit, profile="openai-chat") == [10, 11]


def test_a_group_that_just_fits_beside_the_floor_is_kept():
    assert kept(WIDE, 9, profile="openai-chat") == [3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_the_newest_group_is_kept_or_refused_however_wide():
    history = [user("1"), call(*"abcdef"), *map(result, "abcdef")]
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(history, max_messages=5)
    assert (caught.value.needed, caught.value.limit) == (8, 5)
    assert kept(history, 8) == list(range(8))


# --- holes and groups that interleave -------------------------------------------------------------


BRAIDED = [
    user("0"),  # 0
    call("a"),  # 1   group 1
    call("b"),  # 2   group 2
    result("a"),  # 3   group 1
    result("b"),  # 4   group 2
    user("5"),  # 5
    call("c"),  # 6   group 6
    user("7"),  # 7
    result("c"),  # 8   group 6
    assistant("9"),  # 9
]


def test_groups_that_interleave_are_kept_or_dropped_whole():
    for limit in range(2, 11):
        for profile in PROFILES:
            positions = set(kept(BRAIDED, limit, profile=profile))
            assert len(positions) <= limit
            for unit in ls.groups(BRAIDED, profile=profile):
                members = set(unit.members)
                assert members <= positions or not members & positions


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (2, [7, 9]),
        (3, [7, 9]),
        (4, [6, 7, 8, 9]),
        (5, [5, 6, 7, 8, 9]),
        (6, [5, 6, 7, 8, 9]),
        (7, [2, 4, 5, 6, 7, 8, 9]),
        (8, [0, 2, 4, 5, 6, 7, 8, 9]),
        (9, [0, 2, 4, 5, 6, 7, 8, 9]),
    ],
)
def test_interleaved_groups_go_by_their_first_message(limit, positions):
    assert kept(BRAIDED, limit, profile="openai-chat") == positions


def test_a_hole_is_left_where_a_group_astride_others_goes():
    history = [
        user("0"),
        call("far"),
        user("2"),
        assistant("3"),
        user("4"),
        result("far"),
        said("6"),
    ]
    assert kept(history, 5, profile="openai-chat") == [2, 3, 4, 6]
    assert kept(history, 6, profile="openai-chat") == [1, 2, 3, 4, 5, 6]


def test_a_cut_that_would_confuse_equal_ids_takes_the_tangled_groups_together():
    def tangle(inner):
        return [
            user("0"),
            call("a"),  # 1, answered at 6
            user("a long one"),  # 2, parts the two calls
            call(inner),  # 3
            result(inner),  # 4
            user("5"),
            result("a"),  # 6
            user("7"),
            assistant("8"),
        ]

    # Without what parts them the two calls would be one turn, and FIFO would swap their results.
    options = {"profile": "openai-chat", "max_tokens": 10}
    sizes = [1, 1, 100, 1, 1, 1, 1, 1, 1]
    assert ls.plan(tangle("a"), counter=sizes, **options).kept == [0, 7, 8]
    assert ls.plan(tangle("b"), counter=sizes, **options).kept == [0, 1, 3, 4, 5, 6, 7, 8]
    assert kept(tangle("b"), 7, pins=[1], profile="openai-chat") == [1, 3, 4, 5, 6, 7, 8]
    with pytest.raises(ls.CannotFit) as caught:
        kept(tangle("a"), 7, pins=[1], profile="openai-chat")
    assert caught.value.needed == 8
    assert kept(tangle("a"), 8, pins=[1], profile="openai-chat") == list(range(1, 9))


def test_a_lead_far_back_comes_with_the_system_message_bound_to_it():
    tail = [one for at in range(100) for one in (said_uses(f"c{at}"), told_results(f"c{at}"))]
    history = [user("task"), system("note"), assistant("so be it"), *tail]
    history += [said_uses("far"), user("news"), told_results("far")]
    end = len(history)
    assert kept(history, 6, format="anthropic") == [0, 1, 2, end - 3, end - 2, end - 1]


# --- pins -----------------------------------------------------------------------------------------


def test_a_pinned_message_stays():
    assert edits(HISTORY, 4, pins=[1]) == [
        (0, 1, "system"),
        (1, 2, "pinned"),
        (2, 9, "oldest"),
        (9, 10, "task"),
        (10, 11, "newest"),
    ]


@pytest.mark.parametrize("pin", [2, 3])
def test_a_pin_brings_its_partners(pin):
    assert kept(HISTORY, 5, pins=[pin], profile="openai-chat") == [0, 2, 3, 9, 10]


@pytest.mark.parametrize("pin", [2, 3])
def test_a_pin_brings_its_user_message_where_one_must_come_first(pin):
    assert kept(HISTORY, 6, pins=[pin]) == [0, 1, 2, 3, 9, 10]


@pytest.mark.parametrize(("pin", "position"), [(-1, 10), (-10, 1), (-11, 0), (0, 0), (10, 10)])
def test_negative_pins_count_from_the_end(pin, position):
    decision = ls.plan(HISTORY, max_messages=4, pins=[pin])
    assert position in decision.kept
    assert next(edit for edit in decision.edits if edit.reason == "pinned").start == position


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, iter])
def test_pins_are_any_collection(kind):
    assert kept(HISTORY, 5, pins=kind([1, -1])) == [0, 1, 8, 9, 10]


def test_a_position_pinned_twice_counts_once():
    assert kept(HISTORY, 4, pins=[1, 1, -10]) == [0, 1, 9, 10]


@pytest.mark.parametrize("pin", [11, 12, -12, 1_000])
def test_a_pin_outside_the_history_is_refused(pin):
    with pytest.raises(ValueError, match=f"pin {pin} is outside the history of 11 messages"):
        ls.trim(HISTORY, max_messages=4, pins=[pin])


@pytest.mark.parametrize("pins", [[True], [1.0], ["1"], [None], "12", [[1]], [{}]])
def test_a_pin_that_is_no_position_is_refused(pins):
    with pytest.raises(TypeError, match="pins must be positions"):
        ls.trim(HISTORY, max_messages=4, pins=pins)


@pytest.mark.parametrize("pins", [5, None, True])
def test_pins_that_are_no_collection_are_refused(pins):
    with pytest.raises(TypeError):
        ls.trim(HISTORY, max_messages=4, pins=pins)


@pytest.mark.parametrize("wrong", [True, 1.0])
def test_a_pin_that_was_refused_does_not_spoil_the_one_that_equals_it(wrong):
    for _ in range(2):
        with pytest.raises(TypeError, match="pins must be positions"):
            ls.trim(HISTORY, max_messages=4, pins=[wrong])
        assert kept(HISTORY, 4, pins=[1]) == [0, 1, 9, 10]


def test_pins_hold_without_the_floor_and_for_either_cut():
    assert kept(HISTORY, 2, pins=[1], floor=False, profile="openai-chat") == [1, 10]
    assert 1 in kept(HISTORY, 5, pins=[1], cut="prefix")
    assert 1 in kept(HISTORY, 5, pins=[1], cut="prefix", floor=False)


@pytest.mark.parametrize("length", [10, 100, 2_000])
def test_pins_far_back_hold_with_their_partners(length):
    history = [system("s"), user("task"), *rounds(length), user("next"), assistant("ok")]
    end = len(history)
    assert kept(history, 8, pins=[2]) == [0, 1, 2, 3, *range(end - 4, end)]
    assert kept(history, 7, pins=[5]) == [0, 1, 4, 5, end - 2, end - 1]
    assert kept(history, 5, pins=[5], profile="openai-chat") == [0, 4, 5, end - 2, end - 1]
    assert kept(history, 4, pins=[1]) == [0, 1, end - 2, end - 1]


def test_a_pinned_system_message_inside_the_list_comes_with_its_neighbours():
    history = [user("0"), system("note"), assistant("2"), user("3"), assistant("4")]
    positions = kept(history, 5, pins=[1], format="anthropic", profile="anthropic")
    assert positions == [0, 1, 2, 3, 4]
    history += [user("5"), assistant("6")]
    assert kept(history, 5, pins=[1], format="anthropic", profile="anthropic") == [0, 1, 2, 5, 6]
    assert kept(history, 3, pins=[1], profile="openai-chat") == [1, 5, 6]


# --- units of size --------------------------------------------------------------------------------


SIZES = [5, 10, 20, 30, 10, 10, 20, 30, 10, 10, 5]


def test_a_list_of_sizes_decides_by_tokens():
    assert ls.plan(HISTORY, max_tokens=20, counter=SIZES).kept == [0, 9, 10]
    assert ls.plan(HISTORY, max_tokens=90, counter=SIZES).kept == [0, 5, 6, 7, 8, 9, 10]
    assert ls.plan(HISTORY, max_tokens=89, counter=SIZES).kept == [0, 9, 10]
    assert ls.plan(HISTORY, max_tokens=160, counter=SIZES).kept == list(range(11))
    assert ls.plan(HISTORY, max_tokens=159, counter=SIZES).kept == [0, 5, 6, 7, 8, 9, 10]


def test_cannot_fit_speaks_of_tokens_and_sizes():
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(HISTORY, max_tokens=19, counter=SIZES)
    error = caught.value
    assert (error.needed, error.limit, error.unit) == (20, 19, "tokens")
    assert [(item.start, item.size) for item in error.floor] == [(0, 5), (9, 10), (10, 5)]


def test_a_callable_decides_as_the_list_does():
    weights = {id(message): size for message, size in zip(HISTORY, SIZES, strict=True)}
    decision = ls.plan(HISTORY, max_tokens=90, counter=lambda message: weights[id(message)])
    assert decision.kept == [0, 5, 6, 7, 8, 9, 10]
    assert (decision.counter, decision.counter_kind) == ("<lambda>", "exact")


@pytest.mark.parametrize(
    ("counter", "name", "kind"),
    [
        (None, "estimate", "estimate"),
        ("estimate", "estimate", "estimate"),
        ("bytes", "bytes", "bound"),
        (ls.ByteCounter(), "bytes", "bound"),
        (SIZES, "sizes", "exact"),
    ],
)
def test_a_plan_says_what_counted_and_how_sure_that_is(counter, name, kind):
    decision = ls.plan(HISTORY, max_tokens=100, counter=counter)
    assert (decision.counter, decision.counter_kind) == (name, kind)
    assert decision.limit == {"tokens": 100}
    assert decision.after.tokens is not None
    assert decision.after.tokens <= 100


def test_the_sure_bound_holds_for_what_is_really_sent():
    history = [user("wörd " * 40), *rounds(20), assistant("x" * 400), user("y"), assistant("z")]
    for limit in range(60, 900, 40):
        decision = ls.plan(history, max_tokens=limit, counter="bytes", on_overflow="empty")
        texts = [str(history[at]["content"] or "") for at in decision.kept]
        assert sum(len(text.encode()) for text in texts) <= decision.after.tokens <= limit


def test_the_reserve_is_kept_free_and_named_in_what_is_needed():
    assert ls.plan(HISTORY, max_tokens=100, reserve=10, counter=SIZES).kept == [0, *range(5, 11)]
    assert ls.plan(HISTORY, max_tokens=100, reserve=11, counter=SIZES).kept == [0, 9, 10]
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(HISTORY, max_tokens=100, reserve=81, counter=SIZES)
    assert (caught.value.needed, caught.value.limit) == (101, 100)


def test_a_reserve_over_the_limit_leaves_room_for_nothing():
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(HISTORY, max_tokens=100, reserve=200, counter=SIZES)
    assert caught.value.needed == 220


def test_the_reserve_is_taken_from_characters_where_only_they_are_bounded():
    history = [user("aaaa"), assistant("bbbb"), user("cccc")]
    assert ls.plan(history, max_chars=14, reserve=2).kept == [0, 1, 2]
    assert ls.plan(history, max_chars=14, reserve=3).kept == [2]
    both = ls.plan(history, max_chars=12, max_tokens=9, reserve=3, counter=[2, 2, 2])
    assert both.kept == [0, 1, 2]


def test_trim_to_cuts_deeper_but_only_once_the_limit_is_passed():
    assert kept(HISTORY, 11, trim_to=3) == list(range(11))
    assert kept(HISTORY, 10, trim_to=7) == [0, *range(5, 11)]
    assert kept(HISTORY, 10, trim_to=6, profile="openai-chat") == [0, 6, 7, 8, 9, 10]
    assert kept(HISTORY, 10, trim_to=10) == kept(HISTORY, 10)


@pytest.mark.parametrize("target", [0, 1, 2])
def test_trim_to_never_costs_the_floor(target):
    assert kept(HISTORY, 10, trim_to=target) == [0, 9, 10]
    assert kept(HISTORY, 10, trim_to=target, cut="prefix") == [0, 9, 10]


def test_trim_to_counts_in_the_unit_of_the_limit():
    assert ls.plan(HISTORY, max_tokens=159, trim_to=90, counter=SIZES).kept == [0, *range(5, 11)]
    assert ls.plan(HISTORY, max_tokens=160, trim_to=20, counter=SIZES).kept == list(range(11))
    assert ls.plan(HISTORY, max_tokens=159, trim_to=89, counter=SIZES).kept == [0, 9, 10]


def test_several_limits_hold_at_once():
    options = {"profile": "openai-chat", "counter": SIZES}
    assert ls.plan(HISTORY, max_messages=8, max_tokens=1_000, **options).kept == [0, *range(4, 11)]
    assert ls.plan(HISTORY, max_messages=1_000, max_tokens=100, **options).kept == [
        0,
        *range(4, 11),
    ]
    assert ls.plan(HISTORY, max_messages=7, max_tokens=100, **options).kept == [0, *range(5, 11)]
    assert ls.plan(HISTORY, max_messages=8, max_tokens=99, **options).kept == [0, *range(5, 11)]
    assert ls.plan(HISTORY, max_messages=11, max_tokens=160, **options).kept == list(range(11))


def test_the_limit_that_is_passed_first_is_the_one_reported():
    for limits, unit in (
        ({"max_messages": 2, "max_tokens": 1_000}, "messages"),
        ({"max_messages": 50, "max_tokens": 19}, "tokens"),
    ):
        with pytest.raises(ls.CannotFit) as caught:
            ls.trim(HISTORY, counter=SIZES, **limits)
        assert caught.value.unit == unit


def test_with_several_limits_a_group_that_fits_into_none_goes_alone_too():
    assert edits(WIDE, 6, max_tokens=1_000, counter=[1] * 12) == [
        (0, 3, "recent"),
        (3, 10, "too-large"),
        (10, 11, "task"),
        (11, 12, "newest"),
    ]
    heavy = [1, 1, 1, *[50] * 7, 1, 1]
    assert edits(WIDE, 100, max_tokens=300, counter=heavy) == [
        (0, 3, "recent"),
        (3, 10, "too-large"),
        (10, 11, "task"),
        (11, 12, "newest"),
    ]


def test_with_several_limits_filling_stops_at_the_first_group_that_does_not_fit():
    sizes = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert edits(HISTORY, 8, max_tokens=100, counter=sizes, profile="openai-chat") == [
        (0, 1, "system"),
        (1, 4, "oldest"),
        (4, 9, "recent"),
        (9, 10, "task"),
        (10, 11, "newest"),
    ]


def test_several_limits_bring_the_lead_back_within_all_of_them():
    sizes = [1] * 13
    assert kept(TURNS, 7, max_tokens=100, counter=sizes) == [0, 3, 8, 9, 10, 11, 12]
    assert kept(TURNS, 100, max_tokens=7, counter=sizes) == [0, 3, 8, 9, 10, 11, 12]
    heavy = [1, 1, 1, 50, *[1] * 9]
    assert kept(TURNS, 7, max_tokens=30, counter=heavy) == [0, 11, 12]


def test_sizes_after_the_cut_are_told_in_every_bounded_unit():
    decision = ls.plan(HISTORY, max_messages=7, max_tokens=150, max_chars=900, counter=SIZES)
    assert decision.kept == [0, *range(5, 11)]
    assert decision.after == ls.Size(7, 90, 1 + 1 + len("look_up{}") + len("found") + 1 + 1 + 1)
    assert decision.before.messages == 11
    assert decision.limit == {"messages": 7, "tokens": 150, "chars": 900}


# --- how it ends ----------------------------------------------------------------------------------


def in_format(name, count):
    """A system part, a task and tool rounds, as each format writes them."""
    if name == "openai-chat":
        return [system("s"), user("task"), *rounds(count)], 2
    if name == "anthropic":
        found = [user("task")]
        for at in range(count):
            use = {"type": "tool_use", "id": f"c{at}", "name": "x", "input": {}}
            gave = {"type": "tool_result", "tool_use_id": f"c{at}", "content": "r"}
            found += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [gave]}]
        return found, 1
    if name == "openai-responses":
        found = [{"role": "developer", "content": "s"}, {"role": "user", "content": "task"}]
        for at in range(count):
            found += [
                {"type": "function_call", "call_id": f"c{at}", "name": "x", "arguments": "{}"},
                {"type": "function_call_output", "call_id": f"c{at}", "output": "r"},
            ]
        return found, 2
    found = [{"type": "system", "content": "s"}, {"type": "human", "content": "task"}]
    for at in range(count):
        found += [
            {
                "type": "ai",
                "content": "",
                "tool_calls": [{"id": f"c{at}", "name": "x", "args": {}}],
            },
            {"type": "tool", "content": "r", "tool_call_id": f"c{at}"},
        ]
    return found, 2


FORMATS = ["openai-chat", "anthropic", "openai-responses", "langchain"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_one_user_turn_of_150_rounds_cut_to_50_keeps_system_and_task(name, profile, cut):
    history, head = in_format(name, 150)
    window = ls.trim(history, max_messages=50, profile=profile, cut=cut)
    assert window[:head] == history[:head]
    assert window[head:] == history[-len(window) + head :]
    assert len(window) == (50 if head == 2 else 49)
    for target in PROFILES:
        report = ls.check(window, profile=target, format=name)
        assert {found.rule for found in report.errors} <= (
            {"an-system-role-first"} if name == "anthropic" else set()
        )
    assert ls.check(window, profile=profile, format=name).ok


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("floor", [True, False])
def test_every_limit_gives_a_window_within_it_that_is_valid_and_whole(name, profile, cut, floor):
    first, _ = in_format(name, 4)
    second, head = in_format(name, 5)
    history = [*first, *second[head - 1 :]]
    units = [set(unit.members) for unit in ls.groups(history, profile=profile)]
    for limit in range(1, len(history) + 1):
        options = {"profile": profile, "cut": cut, "floor": floor}
        decision = ls.plan(history, max_messages=limit, on_overflow="empty", **options)
        positions = set(decision.kept)
        assert len(positions) <= limit
        assert all(unit <= positions or not unit & positions for unit in units)
        window = ls.apply(decision, history)
        assert window == [history[at] for at in decision.kept]
        if window:
            assert ls.check(window, profile=profile, format=name).ok
        again = ls.trim(window, max_messages=limit, format=name, on_overflow="empty", **options)
        assert again == window


@pytest.mark.parametrize("count", [20, 2_400])
def test_a_result_whose_call_is_far_back_brings_it_or_goes_with_it(count):
    talk = [message for at in range(count) for message in (user(str(at)), assistant(str(at)))]
    history = [user("first"), call("far"), *talk, result("far"), assistant("at last")]
    end = len(history)
    options = {"profile": "openai-chat"}
    # Newest first: the answer, the newest pairs of talk; the far group is the oldest but one.
    assert kept(history, 9, **options) == [*range(end - 10, end - 2), end - 1]
    assert kept(history, end - 1, **options) == list(range(1, end))
    assert kept(history, end - 2, **options) == [*range(2, end - 2), end - 1]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("far", [1, 2, 50, 1_000, 2_300])
def test_a_long_history_is_cut_as_the_short_one_that_ends_like_it(profile, far):
    """The search doubles back from the tail; how far it reads must not show."""
    talk = [message for at in range(2_400) for message in (user(str(at)), assistant(str(at)))]
    talk[2 * far] = call("far")
    history = [system("s"), *talk[: 2 * far + 1], *talk[-100:], result("far"), assistant("at last")]
    groups = [set(unit.members) for unit in ls.groups(history, profile=profile)]
    for limit in (4, 9, 30):
        positions = set(ls.plan(history, max_messages=limit, profile=profile).kept)
        assert len(positions) <= limit
        assert all(unit <= positions or not unit & positions for unit in groups)


def test_a_system_message_that_fits_does_not_hide_that_an_answer_leads_the_window():
    history = [system("s"), user("x" * 30), assistant("a")]
    options = {"max_chars": 5, "reserve": 1, "floor": False}
    assert ls.plan(history, profile="openai-chat", **options).kept == [0, 2]
    # The answer may not lead, its question fits no window, and nobody answers to instructions.
    decision = ls.plan(history, profile="portable", **options)
    assert decision.kept == []
    assert [edit.reason for edit in decision.edits] == ["oldest", "too-large", "start"]
