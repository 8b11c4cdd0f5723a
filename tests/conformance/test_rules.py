"""Every rule with a known refusal: the refused history is flagged, the mended one is clean."""

import json
from pathlib import Path

import pytest

import lockstitch as ls
from lockstitch.rules.catalog import RULES

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "rule_examples.jsonl").read_text().splitlines()
]
KEYS = {"openai-responses": "input"}


def request(example, which, context):
    """Put an example back into the request it was sent in."""
    key = KEYS.get(example["format"], "messages")
    return {**(example[context] or {}), key: example[which]}


def found(example, which, context):
    profile = next(name for name in RULES[example["id"]].profiles if name != "portable")
    return ls.check(
        request(example, which, context),
        profile=profile,
        tail="closed",
        format=example["format"],
    ).violations


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["id"])
def test_the_refused_history_is_flagged_with_its_own_rule(example):
    rules = {one.rule for one in found(example, "failing_example", "request_context")}
    assert example["id"] in rules


@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES if example["repaired_example"] is not None],
    ids=lambda example: example["id"],
)
def test_the_mended_history_is_clean_of_it(example):
    left = found(example, "repaired_example", "repaired_request_context")
    assert example["id"] not in {one.rule for one in left}
