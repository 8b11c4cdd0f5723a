"""`lockstitch check --sarif`: a log that code scanning reads."""

import gzip
import json
import os
import re

import pytest

from lockstitch.rules.catalog import RULES
from lockstitch.testing import assistant, call, result, user

BROKEN = [user("hi"), result("call_9"), assistant("done"), call("a"), user("go on")]
LEVELS = {"none", "note", "warning", "error"}
URI = re.compile(r"^([a-z]+://)?[\w./%~+@=,&-]+$", re.IGNORECASE)


def validated(log: dict) -> dict:
    """Check what SARIF 2.1.0 demands of the properties that are used; return the run."""
    assert set(log) == {"$schema", "version", "runs"}
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert isinstance(driver["name"], str)
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(ids) == len(set(ids))
    for rule in driver["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
        assert URI.match(rule.get("helpUri", "https://example.org"))
    for found in run["results"]:
        assert ids[found["ruleIndex"]] == found["ruleId"]
        assert found["level"] in LEVELS
        assert found["message"]["text"]
        (location,) = found["locations"]
        _located(location["physicalLocation"])
        (logical,) = location["logicalLocations"]
        assert logical["fullyQualifiedName"]
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)
        for notification in invocation.get("toolExecutionNotifications", ()):
            assert notification["level"] in LEVELS
            assert notification["message"]["text"]
            for location in notification["locations"]:
                _located(location["physicalLocation"])
    return run


def _located(place: dict) -> None:
    assert URI.match(place["artifactLocation"]["uri"])
    if "region" in place:
        assert place["region"]["startLine"] >= 1


def scanned(run, *arguments, **options) -> dict:
    return validated(json.loads(run("check", *arguments, "--sarif", **options).stdout))


def lines_of(found: dict) -> list:
    return [
        one["locations"][0]["physicalLocation"].get("region", {}).get("startLine")
        for one in found["results"]
    ]


def test_there_is_one_result_for_each_violation(run, write):
    path = write(BROKEN)
    checked = run("check", path, "--profile", "openai-chat", "--sarif")
    assert checked.exit_code == 1
    found = validated(json.loads(checked.stdout))
    report = json.loads(run("check", path, "--profile", "openai-chat", "--json").stdout)
    assert [one["ruleId"] for one in found["results"]] == [
        one["rule"] for one in report["violations"]
    ]
    for one, violation in zip(found["results"], report["violations"], strict=True):
        assert one["level"] == violation["severity"]
        assert violation["message"] in one["message"]["text"]
        assert violation["provider_error"] in one["message"]["text"]
        logical = one["locations"][0]["logicalLocations"][0]
        assert logical["fullyQualifiedName"] == violation["path"]


def test_a_rule_comes_with_help_and_the_address_of_its_source(run, write):
    found = scanned(run, write(BROKEN), "--profile", "openai-chat")
    for described in found["tool"]["driver"]["rules"]:
        rule = RULES[described["id"]]
        assert rule.statement in described["help"]["text"]
        assert rule.error in described["help"]["markdown"]
        assert described["helpUri"].startswith("https://github.com/")


def test_a_valid_file_has_no_result(run, sample):
    checked = run("check", sample, "--sarif")
    assert checked.exit_code == 0
    found = validated(json.loads(checked.stdout))
    assert found["results"] == []
    assert found["invocations"] == [{"executionSuccessful": True}]


def test_each_violation_names_the_line_of_its_message(run, write):
    written = ",\n  ".join(json.dumps(message) for message in BROKEN)
    body = write('{"model": "m", "messages": [\n  ' + written + "\n]}")
    assert lines_of(scanned(run, body, "--profile", "anthropic")) == [3, 5]
    rows = write("".join(json.dumps(message) + "\n" for message in BROKEN), "log.jsonl")
    assert lines_of(scanned(run, rows, "--profile", "anthropic")) == [2, 4]
    spread = write(json.dumps(BROKEN, indent=1))
    lines = spread.read_text().splitlines()
    begins = [at for at, line in enumerate(lines, 1) if line == " {"]
    assert lines_of(scanned(run, spread, "--profile", "anthropic")) == [begins[1], begins[3]]


def test_equal_messages_have_each_their_own_line(run, write):
    history = [user("hi"), *[result("call_9")] * 3, assistant("done")]
    rows = write("".join(json.dumps(message) + "\n" for message in history), "log.jsonl")
    assert lines_of(scanned(run, rows, "--profile", "openai-chat")) == [2, 3, 4]


def test_no_line_is_named_where_the_text_does_not_show_it(run, write):
    zipped = write(gzip.compress(json.dumps(BROKEN).encode()))
    assert lines_of(scanned(run, zipped)) == [None, None]
    odd = write('[{"role": "user", "content": "smile \\ud83d"}]')
    assert lines_of(scanned(run, odd)) == [None]
    nothing = write("[]")
    assert lines_of(scanned(run, nothing)) == [None]


def test_a_breach_that_several_profiles_share_is_one_result(run, write):
    path = write([user("smile \ud83d")])
    found = scanned(run, path, "--profile", "all")
    shared = [one for one in found["results"] if one["ruleId"] == "po-valid-text"]
    assert len(shared) == 1
    assert {"portable", "openai-chat"} <= set(shared[0]["properties"]["profiles"])


def test_a_file_that_cannot_be_used_is_a_notification(run, write, data):
    checked = run("check", write("?"), data / "langchain.json", "--sarif")
    assert checked.exit_code == 2
    (invocation,) = validated(json.loads(checked.stdout))["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert "not JSON" in notification["message"]["text"]
    assert "Error: " in checked.stderr


def test_standard_input_has_a_name(run):
    found = scanned(run, "-", stdin=json.dumps(BROKEN).encode())
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "stdin"


@pytest.mark.parametrize("name", ["with space.json", "a:b.json", "caf\u00e9.json", "100%.json"])
def test_the_name_of_a_file_becomes_an_address(run, write, tmp_path, monkeypatch, name):
    write(BROKEN, name)
    monkeypatch.chdir(tmp_path)
    scanned(run, name)
    scanned(run, tmp_path / name)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes there")
def test_a_name_that_is_no_text_becomes_one_as_well(process, tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.json"
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - a name of bytes
        json.dump(BROKEN, file)
    ended = process("check", os.fsdecode(path), "--sarif")
    assert ended.returncode == 1
    validated(json.loads(ended.stdout))


def test_the_log_can_go_to_a_file(run, write, tmp_path):
    target = tmp_path / "found.sarif"
    checked = run("check", write(BROKEN), "--sarif", "-o", target)
    assert checked.exit_code == 1
    assert checked.stdout == ""
    assert validated(json.loads(target.read_bytes()))["results"]


def test_a_log_that_cannot_be_written_is_said(run, write, tmp_path):
    checked = run("check", write(BROKEN), "--sarif", "-o", tmp_path / "no" / "x.sarif")
    assert checked.exit_code == 2
    assert "cannot be written" in checked.stderr
