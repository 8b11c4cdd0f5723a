"""Lists that the published agent-framework-redis 1.0.0b261022 writes on a real server, and ours.

1. The sessions of many scopes and odd names, written by their provider with and without a limit,
   are read and moved by ours: the record is what the list held, nothing of the list is left, and
   the window is accepted by the `portable` profile, though their cut has parted pairs.
2. 300 histories are saved by both under one limit: `openai-chat` would refuse many of theirs, and
   must refuse none of ours.
3. Four turns of the same words: how many of them each has stored.

Deterministic: the histories are drawn with the seed that is printed. Exits 1 on a surprise.
"""

import asyncio
import json
import random
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import redis.asyncio as redis
from agent_framework_redis import RedisHistoryProvider as Theirs

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
)
from lockstitch.integrations.agent_framework import RedisHistoryProvider as Ours
from servers.redis_servers import RedisServer

SEED = 9851
# What windows of both are judged by: neither of them has the user speak first.
PROFILE = "openai-chat"
SESSIONS = ["user-42", "User", "a|b", "a:b", "ä ö", ".x", "con", "x" * 300, "{tag}s", "~none"]
SCOPES = [
    {"application_id": "shop"},
    {"application_id": "Shop", "tenant_id": "t|t", "agent_id": "a"},
    {"application_id": "shop", "source_id": "audit", "key_prefix": "Chats!"},
    {"key_format": "legacy"},
    {"key_format": "legacy", "key_prefix": "old"},
]


def turn(draw, number):
    """One turn, of a kind that is drawn; ids come again."""
    id = f"c{draw.randrange(4)}"
    kind = draw.choice(["say", "call", "both", "think", "apart", "ask"])
    yield user(f"t{number}")
    if kind == "call":
        yield from (calling(id), answering(id))
    elif kind == "both":
        yield from (calling(id, id + "b"), answering(id), answering(id + "b"))
    elif kind == "think":
        yield from (thinking(f"rs{number}", call_content(id)), answering(id))
    elif kind == "apart":
        yield from (calling(id), done(f"wait {number}"), answering(id))
    elif kind == "ask":
        occurrence = f"o{number}"
        yield from (asking(id, occurrence), allowing(id, occurrence), answering(id))
    yield done(f"a{number}")


def history(draw):
    turns = draw.randrange(1, 12)
    return [list(turn(draw, number)) for number in range(turns)]


async def list_of(client, theirs, session):
    return [json.loads(entry) for entry in await client.lrange(theirs._redis_key(session), 0, -1)]


async def moves(client, url, draw):
    """Move what theirs has written; return how many lists, messages and broken lists there were."""
    lists = messages = parted = 0
    for scope in SCOPES:
        for session in SESSIONS:
            for limit in (None, draw.randrange(2, 9)):
                await client.flushdb()
                theirs = Theirs(redis_client=client, max_messages=limit, **scope)
                for save in history(draw):
                    await theirs.save_messages(session, save)
                held = await list_of(client, theirs, session)
                parted += not ls.check(held, profile=PROFILE).ok
                async with Ours(redis_url=url, **scope) as ours:
                    shown = await ours.get_messages(session)
                    record = [one.message async for one in ours.session(session).record()]
                assert record == held, (scope, session)
                accepted = ls.check([one.to_dict() for one in shown], profile=PROFILE).ok
                assert accepted, (scope, session)
                left = [key for key in await client.keys("*") if "|lockstitch|" not in key]
                assert left == [], left
                lists, messages = lists + 1, messages + len(held)
    return lists, messages, parted


async def beside(client, url, draw, count):
    """Save the same with both under one limit; return how often a target would refuse each."""
    refused = {"theirs": 0, "ours": 0}
    await client.flushdb()
    for number in range(count):
        limit = draw.randrange(4, 20)
        theirs = Theirs(redis_client=client, application_id="theirs", max_messages=limit)
        ours = Ours(redis_url=url, application_id="ours", max_messages=limit)
        for save in history(draw):
            await theirs.save_messages(str(number), save)
            await ours.save_messages(str(number), save)
        for name, provider in (("theirs", theirs), ("ours", ours)):
            shown = [one.to_dict() for one in await provider.get_messages(str(number))]
            assert len(shown) <= limit
            refused[name] += not ls.check(shown, profile=PROFILE).ok
        await ours.aclose()
    return refused


async def repeated(client, url):
    found = []
    await client.flushdb()
    for provider in (
        Theirs(redis_client=client, application_id="theirs"),
        Ours(redis_url=url, application_id="ours"),
    ):
        for _ in range(4):
            await provider.save_messages("s", [user("yes"), done("ok")])
        found.append(len(await provider.get_messages("s")))
        await provider.aclose()
    return found


async def main(url):
    draw = random.Random(SEED)
    client = redis.Redis.from_url(url, decode_responses=True)
    lists, messages, parted = await moves(client, url, draw)
    refused = await beside(client, url, draw, 300)
    theirs, ours = await repeated(client, url)
    await client.aclose()
    print(f"agent-framework-redis 1.0.0b261022, seed {SEED}")
    print(f"  {lists} lists with {messages} messages moved, 0 lost; {parted} of them were broken")
    print(
        f"  300 histories under a limit: {refused['theirs']} of theirs and {refused['ours']} of "
        "ours would be refused"
    )
    print(f"  four turns of the same words: {theirs} messages of theirs, {ours} of ours")
    return bool(refused["ours"]) or ours != 8 or not parted or not refused["theirs"]


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    with RedisServer() as server:
        sys.exit(asyncio.run(main(server.url)))
