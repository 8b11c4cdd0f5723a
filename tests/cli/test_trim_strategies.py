"""`lockstitch trim` with strategies: presets, files, the digest, blobs."""

import json

import pytest

import lockstitch as ls
from lockstitch.strategies import PRESETS, ClearResults, OffloadResults, StepsHistoryStrategy
from lockstitch.testing import assistant, call, result, system, user

ROUNDS = [
    message
    for at in range(20)
    for message in (call(f"c{at}", name="read"), result(f"c{at}", f"{at} " + "x" * 3_000))
]
AGENT = [system("Be brief."), user("Find the bug."), *ROUNDS, assistant("Found it.")]


@pytest.fixture
def agent(tmp_path):
    path = tmp_path / "agent.json"
    path.write_text(json.dumps(AGENT))
    return path


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_named_and_its_limit_given(run, agent, name):
    trimmed = run("trim", agent, "--strategy", name, "--max-chars", 20_000, "--json")
    assert trimmed.exit_code == 0
    found = json.loads(trimmed.stdout)
    assert found["after"]["chars"] <= 20_000
    assert found["plan"]["strategy"] == "steps"
    assert found["plan"]["after"]["chars"] == found["after"]["chars"]
    assert found["report"]["errors"] == 0
    assert found["messages"][:1] == AGENT[:1]


def test_what_was_done_is_explained(run, agent):
    trimmed = run("trim", agent, "--strategy", "agent", "--max-tokens", 16_000, "--explain")
    assert trimmed.exit_code == 0
    assert "clear-results: 16 messages" in trimmed.stderr
    assert "an old result, cleared; the record has it" in trimmed.stderr
    assert "because: " in trimmed.stderr


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_a_directive_is_read_from_a_file(run, agent, tmp_path, suffix):
    directive = StepsHistoryStrategy(
        steps=(ClearResults(keep_groups=2, head=10, tail=0),), max_chars=30_000
    ).directive()
    path = tmp_path / f"mine.{suffix}"
    path.write_text(directive.to_toml() if suffix == "toml" else directive.to_json().decode())
    trimmed = run("trim", agent, "--strategy", path, "--json")
    assert trimmed.exit_code == 0
    assert json.loads(trimmed.stdout)["messages"] == ls.trim(AGENT, strategy=directive)


def test_the_digest_stands_for_older_groups(run, agent):
    trimmed = run("trim", agent, "--summarize", "digest", "--max-chars", 40_000)
    assert trimmed.exit_code == 0
    window = json.loads(trimmed.stdout)
    assert window[1]["content"].startswith("[Summary of ")
    assert "- read({})" in window[1]["content"]
    both = run(
        "trim",
        agent,
        "--strategy",
        "agent",
        "--summarize",
        "digest",
        "--max-chars",
        3_000,
        "--json",
    )
    steps = [step["step"] for step in json.loads(both.stdout)["plan"]["steps"]]
    assert steps[-1] == "summarize"
    same = run("trim", agent, "--strategy", "chat", "--summarize", "digest", "--max-chars", 40_000)
    assert same.exit_code == 0


def test_offloaded_results_go_into_a_folder_that_is_named(run, agent, tmp_path):
    strategy = StepsHistoryStrategy(steps=(OffloadResults(min_chars=2_000),), max_chars=30_000)
    path = tmp_path / "mine.toml"
    path.write_text(strategy.directive().to_toml())
    refused = run("trim", agent, "--strategy", path)
    assert refused.exit_code == 2
    assert "--blobs FOLDER" in refused.stderr
    blobs = tmp_path / "blobs"
    trimmed = run("trim", agent, "--strategy", path, "--blobs", blobs)
    assert trimmed.exit_code == 0
    assert "[Stored: 3,0" in trimmed.stdout
    assert sum(found.is_file() for found in blobs.rglob("*")) == 19


@pytest.mark.parametrize(
    ("strategy", "text", "said"),
    [
        ("poet", None, "no preset has that name (chat, agent, coding-agent, long-running)"),
        ("gone.toml", None, "No such file"),
        ("mine.toml", "kind = ", "not a directive"),
        ("mine.json", '{"kind": "other"}', "not a directive"),
        ("mine.toml", b"\xff\xfe", "decode"),
    ],
)
def test_a_strategy_that_cannot_be_used_is_said(run, agent, strategy, text, said):
    path = agent.parent / strategy
    if isinstance(text, bytes):
        path.write_bytes(text)
    elif text is not None:
        path.write_text(text)
    named = path if "." in strategy else strategy
    refused = run("trim", agent, "--strategy", named, "--max-chars", 500)
    assert refused.exit_code == 2
    assert said in refused.stderr


def test_a_preset_without_a_limit_is_refused(run, agent):
    refused = run("trim", agent, "--strategy", "chat")
    assert refused.exit_code == 2
    assert "no limit given" in refused.stderr


def test_a_phrase_that_would_be_lost_is_no_fit(run, agent, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('window_messages = 5\nmust_survive = ["never said"]\n')
    refused = run("trim", agent, "--strategy", path, "--json")
    assert refused.exit_code == 1
    error = json.loads(refused.stdout)["error"]
    assert error["type"] == "PinLost"
    assert error["lost"] == ["the phrase 'never said', which nobody said"]
