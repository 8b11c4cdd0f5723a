"""Summaries: what goes into them and what does not, where they stand, what failure costs."""

import asyncio

import pytest

import lockstitch as ls
from lockstitch.plan import Line, PendingSummary
from lockstitch.strategies import Pin, StepsHistoryStrategy, Summarize, SummarizingHistoryStrategy
from lockstitch.strategies.standing import REPLY
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, User
from lockstitch.writing import WRITERS

CHAT = [
    system("core rules"),
    *(message for at in range(6) for message in (user(f"q{at}"), assistant(f"a{at}"))),
]
SAID = "They spoke of six things."


def said(prompt):
    return SAID


def summarized(history=CHAT, summarizer=said, **options):
    return ls.summarize(history, summarizer, **{"keep_recent": 4, **options})


def texts(messages):
    return [message["content"] for message in messages]


def test_older_messages_give_way_to_a_summary_behind_the_system_part():
    done = summarized()
    assert done.messages[0] is CHAT[0]
    assert done.messages[1] == {"role": "user", "content": f"{done.summary}"}
    assert done.summary == f"[Summary of 8 earlier messages: 2-9]\n{SAID}"
    assert done.messages[2:] == CHAT[9:]
    assert all(one is other for one, other in zip(done.messages[2:], CHAT[9:], strict=True))
    assert done.failure is None


def test_the_plan_accounts_for_every_message():
    decision = summarized().plan
    assert [(edit.action, edit.start, edit.stop, edit.reason) for edit in decision.edits] == [
        ("keep", 0, 1, "system"),
        ("insert", 1, 1, "summary"),
        ("drop", 1, 9, "summarized"),
        ("keep", 9, 13, "recent"),
    ]
    assert decision.inserted == [summarized().summary]
    assert decision.fired == ("asked for",)
    assert decision.changed_from == 1
    assert decision.after.messages == 6


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_every_format_takes_a_summary_of_its_own_kind(agent, format):
    history = agent(format, system=False)
    profile = "portable" if format in {"agent-framework", "langchain"} else format
    done = summarized(history, format=format, profile=profile)
    assert ls.check(done.messages, profile="portable", format=format).ok
    assert ls.load(done.messages, format=format).message(0).role == "user"
    assert "in the place of" not in done.summary
    assert len(done.messages) < len(history)
    assert ls.apply(done.plan, history, format=format) == done.messages


def test_tool_rounds_are_told_in_words_with_names_arguments_and_errors():
    steps = [User("go"), Calls((Call("a", "read", {"p": 1}),)), Result("a", "boom", error=True)]
    history = render([*steps, Say("no luck"), User("and?"), Say("hm"), User("so?")], "anthropic")
    decision = ls.plan(
        history, StepsHistoryStrategy(steps=(Summarize(keep_recent=1),), max_chars=20)
    )
    decision = ls.plan(
        history,
        StepsHistoryStrategy(steps=(Summarize(keep_recent=1),), max_messages=6),
    )
    assert decision.pending.groups[:2] == (
        (Line("user", "go"),),
        (Line("call", '{"p":1}', "read"), Line("result", "boom", "read", failed=True)),
    )


def test_what_nobody_can_read_is_named_with_its_size():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100}}
    block = {"type": "x_note", "value": 1}
    history = [
        {"role": "user", "content": [{"type": "text", "text": "look"}, image, block]},
        assistant("seen"),
        user("and?"),
    ]
    prompts = []
    keeping = {"keep_recent": 0, "format": "openai-chat"}
    ls.summarize(history, lambda prompt: prompts.append(prompt) or SAID, **keeping)
    assert "User: look\n[image of " in prompts[0]
    assert "[x_note: " in prompts[0]


def test_approvals_and_reasoning_are_told():
    items = [
        {"role": "user", "content": "remove it"},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "mcp_approval_request", "id": "m", "name": "rm", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": False},
        {"role": "assistant", "content": "left it"},
        {"role": "user", "content": "fine"},
    ]
    prompts = []
    ls.summarize(items, lambda prompt: prompts.append(prompt) or SAID, keep_recent=0)
    assert "Assistant thought: hm" in prompts[0]
    assert "[approval was asked for: rm({})]\n[not approved]" in prompts[0]


