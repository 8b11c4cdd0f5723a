"""Moving: a list that agent-framework-redis has written becomes a session, without a loss.

Knows: a list is taken first, whole: renamed, with a name of its own put before it, so that whoever
still writes to the old name begins another list and never shifts this one. What was taken is
appended under that name as its key, so that any number of movers, and one that comes after a crash,
store it once. Then what could not be read is put aside, and what was taken is removed, in one step.

Must not know: clients; what a session shows.
"""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import FormatError
from lockstitch.events import Event, telling
from lockstitch.formats import get_format
from lockstitch.formats.base import NO
from lockstitch.integrations.agent_framework.lists import taken_names
from lockstitch.integrations.agent_framework.resuming import FORMAT
from lockstitch.plan import Size
from lockstitch.stores.codec import write_native
from lockstitch.stores.redis.steps import Lua

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lockstitch.stores.base import Effect
    from lockstitch.stores.store import AsyncSession

__all__ = ["Moved", "forget", "move"]

_TAKE: Final = """
local list, taken = KEYS[1], KEYS[2]
if redis.call('EXISTS', taken) == 0 then
  if redis.call('TYPE', list)['ok'] ~= 'list' then return {} end
  redis.call('RENAME', list, taken)
  redis.call('LPUSH', taken, ARGV[1])
end
return redis.call('LRANGE', taken, 0, -1)
"""

_SETTLE: Final = """
local taken, damaged = KEYS[1], KEYS[2]
if redis.call('LINDEX', taken, 0) ~= ARGV[1] then return 0 end
for at = 2, #ARGV, 2 do redis.call('HSET', damaged, ARGV[at], ARGV[at + 1]) end
redis.call('DEL', taken)
return 1
"""

_FORGET: Final = "return redis.call('DEL', unpack(KEYS))"


class Moved(msgspec.Struct, frozen=True):
    """What became of a list.

    Args:
        messages: how many of its entries are messages of the session now.
        damaged: why each of the others is none, by its place in the list.
        kept: the key of a hash that holds those as they were; empty where there are none. Of a
            session that keeps nothing, the key of the list itself, which is left as it was.
    """

    messages: int = 0
    damaged: dict[int, str] = {}
    kept: str = ""


async def move(chat: AsyncSession, name: str) -> Moved:
    """Move a list into a session; one round trip where there is none.

    Args:
        chat: the session.
        name: of the list.

    Raises:
        StoreUnavailable: no server answered; whatever was done, the next move goes on from there.
    """
    taken, damaged = taken_names(name)
    found = await _asked(chat, Lua(_TAKE, (name, taken), (secrets.token_hex(9),)))
    if not found:
        return Moved()
    label, *entries = found
    natives, broken = _read(entries)
    if natives:
        stored = await chat.append(natives, key=f"moved:{label.decode()}")
        if stored.count != len(natives):
            # The session keeps nothing, by its strategy: then what was taken stays where it is.
            return Moved(0, broken, taken)
    put_aside = [part for at in broken for part in (f"{label.decode()}:{at}".encode(), entries[at])]
    await _asked(chat, Lua(_SETTLE, (taken, damaged), (label, *put_aside)))
    moved = Moved(len(natives), broken, damaged if broken else "")
    _tell(moved)
    return moved


async def forget(chat: AsyncSession, name: str) -> None:
    """Remove a list, and whatever a move has left of it."""
    await _asked(chat, Lua(_FORGET, (name, *taken_names(name))))


async def _asked(chat: AsyncSession, step: Lua) -> Any:
    """Have a script run, again while no server answers: each of them may be run twice."""

    def ask() -> Effect[Any]:
        return (yield step)

    return await chat.run(chat.effects.patiently(ask))


def _read(entries: Iterable[bytes]) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Return the messages among entries, and why each of the others is none."""
    natives: list[dict[str, Any]] = []
    broken: dict[int, str] = {}
    for at, entry in enumerate(entries):
        try:
            natives.append(_message(entry))
        except (ValueError, RecursionError, FormatError) as error:
            broken[at] = str(error) or type(error).__name__
    return natives, broken


def _message(entry: bytes) -> dict[str, Any]:
    native = json.loads(entry)
    if not isinstance(native, dict) or get_format(FORMAT).evidence(native) == NO:
        raise FormatError(f"no message of {FORMAT}: {entry[:40]!r}", where="entry")
    write_native(native, "entry")
    return native


def _tell(moved: Moved) -> None:
    count = len(moved.damaged)
    with telling("move", failing=bool(count)) as told:
        told.event = Event(
            operation="move",
            profile="",
            format=FORMAT,
            before=Size(moved.messages + count),
            after=Size(moved.messages),
            fired=("a list of agent-framework-redis was found",),
            messages_dropped=count,
            failure=f"{count} entries could not be read: {moved.kept} holds them" if count else "",
        )
