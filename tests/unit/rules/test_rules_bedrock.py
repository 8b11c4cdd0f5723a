"""The rules of Bedrock Converse: each refused history is flagged, and mended with least loss."""

import json

import msgspec
import pytest

import lockstitch as ls
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import content, turns
from lockstitch.rules.models import known_of
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.record import Record
from lockstitch.rules.view import Finding
from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.render_turns import render_turns
from lockstitch.testing.steps import Calls, Result, Say, User
from lockstitch.writing import writer_for

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "us.amazon.nova-2-lite-v1:0"
LLAMA = "us.meta.llama3-3-70b-instruct-v1:0"
OPTIONS = {"profile": "bedrock", "format": "bedrock"}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def text(words="q"):
    return {"text": words}


def use(id_="tu_1", name="f"):
    return {"toolUse": {"toolUseId": id_, "name": name, "input": {}}}


def gave(id_="tu_1", *content, **more):
    held = list(content) or [text("r")]
    return {"toolResult": {"toolUseId": id_, "content": held, **more}}


def document(name="report"):
    return {"document": {"format": "txt", "name": name, "source": {"bytes": "YQ=="}}}


def stored(kind="image"):
    source = {"s3Location": {"uri": "s3://files/one"}}
    return {kind: {"format": "png", "source": source}}


GO, ON, A = told(text()), told(text("q2")), said(text("a"))
CALL, RESULT = said(use()), told(gave())
VIDEO = {"video": {"format": "mp4", "source": {"bytes": "AAAA"}}}
LONG = "x" * 65

# The rule, what breaks it, what repair makes of it, and the model that it takes to be sure.
TABLE = [
    ("br-result-missing", [GO, CALL, ON], None, None),
    (
        "br-result-missing",
        [GO, said(use("a"), use("b")), told(gave("a")), told(gave("b"))],
        [GO, said(use("a"), use("b")), told(gave("a"), gave("b"))],
        None,
    ),
    ("br-result-exceeds", [RESULT, A, ON], None, None),
    ("br-result-late", [GO, CALL, ON, A, RESULT], [GO, CALL, told(gave(), text("q2")), A], None),
    ("br-result-early", [GO, RESULT, CALL, ON], [GO, CALL, told(gave(), text("q2"))], None),
    ("br-single-result", [GO, CALL, told(gave(), gave())], [GO, CALL, RESULT], None),
    ("br-tool-use-role", [told(text(), use()), A, ON], [GO, A, ON], None),
    ("br-alternate", [GO, ON], [told(text(), text("q2"))], None),
    ("br-alternate", [GO, A, A, ON], [GO, said(text("a"), text("a")), ON], None),
    ("br-start-user", [A, ON], None, NOVA),
    ("br-mixed-user", [GO, CALL, told(gave(), text("also"))], None, LLAMA),
    ("br-mixed-assistant", [GO, said(text("let"), use()), RESULT], [GO, CALL, RESULT], LLAMA),
    ("br-blank-text", [GO, said(text(" ")), ON], [GO, said(text("(empty)")), ON], None),
    ("br-blank-text", [GO, said(text(""), use()), RESULT], [GO, CALL, RESULT], None),
    ("br-empty-content", [GO, said(), ON], [told(text(), text("q2"))], None),
    (
        "br-error-result-empty",
        [GO, CALL, told({"toolResult": {"toolUseId": "tu_1", "content": [], "status": "error"}})],
        [GO, CALL, told(gave("tu_1", text("(empty)"), status="error"))],
        None,
    ),
    (
        "br-duplicate-ids",
        [GO, said(use(), use()), told(gave(), gave())],
        [GO, said(use(), use("tu_1_2_PAcavxBh")), told(gave(), gave("tu_1_2_PAcavxBh"))],
        None,
    ),
    (
        "br-id-pattern",
        [GO, said(use("bad id!")), told(gave("bad id!"))],
        [GO, said(use("bad_id__FY574dmp")), told(gave("bad_id__FY574dmp"))],
        None,
    ),
    ("br-id-pattern", [GO, said(use(LONG)), told(gave(LONG))], None, None),
    (
        "br-name-pattern",
        [GO, said(use(name="browser.tabs.open")), RESULT],
        [GO, said(use(name="browser_tabs_open")), RESULT],
        None,
    ),
    (
        "br-duplicate-documents",
        [told(text(), document()), A, told(document("report-2"), text(), document())],
        [told(text(), document()), A, told(document("report-2"), text(), document("report-3"))],
        None,
    ),
    (
        "br-duplicate-documents",
        [told(text(), document()), CALL, told(gave("tu_1", document()))],
        [told(text(), document()), CALL, told(gave("tu_1", document("report-2")))],
        None,
    ),
    (
        "br-max-documents",
        [told(text(), *[document(str(number)) for number in range(6)])],
        [
            told(
                text(),
                text("[document 0 is not shown.]"),
                *[document(str(number)) for number in range(1, 6)],
            )
        ],
        None,
    ),
    ("br-claude-inherits", [GO, said(text("a "))], [GO, A], CLAUDE),
    ("br-system-role", [GO, {"role": "system", "content": [text("s")]}, A, ON], [GO, A, ON], None),
    (
        "br-video-refused",
        [told(text(), VIDEO)],
        [told(text(), text("[video is not shown.]"))],
        CLAUDE,
    ),
    (
        "br-s3-refused",
        [told(text(), stored())],
        [told(text(), text("[image is not shown.]"))],
        CLAUDE,
    ),
    (
        "br-s3-in-result",
        [GO, CALL, told(gave("tu_1", stored("document")))],
        [
            GO,
            CALL,
            told(
                gave("tu_1", text("[The attachment stands beside this result.]")),
                stored("document"),
            ),
        ],
        NOVA,
    ),
]
named = [f"{row[0]}-{number}" for number, row in enumerate(TABLE)]


