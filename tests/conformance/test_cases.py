"""Histories from public bug reports, with what is right to expect of each."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
CASES = [json.loads(line) for line in (DATA / "cases.jsonl").read_text().splitlines()]
# The formats whose targets have their rules in the catalogue.
READ = {"openai-chat", "anthropic", "openai-responses", "langchain", "agent-framework"}


@pytest.fixture(scope="module")
def outcomes():
    command = [sys.executable, "-m", "lockstitch.testing.cases", DATA / "cases.jsonl", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return {case["id"]: case for case in json.loads(ran.stdout)["cases"]}


def test_every_case_is_accounted_for(outcomes):
    assert outcomes.keys() == {case["id"] for case in CASES}
    assert all(case["reason"] for case in outcomes.values() if case["status"] == "unsupported")


def test_no_case_fails(outcomes):
    failed = {name: case["reason"] for name, case in outcomes.items() if case["status"] == "fail"}
    assert not failed


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["operation"]["op"] == "trim" and case["format"] in READ],
    ids=lambda case: case["id"],
)
def test_every_trim_case_of_a_format_that_is_read_passes(case, outcomes):
    assert outcomes[case["id"]]["status"] == "pass", outcomes[case["id"]]["reason"]