# --- what stays -----------------------------------------------------------------------------------


def test_what_the_user_asked_last_stays_word_by_word_however_many_messages_it_is():
    history = [*CHAT, user("part one"), user("part two")]
    done = summarized(history, keep_recent=0)
    assert texts(done.messages)[2:] == ["part one", "part two"]


def test_the_task_of_a_long_run_stays():
    rounds = [message for at in range(9) for message in (call(f"c{at}"), result(f"c{at}"))]
    history = [user("the task"), *rounds]
    done = summarized(history, keep_recent=2)
    assert done.messages[1] is history[0]
    assert done.messages[2:] == history[-2:]
    assert done.summary.startswith("[Summary of 16 earlier messages: 2-17]\n")


def test_an_open_call_stays_and_an_abandoned_one_does_not_block():
    history = [*CHAT, call("lost"), user("go on"), assistant("ok"), user("wait"), call("open")]
    done = summarized(history, keep_recent=0)
    assert done.messages[2:] == [user("wait"), call("open")]


def test_pins_stay_with_what_belongs_to_them():
    history = [user("a"), call("c"), result("c"), assistant("b"), user("d"), assistant("e")]
    done = summarized(history, keep_recent=1, pins=[2])
    assert done.messages[1:] == [history[1], history[2], history[4], history[5]]
    assert done.summary.startswith("[Summary of 2 earlier messages: 1, 4]")


def test_a_call_and_its_result_stay_together():
    history = [*CHAT, call("c"), result("c"), user("and?")]
    done = summarized(history, keep_recent=2)
    assert done.messages[-3:] == history[-3:]


def test_a_result_without_its_call_is_told_and_not_kept():
    history = [user("a"), assistant("b"), result("gone", "its text"), user("c"), assistant("d")]
    prompts = []
    done = summarized(history, lambda p: prompts.append(p) or SAID, keep_recent=3)
    assert "Result of a tool: its text" in prompts[0]
    assert not any(message["role"] == "tool" for message in done.messages)


@pytest.mark.parametrize("history", [[], [user("a")], CHAT[:4], [system("s"), user("a")]])
def test_where_nothing_is_old_nothing_is_done(history):
    done = summarized(history)
    assert done.messages == history
    assert done.summary is None
    assert not done.plan.changes
    assert done.failure is None


def test_one_short_message_is_not_worth_a_summary():
    history = [assistant("hello"), user("a"), assistant("b")]
    assert summarized(history, keep_recent=2).summary is None
    long = [assistant("hello " * 100), user("a"), assistant("b")]
    assert summarized(long, keep_recent=2).summary is not None


# --- one running summary --------------------------------------------------------------------------


def test_an_earlier_summary_is_taken_up_in_its_place():
    first = summarized(summarizer=lambda _: "First.").messages
    prompts = []
    more = [*first, user("q6"), assistant("a6")]
    second = summarized(more, lambda prompt: prompts.append(prompt) or "Second.")
    assert prompts[0].previous == "First."
    assert second.messages[1]["content"] == "[Summary of 10 earlier messages: 2-11]\nSecond."
    assert sum("[Summary of" in str(text) for text in texts(second.messages)) == 1
    assert [edit.reason for edit in second.plan.edits] == [
        *("system", "summary", "superseded", "summarized", "recent"),
    ]


def test_numbers_go_on_where_the_last_summary_ended_and_skip_what_it_covers():
    history = [user("a"), assistant("b"), user("pin"), assistant("d"), *CHAT[1:]]
    first = summarized(history, keep_recent=10, pins=[2]).messages
    assert first[0]["content"].startswith("[Summary of 5 earlier messages: 1-2, 4-6]")
    more = [*first, user("x"), assistant("y")]
    second = summarized(more, keep_recent=10, pins=[1]).messages
    assert second[0]["content"].startswith("[Summary of 7 earlier messages: 1-2, 4-8]")