@pytest.mark.parametrize(("rule", "broken", "mended", "model"), TABLE, ids=named)
def test_a_refused_history_is_flagged_and_mended(rule, broken, mended, model):
    found = ls.check(broken, model=model, **OPTIONS)
    assert rule in {one.rule for one in found.errors}
    repaired = ls.repair(broken, model=model, tail="open", **OPTIONS)
    assert repaired.remaining == ()
    assert rule in {change.rule for change in repaired.changes} or mended is None
    if mended is not None:
        assert repaired.messages == mended
    assert not ls.repair(repaired.messages, model=model, tail="open", **OPTIONS).changes


SCOPED = [row for row in TABLE if row[3] is not None]


@pytest.mark.parametrize(("rule", "broken", "mended", "model"), SCOPED)
def test_a_rule_of_some_models_warns_where_the_model_is_not_named(rule, broken, mended, model):
    severities = {
        one.severity for one in ls.check(broken, **OPTIONS).violations if one.rule == rule
    }
    assert severities == {"warning"}
    # An export takes nothing away for a trait that the model is not known to have.
    unnamed = ls.export(broken, **OPTIONS).messages
    assert rule in {one.rule for one in ls.check(unnamed, **OPTIONS).violations}
    named = ls.export(broken, model=model, **OPTIONS).messages
    assert rule not in {one.rule for one in ls.check(named, model=model, **OPTIONS).violations}


@pytest.mark.parametrize(
    ("broken", "model"),
    [([A, ON], CLAUDE), ([told(text(), VIDEO)], NOVA), ([GO, CALL, told(gave(), text())], NOVA)],
)
def test_what_was_recorded_as_accepted_is_accepted(broken, model):
    assert not ls.check(broken, model=model, **OPTIONS).violations


@pytest.mark.parametrize(
    "body", [{"toolConfig": None}, {"modelId": CLAUDE}, {"inferenceConfig": {}}]
)
def test_calls_in_the_history_need_tool_definitions(body):
    report = ls.check({**body, "messages": [GO, CALL, RESULT]}, **OPTIONS)
    assert [found.rule for found in report.errors] == ["br-tool-config"]
    assert report.errors[0].index == -1
    assert ls.check({**body, "messages": [GO, A, ON]}, **OPTIONS).ok
    tools = {"toolConfig": {"tools": [{}]}}
    assert ls.check({**body, **tools, "messages": [GO, CALL, RESULT]}, **OPTIONS).ok


def test_a_list_alone_says_nothing_of_tool_definitions():
    assert ls.check([GO, CALL, RESULT], **OPTIONS).ok


