"""Stores and sessions: the public classes, one pair that waits and one that is awaited.

Knows: how a handle is made. What a session does is written once, in `Transferring` and what it is
built on; here each operation is given its two forms.

Must not know: any backend, how any operation works.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from lockstitch.formats import get_format
from lockstitch.rules.profiles import get_profile
from lockstitch.stores.base import Key
from lockstitch.stores.codec import write
from lockstitch.stores.running import awaited, awaiting, blocking, run
from lockstitch.stores.settings import Settings, check_ttl, directive_of
from lockstitch.stores.transfer import Transferring
from lockstitch.stores.values import SessionInfo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from lockstitch.blobs import BlobStore
    from lockstitch.stores.base import Backend, Effect
    from lockstitch.stores.conversation import Mode
    from lockstitch.stores.running import AsyncDriver, Driver
    from lockstitch.stores.settings import Overflow, Retention
    from lockstitch.stores.values import Recorded
    from lockstitch.strategies.asking import AsyncSummarizer
    from lockstitch.strategies.named import HistoryStrategy

__all__ = ["AsyncSession", "AsyncStore", "Session", "Store"]


T = TypeVar("T")
S = TypeVar("S")
P = ParamSpec("P")


class _Handle:
    """What both kinds of handle are made of: the effects of one session."""

    def __init__(self, effects: Transferring) -> None:
        self.effects = effects

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.effects.key.id

    @property
    def tenant(self) -> str | None:
        """The tenant that it belongs to; `None` for none."""
        return self.effects.key.tenant

    def __repr__(self) -> str:
        tenant = "" if self.tenant is None else f", tenant={self.tenant!r}"
        return f"<{type(self).__name__} {self.id!r}{tenant}>"


class Session(_Handle):
    """One conversation in a store; every method waits. Made by `Store.session`.

    >>> from lockstitch import open_store
    >>> chat = open_store("memory://").session("user-42")
    >>> chat.append({"role": "user", "content": "hi"}).first
    1
    """

    def __init__(self, effects: Transferring, driver: Driver) -> None:
        super().__init__(effects)
        self._driver = driver

    def run(self, effect: Effect[T]) -> T:
        """Run an effect of the session's."""
        return run(effect, self._driver)

    append = blocking(Transferring.append)
    window = blocking(Transferring.window)
    events = blocking(Transferring.events)
    explain = blocking(Transferring.explain)
    search = blocking(Transferring.search)
    recall = blocking(Transferring.recall)
    rewind = blocking(Transferring.rewind)
    edit = blocking(Transferring.edit)
    pop = blocking(Transferring.pop)
    clear = blocking(Transferring.clear)
    purge = blocking(Transferring.purge)
    compact = blocking(Transferring.compact)
    configure = blocking(Transferring.configure)
    touch = blocking(Transferring.touch)
    delete = blocking(Transferring.delete)
    fork = blocking(Transferring.fork)
    import_ = blocking(Transferring.import_)
    verify = blocking(Transferring.verify)

    def record(self, first: int = 1, last: int | None = None) -> Iterator[Recorded]:
        """Yield the messages of the record, with what became of each; read in pages.

        Args:
            first: the number of the first message.
            last: the number of the last; `None` for the newest.

        >>> from lockstitch import open_store
        >>> chat = open_store("memory://").session("s")
        >>> _ = chat.append({"role": "user", "content": "hi"})
        >>> [(entry.seq, entry.state) for entry in chat.record()]
        [(1, 'shown')]
        """
        states = self.run(self.effects.states())
        for start, stop in states.pages(first, last):
            yield from self.run(self.effects.page(states, start, stop))

    def export(self) -> Iterator[bytes]:
        """Yield the session as lines of JSON, for `import_` of any other store.

        >>> from lockstitch import open_store
        >>> store = open_store("memory://")
        >>> _ = store.session("s").append({"role": "user", "content": "hi"})
        >>> store.session("t").import_(store.session("s").export())
        1
        """
        for page in self.effects.lines():
            for line in self.run(page):
                yield write(line)