def test_the_second_time_nothing_is_left_to_do():
    once = summarized().messages
    again = summarized(once)
    assert again.messages == once
    assert again.summary is None


@pytest.mark.parametrize("text", ["[Summary of x]", "[Summary of 3 earlier messages: ,]\nso", "so"])
def test_text_that_only_looks_like_one_is_a_message(text):
    history = [user(text), assistant("b"), user("c"), assistant("d")]
    prompts = []
    summarized(history, lambda prompt: prompts.append(prompt) or SAID, keep_recent=1)
    assert prompts[0].previous == ""
    assert f"User: {text}\nAssistant: b" in prompts[0]


def test_where_two_messages_of_the_user_may_not_meet_the_model_answers_the_summary():
    history = [{"role": one["role"], "content": [{"text": one["content"]}]} for one in CHAT[1:]]
    done = summarized([*history, history[0]], keep_recent=1, profile="bedrock")
    roles = [message["role"] for message in done.messages]
    assert roles == ["user", "assistant", "user"]
    assert done.messages[1] == {"role": "assistant", "content": [{"text": REPLY}]}
    assert ls.check(done.messages, profile="bedrock", tail="closed").ok
    more = [*done.messages, history[1], *history[2:6], history[0]]
    again = summarized(more, keep_recent=1, profile="bedrock")
    assert [message["role"] for message in again.messages] == ["user", "assistant", "user"]


# --- failure --------------------------------------------------------------------------------------


def broken(prompt):
    raise ConnectionError("down")


@pytest.mark.parametrize(
    "summarizer",
    [
        broken,
        lambda _: "",
        lambda _: "  \n",
        lambda _: "word " * 2_000,
        lambda _: "I'm sorry, I can't do that.",
        str,
        lambda _: None,
    ],
)
def test_a_summary_that_fails_leaves_the_history_as_it_was(summarizer):
    before = [dict(message) for message in CHAT]
    long = [*CHAT, *[user("x" * 900), assistant("y" * 900)] * 3]
    done = summarized(long, summarizer)
    assert done.messages == long
    assert all(one is other for one, other in zip(done.messages, long, strict=True))
    assert done.summary is None
    assert done.failure.attempts == 2
    assert done.plan.steps[-1].why_not == done.failure.brief
    assert before == CHAT


def test_with_a_limit_it_is_cut_without_a_summary_as_far_as_the_limit_demands():
    done = summarized(summarizer=broken, max_messages=8)
    assert len(done.messages) <= 8
    assert done.failure is not None
    assert done.plan.steps[-1].step == "drop-oldest"
    assert {edit.reason for edit in done.plan.edits if edit.action == "drop"} <= {"oldest", "start"}
    assert summarized(summarizer=broken, max_messages=50).failure is None


def test_trim_goes_on_without_a_summary_too():
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=8)
    window = ls.trim(CHAT, strategy=strategy, summarizer=broken)
    assert window == ls.trim(CHAT, max_messages=8)


def test_without_a_summarizer_the_digest_writes_it():
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=8)
    window = ls.trim(CHAT, strategy=strategy)
    assert window[1]["content"].startswith("[Summary of 8 earlier messages: 2-9]\nAsked:\n- q0")


def test_a_summary_that_does_not_fit_the_tokens_it_was_promised_is_none():
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=2),), max_tokens=500)

    def many(prompt):
        return "🧵" * (prompt.room - 1)

    way = ls.summarize([*CHAT, *[user("x " * 300), assistant("y")] * 3], many, strategy=strategy)
    assert way.failure is not None
    assert "over its limit" in str(way.failure)
    assert way.summary is None


def test_cancelling_changes_nothing():
    async def hangs(prompt):
        await asyncio.sleep(60)
        return ""

    async def run():
        async with asyncio.timeout(0.01):
            await ls.asummarize(CHAT, hangs, keep_recent=4)

    before = [dict(message) for message in CHAT]
    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert before == CHAT


