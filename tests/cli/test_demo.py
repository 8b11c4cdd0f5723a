"""`lockstitch demo`: a real run, what a slice breaks, what is kept; an agent that is killed."""

import gzip
import json
import re
import subprocess
import sys
from importlib.resources import files

import pytest

import lockstitch as ls
from lockstitch.cli.demo_agent import KILLED_AT, SCRIPT

PLACE = files("lockstitch.cli")


@pytest.fixture(scope="module")
def recorded() -> list:
    return json.loads(gzip.decompress((PLACE / "demo_run.json.gz").read_bytes()))["messages"]


def test_the_recorded_run_is_long_valid_and_small_on_disk(recorded):
    assert 390 <= len(recorded) <= 410
    assert len((PLACE / "demo_run.json.gz").read_bytes()) < 600_000
    for profile in ("portable", "openai-chat", "openai-responses", "anthropic"):
        assert ls.check(recorded, profile=profile).ok


def test_the_source_of_the_run_is_told(recorded):
    told = (PLACE / "demo_run.SOURCE.md").read_text(encoding="utf-8")
    for word in ("MIT", "recorded", "Copyright", f"{len(recorded)} messages"):
        assert word in told


def test_the_demo_shows_the_damage_and_the_way_out(run):
    shown = run("demo")
    assert shown.exit_code == 0
    assert "refused by anthropic" in shown.stdout
    assert "the provider answers: unexpected `tool_use_id` found" in shown.stdout
    assert "kept 40 of 406 messages" in shown.stdout
    for profile in ("portable", "openai-chat", "openai-responses", "anthropic"):
        assert f"accepted by {profile}" in shown.stdout
    assert "The newest user message is there: yes" in shown.stdout
    assert "unchanged: yes" in shown.stdout


def test_the_demo_kills_an_agent_and_lets_it_go_on(run):
    shown = " ".join(run("demo").stdout.partition("5. An agent")[2].split())
    assert "16 steps" not in shown
    assert "15 steps, each stored as it was taken" in shown
    assert "exit status -9" in shown or sys.platform == "win32"
    assert "the call at the end is shown, 6 messages; accepted by openai-chat" in shown
    assert "it is hidden, 4 messages, hidden: 15, 16; accepted by openai-chat" in shown
    assert "is hidden: 5 messages, hidden: 15, 16; accepted by openai-chat" in shown
    assert "15 steps were stored already and are not stored twice, 5 are new" in shown
    for profile in ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock"):
        assert f"12 messages in 8 groups: accepted by {profile} (format openai-chat)" in shown
    assert "22 messages, numbered 1 to 22, in 21 batches; verify() finds nothing" in shown
    assert "session 'shop-incident': 12 of 22 messages are shown" in shown


def test_the_demo_says_the_same_each_time_but_for_the_processes(run):
    first, again = (re.sub(r"(rocess|kill -9) \d+", r"\1 N", run("demo").stdout) for _ in range(2))
    assert first == again


def test_the_agent_of_the_demo_ends_when_nobody_listens_any_more(url):
    command = [sys.executable, "-m", "lockstitch.cli.demo_agent", url, KILLED_AT]
    ended = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True
    )
    assert len(ended.stdout.splitlines()) == len(SCRIPT) + 1
    assert ended.stderr == b""


def test_the_demo_runs_on_a_terminal(terminal):
    shown = terminal("demo")
    assert "\x1b[" in shown
    assert "Traceback" not in shown
    assert "accepted by portable" in shown
