"""The history provider over any store: what the framework asks of it, and may rely on."""

from __future__ import annotations

import asyncio
import copy
import json
import subprocess
import sys

import pytest

pytest.importorskip("agent_framework")

from agent_framework import AgentSession, Content, HistoryProvider, Message, SessionContext

import lockstitch as ls
from frameworks.agents import ScriptedClient, agent_of, turn
from frameworks.messages import allowing, answering, asking, calling, done, said, user, words
from lockstitch.integrations.agent_framework import LockstitchHistoryProvider

STORES = ["memory", "sqlite", "sync sqlite", "sync memory"]


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    return {
        "memory": lambda: "memory://",
        "sqlite": lambda: f"sqlite:///{tmp_path}/chat.db",
        "sync sqlite": lambda: ls.open_store(f"sqlite:///{tmp_path}/chat.db"),
        "sync memory": lambda: ls.open_store("memory://"),
    }[request.param]()


def kept(provider_or_store, *saves, session="s", **options):
    """What comes back of some saves."""

    async def main():
        async with LockstitchHistoryProvider(provider_or_store, **options) as history:
            for messages in saves:
                await history.save_messages(session, messages)
            return await history.get_messages(session)

    return asyncio.run(main())


def run_with(context, history, session=None):
    """A run of an agent as the framework would do it, around an answer that is given."""
    session = session or AgentSession(session_id="s")

    async def main():
        state = session.state.setdefault(history.source_id, {})
        await history.before_run(agent=None, session=session, context=context, state=state)
        await history.after_run(agent=None, session=session, context=context, state=state)

    return main()


def context_of(*inputs, answer=None, **others):
    context = SessionContext(session_id="s", input_messages=list(inputs), context_messages=others)
    if answer is not None:
        from agent_framework import AgentResponse

        object.__setattr__(context, "_response", AgentResponse(messages=answer))
    return context


# --- what the base class asks --------------------------------------------------------------------


def test_what_is_saved_comes_back_in_any_store(store):
    found = kept(store, [user("1"), calling("c1")], [answering("c1"), done()])

    assert words(found) == ["1", "c1", "r-c1", "done"]
    assert all(isinstance(one, Message) for one in found)


def test_what_is_saved_comes_back_from_postgresql_too(postgres):
    async def main():
        async with LockstitchHistoryProvider(postgres, "of-this-test", max_messages=4) as history:
            for number in range(4):
                await history.save_messages("s", [user(str(number)), done("ok")])
            found = words(await history.get_messages("s"))
            await history.clear("s")
            return found

    assert asyncio.run(main()) == ["2", "ok", "3", "ok"]


def test_an_unknown_session_has_no_messages_and_an_empty_save_stores_none(store):
    assert kept(store) == []
    assert kept("memory://", []) == []


def test_flags_and_names_are_those_of_the_base_class():
    plain = LockstitchHistoryProvider("memory://")
    assert isinstance(plain, HistoryProvider)
    base = HistoryProvider("x")
    flags = [name for name in vars(base) if name != "source_id"]
    assert {name: getattr(plain, name) for name in flags} == {
        name: getattr(base, name) for name in flags
    }
    assert plain.source_id == "lockstitch"

    other = LockstitchHistoryProvider(
        "memory://",
        "audit",
        load_messages=False,
        store_inputs=False,
        store_context_messages=True,
        store_context_from={"rag"},
        store_outputs=False,
    )
    assert (other.source_id, other.load_messages, other.store_outputs) == ("audit", False, False)
    assert (other.store_inputs, other.store_context_from) == (False, {"rag"})


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, ["in", "out"]),
        ({"store_inputs": False}, ["out"]),
        ({"store_outputs": False}, ["in"]),
        ({"store_context_messages": True}, ["fact", "note", "in", "out"]),
        (
            {"store_context_messages": True, "store_context_from": {"rag"}},
            ["fact", "in", "out"],
        ),
    ],
)
def test_what_a_run_stores_follows_the_flags(flags, expected):
    history = LockstitchHistoryProvider("memory://", profile="openai-chat", **flags)
    context = context_of(user("in"), answer=[done("out")], rag=[user("fact")], memo=[user("note")])

    async def main():
        await run_with(context, history)
        return words(await history.get_messages("s"))

    assert asyncio.run(main()) == expected


