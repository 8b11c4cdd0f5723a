"""The provider for Redis: the constructor of agent-framework-redis, and its windows now."""

from __future__ import annotations

import asyncio
import itertools

import pytest

pytest.importorskip("agent_framework")

import redis
from agent_framework import AgentSession, Content, Message, SessionContext

import lockstitch as ls
from frameworks.messages import (
    allowing,
    answering,
    asking,
    call_content,
    calling,
    done,
    thinking,
    user,
    words,
)
from lockstitch.integrations.agent_framework import RedisHistoryProvider

_NUMBERS = itertools.count()


@pytest.fixture
def scope():
    """Names that no other test uses."""
    return {"application_id": f"shop-{next(_NUMBERS)}"}


@pytest.fixture(params=["valkey", "redis62"])
def server(request):
    return request.getfixturevalue(request.param)


def window(url, saves, **options):
    """What is shown after some saves."""

    async def main():
        async with RedisHistoryProvider(redis_url=url, **options) as history:
            for messages in saves:
                await history.save_messages("s", messages)
            return words(await history.get_messages("s"))

    return asyncio.run(main())


# --- the constructor -----------------------------------------------------------------------------


def test_it_is_made_as_the_provider_that_it_takes_the_place_of():
    history = RedisHistoryProvider(
        "memory",
        "redis://localhost:6379",
        key_prefix="p",
        tenant_id="t",
        application_id="a",
        agent_id="g",
        max_messages=7,
        load_messages=False,
        store_outputs=False,
        store_inputs=False,
        store_context_messages=True,
        store_context_from={"rag"},
    )
    assert (history.source_id, history.key_prefix, history.max_messages) == ("memory", "p", 7)
    assert (history.tenant_id, history.application_id, history.agent_id) == ("t", "a", "g")
    assert (history.load_messages, history.store_inputs, history.store_outputs) == (False,) * 3
    assert history.store_context_from == {"rag"}
    assert history.key_format == "scoped"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"application_id": "a"}, "exactly one of"),
        ({"redis_url": "redis://h", "credential_provider": object()}, "exactly one of"),
        ({"redis_url": "redis://h", "redis_client": object()}, "exactly one of"),
        ({"credential_provider": object(), "application_id": "a"}, "needs a host"),
        ({"redis_url": "redis://h"}, "application_id must be given"),
        ({"redis_url": "redis://h", "application_id": ""}, "application_id must be given"),
        ({"redis_url": "redis://h", "application_id": "a", "tenant_id": ""}, "tenant_id"),
        ({"redis_url": "redis://h", "application_id": "a", "agent_id": ""}, "agent_id"),
        ({"redis_url": "redis://h", "key_format": "other"}, "key_format must be"),
        ({"redis_url": "redis://h", "key_format": "legacy", "tenant_id": "t"}, "no place"),
        ({"redis_url": "redis://h", "application_id": "a", "max_messages": -1}, "negative"),
        ({"redis_url": "http://h", "application_id": "a"}, "no store has the address"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_made(options, why):
    with pytest.raises(ValueError, match=why):
        RedisHistoryProvider(**options)


def test_a_limit_is_a_whole_number():
    for limit in (True, 2.0, "2"):
        with pytest.raises(TypeError, match="must be an integer"):
            RedisHistoryProvider(redis_url="redis://h", application_id="a", max_messages=limit)


def test_a_client_that_cannot_be_awaited_is_refused(valkey):
    client = redis.Redis.from_url(valkey)
    with pytest.raises(TypeError, match="cannot be awaited"):
        RedisHistoryProvider(redis_client=client, application_id="a")
    client.close()


def test_credentials_and_a_host_take_the_place_of_an_address(redis_server, scope):
    server = redis_server(password="secret")

    class Credentials(redis.CredentialProvider):
        def get_credentials(self):
            return ("secret",)

    async def main():
        history = RedisHistoryProvider(
            credential_provider=Credentials(),
            host=server.host,
            port=server.port,
            ssl=False,
            **scope,
        )
        async with history:
            await history.save_messages("s", [user("1")])
            return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["1"]


def test_without_an_id_of_a_session_scoped_names_are_refused_and_legacy_ones_have_a_default(valkey):
    scoped = RedisHistoryProvider(redis_url=valkey, application_id="a")
    for id in (None, ""):
        with pytest.raises(ValueError, match="session_id is missing"):
            asyncio.run(scoped.get_messages(id))

    async def main():
        history = RedisHistoryProvider(redis_url=valkey, key_format="legacy", key_prefix="odd")
        async with history:
            await history.save_messages(None, [user("1")])
            return words(await history.get_messages("default"))

    assert asyncio.run(main()) == ["1"]


# --- who shares a history ------------------------------------------------------------------------


def test_no_two_scopes_share_a_history(valkey):
    scopes = [
        {"application_id": "a"},
        {"application_id": "A"},
        {"application_id": "a", "tenant_id": "t"},
        {"application_id": "a", "agent_id": "t"},
        {"application_id": "a", "agent_id": "~"},
        {"application_id": "a", "source_id": "audit"},
        {"application_id": "a:~", "source_id": "s"},
        {"application_id": "a", "key_prefix": "other"},
        {"application_id": "ä|{b}"},
        {"key_format": "legacy"},
    ]

    async def main():
        providers = [RedisHistoryProvider(redis_url=valkey, **one) for one in scopes]
        for number, one in enumerate(providers):
            await one.save_messages("same", [user(str(number))])
        await providers[0].clear("same")
        found = [words(await one.get_messages("same")) for one in providers]
        for one in providers:
            await one.aclose()
        return found

    assert asyncio.run(main()) == [[], *[[str(number)] for number in range(1, len(scopes))]]


# --- limits --------------------------------------------------------------------------------------


def test_without_a_limit_everything_is_shown(server, scope):
    saves = [[user(str(number)), done()] for number in range(40)]
    assert len(window(server, saves, **scope)) == 80


def test_a_limit_keeps_as_many_as_fit_and_no_more(server, scope):
    saves = [[user(str(number)), done(f"a{number}")] for number in range(20)]
    shown = window(server, saves, max_messages=10, **scope)
    assert shown == [word for number in range(15, 20) for word in (str(number), f"a{number}")]


def test_a_limit_of_nothing_stores_nothing_and_leaves_alone_what_is_there(valkey, scope):
    assert window(valkey, [[user("old")]], **scope) == ["old"]
    assert window(valkey, [[user("new")]], max_messages=0, **scope) == ["old"]
    assert window(valkey, [], **scope) == ["old"]


def test_a_limit_in_tokens_may_stand_beside_one_in_messages(valkey, scope):
    saves = [[user("word " * 40), done(f"a{number}")] for number in range(9)]
    shown = window(valkey, saves, max_messages=10, max_tokens=150, **scope)
    assert shown[-1] == "a8"
    assert 2 <= len(shown) < 10


def test_a_strategy_of_ours_decides_where_one_is_given(valkey, scope):
    strategy = ls.StepsHistoryStrategy(max_messages=6, trim_to=2)
    saves = [[user(str(number)), done(f"a{number}")] for number in range(4)]
    assert window(valkey, saves, strategy=strategy, **scope) == ["3", "a3"]


# Each row: the messages, the limit, and what must be shown. By default a window may begin with the
# model: most of these have no user message at all.
LATE = [calling("c1"), done("t1"), calling("c2"), answering("c1"), done("t2"), answering("c2")]
FOUR = [calling(f"k{number}") for number in range(1, 5)]
ROWS = {
    "a result is never first": ([calling("c1"), answering("c1"), user("u")], 2, ["u"]),
    "reasoning before its call": (
        [thinking(), calling("c1"), answering("c1"), done()],
        3,
        ["done"],
    ),
    "reasoning beside its call": (
        [thinking("rs", call_content("c1")), answering("c1"), done()],
        2,
        ["done"],
    ),
    "something said in between": (
        [calling("c1"), done("t"), answering("c1"), done()],
        3,
        ["t", "done"],
    ),
    "calls that cross, 4": ([*LATE, done()], 4, ["c2", "r-c2", "t2", "done"]),
    "calls that cross, 5": ([*LATE, done()], 5, ["t1", "c2", "r-c2", "t2", "done"]),
    "calls that cross, 6": ([*LATE, done()], 6, ["t1", "c2", "r-c2", "t2", "done"]),
    "an id that comes again": ([calling("c1"), answering("c1"), calling("c1")], 2, ["c1"]),
    "an approval, one by one": (
        [asking("c1", "o1", with_call=False), allowing("c1", "o1"), done()],
        2,
        ["done"],
    ),
    "call and request in one": (
        [asking("c1", "o1"), allowing("c1", "o1")],
        2,
        ["c1+ask-c1", "allow-c1"],
    ),
    "an approval that fits": (
        [user("u"), asking("c1", "o1"), allowing("c1", "o1"), answering("c1")],
        4,
        ["u", "c1+ask-c1", "allow-c1", "r-c1"],
    ),
    "a pair behind calls of nobody, 2": (
        [*FOUR, calling("c9"), answering("c9")],
        2,
        ["c9", "r-c9"],
    ),
    "a group over the limit": ([calling("c1"), answering("c1")], 1, []),
    "a result and a call in one": (
        [
            calling("c1"),
            Message("assistant", [Content.from_function_result("c1"), call_content("c2")]),
            answering("c2"),
            done(),
        ],
        3,
        ["done"],
    ),
}


@pytest.mark.parametrize(("messages", "limit", "shown"), ROWS.values(), ids=list(ROWS))
def test_a_limit_never_parts_what_belongs_together(server, scope, messages, limit, shown):
    options = {"max_messages": limit, **scope}
    assert window(server, [messages], **options) == shown


@pytest.mark.parametrize(("messages", "limit", "shown"), ROWS.values(), ids=list(ROWS))
def test_nor_does_it_where_each_message_comes_in_a_save_of_its_own(
    valkey, scope, messages, limit, shown
):
    options = {"max_messages": limit, **scope}
    assert window(valkey, [[one] for one in messages], **options) == shown


def test_two_outstanding_calls_with_one_id_are_answered_in_order(valkey, scope):
    messages = [calling("c"), done("t"), calling("c"), answering("c"), done("u"), answering("c")]
    options = {"max_messages": 4, **scope}
    assert window(valkey, [[*messages, done()]], **options) == ["c", "r-c", "u", "done"]


def test_a_result_of_no_call_costs_nothing_else_and_is_named(valkey, scope):
    messages = [user("a"), done("b"), user("c"), answering("lost"), done("e")]

    async def main():
        async with RedisHistoryProvider(redis_url=valkey, max_messages=3, **scope) as history:
            await history.save_messages("s", messages)
            told = await history.session("s").explain()
            return words(await history.get_messages("s")), told

    shown, told = asyncio.run(main())
    assert shown == ["b", "c", "e"]
    assert "4         dropped: answers a call" in told


def test_a_decision_that_is_waited_for_is_never_dropped_in_silence(valkey, scope):
    messages = [user("u"), asking("c1", "o1")]

    async def main():
        async with RedisHistoryProvider(redis_url=valkey, max_messages=12, **scope) as history:
            await history.save_messages("s", messages)
            for number in range(12):
                await history.save_messages("s", [user(str(number)), done()])
            # The yes comes a day later.
            context = SessionContext(session_id="s", input_messages=[allowing("c1", "o1")])
            session = AgentSession(session_id="s")
            await history.before_run(agent=None, session=session, context=context, state={})
            return words(context.get_messages(include_input=True))

    assert asyncio.run(main())[-2:] == ["c1+ask-c1", "allow-c1"]


def test_where_it_cannot_stay_the_record_says_so(valkey, scope, caplog):
    messages = [asking("c1", "o1"), user("a"), done("b"), user("c"), done("d")]

    async def main():
        async with RedisHistoryProvider(redis_url=valkey, max_messages=2, **scope) as history:
            for one in messages:
                await history.save_messages("s", [one])
            events = await history.session("s").events()
            return [event.overflow or event.abandoned for event in events]

    assert any(asyncio.run(main()))


def test_a_target_that_wants_a_user_first_gets_one_that_says_what_is_missing(valkey, scope):
    options = {"max_messages": 2, "profile": "portable", **scope}
    shown = window(valkey, [[calling("c1"), answering("c1"), done()]], **options)
    assert shown == ["[The earlier part of this conversation is not shown.]", "done"]


# --- clients -------------------------------------------------------------------------------------


@pytest.mark.parametrize("decoding", [False, True])
@pytest.mark.parametrize("connections", [None, 1])
def test_a_client_with_one_connection_is_enough_whether_or_not_it_decodes(
    server, scope, decoding, connections
):
    async def main():
        client = redis.asyncio.Redis.from_url(
            server, decode_responses=decoding, max_connections=connections
        )
        async with RedisHistoryProvider(redis_client=client, max_messages=8, **scope) as history:
            saves = [history.save_messages("s", [user(str(one)), done()]) for one in range(6)]
            await asyncio.gather(*saves)
            shown = await history.get_messages("s")
        alive = await client.ping()
        await client.aclose()
        return len(shown), alive

    assert asyncio.run(main()) == (8, True)


def test_a_cluster_will_do(valkey_cluster, scope):
    async def main():
        async with RedisHistoryProvider(
            redis_url=f"redis+cluster{valkey_cluster.url[5:]}", max_messages=4, **scope
        ) as history:
            for session in "abcdef":
                await history.save_messages(session, [user(session), done(), user("2"), done()])
                await history.save_messages(session, [user("3"), done("4")])
            return [words(await history.get_messages(session)) for session in "abcdef"]

    assert asyncio.run(main()) == [["2", "done", "3", "4"]] * 6


def test_a_client_of_a_cluster_will_do_too(valkey_cluster, scope):
    async def main():
        client = redis.asyncio.RedisCluster.from_url(valkey_cluster.url)
        async with RedisHistoryProvider(redis_client=client, **scope) as history:
            await history.save_messages("s", [user("1")])
            shown = words(await history.get_messages("s"))
        await client.aclose()
        return shown

    assert asyncio.run(main()) == ["1"]


def test_a_save_and_a_load_are_one_round_trip_each_whatever_the_length(redis_server, scope):
    server = redis_server()

    async def main(lengths):
        found = []
        async with RedisHistoryProvider(redis_url=server.url, max_messages=50, **scope) as history:
            with server.client() as looking:

                def sent():
                    stats = looking.info("commandstats")
                    return sum(stats[f"cmdstat_{one}"]["calls"] for one in ("evalsha",))

                for length in lengths:
                    name = f"s{length}"
                    await history.save_messages(name, [user(), done()] * (length // 2))
                    await history.get_messages(name)
                    before = sent()
                    await history.save_messages(name, [user("a"), done("b")])
                    saved = sent() - before
                    await history.get_messages(name)
                    found.append((saved, sent() - before - saved))
        return found

    assert asyncio.run(main([10, 200, 2_000])) == [(1, 1)] * 3


# --- several writers -----------------------------------------------------------------------------


@pytest.mark.parametrize(("writers", "rounds"), [(2, 25), (8, 8)])
@pytest.mark.parametrize("limit", [6, 50])
def test_writers_whose_calls_and_results_come_apart_never_see_half_a_pair(
    server, scope, writers, rounds, limit
):
    """Each writes a call in one save and its result in the next; all look after every save."""
    looks = []

    async def writer(name):
        async with RedisHistoryProvider(redis_url=server, max_messages=limit, **scope) as history:
            for number in range(rounds):
                id = f"{name}-{number}"
                for save in ([user(id), calling(id)], [answering(id), done(f"d{id}")]):
                    await history.save_messages("s", save)
                    looks.append([one.to_dict() for one in await history.get_messages("s")])

    async def main():
        await asyncio.gather(*[writer(str(number)) for number in range(writers)])
        async with RedisHistoryProvider(redis_url=server, **scope) as history:
            return [entry async for entry in history.session("s").record()]

    record = asyncio.run(main())
    assert len(record) == writers * rounds * 4
    assert len(looks) == writers * rounds * 2
    assert max(map(len, looks)) <= limit
    broken = [one for one in looks if not ls.check(one, profile="openai-chat").ok]
    assert broken == []


# --- when a server is not there ------------------------------------------------------------------


def test_a_save_that_no_server_took_is_an_error_and_stores_nothing(redis_server, scope):
    server = redis_server(durable=True)

    async def main():
        async with RedisHistoryProvider(redis_url=server.url, patience=0.3, **scope) as history:
            await history.save_messages("s", [user("1")])
            server.kill()
            with pytest.raises(ls.StoreUnavailable) as refused:
                await history.save_messages("s", [user("2")])
            server.start()
            await history.save_messages("s", [user("3")])
            return refused.value.attempts, words(await history.get_messages("s"))

    attempts, shown = asyncio.run(main())
    assert attempts > 1
    assert shown == ["1", "3"]
