"""`lockstitch store export`, `import`, `fork`, `rewind` and `purge`."""

import json
import time

import pytest

from lockstitch import Retention, open_store
from lockstitch.testing import assistant, call, result, user

TURNS = [user("1"), call("a", "b"), result("a"), result("b"), assistant("2"), user("3")]


@pytest.fixture
def stored(chat):
    for turn in TURNS:
        chat.append(turn, key=str(turn))
    return chat


def test_a_session_goes_through_a_file_into_another_store(run, url, stored, tmp_path):
    stored.rewind(to=5)
    path, other = tmp_path / "s.jsonl", f"sqlite:///{tmp_path / 'other.db'}"
    exported = run("store", "export", url, "s", "-o", path)
    assert (exported.exit_code, exported.stdout) == (0, "")
    assert exported.stderr == f"session 's': 6 messages written to {path}\n"
    imported = run("store", "import", other, "t", path)
    assert (imported.exit_code, imported.stdout) == (0, "session 't': 6 messages\n")
    with open_store(other) as store:
        copy = store.session("t")
        assert [entry.message for entry in copy.record()] == TURNS
        assert list(copy.window()) == list(stored.window())
        assert copy.verify() == []
        assert copy.append(TURNS[0], key=str(TURNS[0])).replayed


def test_an_export_is_lines_of_json_on_standard_output(run, url, stored):
    exported = run("store", "export", url, "s")
    assert exported.exit_code == 0
    assert "lockstitch" in json.loads(exported.stdout.splitlines()[0])
    assert run("store", "import", url, "t", "-", stdin=exported.stdout_bytes).exit_code == 0


def test_export_and_import_say_in_json_what_they_did(run, url, stored, tmp_path):
    path = tmp_path / "s.jsonl"
    exported = run("store", "export", url, "s", "-o", path, "--json")
    assert json.loads(exported.stdout) == {
        "session": "s",
        "tenant": None,
        "messages": 6,
        "file": str(path),
    }
    imported = run("store", "import", url, "t", path, "--json", "--tenant", "acme")
    assert json.loads(imported.stdout) == {"session": "t", "tenant": "acme", "messages": 6}


def test_an_import_that_was_cut_short_goes_on(run, url, stored, tmp_path):
    whole = run("store", "export", url, "s").stdout_bytes
    part, path = tmp_path / "part.jsonl", tmp_path / "whole.jsonl"
    part.write_bytes(b"".join(whole.splitlines(keepends=True)[:4]))
    path.write_bytes(whole)
    short = run("store", "import", url, "t", part)
    assert short.exit_code == 2
    assert "the export ends at row 2 of 6" in short.stderr
    unread = run("store", "window", url, "t")
    assert unread.exit_code == 2
    assert "is not all here yet" in unread.stderr
    assert run("store", "import", url, "t", path).stdout == "session 't': 6 messages\n"


def test_an_import_takes_no_id_that_is_taken(run, url, stored, tmp_path):
    path = tmp_path / "s.jsonl"
    run("store", "export", url, "s", "-o", path)
    refused = run("store", "import", url, "s", path)
    assert refused.exit_code == 2
    assert "there is a session 's' already" in refused.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b'{"seq": 1}\n', "line 1: not a line of an export"),
        (b"nonsense\n", "line 1: not a line of an export"),
        (b'{"lockstitch": 99, "session": "s"}\n', "schema 99"),
    ],
)
def test_what_is_no_export_is_refused_by_its_line(run, write, url, content, said):
    path = write(content, "export.jsonl")
    refused = run("store", "import", url, "t", path)
    assert refused.exit_code == 2
    assert str(path) in refused.stderr
    assert said in refused.stderr


def test_a_fork_has_the_messages_up_to_a_number(run, url, stored):
    forked = run("store", "fork", url, "s", "t", "--at", 4)
    assert (forked.exit_code, forked.stdout) == (0, "session 't': 4 messages of 's'\n")
    found = json.loads(run("store", "fork", url, "s", "u", "--json").stdout)
    assert found == {"session": "u", "tenant": None, "of": "s", "messages": 6}
    again = run("store", "fork", url, "s", "t")
    assert again.exit_code == 2
    assert "there is a session 't' already" in again.stderr


