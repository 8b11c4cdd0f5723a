"""`lockstitch check`: what it says, what it prints as JSON, and how it exits."""

import gzip
import json

import pytest

from lockstitch.rules.profiles import PROFILES
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
        ("--profile", "openai-chat", "--profile", "nobody", "x.json"),
        ("--json", "--sarif", "x.json"),
        ("-o", "out.sarif", "x.json"),
        ("--record", "missing.json", "x.json"),
    ],
)
def test_wrong_arguments_exit_with_two(run, arguments):
    checked = run("check", *arguments)
    assert checked.exit_code == 2
    assert "Error: " in checked.stderr


def test_several_profiles_are_reported_one_by_one_and_summed_up_in_a_matrix(run, write):
    checked = run("check", write(ORPHAN), "--profile", "openai-chat", "--profile", "anthropic")
    assert checked.exit_code == 1
    assert "refused by openai-chat, 1 error" in checked.stdout
    assert "refused by anthropic, 1 error" in checked.stdout
    head, row, _ = checked.stdout.splitlines()[-3:]
    assert head.split() == ["openai-chat", "anthropic"]
    assert row.endswith(".json        1 / 0      1 / 0")


def test_a_profile_that_is_named_twice_is_asked_once(run, write):
    path = write(ORPHAN)
    asked = ("--profile", "anthropic", "--profile", "anthropic")
    assert run("check", path, *asked).stdout == run("check", path, *asked[:2]).stdout


def test_all_profiles_are_a_matrix_of_files_and_nothing_else(run, write, data):
    broken = write(ORPHAN)
    checked = run("check", data / "langchain.json", broken, "--profile", "all")
    assert checked.exit_code == 1
    head, fine, wrong, legend = checked.stdout.splitlines()
    assert head.split() == list(PROFILES)
    assert fine.startswith(str(data / "langchain.json"))
    assert "1 / 0" in wrong
    assert legend.startswith("errors / warnings")


def test_a_profile_that_does_not_take_the_format_is_left_blank(run, data):
    checked = run("check", data / "openai_responses.json", "--profile", "all")
    head, row, _ = checked.stdout.splitlines()
    at = head.index(" anthropic") + len(" anthropic")
    assert row[at - len("0 / 0") : at].strip() == ""
    asked = run("check", data / "openai_responses.json", "--profile", "all", "--json")
    profiles = [json.loads(line)["profile"] for line in asked.stdout.splitlines()]
    assert "openai-responses" in profiles
    assert "anthropic" not in profiles
    named = run("check", data / "openai_responses.json", "--profile", "anthropic", "--json")
    assert json.loads(named.stdout)["profile"] == "anthropic"


def test_an_unusable_file_has_no_row_in_the_matrix(run, write, data):
    checked = run("check", write("?"), data / "langchain.json", "--profile", "all")
    assert checked.exit_code == 2
    assert len(checked.stdout.splitlines()) == 3
    alone = run("check", write("?"), "--profile", "all")
    assert alone.exit_code == 2
    assert alone.stdout == ""


def test_the_matrix_is_drawn_on_a_terminal(terminal, write):
    shown = terminal("check", write(ORPHAN), "--profile", "all", columns=240)
    assert "1 / 0" in shown
    assert "openai-chat" in shown
    valid = terminal("check", write([user("hi")]), "--profile", "all", columns=240)
    assert "0 / 0" in valid


def test_a_record_shows_what_the_history_alone_does_not(run, write, data):
    history = data / "openai_chat.json"
    assert run("check", history, "--record", history, "--profile", "openai-chat").exit_code == 0


def test_a_record_in_another_format_is_refused(run, data):
    checked = run("check", data / "openai_chat.json", "--record", data / "anthropic.json")
    assert checked.exit_code == 2
    assert "anthropic.json" in checked.stderr
    assert "a record is in the format of its history" in checked.stderr


def test_the_model_can_be_named(run, sample):
    assert run("check", sample, "--model", "some-model", "--profile", "anthropic").exit_code == 0
