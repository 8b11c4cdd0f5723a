"""Our strategies as compaction of agent-framework: its own functions, provider and agent."""

import asyncio
import copy

import pytest

import lockstitch as ls
from lockstitch.strategies import (
    ClearResults,
    DropReasoning,
    StepsHistoryStrategy,
    SummarizingHistoryStrategy,
)

framework = pytest.importorskip("agent_framework")

from agent_framework import (  # noqa: E402
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    CompactionProvider,
    Content,
    InMemoryHistoryProvider,
    Message,
    annotate_message_groups,
    apply_compaction,
)

from lockstitch.integrations.agent_framework import LockstitchCompaction  # noqa: E402
from lockstitch.integrations.agent_framework.compaction import BEFORE  # noqa: E402


def user(text="go on"):
    return Message("user", [text])


def says(text="done"):
    return Message("assistant", [text])


def calls(*ids, thought=None):
    contents = [Content.from_function_call(one, "look_up", arguments="{}") for one in ids]
    if thought:
        contents.insert(0, Content.from_text_reasoning(text=thought, protected_data="gAAAAAB"))
    return Message("assistant", contents)


def result(one, text="found"):
    return Message("tool", [Content.from_function_result(one, result=text)])


def rounds(count, text="found"):
    history = [user("the task")]
    for number in range(count):
        history += [calls(f"c{number}"), result(f"c{number}", text)]
    return [*history, says("all done"), user("and now?")]


def compacted(messages, strategy):
    return asyncio.run(apply_compaction(messages, strategy=strategy))


def excluded(messages):
    return [at for at, one in enumerate(messages) if one.additional_properties["_excluded"]]


def is_fine(messages, profile="openai-chat"):
    return ls.check(messages, profile=profile, format="agent-framework", tail="closed").ok


# --- dropping ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", range(1, 15))
def test_a_window_splits_no_pair_and_keeps_the_limit_as_far_as_the_floor_allows(limit):
    history = rounds(5)
    window = compacted(history, LockstitchCompaction(max_messages=limit))
    assert is_fine(window)
    assert len(window) <= max(limit, 2)
    assert len(history) == 13
    assert window == [history[at] for at in range(13) if at not in excluded(history)]


def test_the_system_message_and_the_newest_user_message_stay():
    history = [Message("system", ["be brief"]), *rounds(5)]
    window = compacted(history, LockstitchCompaction(max_messages=3))
    assert window[0] is history[0]
    assert window[-1] is history[-1]


def test_a_message_that_goes_is_flagged_with_the_reason_of_the_plan():
    history = rounds(5)
    compacted(history, LockstitchCompaction(max_messages=6))
    reasons = {history[at].additional_properties["_exclude_reason"] for at in excluded(history)}
    assert reasons == {"lockstitch_oldest"}


def test_far_results_go_with_their_calls():
    history = [user(), calls("a"), user(), result("a"), says(), user()]
    compacted(history, LockstitchCompaction(max_messages=2, profile="openai-responses"))
    assert {1, 3} <= set(excluded(history))


def test_a_second_run_changes_nothing():
    history = rounds(5)
    strategy = LockstitchCompaction(max_messages=6)
    first = compacted(history, strategy)
    before = copy.deepcopy([one.to_dict() for one in history])
    assert asyncio.run(strategy(history)) is False
    assert [one.to_dict() for one in history] == before
    assert compacted(history, strategy) == first


def test_nothing_is_done_below_the_limit():
    history = rounds(2)
    assert compacted(history, LockstitchCompaction(max_messages=50)) == history
    assert excluded(history) == []


def test_a_token_limit_is_kept():
    history = rounds(12, "word " * 60)
    window = compacted(history, LockstitchCompaction(max_tokens=600))
    assert is_fine(window)
    assert 0 < len(window) < len(history)


# --- late results --------------------------------------------------------------------------------


def hosted_call():
    return Message("assistant", [Content.from_mcp_server_tool_call("m1", "find")])


def hosted_result():
    return Message("assistant", [Content.from_mcp_server_tool_result("m1", output="found")])


@pytest.mark.parametrize(
    ("call", "answer"), [(calls("late"), result("late")), (hosted_call(), hosted_result())]
)
def test_a_late_result_takes_its_excluded_call_in_again(call, answer):
    call, answer = copy.deepcopy(call), copy.deepcopy(answer)
    history = [user(), call, user(), says(), user()]
    annotate_message_groups(history)
    call.additional_properties["_excluded"] = True
    history += [answer, says(), user("last")]
    window = compacted(history, LockstitchCompaction(max_messages=50))
    assert [at for at, one in enumerate(history) if one in window and one in (call, answer)] == [
        1,
        5,
    ]


