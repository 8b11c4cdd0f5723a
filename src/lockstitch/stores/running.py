"""Running: the two loops that drive an effect, one that waits and one that is awaited.

Knows: an effect yields steps. A pause and a question to a summarizer are the same for every store;
any other step is its driver's. Whatever goes wrong is thrown into the effect, which decides.

Must not know: what the steps of any driver are.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Generator
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

import msgspec

if TYPE_CHECKING:
    from lockstitch.stores.base import Backend, Effect

__all__ = [
    "Ask",
    "AsyncDriver",
    "Driver",
    "Pause",
    "Threaded",
    "awaited",
    "awaiting",
    "blocking",
    "run",
]

T = TypeVar("T")
P = ParamSpec("P")


class Pause(msgspec.Struct, frozen=True):
    """Wait for so many seconds."""

    seconds: float


class Ask(msgspec.Struct, frozen=True):
    """Call a function of the caller's; what it returns may have to be awaited."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class Driver(Protocol):
    """Carries out the steps of one backend, and waits for each."""

    @property
    def backend(self) -> Backend:
        """The backend."""
        ...

    def perform(self, step: Any) -> Any:
        """Carry out a step."""
        ...

    def close(self) -> None:
        """Let go of what was opened; a client that was lent stays open."""
        ...


class AsyncDriver(Protocol):
    """Carries out the steps of one backend; each is awaited."""

    @property
    def backend(self) -> Backend:
        """The backend."""
        ...

    async def perform(self, step: Any) -> Any:
        """Carry out a step."""
        ...

    async def aclose(self) -> None:
        """Let go of what was opened; a client that was lent stays open."""
        ...


class Threaded:
    """Makes an awaited driver of one that waits: each step is one hop to a thread.

    A step that is cancelled goes on in its thread; it takes place whole or not at all there too.
    """

    def __init__(self, driver: Driver) -> None:
        self.backend = driver.backend
        self._driver = driver

    async def perform(self, step: Any) -> Any:
        """Carry out a step in a thread."""
        return await asyncio.to_thread(self._driver.perform, step)

    async def aclose(self) -> None:
        """Close the driver, in a thread."""
        await asyncio.to_thread(self._driver.close)


def run(effect: Effect[T], driver: Driver) -> T:
    """Run an effect to its end."""
    send: Callable[[Any], Any] = effect.send
    given: Any = None
    while True:
        try:
            step = send(given)
        except StopIteration as end:
            value: T = end.value
            return value
        send = effect.send
        try:
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                given = None
            elif isinstance(step, Ask):
                given = _answered(step)
            else:
                given = driver.perform(step)
        except BaseException as error:  # noqa: BLE001 - the effect decides, cancelling included
            send, given = effect.throw, error


def _answered(step: Ask) -> Any:
    given = step.function(*step.arguments)
    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise TypeError(
            f"{step.function!r:.80} has to be awaited: open the store with open_async_store"
        )
    return given


async def awaited(effect: Effect[T], driver: AsyncDriver) -> T:
    """Run an effect to its end, awaiting every step."""
    send: Callable[[Any], Any] = effect.send
    given: Any = None
    while True:
        try:
            step = send(given)
        except StopIteration as end:
            value: T = end.value
            return value
        send = effect.send
        try:
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                given = None
            elif isinstance(step, Ask):
                given = step.function(*step.arguments)
                if inspect.isawaitable(given):
                    given = await given
            else:
                given = await driver.perform(step)
        except BaseException as error:  # noqa: BLE001 - the effect decides, cancelling included
            send, given = effect.throw, error


def blocking(
    operation: Callable[Concatenate[Any, P], Generator[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """Make the method that waits of an operation that is written as an effect.

    The class has what the operation is a method of as `effects`, and `run` to run it.
    """

    @wraps(operation)
    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        outcome: T = self.run(operation(self.effects, *args, **kwargs))
        return outcome

    return method


def awaiting(
    operation: Callable[Concatenate[Any, P], Generator[Any, Any, T]],
) -> Callable[Concatenate[Any, P], Awaitable[T]]:
    """Make the method that is awaited of an operation that is written as an effect."""

    @wraps(operation)
    async def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:
        outcome: T = await self.run(operation(self.effects, *args, **kwargs))
        return outcome

    return method
