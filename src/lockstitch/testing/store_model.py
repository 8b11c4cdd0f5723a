"""A backend beside the model: the same commits to both, the same replies from both.

Knows: how to draw commits that are worth drawing (stale versions, repeated marks and keys, heads
that hold and heads that do not), and what of a reply may differ (times).

Must not know: any backend. Needs Hypothesis: `pip install 'lockstitch[testing]'`.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.stores.base import (
    Change,
    Commit,
    Committed,
    Key,
    Listed,
    Reading,
    Row,
    Stored,
    Version,
)
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.running import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from lockstitch.stores.base import Effect

__all__ = ["Twins", "timeless"]


def timeless(reply: Any) -> Any:
    """Return a reply without the times in it, which are the business of each server's own clock."""
    if isinstance(reply, tuple):
        return tuple(map(timeless, reply))
    if isinstance(reply, Stored):
        return msgspec.structs.replace(reply, at=0.0)
    if isinstance(reply, Reading):
        return msgspec.structs.replace(
            reply, rows=timeless(reply.rows), expires=None if reply.expires is None else 0.0
        )
    if isinstance(reply, Committed):
        return msgspec.structs.replace(reply, now=timeless(reply.now))
    if isinstance(reply, Listed):
        return msgspec.structs.replace(
            reply, created=0.0, updated=0.0, expires=None if reply.expires is None else 0.0
        )
    return reply


def _sizeless(reply: Any) -> Any:
    if isinstance(reply, tuple):
        return tuple(map(_sizeless, reply))
    return msgspec.structs.replace(reply, bytes=0) if isinstance(reply, Listed) else reply


