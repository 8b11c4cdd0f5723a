"""`lockstitch store copy`: from any store to any other, again and again."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from lockstitch import open_store
from lockstitch.testing import assistant, call, result, user

TURNS = [user("1"), call("a", "b"), result("a"), result("b"), assistant("2"), user("3")]


@pytest.fixture
def other(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'other.db'}"


@pytest.fixture
def three(url):
    """Make three sessions."""
    with open_store(url) as store:
        for id in ("s1", "s2", "t1"):
            for turn in TURNS:
                store.session(id, max_messages=4).append(turn)
    return url


def documents(ended) -> list:
    return [json.loads(line) for line in ended.stdout.splitlines()]


def outcomes(ended) -> dict:
    return {one["session"]: one["outcome"] for one in documents(ended)}


def test_every_session_is_copied_whole(run, three, other):
    copied = run("store", "copy", three, other, "--all")
    assert copied.exit_code == 0
    assert copied.stdout.splitlines()[0] == "session 's1': copied, 6 messages"
    assert copied.stderr == "3 sessions: 3 copied\n"
    with open_store(three) as origin, open_store(other) as store:
        for id in ("s1", "s2", "t1"):
            here, there = origin.session(id), store.session(id)
            assert list(here.window()) == list(there.window())
            assert [entry.message for entry in there.record()] == TURNS
            assert there.verify() == []
            assert there.effects.settings() is not None


def test_what_is_there_already_is_skipped_and_counted(run, three, other):
    run("store", "copy", three, other, "s1")
    again = run("store", "copy", three, other, "--all", "--json")
    assert again.exit_code == 0
    assert outcomes(again) == {"s1": "skipped", "s2": "copied", "t1": "copied"}
    assert again.stderr == "3 sessions: 2 copied, 1 skipped\n"
    assert set(documents(again)[0]) == {"session", "tenant", "outcome", "messages", "error"}


def test_sessions_are_chosen_by_their_ids_or_a_prefix(run, three, other):
    assert outcomes(run("store", "copy", three, other, "t1", "s2", "--json")) == {
        "t1": "copied",
        "s2": "copied",
    }
    assert set(outcomes(run("store", "copy", three, other, "--prefix", "s", "--json"))) == {
        "s1",
        "s2",
    }
    assert run("store", "copy", three, other).exit_code == 2
    assert run("store", "copy", three, other, "nobody").exit_code == 2
    assert (
        run("store", "copy", three, other, "--prefix", "z").stderr
        == "0 sessions: nothing to copy\n"
    )


def test_a_tenant_stays_the_tenant(run, url, other):
    with open_store(url) as store:
        store.session("s", tenant="acme").append(TURNS)
        store.session("s").append(user())
    run("store", "copy", url, other, "--all", "--tenant", "acme")
    with open_store(other) as store:
        assert len(store.session("s", tenant="acme").window()) == 6
        assert store.list() == []


def test_the_time_that_a_session_has_left_goes_with_it(run, url, other):
    with open_store(url) as store:
        store.session("s", ttl=3_600).append(TURNS)
        store.session("t").append(TURNS)
    run("store", "copy", url, other, "--all")
    with open_store(other) as store:
        left = {one.id: one.expires for one in store.list()}
    assert left["t"] is None
    assert left["s"] == pytest.approx(time.time() + 3_600, abs=60)


def test_a_session_that_went_on_since_is_not_taken_for_the_copy(run, three, other):
    run("store", "copy", three, other, "--all")
    with open_store(three) as store:
        store.session("s1").append(assistant("4"))
    with open_store(other) as store:
        store.session("s2").append(assistant("4"))
    again = run("store", "copy", three, other, "--all")
    assert again.exit_code == 1
    assert "session 's1': failed: it is there with 6 of 7 messages" in again.stderr
    assert "session 's2': failed: another session has this id there, or it went on" in again.stderr
    assert again.stderr.endswith("3 sessions: 1 skipped, 2 failed\n")


def test_one_that_fails_does_not_stop_the_others(run, three, other, tmp_path):
    with closing(sqlite3.connect(tmp_path / "chat.db")) as connection, connection:
        connection.execute("DELETE FROM lockstitch_rows WHERE session = 1 AND seq = 2")
    copied = run("store", "copy", three, other, "--all", "--json")
    assert copied.exit_code == 1
    assert outcomes(copied) == {"s1": "failed", "s2": "copied", "t1": "copied"}
    assert "row 2 is missing" in documents(copied)[0]["error"]


def test_a_source_that_is_not_there_is_named_and_nothing_is_made(run, url, other, tmp_path):
    for arguments in ((), ("--json",)):
        ended = run("store", "copy", url, other, "--all", *arguments)
        assert ended.exit_code == 2
        assert ended.stderr.startswith(f"Error: {url}: there is no file")
    assert len(ended.stdout.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_no_database_is_named_once(run, three, write):
    target = f"sqlite:///{write(b'once upon a time' * 99, 'target.db')}"
    ended = run("store", "copy", three, target, "--all", "--json")
    assert ended.exit_code == 2
    (one,) = documents(ended)
    assert one["store"] == target
    assert "is not an SQLite database" in one["error"]["message"]


def _rows(path) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
            return connection.execute("SELECT count(*) FROM lockstitch_rows").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_a_copy_that_is_killed_goes_on_where_it_was(run, url, other, tmp_path):
    with open_store(url) as store:
        store.session("first").append(TURNS)
        for turn in range(3_000):
            store.session("long").append([user(str(turn)), assistant("x" * 200)])
    command = [sys.executable, "-m", "lockstitch", "store", "copy", url, other, "--all"]
    copying = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while _rows(tmp_path / "other.db") < 500 and time.monotonic() < deadline:
        time.sleep(0.001)
    copying.kill()
    copying.communicate()
    had = _rows(tmp_path / "other.db")
    assert 500 <= had < 6_006
    unread = run("store", "window", other, "long")
    assert unread.exit_code == 2
    assert "run again the copy" in unread.stderr
    again = run("store", "copy", url, other, "--all", "--json")
    assert again.exit_code == 0
    assert outcomes(again) == {"first": "skipped", "long": "resumed"}
    with open_store(url) as origin, open_store(other) as store:
        here = [(e.seq, e.message, e.batch) for e in origin.session("long").record()]
        assert [(e.seq, e.message, e.batch) for e in store.session("long").record()] == here
    assert run("store", "verify", other, "--all").exit_code == 0


def test_half_a_copy_of_what_has_changed_since_begins_anew(run, url, other):
    with open_store(url) as origin, open_store(other) as store:
        for turn in TURNS:
            origin.session("s").append(turn)
        lines = list(origin.session("s").export())
        with pytest.raises(Exception, match=r"the export ends at row . of 6"):
            store.session("s").import_(lines[:3])
        origin.session("s").append(assistant("4"))
    copied = run("store", "copy", url, other, "--all", "--json")
    assert outcomes(copied) == {"s": "copied"}
    with open_store(other) as store:
        assert len(store.session("s").window()) == 7


def test_a_copy_shows_a_bar_on_a_terminal(terminal, three, other):
    shown = terminal("store", "copy", three, other, "--all")
    assert "\x1b[?25l" in shown  # the cursor is hidden while a bar is drawn
    assert shown.count(": copied, 6 messages") == 3
    assert "3 sessions: 3 copied" in shown
