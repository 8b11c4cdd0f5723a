"""The stage: one test's own corner of a storage, the same to a store that waits and one awaited.

Knows: how a store whose methods are awaited is driven by a test that waits, how several clients act
at once (threads on the one side, tasks on the other), and that no test meets another's sessions.

Must not know: any backend, what is tested.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import secrets
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from lockstitch.stores.base import Change, Commit, Key, Row
from lockstitch.stores.conversation import new_mark
from lockstitch.stores.running import awaited, run
from lockstitch.stores.store import AsyncStore, Session, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

    from lockstitch.stores.base import Committed, Effect, Reading

__all__ = ["Kind", "Place", "Stage"]

T = TypeVar("T")
Kind = Literal["sync", "async"]


class Place:
    """Where a storage is: what a test class of a backend says of it."""

    def driver(self) -> Any:
        """Return a driver, another client of the same storage each time.

        Raises:
            NotImplementedError: a backend says how.
        """
        raise NotImplementedError("return a new driver on the same storage")

    async def async_driver(self) -> Any:
        """Return a driver whose steps are awaited, as `driver`; `None` if there is none.

        It is called in the event loop that the driver is used in.
        """
        return None


class Stage:
    """One test's own corner of a storage.

    Args:
        place: where it is.
        kind: whether the test is played to a store that waits or to one that is awaited.
        wrap: stands before each driver, for instance one that loses replies.
    """

    def __init__(
        self, place: Place, kind: Kind, wrap: Callable[[Any], Any] = lambda driver: driver
    ) -> None:
        self.kind: Kind = kind
        self.tenant = f"t-{secrets.token_hex(6)}"
        self._place = place
        self._wrap = wrap
        self._runner = asyncio.Runner() if kind == "async" else None
        self._drivers: list[Any] = []
        self._first: Any = None

    # --- opening and closing ---------------------------------------------------------------------

    def new_driver(self, wrap: Callable[[Any], Any] | None = None) -> Any:
        """Return another client of the storage."""
        if self._runner is None:
            driver = self._place.driver()
        else:
            driver = self._runner.run(self._place.async_driver())
        self._drivers.append(driver)
        return (wrap or self._wrap)(driver)

    @property
    def possible(self) -> bool:
        """Whether the backend has a driver of this kind."""
        if self._first is None:
            driver = self.new_driver()
            if driver is None:
                return False
            self._first = driver
        return True

    @property
    def first(self) -> Any:
        """The client that the test itself uses."""
        assert self.possible, f"the backend has no {self.kind} driver"
        return self._first

    def store(self, driver: Any = None, *, patience: float = 10.0) -> Store:
        """Return a store that waits, on the test's own client or on another."""
        driver = self.first if driver is None else driver
        if self._runner is None:
            return Store(driver, patience=patience)
        return cast("Store", _Waiting(AsyncStore(driver, patience=patience), self._runner.run))

    def session(self, id: str = "chat", /, **options: Any) -> Session:
        """Return a handle on a session of this test's, with no memory of any other handle."""
        return self.store().session(id, tenant=self.tenant, **options)

    def elsewhere(self, id: str = "chat", /, **options: Any) -> Session:
        """Return a handle on the same session through another client."""
        return self.store(self.new_driver()).session(id, tenant=self.tenant, **options)

    def close(self) -> None:
        """Let go of every client."""
        for driver in self._drivers:
            if driver is None:
                continue
            if self._runner is None:
                driver.close()
            else:
                self._runner.run(driver.aclose())
        if self._runner is not None:
            self._runner.close()

    # --- the protocol itself ---------------------------------------------------------------------

    def effect(self, effect: Effect[T], driver: Any = None) -> T:
        """Run an effect of the backend's."""
        driver = self.first if driver is None else driver
        if self._runner is None:
            return run(effect, driver)
        return self._runner.run(awaited(effect, driver))

    @property
    def backend(self) -> Any:
        """The backend of the test's own client."""
        return self.first.backend

    def key(self, id: str = "chat") -> Key:
        """Return the key of a session of this test's."""
        return Key(self.tenant, id)

    def reading(self, id: str = "chat") -> Reading:
        """Read what is stored of a session."""
        reading: Reading = self.effect(self.backend.view(self.key(id)))
        return reading

    def commit(self, id: str = "chat", **fields: Any) -> Committed:
        """Carry a commit out that no session would make."""
        made = Commit(key=self.key(id), mark=new_mark(), epoch=new_mark(), **fields)
        done: Committed = self.effect(self.backend.commit(made))
        return done

    def plant(self, *rows: Row, id: str = "chat") -> int:
        """Append rows as they are, and return the number of the first."""
        return self.commit(id, rows=rows).first

    def put_head(self, head: bytes, id: str = "chat", ranges: tuple[int, ...] = ()) -> Committed:
        """Write a head as it is."""
        version = self.reading(id).version
        assert version is not None
        change = Change(head=head, ranges=ranges, through=version.seq, strict=True)
        return self.commit(id, expected=version, change=change)

    # --- several at once -------------------------------------------------------------------------

    def together(self, *bodies: Callable[[Store], Coroutine[Any, Any, None]]) -> None:
        """Play several parts at once, each on a client of its own, and wait for all of them.

        Args:
            bodies: take a store and await what its sessions return: the store is one to be awaited,
                or one that waits and only looks as if. What one of them raises is raised.
        """
        drivers = [self.new_driver() for _ in bodies]
        if self._runner is not None:
            self._runner.run(_gathered([b(_lent(d)) for b, d in zip(bodies, drivers, strict=True)]))
            return
        failures: list[BaseException] = []

        def play(body: Callable[[Store], Coroutine[Any, Any, None]], driver: Any) -> None:
            try:
                _drive(body(cast("Store", _AsIf(Store(driver)))))
            except BaseException as error:  # noqa: BLE001 - raised below, in the test's own thread
                failures.append(error)

        threads = [
            threading.Thread(target=play, args=pair) for pair in zip(bodies, drivers, strict=True)
        ]
        patience = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)  # they meet where they would meet once in a thousand runs
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(patience)
        if failures:
            raise failures[0]

    def aside(self, act: Callable[[Session], Any], id: str = "chat", /, **options: Any) -> None:
        """Let another client act on a session while an operation of the test's own is under way."""
        other = Stage(self._place, self.kind)
        other.tenant = self.tenant

        def play() -> None:
            try:
                act(other.session(id, **options))
            except BaseException as error:  # noqa: BLE001 - raised below, where it is seen
                failures.append(error)
            finally:
                other.close()

        failures: list[BaseException] = []
        # In a thread: a loop that is running cannot run another part of the test.
        thread = threading.Thread(target=play)
        thread.start()
        thread.join()
        if failures:
            raise failures[0]

    def in_loop(self, made: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop of an awaited store."""
        assert self._runner is not None, "only an awaited store has a loop"
        return self._runner.run(made)


def _lent(driver: Any) -> Store:
    return cast("Store", AsyncStore(driver))


async def _gathered(parts: Iterable[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*parts)


def _drive(body: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that awaits what waits by itself; where it lets others on, so do we."""
    try:
        while body.send(None) is None:
            time.sleep(0)
    except StopIteration:
        return
    raise AssertionError("something was awaited that is not of the store")


class _Waiting:
    """A store or session that is awaited, as one that waits."""

    def __init__(self, awaited: Any, wait: Callable[[Any], Any]) -> None:
        self.awaited = awaited
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.awaited, name)
        if not callable(found):
            return found

        @functools.wraps(found)
        def call(*args: Any, **kwargs: Any) -> Any:
            outcome = found(*args, **kwargs)
            if inspect.isawaitable(outcome):
                return self._wait(_of(outcome))
            if hasattr(outcome, "__aiter__"):
                return iter(self._wait(_all(outcome)))
            if name == "session":
                return _Waiting(outcome, self._wait)
            return outcome

        return call

    def __repr__(self) -> str:
        return repr(self.awaited)


class _AsIf:
    """A store or session that waits, as one that is awaited."""

    def __init__(self, waiting: Any) -> None:
        self._waiting = waiting

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._waiting, name)
        if name == "session":
            return lambda *args, **kwargs: _AsIf(found(*args, **kwargs))
        if not callable(found):
            return found

        async def call(*args: Any, **kwargs: Any) -> Any:
            outcome = found(*args, **kwargs)
            return list(outcome) if inspect.isgenerator(outcome) else outcome

        return call


async def _of(outcome: Any) -> Any:
    return await outcome


async def _all(outcome: Any) -> list[Any]:
    return [one async for one in outcome]