def test_what_is_loaded_is_marked_with_the_provider_it_came_from():
    history = LockstitchHistoryProvider("memory://")
    context = context_of(user("next"))

    async def main():
        await history.save_messages("s", [user("1"), done("2")])
        await history.before_run(
            agent=None, session=AgentSession(session_id="s"), context=context, state={}
        )

    asyncio.run(main())
    loaded = context.context_messages["lockstitch"]
    assert words(loaded) == ["1", "2"]
    assert [one.additional_properties["_attribution"] for one in loaded] == [
        {"source_id": "lockstitch", "source_type": "LockstitchHistoryProvider"}
    ] * 2


def test_two_providers_of_one_store_never_share_a_history():
    async def main():
        async with ls.open_async_store("memory://") as store:
            main_one = LockstitchHistoryProvider(store)
            audit = LockstitchHistoryProvider(store, "audit", load_messages=False)
            odd = LockstitchHistoryProvider(store, "audit:s")
            await main_one.save_messages("s", [user("to be kept")])
            await audit.save_messages("s:t", [user("seen")])
            await odd.save_messages("t", [user("odd")])
            await audit.clear("s")
            return [
                words(await one.get_messages(id))
                for one, id in ((main_one, "s"), (audit, "s:t"), (odd, "t"))
            ]

    assert asyncio.run(main()) == [["to be kept"], ["seen"], ["odd"]]


def test_a_history_without_an_id_is_refused_since_nobody_could_find_it_again():
    history = LockstitchHistoryProvider("memory://")
    for id in (None, ""):
        with pytest.raises(ValueError, match="session_id is missing"):
            asyncio.run(history.save_messages(id, [user()]))


def test_options_are_checked_when_the_provider_is_made():
    with pytest.raises(ValueError, match="must not be negative"):
        LockstitchHistoryProvider("memory://", max_messages=-1)
    with pytest.raises(TypeError, match="no_such_option"):
        LockstitchHistoryProvider("memory://", no_such_option=1)


# --- approvals -----------------------------------------------------------------------------------


def loaded_before(history, *inputs, session="s"):
    async def main():
        context = context_of(*inputs)
        await history.before_run(
            agent=None, session=AgentSession(session_id=session), context=context, state={}
        )
        return context.get_messages(include_input=True)

    return asyncio.run(main())


def saved(*messages, **options):
    history = LockstitchHistoryProvider("memory://", **options)
    asyncio.run(history.save_messages("s", list(messages)))
    return history


def test_approvals_that_are_settled_are_kept_and_not_shown_to_the_model():
    history = saved(user("1"), asking("c1", "o1"), allowing("c1", "o1"), answering("c1"), done())

    assert words(loaded_before(history, user("next"))) == ["1", "c1", "r-c1", "done", "next"]
    assert words(asyncio.run(history.get_messages("s")))[1:3] == ["c1+ask-c1", "allow-c1"]


def test_an_approval_that_is_given_now_finds_its_request_last():
    history = saved(user("1"), asking("c1", "o1"))

    request = loaded_before(history, allowing("c1", "o1"))

    assert words(request) == ["1", "c1+ask-c1", "allow-c1"]


def test_a_call_that_waits_is_not_shown_where_nothing_answers_it():
    history = saved(user("1"), asking("c1", "o1"))

    assert words(loaded_before(history, user("never mind"))) == ["1", "never mind"]
    assert words(asyncio.run(history.get_messages("s"))) == ["1", "c1+ask-c1"]


def test_a_request_that_was_stored_twice_is_shown_once():
    history = saved(user("1"), asking("c1", "o1"), asking("c1", "o1", with_call=False))

    request = loaded_before(history, allowing("c1", "o1"))

    assert words(request).count("allow-c1") == 1
    assert sum(word.count("ask-c1") for word in words(request)) == 1


# --- calls that are answered later ---------------------------------------------------------------


def test_a_result_that_comes_in_a_later_save_finds_its_call_last():
    history = saved(user("1"), calling("c1"))

    assert words(loaded_before(history, answering("c1"))) == ["1", "c1", "r-c1"]


def test_a_call_stands_before_its_result_whatever_others_have_said_meanwhile():
    history = saved(user("1"), calling("c1"), user("others"), done("yes"), calling("x"))

    request = loaded_before(history, answering("c1"))

    assert words(request) == ["1", "others", "yes", "c1", "r-c1"]
    assert ls.check([one.to_dict() for one in request]).ok


