"""Lists that agent-framework-redis has written become sessions: all of it, once, whoever moves."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging

import pytest

pytest.importorskip("agent_framework")

import redis
from hypothesis import assume, given, strategies

import lockstitch as ls
from frameworks.messages import answering, calling, done, user, words
from lockstitch.integrations.agent_framework import RedisHistoryProvider
from lockstitch.integrations.agent_framework.lists import (
    Scope,
    legacy_name,
    scoped_name,
    taken_names,
)

_NUMBERS = itertools.count()


@pytest.fixture(params=["valkey", "redis62"])
def url(request):
    return request.getfixturevalue(request.param)


class Theirs:
    """The list of a session, written as that package writes it."""

    def __init__(self, url):
        self.application = f"moved-{next(_NUMBERS)}"
        self.scope = Scope("chat_messages", None, self.application, None, "redis_memory")
        self.name = scoped_name(self.scope, "s")
        self.url = url
        self.client = redis.Redis.from_url(url)

    def write(self, *messages):
        self.push(*[json.dumps(one.to_dict()) for one in messages])

    def push(self, *entries):
        self.client.rpush(self.name, *entries)

    def ours(self, **options):
        return RedisHistoryProvider(redis_url=self.url, application_id=self.application, **options)

    def left(self):
        """Which keys of theirs are still there, or of a move."""
        return sorted(
            key.decode()
            for key in self.client.keys(f"*|{self.application}|*")
            if b"{" not in key[:1]
        ) + sorted(key.decode() for key in self.client.keys(f"{{chat*{self.application}*"))


@pytest.fixture
def theirs(url):
    with_list = Theirs(url)
    yield with_list
    with_list.client.close()


def shown(provider, session="s"):
    async def main():
        async with provider as history:
            return words(await history.get_messages(session))

    return asyncio.run(main())


# --- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "segment"),
    [
        ("user-42", "user-42"),
        ("a.b_c", "a.b_c"),
        ("User", "~redis-session-kvzwk4q"),
        ("a|b", "~redis-session-mf6ge"),
        (".a", "~redis-session-fzqq"),
        ("a.", "~redis-session-mexa"),
        ("con", "~redis-session-mnxw4"),
        ("com1.txt", "~redis-session-mnxw2mjoor4hi"),
        ("ä", "~redis-session-yosa"),
        (
            "X" * 200,
            "~redis-session-sha256-f92098ab3b3a34c0c2d08d4c226613243a686dcb5d192a265d6992b64ddc6219",
        ),
    ],
)
def test_names_of_lists_are_those_of_that_package(value, segment):
    name = scoped_name(Scope("chat_messages", None, "shop", None, "redis_memory"), value)
    assert name == f"chat_messages|v2|~none|shop|~none|redis_memory|{segment}"


@given(
    strategies.text(min_size=1, max_size=150) | strategies.from_regex("(con|aux|com1|nul)?[.]?a?")
)
def test_names_are_written_as_the_framework_writes_those_of_its_files(value):
    from agent_framework._filesystem import _storage_key_segment as theirs

    assume(value)
    name = scoped_name(Scope("p", None, "shop", None, "s"), value)
    assert name.rpartition("|")[2] == theirs(value, encoded_prefix="~redis-session-")


def test_every_part_of_a_scope_is_in_the_name():
    scope = Scope("P", "t", "a", "g", "s")
    assert scoped_name(scope, "1") == "~redis-key-prefix-ka|v2|t|a|g|s|1"
    assert legacy_name("p", "") == "p:default"


def test_the_keys_of_a_move_are_in_the_slot_of_the_list():
    from redis.crc import key_slot

    for name in ("chat_messages|v2|~none|a|~none|b|c", "p:s", "p:{tag}s"):
        slots = {key_slot(one.encode()) for one in (name, *taken_names(name))}
        assert len(slots) == 1


# --- moving --------------------------------------------------------------------------------------


def test_a_list_is_part_of_the_session_when_that_is_first_read(theirs):
    theirs.write(user("1"), calling("c1"), answering("c1"), done())

    assert shown(theirs.ours()) == ["1", "c1", "r-c1", "done"]
    assert theirs.left() == []


def test_or_first_written_and_what_is_new_comes_behind(theirs):
    theirs.write(user("1"), done("2"))

    async def main():
        async with theirs.ours() as history:
            await history.save_messages("s", [user("3")])
            return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["1", "2", "3"]


def test_a_list_of_before_there_were_scopes_is_moved_under_its_own_names(url):
    prefix = f"old-{next(_NUMBERS)}"
    with redis.Redis.from_url(url) as client:
        client.rpush(f"{prefix}:s", json.dumps(user("1").to_dict()))
        client.rpush(f"{prefix}:default", json.dumps(user("2").to_dict()))
        history = RedisHistoryProvider(redis_url=url, key_format="legacy", key_prefix=prefix)
        assert shown(history) == ["1"]
        history = RedisHistoryProvider(redis_url=url, key_format="legacy", key_prefix=prefix)
        assert shown(history, None) == ["2"]
        assert client.keys(f"*{prefix}:*") == []


def test_into_a_scope_it_is_moved_only_when_somebody_says_so(url):
    """Its name does not say whose it is: any tenant would take it."""
    prefix = f"old-{next(_NUMBERS)}"
    with redis.Redis.from_url(url) as client:
        client.rpush(f"{prefix}:s", json.dumps(user("1").to_dict()))

    async def main():
        options = {"redis_url": url, "key_prefix": prefix, "application_id": "a"}
        async with RedisHistoryProvider(tenant_id="t", **options) as history:
            before = words(await history.get_messages("s"))
            moved = await history.move("s", legacy=True)
            return before, moved.messages, words(await history.get_messages("s"))

    assert asyncio.run(main()) == ([], 1, ["1"])


def test_a_list_that_their_cut_has_broken_is_whole_again_for_the_model(theirs):
    theirs.write(answering("c1"), user("1"), calling("c2"), answering("c2"), done())

    assert shown(theirs.ours()) == ["1", "c2", "r-c2", "done"]


def test_a_limit_holds_for_what_was_moved_and_the_record_has_all_of_it(theirs):
    theirs.write(*[message for number in range(500) for message in (user(str(number)), done())])

    async def main():
        async with theirs.ours(max_messages=6) as history:
            found = words(await history.get_messages("s"))
            record = [entry.seq async for entry in history.session("s").record()]
            return found, len(record)

    assert asyncio.run(main()) == (["497", "done", "498", "done", "499", "done"], 1_000)


def test_unknown_fields_and_odd_numbers_are_moved_as_they_are(theirs):
    native = {**user("1").to_dict(), "additional_properties": {"score": float("nan"), "_group": {}}}
    theirs.push(json.dumps({**native, "stance": "firm"}))

    async def main():
        async with theirs.ours() as history:
            message = (await history.get_messages("s"))[0]
            record = [entry.message async for entry in history.session("s").record()]
            return message, record[0]

    message, record = asyncio.run(main())
    assert str(message.additional_properties["score"]) == "nan"
    assert (record["stance"], record["additional_properties"]["_group"]) == ("firm", {})


# --- damage --------------------------------------------------------------------------------------


DAMAGED = {
    1: b"not json",
    2: b'{"type": "message"',
    4: b"[1, 2]",
    5: b'{"hello": "world"}',
    7: b"\xff\xfe",
    8: b'{"role": "user", "contents": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
}


def damaged_list(theirs):
    good = iter([user("1"), done("2"), user("3"), done("4")])
    for at in range(10):
        theirs.push(DAMAGED[at] if at in DAMAGED else json.dumps(next(good).to_dict()))


def test_a_damaged_entry_is_put_aside_and_the_rest_is_moved(theirs):
    damaged_list(theirs)

    async def main():
        async with theirs.ours() as history:
            moved = await history.move("s")
            return moved, words(await history.get_messages("s"))

    moved, found = asyncio.run(main())
    assert found == ["1", "2", "3", "4"]
    assert moved.messages == 4
    assert sorted(moved.damaged) == sorted(DAMAGED)
    held = theirs.client.hgetall(moved.kept)
    assert sorted(held.values()) == sorted(DAMAGED.values())
    assert {int(field.decode().rpartition(":")[2]) for field in held} == set(DAMAGED)


def test_who_listens_is_told_and_the_log_has_a_warning(theirs, caplog):
    damaged_list(theirs)
    heard = []
    stop = ls.listen(heard.append)
    with caplog.at_level(logging.INFO, "lockstitch"):
        shown(theirs.ours())
    stop()

    events = [event for event in heard if event.operation == "move"]
    assert [(one.before.messages, one.messages_dropped) for one in events] == [(10, 6)]
    assert "6 entries could not be read" in events[0].failure
    assert [one.levelname for one in caplog.records if "move" in one.message] == ["WARNING"]


def test_a_session_whose_list_is_all_damage_can_be_written(theirs):
    theirs.push(b"not json")

    async def main():
        async with theirs.ours() as history:
            await history.save_messages("s", [user("on")])
            return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["on"]
    assert len(theirs.left()) == 1  # what was put aside


def test_a_key_of_somebody_else_under_that_name_is_left_alone(theirs):
    theirs.client.set(theirs.name, "mine")

    assert shown(theirs.ours()) == []
    assert theirs.client.get(theirs.name) == b"mine"


def test_a_strategy_that_keeps_nothing_costs_no_list(theirs):
    theirs.write(user("1"), done("2"))

    async def main():
        async with theirs.ours(strategy=ls.SlidingWindowHistoryStrategy(0)) as history:
            moved = await history.move("s")
            nothing = await history.get_messages("s")
        return moved, nothing, theirs.client.llen(moved.kept)

    moved, nothing, left = asyncio.run(main())
    assert (moved.messages, nothing, left) == (0, [], 3)
    assert shown(theirs.ours()) == ["1", "2"]


# --- crashes, and several movers -----------------------------------------------------------------


class Stopped(Exception):
    """What a process dies of here."""


@pytest.mark.parametrize("after", [1, 2])
def test_a_move_that_stopped_anywhere_goes_on_without_a_loss(theirs, after):
    """After the list was taken, and after it was appended; then somebody of theirs writes on."""
    theirs.write(user("1"), done("2"), user("3"))

    async def main():
        dying = theirs.ours()
        perform, count = dying.store.driver.perform, itertools.count()

        async def dies(step):
            if next(count) >= after:
                raise Stopped
            return await perform(step)

        dying.store.driver.perform = dies
        with pytest.raises(Stopped):
            await dying.get_messages("s")
        await dying.aclose()
        theirs.write(done("4"))
        theirs.client.ltrim(theirs.name, -1, -1)
        async with theirs.ours() as history:
            await history.get_messages("s")
            await history.move("s")
            return words(await history.get_messages("s"))

    assert asyncio.run(main()) == ["1", "2", "3", "4"]
    assert theirs.left() == []


@pytest.mark.parametrize("movers", [2, 8])
def test_several_movers_store_it_once(theirs, movers):
    theirs.write(*[user(str(number)) for number in range(200)])

    async def main():
        providers = [theirs.ours() for _ in range(movers)]
        await asyncio.gather(*[one.get_messages("s") for one in providers])
        record = [
            entry.message["contents"][0]["text"]
            async for entry in providers[0].session("s").record()
        ]
        for one in providers:
            await one.aclose()
        return record

    assert asyncio.run(main()) == [str(number) for number in range(200)]
    assert theirs.left() == []


def test_a_mover_that_was_late_by_a_whole_life_of_the_list_removes_nothing(theirs):
    """It read the first list; another has moved that, and theirs has begun the next."""
    theirs.write(user("1"))

    async def main():
        late, other = theirs.ours(), theirs.ours()
        perform = late.store.driver.perform
        turn = itertools.count()

        async def held_up(step):
            answer = await perform(step)
            if next(turn) == 0:
                await other.get_messages("s")
                theirs.write(user("2"))
            return answer

        late.store.driver.perform = held_up
        await late.get_messages("s")
        still = theirs.client.llen(theirs.name)
        await late.move("s")
        found = words(await late.get_messages("s"))
        await late.aclose()
        await other.aclose()
        return still, found

    assert asyncio.run(main()) == (1, ["1", "2"])


def test_writers_of_theirs_beside_movers_lose_nothing(theirs):
    """A deployment in which old and new run side by side, and old trims as it always did."""

    async def main():
        async def old():
            for number in range(60):
                theirs.write(user(f"old {number}"))
                await asyncio.sleep(0.001)

        async def new(name):
            async with theirs.ours() as history:
                for number in range(30):
                    await history.move("s")
                    await history.save_messages("s", [user(f"{name} {number}")])

        await asyncio.gather(old(), new("a"), new("b"))
        async with theirs.ours() as history:
            return (
                [
                    entry.message["contents"][0]["text"]
                    async for entry in history.session("s").record()
                ]
                if await history.move("s")
                else []
            )

    record = asyncio.run(main())
    for name, count in (("old", 60), ("a", 30), ("b", 30)):
        said = [one for one in record if one.startswith(name)]
        assert said == [f"{name} {number}" for number in range(count)]


# --- what it costs -------------------------------------------------------------------------------


def test_a_session_that_was_looked_at_costs_no_more_looks(theirs):
    theirs.write(user("1"))

    async def main():
        async with theirs.ours() as history:
            steps = []
            perform = history.store.driver.perform

            async def counted(step):
                steps.append(type(step).__name__)
                return await perform(step)

            history.store.driver.perform = counted
            await history.get_messages("s")
            first = list(steps)
            steps.clear()
            await history.save_messages("s", [user("2")])
            await history.get_messages("s")
            return first, steps

    assert asyncio.run(main()) == (["Lua", "Script", "Lua", "Script"], ["Script", "Script"])


def test_clear_removes_a_list_that_nobody_has_moved(theirs):
    theirs.write(user("1"))

    async def main():
        async with theirs.ours() as history:
            await history.clear("s")
            return await history.get_messages("s")

    assert asyncio.run(main()) == []
    assert theirs.left() == []
