"""`lockstitch check`: what it says, what it prints as JSON, and how it exits."""

import gzip
import json

import pytest

from lockstitch.testing import assistant, call, result, user

ORPHAN = [user("hi"), result("call_9"), assistant("done")]
KEYS = {
    *("file", "tail", "kind", "summary", "ok", "profile", "format", "messages", "groups"),
    *("errors", "warnings", "violations"),
}
VIOLATION_KEYS = {
    *("rule", "severity", "index", "path", "message", "provider_error", "source", "caused"),
    "related",
}


def test_a_valid_file_of_each_format_is_accepted(run, sample):
    checked = run("check", sample)
    assert checked.exit_code == 0
    assert "accepted by portable" in checked.stdout
    assert checked.stderr == ""


def test_json_is_one_object_with_the_documented_keys(run, sample):
    found = json.loads(run("check", sample, "--json").stdout)
    assert set(found) == KEYS
    assert found["ok"] is True
    assert found["violations"] == []
    assert found["messages"] in {27, 28}


def test_a_violation_is_shown_with_its_place_the_providers_words_and_the_source(run, write):
    checked = run("check", write(ORPHAN), "--profile", "openai-chat")
    assert checked.exit_code == 1
    assert "refused by openai-chat, 1 error" in checked.stdout
    assert "messages[1].content" in checked.stdout
    assert "oc-tool-needs-call" in checked.stdout
    assert "the provider answers: " in checked.stdout
    assert "source: " in checked.stdout


def test_a_violation_has_the_documented_keys_in_json(run, write):
    found = json.loads(run("check", write(ORPHAN), "--json").stdout)
    assert found["ok"] is False
    assert set(found["violations"][0]) == VIOLATION_KEYS


def test_a_call_at_the_end_is_fine_until_the_model_is_called(run, write):
    path = write([user("hi"), call("a")])
    assert run("check", path).exit_code == 0
    assert run("check", path, "--tail", "closed").exit_code == 1


def test_several_files_give_one_json_line_each_and_the_worst_exit_code(run, write, data):
    broken = write(ORPHAN)
    checked = run("check", data / "anthropic.json", broken, "--json")
    first, second = map(json.loads, checked.stdout.splitlines())
    assert (first["ok"], second["ok"]) == (True, False)
    assert checked.exit_code == 1


def test_an_unusable_file_does_not_stop_the_others(run, write, data):
    checked = run("check", write("no JSON"), data / "langchain.json", "--json")
    first, second = map(json.loads, checked.stdout.splitlines())
    assert set(first) == {"file", "error"}
    assert set(first["error"]) == {"type", "message", "where"}
    assert second["ok"] is True
    assert checked.exit_code == 2


def test_standard_input_is_read_for_a_dash(run, sample):
    checked = run("check", "-", stdin=sample.read_bytes())
    assert checked.exit_code == 0
    assert checked.stdout.startswith("-: ")


def test_gzip_is_known_by_its_first_bytes_and_not_by_the_name(run, write, data):
    path = write(gzip.compress((data / "openai_chat.jsonl").read_bytes()), "history.txt")
    assert run("check", path).exit_code == 0


def test_a_format_can_be_named(run, data):
    checked = run("check", data / "openai_chat.json", "--format", "openai-chat", "--json")
    assert json.loads(checked.stdout)["format"] == "openai-chat"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--profile", "nobody", "x.json"),
        ("--format", "nothing", "x.json"),
        ("--tail", "ajar", "x.json"),
    ],
)
def test_wrong_arguments_exit_with_two(run, arguments):
    checked = run("check", *arguments)
    assert checked.exit_code == 2
    assert "Error: " in checked.stderr
