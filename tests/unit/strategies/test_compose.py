"""Steps in order: when they fire and stop, what is taken back, what must be there in the end."""

import msgspec
import pytest

import lockstitch as ls
from lockstitch.strategies import (
    ClearMedia,
    ClearResults,
    DropOldest,
    DropReasoning,
    HistoryDirective,
    KeepLast,
    Pin,
    SlidingWindowHistoryStrategy,
    StepsHistoryStrategy,
    Summarize,
    TokenBudgetHistoryStrategy,
)
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, User

CHAT = [
    system("s"),
    *(message for at in range(10) for message in (user(f"q{at}"), assistant(f"a{at}"))),
]
BOUND = "claude-opus-5-5"


def reports(decision):
    return [(step.step, step.changed, step.why_not) for step in decision.steps]


def test_nothing_is_done_while_every_limit_holds():
    decision = ls.plan(CHAT, StepsHistoryStrategy(steps=(Summarize(),), max_messages=21))
    assert not decision.changes
    assert decision.fired == ()
    assert decision.steps == ()
    assert ls.trim(CHAT, strategy=StepsHistoryStrategy(max_messages=21)) == CHAT


def test_a_directive_without_limits_keeps_everything():
    assert ls.trim(CHAT, strategy=ls.NullHistoryStrategy()) == CHAT
    assert ls.trim(CHAT, strategy=StepsHistoryStrategy(steps=(ClearResults(),))) == CHAT


def test_a_limit_of_zero_keeps_nothing():
    assert ls.trim(CHAT, strategy=SlidingWindowHistoryStrategy(0)) == []
    decision = ls.plan(CHAT, StepsHistoryStrategy(steps=(Summarize(),), max_tokens=0))
    assert decision.kept == []
    assert {edit.reason for edit in decision.edits} == {"zero"}


@pytest.mark.parametrize("limit", range(1, 24))
def test_a_sliding_window_is_what_trim_with_its_limit_keeps(limit):
    strategy = SlidingWindowHistoryStrategy(limit)
    options = {"on_overflow": "smallest"}
    assert ls.trim(CHAT, strategy=strategy, **options) == ls.trim(
        CHAT, max_messages=limit, **options
    )


def test_a_token_budget_cuts_to_its_low_mark():
    budget = TokenBudgetHistoryStrategy(max_tokens=120, trim_to=60)
    window = ls.trim(CHAT, strategy=budget, counter="bytes")
    assert window == ls.trim(CHAT, max_tokens=120, trim_to=60, counter="bytes")


def test_steps_stop_as_soon_as_the_limits_hold(agent):
    history = agent(rounds=6)
    strategy = StepsHistoryStrategy(
        steps=(ClearResults(keep_groups=2), Summarize(keep_recent=2)), max_chars=4_000
    )
    decision = ls.plan(history, strategy)
    assert reports(decision) == [
        ("clear-results", 4, ""),
        ("summarize", 0, "the limits hold"),
    ]
    assert decision.fired[0].endswith(" chars, 4,000 are allowed")
    assert decision.after.chars <= 4_000
    assert decision.after.chars == decision.steps[-1].after["chars"]


def test_a_low_mark_is_a_share_of_every_limit(agent):
    history = agent(rounds=9)
    fields = {"max_chars": 6_000, "max_messages": 19, "low_water": 0.5}
    decision = ls.plan(history, StepsHistoryStrategy(**fields))
    assert decision.after.chars <= 3_000
    assert decision.after.messages <= 9
    cleared = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), **fields)
    assert [step.step for step in ls.plan(history, cleared).steps] == [
        "clear-results",
        "drop-oldest",
    ]