def test_an_awaited_summary_is_the_same():
    async def slow(prompt):
        await asyncio.sleep(0)
        return SAID

    assert asyncio.run(ls.asummarize(CHAT, slow, keep_recent=4)) == summarized()

    async def down(prompt):
        raise ConnectionError

    done = asyncio.run(ls.asummarize(CHAT, down, keep_recent=4, max_messages=8))
    assert len(done.messages) <= 8
    assert done.failure.brief == "it raised ConnectionError"
    quiet = asyncio.run(ls.asummarize(CHAT[:3], slow))
    assert quiet.messages == CHAT[:3]


# --- when -----------------------------------------------------------------------------------------


def test_a_trigger_fires_once_and_not_at_every_message():
    strategy = SummarizingHistoryStrategy(trigger_chars=40, keep_recent=4)
    long = [message for at in range(10) for message in (user(f"q{at}" * 4), assistant("a" * 8))]
    window = ls.trim(long, strategy=strategy)
    assert window[0]["content"].startswith("[Summary of 16 earlier messages: 1-16]")
    assert ls.trim([*window, user("?")], strategy=strategy) == [*window, user("?")]
    assert ls.trim(CHAT[:3], strategy=strategy) == CHAT[:3]


def test_a_plan_waits_for_its_summary():
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=8)
    decision = ls.plan(CHAT, strategy)
    assert decision.pending.covers == ((1, 9),)
    assert decision.pending.position == 1
    with pytest.raises(ValueError, match=r"apply plan\.summarized\(text\)"):
        ls.apply(decision, CHAT)
    done = ls.Plan.from_json(decision.to_json()).summarized(SAID)
    assert ls.apply(done, CHAT)[1]["content"].endswith(SAID)
    with pytest.raises(ValueError, match="no summary is pending"):
        done.summarized(SAID)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (" ", ValueError, "the summary is blank"),
        ("x" * 500, ValueError, "characters, 3"),
        (5, TypeError, "must be a text, got int"),
    ],
)
def test_a_plan_refuses_a_summary_that_is_none(text, error, said):
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=4),), max_messages=8)
    with pytest.raises(error, match=said):
        ls.plan(CHAT, strategy).summarized(text)


def test_a_summary_may_not_be_longer_than_what_it_stands_for():
    pending = PendingSummary(
        covers=(), position=0, numbers=((1, 1),), groups=(), size=450, max_chars=900
    )
    assert pending.worded("x" * 450).endswith("x" * 450)
    with pytest.raises(ValueError, match="451 characters, what it stands for 450"):
        pending.worded("x" * 451)


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ({"max_messages": 1}, "the limits leave no room for a summary"),
        ({"max_chars": 30}, "the limits leave no room for a summary"),
        ({"max_tokens": 30}, "the limits leave no room for a summary"),
        ({"max_messages": 100}, None),
    ],
)
def test_where_a_summary_has_no_room_there_is_none(limits, why):
    strategy = StepsHistoryStrategy(
        steps=(Summarize(keep_recent=2),), on_overflow="smallest", **limits
    )
    decision = ls.plan(CHAT, strategy)
    assert decision.pending is None
    assert [step.why_not for step in decision.steps if step.step == "summarize"] == (
        [why] if why else []
    )


def test_where_what_must_stay_leaves_no_room_the_summary_goes_first():
    history = [*CHAT, user("x" * 300)]
    strategy = StepsHistoryStrategy(steps=(Summarize(keep_recent=2),), max_chars=330)
    decision = ls.plan(history, strategy)
    assert decision.pending is None
    assert "what must stay leaves no room for a summary" in {s.why_not for s in decision.steps}
    assert ls.trim(history, strategy=strategy)[-1] is history[-1]