class AsyncSession(_Handle):
    """One conversation in a store; every method is awaited. Made by `AsyncStore.session`.

    The methods are those of `Session`. A call that is cancelled leaves the session whole.
    """

    def __init__(self, effects: Transferring, driver: AsyncDriver) -> None:
        super().__init__(effects)
        self._driver = driver

    def run(self, effect: Effect[T]) -> Awaitable[T]:
        """Run an effect of the session's."""
        return awaited(effect, self._driver)

    append = awaiting(Transferring.append)
    window = awaiting(Transferring.window)
    events = awaiting(Transferring.events)
    explain = awaiting(Transferring.explain)
    search = awaiting(Transferring.search)
    recall = awaiting(Transferring.recall)
    rewind = awaiting(Transferring.rewind)
    edit = awaiting(Transferring.edit)
    pop = awaiting(Transferring.pop)
    clear = awaiting(Transferring.clear)
    purge = awaiting(Transferring.purge)
    compact = awaiting(Transferring.compact)
    configure = awaiting(Transferring.configure)
    touch = awaiting(Transferring.touch)
    delete = awaiting(Transferring.delete)
    fork = awaiting(Transferring.fork)
    import_ = awaiting(Transferring.import_)
    verify = awaiting(Transferring.verify)

    async def record(self, first: int = 1, last: int | None = None) -> AsyncIterator[Recorded]:
        """Yield the messages of the record, as `Session.record` does."""
        states = await self.run(self.effects.states())
        for start, stop in states.pages(first, last):
            for entry in await self.run(self.effects.page(states, start, stop)):
                yield entry

    async def export(self) -> AsyncIterator[bytes]:
        """Yield the session as lines of JSON, as `Session.export` does."""
        for page in self.effects.lines():
            for line in await self.run(page):
                yield write(line)