def test_a_batch_answered_in_part_at_the_end_is_a_warning_while_tools_run():
    half = [GO, said(use("a"), use("b")), told(gave("a"))]
    (found,) = ls.check(half, **OPTIONS).violations
    assert (found.rule, found.severity, found.path) == (
        "br-result-missing",
        "warning",
        "messages[1].content[1]",
    )
    assert not ls.check(half, tail="closed", **OPTIONS).ok
    assert not ls.check([GO, CALL], **OPTIONS).violations


def test_a_lost_result_comes_back_from_the_record():
    repaired = ls.repair([GO, CALL, ON], record=[GO, CALL, RESULT, A], **OPTIONS)
    assert repaired.messages == [GO, CALL, told(gave(), text("q2"))]
    assert [change.kind for change in repaired.changes] == ["restore"]


def test_a_call_is_dropped_only_where_nothing_may_be_made_up():
    repaired = ls.repair([GO, said(text("a"), use()), ON], allow={"drop"}, **OPTIONS)
    assert repaired.messages == [GO, A, ON]


def test_results_are_not_made_up_for_calls_that_have_one_further_on():
    apart = [GO, said(use("a"), use("b")), told(gave("a")), told(gave("b"))]
    repaired = ls.repair(apart, allow={"synthesize", "drop"}, **OPTIONS)
    assert repaired.messages == apart
    assert {one.rule for one in repaired.remaining} == {"br-result-missing", "br-alternate"}


def test_for_claude_results_come_first():
    mixed = [GO, CALL, told(text("also"), gave())]
    exported = ls.export(mixed, model=CLAUDE, **OPTIONS)
    assert exported.messages == [GO, CALL, told(gave(), text("also"))]


def test_instructions_go_to_the_field_of_the_request():
    repaired = ls.repair([{"role": "system", "content": [text("be brief")]}, GO], **OPTIONS)
    assert (repaired.messages, repaired.system) == ([GO], "be brief")


def test_raw_messages_stay_raw():
    natives = [msgspec.Raw(json.dumps(one).encode()) for one in (GO, ON)]
    (merged,) = ls.repair(natives, **OPTIONS).messages
    assert json.loads(bytes(merged)) == told(text(), text("q2"))


ODD = [
    {"role": "narrator", "content": [text(" ")]},
    {"role": "narrator", "content": []},
    {"role": "user", "content": "plain text"},
    told(text(), {"toolResult": {"toolUseId": "x", "content": None}}),
]


@pytest.mark.parametrize("odd", ODD)
def test_a_message_of_no_known_shape_is_looked_at_and_never_raises(odd):
    report = ls.check([GO, A, odd], **OPTIONS)
    orphaned = {"br-result-exceeds", "br-mixed-user", "br-claude-result-first"}
    assert {found.rule for found in report.violations} <= orphaned
    ls.repair([GO, A, odd], **OPTIONS)


def test_a_system_message_between_a_call_and_its_result_is_lifted_out():
    parted = [GO, CALL, {"role": "system", "content": [text("s")]}, RESULT]
    rules = {found.rule for found in ls.check(parted, **OPTIONS).errors}
    assert rules == {"br-system-role", "br-result-late"}
    assert ls.repair(parted, **OPTIONS).messages == [GO, CALL, RESULT]


def test_each_result_is_gathered_by_its_own_call():
    apart = [GO, said(use("a"), use("b"), use("c")), told(gave("a")), told(gave("c"), gave("b"))]
    repaired = ls.repair(apart, allow={"merge"}, **OPTIONS)
    assert repaired.remaining == ()
    assert len(repaired.messages) == 3


MENDS_OF_PARTS = [
    content.shorten_name,
    content.strip_end,
    turns.bring_back_signature,
    turns.bypass_signature,
    turns.name_response,
    turns.fold_into_result,
    turns.gather_result,
]


