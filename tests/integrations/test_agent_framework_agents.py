"""Real agents of the framework over a real server: what the model sees passes, nothing is lost."""

from __future__ import annotations

import asyncio
import itertools
import json
import random

import pytest

pytest.importorskip("agent_framework")

import httpx
from agent_framework import AgentSession, Content, Message, SessionContext

import lockstitch as ls
from frameworks.agents import KINDS, ScriptedClient, agent_of, turn
from frameworks.messages import answering, call_content, done, user, words
from lockstitch.integrations.agent_framework import RedisHistoryProvider
from lockstitch.testing.servers import Call, OpenAIResponsesServer, Say, Think

_NUMBERS = itertools.count()
TURNS = 60
LIMIT = 12
# The most that a run of one turn brings itself: the user's message, two calls and two results.
OWN = 5


class Watched(RedisHistoryProvider):
    """Keeps a copy of what it was told to save."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.saved = []

    async def save_messages(self, session_id, messages, **options):
        self.saved += [one.to_dict() for one in messages]
        await super().save_messages(session_id, messages, **options)


def provider(url, application, profile):
    return Watched(redis_url=url, application_id=application, max_messages=LIMIT, profile=profile)


def refused(requests, profile):
    """The requests that the target would refuse, with why."""
    reports = [ls.check(request, profile=profile) for request in requests]
    return [
        (request, [str(one) for one in report.violations])
        for request, report in zip(requests, reports, strict=True)
        if not report.ok
    ]


async def record_of(history):
    return [entry.message async for entry in history.session("one").record()]


@pytest.mark.parametrize("profile", ["portable", "openai-responses"])
@pytest.mark.parametrize("per_call", [False, True])
def test_sixty_turns_of_an_agent_are_accepted_and_kept(valkey, profile, per_call):
    client = ScriptedClient()

    async def main():
        async with provider(valkey, f"one-{next(_NUMBERS)}", profile) as history:
            agent = agent_of(client, history, per_call=per_call)
            session = agent.create_session(session_id="one")
            for number in range(TURNS):
                await turn(agent, session, KINDS[number % len(KINDS)], number)
            return history.saved, await record_of(history)

    saved, record = asyncio.run(main())
    assert len(client.requests) > 100
    assert refused(client.requests, profile) == []
    assert max(map(len, client.requests)) <= LIMIT + OWN
    assert record == saved
    asked = [one for one in record if one["role"] == "user" and one["contents"][0].get("text")]
    assert len(asked) == TURNS
    said = [content["type"] for one in record for content in one["contents"]]
    assert said.count("function_call") == said.count("function_result") > 50


@pytest.mark.parametrize("profile", ["portable", "openai-responses"])
@pytest.mark.parametrize("per_call", [False, True])
def test_two_agents_on_one_session_never_break_each_others_requests(valkey, profile, per_call):
    chance = random.Random(7)  # noqa: S311 - pauses, the same in every run
    clients = [ScriptedClient(name, lambda: chance.random() * 0.004) for name in "ab"]
    application = f"two-{next(_NUMBERS)}"

    async def working(client):
        async with provider(valkey, application, profile) as history:
            agent = agent_of(client, history, per_call=per_call, name=client._name)
            session = agent.create_session(session_id="one")
            for number in range(TURNS):
                await turn(agent, session, KINDS[number % len(KINDS)], number)
            return history.saved

    async def main():
        saved = await asyncio.gather(*map(working, clients))
        async with provider(valkey, application, profile) as history:
            return saved, await record_of(history)

    saved, record = asyncio.run(main())
    for client in clients:
        assert refused(client.requests, profile) == []
        assert max(map(len, client.requests)) <= LIMIT + OWN
    assert sorted(map(repr, record)) == sorted(map(repr, itertools.chain(*saved)))
    # What one agent saved stands in the order in which it did.
    for one in saved:
        rest = iter(record)
        assert all(message in rest for message in one)


def test_a_stream_of_an_agent_is_stored_as_a_run_is(valkey):
    """The framework takes the same way through a provider for both; the answer is stored once."""
    from agent_framework import ChatResponse, ChatResponseUpdate, ResponseStream

    class Streaming(ScriptedClient):
        def _inner_get_response(self, *, messages, stream, options, **kwargs):
            async def updates():
                for contents in (["o"], ["k"]):
                    yield ChatResponseUpdate(
                        role="assistant", contents=[Content.from_text(text) for text in contents]
                    )

            return ResponseStream(updates(), finalizer=ChatResponse.from_updates)

    async def main():
        async with provider(valkey, f"one-{next(_NUMBERS)}", "portable") as history:
            agent = agent_of(Streaming(), history)
            session = agent.create_session(session_id="one")
            async for _ in agent.run("say 1", session=session, stream=True):
                pass
            return words(await history.get_messages("one"))

    assert asyncio.run(main()) == ["say 1", "ok"]


def test_a_run_that_fails_stores_nothing_of_it(valkey):
    class Failing(ScriptedClient):
        async def _answer(self, messages):
            raise RuntimeError("no answer")

    async def main():
        async with provider(valkey, f"one-{next(_NUMBERS)}", "portable") as history:
            agent = agent_of(Failing(), history)
            session = agent.create_session(session_id="one")
            with pytest.raises(RuntimeError, match="no answer"):
                await agent.run("say 1", session=session)
            return await record_of(history)

    assert asyncio.run(main()) == []


@pytest.mark.parametrize("per_call", [False, True])
def test_what_a_compaction_of_theirs_hides_in_one_run_is_there_in_the_next(valkey, per_call):
    """Its marks stand on the messages that are saved; they are about that run and no other."""
    from agent_framework import TruncationStrategy

    hiding = TruncationStrategy(max_n=3, compact_to=2)

    async def main():
        async with provider(valkey, f"one-{next(_NUMBERS)}", "portable") as history:
            client = ScriptedClient()
            agent = agent_of(client, history, per_call=per_call)
            session = agent.create_session(session_id="one")
            agent.compaction_strategy = hiding
            for number in range(5):
                await turn(agent, session, "say", number)
            hidden = client.requests[-1]
            agent.compaction_strategy = None
            await turn(agent, session, "say", "all")
            return hidden, client.requests[-1]

    hidden, whole = asyncio.run(main())
    assert len(hidden) < 4
    texts = [one["contents"][0]["text"] for one in whole]
    assert texts == [*[text for number in range(5) for text in (f"say {number}", "ok")], "say all"]
    assert not any("_group" in one["additional_properties"] for one in whole)


# --- OpenAI --------------------------------------------------------------------------------------


def openai_client(server, bodies):
    """The framework's client for OpenAI over a strict server; no network."""
    from agent_framework_openai import OpenAIChatClient
    from openai import AsyncOpenAI

    class Kept(httpx.ASGITransport):
        async def handle_async_request(self, request):
            bodies.append(json.loads(await request.aread()))
            return await super().handle_async_request(request)

    sdk = AsyncOpenAI(
        api_key="none",
        base_url="http://openai.test/v1",
        max_retries=0,
        http_client=httpx.AsyncClient(transport=Kept(app=server)),
    )
    return OpenAIChatClient(model="gpt-5", async_client=sdk)


