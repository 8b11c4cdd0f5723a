"""The laws, over transcripts that nobody here wrote."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lockstitch as ls

CORPUS = Path(__file__).parent / "data" / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
NATIVE = {
    "agent_framework": "openai-chat",
    "anthropic": "anthropic",
    "bedrock_converse": "bedrock",
    "gemini": "gemini",
    "langchain": "openai-chat",
    "openai_chat": "openai-chat",
    "openai_responses": "openai-responses",
}


@pytest.mark.parametrize("folder", sorted(NATIVE))
def test_the_laws_hold_on_every_file_of_a_folder(folder):
    command = [sys.executable, "-m", "lockstitch.testing.corpus", CORPUS / folder, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(ran.stdout)
    assert found["failures"] == []
    assert found["unread"] == []
    assert found["files"] == len(list((CORPUS / folder).iterdir()))
    assert found["windows"] > 100 * found["files"]


def test_every_file_names_its_source_and_licence():
    rows = [json.loads(line) for line in (CORPUS / "MANIFEST.jsonl").read_text().splitlines()]
    assert {row["file"] for row in rows} == {str(path.relative_to(CORPUS)) for path in FILES}
    assert {row["licence"] for row in rows} <= {"MIT", "Apache-2.0"}
    assert all(row["source"] for row in rows)


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.name.startswith("cassette_")],
    ids=lambda path: f"{path.parent.name}/{path.stem[:60]}",
)
def test_a_request_that_its_provider_accepted_breaks_no_rule(path):
    profile = NATIVE[path.parent.name]
    if profile not in {"openai-chat", "openai-responses", "anthropic"}:
        profile = "openai-chat"  # no profile of its own yet: its pairing rules are the same
    report = ls.check(path.read_bytes(), profile=profile, tail="closed")
    known = ACCEPTED_ELSEWHERE.get(path.stem[:60], set())
    assert {violation.rule for violation in report.errors} <= known, report.errors


# Accepted by a provider other than the one whose rule it breaks.
ACCEPTED_ELSEWHERE = {
    "cassette_xai_chat_web_search_with_xai_grok-4_3_replays_search_"[:60]: {"or-duplicate-item"},
}
