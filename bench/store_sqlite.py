"""The contenders whose store is an SQLite file."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from store_contenders import Awaited, Contender, Ours, with_metas
from store_data import Chat, from_items, to_items

SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (session INTEGER PRIMARY KEY, id TEXT UNIQUE, seq INTEGER);
CREATE TABLE IF NOT EXISTS rows (
    session INTEGER, seq INTEGER, mark TEXT, at REAL, meta BLOB, payload BLOB,
    PRIMARY KEY (session, seq)
);
"""


class Bare(Contender):
    """The standard library alone: one transaction that appends rows and counts them.

    The rows, the tables' shape and the pragmas are those of Lockstitch; the bytes are made outside
    the clock, and nothing is decided or cut.
    """

    key = "bare"
    label = "bare `sqlite3` transaction, NORMAL (yardstick)"
    synchronous: ClassVar[str] = "NORMAL"

    def open(self) -> None:
        self.connection = sqlite3.connect(self.place, timeout=30, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {self.synchronous}")
        self.connection.executescript(SCHEMA)
        self.connection.execute(
            "INSERT OR IGNORE INTO sessions (id, seq) VALUES (?, 0)", (self.session,)
        )

    def close(self) -> None:
        self.connection.close()

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return with_metas(messages)

    def append(self, prepared: Any) -> Any:
        execute = self.connection.execute
        execute("BEGIN IMMEDIATE")
        try:
            session, seq = execute(
                "SELECT session, seq FROM sessions WHERE id = ?", (self.session,)
            ).fetchone()
            mark, now = secrets.token_hex(9), time.time()
            rows = [
                (session, at, mark, now, meta, payload)
                for at, (meta, payload) in enumerate(prepared, seq + 1)
            ]
            self.connection.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", rows)
            execute("UPDATE sessions SET seq = ? WHERE session = ?", (seq + len(prepared), session))
            execute("COMMIT")
        except BaseException:
            execute("ROLLBACK")
            raise

    def read(self) -> Any:
        return self._newest(self.limit)

    def everything(self) -> list[Chat]:
        return self._newest(2**62)

    def _newest(self, number: int) -> list[Chat]:
        found = self.connection.execute(
            "SELECT payload FROM rows AS r JOIN sessions AS s USING (session) WHERE s.id = ? "
            "ORDER BY r.seq DESC LIMIT ?",
            (self.session, number),
        ).fetchall()
        return [json.loads(payload) for (payload,) in reversed(found)]


class BareFull(Bare):
    """The same, which waits for the disk."""

    key = "bare-full"
    label = "bare `sqlite3` transaction, FULL (yardstick)"
    synchronous = "FULL"


class Normal(Ours):
    """Lockstitch as it is by default."""

    label = "**lockstitch**, NORMAL"
    yardstick = "bare"
    synchronous: ClassVar[str] = "NORMAL"

    def store(self) -> Any:
        from lockstitch import open_store

        return open_store(f"sqlite:///{self.place}", synchronous=self.synchronous)


class Full(Normal):
    """Lockstitch, waiting for the disk."""

    key = "ours-full"
    label = "**lockstitch**, FULL"
    yardstick = "bare-full"
    synchronous = "FULL"


class OpenAIAgents(Awaited):
    """openai-agents; it never throws anything away, and reads the newest items."""

    key = "openai-agents"
    label = "openai-agents `SQLiteSession` (no cut)"
    package = "openai-agents"
    yardstick = "bare"

    def open(self) -> None:
        from agents import SQLiteSession

        self.kept = SQLiteSession(self.session, self.place)

    async def close_async(self) -> None:
        self.kept.close()

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return to_items(messages)

    async def append_async(self, prepared: Any) -> Any:
        await self.kept.add_items(prepared)

    async def read_async(self) -> Any:
        return await self.kept.get_items(limit=self.limit)

    def chat(self, messages: Any) -> list[Chat]:
        return from_items(messages)

    def everything(self) -> list[Chat]:
        return from_items(self.wait(self.kept.get_items()))


class BareEncoded(Bare):
    """The same, handed messages as everybody else is: `json.dumps` makes bytes of them."""

    key = "bare-json"
    label = "... that makes the bytes itself, by `json.dumps`"

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return messages

    def append(self, prepared: Any) -> Any:
        super().append([(b"", json.dumps(message).encode()) for message in prepared])


CONTENDERS: list[type[Contender]] = [Bare, BareEncoded, Normal, BareFull, Full, OpenAIAgents]
