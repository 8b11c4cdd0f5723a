"""`lockstitch store append`: any input that can be read, into a session."""

import gzip
import json

import pytest

from lockstitch import load, open_store
from lockstitch.testing import assistant, call, result, user

TWO = [user("hi"), assistant("ho")]


def jsonl(*messages) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in messages)


def test_a_file_of_each_format_is_stored_as_it_is(run, sample, url, chat):
    ended = run("store", "append", url, "s", sample)
    assert (ended.exit_code, ended.stderr) == (0, "")
    natives = [json.loads(bytes(native)) for native in load(sample).natives]
    assert ended.stdout == f"session 's': stored messages 1-{len(natives)}\n"
    assert [entry.message for entry in chat.record()] == natives


@pytest.mark.parametrize("shape", ["list", "body", "lines", "gzip", "stdin"])
def test_a_list_a_body_lines_and_standard_input_are_read(run, write, url, chat, shape):
    content = {"list": TWO, "body": {"model": "m", "messages": TWO}}.get(shape, jsonl(*TWO))
    if shape == "gzip":
        content = gzip.compress(content)
    if shape == "stdin":
        ended = run("store", "append", url, "s", "-", stdin=content)
    else:
        ended = run("store", "append", url, "s", write(content))
    assert ended.exit_code == 0
    assert [entry.message for entry in chat.record()] == TWO


def test_a_key_stores_a_batch_once(run, write, url, chat):
    for _ in range(2):
        ended = run("store", "append", url, "s", write(TWO), "--key", "turn-1")
        assert ended.exit_code == 0
    assert ended.stdout == "session 's': nothing was stored: that key stored messages 1-2 before\n"
    assert len(list(chat.record())) == 2


def test_what_was_stored_is_told_in_json(run, write, url):
    ended = run("store", "append", url, "s", write(TWO), "--json", "--tenant", "acme")
    found = json.loads(ended.stdout)
    assert set(found) == {
        *("session", "tenant", "first", "count", "last", "version", "replayed", "dropped", "late"),
        *("overflow", "pending", "skipped"),
    }
    assert (found["first"], found["last"], found["tenant"]) == (1, 2, "acme")
    assert found["skipped"] == []


def test_limits_and_strategy_are_stored_with_a_session_that_is_made(run, write, url, chat):
    strategy = write('window_messages = 99\n[[steps]]\nstep = "clear-results"\n', "mine.toml")
    limits = ("--max-messages", 4, "--profile", "anthropic", "--strategy", strategy)
    first = run("store", "append", url, "s", write(TWO), *limits)
    assert first.exit_code == 0, first.stderr
    more = run("store", "append", url, "s", write([user("more"), assistant("yes")] * 2))
    assert "left the view" in more.stdout
    assert len(chat.window()) <= 4
    assert chat.effects.settings().profile == "anthropic"


def test_a_preset_is_a_strategy_and_a_wrong_one_is_refused(run, write, url):
    assert run("store", "append", url, "s", write(TWO), "--strategy", "agent").exit_code == 0
    refused = run("store", "append", url, "s", write(TWO), "--strategy", "magic")
    assert refused.exit_code == 2
    assert "no preset has that name" in refused.stderr


def test_torn_and_foreign_lines_are_told_by_number_and_the_rest_is_stored(run, write, url, chat):
    content = jsonl(user("1"), {"who": "me"}, user("2")) + b'7\n"text"\n' + jsonl(user("3"))
    path = write(content + b'{"role": "user", "con')
    ended = run("store", "append", url, "s", path)
    assert ended.exit_code == 1
    assert [entry.message["content"] for entry in chat.record()] == ["1", "2", "3"]
    told = ended.stderr.splitlines()
    assert [line.split("line ")[1].split()[0] for line in told] == ["2", "4", "5", "7"]
    assert "no message" in told[0]
    assert "breaks off" in told[3]
    assert ended.stdout == "session 's': stored messages 1-3\n"


def test_skipped_lines_are_listed_in_json(run, write, url):
    ended = run("store", "append", url, "s", write(jsonl(user()) + b"{\n"), "--json")
    assert ended.exit_code == 1
    (one,) = json.loads(ended.stdout)["skipped"]
    assert one["line"] == 2


def test_a_first_line_that_is_torn_is_a_torn_line(run, write, url, chat):
    ended = run("store", "append", url, "s", write(b'{"role": "us\n' + jsonl(*TWO)))
    assert ended.exit_code == 1
    assert "line 1 was passed over" in ended.stderr
    assert [entry.message for entry in chat.record()] == TWO


def test_a_list_that_breaks_off_is_no_log(run, write, url, tmp_path):
    content = b'[\n{"role": "user", "content": "1"},\n{"role": "user", "content": "2"}\n'
    ended = run("store", "append", url, "s", write(content))
    assert ended.exit_code == 2
    assert "not JSON" in ended.stderr
    assert not (tmp_path / "chat.db").exists()


def test_a_line_of_another_format_is_foreign(run, write, url, chat):
    chat.append([user(), call("a"), result("a")])
    foreign = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}],
    }
    ended = run("store", "append", url, "s", write(jsonl(assistant("1"), foreign, user("2"))))
    assert ended.exit_code == 1
    assert "line 2 was passed over: a message in the format anthropic" in ended.stderr
    assert len(list(chat.record())) == 5


def test_two_formats_in_lines_are_named_until_one_is_chosen(run, write, url, chat):
    foreign = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "b", "name": "f", "input": {}}],
    }
    path = write(jsonl(user(), call("a"), result("a"), foreign))
    undecided = run("store", "append", url, "s", path)
    assert undecided.exit_code == 2
    assert "Choose one: --format openai-chat or --format anthropic" in undecided.stderr
    assert run("store", "append", url, "s", path, "--format", "openai-chat").exit_code == 1
    assert len(list(chat.record())) == 3


def test_a_file_in_another_format_than_the_session_is_refused(run, write, url, chat, data):
    chat.append([user(), call("a"), result("a")])
    refused = run("store", "append", url, "s", data / "anthropic.json")
    assert refused.exit_code == 2
    assert "openai-chat" in refused.stderr
    assert len(list(chat.record())) == 3


def test_lines_without_any_message_are_unusable(run, write, url):
    ended = run("store", "append", url, "s", write(b'{"who": "me"}\n{"who": "you"}\n'), "--json")
    assert ended.exit_code == 2
    assert "no line holds a message: line 1: no message" in ended.stderr
    assert set(json.loads(ended.stdout)) == {"store", "error"}


def test_an_empty_list_stores_nothing(run, write, url, chat):
    ended = run("store", "append", url, "s", write(b"[]"))
    assert ended.exit_code == 0
    assert "nothing was stored" in ended.stdout
    assert open_store(url).list() == []


def test_rows_of_a_log_that_are_about_something_else_are_no_fault(run, write, url, chat):
    rows = [
        ["events.stream", {"type": "user.message", "content": [{"type": "text", "text": "hi"}]}],
        ["events.stream", {"type": "session.status_idle"}],
        ["events.stream", {"type": "agent.message", "content": [{"type": "text", "text": "ho"}]}],
    ]
    ended = run("store", "append", url, "s", write(jsonl(*rows)))
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert [entry.message["type"] for entry in chat.record()] == ["user.message", "agent.message"]


def test_a_late_result_is_recorded_and_said_not_to_be_shown(run, write, url, chat):
    chat.append(user())
    ended = run("store", "append", url, "s", write([result("nobody")]), "--max-messages", 50)
    assert ended.exit_code == 0
    assert "recorded and not shown" in ended.stderr
