"""Statements: what is sent to PostgreSQL, by name, with the schema and the prefix in place.

Knows: the files beside it, and how names of tables are written so that no name can be anything else
than a name.

Must not know: what a statement is for, and how it is sent.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ByteaArray", "Names", "Statement", "bigint_array", "bytea_array", "queries"]

_PACKAGE: Final = __name__.rpartition(".")[0]
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_BRACED: Final = re.compile(r"\{([a-z_]+)\}")
_HEADER: Final = re.compile(r"^-- name: ([a-z_]+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *--.*\n", re.MULTILINE)
# PostgreSQL cuts names off at 63 bytes; the longest of ours has to fit behind the prefix.
_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 40
_BYTEA: Final = 17


class Statement(msgspec.Struct, frozen=True):
    """One statement, which is one round trip.

    Args:
        name: what it is called in `queries.sql`.
        sql: its text, with places such as `%(seq)s`.
        values: what goes there. Whatever is no bytes or truth value is text: the server knows the
            types, and a statement whose types never differ is prepared once.
        early: it may be sent before anybody has looked at the schema.
    """

    name: str
    sql: str
    values: Mapping[str, Any] | None = None
    early: bool = False


class ByteaArray(msgspec.Struct, frozen=True):
    """A `bytea[]` in the form in which PostgreSQL sends and takes it."""

    data: bytes


def bytea_array(items: Iterable[bytes]) -> ByteaArray:
    r"""Write an array of bytes, which is half as long as the text of one, and copied once.

    >>> bytea_array([b"a", b""]).data[-9:]
    b'\x00\x00\x00\x01a\x00\x00\x00\x00'
    """
    parts = [b""]
    for item in items:
        parts += (len(item).to_bytes(4, "big"), item)
    count = len(parts) // 2
    if count:
        parts[0] = struct.pack(">iiIii", 1, 0, _BYTEA, count, 1)
    else:
        parts[0] = struct.pack(">iiI", 0, 0, _BYTEA)
    return ByteaArray(b"".join(parts))


def bigint_array(numbers: Iterable[int]) -> str:
    """Write an array of numbers.

    >>> bigint_array([1, 20])
    '{1,20}'
    """
    return "{" + ",".join(map(str, numbers)) + "}"


class Names(msgspec.Struct, frozen=True):
    """What the tables and functions are called: a prefix in a schema.

    Args:
        schema: the schema; it is made when it is not there.
        prefix: what every name begins with.

    Raises:
        ValueError: one of them is no name, or is too long.

    >>> Names().qualified("rows")
    '"public"."lockstitch_rows"'
    >>> Names(schema='a"; drop table users; --')
    Traceback (most recent call last):
    ValueError: 'a"; drop table users; --' is no schema: use letters, digits, _ and -, up to 63
    """

    schema: str = "public"
    prefix: str = "lockstitch_"

    def __post_init__(self) -> None:
        for text, what, longest in (
            (self.schema, "schema", _LONGEST_NAME),
            (self.prefix, "prefix", _LONGEST_PREFIX),
        ):
            if not _NAME.fullmatch(text) or len(text) > longest:
                raise ValueError(
                    f"{text!r:.80} is no {what}: use letters, digits, _ and -, up to {longest}"
                )

    def qualified(self, name: str) -> str:
        """Return one of our names with its schema, in quotes, so that case and words are kept."""
        return f'"{self.schema}"."{self.prefix}{name}"'

    def put_in(self, sql: str) -> str:
        """Return SQL with the names that stand in braces.

        >>> Names(prefix="ls_").put_in("SELECT seq FROM {rows}")
        'SELECT seq FROM "public"."ls_rows"'
        """
        return _BRACED.sub(lambda found: self.qualified(found[1]), sql)


@lru_cache(maxsize=32)
def queries(names: Names) -> Mapping[str, str]:
    """Return the statements of `queries.sql` by their names.

    >>> queries(Names())["delete"]
    'SELECT "public"."lockstitch_delete"(%(name)s)'
    """
    text = files(_PACKAGE).joinpath("queries.sql").read_text(encoding="utf-8")
    _, *parts = _HEADER.split(text)
    return {
        name: names.put_in(_COMMENT.sub("", sql)).strip()
        for name, sql in zip(parts[::2], parts[1::2], strict=True)
    }
