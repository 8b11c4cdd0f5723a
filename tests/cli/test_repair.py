"""`lockstitch repair` and `export`: what they write, what they say, how they exit."""

import gzip
import json

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, user

# A result that comes late, a call without a result, a result without a call.
BROKEN = [
    user("one"),
    call("a"),
    user("two"),
    result("a", "found a"),
    call("b"),
    user("three"),
    result("gone", "found | it"),
]
KEYS = {
    *("file", "kind", "summary", "ok", "profile", "format", "counts", "system"),
    *("changes", "remaining", "messages"),
}
CHANGE_KEYS = {"kind", "rule", "index", "path", "message", "before", "after", "related"}
CHAT = ("--profile", "openai-chat")


def accepted(content: bytes | str) -> bool:
    return ls.check(content, profile="openai-chat", tail="closed").ok


# --- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [("repair",), ("export", "--profile", "openai-chat")])
def test_a_valid_file_of_each_format_comes_out_byte_for_byte(run, sample, command):
    profile = ls.load(sample).format.name
    profile = profile if profile in {"openai-responses", "anthropic"} else "openai-chat"
    ended = run(command[0], sample, "--profile", profile)
    assert ended.exit_code == 0
    assert ended.stdout_bytes == sample.read_bytes()
    assert f"no change; accepted by {profile}" in ended.stderr


def test_a_broken_file_is_mended_as_the_function_mends_it(run, write):
    path = write(BROKEN)
    ended = run("repair", path, *CHAT)
    assert ended.exit_code == 0
    assert ended.stdout_bytes == ls.repair(path.read_bytes(), profile="openai-chat").messages
    assert accepted(ended.stdout_bytes)
    assert "3 changes: 1 moved, 1 made up, 1 turned into notes; accepted by" in ended.stderr
    assert json.loads(path.read_bytes()) == BROKEN


def test_what_was_mended_is_mended_no_further(run, write):
    once = run("repair", write(BROKEN), *CHAT).stdout_bytes
    again = run("repair", write(once), *CHAT)
    assert again.stdout_bytes == once
    assert "no change" in again.stderr


def test_json_lines_stay_json_lines_in_the_order_of_the_conversation(run, write):
    rows = [json.dumps(message) for message in BROKEN]
    ended = run("repair", write("\n".join(rows) + "\n", "log.jsonl"), *CHAT)
    assert ended.exit_code == 0
    written = ended.stdout.splitlines()
    assert [json.loads(line)["role"] for line in written] == [
        *("user", "assistant", "tool", "user", "assistant", "tool", "user", "user")
    ]
    assert written[2] == rows[3]
    assert accepted(ended.stdout)


def test_a_single_json_line_stays_one(run, write):
    line = json.dumps(user("hi")) + "\n"
    ended = run("repair", write(line, "log.jsonl"), "--json")
    assert json.loads(ended.stdout)["messages"] == [user("hi")]


def test_gzip_stays_gzip(run, write, tmp_path):
    path = write(gzip.compress(json.dumps(BROKEN).encode()))
    target = tmp_path / "mended"
    assert run("repair", path, *CHAT, "-o", target).exit_code == 0
    assert accepted(gzip.decompress(target.read_bytes()))


def test_a_request_body_keeps_what_stands_around_the_list(run, write):
    body = {"model": "some-model", "temperature": 0.10, "messages": BROKEN}
    found = json.loads(run("repair", write(body), *CHAT).stdout)
    assert (found["model"], found["temperature"]) == ("some-model", 0.1)
    assert accepted(json.dumps(found))


def test_the_input_can_be_replaced_by_naming_it(run, write):
    path = write(BROKEN)
    ended = run("repair", path, *CHAT, "-o", path)
    assert ended.exit_code == 0
    assert ended.stdout == ""
    assert accepted(path.read_bytes())


def test_standard_input_is_read_for_a_dash(run):
    ended = run("repair", "-", *CHAT, stdin=json.dumps(BROKEN).encode())
    assert accepted(ended.stdout)
    assert ended.stderr.startswith("-: ")


# --- what is said ---------------------------------------------------------------------------------


def test_every_change_is_explained_with_before_and_after(run, write):
    ended = run("repair", write(BROKEN), *CHAT, "--explain")
    assert "move        messages[3]: the result a was moved to its call" in ended.stderr
    assert "as it was: " in ended.stderr
    assert "before: nothing" in ended.stderr
    assert "found | it" in ended.stderr
    assert accepted(ended.stdout)


def test_a_dry_run_says_what_would_be_changed_and_writes_nothing(run, write):
    path = write(BROKEN)
    ended = run("repair", path, *CHAT, "--dry-run")
    assert ended.exit_code == 0
    assert "the result a was moved to its call" in ended.stdout
    assert ended.stderr == ""
    assert json.loads(path.read_bytes()) == BROKEN
    found = json.loads(run("repair", path, *CHAT, "--dry-run", "--json").stdout)
    assert found["messages"] is None
    assert found["changes"]


def test_json_has_the_documented_keys(run, write):
    ended = run("repair", write(BROKEN), *CHAT, "--json")
    found = json.loads(ended.stdout)
    assert set(found) == KEYS
    assert ended.stderr == ""
    assert (found["kind"], found["ok"], found["remaining"]) == ("repair", True, [])
    assert found["counts"] == {"move": 1, "synthesize": 1, "demote": 1}
    assert all(set(change) == CHANGE_KEYS for change in found["changes"])
    assert accepted(json.dumps(found["messages"]))


