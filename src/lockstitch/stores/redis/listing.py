"""A list of sessions: which keys are theirs, what their heads say, in what order.

Knows: a name that was too long for a key is there as its hash, so that only its head says whose it
is.

Must not know: clients.
"""

from __future__ import annotations

import re
from struct import Struct, error
from typing import TYPE_CHECKING, Any, Final

from lockstitch.errors import CorruptRow, SchemaTooNew
from lockstitch.stores.base import Key, Listed, Version
from lockstitch.stores.names import LONGEST, escaped, tenant_name, unescaped
from lockstitch.stores.redis.replies import expiry, text
from lockstitch.stores.redis.sources import SCHEMA
from lockstitch.stores.redis.steps import Fields, Scan

if TYPE_CHECKING:
    from collections.abc import Generator

    from lockstitch.stores.base import Effect

__all__ = ["listed"]

_HASHED: Final = "~"
_ENDING: Final = "}:h"
_GLOB: Final = re.compile(r"[*?\[\]\\]")
_AT_ONCE: Final = 1_000
_STATE: Final = Struct("<B8d")  # as session.lua packs it, before the epoch
_FIELDS: Final = ("state", "name", "created")


def listed(
    prefix: str, tenant: str | None, ids: str, after: str | None, limit: int
) -> Effect[tuple[Listed, ...]]:
    """List the sessions of a tenant.

    Args:
        prefix: what all keys begin with.
        tenant: whose sessions.
        ids: what their ids begin with.
        after: the id behind which the list begins.
        limit: how many there are at most.
    """
    lead = f"{prefix}{{{tenant_name(tenant)}:"
    begins, behind = escaped(ids), None if after is None else escaped(after)

    def wanted(name: str) -> bool:
        return name.startswith(begins) and (behind is None or name > behind)

    beginnings = [begins] if len(begins) <= LONGEST else []
    if begins:
        beginnings.append(_HASHED)  # without a beginning they are among the others
    plain: dict[str, bytes] = {}
    hashed: set[bytes] = set()
    for beginning in beginnings:
        for key in (yield from _keys(lead, beginning)):
            name = key[len(lead) : -len(_ENDING)].decode()
            if name.startswith(_HASHED):
                hashed.add(key)
            elif wanted(name):
                plain[name] = key
    heads = yield from _heads(tenant, sorted(hashed))
    heads = {name: head for name, head in heads.items() if wanted(name)}
    names = sorted({*plain, *heads})
    found: list[Listed] = []
    while names and len(found) < limit:
        # Some may have gone since they were seen; then those behind them move up.
        missing = limit - len(found)
        some, names = names[:missing], names[missing:]
        heads |= yield from _heads(tenant, [plain[name] for name in some if name in plain])
        found += [heads[name] for name in some if name in heads]
    return tuple(found)


def _keys(lead: str, beginning: str) -> Generator[Any, Any, list[bytes]]:
    """Return the heads of all sessions whose names begin like this."""
    pattern = f"{_GLOB.sub(_plain, lead + beginning)}*{_ENDING}".encode()
    found: list[bytes] = []
    place = None
    while True:
        place, keys = yield Scan(pattern, place)
        found += keys
        if place is None:
            return found


def _plain(special: re.Match[str]) -> str:
    return f"\\{special[0]}"


def _heads(tenant: str | None, keys: list[bytes]) -> Generator[Any, Any, dict[str, Listed]]:
    """Read what the heads of sessions say, by their escaped ids; of those that are still there."""
    found: dict[str, Listed] = {}
    for at in range(0, len(keys), _AT_ONCE):
        some = tuple(keys[at : at + _AT_ONCE])
        answers = yield Fields(some, _FIELDS)
        for key, values in zip(some, answers, strict=True):
            if any(value is not None for value in values):
                name, head = _head(tenant, key, values)
                found[name] = head
    return found


def _head(tenant: str | None, key: bytes, values: list[Any]) -> tuple[str, Listed]:
    where = key[: -len(":h")].decode()
    state, whose, created = [value or b"" for value in values]
    if state and state[0] > SCHEMA:
        raise SchemaTooNew(found=state[0], known=SCHEMA, where=where)
    if not state or state[0] != SCHEMA:
        raise CorruptRow(f"{where} is damaged: its head is not whole")
    try:
        _, revision, seq, _, _, ttl, updated, size, _ = _STATE.unpack_from(state)
        name = whose.decode().partition(":")[2]
        return name, Listed(
            key=Key(tenant, unescaped(name)),
            version=Version(text(state[_STATE.size :]), int(revision), int(seq)),
            created=int(created) / 1_000_000,
            updated=updated / 1_000_000,
            expires=expiry(int(updated), int(ttl)),
            bytes=int(size),
        )
    except (ValueError, error):
        raise CorruptRow(f"{where} is damaged: its head is not whole") from None
