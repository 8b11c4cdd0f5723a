"""The contenders whose store is Redis or Valkey."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import convert
from store_contenders import Awaited, Contender, Ours, exactly
from store_data import Chat, encoded, from_agent_framework, from_items, from_langchain, to_items


class Raw(Contender):
    """One MULTI of RPUSH and LTRIM; the bytes are made outside the clock."""

    key = "raw"
    label = "bare `MULTI RPUSH LTRIM EXEC` (yardstick)"
    keeps = False

    def open(self) -> None:
        import redis

        self.client = redis.Redis.from_url(self.place)

    def close(self) -> None:
        self.client.close()

    def fill(self, batches: Iterable[Sequence[Chat]]) -> None:
        for batch in batches:
            self.client.rpush(self.session, *map(encoded, batch))

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return [encoded(message) for message in messages]

    def append(self, prepared: Any) -> Any:
        pipeline = self.client.pipeline(transaction=True)
        pipeline.rpush(self.session, *prepared)
        pipeline.ltrim(self.session, -self.limit, -1)
        return pipeline.execute()

    def read(self) -> Any:
        return self.client.lrange(self.session, -self.limit, -1)

    def chat(self, messages: Any) -> list[Chat]:
        return [json.loads(message) for message in messages]


class RawEncoded(Raw):
    """The same, handed messages as everybody else is: `json.dumps` makes bytes of them."""

    key = "raw-json"
    label = "... that makes the bytes itself, by `json.dumps`"

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return messages

    def append(self, prepared: Any) -> Any:
        return super().append([json.dumps(message) for message in prepared])


class RawAsync(Awaited):
    """The same, awaited."""

    key = "raw-async"
    label = "... `redis.asyncio` (yardstick of what is awaited)"
    keeps = False

    def open(self) -> None:
        import redis.asyncio

        self.client = redis.asyncio.Redis.from_url(self.place)

    async def close_async(self) -> None:
        await self.client.aclose()

    prepare = Raw.prepare
    chat = Raw.chat

    async def append_async(self, prepared: Any) -> Any:
        pipeline = self.client.pipeline(transaction=True)
        pipeline.rpush(self.session, *prepared)
        pipeline.ltrim(self.session, -self.limit, -1)
        return await pipeline.execute()

    async def read_async(self) -> Any:
        return await self.client.lrange(self.session, -self.limit, -1)


class Sync(Ours):
    """Lockstitch as it is by default: a cut goes down to half of the limit."""

    yardstick = "raw"

    def store(self) -> Any:
        from lockstitch import open_store

        return open_store(self.place)


class SyncExact(Sync):
    """Lockstitch with a cut at every append, as the others have it."""

    key = "ours-exact"
    label = "**lockstitch** `append`, a cut each time"

    def limited(self) -> dict[str, Any]:
        return {"strategy": exactly(self.limit)}


class Async(Awaited):
    """Lockstitch, awaited."""

    key = "ours-async"
    label = "**lockstitch** `append`, awaited"
    package = "lockstitch"
    yardstick = "raw-async"

    def open(self) -> None:
        from lockstitch import open_async_store

        self.store = open_async_store(self.place)
        self.handle = self.store.session(self.session, max_messages=self.limit)
        self.append_async = self.handle.append
        self.read_async = self.handle.window

    async def close_async(self) -> None:
        await self.store.aclose()


class AgentFramework(Awaited):
    """agent-framework-redis."""

    key = "agent-framework"
    label = "agent-framework-redis `save_messages`"
    package = "agent-framework-redis"
    yardstick = "raw-async"
    keeps = False

    def open(self) -> None:
        from agent_framework_redis import RedisHistoryProvider

        self.provider = RedisHistoryProvider(
            redis_url=self.place, application_id="bench", max_messages=self.limit
        )

    async def close_async(self) -> None:
        await self.provider.aclose()

    def fill(self, batches: Iterable[Sequence[Chat]]) -> None:
        self.wait(self._fill(batches))

    async def _fill(self, batches: Iterable[Sequence[Chat]]) -> None:
        # Its own way would read the list once for every batch.
        provider: Any = self.provider
        key = provider._redis_key(self.session)  # noqa: SLF001 - see above
        for batch in batches:
            texts = [provider._serialize_json(one) for one in self.prepare(batch)]  # noqa: SLF001
            await provider._redis_client.rpush(key, *texts)  # noqa: SLF001 - as above

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return convert.to_agent_framework(messages)

    async def append_async(self, prepared: Any) -> Any:
        await self.provider.save_messages(self.session, prepared)

    async def read_async(self) -> Any:
        return await self.provider.get_messages(self.session)

    def chat(self, messages: Any) -> list[Chat]:
        return from_agent_framework(messages)


class OpenAIAgents(Awaited):
    """openai-agents; it never throws anything away, and reads the newest items."""

    key = "openai-agents"
    label = "openai-agents `RedisSession.add_items` (no cut)"
    package = "openai-agents"
    yardstick = "raw-async"

    def open(self) -> None:
        from agents.extensions.memory import RedisSession

        self.kept = RedisSession.from_url(self.session, url=self.place)

    async def close_async(self) -> None:
        await self.kept.close()

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return to_items(messages)

    async def append_async(self, prepared: Any) -> Any:
        await self.kept.add_items(prepared)

    async def read_async(self) -> Any:
        return await self.kept.get_items(limit=self.limit)

    def chat(self, messages: Any) -> list[Chat]:
        return from_items(messages)

    def everything(self) -> list[Chat]:
        return from_items(self.wait(self.kept.get_items()))


class LangChain(Contender):
    """langchain-community; it never throws anything away, and reads everything."""

    key = "langchain"
    label = "langchain-community `RedisChatMessageHistory` (no cut)"
    package = "langchain-community"
    yardstick = "raw"
    limits = False

    def open(self) -> None:
        from langchain_community.chat_message_histories import RedisChatMessageHistory

        self.history = RedisChatMessageHistory(self.session, url=self.place)

    def close(self) -> None:
        self.history.redis_client.close()

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return convert.to_langchain(messages)

    def append(self, prepared: Any) -> Any:
        self.history.add_messages(prepared)

    def read(self) -> Any:
        return self.history.messages

    def chat(self, messages: Any) -> list[Chat]:
        return from_langchain(messages)


CONTENDERS: list[type[Contender]] = [
    Raw,
    RawEncoded,
    RawAsync,
    Sync,
    SyncExact,
    Async,
    AgentFramework,
    OpenAIAgents,
    LangChain,
]
