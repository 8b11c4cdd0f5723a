"""Sealing: what a backend keeps, encrypted, around any backend.

Knows: AES-256-GCM with a key of its own for each session, drawn from one of the caller's keys; what
is sealed is bound to its session and to what it is, and a payload to its meta. The first key seals,
all of them open, so that keys can be rotated.

In the clear stay ids, batch marks, the caller's keys for batches, numbers, sizes and times.

Must not know: what the bytes mean, any backend.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import CorruptRow, MissingExtra
from lockstitch.stores.base import (
    Backend,
    Commit,
    Committed,
    Effect,
    Key,
    Listed,
    Migrating,
    Reading,
    Row,
    Stored,
    Version,
)
from lockstitch.stores.names import name_of
from lockstitch.stores.rows import SEALED, UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["SealedBackend", "Sealer", "new_key"]

_KEY: Final = 32
_NAME: Final = 8
_NONCE: Final = 12
_TAG: Final = 16
_WRONG: Final = "it cannot be decrypted: no key of ours fits, or it was altered"


def new_key() -> bytes:
    """Draw a key for a store: 32 bytes.

    >>> len(new_key())
    32
    """
    return os.urandom(_KEY)


class Sealer:
    """Seals and opens bytes of one session.

    Args:
        keys: one key of 32 bytes, or several: the first seals, all of them open.

    Raises:
        MissingExtra: `cryptography` is not installed.
        TypeError, ValueError: these are no keys.
    """

    def __init__(self, keys: bytes | Iterable[bytes]) -> None:
        held = [keys] if isinstance(keys, (bytes, bytearray)) else list(keys)
        if not held:
            raise ValueError("encryption takes at least one key")
        for key in held:
            if not isinstance(key, (bytes, bytearray)):
                raise TypeError(f"a key must be bytes, got {type(key).__name__}")
            if len(key) != _KEY:
                raise ValueError(f"a key must be {_KEY} bytes, got {len(key)}: see new_key()")
        try:
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        except ImportError:
            raise MissingExtra("crypto", package="cryptography") from None
        self._cipher = AESGCM
        self._keys = {_name(key): bytes(key) for key in held}
        self._newest = _name(held[0])
        self._drawn: dict[tuple[bytes, str], AESGCM] = {}

    def seal(self, data: bytes, session: str, what: bytes) -> bytes:
        """Seal bytes; nothing stays nothing."""
        if not data:
            return data
        nonce = os.urandom(_NONCE)
        sealed = self._of(self._newest, session).encrypt(nonce, data, _bound(session, what))
        return b"".join((SEALED, self._newest, nonce, sealed))

    def open(self, data: bytes, session: str, what: bytes) -> bytes:
        """Open what was sealed.

        Raises:
            CorruptRow: no key fits, or it was altered, or it is of another session.
        """
        from cryptography.exceptions import InvalidTag

        if not data:
            return data
        at = len(SEALED)
        name, nonce = data[at : at + _NAME], data[at + _NAME : at + _NAME + _NONCE]
        if data[:at] != SEALED or name not in self._keys:
            raise CorruptRow(_WRONG)
        try:
            body = data[at + _NAME + _NONCE :]
            return self._of(name, session).decrypt(nonce, body, _bound(session, what))
        except (InvalidTag, ValueError):
            raise CorruptRow(_WRONG) from None

    def _of(self, name: bytes, session: str) -> AESGCM:
        """Return the cipher of a session: its key is drawn from the caller's and its name."""
        cipher = self._drawn.get((name, session))
        if cipher is None:
            from cryptography.hazmat.primitives.hashes import SHA256
            from cryptography.hazmat.primitives.kdf.hkdf import HKDF

            drawn = HKDF(SHA256(), _KEY, salt=None, info=b"lockstitch " + session.encode())
            if len(self._drawn) >= _MOST:
                self._drawn.clear()
            cipher = self._drawn[name, session] = self._cipher(drawn.derive(self._keys[name]))
        return cipher


# How many sessions' ciphers are held; drawing one anew takes some ten microseconds.
_MOST: Final = 1_000


def _name(key: bytes) -> bytes:
    """Name a key without telling anything of it."""
    return hashlib.sha256(b"lockstitch key" + key).digest()[:_NAME]


