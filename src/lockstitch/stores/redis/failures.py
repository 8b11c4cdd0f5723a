"""Failures: from what a client raises to whose fault it is.

Knows: the names of redis-py's exceptions, not the exceptions: they are the same in its forks, and
nothing has to be imported to tell them apart.

Must not know: what was asked for.
"""

from __future__ import annotations

from typing import Final

from lockstitch.errors import CorruptRow, StoreError, StoreUnavailable

__all__ = ["crowded", "translated", "unknown_script"]

_AWAY: Final = frozenset(
    {
        "AskError",
        "BusyLoadingError",
        "ClusterDownError",
        "ClusterError",
        "ConnectionError",
        "MasterDownError",
        "MasterNotFoundError",
        "ReadOnlyError",
        "SlotNotCoveredError",
        "TimeoutError",
        "TryAgainError",
    }
)
# What is looked for in the words of a server too: a script hands errors on in its own.
_SAID_AWAY: Final = (
    "BUSY ",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "NOREPLICAS",
    "READONLY",
    "TRYAGAIN",
    "cannot be connected",
    "not covered",
)
_REFUSED: Final = (
    (
        # A client that knows clusters follows; it never lets this one out.
        {"MovedError"},
        "the server is a node of a cluster: open it as redis+cluster://",
    ),
    (
        {"OutOfMemoryError", "OOM command"},
        "the server is out of memory: give it more (maxmemory), or let sessions expire with a ttl",
    ),
    (
        {"MISCONF", "NOSPACE", "No space left"},
        "the server cannot write to its disk: make room, then see what its log says",
    ),
    (
        {"NoPermissionError", "NOPERM"},
        "this user may not: its ACL has to allow scripts, and what they call, on these keys",
    ),
    (
        {
            "AuthenticationError",
            "AuthenticationWrongNumberOfArgsError",
            "AuthorizationError",
            "NOAUTH",
            "WRONGPASS",
        },
        "the server does not let this user in: see the name and the password in the address",
    ),
)


def _names(error: BaseException) -> set[str]:
    return {one.__name__ for one in type(error).__mro__}


def crowded(error: BaseException) -> bool:
    """Whether all connections are in use: nothing was sent, and one will be free in a moment.

    >>> crowded(ConnectionError("Too many connections"))
    True
    """
    return "MaxConnectionsError" in _names(error) or str(error) == "Too many connections"


def unknown_script(error: BaseException) -> bool:
    """Whether the server has not seen a script yet, or has forgotten it."""
    return "NoScriptError" in _names(error)


def translated(error: Exception) -> StoreError | None:
    """Return what an error of a client's means, or `None` for one that is none.

    >>> translated(ConnectionError("refused")).retryable, translated(KeyError("a bug"))
    (True, None)
    """
    names, said = _names(error), str(error)
    if not names & {"RedisError", "ValkeyError", "OSError", "RedisClusterException"}:
        return None
    words = said or type(error).__name__
    for signs, what in _REFUSED:
        if names & signs or any(sign in said for sign in signs):
            return StoreError(f"{what} ({words})")
    if "WRONGTYPE" in said:
        return CorruptRow(f"another program uses a key of this session ({words})")
    if names & _AWAY or any(sign in said for sign in _SAID_AWAY):
        return StoreUnavailable(f"no server took it ({words})")
    return StoreError(f"the server refused ({words})")
