"""The history provider for Redis and Valkey, with the constructor of agent-framework-redis.

Knows: what that package's provider takes and promises, and that a list of its may be there, which
is moved when its session is first used.

Must not know: how a list is moved, how a session is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from lockstitch.errors import MissingExtra
from lockstitch.integrations.agent_framework.lists import Scope, legacy_name, scoped_name
from lockstitch.integrations.agent_framework.moving import Moved, forget, move
from lockstitch.integrations.agent_framework.providers import LockstitchHistoryProvider
from lockstitch.stores.connecting import open_async_store
from lockstitch.stores.names import escaped
from lockstitch.strategies.directive import HistoryDirective, check_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_framework import Message

    from lockstitch.stores.store import AsyncSession

__all__ = ["RedisHistoryProvider"]

# So many sessions are remembered as moved; who comes after that is looked at once more.
_REMEMBERED: Final = 100_000
# As many as the limit lets, as it was promised; by itself a session would cut to half of it.
_ALL_THAT_FIT: Final = HistoryDirective("sliding_window", low_water=1.0)


class RedisHistoryProvider(LockstitchHistoryProvider):
    """Keeps the history of an agent in Redis or Valkey, in the place of agent-framework-redis.

    A list that its provider has written under the same names is moved when the session is first
    used, and is part of the session from then on.

    Args:
        source_id: names this provider.
        redis_url: an address; that of a cluster or of sentinels will do too, see
            `lockstitch.open_store`.
        credential_provider: of redis-py's; needs `host`.
        host: the server, and `port`, `ssl`, `username` with it, where there is no address.
        port: see `host`.
        ssl: see `host`.
        username: see `host`.
        redis_client: a client of redis-py's that is awaited, for one server or a cluster, which
            is lent. It may decode replies or not, and one connection is enough.
        key_prefix: what the names of keys begin with.
        tenant_id: whose sessions they are; no id of one tenant reaches a session of another.
        application_id: which application's; must be given with scoped names.
        agent_id: which agent's.
        key_format: `scoped`, or `legacy` for names of the prefix and the session alone.
        profile: the acceptance rules of the target. The default takes a window that begins with the
            model, as their provider gives one; name that of Anthropic, Gemini or Bedrock, or
            `portable`, where the user must speak first.
        max_messages: the newest messages that are shown, whole groups at a time; `None` for all. 0
            stores nothing and leaves alone what is there.
        load_messages: as of `LockstitchHistoryProvider`, and so are the four that follow.
        store_outputs: see there.
        store_inputs: see there.
        store_context_messages: see there.
        store_context_from: see there.
        options: of each session, as of `LockstitchHistoryProvider`: `strategy`, `model`,
            `max_tokens`, `ttl` and so on.

    Raises:
        ValueError: not exactly one of address, client and credentials was given; a name or limit is
            not what it must be.
        TypeError: the client cannot be awaited.
        MissingExtra: redis-py is not installed.

    >>> RedisHistoryProvider(redis_url="redis://localhost:6379", application_id="shop").source_id
    'redis_memory'
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "redis_memory"

    def __init__(  # noqa: PLR0917 - as FBT001 below
        self,
        source_id: str = DEFAULT_SOURCE_ID,
        redis_url: str | None = None,
        credential_provider: Any = None,
        host: str | None = None,
        port: int = 6380,
        ssl: bool = True,  # noqa: FBT001, FBT002 - the order of arguments is theirs
        username: str | None = None,
        *,
        redis_client: Any = None,
        key_prefix: str = "chat_messages",
        tenant_id: str | None = None,
        application_id: str | None = None,
        agent_id: str | None = None,
        key_format: Literal["scoped", "legacy"] = "scoped",
        profile: str = "openai-chat",
        max_messages: int | None = None,
        load_messages: bool = True,
        store_outputs: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        **options: Any,
    ) -> None:
        client = _one_of(redis_client, redis_url, credential_provider)
        if credential_provider is not None and host is None:
            raise ValueError("credential_provider needs a host")
        _check_scope(key_format, tenant_id, application_id, agent_id)
        check_size("max_messages", max_messages, optional=True)
        self.key_prefix, self.key_format, self.max_messages = key_prefix, key_format, max_messages
        self.tenant_id, self.application_id, self.agent_id = tenant_id, application_id, agent_id
        self.redis_url = redis_url
        self._made: Any = None
        if credential_provider is not None:
            client = self._made = _client(
                host=host,
                port=port,
                ssl=ssl,
                username=username,
                credential_provider=credential_provider,
            )
        if max_messages:
            options = {"strategy": _ALL_THAT_FIT, **options, "max_messages": max_messages}
        self._moved: set[str] = set()
        super().__init__(
            open_async_store(client, prefix=f"{escaped(key_prefix)}|lockstitch|"),
            source_id,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
            tenant=tenant_id,
            profile=profile,
            **options,
        )
        self._owned = redis_client is None

    def _name(self, session_id: str | None) -> str:
        if self.key_format == "legacy":
            return f"~:{session_id or 'default'}"
        if not session_id:
            raise ValueError("a history is found by the id of its session: session_id is missing")
        agent = "~" if self.agent_id is None else escaped(self.agent_id)
        application, source = escaped(self.application_id or ""), escaped(self.source_id)
        return f"{application}:{agent}:{source}:{session_id}"

    def _list(self, session_id: str | None, *, legacy: bool) -> str:
        """Return the name of the list that their provider would have written."""
        if legacy:
            return legacy_name(self.key_prefix, session_id)
        scope = Scope(
            prefix=self.key_prefix,
            tenant=self.tenant_id,
            application=self.application_id or "",
            agent=self.agent_id,
            source=self.source_id,
        )
        return scoped_name(scope, session_id or "")

    async def _ready(self, session_id: str | None) -> AsyncSession:
        """Move the list of a session before it is first used."""
        chat = self.session(session_id)
        if chat.id not in self._moved:
            await move(chat, self._list(session_id, legacy=self.key_format == "legacy"))
            self._remember(chat.id)
        return chat

    def _remember(self, name: str) -> None:
        if len(self._moved) >= _REMEMBERED:
            self._moved.clear()
        self._moved.add(name)

    async def move(self, session_id: str | None, *, legacy: bool = False) -> Moved:
        """Move a list of agent-framework-redis now, and say what became of it.

        A session that is used has been moved. This is for what was written to the list since, and
        for lists from before there were scopes, whose names do not say whose they are.

        Args:
            session_id: the id of the framework's session.
            legacy: take the list that is named by the prefix and the session alone.

        Raises:
            StoreUnavailable: no server answered; nothing is lost, and another move goes on.
        """
        name = self._list(session_id, legacy=legacy or self.key_format == "legacy")
        return await move(self.session(session_id), name)

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        key: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Append messages, as `LockstitchHistoryProvider` does; none where `max_messages` is 0."""
        self._name(session_id)
        if self.max_messages != 0:
            await super().save_messages(session_id, messages, state=state, key=key, **kwargs)

    async def clear(self, session_id: str | None) -> None:
        """Remove a conversation: its record, and a list that was not moved yet."""
        chat = self.session(session_id)
        await forget(chat, self._list(session_id, legacy=self.key_format == "legacy"))
        await super().clear(session_id)

    async def aclose(self) -> None:
        """Let go of what was opened here; a client that was lent stays open."""
        await super().aclose()
        if self._made is not None:
            await self._made.aclose()


def _one_of(*sources: Any) -> Any:
    """Return where the server is to be found, if that was said once."""
    given = [one for one in sources if one is not None]
    if len(given) != 1:
        raise ValueError(
            f"give exactly one of redis_client, redis_url and credential_provider, got {len(given)}"
        )
    return given[0]


def _check_scope(
    key_format: str, tenant: str | None, application: str | None, agent: str | None
) -> None:
    """Refuse names that would not keep apart what they are to keep apart."""
    if key_format not in {"scoped", "legacy"}:
        raise ValueError(f'key_format must be "scoped" or "legacy", got {key_format!r}')
    if key_format == "legacy":
        if any(one is not None for one in (tenant, application, agent)):
            raise ValueError(
                'tenant_id, application_id and agent_id have no place in key_format="legacy"'
            )
        return
    if not application:
        raise ValueError('application_id must be given and not be empty in key_format="scoped"')
    for name, value in (("tenant_id", tenant), ("agent_id", agent)):
        if value == "":
            raise ValueError(f"{name} must not be empty: leave it out where there is none")


def _client(**options: Any) -> Any:
    try:
        from redis.asyncio import Redis
    except ModuleNotFoundError:
        raise MissingExtra("redis", package="redis") from None
    return Redis(**options)