def test_a_summary_that_stands_stays_while_groups_go():
    first = summarized().messages
    more = [*first, *(m for at in range(9) for m in (user(f"r{at}"), assistant(f"b{at}")))]
    window = ls.trim(more, strategy=StepsHistoryStrategy(max_messages=6))
    assert window[:2] == first[:2]
    assert len(window) <= 6
    turns = ls.trim(more, strategy=ls.LastTurnsHistoryStrategy(2))
    assert turns == [*first[:2], *more[-4:]]
    groups = ls.trim(more, strategy=ls.LastGroupsHistoryStrategy(3))
    assert groups[:2] == first[:2]
    small = ls.trim(more, strategy=StepsHistoryStrategy(max_chars=30))
    assert not any("[Summary of" in text for text in texts(small))


def test_phrases_are_kept_through_a_summary():
    history = [CHAT[0], user("Never deploy on Friday."), *CHAT[1:]]
    strategy = StepsHistoryStrategy(
        steps=(Summarize(keep_recent=2),), max_messages=8, must_survive=("Never deploy",)
    )
    window = ls.trim(history, strategy=strategy)
    assert history[1] in window
    assert "Never deploy" not in window[1]["content"]
    pinned = StepsHistoryStrategy(
        steps=(Summarize(keep_recent=2),), max_messages=8, pins=(Pin(text="Never deploy"),)
    )
    assert ls.trim(history, strategy=pinned) == window


def test_a_trigger_alone_does_not_call_for_a_summary_of_next_to_nothing():
    strategy = SummarizingHistoryStrategy(trigger_chars=400, keep_recent=2)
    history = [user("a"), assistant("b"), user("c"), assistant("x" * 900)]
    decision = ls.plan(history, strategy)
    assert decision.pending is None
    assert decision.steps[0].why_not == "2 characters could be summarised, which is not worth it"


def test_rows_that_no_model_sees_are_not_told():
    history = [
        *({"role": "note", "content": "meta"}, user("a"), assistant("b"), call("c")),
        *({"role": "note", "content": "more"}, result("c"), user("d"), assistant("e")),
    ]
    prompts = []
    options = {"keep_recent": 1, "format": "openai-chat"}
    done = ls.summarize(history, lambda prompt: prompts.append(prompt) or SAID, **options)
    assert "meta" not in prompts[0]
    assert history[0] in done.messages


def test_an_empty_message_behind_a_summary_is_no_reply():
    first = summarized().messages
    more = [*first[:2], {"role": "assistant", "content": []}, *first[2:], user("x"), assistant("y")]
    again = summarized(more, lambda _: "Second.", format="openai-chat")
    assert again.messages[1]["content"].endswith("Second.")


def test_an_awaited_summary_that_is_too_long_in_tokens_is_asked_for_once_more():
    rooms = []

    async def many(prompt):
        rooms.append(prompt.room)
        return "🧵" * (prompt.room - 1)

    history = [*CHAT, *[user("x " * 300), assistant("y")] * 3]
    done = asyncio.run(ls.asummarize(history, many, keep_recent=2, max_tokens=500))
    assert len(rooms) == 2
    assert rooms[1] <= rooms[0] - rooms[0] // 2
    assert done.failure.attempts == 2
    short = asyncio.run(ls.asummarize(history, lambda _: SAID, keep_recent=2, max_tokens=500))
    assert short.summary.endswith(SAID)


def test_the_second_time_it_may_fit():
    history = [*CHAT, *[user("x " * 300), assistant("y")] * 3]
    left = ["🧵" * 300, "All said."]

    def better(prompt):
        return left.pop(0)[: prompt.room]

    done = ls.summarize(history, better, keep_recent=2, max_tokens=500)
    assert done.failure is None
    assert done.summary.endswith("All said.")


def test_a_short_summary_that_is_too_long_in_tokens_is_not_asked_for_again():
    rooms = []

    def many(prompt):
        rooms.append(prompt.room)
        return "🧵" * prompt.room

    history = [*CHAT, *[user("x " * 60), assistant("y")] * 3]
    done = ls.summarize(history, many, keep_recent=2, max_tokens=160)
    assert len(rooms) == 1
    assert rooms[0] <= 120
    assert done.failure.attempts == 1
