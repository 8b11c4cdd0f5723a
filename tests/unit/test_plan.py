"""A plan is inert data: it adds up, serialises, and is refused for other messages."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest

import lockstitch as ls
from lockstitch.plan import (
    DROPPED,
    INSERTED,
    KEPT,
    REASONS,
    REPLACED,
    STRIPPED,
    Edit,
    FloorItem,
)
from lockstitch.testing import assistant, call, result, system, user

HISTORY = [
    system("s"),
    user("1"),
    call("a"),
    result("a"),
    assistant("2"),
    user("3"),
    call("b"),
    result("b"),
    assistant("4"),
    user("5"),
    assistant("6"),
]


def test_a_reason_tells_what_becomes_of_the_messages():
    tables = (KEPT, DROPPED, STRIPPED, REPLACED, INSERTED)
    assert len(REASONS) == sum(map(len, tables))
    assert set(REASONS) == set().union(*tables)
    assert all(REASONS.values())


@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize("floor", [True, False])
@pytest.mark.parametrize("policy", ["smallest", "empty"])
def test_the_edits_of_every_plan_cover_the_history_without_gaps(cut, floor, policy):
    for limit in range(len(HISTORY) + 2):
        decision = ls.plan(
            HISTORY, max_messages=limit, cut=cut, floor=floor, on_overflow=policy, pins=[5]
        )
        at = 0
        for before, edit in zip((None, *decision.edits), decision.edits, strict=False):
            assert edit.start == at < edit.stop
            assert edit.action == ("keep" if edit.reason in KEPT else "drop")
            assert before is None or before.reason != edit.reason
            at = edit.stop
        assert at == decision.length == len(HISTORY)
        assert sorted(decision.kept + decision.dropped) == list(range(len(HISTORY)))
        assert decision.after.messages == len(decision.kept)
        assert decision.changes is bool(decision.dropped)


def test_a_plan_knows_what_it_is_about():
    decision = ls.plan(HISTORY, max_messages=7, profile="openai-chat")
    assert (decision.format, decision.profile, decision.length) == (
        "openai-chat",
        "openai-chat",
        11,
    )
    assert decision.limit == {"messages": 7}
    assert (decision.counter, decision.counter_kind) == (None, None)
    assert ls.plan(HISTORY).limit == {}


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ({"max_messages": 11}, 11),
        ({"max_messages": 7}, 1),
        ({"max_messages": 7, "floor": False}, 0),
        ({"max_messages": 6, "pins": [2]}, 4),
        ({"max_messages": 0}, 0),
    ],
)
def test_the_first_changed_position_is_where_the_prompt_prefix_ends(options, first):
    decision = ls.plan(HISTORY, **options)
    assert decision.changed_from == first
    window = ls.apply(decision, HISTORY)
    assert window[:first] == HISTORY[:first]
    assert window[first : first + 1] != HISTORY[first : first + 1] or first == len(HISTORY)


def test_dropping_only_the_end_changes_nothing_before_it():
    history = [user("0"), call("a"), result("a"), call(*"bcdefg"), *map(result, "bcdefg")]
    decision = ls.plan(history, max_messages=3, floor=False)
    assert decision.kept == [0, 1, 2]
    assert decision.changed_from == 3


def test_a_plan_is_carried_out_with_the_very_same_objects():
    decision = ls.plan(HISTORY, max_messages=7)
    window = ls.apply(decision, HISTORY)
    assert len(window) == 7
    assert all(one is HISTORY[at] for one, at in zip(window, decision.kept, strict=True))
    assert ls.trim(HISTORY, max_messages=7) == window


@pytest.mark.parametrize("wrap", [json.dumps, lambda one: {"messages": one, "m": 1}, tuple])
def test_a_plan_made_for_a_list_serves_the_same_messages_in_another_wrapping(wrap):
    decision = ls.plan(HISTORY, max_messages=7)
    kept = ls.apply(decision, wrap(HISTORY))
    if isinstance(kept, str):
        kept = json.loads(kept)
    if isinstance(kept, dict):
        kept = kept["messages"]
    assert list(kept) == [HISTORY[at] for at in decision.kept]


def test_a_plan_survives_json():
    for options in (
        {"max_messages": 7},
        {"max_tokens": 60, "counter": "bytes", "reserve": 4},
        {"max_messages": 0},
        {"max_chars": 30, "cut": "prefix"},
    ):
        decision = ls.plan(HISTORY, **options)
        written = decision.to_json()
        assert ls.Plan.from_json(written) == decision
        assert ls.Plan.from_json(written.decode()) == decision
        assert ls.apply(ls.Plan.from_json(written), HISTORY) == ls.apply(decision, HISTORY)
        assert json.loads(written)["edits"][0].keys() == {"action", "start", "stop", "reason"}


@pytest.mark.parametrize("data", [b"{}", b"[]", b'{"format": 1}', "{"])
def test_what_is_no_plan_is_refused(data):
    with pytest.raises(ls.FormatError, match=r"^not a plan: "):
        ls.Plan.from_json(data)


def test_the_same_history_and_question_give_the_same_plan():
    for options in ({"max_messages": 7}, {"max_tokens": 80}, {"max_messages": 5, "cut": "prefix"}):
        one = ls.plan(copy.deepcopy(HISTORY), **options)
        assert one == ls.plan(HISTORY, **options)
        assert one.to_json() == ls.plan(HISTORY, **options).to_json()


# --- refused for other messages -------------------------------------------------------------------


def test_a_plan_is_refused_for_a_history_of_another_length():
    decision = ls.plan(HISTORY, max_messages=7)
    for other in (HISTORY[:-1], [*HISTORY, user("7")], []):
        with pytest.raises(
            ls.PlanMismatch, match="was made for 11 openai-chat messages, these are"
        ):
            ls.apply(decision, other)


def test_a_plan_is_refused_in_another_format():
    decision = ls.plan(HISTORY, max_messages=7)
    with pytest.raises(ls.PlanMismatch, match="these are 11 in anthropic: make a new plan"):
        ls.apply(decision, HISTORY, format="anthropic")


@pytest.mark.parametrize(
    ("at", "other"),
    [(9, assistant("5")), (6, call("c")), (7, result("c")), (10, call("z")), (0, user("s"))],
)
def test_a_plan_is_refused_where_a_kept_role_or_id_differs(at, other):
    decision = ls.plan(HISTORY, max_messages=7)
    changed = list(HISTORY)
    changed[at] = other
    with pytest.raises(ls.PlanMismatch, match="roles or ids of the kept ones differ"):
        ls.apply(decision, changed)


def test_a_plan_is_refused_where_two_kept_messages_changed_places():
    decision = ls.plan(HISTORY, max_messages=7)
    changed = [*HISTORY[:9], HISTORY[10], HISTORY[9]]
    with pytest.raises(ls.PlanMismatch):
        ls.apply(decision, changed)


def test_a_plan_without_a_fingerprint_is_taken_at_its_word():
    decision = msgspec.structs.replace(ls.plan(HISTORY, max_messages=7), fingerprint="")
    changed = [*HISTORY[:10], user("other")]
    assert ls.apply(decision, changed)[-1] == user("other")


def test_the_format_of_a_plan_is_the_format_it_is_carried_out_in():
    plain = [user("1"), assistant("2"), user("3")]
    decision = ls.plan(plain, max_messages=1, format="anthropic")
    assert ls.apply(decision, plain) == plain[2:]
    with pytest.raises(ls.PlanMismatch):
        ls.apply(decision, plain, format="openai-chat")


# --- small values ---------------------------------------------------------------------------------


def test_an_edit_counts_its_messages():
    assert Edit("drop", 3, 7, "oldest").count == 4


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (FloorItem(3, 4, 9, "task"), "[3] 9 tokens (the newest user message stays)"),
        (FloorItem(3, 6, 9, "pinned"), "[3..5] 9 tokens (pinned by the caller)"),
    ],
)
def test_a_floor_item_says_what_it_is(item, said):
    assert item.describe("tokens") == said


def test_sizes_that_were_not_measured_are_left_out_of_json():
    assert msgspec.json.encode(ls.Size(3)) == b'{"messages":3}'
    assert msgspec.json.encode(ls.Size(3, 0, 5)) == b'{"messages":3,"tokens":0,"chars":5}'