def test_a_call_that_a_cut_has_given_up_is_taken_from_the_record_when_it_is_answered():
    history = saved(max_messages=4)

    async def others():
        await history.save_messages("s", [user("1"), calling("c1")])
        for number in range(6):
            await history.save_messages("s", [calling(f"x{number}")])
            await history.save_messages("s", [user(str(number)), done("yes")])

    asyncio.run(others())
    request = loaded_before(history, answering("c1"))

    assert words(request)[-2:] == ["c1", "r-c1"]
    assert ls.check([one.to_dict() for one in request]).ok


# --- nothing is lost, nothing is taken for a replay ----------------------------------------------


def test_the_same_words_four_times_are_four_turns(store):
    found = kept(store, *[[user("yes"), done("ok")]] * 4)

    assert words(found) == ["yes", "ok"] * 4


def test_four_runs_of_an_agent_with_the_same_words_are_four_turns():
    async def main():
        history = LockstitchHistoryProvider("memory://")
        agent = agent_of(ScriptedClient(), history)
        session = agent.create_session(session_id="s")
        for _ in range(4):
            await turn(agent, session, "say", "yes")
        return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["say yes", "ok"] * 4


def test_a_key_makes_a_save_that_is_sent_again_one_save():
    async def main():
        history = LockstitchHistoryProvider("memory://")
        for _ in range(3):
            await history.save_messages("s", [user("yes")], key="turn-1")
        await history.save_messages("s", [user("yes")], key="turn-2")
        return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["yes", "yes"]


def test_the_messages_of_the_caller_are_not_changed():
    messages = [user("1"), calling("c1"), answering("c1")]
    before = copy.deepcopy([one.to_dict() for one in messages])
    kept("memory://", messages)

    assert [one.to_dict() for one in messages] == before
    assert all(one.message_id is None for one in messages)


def test_what_is_cut_is_still_in_the_record_and_explained():
    async def main():
        history = LockstitchHistoryProvider("memory://", max_messages=4)
        for number in range(5):
            await history.save_messages("s", [user(str(number)), done("ok")])
        chat = history.session("s")
        shown = words(await history.get_messages("s"))
        record = [entry.message["contents"][0]["text"] async for entry in chat.record()]
        exported = [line async for line in chat.export()]
        return shown, record, await chat.explain(), exported

    shown, record, told, exported = asyncio.run(main())
    assert shown == ["3", "ok", "4", "ok"]
    assert record == ["0", "ok", "1", "ok", "2", "ok", "3", "ok", "4", "ok"]
    assert "dropped: the limit is reached" in told
    assert len(exported) > 10


# --- notes of the framework ----------------------------------------------------------------------


def test_notes_of_a_compaction_do_not_come_back_and_other_properties_do():
    noted = Message(
        "user",
        ["hi"],
        message_id="m1",
        additional_properties={
            "_group": {"id": "g", "kind": "user", "has_reasoning": True},
            "_excluded": True,
            "_exclude_reason": "truncation",
            "_attribution": {"source_id": "rag"},
            "mine": {"a": 1},
        },
    )
    found = kept("memory://", [noted, done()])

    assert found[0].additional_properties == {"mine": {"a": 1}}
    assert found[0].message_id == "m1"


def test_the_sessions_that_something_came_from_stay_named():
    origin = {"_attribution": {"source_id": "rag", "origin_session_ids": ["other"]}}
    found = kept("memory://", [Message("user", ["hi"], additional_properties=origin)])

    assert found[0].additional_properties == {"_attribution": {"origin_session_ids": ["other"]}}


def test_reasoning_comes_back_with_all_that_a_provider_needs():
    thought = Content.from_text_reasoning(id="rs_1", text="hm", protected_data="gAAAA==")
    call = Content.from_function_call("c1", "look_up", arguments='{"q": 1 }', id="occ-1")
    found = kept("memory://", [user(), Message("assistant", [thought, call]), answering("c1")])

    assert found[1].contents[0].protected_data == "gAAAA=="
    assert found[1].contents[1].arguments == '{"q": 1 }'
    assert found[1].contents[1].id == "occ-1"


# --- what a newer version wrote ------------------------------------------------------------------


