"""Every rule with a known refusal: found as refused, clean as mended, and mended by a repair."""

import json
from pathlib import Path

import pytest

import lockstitch as ls
from lockstitch.rules.catalog import RULES
from lockstitch.rules.profiles import PROFILES

EXAMPLES = {
    row["id"]: row
    for row in map(
        json.loads,
        (Path(__file__).parent / "data" / "rules.jsonl").read_text().splitlines(),
    )
}

# What does not hold yet. A name goes when it does; the test says so.
NOT_FLAGGED = {
    "an-cache-control-empty-text",
    "an-cache-control-max-4",
    "an-compaction-first",
    "an-consecutive-roles",
    "an-error-result-empty",
    "an-pause-turn",
    "an-prefill-unsupported",
    "an-thinking-disabled-final",
    "an-thinking-latest-filtered",
    "an-thinking-latest-immutable",
    "an-thinking-mid-removal",
    "an-thinking-must-lead",
    "an-thinking-prefix-bound",
    "an-thinking-signature-invalid",
    "an-tool-id-pattern",
    "an-tools-must-be-defined",
    "an-trailing-whitespace",
    "az-same-validator",
    "br-alternate",
    "br-blank-text",
    "br-claude-inherits",
    "br-duplicate-documents",
    "br-duplicate-ids",
    "br-empty-content",
    "br-error-result-empty",
    "br-id-pattern",
    "br-mixed-assistant",
    "br-mixed-user",
    "br-result-exceeds",
    "br-result-missing",
    "br-start-user",
    "br-system-role",
    "br-tool-config",
    "co-v2-tool-id",
    "ds-anthropic-thinking",
    "ds-r1-reasoning-forbidden",
    "ds-reasoning-tool-call",
    "ds-tool-orphan",
    "ds-tool-unanswered",
    "ds-v4-reasoning-all",
    "ge-call-after-model-text",
    "ge-call-after-user",
    "ge-count-equal",
    "ge-dangling-call",
    "ge-end-with-model",
    "ge-part-data-required",
    "ge-parts-empty",
    "ge-response-after-call",
    "ge-response-name",
    "ge-role",
    "ge-signature-corrupt",
    "ge-signature-missing",
    "gl-empty-assistant",
    "gl-no-user",
    "gr-reasoning-unsupported",
    "ki-reasoning-tool-call",
    "lc-arguments-json",
    "lc-invalid-chat-history",
    "lc-message-coercion",
    "lc-tool-id-missing",
    "mi-content-and-calls",
    "mi-count",
    "mi-duplicate-id",
    "mi-empty-assistant",
    "mi-id-9",
    "mi-last-role",
    "mi-start",
    "mi-system-mid",
    "mi-tool-after-user",
    "mi-unknown-id",
    "mi-user-after-tool",
    "oc-arguments-string",
    "oc-reused-id",
    "oc-system-role-some-models",
    "oc-tool-call-id-length",
    "oc-tool-message-images",
    "or-approval-duplicate-with-chain",
    "or-assistant-part-type",
    "or-call-id-length",
    "or-call-needs-reasoning",
    "or-chain-plus-replay",
    "or-compaction-trigger-last",
    "or-compaction-verbatim",
    "or-encrypted-content-invalid",
    "or-hosted-call-needs-reasoning",
    "or-id-charset",
    "or-id-prefix",
    "or-item-reference-store-false",
    "or-mcp-call-approval-link",
    "or-message-needs-reasoning",
    "or-output-without-call-id",
    "or-pending-call-in-chain",
    "or-program-children",
    "or-reasoning-followed-by-foreign",
    "or-reasoning-summary-required",
    "or-store-false-ids",
    "qw-arguments-json",
    "qw-tool-orphan",
    "qw-tool-unanswered",
    "tp-alternate",
    "tp-alternate-after-system",
    "tp-content-and-thinking-gpt-oss",
    "tp-no-user-query",
    "tp-prefill-vs-thinking",
    "tp-single-tool-call",
    "tp-system-first",
    "tp-system-images",
    "tp-system-unsupported",
    "tp-tool-orphan-gpt-oss",
    "tp-two-assistants-end",
    "xa-empty-content",
}
NOT_CLEAN = {
    "an-pause-turn",
    "br-alternate",
    "br-blank-text",
    "br-claude-inherits",
    "br-duplicate-documents",
    "br-duplicate-ids",
    "br-empty-content",
    "br-error-result-empty",
    "br-id-pattern",
    "br-mixed-assistant",
    "br-mixed-user",
    "br-result-exceeds",
    "br-result-missing",
    "br-start-user",
    "br-system-role",
    "br-tool-config",
    "co-v2-tool-id",
    "ds-anthropic-thinking",
    "ds-r1-reasoning-forbidden",
    "ds-reasoning-tool-call",
    "ds-tool-orphan",
    "ds-tool-unanswered",
    "ds-v4-reasoning-all",
    "ge-call-after-model-text",
    "ge-call-after-user",
    "ge-count-equal",
    "ge-dangling-call",
    "ge-end-with-model",
    "ge-part-data-required",
    "ge-parts-empty",
    "ge-response-after-call",
    "ge-response-name",
    "ge-role",
    "ge-signature-corrupt",
    "ge-signature-missing",
    "gl-empty-assistant",
    "gl-no-user",
    "gr-reasoning-unsupported",
    "ki-reasoning-tool-call",
    "lc-arguments-json",
    "lc-invalid-chat-history",
    "lc-message-coercion",
    "lc-tool-id-missing",
    "mi-content-and-calls",
    "mi-count",
    "mi-duplicate-id",
    "mi-empty-assistant",
    "mi-id-9",
    "mi-last-role",
    "mi-start",
    "mi-system-mid",
    "mi-tool-after-user",
    "mi-unknown-id",
    "mi-user-after-tool",
    "qw-arguments-json",
    "qw-tool-orphan",
    "qw-tool-unanswered",
    "tp-alternate",
    "tp-alternate-after-system",
    "tp-content-and-thinking-gpt-oss",
    "tp-no-user-query",
    "tp-prefill-vs-thinking",
    "tp-single-tool-call",
    "tp-system-first",
    "tp-system-images",
    "tp-system-unsupported",
    "tp-tool-orphan-gpt-oss",
    "tp-two-assistants-end",
    "xa-empty-content",
}
NOT_MENDED = {
    "an-cache-control-empty-text",
    "br-alternate",
    "br-blank-text",
    "br-claude-inherits",
    "br-duplicate-documents",
    "br-duplicate-ids",
    "br-empty-content",
    "br-error-result-empty",
    "br-id-pattern",
    "br-mixed-assistant",
    "br-mixed-user",
    "br-result-exceeds",
    "br-result-missing",
    "br-start-user",
    "br-system-role",
    "br-tool-config",
    "co-v2-tool-id",
    "ds-anthropic-thinking",
    "ds-r1-reasoning-forbidden",
    "ds-reasoning-tool-call",
    "ds-tool-orphan",
    "ds-tool-unanswered",
    "ds-v4-reasoning-all",
    "ge-call-after-model-text",
    "ge-call-after-user",
    "ge-count-equal",
    "ge-dangling-call",
    "ge-end-with-model",
    "ge-part-data-required",
    "ge-parts-empty",
    "ge-response-after-call",
    "ge-response-name",
    "ge-role",
    "ge-signature-corrupt",
    "ge-signature-missing",
    "gl-empty-assistant",
    "gl-no-user",
    "gr-reasoning-unsupported",
    "ki-reasoning-tool-call",
    "lc-arguments-json",
    "lc-invalid-chat-history",
    "lc-message-coercion",
    "lc-tool-id-missing",
    "mi-content-and-calls",
    "mi-count",
    "mi-duplicate-id",
    "mi-empty-assistant",
    "mi-id-9",
    "mi-last-role",
    "mi-start",
    "mi-system-mid",
    "mi-tool-after-user",
    "mi-unknown-id",
    "mi-user-after-tool",
    "qw-arguments-json",
    "qw-tool-orphan",
    "qw-tool-unanswered",
    "tp-alternate",
    "tp-alternate-after-system",
    "tp-content-and-thinking-gpt-oss",
    "tp-no-user-query",
    "tp-prefill-vs-thinking",
    "tp-single-tool-call",
    "tp-system-first",
    "tp-system-images",
    "tp-system-unsupported",
    "tp-tool-orphan-gpt-oss",
    "tp-two-assistants-end",
    "xa-empty-content",
}

