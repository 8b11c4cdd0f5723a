"""`lockstitch demo`: a real run, what a slice breaks, what is kept."""

import gzip
import json
from importlib.resources import files

import pytest

import lockstitch as ls

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


def test_the_demo_runs_on_a_terminal(terminal):
    shown = terminal("demo")
    assert "\x1b[" in shown
    assert "Traceback" not in shown
    assert "accepted by portable" in shown