def noted(*contents):
    """An assistant's message that a compaction has marked as part of a group with reasoning."""
    group = {"id": "group_x", "kind": "tool_call", "index": 0, "has_reasoning": True}
    return Message("assistant", list(contents), additional_properties={"_group": group})


def thought(number):
    return Content.from_text_reasoning(id=f"rs_{number}", text="hm", protected_data=f"enc_{number}")


@pytest.mark.parametrize("limit", range(2, 12))
def test_openai_without_storage_takes_what_is_loaded_of_a_trimmed_history(valkey, limit):
    """Every limit, so that the cut falls everywhere between reasoning, call, result and answer."""
    from agent_framework_openai import OpenAIChatClient

    saves = [
        [
            user(f"t{number}"),
            noted(thought(number)),
            noted(call_content(f"c{number}")),
            answering(f"c{number}"),
            done(f"a{number}"),
        ]
        for number in range(4)
    ]

    async def main():
        application = f"openai-{next(_NUMBERS)}"
        options = {"profile": "openai-responses", "max_messages": limit}
        async with RedisHistoryProvider(
            redis_url=valkey, application_id=application, **options
        ) as history:
            for save in saves:
                await history.save_messages("s", save)
        async with RedisHistoryProvider(
            redis_url=valkey, application_id=application, **options
        ) as history:
            context = SessionContext(session_id="s", input_messages=[user("next")])
            session = AgentSession(session_id="s")
            await history.before_run(agent=None, session=session, context=context, state={})
        messages = context.get_messages(include_input=True)
        client = OpenAIChatClient(model="gpt-5", api_key="none")
        return await client._prepare_options(messages, {"store": False})

    request = asyncio.run(main())
    report = ls.check({**request, "model": "gpt-5"}, profile="openai-responses")
    assert report.ok, report
    assert len(request["input"]) <= 2 * limit + 1


def thinking_first(prompt):
    """Think and call a tool, then answer."""
    if prompt.answered:
        return [Say("ok")]
    return [Think("hm"), Call("look_up", {"q": str(prompt.number)})]


@pytest.mark.parametrize("per_call", [False, True])
def test_an_agent_on_openai_without_storage_is_never_refused(valkey, per_call):
    """A strict server, the framework's own client, reasoning before every call, a short history."""
    server = OpenAIResponsesServer(script=thinking_first)
    bodies = []

    async def main():
        async with provider(valkey, f"one-{next(_NUMBERS)}", "openai-responses") as history:
            agent = agent_of(openai_client(server, bodies), history, per_call=per_call)
            session = agent.create_session(session_id="one")
            options = {"store": False, "include": ["reasoning.encrypted_content"]}
            for number in range(15):
                await agent.run(f"turn {number}", session=session, options=options)
            return await record_of(history)

    record = asyncio.run(main())
    kinds = [content["type"] for one in record for content in one["contents"]]
    assert kinds.count("text_reasoning") >= 15
    assert kinds.count("function_call") == kinds.count("function_result") == 15
    assert all(body["store"] is False for body in bodies)
    replayed = [item["type"] for body in bodies for item in body["input"]]
    assert replayed.count("reasoning") > 15
    assert replayed.count("function_call") > 15