def test_content_of_a_newer_version_does_not_keep_a_session_from_being_read():
    def native(role, *contents, **more):
        return {"type": "message", "role": role, "contents": list(contents), **more}

    text = {"type": "text", "text": "hi"}

    async def main():
        history = LockstitchHistoryProvider("memory://", profile="openai-chat")
        await history.session("s").append(
            [
                native("user", text, {"type": "hologram", "beam": 3}),
                native("assistant", {**text, "mood": "good"}, stance="firm"),
                native("user", {"type": "function_call", "hosted": None, "call_id": "x"}),
            ]
        )
        await history.save_messages("s", [user("and on")])
        return await history.get_messages("s")

    found = asyncio.run(main())
    assert [one.role for one in found][:2] == ["user", "assistant"]
    assert [one.type for one in found[0].contents] == ["text", "hologram"]
    assert found[0].contents[1].additional_properties == {"beam": 3}
    assert found[1].text == "hi"
    assert found[1].contents[0].additional_properties == {"mood": "good"}
    assert found[1].additional_properties == {"stance": "firm"}
    assert words(found)[-1] == "and on"


# --- sessions and lifetimes ----------------------------------------------------------------------


def test_a_session_that_was_serialised_goes_on_where_it_was(tmp_path):
    url = f"sqlite:///{tmp_path}/chat.db"

    async def before():
        async with LockstitchHistoryProvider(url) as history:
            agent = agent_of(ScriptedClient(), history)
            session = agent.create_session()
            await turn(agent, session, "call", 1)
            return json.dumps(session.to_dict())

    async def after(written):
        async with LockstitchHistoryProvider(url) as history:
            client = ScriptedClient()
            session = AgentSession.from_dict(json.loads(written))
            await turn(agent_of(client, history), session, "say", 2)
            return client.requests[0]

    written = asyncio.run(before())
    assert "found" not in written  # nothing of the history is in the session
    request = asyncio.run(after(written))
    assert [one["role"] for one in request] == ["user", "assistant", "tool", "assistant", "user"]


def test_clear_removes_a_conversation_with_its_record_and_no_other(store):
    async def main():
        async with LockstitchHistoryProvider(store) as history:
            await history.save_messages("s", [user("1")])
            await history.save_messages("t", [user("2")])
            await history.clear("s")
            record = [entry async for entry in history.session("s").record()]
            return record, [words(await history.get_messages(id)) for id in "st"]

    assert asyncio.run(main()) == ([], [[], ["2"]])


def test_a_store_that_was_lent_stays_open_and_one_of_an_address_is_closed(tmp_path):
    class Watched(ls.AsyncStore):
        closed = False

        async def aclose(self):
            self.closed = True

    async def main():
        lent = Watched(ls.open_async_store("memory://").driver)
        async with LockstitchHistoryProvider(lent):
            pass
        return lent.closed

    assert asyncio.run(main()) is False


def test_a_store_that_waits_does_not_hold_the_loop_up(tmp_path):
    """While a statement waits for a lock in SQLite, other tasks go on."""
    import sqlite3

    path = tmp_path / "chat.db"
    store = ls.open_store(f"sqlite:///{path}")
    store.session("first").append({"role": "user", "content": "hi"})

    async def main():
        history = LockstitchHistoryProvider(store)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        saving = asyncio.ensure_future(history.save_messages("s", [user("late")]))
        ticks = 0
        for _ in range(10):
            await asyncio.sleep(0.005)
            ticks += 1
        early = saving.done()
        holder.execute("COMMIT")
        holder.close()
        await saving
        return ticks, early, words(await history.get_messages("s"))

    assert asyncio.run(main()) == (10, False, ["late"])
    store.close()


def test_system_messages_and_names_of_authors_are_kept():
    named = Message("assistant", ["hi"], author_name="clerk")
    found = kept("memory://", [said("system", "be brief"), user("1"), named])

    assert [one.role for one in found] == ["system", "user", "assistant"]
    assert found[2].author_name == "clerk"


def test_without_the_framework_the_error_names_what_to_install():
    code = """
import sys
sys.modules["agent_framework"] = None
import lockstitch.integrations.agent_framework as found
from lockstitch import MissingExtra
for name in ("LockstitchHistoryProvider", "RedisHistoryProvider"):
    try:
        getattr(found, name)
    except MissingExtra as error:
        print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = "agent-framework-core is not installed: pip install 'lockstitch[agent-framework]'"
    assert ran.stdout.splitlines() == [expected] * 2
