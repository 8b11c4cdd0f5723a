"""Progress: a bar on standard error while many files, or one large one, are worked through.

Only where standard error is a terminal. With several files it shows at once, with one after a
second. What is to be printed meanwhile waits until the bar is gone.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from rich.progress import Progress, TaskID

__all__ = ["Bar"]

PATIENCE = 1.0  # seconds before a single file gets a bar


class Bar:
    """A progress bar over `total` steps.

    >>> with Bar(total=2) as bar:
    ...     bar.step("one.json")
    ...     bar.say(lambda: print("fine"))
    fine
    """

    def __init__(self, total: int, *, patience: float = PATIENCE) -> None:
        self._total = total
        self._patience = patience
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._done = 0
        self._doing = ""
        self._waiting: list[Callable[[], None]] = []

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            if self._total > 1:
                self._show()
            else:
                self._timer = threading.Timer(self._patience, self._show)
                self._timer.daemon = True
                self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._total = -1  # a timer that has just fired finds nothing left to show
            if self._bar is not None:
                self._bar.stop()
        for speak in self._waiting:
            speak()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._total < 0:
                return
            columns = (TextColumn("{task.description}", markup=False), BarColumn())
            self._bar = Progress(
                *columns,
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
                # Results go to standard output, which may be a file: keep the bar out of it.
                redirect_stdout=False,
                redirect_stderr=False,
            )
            total = self._total if self._total > 1 else None
            self._task = self._bar.add_task(self._doing, total=total, completed=self._done)
            self._bar.start()

    def step(self, doing: str) -> None:
        """Say what is being done now; what was done before counts as finished."""
        with self._lock:
            self._done += bool(self._doing)
            self._doing = doing
            if self._bar is not None and self._task is not None:
                self._bar.update(self._task, description=doing, completed=self._done)

    def say(self, speak: Callable[[], None]) -> None:
        """Print, now or when the bar is gone."""
        if self._bar is not None:
            self._waiting.append(speak)
        else:
            speak()
