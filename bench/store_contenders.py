"""What every contender of the store benchmarks is: something that appends to a session and reads.

What an append needs in the contender's own shape is made outside every clock (`prepare`), and what
a read returns is turned into OpenAI Chat dicts outside of it too (`chat`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from functools import cache
from threading import get_ident
from time import perf_counter
from typing import Any, ClassVar

from store_data import Chat, encoded


class Contender:
    """A session in some store, through one library.

    Args:
        place: where the store is: a URL or a path.
        session: the id of the session.
        limit: most messages that are kept or read.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    package: ClassVar[str] = ""
    yardstick: ClassVar[str] = ""  # the key of what it is measured against, where that is another
    keeps: ClassVar[bool] = True  # whether all that was appended can be read back
    limits: ClassVar[bool] = True  # whether a read keeps to the limit

    def __init__(self, place: str, session: str, limit: int) -> None:
        self.place = place
        self.session = session
        self.limit = limit
        self.open()

    def open(self) -> None:
        """Connect."""

    def close(self) -> None:
        """Disconnect."""

    def fill(self, batches: Iterable[Sequence[Chat]]) -> None:
        """Store what is there before anything is measured."""
        for batch in batches:
            self.append(self.prepare(batch))

    def prepare(self, messages: Sequence[Chat]) -> Any:
        """Messages in the shape that `append` takes."""
        return list(messages)

    def append(self, prepared: Any) -> Any:
        """Store messages."""
        raise NotImplementedError

    def read(self) -> Any:
        """What the model would be shown."""
        raise NotImplementedError

    def chat(self, messages: Any) -> list[Chat]:
        """What `read` returned as OpenAI Chat dicts."""
        return list(messages)

    def everything(self) -> list[Chat]:
        """All that is stored, as OpenAI Chat dicts."""
        return self.chat(self.read())

    def burst(self, prepared: Sequence[Any], seconds: float) -> list[float]:
        """Append one after the other until the time is over; how long each took."""
        append, clock, found = self.append, perf_counter, list[float]()
        end = clock() + seconds
        for one in prepared:
            began = clock()
            append(one)
            now = clock()
            found.append(now - began)
            if now > end:
                break
        return found

    def reads(self, number: int, seconds: float) -> list[float]:
        """Read several times; how long each took."""
        read, clock, found = self.read, perf_counter, list[float]()
        end = clock() + seconds
        for _ in range(number):
            began = clock()
            read()
            now = clock()
            found.append(now - began)
            if now > end:
                break
        return found


class Awaited(Contender):
    """A contender that is awaited: `append_async` and `read_async` run in a loop of its own."""

    def __init__(self, place: str, session: str, limit: int) -> None:
        self.loop = asyncio.new_event_loop()
        super().__init__(place, session, limit)

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something to its end."""
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        self.wait(self.close_async())
        self.loop.close()

    async def close_async(self) -> None:
        """Disconnect."""

    async def append_async(self, prepared: Any) -> Any:
        """Store messages."""
        raise NotImplementedError

    async def read_async(self) -> Any:
        """What the model would be shown."""
        raise NotImplementedError

    def append(self, prepared: Any) -> Any:
        return self.wait(self.append_async(prepared))

    def read(self) -> Any:
        return self.wait(self.read_async())

    def burst(self, prepared: Sequence[Any], seconds: float) -> list[float]:
        return self.wait(self._burst([self.append_async(one) for one in prepared], seconds))

    def reads(self, number: int, seconds: float) -> list[float]:
        return self.wait(self._burst([self.read_async() for _ in range(number)], seconds))

    async def _burst(
        self, works: Sequence[Coroutine[Any, Any, Any]], seconds: float
    ) -> list[float]:
        clock, found = perf_counter, list[float]()
        end = clock() + seconds
        left = iter(works)
        for work in left:
            began = clock()
            await work
            now = clock()
            found.append(now - began)
            if now > end:
                break
        for work in left:
            work.close()
        return found


class Ours(Contender):
    """Lockstitch, whichever store it is in."""

    key = "ours"
    label = "**lockstitch** `append`"
    package = "lockstitch"
    options: ClassVar[dict[str, Any]] = {}  # of the session

    def store(self) -> Any:
        """Open the store."""
        raise NotImplementedError

    def open(self) -> None:
        self._store = self.store()
        self._session = self._store.session(self.session, **self.limited())
        self.append = self._session.append  # no frame of the benchmark's own on the clock
        self.read = self._session.window

    def limited(self) -> dict[str, Any]:
        """What the session is opened with."""
        return {"max_messages": self.limit, **self.options} if self.limit else {}

    def everything(self) -> list[Chat]:
        return [entry.message for entry in self._session.record()]

    def close(self) -> None:
        self._store.close()


def exactly(limit: int) -> Any:
    """A strategy that cuts to its limit each time, not to half of it once it is passed."""
    from lockstitch.strategies import HistoryDirective

    return HistoryDirective(kind="sliding_window", window_messages=limit, low_water=1.0)


def with_metas(messages: Sequence[Chat]) -> list[tuple[bytes, bytes]]:
    """Each message as JSON, and the meta that Lockstitch keeps beside it: the same bytes."""
    from lockstitch.stores.base import Key

    key = Key(None, f"bytes-{get_ident()}")
    session = _memory().session(key.id)
    first = session.append(messages).first
    rows = _memory().run(_memory().backend.rows(key, first, first + len(messages) - 1))
    session.delete()
    return [(row.meta, encoded(one)) for row, one in zip(rows, messages, strict=True)]


@cache
def _memory() -> Any:
    from lockstitch import open_store

    return open_store("memory://")
