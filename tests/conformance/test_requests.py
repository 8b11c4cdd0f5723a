"""Recorded requests: nothing that a provider took is refused, what it refused is found.

The verdicts are the providers' own, so they are an oracle that knows nothing of the rules.
"""

import gzip
import json
from pathlib import Path

import pytest

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES

DATA = Path(__file__).parent / "data"
# What an interface is called in the recordings, and the format of its messages.
FORMATS = {
    "anthropic": "anthropic",
    "anthropic-count": "anthropic",
    "bedrock-converse": "bedrock",
    "bedrock-invoke-anthropic": "anthropic",
    "gemini": "gemini",
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "openai-responses-compact": "openai-responses",
}
# Providers with a profile of their own for the chat format; the others serve it as OpenAI does.
CHAT = {
    "deepseek": "deepseek",
    "groq": "groq",
    "mistral": "mistral",
    "xai": "xai",
    "zai": "glm",
}


def rows(name):
    lines = gzip.decompress((DATA / name).read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


ACCEPTED = rows("requests_accepted.jsonl.gz")
REJECTED = rows("requests_rejected.jsonl.gz")


def target(row):
    """Name the profile and the format of a request."""
    format = FORMATS[row["api"]]
    profile = CHAT.get(row["provider"], format) if format == "openai-chat" else format
    return profile, format


def found(row, severity=None):
    profile, format = target(row)
    if profile not in PROFILES:
        return set()  # a profile to come
    report = ls.check(
        row["request"], profile=profile, tail="closed", format=format, model=row["model"]
    )
    return {one.rule for one in report.violations if severity in {None, one.severity}}


# Accepted, although an error is found: (interface, provider) -> the rules, and why.
TAKEN_ALL_THE_SAME = {
    # The recording shortened the signature.
    ("gemini", "google"): {"ge-signature-corrupt"},
    # They serve the chat interface and take pictures in results, and long ids.
    ("openai-chat", "ollama"): {"oc-tool-message-images"},
    ("openai-chat", "openrouter"): {"oc-tool-message-images", "oc-tool-call-id-length"},
    # xAI serves the Responses interface and does not mind an item that stands twice.
    ("openai-responses", "xai"): {"or-duplicate-item"},
}


@pytest.mark.parametrize("api", sorted({row["api"] for row in ACCEPTED}))
def test_no_error_is_found_in_a_request_that_was_accepted(api):
    wrong = []
    for number, row in enumerate(ACCEPTED):
        if row["api"] != api:
            continue
        rules = found(row, "error") - TAKEN_ALL_THE_SAME.get((api, row["provider"]), set())
        wrong += [(number, row["provider"], row["model"], rule) for rule in sorted(rules)]
    assert not wrong


@pytest.mark.parametrize("api", sorted({row["api"] for row in ACCEPTED}))
def test_a_repair_leaves_a_request_that_was_accepted_as_it_is(api):
    for row in ACCEPTED:
        profile, format = target(row)
        if row["api"] != api or profile not in PROFILES or found(row, "error"):
            continue
        mended = ls.repair(row["request"], profile=profile, format=format, model=row["model"])
        assert mended.changes == ()
        assert mended.messages == row["request"]


# --- refused -------------------------------------------------------------------------------------

# What the provider said, and the rules that say the same. `None`: messages do not show it.
REASONS = (
    ("No tool output found for tool call", {"or-calls-stand-together"}),
    ("without its required following item", {"or-reasoning-followed-by-foreign"}),
    ("use a valid role: user, model", {"ge-role"}),
    ("does not support 'system'", {"oc-system-role-some-models"}),
    ("does not support 'developer'", {"oc-developer-role-some-models"}),
    ("expected to be either text or image_url", {"oc-audio-some-models"}),
    ("support the video content block", {"br-video-refused"}),
    ("support the s3Uri field", {"br-s3-refused"}),
    ("extraneous key [toolResult]", {"br-s3-in-result"}),
    ("document.source.type: Field required", {"br-s3-refused"}),
    ("but got unsupported MIME type", {"or-file-media-type"}),
    # What the model wrote was refused, not what it was sent.
    ("Tool call validation failed", None),
    ("model did not call a tool", None),
)


def reason(row):
    said = json.dumps(row["error"])
    return next((words, rules) for words, rules in REASONS if words in said)


def flagged(row):
    rules = reason(row)[1]
    return rules is not None and bool(found(row) & rules)


@pytest.mark.parametrize("row", REJECTED, ids=lambda row: reason(row)[0].replace(" ", "-"))
def test_a_request_that_was_refused_is_found_with_the_rule_of_the_answer(row):
    _, rules = reason(row)
    if rules is None:
        pytest.skip("the model's output was refused, not the history")
    assert flagged(row)


def test_at_least_95_of_100_refused_histories_are_found():
    histories = [row for row in REJECTED if reason(row)[1] is not None]
    assert sum(map(flagged, histories)) >= 0.95 * len(histories)


def test_every_recorded_request_names_its_source_and_licence():
    for row in (*ACCEPTED, *REJECTED):
        assert row["licence"] in {"MIT", "Apache-2.0"}
        assert row["source"]