def test_a_call_overrules_the_strategy_it_names():
    strategy = StepsHistoryStrategy(max_messages=6, low_water=0.5, cut="prefix")
    assert len(ls.trim(CHAT, strategy=strategy)) == 3
    assert len(ls.trim(CHAT, strategy=strategy, max_messages=9, trim_to=7)) == 7
    assert ls.plan(CHAT, strategy, max_messages=9).limit == {"messages": 9}
    beside = ls.plan(CHAT, SlidingWindowHistoryStrategy(9), max_tokens=10_000, reserve=500)
    assert beside.limit == {"messages": 9, "tokens": 10_000}
    prefix = ls.plan(CHAT, SlidingWindowHistoryStrategy(4), cut="prefix", on_overflow="smallest")
    assert prefix.kept == ls.plan(CHAT, max_messages=4, cut="prefix").kept


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (KeepLast(turns=2), [0, 17, 18, 19, 20]),
        (KeepLast(turns=99), list(range(21))),
        (KeepLast(groups=3), [0, 18, 19, 20]),
        (KeepLast(groups=20), list(range(21))),
    ],
)
def test_the_newest_turns_or_groups_are_kept(step, kept):
    decision = ls.plan(CHAT, StepsHistoryStrategy(steps=(step,)), profile="openai-chat")
    assert decision.kept == kept
    if len(kept) < 21:
        assert {edit.reason for edit in decision.edits if edit.action == "drop"} == {"beyond"}
        assert "are kept" in decision.fired[0]
    else:
        assert decision.fired == ()


def test_a_turn_that_does_not_fit_is_cut_inside_by_groups():
    rounds = [message for at in range(9) for message in (call(f"c{at}"), result(f"c{at}"))]
    history = [*CHAT, user("go"), *rounds]
    decision = ls.plan(history, ls.LastTurnsHistoryStrategy(1), max_messages=8)
    assert decision.kept == [0, 21, *range(34, 40)]


def test_a_result_far_from_its_call_takes_its_call_along():
    history = [user("a"), call("c"), user("b"), assistant("m"), user("n"), result("c"), user("z")]
    decision = ls.plan(history, StepsHistoryStrategy(steps=(KeepLast(groups=2),)))
    assert {1, 5} <= set(decision.kept)


def test_keeping_nothing_is_possible_and_loses_a_pin_only_with_an_error():
    for step in (KeepLast(turns=0), KeepLast(groups=0)):
        assert ls.trim(CHAT, strategy=StepsHistoryStrategy(steps=(step,))) == []
    both = StepsHistoryStrategy(max_messages=0, must_survive=("q3",))
    with pytest.raises(ls.PinLost, match="the phrase 'q3'"):
        ls.trim(CHAT, strategy=both)


# --- reasoning ------------------------------------------------------------------------------------


def thinking(format, turns=4):
    steps = []
    for at in range(turns):
        thought = f"thought {at} " * 20
        steps += [User(f"q{at}"), Calls((Call(f"c{at}"),), thought=thought)]
        steps += [Result(f"c{at}"), Say(f"a{at}")]
    return render(steps, format)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_old_reasoning_goes_and_that_of_the_newest_turns_stays(keep):
    history = thinking("anthropic")
    whole = ls.plan(history, StepsHistoryStrategy(max_chars=9_999)).after.chars
    strategy = StepsHistoryStrategy(steps=(DropReasoning(keep_turns=keep),), max_chars=whole - 1)
    decision = ls.plan(history, strategy, profile="anthropic")
    assert reports(decision) == [("drop-reasoning", 4 - keep, "")]
    window = ls.apply(decision, history)
    thoughts = ["thinking" in str(message["content"]) for message in window]
    assert [at for at, thought in enumerate(thoughts) if thought] == [1, 5, 9, 13][-keep:]


def test_an_item_whose_reasoning_goes_loses_its_id():
    history = [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 400},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c",
            "name": "f",
            "arguments": "{}",
        },
        {"type": "function_call_output", "call_id": "c", "output": "r"},
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "b"},
    ]
    strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=100)
    decision = ls.plan(history, strategy, profile="openai-responses")
    assert [edit.reason for edit in decision.edits] == ["recent", "thoughts", "unled", "recent"]
    window = ls.apply(decision, history)
    assert "id" not in window[1]
    assert window[1]["call_id"] == "c"
    assert ls.check(window, profile="openai-responses", tail="closed", record=history).ok
    pinned = ls.plan(
        history, strategy, profile="openai-responses", pins=[2], on_overflow="smallest"
    )
    assert "thoughts" not in {edit.reason for edit in pinned.edits}


