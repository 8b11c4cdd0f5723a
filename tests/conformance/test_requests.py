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
    report = ls.check(row["request"], profile=profile, tail="closed", format=format)
    return {one.rule for one in report.violations if severity in {None, one.severity}}


# Accepted, although an error is found: (interface, provider) -> the rules, and why.
TAKEN_ALL_THE_SAME = {
    # A turn that calls a tool of the client as well waits for that one first; the result of the
    # provider's own comes afterwards. The rule does not know this yet.
    ("anthropic", "anthropic"): {"an-server-use-needs-result"},
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
        mended = ls.repair(row["request"], profile=profile, format=format)
        assert mended.changes == ()
        assert mended.messages == row["request"]


# --- refused -------------------------------------------------------------------------------------

# What the provider said, and the rules that say the same. `None`: messages do not show it.
REASONS = (
    ("No tool output found for tool call", {"or-call-needs-output"}),
    ("without its required following item", {"or-reasoning-followed-by-foreign"}),
    ("use a valid role: user, model", {"ge-role"}),
    ("does not support 'system'", {"oc-system-role-some-models"}),
    ("does not support 'developer'", {"oc-system-role-some-models"}),
    ("expected to be either text or image_url", {"oc-media-after-tool"}),
    ("support the video content block", {"br-media-unsupported"}),
    ("support the s3Uri field", {"br-media-unsupported"}),
    ("extraneous key [toolResult]", {"br-mixed-user"}),
    ("document.source.type: Field required", {"br-media-unsupported"}),
    ("but got unsupported MIME type", {"or-media-unsupported"}),
    # What the model wrote was refused, not what it was sent.
    ("Tool call validation failed", None),
    ("model did not call a tool", None),
)
# Refused, and not found yet: the part of the reason that says which.
NOT_FOUND_YET = {
    "No tool output found for tool call",
    "without its required following item",
    "use a valid role: user, model",
    "does not support 'system'",
    "does not support 'developer'",
    "expected to be either text or image_url",
    "support the video content block",
    "support the s3Uri field",
    "extraneous key [toolResult]",
    "document.source.type: Field required",
    "but got unsupported MIME type",
}


def reason(row):
    said = json.dumps(row["error"])
    return next((words, rules) for words, rules in REASONS if words in said)


def flagged(row):
    rules = reason(row)[1]
    return rules is not None and bool(found(row) & rules)


@pytest.mark.parametrize("row", REJECTED, ids=lambda row: reason(row)[0].replace(" ", "-"))
def test_a_request_that_was_refused_is_found_with_the_rule_of_the_answer(row, request):
    words, rules = reason(row)
    if rules is None:
        pytest.skip("the model's output was refused, not the history")
    if words in NOT_FOUND_YET:
        request.applymarker(pytest.mark.xfail(reason="no such rule yet", strict=True))
    assert flagged(row)


@pytest.mark.xfail(NOT_FOUND_YET, reason="rules are missing yet", strict=True)
def test_at_least_95_of_100_refused_histories_are_found():
    histories = [row for row in REJECTED if reason(row)[1] is not None]
    assert sum(map(flagged, histories)) >= 0.95 * len(histories)


def test_every_recorded_request_names_its_source_and_licence():
    for row in (*ACCEPTED, *REJECTED):
        assert row["licence"] in {"MIT", "Apache-2.0"}
        assert row["source"]
