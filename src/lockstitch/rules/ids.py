"""Ids: what a target takes as the id of a call, and how another id is made to fit.

A new id follows from the old one alone, and from the ids that are taken: the same history is given
the same ids every time, so that prompt caches hold.

Must not know: where ids stand in a message.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["FREE", "IdShape", "fitting"]

_ALPHABET: Final = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class IdShape(msgspec.Struct, frozen=True):
    """What an id may be: a class of characters as in a pattern, and how many, `least` to `most`."""

    characters: str = ""
    least: int = 1
    most: int = 0

    def takes(self, id: str) -> bool:
        """Whether an id has this shape.

        >>> IdShape("a-zA-Z0-9", 9, 9).takes("call_1")
        False
        """
        if self.characters and not re.fullmatch(f"[{self.characters}]*", id):
            return False
        return len(id) >= self.least and (not self.most or len(id) <= self.most)


FREE: Final = IdShape()
"""Any id at all."""
_MARK: Final = IdShape("a-zA-Z0-9", 8, 8)


def fitting(id: str, shape: IdShape, taken: Container[str] = (), *, number: int = 1) -> str:
    """Make an id that fits a shape and is not taken, from another one.

    Args:
        id: the id it stands for.
        shape: what the target takes.
        taken: ids that must not come out.
        number: 1 for the first use of the id; later uses of the same id get names of their own.

    A new id carries a mark made of the old one, so that it does not hang on what else is in the
    history, and a history that grows keeps the ids it was given.

    >>> fitting("call_1", IdShape("a-zA-Z0-9_-", 1, 64))
    'call_1'
    >>> fitting("call:1", IdShape("a-zA-Z0-9_-", 1, 64))
    'call_1_SgIrcceu'
    >>> fitting("call_1", FREE, {"call_1"}, number=2)
    'call_1_2_ukgDCLZD'
    """
    if number == 1 and shape.takes(id) and id not in taken:
        return id
    wanted = id if number == 1 else f"{id}_{number}"
    attempt = 0
    while True:
        made = _marked(wanted, f"{wanted}\n{attempt}", shape)
        if made not in taken:
            return made
        attempt += 1


def _marked(wanted: str, text: str, shape: IdShape) -> str:
    """Make an id that still shows the old one where there is room for it, else a mark alone."""
    mark = "_" + _hashed(text, _MARK)
    clean = re.sub(f"[^{shape.characters}]", "_", wanted) if shape.characters else wanted
    made = (clean[: shape.most - len(mark)] if shape.most > len(mark) else clean) + mark
    return made if shape.takes(made) else _hashed(text, shape)


def _hashed(text: str, shape: IdShape) -> str:
    length = min(max(shape.least, 24), shape.most or 24)
    value = int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest())
    letters: list[str] = []
    for _ in range(length):
        value, digit = divmod(value, len(_ALPHABET))
        letters.append(_ALPHABET[digit])
    return "".join(letters)
