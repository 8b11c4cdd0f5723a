"""`lockstitch store ls`, `show`, `window` and `explain`."""

import json

import pytest

from lockstitch import open_store
from lockstitch.testing import assistant, call, result, system, user

TURNS = [system(), user("one"), assistant("1"), user("two"), assistant("2"), user("three")]


def lines(text: str) -> list:
    return [json.loads(line) for line in text.splitlines()]


def test_sessions_are_listed_with_their_sizes(run, url, chat):
    chat.append(TURNS)
    listed = run("store", "ls", url)
    assert listed.exit_code == 0
    assert listed.stdout.splitlines()[0].split() == [
        *("session", "messages", "bytes", "updated", "expires")
    ]
    assert listed.stdout.splitlines()[1].split()[:2] == ["s", "6"]
    assert listed.stdout.splitlines()[-1] == "1 session"


def test_a_list_in_json_is_an_object_a_line(run, url, chat):
    chat.append(TURNS)
    (one,) = lines(run("store", "ls", url, "--json").stdout)
    assert set(one) == {
        *("id", "tenant", "messages", "revision", "created", "updated", "expires", "bytes")
    }
    assert (one["id"], one["messages"], one["expires"]) == ("s", 6, None)


def test_lists_know_prefixes_and_tenants(run, url):
    with open_store(url) as store:
        for id, tenant in (("a1", None), ("a2", None), ("b1", None), ("a1", "acme")):
            store.session(id, tenant=tenant).append(user())
    assert [one["id"] for one in lines(run("store", "ls", url, "--json", "--prefix", "a").stdout)]
    of_acme = lines(run("store", "ls", url, "--json", "--tenant", "acme").stdout)
    assert [(one["id"], one["tenant"]) for one in of_acme] == [("a1", "acme")]
    assert run("store", "ls", url, "--prefix", "z").stdout == "0 sessions\n"


def test_a_list_goes_on_past_its_first_page(run, url):
    with open_store(url) as store:
        for number in range(501):
            store.session(f"s{number:03}").append(user())
    assert len(lines(run("store", "ls", url, "--json").stdout)) == 501


def test_the_record_is_shown_with_what_became_of_every_message(run, url, chat):
    chat.append(TURNS)
    chat.rewind(to=4)
    shown = run("store", "show", url, "s")
    assert shown.exit_code == 0
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert rows[0] == ["message", "state", "why", "role", "text"]
    assert rows[1] == ["1", "shown", "system", "be", "brief"]
    assert rows[6] == ["6", "dropped", "rewound", "user", "three"]
    assert shown.stdout.endswith("session 's': 6 messages\n")


def test_a_part_of_the_record_is_shown(run, url, chat):
    chat.append(TURNS)
    shown = run("store", "show", url, "s", "--first", 2, "--last", 3)
    assert len(shown.stdout.splitlines()) == 4
    assert shown.stdout.endswith("session 's': 2 of 6 messages\n")
    assert run("store", "show", url, "s", "--first", 9).stdout == "session 's': 0 of 6 messages\n"


def test_the_record_in_json_has_the_messages_whole(run, url, chat):
    chat.append(TURNS)
    found = lines(run("store", "show", url, "s", "--json").stdout)
    assert [one["message"] for one in found] == TURNS
    assert set(found[0]) == {
        *("seq", "message", "state", "reason", "at", "batch", "format", "role")
    }


def test_what_was_purged_is_shown_as_such(run, url, chat):
    chat.append(TURNS)
    chat.rewind(to=4)
    run("store", "purge", url, "s", "--keep", 0, "--yes")
    rows = [line.split() for line in run("store", "show", url, "s").stdout.splitlines()]
    assert rows[5] == ["5", "purged"]
    assert lines(run("store", "show", url, "s", "--json").stdout)[4]["message"] is None


def test_bytes_in_a_message_are_base_64(run, url, chat):
    chat.append([{"role": "user", "content": "hi", "extra": b"\x00\xff"}])
    (one,) = lines(run("store", "show", url, "s", "--json").stdout)
    assert one["message"]["extra"] == "AP8="


def test_a_window_is_a_list_of_messages(run, url, chat):
    chat.append(TURNS)
    seen = run("store", "window", url, "s")
    assert json.loads(seen.stdout) == TURNS
    assert seen.stderr == ""
    assert len(seen.stdout.splitlines()) == len(TURNS)


