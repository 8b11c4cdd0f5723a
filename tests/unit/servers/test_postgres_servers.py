"""Each PostgreSQL starts, crashes, recovers, and loses single connections."""

from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from servers.postgres_servers import PostgresServer


@pytest.mark.parametrize("name", ["postgres", "postgres16", "postgres_machine"])
def test_a_client_asks_through_the_url(name: str, request: pytest.FixtureRequest):
    with psycopg.connect(request.getfixturevalue(name)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_fixtures_are_the_versions_they_say(postgres: str, postgres16: str):
    with psycopg.connect(postgres) as connection:
        assert connection.info.server_version >= 180_000
    with psycopg.connect(postgres16) as connection:
        assert connection.info.server_version // 10_000 == 16


def test_a_crashed_server_comes_back_in_its_place_with_what_it_had_answered(postgres_server):
    server: PostgresServer = postgres_server()
    url = server.new_database()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS number")
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO kept VALUES (2)")
        server.restart()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchall() == [(1,)]


@pytest.mark.parametrize("hard", [False, True])
def test_a_killed_backend_takes_its_own_connection_and_hard_all_others(postgres_server, hard: bool):
    server: PostgresServer = postgres_server()
    with server.connect() as victim, server.connect() as other:
        server.kill_backend(victim.info.backend_pid, hard=hard)
        with pytest.raises(psycopg.OperationalError):
            victim.execute("SELECT 1")
        if hard:
            with pytest.raises(psycopg.OperationalError):
                other.execute("SELECT 1")
        else:
            assert other.execute("SELECT 1").fetchone() == (1,)
    with server.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
