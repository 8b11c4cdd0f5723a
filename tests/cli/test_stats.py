"""`lockstitch stats`: what is counted."""

import json

from lockstitch.testing import assistant, call, result, system, user

KEYS = {
    *("file", "format", "messages", "groups", "turns", "calls", "results", "open", "abandoned"),
    *("orphans", "reused_ids", "far_results", "chars", "tokens", "largest", "violations"),
}


def test_a_file_of_each_format_is_counted(run, sample):
    counted = run("stats", sample, "--json")
    assert counted.exit_code == 0
    found = json.loads(counted.stdout)
    assert set(found) == KEYS
    assert (found["turns"], found["calls"], found["results"]) == (2, 12, 12)
    assert (found["open"], found["abandoned"], found["orphans"]) == (0, 0, 0)
    assert (found["reused_ids"], found["far_results"]) == (0, 0)
    assert 0 < found["tokens"]["low"] < found["tokens"]["high"]
    assert set(found["largest"]) == {"position", "role", "chars", "tokens"}
    assert found["violations"]["portable"] == {"errors": 0, "warnings": 0}


def test_trouble_is_counted_by_kind(run, write):
    history = [
        system(),
        user("x" * 99),
        call("a"),
        result("a"),
        call("a"),
        user("never mind"),
        result("nobody"),
        call("b"),
    ]
    found = json.loads(run("stats", write(history), "--json").stdout)
    assert (found["open"], found["abandoned"], found["orphans"]) == (1, 1, 1)
    assert found["reused_ids"] == 1
    assert found["largest"]["position"] == 1
    assert found["violations"]["openai-chat"]["errors"] > 0


def test_a_result_that_something_else_sets_apart_from_its_call_is_far(run, write):
    near = [user(), call("a", "b"), result("b"), result("a"), call("c"), result("c")]
    far = [user(), call("a"), assistant("wait"), result("a"), call("c"), user("hm"), result("c")]
    assert json.loads(run("stats", write(near), "--json").stdout)["far_results"] == 0
    assert json.loads(run("stats", write(far), "--json").stdout)["far_results"] == 2


def test_an_empty_list_is_counted_as_such(run, write):
    found = json.loads(run("stats", write([]), "--json").stdout)
    assert (found["messages"], found["largest"]) == (0, None)


def test_plain_output_names_every_count(run, data):
    counted = run("stats", data / "anthropic.json", data / "langchain.json")
    assert counted.stdout.count("largest message") == 2
    assert "violations, anthropic" in counted.stdout
    assert "12, 12 results" in counted.stdout


def test_an_unusable_file_exits_with_two_and_the_others_are_counted(run, write, data):
    counted = run("stats", write("{}"), data / "langchain.json", "--json")
    first, second = map(json.loads, counted.stdout.splitlines())
    assert "error" in first
    assert second["format"] == "langchain"
    assert counted.exit_code == 2
