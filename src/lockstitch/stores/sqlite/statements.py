"""The SQL: read from the files beside this module, with a prefix before every table.

Knows: where the statements and the migrations are, and which prefixes are safe to write into them.

Must not know: what the statements are run for.
"""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

__all__ = ["Statements", "checked", "migrations", "statements"]

_HERE: Final = "lockstitch.stores.sqlite"
_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_NAME: Final = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"\s*--.*")


class Statements(msgspec.Struct, frozen=True):
    """The statements of `queries.sql`, by their names."""

    advance: str
    append: str
    bare_rows: str
    delete_events: str
    delete_head: str
    delete_keys: str
    delete_rows: str
    delete_session: str
    event: str
    events: str
    expired: str
    find: str
    has_schema: str
    head: str
    key: str
    make: str
    make_head: str
    make_schema: str
    marked: str
    purge: str
    renew: str
    rows: str
    schema: str
    sessions: str
    set_head: str
    set_key: str
    set_schema: str
    touch: str
    weigh: str


def checked(prefix: str) -> str:
    """Return a table prefix that can be written into a statement.

    Raises:
        ValueError: it is none.

    >>> checked("chat_")
    'chat_'
    >>> checked("chat; DROP TABLE users")
    Traceback (most recent call last):
    ValueError: a table prefix is up to 63 letters, digits and _ that begin with no digit and not \
with sqlite_, got 'chat; DROP TABLE users'
    """
    # SQLite keeps names that begin with sqlite_ for itself.
    if not _PREFIX.fullmatch(prefix) or prefix.lower().startswith("sqlite_"):
        raise ValueError(
            "a table prefix is up to 63 letters, digits and _ that begin with no digit and not "
            f"with sqlite_, got {prefix!r:.80}"
        )
    return prefix


@cache
def statements(prefix: str) -> Statements:
    """Return the statements for tables with a prefix."""
    _, *parts = _NAME.split(_text("queries.sql"))
    return msgspec.convert(
        {
            name: _COMMENT.sub("", text).strip().replace("{prefix}", prefix)
            for name, text in zip(parts[::2], parts[1::2], strict=True)
        },
        Statements,
    )


@cache
def migrations(prefix: str) -> tuple[tuple[str, ...], ...]:
    """Return the statements of each migration, the first migration first."""
    found = sorted(
        one.name for one in (files(_HERE) / "migrations").iterdir() if one.name[-4:] == ".sql"
    )
    return tuple(_single(_text("migrations", name).replace("{prefix}", prefix)) for name in found)


def _text(*path: str) -> str:
    return files(_HERE).joinpath(*path).read_text(encoding="utf-8")


def _single(script: str) -> tuple[str, ...]:
    """Take a script apart: `executescript` would end the transaction that it is run in."""
    found, text = [], ""
    for line in _COMMENT.sub("", script).splitlines():
        text += f"{line}\n"
        if sqlite3.complete_statement(text):
            found.append(text.strip())
            text = ""
    return tuple(found)
