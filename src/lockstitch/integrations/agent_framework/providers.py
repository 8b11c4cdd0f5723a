"""A history provider of the framework over any store.

Knows: the framework's `HistoryProvider`, whose flags decide what is loaded and stored, and when.
What the model is shown is a session's window; what is saved is appended to its record, all of it,
however often the same words are said.

Must not know: any server.
"""

from __future__ import annotations

from collections import OrderedDict
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from agent_framework import HistoryProvider

from lockstitch.integrations.agent_framework.messages import revived, written
from lockstitch.integrations.agent_framework.resuming import FORMAT, shown_before
from lockstitch.stores.connecting import open_async_store
from lockstitch.stores.names import escaped
from lockstitch.stores.running import Threaded
from lockstitch.stores.store import AsyncStore, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_framework import AgentSession, Message, SessionContext, SupportsAgentRun

    from lockstitch.stores.store import AsyncSession

__all__ = ["LockstitchHistoryProvider"]

# Handles that are kept, so that a save comes with its cut in one round trip.
_HANDLES: Final = 1_024
_FOLLOWING: Final[ContextVar[Sequence[Message] | None]] = ContextVar("_following", default=None)


class LockstitchHistoryProvider(HistoryProvider):
    """Keeps the history of an agent in a store of Lockstitch's.

    Args:
        store: the address of a store, as for `lockstitch.open_async_store`; or a store that is
            open already, which is lent, or a client, which is lent too.
        source_id: names this provider; two providers of different names never share a history.
        load_messages: whether the history is loaded before a run; this and the four that follow are
            the framework's own.
        store_inputs: whether what a run is given is stored.
        store_context_messages: whether what other providers add is stored.
        store_context_from: the names of those whose additions are; `None` for all.
        store_outputs: whether what comes back is stored.
        options: of each session, as `lockstitch.Store.session` takes them: `strategy`,
            `max_messages`, `max_tokens`, `max_chars`, `profile`, `tenant`, `model`, `summarizer`,
            `ttl` and so on.

    Raises:
        TypeError, ValueError: an option is not what it must be.

    >>> import asyncio
    >>> from agent_framework import Message
    >>> async def main():
    ...     async with LockstitchHistoryProvider("memory://", max_messages=40) as history:
    ...         await history.save_messages("user-42", [Message("user", ["hi"])])
    ...         return [message.text for message in await history.get_messages("user-42")]
    >>> asyncio.run(main())
    ['hi']
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "lockstitch"

    def __init__(
        self,
        store: Any,
        source_id: str | None = None,
        *,
        load_messages: bool = True,
        store_inputs: bool = True,
        store_context_messages: bool = False,
        store_context_from: set[str] | None = None,
        store_outputs: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(
            source_id or self.DEFAULT_SOURCE_ID,
            load_messages=load_messages,
            store_inputs=store_inputs,
            store_context_messages=store_context_messages,
            store_context_from=store_context_from,
            store_outputs=store_outputs,
        )
        self._owned = not isinstance(store, (AsyncStore, Store))
        self._store = _opened(store)
        self._options = options
        self._handles: OrderedDict[str, AsyncSession] = OrderedDict()
        self._store.session("", format=FORMAT, **options)

    @property
    def store(self) -> AsyncStore:
        """The store, for what a provider has no word for: lists, copies, other sessions."""
        return self._store

    def session(self, session_id: str | None) -> AsyncSession:
        """Return the session of a conversation: its record, what was cut and why, an export.

        Args:
            session_id: the id of the framework's session.

        Raises:
            ValueError: there is no id, so that nothing could be found again.
        """
        name = self._name(session_id)
        handle = self._handles.get(name)
        if handle is None:
            handle = self._store.session(name, format=FORMAT, **self._options)
            self._handles[name] = handle
            if len(self._handles) > _HANDLES:
                self._handles.popitem(last=False)
        self._handles.move_to_end(name)
        return handle

    def _name(self, session_id: str | None) -> str:
        """Return the id of a session in the store; two providers or ids never share one."""
        if not session_id:
            raise ValueError("a history is found by the id of its session: session_id is missing")
        return f"{escaped(self.source_id)}:{session_id}"

    async def _ready(self, session_id: str | None) -> AsyncSession:
        """Return a session that can be read and written."""
        return self.session(session_id)

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """Return what the model is shown of a conversation.

        Args:
            session_id: the id of the framework's session.
            state: nothing is kept there.
            kwargs: nothing is read from them.
        """
        chat = await self._ready(session_id)
        following = _FOLLOWING.get()
        if following is None:
            return revived(await chat.window())
        return revived(await shown_before(chat, written(following)))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        key: str | None = None,
        **kwargs: Any,
    ) -> None:
        """Append messages: all of them or none, in one round trip; they are not changed.

        Args:
            session_id: the id of the framework's session.
            messages: what is stored, whether or not the same was said before.
            state: nothing is kept there.
            key: names this batch; the same key again stores nothing.
            kwargs: nothing is read from them.
        """
        if messages:
            chat = await self._ready(session_id)
            await chat.append(written(messages), key=key)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Load the history: calls that this run answers last, calls that wait for others not."""
        token = _FOLLOWING.set(context.input_messages)
        try:
            await super().before_run(agent=agent, session=session, context=context, state=state)
        finally:
            _FOLLOWING.reset(token)

    async def clear(self, session_id: str | None) -> None:
        """Remove a conversation, its record included.

        `session(...).clear()` empties what the model is shown and keeps the record.
        """
        await self.session(session_id).delete()

    async def aclose(self) -> None:
        """Let go of what was opened here; a store that was lent stays open."""
        if self._owned:
            await self._store.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def _opened(store: Any) -> AsyncStore:
    """Open an address or a client; a store that waits is driven in threads."""
    if isinstance(store, AsyncStore):
        return store
    if isinstance(store, Store):
        return AsyncStore(Threaded(store.driver), patience=store.patience)
    return open_async_store(store)
