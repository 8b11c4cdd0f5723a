"""What is asked of the drivers for Redis: a script, a piece of a scan, fields of many hashes.

Must not know: clients.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Fields", "Lua", "Scan", "Script"]


class Script(msgspec.Struct, frozen=True, gc=False):
    """Run a script, in one round trip.

    Args:
        name: which, as in `lockstitch.stores.redis.sources`.
        keys: the keys that it touches, all in one slot.
        arguments: bytes and whole numbers.
    """

    name: str
    keys: tuple[bytes, ...]
    arguments: tuple[Any, ...] = ()


class Lua(msgspec.Struct, frozen=True, gc=False):
    """Run a script that is none of a session's, on keys of somebody else's, in one round trip.

    Only drivers that are awaited carry it out: so are all who ask for it.

    Args:
        source: the text of the script.
        keys: the keys that it touches, all in one slot.
        arguments: bytes, texts and whole numbers.
    """

    source: str
    keys: tuple[str, ...]
    arguments: tuple[Any, ...] = ()


class Scan(msgspec.Struct, frozen=True, gc=False):
    """Look through a piece of the keys of all servers; the answer is the next place, and hashes.

    Args:
        pattern: which keys are meant.
        place: where the last piece ended, `None` to begin; opaque, and `None` again at the end.
    """

    pattern: bytes
    place: Any = None


class Fields(msgspec.Struct, frozen=True, gc=False):
    """Read the same fields of many hashes: a list of values each."""

    keys: tuple[bytes, ...]
    names: tuple[str, ...]
