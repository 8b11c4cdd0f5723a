"""`lockstitch store verify` and `migrate`, and whatever else a store may be."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lockstitch import MissingExtra, open_store
from lockstitch.cli.store.places import masked
from lockstitch.stores import connecting
from lockstitch.testing import call, result, user

EVERY = [
    ("ls",),
    ("show", "s"),
    ("window", "s"),
    ("explain", "s"),
    ("export", "s"),
    ("fork", "s", "t"),
    ("rewind", "s", "0"),
    ("purge", "s", "--keep", "1", "--yes"),
    ("verify", "s"),
    ("verify", "--all"),
]
OF_ONE = [command for command in EVERY if "s" in command]


def words(command) -> str:
    return " ".join(command)


def change(path: Path, statement: str, *values) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


@pytest.fixture
def path(url) -> Path:
    """Return the path of a store with two sessions in it."""
    with open_store(url) as store:
        for id in ("s", "t"):
            store.session(id).append([user(), call("a"), result("a")])
    return Path(url.removeprefix("sqlite:///"))


def test_a_store_that_is_whole_is_said_to_be(run, url, path):
    verified = run("store", "verify", url, "--all")
    assert verified.exit_code == 0
    assert verified.stdout.splitlines() == [
        *("session 's': 3 messages, whole", "session 't': 3 messages, whole", "2 sessions")
    ]
    assert run("store", "verify", url, "t").stdout == "session 't': 3 messages, whole\n"


def test_a_row_that_was_altered_is_found(run, url, path):
    change(path, "UPDATE lockstitch_rows SET payload = ? WHERE seq = 2 AND session = 1", b"j{}")
    verified = run("store", "verify", url, "--all")
    assert verified.exit_code == 1
    assert "session 's': 3 messages, 1 finding" in verified.stdout
    assert "damaged  message 2: " in verified.stdout
    assert "session 't': 3 messages, whole" in verified.stdout
    found = [
        json.loads(line)
        for line in run("store", "verify", url, "--all", "--json").stdout.split("\n")[:2]
    ]
    assert [one["ok"] for one in found] == [False, True]
    assert set(found[0]) == {"session", "tenant", "messages", "ok", "findings"}
    assert found[0]["findings"][0]["seq"] == 2


def test_a_damaged_message_is_shown_as_such_and_left_out_of_the_window(run, url, path):
    change(path, "UPDATE lockstitch_rows SET payload = ? WHERE seq = 1 AND session = 1", b"j{}")
    assert " damaged " in run("store", "show", url, "s").stdout
    seen = run("store", "window", url, "s")
    assert seen.exit_code == 0
    assert "damaged: 1" in seen.stderr


def test_a_row_that_is_gone_is_found(run, url, path):
    change(path, "DELETE FROM lockstitch_rows WHERE seq = 2 AND session = 1")
    verified = run("store", "verify", url, "s")
    assert verified.exit_code == 1
    assert "missing  message 2" in verified.stdout


def test_a_session_that_cannot_be_read_at_all_is_a_finding(run, url, path):
    change(path, "UPDATE lockstitch_sessions SET settings = ? WHERE session = 1", b"nonsense")
    verified = run("store", "verify", url, "--prefix", "")
    assert verified.exit_code == 2
    verified = run("store", "verify", url, "--all")
    assert verified.exit_code == 1
    assert "the settings of the session cannot be read" in verified.stdout
    assert "session 't': 3 messages, whole" in verified.stdout


def test_ids_or_all_are_to_be_given_and_not_both(run, url, path):
    for arguments in ((), ("s", "--all"), ("s", "--prefix", "s")):
        refused = run("store", "verify", url, *arguments)
        assert refused.exit_code == 2
        assert "name sessions by their ids, or give --all or --prefix" in refused.stderr
    assert run("store", "verify", url, "--prefix", "t").stdout.endswith("messages, whole\n")


def test_a_schema_is_made_and_brought_forward(run, url):
    made = run("store", "migrate", url)
    assert (made.exit_code, made.stdout) == (0, f"{url}: schema 1 was made\n")
    again = run("store", "migrate", url, "--json")
    assert json.loads(again.stdout) == {"store": url, "found": 1, "now": 1}
    assert (
        run("store", "migrate", url).stdout
        == f"{url}: nothing to do: it has schema 1, the newest\n"
    )


def test_a_store_without_a_schema_has_nothing_to_be_migrated(run):
    assert (
        run("store", "migrate", "memory://").stdout
        == "memory://: nothing to do: it has no schema\n"
    )


# --- what cannot be used -------------------------------------------------------------------------


@pytest.mark.parametrize("command", OF_ONE, ids=words)
def test_a_session_that_is_not_there_is_named(run, url, command):
    open_store(url).session("other").append(user())
    for more in ((), ("--tenant", "acme")):
        ended = run("store", command[0], url, *command[1:], *more)
        assert ended.exit_code == 2
        assert "there is no session 's'" in ended.stderr
        assert ended.stdout == ""


@pytest.mark.parametrize("command", EVERY, ids=words)
@pytest.mark.parametrize("url", ["nonsense://x", "chat.db", "", "sqlite://chat.db"])
def test_an_address_that_no_store_has_is_refused(run, url, command):
    ended = run("store", command[0], url, *command[1:])
    assert ended.exit_code == 2
    assert ended.stderr.startswith(f"Error: {url}: ")
    assert "sqlite:///" in ended.stderr


@pytest.mark.parametrize("command", EVERY, ids=words)
def test_a_file_that_is_no_database_is_left_alone(run, write, command):
    path = write(b"once upon a time, in a land far away" * 99, "chat.db")
    ended = run("store", command[0], f"sqlite:///{path}", *command[1:], "--json")
    assert ended.exit_code == 2
    assert "is not an SQLite database" in ended.stderr
    assert json.loads(ended.stdout)["error"]["type"] == "StoreError"
    assert path.read_bytes().startswith(b"once upon")


@pytest.mark.parametrize("command", [*EVERY, ("migrate",)], ids=words)
def test_a_newer_schema_is_refused(run, url, path, command):
    change(path, "INSERT INTO lockstitch_schema (version, at) VALUES (99, 0)")
    ended = run("store", command[0], url, *command[1:], "--json")
    assert ended.exit_code == 2
    assert "has schema 99" in ended.stderr
    assert "upgrade lockstitch" in ended.stderr
    found = json.loads(ended.stdout)
    assert set(found) == {"store", "error"}
    assert found["error"]["type"] == "SchemaTooNew"


def test_an_extra_that_is_missing_is_named(run, monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise MissingExtra("redis", package="redis")

    monkeypatch.setattr(connecting, "open_store", fail)
    ended = run("store", "ls", "redis://localhost")
    assert ended.exit_code == 2
    assert "pip install 'lockstitch[redis]'" in ended.stderr


# --- secrets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:s3cret@db/chat", "postgresql://ann:***@db/chat"),
        ("postgresql://ann:s3@cr/e:t@db/chat", "postgresql://ann:***@db/chat"),
        ("redis://:s3cret@db:6379/0", "redis://:***@db:6379/0"),
        (
            "redis+sentinel://u:s3cret@a,b/0?password=s3cret",
            "redis+sentinel://u:***@a,b/0?password=***",
        ),
        (
            "postgresql://db/chat?user=a&password=s3cret&x=1",
            "postgresql://db/chat?user=a&password=***&x=1",
        ),
        ("postgresql://ann@db/chat", "postgresql://ann@db/chat"),
        ("sqlite:////tmp/a:b@c.db", "sqlite:////tmp/a:b@c.db"),
        ("memory://", "memory://"),
    ],
)
def test_a_password_is_masked(url, shown):
    assert masked(url) == shown


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, MissingExtra])
def test_no_password_is_printed_whatever_the_driver_says(run, monkeypatch, kind):
    url = "postgresql://ann:s3cret%21@db/chat"

    def fail(given: str) -> None:
        if kind is MissingExtra:
            raise kind(given, package="s3cret!")
        raise kind(f"cannot reach {given}: password 's3cret!' of ann, s3cret%21")

    monkeypatch.delenv("LOCKSTITCH_DEBUG", raising=False)
    monkeypatch.setattr(connecting, "open_store", fail)
    for arguments in ((), ("--json",)):
        ended = run("store", "ls", url, *arguments)
        assert ended.exit_code == (3 if kind is RuntimeError else 2)
        assert "s3cret" not in ended.output
        assert "***" in ended.output
