"""The prefix cut: everything before one legal boundary goes, the floor excepted."""

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
    return ls.plan(history, max_messages=limit, cut="prefix", **options).kept


def edits(history, limit, **options):
    decision = ls.plan(history, max_messages=limit, cut="prefix", **options)
    return [(edit.start, edit.stop, edit.reason) for edit in decision.edits]


def rounds(count, start=0):
    names = (f"c{at}" for at in range(start, start + count))
    return [message for name in names for message in (call(name), result(name))]


# --- with the floor -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (3, [0, 9, 10]),
        (6, [0, 9, 10]),
        (7, [0, *range(5, 11)]),
        (10, [0, *range(5, 11)]),
        (11, list(range(11))),
        (None, list(range(11))),
    ],
)
def test_the_window_begins_at_a_user_message_where_one_is_demanded(limit, positions):
    assert kept(HISTORY, limit) == positions


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (4, [0, 8, 9, 10]),
        (5, [0, 8, 9, 10]),
        (6, [0, 6, 7, 8, 9, 10]),
        (7, [0, *range(5, 11)]),
        (8, [0, *range(4, 11)]),
        (9, [0, *range(4, 11)]),
        (10, [0, *range(2, 11)]),
    ],
)
def test_elsewhere_it_begins_between_any_two_groups(limit, positions):
    assert kept(HISTORY, limit, profile="openai-chat") == positions


def test_every_edit_says_why():
    assert edits(HISTORY, 8, profile="openai-chat") == [
        (0, 1, "system"),
        (1, 4, "oldest"),
        (4, 9, "recent"),
        (9, 10, "task"),
        (10, 11, "newest"),
    ]


def test_the_floor_is_kept_before_the_boundary():
    history = [system("s"), user("task"), *rounds(10)]
    assert kept(history, 7) == [0, 1, 18, 19, 20, 21]
    assert edits(history, 7) == [
        (0, 1, "system"),
        (1, 2, "task"),
        (2, 18, "oldest"),
        (18, 20, "recent"),
        (20, 22, "newest"),
    ]


def test_a_floor_that_does_not_fit_is_refused():
    with pytest.raises(ls.CannotFit) as caught:
        kept(HISTORY, 2)
    assert (caught.value.needed, caught.value.limit) == (3, 2)


def test_the_boundary_never_falls_inside_a_group():
    braided = [
        user("0"),
        call("far"),  # 1
        user("2"),
        assistant("3"),
        user("4"),
        result("far"),  # 5
        user("6"),
        assistant("7"),
    ]
    assert kept(braided, 4, profile="openai-chat") == [6, 7]
    assert kept(braided, 6, profile="openai-chat") == [6, 7]
    assert kept(braided, 7, profile="openai-chat") == list(range(1, 8))


def test_a_group_larger_than_the_limit_is_a_wall():
    wide = [
        user("0"),
        user("1"),
        call(*"abcdef"),
        *map(result, "abcdef"),
        user("9"),
        assistant("x"),
    ]
    assert kept(wide, 5, profile="openai-chat") == [9, 10]
    assert kept(wide, 9, profile="openai-chat") == list(range(2, 11))


def test_pins_and_open_groups_stay_before_the_boundary():
    assert kept(HISTORY, 5, pins=[1]) == [0, 1, 8, 9, 10]
    assert kept(HISTORY, 7, pins=[1]) == [0, 1, 6, 7, 8, 9, 10]
    history = [user("0"), call("a", "b"), result("a")]
    assert kept(history, 3) == [0, 1, 2]


def test_a_boundary_that_keeps_a_pin_before_it_need_not_be_a_user_message():
    # The pinned user message opens the window, so what follows may begin anywhere.
    assert kept(HISTORY, 5, pins=[1])[1:3] == [1, 8]
    assert kept(HISTORY, 5)[1:3] == [9, 10]


def test_trim_to_moves_the_boundary_once_the_limit_is_passed():
    assert kept(HISTORY, 11, trim_to=3) == list(range(11))
    assert kept(HISTORY, 10, trim_to=7) == [0, *range(5, 11)]
    assert kept(HISTORY, 10, trim_to=6) == [0, 9, 10]


def test_tokens_and_messages_bound_the_window_together():
    sizes = [5, 10, 20, 30, 10, 10, 20, 30, 10, 10, 5]
    options = {"cut": "prefix", "profile": "openai-chat", "counter": sizes}
    assert ls.plan(HISTORY, max_tokens=30, **options).kept == [0, 8, 9, 10]
    assert ls.plan(HISTORY, max_tokens=29, **options).kept == [0, 9, 10]
    assert ls.plan(HISTORY, max_tokens=90, max_messages=6, **options).kept == [0, *range(6, 11)]
    assert ls.plan(HISTORY, max_tokens=79, max_messages=7, **options).kept == [0, 8, 9, 10]


# --- without it -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "positions"),
    [
        (1, []),
        (2, [9, 10]),
        (5, [9, 10]),
        (6, list(range(5, 11))),
        (9, list(range(5, 11))),
        (10, list(range(1, 11))),
    ],
)
def test_without_a_floor_only_the_boundary_counts(limit, positions):
    assert kept(HISTORY, limit, floor=False) == positions