def test_an_item_without_an_id_has_none_to_lose():
    history = [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 400},
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "b"},
    ]
    strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=100)
    window = ls.trim(history, strategy=strategy, profile="openai-responses")
    assert window == [history[0], *history[2:]]


def test_reasoning_stays_where_what_it_led_to_cannot_do_without_its_id():
    history = [
        {"role": "user", "content": "a"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x" * 400},
        {"type": "mcp_approval_request", "id": "mcpr_1", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"role": "assistant", "content": "so"},
        {"role": "user", "content": "b"},
    ]
    strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=450)
    decision = ls.plan(history, strategy, max_chars=300, profile="openai-responses")
    assert "unled" not in {edit.reason for edit in decision.edits}
    assert decision.steps[0].why_not == "nothing is old or large enough"


def test_a_step_that_the_target_would_refuse_is_taken_back(monkeypatch):
    from lockstitch.strategies import compose

    def drop_the_call(work, step, asked):
        work.drop({1: "thoughts"})
        return 1

    monkeypatch.setattr(compose, "drop_reasoning", drop_the_call)
    history = [user("a"), call("c"), result("c", "x" * 50), user("b")]
    strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=20)
    decision = ls.plan(history, strategy)
    assert reports(decision)[0] == (
        "drop-reasoning",
        0,
        "the target would refuse it: po-result-has-call",
    )
    assert decision.kept == [0, 3]


def test_bound_thinking_goes_oldest_first_and_alone_while_that_is_enough():
    history = thinking("anthropic")
    options = {"profile": "anthropic", "model": BOUND}
    whole = ls.plan(history, StepsHistoryStrategy(max_chars=100_000), **options).after.chars
    decision = ls.plan(history, StepsHistoryStrategy(max_chars=whole - 1), **options)
    assert [(step.step, step.changed) for step in decision.steps] == [("drop-reasoning", 1)]
    assert len(decision.stripped) == 1
    assert decision.dropped == []
    window = ls.apply(decision, history)
    assert sum("thinking" in str(message["content"]) for message in window) == 3


def test_once_messages_go_no_bound_thinking_stays():
    history = thinking("anthropic")
    options = {"profile": "anthropic", "model": BOUND}
    decision = ls.plan(history, StepsHistoryStrategy(max_messages=5), **options)
    assert decision.dropped
    window = ls.apply(decision, history)
    assert not any("thinking" in str(message["content"]) for message in window)
    assert {edit.reason for edit in decision.edits if edit.action == "strip"} == {"bound"}
    summed = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=9)
    window = ls.trim(history, strategy=summed, **options)
    assert not any("thinking" in str(message["content"]) for message in window)
    assert ls.check(window, record=history, **options).ok


# --- pins and phrases -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pin", "position"),
    [
        (3, 3),
        (-4, 17),
        (Pin(index=3), 3),
        (Pin(text="q4"), 9),
        (lambda message: message.parts[0].text == "a2", 6),
    ],
)
def test_pins_are_found_by_position_text_or_a_function(pin, position):
    for strategy in (None, SlidingWindowHistoryStrategy(5)):
        decision = ls.plan(CHAT, strategy, max_messages=5, pins=[pin], profile="openai-chat")
        assert position in decision.kept
    directive = HistoryDirective("steps", window_messages=5, pins=(Pin(text="q4"),))
    assert 9 in ls.plan(CHAT, directive, profile="openai-chat").kept