def test_an_open_call_is_never_left_out():
    history = [*rounds(4), calls("open")]
    window = compacted(history, LockstitchCompaction(max_messages=3))
    assert history[-1] in window


def test_an_approval_stays_with_its_call():
    call = Content.from_function_call("c1", "remove", arguments="{}", id="occ1")
    asked = Message("assistant", [call, Content.from_function_approval_request("occ1", call)])
    decided = Message("user", [Content.from_function_approval_response(True, "occ1", call)])
    history = [user(), asked, decided, result("c1"), says(), *rounds(3)]
    for limit in range(2, len(history)):
        mine = copy.deepcopy(history)
        window = compacted(mine, LockstitchCompaction(max_messages=limit))
        assert len([one for one in mine[1:4] if one in window]) in {0, 3}


# --- summaries -----------------------------------------------------------------------------------


class Writer:
    def __init__(self, *texts):
        self.texts = list(texts)
        self.prompts = []

    async def __call__(self, prompt):
        await asyncio.sleep(0)
        self.prompts.append(prompt)
        said = self.texts.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


def summarising(writer, **options):
    strategy = SummarizingHistoryStrategy(trigger_chars=200, keep_recent=3)
    return LockstitchCompaction(strategy, summarizer=writer, **options)


def test_a_summary_is_awaited_and_takes_the_place_of_what_it_stands_for():
    history = rounds(6, "found " * 20)
    writer = Writer("Six things were found.")
    window = compacted(history, summarising(writer))
    assert any("Six things were found." in one.text for one in window)
    assert len(writer.prompts) == 1
    assert is_fine(window, "portable")


def test_a_summary_and_what_it_stands_for_are_linked_both_ways():
    history = rounds(6, "found " * 20)
    compacted(history, summarising(Writer("Six things were found.")))
    (summary,) = [one for one in history if one.text.startswith("[Summary of")]
    links = summary.additional_properties["_group"]
    gone = [history[at] for at in excluded(history)]
    named = [one.message_id for one in gone]
    assert links["_summary_of_message_ids"] == named
    assert links["id"]
    assert links["kind"]
    for one in gone:
        annotation = one.additional_properties["_group"]
        assert annotation["_summarized_by_summary_id"] == summary.message_id
        assert annotation["id"] in links["_summary_of_group_ids"]
    assert len({one.message_id for one in history}) == len(history)


def test_a_later_summary_takes_the_place_of_the_earlier_one():
    history = rounds(6, "found " * 20)
    strategy = summarising(Writer("First.", "Both."))
    compacted(history, strategy)
    history += rounds(6, "more " * 30)
    window = compacted(history, strategy)
    told = [one.text for one in window if one.text.startswith("[Summary of")]
    assert len(told) == 1
    assert "Both." in told[0]


@pytest.mark.parametrize("said", ["", "   ", RuntimeError("down")])
def test_no_summary_leaves_the_history_as_it_was(said):
    history = rounds(6, "found " * 20)
    before = len(history)
    strategy = summarising(Writer(said, said, said, said))
    assert compacted(history, strategy) == history
    assert len(history) == before
    assert excluded(history) == []


def test_no_summary_and_a_hard_limit_drop_what_does_not_fit():
    history = rounds(6, "found " * 20)
    strategy = summarising(Writer(*[RuntimeError("down")] * 4), max_messages=6)
    window = compacted(history, strategy)
    assert len(window) <= 6
    assert is_fine(window)


# --- changed messages ----------------------------------------------------------------------------


def clearing(**options):
    steps = (ClearResults(keep_groups=1),)
    return LockstitchCompaction(StepsHistoryStrategy(steps=steps, max_chars=1_000), **options)


def test_old_results_are_cleared_in_copies_that_keep_what_was_said():
    history = rounds(4, "found " * 100)
    mine = list(history)
    before = [one.to_dict() for one in history]
    window = compacted(mine, clearing())
    assert is_fine(window)
    changed = [at for at, one in enumerate(mine) if one is not history[at]]
    assert changed
    for at in changed:
        assert mine[at].contents[0].call_id == history[at].contents[0].call_id
        assert "found " * 100 not in (mine[at].contents[0].result or "")
        assert mine[at].additional_properties[BEFORE] == before[at]["contents"]
        assert history[at].contents[0].result == "found " * 100


def test_clearing_again_changes_nothing():
    history = rounds(4, "found " * 100)
    strategy = clearing()
    first = [one.to_dict() for one in compacted(history, strategy)]
    assert [one.to_dict() for one in compacted(history, strategy)] == first


