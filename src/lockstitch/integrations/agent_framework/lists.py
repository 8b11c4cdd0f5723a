"""The lists that agent-framework-redis keeps: their names, and the three keys of a move.

Knows: how that package, 1.0.0b261022, names the list of a session. `scoped` names hold tenant,
application, agent, source and session, each written so that no two are alike; `legacy` names are
the prefix and the session.

Must not know: what is in a list.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Final, NamedTuple

__all__ = ["Scope", "legacy_name", "scoped_name", "taken_names"]

_ABSENT: Final = "~none"
_PLAIN: Final = re.compile(r"[a-z0-9_-][a-z0-9._-]*(?<!\.)")
# Names that Windows gives to devices: that package shares the rule with one that writes files.
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?")
_LONGEST: Final = 180


class Scope(NamedTuple):
    """What the name of a list is made of, beside the session.

    Args:
        prefix: the first part of every name.
        tenant: whose it is; `None` for nobody's.
        application: which application's.
        agent: which agent's; `None` for any.
        source: the source id of the provider.
    """

    prefix: str
    tenant: str | None
    application: str
    agent: str | None
    source: str


def legacy_name(prefix: str, session: str | None) -> str:
    """Return the name of a list from before there were scopes.

    >>> legacy_name("chat_messages", "user-42"), legacy_name("chat_messages", None)
    ('chat_messages:user-42', 'chat_messages:default')
    """
    return f"{prefix}:{session or 'default'}"


def scoped_name(scope: Scope, session: str) -> str:
    """Return the name of a list with scopes.

    >>> scoped_name(Scope("chat_messages", None, "shop", None, "redis_memory"), "user-42")
    'chat_messages|v2|~none|shop|~none|redis_memory|user-42'
    """
    return "|".join(
        (
            _segment(scope.prefix, "key-prefix"),
            "v2",
            _ABSENT if scope.tenant is None else _segment(scope.tenant, "tenant"),
            _segment(scope.application, "application"),
            _ABSENT if scope.agent is None else _segment(scope.agent, "agent"),
            _segment(scope.source, "source"),
            _segment(session, "session"),
        )
    )


def _segment(value: str, kind: str) -> str:
    if _PLAIN.fullmatch(value) and not _DEVICES.fullmatch(value):
        return value
    data = value.encode("utf-8", "surrogatepass")
    code = base64.b32encode(data).decode().rstrip("=").lower()
    segment = f"~redis-{kind}-{code}"
    if len(segment) <= _LONGEST:
        return segment
    return f"~redis-{kind}-sha256-{hashlib.sha256(data).hexdigest()}"


def taken_names(name: str) -> tuple[str, str]:
    """Return where a list lies while it is moved, and where what nobody can read is kept.

    Both are in the slot of the list, so that a cluster lets one script have all three.

    >>> taken_names("chat_messages:user-42")[0]
    '{chat_messages:user-42}|lockstitch-moving'
    """
    tagged = "{" in name or "}" in name
    base = name if tagged else f"{{{name}}}"
    return f"{base}|lockstitch-moving", f"{base}|lockstitch-damaged"