@pytest.mark.parametrize("mend", MENDS_OF_PARTS)
@pytest.mark.parametrize("related", [(), (0,)])
def test_a_mend_of_a_part_leaves_a_message_without_that_part_alone(mend, related):
    transcript = ls.load([GO, CALL, RESULT], format="bedrock")
    profile = get_profile("bedrock")
    draft = Draft(transcript, writer_for("bedrock"), profile)
    breach = Breach(
        rule=RULES["br-alternate"],
        finding=Finding(0, "nothing", "content[9]", related),
        view=view_of(transcript, profile, tail="open"),
        entries=draft.begin(),
        lookup=Lookup(view_of(transcript, profile, tail="open")),
        record=Record(transcript, transcript),
    )
    assert not mend(draft, breach)
    assert draft.changes == []


# --- the six ways in which histories break --------------------------------------------------------

SIX = (
    "answer early",
    "answer late",
    "delete call",
    "delete result",
    "double result",
    "interrupt",
)


def history(*, reused):
    names = iter(f"call_{number}" for number in range(100))
    steps = []
    for turn in range(3):
        steps.append(User(f"question {turn}"))
        for count in (1, 2, 3):
            ids = [f"call_{at}" if reused else next(names) for at in range(count)]
            steps.append(Calls.of(*ids))
            steps += [Result(one, f"result {turn} {count} {one}") for one in ids]
        steps.append(Say(f"answer {turn}"))
    return [*steps, User("last")]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("reused", [True, False])
@pytest.mark.parametrize("breakage", SIX)
def test_the_six_breakages_are_mended_and_lose_nothing(breakage, reused, packed):
    for place in range(18):
        steps = BREAKAGES[breakage](history(reused=reused), place)
        repaired = ls.repair(render_turns(steps, "bedrock", packed=packed), **OPTIONS)
        assert repaired.remaining == ()
        assert ls.check(repaired.messages, tail="closed", **OPTIONS).ok
        assert not ls.repair(repaired.messages, **OPTIONS).changes
        left = json.dumps(repaired.messages)
        assert all(step.text in left for step in steps if isinstance(step, (User, Say)))


# --- windows --------------------------------------------------------------------------------------


def test_a_hole_puts_no_two_messages_of_one_role_beside_each_other():
    big = said(text("x" * 500))
    messages = [told(text("one")), A, told(text("two")), big, told(text("three")), A, ON]
    window = ls.trim(messages, max_chars=200, **OPTIONS)
    assert window == [messages[at] for at in (0, 1, 4, 5, 6)]
    reasons = {edit.reason for edit in ls.plan(messages, max_chars=200, **OPTIONS).edits}
    assert reasons >= {"too-large", "neighbour"}


@pytest.mark.parametrize("cut", ["groups", "prefix"])
@pytest.mark.parametrize(
    ("pins", "kept"),
    [((0, 2), [0, 1, 2, 5, 6]), ((1, 3), [0, 1, 2, 3, 6]), ((1, 5), [0, 1, 2, 5, 6])],
)
def test_what_stood_between_two_pins_of_one_role_stays(pins, kept, cut):
    messages = [GO, A, told(text("two")), A, told(text("three")), A, ON]
    limits = {"max_messages": 5, "pins": pins, "cut": cut}
    assert ls.plan(messages, **limits, **OPTIONS).kept == kept


def test_a_pinned_answer_is_followed_by_what_followed_it():
    messages = [GO, A, told(text("two")), A, told(text("x" * 500))]
    plan = ls.plan(messages, max_chars=90, pins=(1,), floor=False, **OPTIONS)
    assert plan.kept == [0, 1, 2]


def test_the_user_has_the_last_word_in_a_window_where_he_has_it_in_the_input():
    messages = [GO, A, told(text("x" * 500))]
    assert ls.trim(messages, max_chars=60, floor=False, **OPTIONS) == [GO]


def test_the_facts_of_a_model_are_found_by_its_profile_name():
    assert known_of("bedrock", CLAUDE)["video_refused"]
    assert known_of("bedrock", LLAMA)["parts_apart"]


def test_the_new_name_of_a_document_is_one_that_no_document_in_a_result_has():
    held = {"toolUseId": "a", "content": [document("report-2"), {"text": "r"}], "status": "success"}
    use = {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}
    history = [
        {"role": "user", "content": [document(), {"text": "q"}, document()]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [{"toolResult": held}]},
    ]
    mended = ls.repair(history, profile="bedrock", format="bedrock")
    assert mended.messages[0]["content"][2]["document"]["name"] == "report-3"
