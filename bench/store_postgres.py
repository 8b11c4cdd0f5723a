"""The contenders whose store is PostgreSQL."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import Any

from store_contenders import Contender, Ours, with_metas
from store_data import Chat

SCHEMA = """
CREATE TABLE IF NOT EXISTS bench_sessions (
    session bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text UNIQUE, seq bigint NOT NULL
) WITH (fillfactor = 70);
CREATE TABLE IF NOT EXISTS bench_rows (
    session bigint, seq bigint, at timestamptz, mark text, meta bytea, payload bytea,
    PRIMARY KEY (session, seq)
);
CREATE OR REPLACE FUNCTION bench_append(
    p_id text, p_mark text, p_metas bytea[], p_payloads bytea[]
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_session bigint;
    v_seq bigint;
    v_count integer := cardinality(p_metas);
BEGIN
    UPDATE bench_sessions SET seq = seq + v_count WHERE id = p_id
    RETURNING session, seq INTO v_session, v_seq;
    INSERT INTO bench_rows
    SELECT v_session, v_seq - v_count + u.place, clock_timestamp(), p_mark, u.meta, u.payload
    FROM unnest(p_metas, p_payloads) WITH ORDINALITY AS u (meta, payload, place);
    RETURN v_seq;
END
$$;
"""


class Statement(Contender):
    """One statement: a function on the server that locks the session and appends the rows.

    The rows and the tables' shape are those of Lockstitch; the bytes are made outside the clock,
    and nothing is decided or cut.
    """

    key = "bare"
    label = "one bare statement, from a pool (yardstick)"

    def open(self) -> None:
        import psycopg
        import psycopg_pool

        with psycopg.connect(self.place, autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(1)")  # many writers open at once
            connection.execute(SCHEMA)
            connection.execute(
                "INSERT INTO bench_sessions (id, seq) VALUES (%s, 0) ON CONFLICT DO NOTHING",
                (self.session,),
            )
        self.pool: Any = psycopg_pool.ConnectionPool(
            self.place, kwargs={"autocommit": True}, min_size=1, max_size=10, open=True
        )
        self.pool.wait()

    def close(self) -> None:
        self.pool.close()

    def prepare(self, messages: Sequence[Chat]) -> Any:
        return with_metas(messages)

    def append(self, prepared: Any) -> Any:
        metas, payloads = [meta for meta, _ in prepared], [payload for _, payload in prepared]
        values = (self.session, secrets.token_hex(9), metas, payloads)
        with self.pool.connection() as connection:
            return connection.execute(
                "SELECT bench_append(%s, %s, %b, %b)", values, prepare=True
            ).fetchone()

    def read(self) -> Any:
        return self._newest(self.limit)

    def everything(self) -> list[Chat]:
        return self._newest(2**62)

    def _newest(self, number: int) -> list[Chat]:
        with self.pool.connection() as connection:
            found = connection.execute(
                "SELECT payload FROM bench_rows WHERE session = "
                "(SELECT session FROM bench_sessions WHERE id = %s) ORDER BY seq DESC LIMIT %s",
                (self.session, number),
                prepare=True,
            ).fetchall()
        return [json.loads(payload) for (payload,) in reversed(found)]


class StatementSingle(Statement):
    """The same on one connection, without a pool: what cannot be had for less."""

    key = "bare-single"
    label = "... on one connection, without a pool"
    yardstick = "bare"

    def open(self) -> None:
        import psycopg

        super().open()
        self.connection = psycopg.connect(self.place, autocommit=True)

    def close(self) -> None:
        self.connection.close()
        super().close()

    def append(self, prepared: Any) -> Any:
        metas, payloads = [meta for meta, _ in prepared], [payload for _, payload in prepared]
        values = (self.session, secrets.token_hex(9), metas, payloads)
        return self.connection.execute(
            "SELECT bench_append(%s, %s, %b, %b)", values, prepare=True
        ).fetchone()


class Transaction(Statement):
    """A transaction as one would write it: lock, append, count, commit."""

    key = "transaction"
    label = "a transaction of four statements"
    yardstick = "bare"

    def append(self, prepared: Any) -> Any:
        mark = secrets.token_hex(9)
        with (
            self.pool.connection() as connection,
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            cursor.execute(
                "SELECT session, seq FROM bench_sessions WHERE id = %s FOR UPDATE", (self.session,)
            )
            session, seq = cursor.fetchone()
            values: list[Any] = []
            for at, (meta, payload) in enumerate(prepared, seq + 1):
                values += [session, at, mark, meta, payload]
            rows = ", ".join(["(%s, %s, now(), %s, %s, %s)"] * len(prepared))
            cursor.execute(f"INSERT INTO bench_rows VALUES {rows}", values)  # noqa: S608 - ours
            cursor.execute(
                "UPDATE bench_sessions SET seq = %s WHERE session = %s",
                (seq + len(prepared), session),
            )


class Pooled(Ours):
    """Lockstitch as it is by default."""

    yardstick = "bare"

    def store(self) -> Any:
        from lockstitch import open_store

        return open_store(self.place)


class Single(Ours):
    """Lockstitch on a connection that was lent."""

    key = "ours-single"
    label = "... on one connection that is lent"
    yardstick = "bare-single"

    def store(self) -> Any:
        import psycopg

        from lockstitch import open_store

        self.connection = psycopg.connect(self.place, autocommit=True)
        return open_store(self.connection)

    def close(self) -> None:
        super().close()
        self.connection.close()


CONTENDERS: list[type[Contender]] = [Statement, StatementSingle, Pooled, Single, Transaction]