def test_reasoning_that_was_left_out_is_not_announced_any_more():
    history = [user("the task")]
    for number in range(4):
        history += [calls(f"c{number}", thought="hm " * 200), result(f"c{number}")]
    history += [says(), user("and now?")]
    strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=700)
    window = compacted(history, LockstitchCompaction(strategy, profile="openai-chat"))
    bare = [
        one
        for one in window
        if one.role == "assistant"
        and not any(content.type == "text_reasoning" for content in one.contents)
    ]
    assert bare
    for one in bare:
        assert not one.additional_properties["_group"]["has_reasoning"]


# --- the provider and an agent -------------------------------------------------------------------


class Scripted(BaseChatClient):
    """Answers in turn, and keeps what it was sent."""

    def __init__(self, answers, **options):
        super().__init__(**options)
        self.answers = iter(answers)
        self.sent = []

    def _inner_get_response(self, *, messages, stream=False, options=None, **rest):
        self.sent.append(list(messages))

        async def answer():
            return ChatResponse(messages=[copy.deepcopy(next(self.answers))])

        return answer()


class Looping(framework.FunctionInvocationLayer, Scripted):
    """Runs the tools that are called, and goes on."""


def chat(agent, turns):
    async def go():
        session = AgentSession()
        for turn in range(turns):
            await agent.run(f"question {turn}", session=session)
        return session

    return asyncio.run(go())


def test_the_provider_compacts_what_is_loaded_before_a_run():
    client = Scripted([says(f"answer {turn}") for turn in range(12)])
    compaction = CompactionProvider(before_strategy=LockstitchCompaction(max_messages=4))
    agent = Agent(client=client, context_providers=[InMemoryHistoryProvider(), compaction])
    session = chat(agent, 12)
    assert max(map(len, client.sent)) <= 5
    assert len(session.state["in_memory"]["messages"]) == 24
    assert all(is_fine(sent) for sent in client.sent)


def test_the_provider_compacts_what_is_stored_after_a_run_and_loses_nothing():
    client = Scripted([says(f"answer {turn}") for turn in range(12)])
    compaction = CompactionProvider(after_strategy=LockstitchCompaction(max_messages=4))
    history = InMemoryHistoryProvider(skip_excluded=True)
    agent = Agent(client=client, context_providers=[history, compaction])
    session = chat(agent, 12)
    # The provider compacts before the newest turn is stored; that and the question come on top.
    assert max(map(len, client.sent)) <= 4 + 2 + 1
    stored = session.state["in_memory"]["messages"]
    assert [one.text for one in stored if one.role == "user"] == [
        f"question {turn}" for turn in range(12)
    ]
    restored = AgentSession.from_dict(session.to_dict())
    assert len(restored.state["in_memory"]["messages"]) == len(stored)


def test_neither_strategy_leaves_everything_as_it_is():
    client = Scripted([says() for _ in range(3)])
    agent = Agent(
        client=client, context_providers=[InMemoryHistoryProvider(), CompactionProvider()]
    )
    chat(agent, 3)
    assert [len(sent) for sent in client.sent] == [1, 3, 5]


def test_messages_of_several_sources_stay_with_their_source():
    first, second = [user("a"), says("b")], [user("c"), says("d"), user("e")]
    context = framework.SessionContext(input_messages=[])
    context.context_messages.update({"one": first, "two": second})
    provider = CompactionProvider(before_strategy=LockstitchCompaction(max_messages=3))
    asyncio.run(provider.before_run(agent=None, session=None, context=context, state={}))
    assert [one.text for one in context.context_messages["two"]] == ["c", "d", "e"]
    assert context.context_messages["one"] == []


def test_an_agent_compacts_within_a_run_of_tools():
    number = iter(range(100))

    @framework.tool(approval_mode="never_require")
    def look_up() -> str:
        """Look something up."""
        return "found " * 30

    answers = [calls(f"c{next(number)}") for _ in range(8)] + [says("done")]
    client = Looping(answers=answers)
    agent = Agent(
        client=client,
        tools=[look_up],
        compaction_strategy=LockstitchCompaction(max_messages=5),
    )
    asyncio.run(agent.run("go"))
    assert len(client.sent) == 9
    for sent in client.sent:
        assert len(sent) <= 5
        assert is_fine(sent)


# --- arguments -----------------------------------------------------------------------------------


def test_what_is_no_strategy_is_refused_when_it_is_made():
    with pytest.raises(ls.ConversationServiceError):
        LockstitchCompaction(object())


@pytest.mark.parametrize("limit", [-1, True, 1.5, "5"])
def test_a_limit_that_is_none_is_refused_when_it_is_made(limit):
    with pytest.raises((TypeError, ValueError)):
        LockstitchCompaction(max_messages=limit)


def test_no_message_at_all_is_nothing_to_compact():
    assert compacted([], LockstitchCompaction(max_messages=1)) == []