every_example = pytest.mark.parametrize("name", EXAMPLES)


def not_yet(request, name, names):
    if name in names:
        request.applymarker(pytest.mark.xfail(reason="not yet", strict=True))


def body(example, which, context="context"):
    """Put an example into the request it belongs to."""
    return {**(example[context] or {}), example["key"]: example[which]}


def options(example):
    return {"profile": example["profile"], "format": example["format"]}


def check(example, which, context="context", tail="closed"):
    return ls.check(body(example, which, context), **options(example), tail=tail)


@every_example
def test_the_refused_history_is_flagged_with_its_own_rule(name, request):
    not_yet(request, name, NOT_FLAGGED)
    example = EXAMPLES[name]
    severities = {one.severity for one in check(example, "failing").violations if one.rule == name}
    assert severities
    if RULES[name].severity == "error" and not RULES[name].scope:
        assert "error" in severities or all_are_suspected(example, name)


def all_are_suspected(example, name):
    """Messages alone may make a breach likely and not prove it; then it is a warning."""
    return RULES[name].severity == "error" and example["context"] is None


@every_example
def test_the_mended_history_is_clean(name, request):
    example = EXAMPLES[name]
    if example["repaired"] is None:
        pytest.skip("there is no mended history: what was sent could not be")
    not_yet(request, name, NOT_CLEAN)
    for tail in ("open", "closed"):
        report = check(example, "repaired", "repaired_context", tail)
        assert name not in {one.rule for one in report.violations}
        assert report.ok, report.errors


@every_example
def test_a_repair_makes_the_refused_history_clean(name, request):
    not_yet(request, name, NOT_MENDED)
    example = EXAMPLES[name]
    mended = ls.repair(body(example, "failing"), **options(example))
    assert mended.ok, mended.remaining
    report = ls.check(mended.messages, **options(example), tail="closed")
    assert report.ok, report.errors
    if name in {one.rule for one in check(example, "failing").errors}:
        assert mended.changes
    again = ls.repair(mended.messages, **options(example))
    assert again.changes == ()
    assert again.messages == mended.messages


def test_every_example_is_of_a_profile_that_there_is():
    strange = {row["profile"] for row in EXAMPLES.values()} - PROFILES.keys()
    assert strange <= PROFILES_TO_COME


PROFILES_TO_COME = {
    *("bedrock", "chat-template", "cohere", "deepseek", "gemini", "glm", "groq", "kimi"),
    *("langchain", "mistral", "qwen", "xai"),
}
