"""Forking: what becomes of open databases when the process is copied.

Knows: SQLite notes in memory which locks the process holds. A child takes the note over but not
the locks. What it then writes, even through a connection of its own, is lost when the parent closes
the last connection that does hold them. So nothing may be open while a process forks.

Must not know: what is open, beyond how to close it.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final, Protocol
from weakref import WeakSet

__all__ = ["forget_never", "watch"]


class Forks(Protocol):
    """What has to be ready when the process forks."""

    def before_fork(self) -> None:
        """Wait until nothing is going on, close what is open, and let nothing begin."""
        ...

    def after_fork(self) -> None:
        """Let things begin again; it is called in the parent and in the child."""
        ...


_watched: WeakSet[Any] = WeakSet()
_held: list[Forks] = []
_forgotten: list[object] = []
# Two threads that fork at the same time would otherwise wait for each other's drivers.
_turn: Final = threading.RLock()


def watch(one: Forks) -> None:
    """Call the methods of an object whenever the process forks, for as long as it lives."""
    with _turn:
        _watched.add(one)


def forget_never(inherited: object) -> None:
    """Keep what must not even be closed here, because it is open in the process that was forked."""
    _forgotten.append(inherited)


def _before() -> None:
    _turn.acquire()
    for one in list(_watched):
        one.before_fork()
        _held.append(one)


def _after() -> None:
    for one in _held:
        one.after_fork()
    _held.clear()
    _turn.release()


if hasattr(os, "register_at_fork"):  # pragma: no branch - Windows does not fork
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