def test_without_a_floor_any_start_does_where_the_profile_takes_any():
    assert kept(HISTORY, 1, floor=False, profile="openai-chat") == [10]
    assert kept(HISTORY, 4, floor=False, profile="openai-chat") == [8, 9, 10]
    assert kept(HISTORY, 5, floor=False, profile="openai-chat") == [6, 7, 8, 9, 10]


@pytest.mark.parametrize("limit", [None, 11, 100])
@pytest.mark.parametrize("profile", PROFILES)
def test_without_a_floor_a_history_that_fits_and_is_fine_stays_whole(limit, profile):
    assert kept(HISTORY, limit, floor=False, profile=profile) == list(range(11))
    plain = HISTORY[1:]
    assert kept(plain, limit, floor=False, profile=profile) == list(range(10))


def test_without_a_floor_pins_still_hold():
    assert kept(HISTORY, 4, pins=[0], floor=False) == [0, 9, 10]
    assert kept(HISTORY, 8, pins=[1], floor=False)[0] == 1


# --- past damage ----------------------------------------------------------------------------------


DAMAGED = [
    user("0"),
    assistant("1"),
    result("gone"),  # 2
    user("3"),
    call("a"),
    result("a"),
    assistant("6"),
    user("7"),
    assistant("8"),
]


def test_without_a_floor_the_window_starts_behind_the_last_damage():
    assert edits(DAMAGED, None, floor=False) == [(0, 3, "damaged"), (3, 9, "recent")]
    assert edits(DAMAGED, 7, floor=False) == [(0, 3, "oldest"), (3, 9, "recent")]
    assert edits(DAMAGED, 8, floor=False, profile="openai-chat") == [
        (0, 1, "oldest"),
        (1, 3, "damaged"),
        (3, 9, "recent"),
    ]


def test_the_window_past_damage_still_starts_where_the_profile_allows():
    history = [user("0"), result("gone"), assistant("2"), user("3"), assistant("4")]
    assert kept(history, None, floor=False) == [3, 4]
    assert kept(history, None, floor=False, profile="openai-chat") == [2, 3, 4]


def test_damage_at_the_very_start_of_the_window_is_passed_too():
    history = [result("gone"), user("1"), assistant("2")]
    assert kept(history, None, floor=False, profile="openai-chat") == [1, 2]
    assert edits(history, None, floor=False, profile="openai-chat") == [
        (0, 1, "damaged"),
        (1, 3, "recent"),
    ]


def test_damage_behind_damage_is_passed_as_well():
    history = [
        user("0"),
        result("gone"),
        user("2"),
        call("late"),
        user("4"),
        result("late"),
        user("6"),
        assistant("7"),
    ]
    assert kept(history, None, floor=False) == [6, 7]
    assert kept(history, None, floor=False, profile="openai-chat") == [6, 7]


def test_nothing_is_left_where_the_newest_message_itself_is_broken():
    history = [user("0"), assistant("1"), user("2"), assistant("3"), result("gone")]
    assert edits(history, None, floor=False) == [(0, 5, "damaged")]
    assert ls.trim(history, cut="prefix", floor=False, max_messages=4) == []


def test_a_warning_is_no_damage():
    history = [assistant("0"), user("1"), assistant("2")]
    report = ls.check(history, profile="anthropic")
    assert report.ok
    assert report.violations
    assert kept(history, None, floor=False, profile="anthropic", format="anthropic") == [0, 1, 2]


def test_with_the_floor_damage_stays_where_it_fits():
    assert kept(DAMAGED, 9) == list(range(9))
    assert kept(DAMAGED, 8, profile="openai-chat") == list(range(1, 9))


def test_an_open_call_at_the_end_is_no_damage():
    history = [user("0"), call("a", "b"), result("a")]
    assert kept(history, None, floor=False) == [0, 1, 2]


# --- long histories -------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("limit", [4, 7, 50, 51])
def test_a_long_run_keeps_its_task_and_is_full_to_within_one_group(profile, limit):
    history = [system("s"), user("task"), *rounds(2_499)]
    positions = kept(history, limit, profile=profile)
    assert positions[:2] == [0, 1]
    assert limit - 1 <= len(positions) <= limit
    assert positions[2:] == list(range(len(history) - len(positions) + 2, len(history)))


@pytest.mark.parametrize("floor", [True, False])
def test_a_wall_far_back_is_found_and_nothing_beyond_it_kept(floor):
    talk = [message for at in range(2_000) for message in (user(str(at)), assistant(str(at)))]
    history = [user("first"), call("far"), *talk, result("far"), user("next"), assistant("last")]
    end = len(history)
    options = {"profile": "openai-chat", "floor": floor}
    assert kept(history, 100, **options) == [end - 2, end - 1]
    assert kept(history, end - 2, **options) == [end - 2, end - 1]


@pytest.mark.parametrize("floor", [True, False])
@pytest.mark.parametrize("limit", [2, 9, 100, 3_999, 4_000, 4_001])
def test_plain_talk_is_cut_at_the_limit_whatever_its_length(floor, limit):
    talk = [message for at in range(2_000) for message in (user(str(at)), assistant(str(at)))]
    positions = kept(talk, limit, floor=floor)
    assert positions == list(range(4_000 - min(limit, 4_000) // 2 * 2, 4_000))


def test_a_pin_far_back_does_not_move_the_boundary():
    history = [system("s"), user("task"), *rounds(2_000), user("next"), assistant("ok")]
    end = len(history)
    assert kept(history, 8, pins=[4]) == [0, 1, 4, 5, *range(end - 4, end)]