class Twins:
    """A backend and the model, driven alike.

    Args:
        run_theirs: runs an effect of the backend's, for instance
            `lambda effect: run(effect, driver)`.
        backend: the backend.
        seed: what the draws follow from.
        tenant: sessions are made under this tenant; give each run its own.
        sizes: whether the backend keeps the bytes that it is given, and no others.

    Every method raises `AssertionError` where the replies differ.
    """

    def __init__(
        self,
        run_theirs: Callable[[Effect[Any]], Any],
        backend: Any,
        *,
        seed: int,
        tenant: str,
        sizes: bool = True,
    ) -> None:
        self._theirs = run_theirs
        self._backend = backend
        self._model = MemoryBackend()
        self._driver = MemoryDriver(self._model)
        self._draw = random.Random(seed)  # noqa: S311 - a seeded draw, nothing secret
        self._tenant = tenant
        self._sizes = sizes
        self._ids = ["a", "b:}{*", "c" * 700, "é\x00\ud83d", ""]
        self._seen: dict[str, list[Version]] = {}
        self._sent: list[Commit] = []
        self._marks = 0

    def step(self) -> None:
        """Do one thing that was drawn to both."""
        kind = self._draw.choices(
            ("commit", "again", "view", "rows", "events", "list", "delete", "touch"),
            (60, 8, 10, 6, 4, 4, 2, 3),
        )[0]
        getattr(self, f"_do_{kind}")()

    def _both(self, call: Callable[[Any], Effect[Any]]) -> Any:
        theirs = self._theirs(call(self._backend))
        ours = run(call(self._model), self._driver)
        found, wanted = timeless(theirs), timeless(ours)
        if not self._sizes:
            found, wanted = _sizeless(found), _sizeless(wanted)
        assert found == wanted, f"the backend replied\n{found}\nand the model\n{wanted}"
        return ours

    def _key(self) -> Key:
        return Key(self._tenant, self._draw.choice(self._ids))

    def _version(self, key: Key) -> Version | None:
        known = self._seen.get(key.id)
        if not known or self._draw.random() < 0.1:  # noqa: PLR2004 - how often nothing is known
            return None
        stale = self._draw.random() < 0.25  # noqa: PLR2004 - how often something old is
        return self._draw.choice(known) if stale else known[-1]

    def _remember(self, key: Key, version: Version | None) -> None:
        if version is not None:
            self._seen.setdefault(key.id, []).append(version)

    def _do_commit(self) -> None:
        draw = self._draw
        key = self._key()
        expected = self._version(key)
        self._marks += 1
        rows = tuple(
            Row(f"meta{self._marks}.{at}".encode(), draw.choice((b"{}", b"\x00\xff", b"x" * 3_000)))
            for at in range(draw.choice((0, 1, 1, 2, 3, 7)))
        )
        change = self._head(expected, len(rows)) if draw.random() < 0.4 else None  # noqa: PLR2004
        sent = Commit(
            key=key,
            mark=f"mark{self._marks:08}",
            expected=expected,
            rows=rows,
            idempotency=draw.choice((None, None, None, "turn", "turn-ü", f"t{self._marks}")),
            exclusive=draw.random() < 0.2,  # noqa: PLR2004
            change=change,
            note=draw.choice((b"", b"", b"a note")),
            settings=draw.choice((None, None, None, b"other settings")),
            initial=b"settings",
            ttl=draw.choice((None, None, None, 0, 5_000)),
            epoch=f"epoch{self._marks}",
            after=draw.choice((0, 0, 0, 40)),
            look=draw.random() < 0.8,  # noqa: PLR2004
        )
        self._sent.append(sent)
        self._commit(sent)

    def _head(self, expected: Version | None, new: int) -> Change:
        draw = self._draw
        seq = expected.seq if expected else 0
        strict = draw.random() < 0.5  # noqa: PLR2004
        through = seq + new if strict else seq
        picked = sorted(draw.sample(range(1, seq + 1), min(seq, draw.choice((0, 1, 3)))))
        ranges = tuple(at for one in picked for at in (one, one))
        if draw.random() < 0.3 and len(picked) > 1:  # noqa: PLR2004 - an edit: out of order
            ranges = ranges[2:] + ranges[:2]
        spared = set(picked)
        gone = [at for at in range(1, seq + 1) if at not in spared][: draw.choice((0, 0, 2))]
        return Change(
            head=draw.choice((b"head", b"", b"\x00head")) + str(self._marks).encode(),
            ranges=ranges,
            through=through,
            strict=strict,
            event=draw.choice((b"", b"a cut")),
            purge=tuple(at for one in gone for at in (one, one)),
        )

    def _commit(self, sent: Commit) -> None:
        done = self._both(lambda backend: backend.commit(sent))
        self._remember(sent.key, done.now.version)

    def _do_again(self) -> None:
        if self._sent:
            self._commit(self._draw.choice(self._sent[-3:]))

    def _do_view(self) -> None:
        key, payloads = self._key(), self._draw.random() < 0.5  # noqa: PLR2004
        known = self._version(key)
        reading = self._both(lambda backend: backend.view(key, known, payloads=payloads))
        self._remember(key, reading.version)

    def _do_rows(self) -> None:
        key, first = self._key(), self._draw.randrange(1, 60)
        last, payloads = first + self._draw.randrange(0, 90), self._draw.random() < 0.5  # noqa: PLR2004
        self._both(lambda backend: backend.rows(key, first, last, payloads=payloads))

    def _do_events(self) -> None:
        key, after, limit = self._key(), self._draw.randrange(0, 4), self._draw.choice((2, 1_000))
        self._both(lambda backend: backend.events(key, after, limit))

    def _do_list(self) -> None:
        prefix = self._draw.choice(("", "a", "b:", "c" * 600, "é"))
        after = self._draw.choice((None, None, *self._ids))
        limit = self._draw.choice((1, 100))
        self._both(lambda backend: backend.sessions(self._tenant, prefix, after, limit))

    def _do_delete(self) -> None:
        key = self._key()
        self._both(lambda backend: backend.delete(key))

    def _do_touch(self) -> None:
        key, ttl = self._key(), self._draw.choice((None, 0, 7_000))
        self._both(lambda backend: backend.touch(key, ttl))
