"""Names: ids of tenants and sessions as servers can hold them, so that no two are ever one.

Knows: a way to write any text in the letters that every key and column takes. What is written
character by character keeps its beginning, so that ids can be listed by a prefix; nothing but the
tenant's own end ends a tenant.

Must not know: any server.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.stores.base import Key

__all__ = ["LONGEST", "escaped", "name_of", "tenant_name", "unescaped"]

LONGEST: Final = 400
"""A name longer than this, in characters, is put down as its hash; its id is kept beside it."""

_ODD: Final = re.compile(r"[^A-Za-z0-9_.@/+=,-]")
_CODE: Final = re.compile(r"((?:%[0-9A-F]{2})+)")
# What no escaped text can hold: it marks what is no text of anybody's.
_NO_TENANT: Final = "~"
_HASHED: Final = "~"
_SEPARATOR: Final = ":"


def escaped(text: str) -> str:
    """Write any text in letters, digits and `_.@/+=,-%`; two texts never come out alike.

    >>> escaped("user-42"), escaped("a:b}"), escaped("")
    ('user-42', 'a%3Ab%7D', '')
    """
    return _ODD.sub(_code, text)


def _code(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def unescaped(text: str) -> str:
    """Read what `escaped` wrote.

    >>> unescaped("a%3Ab%7D")
    'a:b}'
    """
    return _CODE.sub(
        lambda found: bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass"),
        text,
    )


def tenant_name(tenant: str | None) -> str:
    """Name a tenant; none is none, and not the one whose name is empty.

    >>> tenant_name(None), tenant_name(""), tenant_name("~")
    ('~', '', '%7E')
    """
    return _NO_TENANT if tenant is None else _short(escaped(tenant))


def name_of(key: Key) -> str:
    """Name a session in one piece, with its tenant.

    >>> from lockstitch.stores.base import Key
    >>> name_of(Key("acme", "user-42")), name_of(Key(None, "a:b"))
    ('acme:user-42', '~:a%3Ab')
    """
    return f"{tenant_name(key.tenant)}{_SEPARATOR}{_short(escaped(key.id))}"


def _short(name: str) -> str:
    if len(name) <= LONGEST:
        return name
    return _HASHED + hashlib.sha256(name.encode()).hexdigest()