def test_pins_by_role_and_id_take_what_belongs_to_them_along():
    history = [user("a"), call("c1"), result("c1"), assistant("b"), user("c"), assistant("d")]
    for pin in (Pin(role="tool"), Pin(id="c1")):
        decision = ls.plan(history, pins=[pin], max_messages=5)
        assert {1, 2} <= set(decision.kept)
    named = [{**user("a"), "id": "m1"}, assistant("b"), user("c"), assistant("d")]
    assert 0 in ls.plan(named, pins=[Pin(id="m1")], max_messages=3, format="openai-chat").kept
    langchain = [
        {"type": "human", "data": {"content": "a", "id": "m1"}},
        *({"type": "ai", "data": {"content": "b"}}, {"type": "human", "data": {"content": "c"}}),
    ]
    kept = ls.plan(langchain, pins=[Pin(id="m1")], max_messages=2, on_overflow="smallest").kept
    assert 0 in kept


@pytest.mark.parametrize("pin", ["text", 1.5, None, b"x"])
def test_what_is_no_pin_is_refused(pin):
    with pytest.raises(TypeError, match="pins must be positions, Pins or functions of a message"):
        ls.trim(CHAT, max_messages=5, pins=[pin])
    with pytest.raises(TypeError, match="pins must be positions, Pins or functions of a message"):
        ls.trim(CHAT, strategy=ls.NullHistoryStrategy(), pins=[pin])
    with pytest.raises(ValueError, match="pin 99 is outside the history of 21 messages"):
        ls.trim(CHAT, strategy=ls.NullHistoryStrategy(), pins=[99])


def test_what_must_survive_is_kept_or_the_cut_is_refused():
    strategy = StepsHistoryStrategy(max_messages=5, must_survive=("q3", "a3"))
    window = ls.trim(CHAT, strategy=strategy, profile="openai-chat")
    assert {"q3", "a3"} <= {message["content"] for message in window}
    with pytest.raises(ls.PinLost, match="the phrase 'gone', which nobody said") as caught:
        ls.trim(CHAT, strategy=StepsHistoryStrategy(max_messages=5, must_survive=("gone",)))
    assert caught.value.lost == ("the phrase 'gone', which nobody said",)


@pytest.mark.parametrize("held", ["Never deploy.", [{"type": "text", "text": "Never deploy."}]])
def test_what_the_request_says_outside_the_list_survives(held):
    body = {"system": held, "messages": CHAT[1:]}
    strategy = StepsHistoryStrategy(max_messages=4, must_survive=("Never deploy",))
    window = ls.trim(body, strategy=strategy, profile="anthropic")
    assert len(window["messages"]) == 4
    assert window["system"] == held


def test_the_places_in_an_error_are_those_of_the_input(agent):
    history = agent(rounds=3)
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=1),), max_chars=300)
    asked = [*history, user("x" * 400)]
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim(asked, strategy=strategy)
    assert {item.reason for item in caught.value.floor} == {"system", "task"}
    assert max(item.stop for item in caught.value.floor) == len(asked)


def test_an_overflow_may_be_emptied_although_something_is_pinned():
    strategy = StepsHistoryStrategy(max_chars=1, on_overflow="empty", pins=(Pin(index=1),))
    assert ls.trim(CHAT, strategy=strategy) == []
    assert {edit.reason for edit in ls.plan(CHAT, strategy).edits} == {"overflow"}


def test_sizes_that_were_handed_in_are_used_and_stubs_are_estimated(agent):
    history = agent(rounds=3)
    sizes = [1_000 if message["role"] == "tool" else 10 for message in history]
    strategy = StepsHistoryStrategy(steps=(ClearResults(keep_groups=1),), max_tokens=1_500)
    decision = ls.plan(history, strategy, counter=sizes)
    assert decision.replaced == [3, 5]
    assert 1_000 < decision.after.tokens < 1_500
    assert (decision.counter, decision.counter_kind) == ("sizes", "exact")


def test_what_is_explained_names_strategy_steps_and_stubs(agent):
    history = agent(rounds=6)
    strategy = StepsHistoryStrategy(
        steps=(ClearMedia(), ClearResults(keep_groups=2), Summarize(keep_recent=6)), max_chars=3_000
    )
    stubs = ls.plan(history, strategy, max_chars=5_000).explain(history)
    assert "4 of them with stubs in" in stubs
    assert "an old result, cleared" in stubs
    decision = ls.plan(history, strategy)
    told = decision.explain(history)
    assert "clear-results: 4 messages" in told
    assert "clear-media: nothing is old or large enough" in told
    assert "because: 6," in told
    assert "put 1 in" in told
    assert "says what the messages said that went" in told
    assert "before [1]" in decision.explain()


