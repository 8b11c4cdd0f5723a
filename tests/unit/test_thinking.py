"""Thinking that is bound to what stands before it: no cut leaves any that would be refused."""

import copy
import json

import pytest

import lockstitch as ls
from lockstitch.testing import user

BOUND = [
    ls.ModelFacts(
        profile="anthropic",
        pattern="claude-bound*",
        facts={"preserved_thinking": True},
        date="2026-11-30",
        source="a test",
    )
]
MODEL = {"profile": "anthropic", "model": "claude-bound-1", "models": BOUND}


def thought(number, *blocks):
    thinking = {"type": "thinking", "thinking": "t" * 40, "signature": f"S{number}"}
    return {"role": "assistant", "content": [thinking, *blocks]}


def use(number):
    return {"type": "tool_use", "id": f"c{number}", "name": "look_up", "input": {}}


def gave(number):
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "r" * 20}
    return {"role": "user", "content": [result]}


def run(rounds):
    """One task, tool rounds that each begin with thinking, and a new question."""
    history = [user("task")]
    for number in range(rounds):
        history += [thought(number, use(number)), gave(number)]
    return [*history, thought(rounds, {"type": "text", "text": "done"}), user("next")]


def signatures(messages):
    return [
        block["signature"]
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "thinking"
    ]


def edits(history, **options):
    return [
        (edit.action, edit.start, edit.stop, edit.reason)
        for edit in ls.plan(history, **options).edits
    ]


def test_when_messages_go_what_stays_goes_without_thinking():
    history = run(10)
    window = ls.trim(history, max_messages=8, **MODEL)
    assert len(window) == 7
    assert signatures(window) == []
    assert window[0] is history[0]
    assert window[1] == {"role": "assistant", "content": [use(8)]}
    assert window[2] is history[18]


def test_a_prefix_cut_takes_thinking_along_too():
    window = ls.trim(run(10), max_messages=8, cut="prefix", **MODEL)
    assert len(window) == 8
    assert signatures(window) == []


def test_while_it_is_enough_only_the_oldest_thinking_goes():
    history = run(10)
    window = ls.trim(history, max_chars=400, **MODEL)
    assert len(window) == len(history)
    assert signatures(window) == ["S9", "S10"]
    decision = ls.plan(history, max_chars=400, **MODEL)
    assert decision.stripped == [1, 3, 5, 7, 9, 11, 13, 15, 17]
    assert decision.kept == list(range(23))
    assert decision.changed_from == 1
    assert decision.after.chars is not None
    assert decision.after.chars <= 400
    assert "9 of them without their thinking" in decision.explain()


def test_a_lower_target_takes_more_thinking_at_once():
    history = run(10)
    assert len(ls.plan(history, max_chars=400, trim_to=350, **MODEL).stripped) == 10


@pytest.mark.parametrize("limits", [{"max_messages": 23}, {"max_chars": 10_000}, {}])
def test_nothing_goes_where_nothing_must(limits):
    history = run(10)
    assert ls.trim(history, **limits, **MODEL) == history
    assert edits(history, **limits, **MODEL) == [("keep", 0, 23, "all")]


def test_both_limits_hold_at_once():
    history = run(10)
    decision = ls.plan(history, max_messages=23, max_chars=400, **MODEL)
    assert decision.kept == list(range(23))
    assert len(decision.stripped) == 9
    cut = ls.plan(history, max_messages=8, max_chars=400, **MODEL)
    assert len(cut.kept) == 7


def test_a_message_that_is_thinking_alone_goes():
    alone = [user("task"), thought(0), thought(1, {"type": "text", "text": "a"}), user("next")]
    decision = ls.plan(alone, max_chars=60, **MODEL)
    assert [(edit.action, edit.reason) for edit in decision.edits] == [
        ("keep", "all"),
        ("drop", "unbound"),
        ("strip", "thinking"),
        ("keep", "all"),
    ]
    assert ls.apply(decision, alone)[1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}],
    }


def test_the_plan_is_carried_out_and_stored_like_any_other():
    history = run(10)
    before = copy.deepcopy(history)
    decision = ls.plan(history, max_messages=8, **MODEL)
    stored = ls.Plan.from_json(decision.to_json())
    assert ls.apply(stored, history) == ls.trim(history, max_messages=8, **MODEL)
    assert history == before
    with pytest.raises(ls.PlanMismatch):
        ls.apply(stored, [*history[:-1], user("other"), user("more")])


def test_a_window_that_is_appended_to_keeps_the_thinking_made_after_the_cut():
    window = ls.trim(run(10), max_messages=8, **MODEL)
    grown = [*window, thought(20, use(20)), gave(20)]
    assert signatures(ls.trim(grown, max_messages=40, **MODEL)) == ["S20"]


def test_the_model_may_be_named_by_the_request_body():
    body = {"model": "claude-bound-1", "messages": run(10)}
    trimmed = ls.trim(body, max_messages=8, profile="anthropic", models=BOUND)
    assert signatures(trimmed["messages"]) == []
    assert trimmed["model"] == "claude-bound-1"


@pytest.mark.parametrize("model", [None, "claude-free-1"])
def test_elsewhere_thinking_stays_as_it_is(model):
    history = run(10)
    window = ls.trim(history, max_messages=8, profile="anthropic", model=model, models=BOUND)
    assert signatures(window) == ["S8", "S9", "S10"]


def test_raw_json_stays_raw_json():
    text = json.dumps(run(10))
    window = ls.trim(text, max_messages=8, **MODEL)
    assert isinstance(window, str)
    assert json.loads(window) == ls.trim(run(10), max_messages=8, **MODEL)


def test_sizes_from_a_list_are_those_of_the_whole_messages():
    history = run(3)
    sizes = [10] * len(history)
    decision = ls.plan(history, max_tokens=50, counter=sizes, **MODEL)
    assert decision.after.tokens == 50
    assert len(decision.kept) == 5
    assert signatures(ls.apply(decision, history)) == []


def test_what_does_not_fit_is_said():
    with pytest.raises(ls.CannotFit):
        ls.trim(run(3), max_chars=2, **MODEL)