def test_a_window_takes_limits_of_its_own(run, url, chat):
    chat.append(TURNS)
    assert json.loads(run("store", "window", url, "s", "--max-messages", 2).stdout) == [
        TURNS[0],
        TURNS[5],
    ]
    assert json.loads(run("store", "window", url, "s", "--strategy", "chat").stdout) == TURNS
    assert len(json.loads(run("store", "window", url, "s").stdout)) == 6


def test_a_call_that_waits_is_hidden_from_the_model_and_said_to_be(run, url, chat):
    chat.append([user(), call("a")])
    assert len(json.loads(run("store", "window", url, "s").stdout)) == 2
    closed = run("store", "window", url, "s", "--tail", "closed")
    assert json.loads(closed.stdout) == [user()]
    assert "hidden for now" in closed.stderr
    assert closed.stderr.endswith(": 2\n")


def test_a_window_in_json_says_which_messages_it_is_of(run, url, chat):
    chat.append([user(), call("a"), user("and?")])
    found = json.loads(run("store", "window", url, "s", "--json", "--profile", "anthropic").stdout)
    assert set(found) == {
        *("session", "tenant", "version", "seqs", "hidden", "damaged", "dropped", "changes"),
        *("system", "messages"),
    }
    assert found["hidden"] == [2]
    assert len(found["seqs"]) == len(found["messages"])


def test_a_window_is_written_to_a_file(run, url, chat, tmp_path):
    chat.append(TURNS)
    path = tmp_path / "window.json"
    seen = run("store", "window", url, "s", "-o", path)
    assert seen.stdout == ""
    assert json.loads(path.read_bytes()) == TURNS
    assert f"6 messages written to {path}" in seen.stderr
    assert (
        json.loads(run("store", "window", url, "s", "-o", path, "--json").stdout)["messages"]
        is None
    )
    assert run("trim", path, "--max-messages", 2).exit_code == 0


def test_a_window_that_cannot_fit_exits_with_1(run, url):
    with open_store(url) as store:
        store.session("s", on_overflow="raise").append([system("x" * 400), user()])
    for arguments in ((), ("--json",)):
        seen = run("store", "window", url, "s", "--max-tokens", 5, *arguments)
        assert seen.exit_code == 1
        assert "the limit is 5 tokens" in seen.stderr
        assert "--on-overflow" not in seen.stderr
        assert "Traceback" not in seen.stderr
    assert json.loads(seen.stdout)["error"]["type"] == "CannotFit"


def test_an_explanation_says_what_is_shown_and_why_not(run, url):
    with open_store(url) as store:
        chat = store.session("s", max_messages=2)
        for number in range(2):
            chat.append([user(str(number)), assistant("ok")])
    explained = run("store", "explain", url, "s", "--events")
    assert explained.exit_code == 0
    assert "session 's': 2 of 4 messages are shown" in explained.stdout
    assert "1-2       dropped: the limit is reached" in explained.stdout
    assert "cut" in explained.stdout
    assert explained.stdout.endswith("1 event\n")


def test_an_explanation_in_json_has_ranges_and_events(run, url, chat):
    chat.append(TURNS)
    chat.rewind(to=4)
    assert "events" not in json.loads(run("store", "explain", url, "s", "--json").stdout)
    found = json.loads(run("store", "explain", url, "s", "--events", "--json").stdout)
    assert (found["messages"], found["shown"]) == (6, 4)
    assert found["ranges"] == [
        {"first": 5, "last": 6, "state": "dropped", "reason": "rewound", "fired": []},
        {"first": 1, "last": 4, "state": "shown", "reason": "", "fired": []},
    ]
    assert [event["kind"] for event in found["events"]] == ["rewind"]
    assert all("head" not in event for event in found["events"])


@pytest.mark.parametrize("command", ["ls", "show", "window", "explain"])
def test_looking_makes_no_store(run, url, tmp_path, command):
    arguments = () if command == "ls" else ("s",)
    ended = run("store", command, url, *arguments)
    assert ended.exit_code == 2
    assert "there is no file" in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_store_is_drawn_on_a_terminal(terminal, url, chat):
    chat.append([*TURNS, result("x", "[red]late[/red]")])
    assert "\x1b[" in terminal("store", "ls", url)
    shown = terminal("store", "show", url, "s", columns=160)
    assert "[red]late[/red]" in shown