def _bound(session: str, what: bytes) -> bytes:
    return what + b"\x00" + session.encode()


class SealedBackend:
    """A backend whose bytes are sealed before they are handed on, and opened when they come back.

    Args:
        backend: where they are kept.
        keys: as for `Sealer`.
    """

    def __init__(self, backend: Backend, keys: bytes | Iterable[bytes]) -> None:
        self.inner = backend
        self._sealer = Sealer(keys)

    def commit(self, change: Commit) -> Effect[Committed]:
        """Carry a commit out."""
        name = name_of(change.key)
        seal = self._sealer.seal
        head = change.change
        if head is not None:
            head = msgspec.structs.replace(
                head, head=seal(head.head, name, b"head"), event=seal(head.event, name, b"event")
            )
        settings = change.settings
        sealed = msgspec.structs.replace(
            change,
            rows=tuple([self._sealed(row, name) for row in change.rows]),
            change=head,
            note=seal(change.note, name, b"event"),
            settings=None if settings is None else seal(settings, name, b"settings"),
            initial=seal(change.initial, name, b"settings"),
        )
        done = yield from self.inner.commit(sealed)
        return msgspec.structs.replace(done, now=self._read(done.now, name))

    def view(
        self, key: Key, known: Version | None = None, *, payloads: bool = True
    ) -> Effect[Reading]:
        """Read the view."""
        reading = yield from self.inner.view(key, known, payloads=payloads)
        return self._read(reading, name_of(key))

    def rows(
        self, key: Key, first: int, last: int, *, payloads: bool = True
    ) -> Effect[tuple[Stored, ...]]:
        """Read rows of the record."""
        name = name_of(key)
        found = yield from self.inner.rows(key, first, last, payloads=payloads)
        return tuple([self._opened(row, name) for row in found])

    def events(self, key: Key, after: int = 0, limit: int = 1_000) -> Effect[tuple[bytes, ...]]:
        """Read events."""
        name = name_of(key)
        found = yield from self.inner.events(key, after, limit)
        return tuple([self._sealer.open(one, name, b"event") for one in found])

    def sessions(
        self, tenant: str | None, prefix: str = "", after: str | None = None, limit: int = 100
    ) -> Effect[tuple[Listed, ...]]:
        """List sessions."""
        return self.inner.sessions(tenant, prefix, after, limit)

    def delete(self, key: Key) -> Effect[bool]:
        """Remove a session."""
        return self.inner.delete(key)

    def touch(self, key: Key, ttl: float | None = None) -> Effect[bool]:
        """Let a session's time begin anew."""
        return self.inner.touch(key, ttl)

    def sweep(self) -> Effect[int]:
        """Remove what has expired."""
        return self.inner.sweep()

    def migrate(self) -> Effect[tuple[int, int]]:
        """Bring the schema of the backend inside forward."""
        if not isinstance(self.inner, Migrating):
            return 0, 0
        return (yield from self.inner.migrate())

    # --- rows ------------------------------------------------------------------------------------

    def _sealed(self, row: Row, name: str) -> Row:
        meta = self._sealer.seal(row.meta, name, b"meta")
        payload = self._sealer.seal(row.payload, name, b"payload" + meta[-_TAG:])
        return Row(meta, payload)

    def _opened(self, row: Stored, name: str) -> Stored:
        """Open a row; one that cannot be opened says so where it is read."""
        try:
            meta = self._sealer.open(row.meta, name, b"meta")
        except CorruptRow as error:
            meta = UNREADABLE + error.why.encode()
        payload = row.payload
        if payload is not None:
            try:
                payload = self._sealer.open(payload, name, b"payload" + row.meta[-_TAG:])
            except CorruptRow as error:
                payload = UNREADABLE + error.why.encode()
        return Stored(row.seq, meta, payload, row.mark, row.at)

    def _read(self, reading: Reading, name: str) -> Reading:
        opened: dict[str, Any] = {
            "settings": self._sealer.open(reading.settings, name, b"settings"),
            "rows": tuple([self._opened(row, name) for row in reading.rows]),
        }
        if reading.head is not None:
            opened["head"] = self._sealer.open(reading.head, name, b"head")
        return msgspec.structs.replace(reading, **opened)