def test_last_resort_may_be_named_where_it_is_wanted(agent):
    history = agent(rounds=6)
    first = StepsHistoryStrategy(
        steps=(DropOldest(cut="prefix"), ClearResults(keep_groups=0)), max_chars=4_000
    )
    decision = ls.plan(history, first)
    assert [step.step for step in decision.steps] == ["drop-oldest", "clear-results"]
    assert not decision.replaced
    held = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0), DropOldest()), max_chars=4_000)
    assert reports(ls.plan(history, held))[1] == ("drop-oldest", 0, "the limits hold")


def test_thinking_in_a_message_of_its_own_goes_with_it():
    def thought(text):
        block = {"type": "thinking", "thinking": text * 40, "signature": "s"}
        return {"role": "assistant", "content": [block]}

    history = [user("a"), thought("hm "), assistant("b"), user("c"), thought("so "), assistant("d")]
    history.append(user("e"))
    options = {"profile": "anthropic", "model": BOUND}
    decision = ls.plan(history, StepsHistoryStrategy(max_chars=200), **options)
    assert decision.dropped == [1]
    assert {edit.reason for edit in decision.edits if edit.action == "drop"} == {"unbound"}
    fewer = ls.plan(history, StepsHistoryStrategy(max_messages=4), **options)
    assert {1, 4} <= set(fewer.dropped)
    assert "unbound" in {edit.reason for edit in fewer.edits}
    turn = ls.plan(history, StepsHistoryStrategy(steps=(KeepLast(turns=2),)), **options)
    assert turn.kept == [3, 5, 6]


def test_a_summary_that_the_target_would_refuse_is_taken_back(monkeypatch):
    from lockstitch.strategies import compose

    chosen = compose.summarize

    def drop_the_call(work, step, asked, **options):
        found = chosen(work, step, asked, **options)
        work.drop({at: "summarized" for at, row in enumerate(work.rows) if row.origin == 5})
        return found

    monkeypatch.setattr(compose, "summarize", drop_the_call)
    chat = [user("a"), assistant("b"), user("c"), assistant("d"), user("e"), call("c")]
    history = [*chat, result("c"), user("f")]
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=6)
    decision = ls.plan(history, strategy)
    assert decision.pending is None
    assert reports(decision)[0] == (
        "summarize",
        0,
        "the target would refuse it: po-result-has-call",
    )


def test_a_window_too_small_for_what_must_stay_says_so_beside_a_summary():
    first = ls.summarize(CHAT, lambda _: "All said.", keep_recent=2).messages
    with pytest.raises(ls.CannotFit) as caught:
        ls.trim([*first, user("x" * 99)], strategy=StepsHistoryStrategy(max_chars=50))
    assert {item.reason for item in caught.value.floor} == {"system", "task"}


def test_a_request_without_instructions_says_nothing_outside_the_list():
    body = {"system": [], "messages": CHAT[1:]}
    strategy = StepsHistoryStrategy(max_messages=4, must_survive=("q9",))
    window = ls.trim(body, strategy=strategy, profile="anthropic", format="anthropic")
    assert len(window["messages"]) == 4


def test_a_plan_for_another_part_is_refused():
    history = [user(), call("a"), result("a", "x" * 900), user()]
    strategy = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_chars=700)
    decision = ls.plan(history, strategy)
    put = msgspec.structs.replace(decision.edits[1].puts[0], path="elsewhere")
    edit = msgspec.structs.replace(decision.edits[1], puts=(put,))
    wrong = msgspec.structs.replace(decision, edits=(decision.edits[0], edit, decision.edits[2]))
    with pytest.raises(ls.PlanMismatch, match="no result stands at elsewhere"):
        ls.apply(wrong, history)