class _Listing:
    """What a store does itself, as effects."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def list(
        self,
        prefix: str = "",
        *,
        tenant: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> Effect[list[SessionInfo]]:
        """List the sessions of a tenant.

        Args:
            prefix: what their ids begin with.
            tenant: the tenant; the sessions of no tenant by default.
            after: the id of the last one of the page before.
            limit: most sessions.

        >>> from lockstitch import open_store
        >>> store = open_store("memory://")
        >>> _ = store.session("a").append({"role": "user", "content": "hi"})
        >>> [(one.id, one.messages) for one in store.list()]
        [('a', 1)]
        """
        found = yield from self._backend.sessions(tenant, prefix, after, limit)
        return [
            SessionInfo(
                id=one.key.id,
                tenant=one.key.tenant,
                messages=one.version.seq,
                revision=one.version.revision,
                created=one.created,
                updated=one.updated,
                expires=one.expires,
                bytes=one.bytes,
            )
            for one in found
        ]

    def sweep(self) -> Effect[int]:
        """Remove the sessions that have expired; return how many. Redis does so by itself."""
        return (yield from self._backend.sweep())


class _Opened:
    """What both kinds of store are made of."""

    def __init__(self, backend: Backend, patience: float) -> None:
        self.backend = backend
        self.effects = _Listing(backend)
        self.patience = patience

    def _conversation(
        self,
        id: str,
        *,
        strategy: HistoryStrategy | None = None,
        max_messages: int | None = None,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        profile: str | None = None,
        tenant: str | None = None,
        mode: Mode = "merge",
        format: str | None = None,
        model: str | None = None,
        counter: Any = None,
        summarizer: AsyncSummarizer | None = None,
        blobs: BlobStore | None = None,
        retention: Retention | None = None,
        on_overflow: Overflow | None = None,
        ttl: float | None = None,
        patience: float | None = None,
    ) -> Transferring:
        """Return a handle on a session. Nothing is read or written before it is used.

        Args:
            id: names the session: any text, compared exactly.
            strategy: decides what the model is shown. It is stored with the session when that is
                made; the handle's own overrules what is stored. Without a limit everything is
                shown.
            max_messages: most messages shown, and `max_tokens`, `max_chars` as for `trim`: they
                overrule the strategy's. 0 stores nothing, `None` is unlimited. Once a limit is
                passed a cut goes down to half of it, so that the beginning of the prompt stays the
                same for long; up to 8 messages it goes to the limit. `trim_to` and `low_water` of a
                strategy say otherwise.
            profile: the target; `portable` where none is stored.
            tenant: whose session it is; no id of one tenant reaches a session of another.
            mode: `merge`: an append always lands; `exclusive`: it raises `Conflict` where somebody
                else has written since this handle looked.
            format: the format of the messages, where their shape leaves it open.
            model: the name of the model, for what depends on it.
            counter: what counts tokens, as for `trim`.
            summarizer: who writes summaries that the strategy asks for; the built-in `digest` by
                default. Of an async store it may be awaited.
            blobs: where results go that the strategy offloads; the record has them in any case.
            retention: how much of the record a purge keeps.
            on_overflow: what is done when what must stay is over the limit: `drop` it and say so
                loudly (the default), show the `smallest` window anyway, or `raise` from `window`.
            ttl: seconds until the session expires after its last commit; 0 for never.
            patience: how many seconds an operation may take before it raises `StoreUnavailable`;
                the store's by default.

        Raises:
            TypeError, ValueError: an argument is not what it must be.
            ConversationServiceError: the strategy is none.
        """
        if not isinstance(id, str) or not (tenant is None or isinstance(tenant, str)):
            raise TypeError(f"id and tenant must be texts, got {id!r:.60} and {tenant!r:.60}")
        if mode not in ("merge", "exclusive"):
            raise ValueError(f'mode must be "merge" or "exclusive", got {mode!r}')
        if isinstance(counter, (list, tuple)):
            raise TypeError("counter must count any message: a list of sizes is for one history")
        check_ttl(ttl)
        if profile is not None:
            get_profile(profile)
        if format is not None:
            get_format(format)
        given: dict[str, Any] = {
            "directive": directive_of(strategy, max_messages, max_tokens, max_chars),
            "profile": profile,
            "format": format,
            "model": model,
            "retention": retention,
            "overflow": on_overflow,
        }
        given = {name: value for name, value in given.items() if value is not None}
        Settings(**given)
        return Transferring(
            self.backend,
            Key(tenant, id),
            given,
            mode=mode,
            format=format,
            counter=counter,
            summarizer=summarizer,
            blobs=blobs,
            patience=self.patience if patience is None else patience,
            ttl=ttl,
        )


def _made(
    kind: Callable[[Transferring, Any], S],
) -> Callable[[Callable[Concatenate[Any, P], Transferring]], Callable[Concatenate[Any, P], S]]:
    """Make the method that returns a handle of one kind."""

    def of(
        conversation: Callable[Concatenate[Any, P], Transferring],
    ) -> Callable[Concatenate[Any, P], S]:
        @wraps(conversation)
        def session(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> S:
            return kind(conversation(self, *args, **kwargs), self.driver)

        return session

    return of


class Store(_Opened):
    """Where sessions live; every method waits. Made by `open_store`.

    Args:
        driver: of a backend.
        patience: how many seconds an operation may take before it gives up.

    >>> from lockstitch import open_store
    >>> with open_store("memory://") as store:
    ...     store.session("s", max_messages=50)
    <Session 's'>
    """

    def __init__(self, driver: Driver, *, patience: float = 10.0) -> None:
        super().__init__(driver.backend, patience)
        self.driver = driver

    def run(self, effect: Effect[T]) -> T:
        """Run an effect of the store's."""
        return run(effect, self.driver)

    session = _made(Session)(_Opened._conversation)  # noqa: SLF001 - the one definition of both
    list = blocking(_Listing.list)
    sweep = blocking(_Listing.sweep)

    def close(self) -> None:
        """Let go of what was opened; a client that was lent stays open."""
        self.driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncStore(_Opened):
    """Where sessions live; every method is awaited. Made by `open_async_store`.

    Args:
        driver: of a backend.
        patience: how many seconds an operation may take before it gives up.
    """

    def __init__(self, driver: AsyncDriver, *, patience: float = 10.0) -> None:
        super().__init__(driver.backend, patience)
        self.driver = driver

    def run(self, effect: Effect[T]) -> Awaitable[T]:
        """Run an effect of the store's."""
        return awaited(effect, self.driver)

    session = _made(AsyncSession)(_Opened._conversation)  # noqa: SLF001 - as above
    list = awaiting(_Listing.list)
    sweep = awaiting(_Listing.sweep)

    async def aclose(self) -> None:
        """Let go of what was opened; a client that was lent stays open."""
        await self.driver.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
