"""Blobs: payloads that were taken out of a history, kept in memory or in a directory.

Knows: where a payload goes by its handle, and how it is written so that it is there when the stub
that names it is.

Must not know: histories, plans. What wants to be kept says so through `lockstitch.blobs`.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["DirectoryBlobs", "MemoryBlobs"]

_HANDLE: Final = re.compile(r"[0-9a-f]{16}")


class MemoryBlobs:
    """Keeps payloads as long as the object lives.

    >>> blobs = MemoryBlobs()
    >>> blobs.put("00112233445566ff", b"12 of 12 pass")
    >>> blobs.get("00112233445566ff")
    b'12 of 12 pass'
    """

    def __init__(self) -> None:
        self._payloads: dict[str, bytes] = {}

    def put(self, handle: str, payload: bytes) -> None:
        """Keep a payload.

        Raises:
            ValueError: the handle is not 16 hex digits.

        >>> MemoryBlobs().put("a/b", b"")
        Traceback (most recent call last):
        ValueError: a handle is 16 hex digits in lower case, got 'a/b'
        """
        self._payloads[_checked(handle)] = bytes(payload)

    def get(self, handle: str) -> bytes:
        """Return a payload.

        Raises:
            KeyError: nothing is kept under this handle.
            ValueError: the handle is not 16 hex digits.

        >>> MemoryBlobs().get("00112233445566ff")
        Traceback (most recent call last):
        KeyError: '00112233445566ff'
        """
        return self._payloads[_checked(handle)]


class DirectoryBlobs:
    """Keeps payloads as files, each scope in a folder of its own.

    Args:
        path: the directory; it is made with the first payload.
        scope: whose payloads these are: any text, such as a tenant and a session. Another scope
            reads none of them, whatever the two look like.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as path:
    ...     DirectoryBlobs(path, scope="tenant 1").put("00112233445566ff", b"12 of 12 pass")
    ...     DirectoryBlobs(path, scope="tenant 1").get("00112233445566ff")
    b'12 of 12 pass'
    """

    def __init__(self, path: str | os.PathLike[str], *, scope: str = "") -> None:
        # Hashed, so that a scope may hold what a file system does not tell apart, or understands.
        name = hashlib.sha256(scope.encode("utf-8", "surrogatepass")).hexdigest()
        self._folder = Path(path) / name

    def put(self, handle: str, payload: bytes) -> None:
        """Keep a payload; when this returns it is whole on the disk, and never there in part.

        Raises:
            ValueError: the handle is not 16 hex digits.
            OSError: it could not be written; what was there before still is.

        >>> DirectoryBlobs(".").put("../../etc/passwd", b"")
        Traceback (most recent call last):
        ValueError: a handle is 16 hex digits in lower case, got '../../etc/passwd'
        """
        target = self._folder / _checked(handle)
        if not self._folder.is_dir():
            _make(self._folder)
        # In the same folder: a file can be moved in one step only inside a file system.
        descriptor, made = tempfile.mkstemp(prefix=".", dir=self._folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(payload)
                file.flush()
                os.fsync(file.fileno())
            Path(made).replace(target)
        except BaseException:
            Path(made).unlink(missing_ok=True)
            raise
        _settle(self._folder)

    def get(self, handle: str) -> bytes:
        """Return a payload.

        Raises:
            KeyError: nothing is kept under this handle in this scope.
            ValueError: the handle is not 16 hex digits.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as path:
        ...     DirectoryBlobs(path).get("00112233445566ff")
        Traceback (most recent call last):
        KeyError: '00112233445566ff'
        """
        try:
            return (self._folder / _checked(handle)).read_bytes()
        except FileNotFoundError:
            raise KeyError(handle) from None


def _checked(handle: str) -> str:
    if not isinstance(handle, str) or not _HANDLE.fullmatch(handle):
        raise ValueError(f"a handle is 16 hex digits in lower case, got {handle!r:.60}")
    return handle


def _make(folder: Path) -> None:
    """Make a folder with those above it, each written down in the one it stands in."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        _settle(one.parent)


def _settle(folder: Path) -> None:
    """Write down what a folder holds: without it a new file may be gone after a power cut."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # Windows opens no folders
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
