"""Watching: a thread that ends connections on which no answer came within the time.

Knows: psycopg waits for ever for a server that keeps its connections open and says nothing, and a
connection can be ended from another thread. The thread is there while statements are sent, and goes
when there was none for as long as one may take.

Must not know: what was sent. What took place all the same is found by its mark.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from lockstitch.stores.postgres.sending import cut

if TYPE_CHECKING:
    import psycopg

__all__ = ["Watch"]


class Watch:
    """Watches connections on which an answer is waited for.

    What happens with every statement takes no lock: whoever takes a connection out of the
    dictionary, which is one step, has it, be it the thread that ends it or the one that waited.

    Args:
        seconds: how long an answer may take.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # In the order in which they began, which is that of their deadlines.
        self._deadlines: dict[psycopg.Connection[Any], float] = {}
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def begin(self, connection: psycopg.Connection[Any]) -> None:
        """Begin to watch a connection."""
        self._deadlines[connection] = time.monotonic() + self.seconds
        if self._thread is None:
            self._start()

    def end(self, connection: psycopg.Connection[Any]) -> bool:
        """Stop watching a connection; say whether it was in time, and has not been ended."""
        return self._deadlines.pop(connection, None) is not None

    def close(self) -> None:
        """Let the thread go."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        with self._condition:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="lockstitch-postgres-watch", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        with self._condition:
            idle = False
            while not self._closed and not (idle and not self._deadlines):
                # Nobody wakes this thread when something begins: no deadline of anything that
                # does comes before it wakes by itself.
                idle = not self._deadlines
                self._condition.wait(self._next())
            self._thread = None
        if self._deadlines and not self._closed:
            self._start()  # it began when this thread was about to go

    def _next(self) -> float:
        """Give up what is late, and return the seconds until something else may be."""
        now = time.monotonic()
        for connection, deadline in list(self._deadlines.items()):
            if deadline > now:
                return deadline - now
            if self.end(connection):
                cut(connection)
        return self.seconds
