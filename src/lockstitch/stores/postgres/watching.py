"""Watching: a thread that ends connections on which no answer came within the time.

Knows: psycopg waits for ever for a server that keeps its connections open and says nothing, and a
connection can be ended from another thread. The thread is there while statements are sent, and goes
when there was none for as long as one may take.

Must not know: what was sent. What took place all the same is found by its mark.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Self

from lockstitch.stores.postgres.sending import cut

if TYPE_CHECKING:
    import psycopg

__all__ = ["Watch", "Watched"]


class Watched:
    """A connection while an answer is waited for.

    Args:
        watch: who watches it.
        connection: the connection.
    """

    __slots__ = ("_connection", "_deadline", "_watch", "cut")

    def __init__(self, watch: Watch, connection: psycopg.Connection[Any]) -> None:
        self._watch = watch
        self._connection = connection
        self._deadline = time.monotonic() + watch.seconds
        self.cut = False

    def __enter__(self) -> Self:
        self._watch.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.end(self)

    def left(self, now: float) -> float:
        """Return how many seconds there are still."""
        return self._deadline - now

    def give_up(self) -> None:
        """End the connection; whoever waits on it goes on with an error."""
        self.cut = True
        cut(self._connection)


class Watch:
    """Watches connections.

    Args:
        seconds: how long an answer may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._condition = threading.Condition()
        # In the order in which they began, which is that of their deadlines.
        self._watched: dict[Watched, None] = {}
        self._thread: threading.Thread | None = None
        self._closed = False

    def over(self, connection: psycopg.Connection[Any]) -> Watched:
        """Watch a connection inside a `with`."""
        return Watched(self, connection)

    def begin(self, watched: Watched) -> None:
        """Begin to watch."""
        with self._condition:
            self._watched[watched] = None
            # It is not alive either in a process that was forked.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name="lockstitch-postgres-watch", daemon=True
                )
                self._thread.start()

    def end(self, watched: Watched) -> None:
        """Stop watching; a connection is never ended after this."""
        with self._condition:
            self._watched.pop(watched, None)

    def close(self) -> None:
        """Let the thread go."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        with self._condition:
            idle = False
            while not self._closed and not (idle and not self._watched):
                # Nobody wakes this thread when something begins: no deadline of anything that
                # does comes before it wakes by itself.
                idle = not self._watched
                self._condition.wait(self._next())
            self._thread = None

    def _next(self) -> float:
        """Give up what is late, and return the seconds until something else may be."""
        now = time.monotonic()
        for watched in list(self._watched):
            left = watched.left(now)
            if left > 0:
                return left
            del self._watched[watched]
            watched.give_up()
        return self.seconds