def test_a_rewind_goes_back_and_keeps_the_record(run, url, stored):
    ended = run("store", "rewind", url, "s", 4)
    assert ended.stdout == "session 's': back to message 4; 2 messages left the view\n"
    assert len(json.loads(run("store", "window", url, "s").stdout)) == 4
    assert len(list(stored.record())) == 6
    found = json.loads(run("store", "rewind", url, "s", 0, "--json").stdout)
    assert found == {"session": "s", "tenant": None, "to": 0, "left": 4}


@pytest.mark.parametrize("command", [("rewind", "s", "7"), ("fork", "s", "t", "--at", "7")])
def test_a_number_that_no_message_has_is_refused(run, url, stored, command):
    name, *arguments = command
    refused = run("store", name, url, *arguments)
    assert refused.exit_code == 2
    assert "session 's' has 6 messages, and none has the number 7" in refused.stderr


def test_a_purge_asks_first(run, url, stored):
    stored.rewind(to=4)
    for answer in (b"n\n", b""):
        kept = run("store", "purge", url, "s", "--keep", 1, stdin=answer)
        assert kept.exit_code == 1
        assert "all but the newest 1 of the 6 messages of session 's'?" in kept.stderr
        assert "cannot be undone" in kept.stderr
    assert all(entry.state != "purged" for entry in stored.record())
    purged = run("store", "purge", url, "s", "--keep", 1, stdin=b"y\n")
    assert purged.exit_code == 0
    assert purged.stdout == "session 's': 1 message emptied: 5\n"
    assert [entry.seq for entry in stored.record() if entry.state == "purged"] == [5]


def test_a_purge_goes_by_age(run, url, stored):
    stored.rewind(to=0)
    young = run("store", "purge", url, "s", "--older-than", "30d", "--yes")
    assert young.stdout == "session 's': 0 messages emptied\n"
    time.sleep(0.01)
    old = run("store", "purge", url, "s", "--older-than", "0s", "--yes", "--json")
    assert json.loads(old.stdout) == {
        "session": "s",
        "tenant": None,
        "deleted": False,
        "emptied": 6,
        "which": "1-6",
    }


def test_a_purge_goes_by_the_retention_of_the_session(run, url, stored):
    stored.rewind(to=4)
    refused = run("store", "purge", url, "s", "--yes")
    assert refused.exit_code == 2
    assert "--keep or --older-than" in refused.stderr
    stored.configure(retention=Retention(messages=1))
    asked = run("store", "purge", url, "s", stdin=b"y\n")
    assert "what its retention does not keep" in asked.stderr
    assert asked.stdout == "session 's': 1 message emptied: 5\n"


def test_what_the_model_is_shown_is_never_purged(run, url, stored):
    assert run("store", "purge", url, "s", "--keep", 0, "--yes").stdout.startswith(
        "session 's': 0 messages emptied"
    )
    assert len(stored.window()) == 6


def test_an_age_is_a_number_and_a_unit(run, url, stored):
    for age in ("30", "d", "3y", "-1d", "1.5h"):
        refused = run("store", "purge", url, "s", f"--older-than={age}", "--yes")
        assert refused.exit_code == 2
        assert "is no age" in refused.stderr


def test_a_session_is_removed_with_delete(run, url, stored):
    both = run("store", "purge", url, "s", "--delete", "--keep", 1, "--yes")
    assert both.exit_code == 2
    asked = run("store", "purge", url, "s", "--delete", stdin=b"y\n")
    assert "Remove session 's' with 6 messages?" in asked.stderr
    assert asked.stdout == "session 's': removed with 6 messages\n"
    assert run("store", "ls", url).stdout == "0 sessions\n"
    assert run("store", "purge", url, "s", "--delete", "--yes").exit_code == 2
