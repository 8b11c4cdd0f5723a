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

# What the example alone cannot show, and why.
UNSEEN = {
    "an-consecutive-roles": "accepted: neighbours of one role are joined",
    "an-thinking-prefix-bound": "a valid request by itself; the record shows what went",
    "or-compaction-verbatim": "a valid request by itself; the record shows what was compacted",
}
# Where a warning is all that can be said of the example alone; the record makes an error of it.
SUSPECTED = {
    "an-thinking-latest-filtered",
    "an-thinking-latest-immutable",
    "or-encrypted-content-invalid",
    "or-pending-call-in-chain",
}
# Where the mended example of the reports breaks another rule, and which.
NOT_CLEAN = {
    "lc-arguments-json": "lc-invalid-chat-history",
    "tp-tool-orphan-gpt-oss": "tp-alternate",
}

every_example = pytest.mark.parametrize("name", EXAMPLES)


def body(example, which, context="context"):
    """Put an example into the request it belongs to."""
    return {**(example[context] or {}), example["key"]: example[which]}


def options(example):
    return {"profile": example["profile"], "format": example["format"]}


def check(example, which, context="context", tail="closed"):
    return ls.check(body(example, which, context), **options(example), tail=tail)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in UNSEEN])
def test_the_refused_history_is_flagged_with_its_own_rule(name):
    example = EXAMPLES[name]
    severities = {one.severity for one in check(example, "failing").violations if one.rule == name}
    assert severities
    if RULES[name].severity == "error" and not RULES[name].scope and name not in SUSPECTED:
        assert "error" in severities or all_are_suspected(example, name)


def all_are_suspected(example, name):
    """Messages alone may make a breach likely and not prove it; then it is a warning."""
    return RULES[name].severity == "error" and example["context"] is None


@every_example
def test_the_mended_history_is_clean(name):
    example = EXAMPLES[name]
    if example["repaired"] is None:
        pytest.skip("there is no mended history: what was sent could not be")
    for tail in ("open", "closed"):
        report = check(example, "repaired", "repaired_context", tail)
        assert name not in {one.rule for one in report.violations}
        assert {one.rule for one in report.errors} <= {NOT_CLEAN.get(name)}


@every_example
def test_a_repair_makes_the_refused_history_clean(name):
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
    assert {row["profile"] for row in EXAMPLES.values()} <= PROFILES.keys()