def test_with_an_output_file_the_json_carries_no_messages(run, write, tmp_path):
    ended = run("repair", write(BROKEN), *CHAT, "--json", "--explain", "-o", tmp_path / "out")
    assert json.loads(ended.stdout)["messages"] is None
    assert "was moved to its call" in ended.stderr
    assert accepted((tmp_path / "out").read_bytes())


def test_changes_are_a_tree_on_a_terminal(terminal, write, tmp_path):
    history = [*BROKEN[:4], call("b"), user("[red]x[/red]"), result("gone", "[red]y[/red]")]
    out = tmp_path / "out"
    shown = terminal("repair", write(history), *CHAT, "--explain", "-o", out, columns=200)
    assert "was moved to its call" in shown
    assert "[red]y[/red]" in shown
    asked = (*CHAT, "--allow", "move", "-o", out)
    left = terminal("repair", write(history), *asked, columns=200)
    assert "the provider answers" in left


# --- what may be done -----------------------------------------------------------------------------


def test_what_is_forbidden_is_left_and_exits_with_one(run, write):
    ended = run("repair", write(BROKEN), *CHAT, "--allow", "move")
    assert ended.exit_code == 1
    assert "1 change: 1 moved; refused by openai-chat, 2 errors not mended" in ended.stderr
    assert "[oc-tool-calls-answered]" in ended.stderr
    found = json.loads(run("repair", write(BROKEN), *CHAT, "--allow", "move", "--json").stdout)
    assert [one["rule"] for one in found["remaining"]] == [
        *("oc-tool-calls-answered", "oc-tool-needs-call")
    ]
    more = ("--allow", "move", "--allow", "synthesize", "--allow", "demote")
    assert run("repair", write(BROKEN), *CHAT, *more).exit_code == 0


def test_an_open_end_is_left_open_when_asked(run, write):
    path = write([user("hi"), call("a")])
    left = run("repair", path, *CHAT, "--tail", "open")
    assert (left.stdout_bytes, left.exit_code) == (path.read_bytes(), 0)
    assert "1 made up" in run("repair", path, *CHAT).stderr


def test_what_was_lost_comes_back_from_the_record(run, write):
    whole = [user("one"), call("a"), result("a", "found it"), assistant("done"), user("two")]
    record = write(whole, "record.json")
    path = write([whole[0], whole[1], *whole[3:]])
    ended = run("repair", path, *CHAT, "--record", record)
    assert "1 change: 1 restored" in ended.stderr
    assert json.loads(ended.stdout) == whole


@pytest.mark.parametrize("content", ["?", "", b'[{"who": "me"}]', None])
def test_a_record_that_cannot_be_used_is_named(run, write, tmp_path, content):
    record = tmp_path / "missing.json"
    if content is not None:
        record = write(content, "record.json")
    ended = run("repair", write(BROKEN), "--record", record, "--json")
    assert ended.exit_code == 2
    assert record.name in ended.stderr
    assert set(json.loads(ended.stdout)) == {"file", "error"}


def test_a_record_that_fits_two_formats_is_read_as_the_history_is(run, write):
    tool_use = {"type": "tool_use", "id": "b", "name": "f", "input": {}}
    both = [user("one"), call("a"), result("a"), {"role": "assistant", "content": [tool_use]}]
    record = write(both, "record.json")
    ended = run("repair", write([*both[:2], user("two")]), *CHAT, "--record", record)
    assert ended.exit_code == 2
    assert "record.json: messages[3] is in the format anthropic" in ended.stderr
    named = ("--format", "openai-chat", "--record", record)
    assert "is in the format" in run("repair", write(both), *CHAT, *named).stderr


def test_a_record_in_another_format_is_refused(run, write, data):
    ended = run("repair", write(BROKEN), "--record", data / "anthropic.json")
    assert ended.exit_code == 2
    assert "is in the format anthropic, and the history in openai-chat" in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("repair",),
        ("repair", "x.json", "--allow", "magic"),
        ("repair", "x.json", "--allow", "restore"),
        ("repair", "x.json", "--profile", "nobody"),
        ("repair", "x.json", "--tail", "ajar"),
        ("repair", "x.json", "--dry-run", "-o", "y.json"),
        ("export", "x.json"),
        ("export", "x.json", "--profile", "anthropic", "--dry-run", "-o", "y.json"),
    ],
)
def test_wrong_arguments_exit_with_two(run, arguments):
    ended = run(*arguments)
    assert ended.exit_code == 2
    assert "Error: " in ended.stderr


def test_a_result_that_cannot_be_written_is_said(run, write, tmp_path):
    ended = run("repair", write(BROKEN), *CHAT, "-o", tmp_path / "no" / "x")
    assert ended.exit_code == 2
    assert "cannot be written" in ended.stderr


# --- instructions that leave the list -------------------------------------------------------------


def test_instructions_that_leave_the_list_go_into_the_body(run, write):
    body = {"messages": [{"role": "system", "content": "Be kind."}, user("hi")], "system": "Now."}
    path = write(body)
    ended = run("repair", path, "--profile", "anthropic", "--format", "anthropic")
    assert json.loads(ended.stdout) == {"messages": [user("hi")], "system": "Now.\n\nBe kind."}
    assert "belong into" not in ended.stderr


def test_instructions_without_a_place_are_said(run, write):
    path = write([{"role": "system", "content": "Be kind."}, user("hi")])
    ended = run("repair", path, "--profile", "anthropic", "--format", "anthropic")
    assert json.loads(ended.stdout) == [user("hi")]
    assert "belong into the request's own field: Be kind." in ended.stderr
    found = json.loads(
        run("repair", path, "--profile", "anthropic", "--format", "anthropic", "--json").stdout
    )
    assert found["system"] == "Be kind."
