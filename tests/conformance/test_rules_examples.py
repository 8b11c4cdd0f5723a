"""Every rule with a known refusal: found as refused, clean as mended, and mended by a repair."""

import json
from pathlib import Path

import pytest

import lockstitch as ls
from lockstitch.rules import repair
from lockstitch.rules.account import KINDS, LOSSLESS, Terms
from lockstitch.rules.catalog import RULES
from lockstitch.rules.profiles import PROFILES

EXAMPLES = {
    row["id"]: row
    for row in map(
        json.loads,
        (Path(__file__).parent / "data" / "rules.jsonl").read_text().splitlines(),
    )
}

# No refusal: the API joins neighbours of one role, and the rule says so.
ACCEPTED = {"an-consecutive-roles"}
# Where the mended example of the reports is a fragment whose call is not answered yet.
PENDING = {"lc-arguments-json"}
# The model whose template the example is about; without a name, the strictest template counts.
MODELS = {"tp-tool-orphan-gpt-oss": "gpt-oss-120b"}


def recorded():
    """Tell what was recorded where the refused request alone, valid by its shape, cannot."""
    first = [{"role": "user", "content": "q1"}]
    signed = {"type": "thinking", "thinking": "t1", "signature": "S1"}
    answer = {"role": "assistant", "content": [signed, {"type": "text", "text": "a1"}]}
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    compacted = {"type": "compaction", "encrypted_content": "CMP1"}
    sent = {name: row["failing"] for name, row in EXAMPLES.items()}
    name = "or-encrypted-content-invalid"
    question, reasoning, *rest = sent[name]
    yield name, [question, {**reasoning, "encrypted_content": "as it was written"}, *rest]
    name = "or-pending-call-in-chain"
    yield name, [*first, call, *sent[name]]
    name = "or-compaction-verbatim"
    yield name, [*first, compacted, *sent[name]]
    name = "an-thinking-prefix-bound"
    yield name, [*first, answer, *sent[name]]
    yield "an-no-messages", first
    for name in ("an-thinking-latest-filtered", "an-thinking-latest-immutable"):
        yield name, EXAMPLES[name]["repaired"]


RECORDS = dict(recorded())
# What cannot be suspected of the request alone, and what is sure without a record.
UNSEEN = {"an-thinking-prefix-bound", "or-compaction-verbatim"}
SURE = {"an-no-messages"}

every_example = pytest.mark.parametrize("name", EXAMPLES)


def body(example, which, context="context"):
    """Put an example into the request it belongs to."""
    return {**(example[context] or {}), example["key"]: example[which]}


def options(example, record=False):
    """Name the profile, the format, the model and, if asked, what was recorded."""
    given = {"profile": example["profile"], "format": example["format"]}
    if example["id"] in MODELS:
        given["model"] = MODELS[example["id"]]
    if record and example["id"] in RECORDS:
        given["record"] = {example["key"]: RECORDS[example["id"]]}
    return given


def check(example, which, context="context", tail="closed", record=False):
    return ls.check(body(example, which, context), **options(example, record), tail=tail)


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - ACCEPTED))
def test_the_refused_history_is_flagged_with_its_own_rule(name):
    example = EXAMPLES[name]
    found = check(example, "failing", record=True).violations
    severities = {one.severity for one in found if one.rule == name}
    assert severities
    # Messages without the rest of their request may make a breach likely and not prove it.
    if RULES[name].severity == "error" and not RULES[name].scope and example["context"]:
        assert "error" in severities


@pytest.mark.parametrize("name", sorted(RECORDS.keys() - UNSEEN - SURE))
def test_without_a_record_the_breach_is_suspected(name):
    found = check(EXAMPLES[name], "failing").violations
    assert {one.severity for one in found if one.rule == name} == {"warning"}


@every_example
def test_the_mended_history_is_clean(name):
    example = EXAMPLES[name]
    if example["repaired"] is None:
        pytest.skip("there is no mended history: what was sent could not be")
    for tail in ("open", "closed") if name not in PENDING else ("open",):
        report = check(example, "repaired", "repaired_context", tail)
        assert name not in {one.rule for one in report.violations}
        assert report.errors == ()


@every_example
@pytest.mark.parametrize("record", [False, True])
def test_a_repair_makes_the_refused_history_clean(name, record):
    example = EXAMPLES[name]
    if not record and not example["failing"]:
        pytest.skip("of nothing, nothing is made up; the record has the newest user message")
    given = options(example, record)
    mended = ls.repair(body(example, "failing"), **given)
    assert mended.ok, mended.remaining
    report = ls.check(mended.messages, **given, tail="closed")
    assert report.ok, report.errors
    if name in {one.rule for one in check(example, "failing", record=record).errors}:
        assert mended.changes
    again = ls.repair(mended.messages, **given)
    assert again.changes == ()
    assert again.messages == mended.messages


@every_example
@pytest.mark.usefixtures("watched")
@pytest.mark.parametrize("allow", [(kind,) for kind in KINDS])
@pytest.mark.parametrize("target_only", [False, True])
def test_whatever_kind_of_mend_is_left_says_whether_it_changed_anything(name, allow, target_only):
    example = EXAMPLES[name]
    scope = RULES[name].scope
    known = {scope.removeprefix("not "): not scope.startswith("not ")} if scope else {}
    terms = Terms(
        profile=PROFILES[example["profile"]], allow=allow, target_only=target_only, known=known
    )
    opened = ls.load(body(example, "failing"), format=example["format"])
    draft = repair.mend(opened, terms)
    assert all(change.kind in {*allow, *LOSSLESS} for change in draft.changes)


def test_every_example_is_of_a_profile_that_there_is():
    assert {row["profile"] for row in EXAMPLES.values()} <= PROFILES.keys()
