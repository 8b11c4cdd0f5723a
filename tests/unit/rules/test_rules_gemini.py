"""The rules of Gemini: each refused history is flagged, and mended with the least loss."""

import json

import pytest

import lockstitch as ls
from lockstitch.rules.models import known_of
from lockstitch.testing.breakages import BREAKAGES, without_ids
from lockstitch.testing.render_turns import render_turns
from lockstitch.testing.steps import Calls, Result, Say, User

NEW, OLD = "gemini-3-flash-preview", "gemini-2.5-flash"
OPTIONS = {"profile": "gemini", "format": "gemini"}
BYPASS = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
SIGNED = {"thoughtSignature": "U0lH"}


def told(*parts):
    return {"role": "user", "parts": list(parts)}


def said(*parts):
    return {"role": "model", "parts": list(parts)}


def text(words="q"):
    return {"text": words}


def call(name="f", id_=None, **more):
    held = {"name": name, "args": {}}
    return {"functionCall": held | ({"id": id_} if id_ else {}), **more}


def gave(name="f", id_=None, result="r"):
    held = {"name": name, "response": {"result": result}}
    return {"functionResponse": held | ({"id": id_} if id_ else {})}


def unknown(name="f", id_=None):
    error = "No result was recorded for this call; its outcome is unknown."
    held = {"name": name, "response": {"error": error}}
    return {"functionResponse": held | ({"id": id_} if id_ else {})}


GO, ON, A = told(text()), told(text("q2")), said(text("a"))
CALL, RESULT = said(call(**SIGNED)), told(gave())
EARLIER = told(text("[The earlier part of this conversation is not shown.]"))

# The rule, what breaks it, what repair makes of it, the model it takes to be sure, and the tail.
TABLE = [
    ("ge-call-after-user", [CALL, RESULT, A, ON], [EARLIER, CALL, RESULT, A, ON], None, "open"),
    (
        "ge-call-after-model-text",
        [GO, A, CALL, RESULT],
        [GO, said(text("a"), call(**SIGNED)), RESULT],
        None,
        "open",
    ),
    ("ge-response-after-call", [RESULT, A, ON], None, None, "open"),
    (
        "ge-response-late",
        [GO, said(call("f", "1")), A, ON, A, told(gave("f", "1"))],
        None,
        None,
        "open",
    ),
    ("ge-response-astray", [GO, RESULT, CALL, ON], [GO, CALL, RESULT, ON], None, "open"),
    (
        "ge-response-astray",
        [GO, CALL, ON, A, ON, said(call("g")), told(gave("g")), RESULT],
        None,
        None,
        "open",
    ),
    (
        "ge-count-equal",
        [GO, said(call("f"), call("g")), RESULT, ON],
        [GO, said(call("f"), call("g")), told(gave(), unknown("g")), ON],
        None,
        "open",
    ),
    (
        "ge-single-response",
        [GO, said(call("f", "1")), told(gave("f", "1"), gave("f", "1"))],
        [GO, said(call("f", "1")), told(gave("f", "1"))],
        None,
        "open",
    ),
    ("ge-dangling-call", [GO, CALL, ON], [GO, CALL, told(unknown()), ON], None, "open"),
    (
        "ge-signature-missing",
        [GO, said(call()), RESULT],
        [GO, said(call(thoughtSignature=BYPASS)), RESULT],
        NEW,
        "open",
    ),
    (
        "ge-signature-missing",
        [GO, said({"function_call": {"name": "f", "args": {}}}), RESULT],
        [
            GO,
            said({"function_call": {"name": "f", "args": {}}, "thought_signature": BYPASS}),
            RESULT,
        ],
        NEW,
        "open",
    ),
    (
        "ge-signature-corrupt",
        [GO, said(call(thoughtSignature="not base64!")), RESULT],
        [GO, said(call(thoughtSignature=BYPASS)), RESULT],
        None,
        "open",
    ),
    ("ge-parts-empty", [GO, said(), ON], [GO, ON], None, "open"),
    ("ge-part-data-required", [GO, CALL, told(gave(), text(""))], [GO, CALL, RESULT], None, "open"),
    ("ge-part-data-required", [GO, said(text("a"), {})], [GO, A], None, "open"),
    ("ge-role", [{"role": "assistant", "parts": [text("a")]}, GO], [A, GO], None, "open"),
    ("ge-role", [{"role": "invalid_role", "parts": [text()]}], [GO], None, "open"),
    (
        "ge-role",
        [GO, CALL, {"role": "function", "parts": [gave()]}],
        [GO, CALL, RESULT],
        None,
        "open",
    ),
    ("ge-role", [{"role": "system", "parts": [text("s")]}, GO], [GO], None, "open"),
    ("ge-end-with-model", [GO, A], [GO, A, told(text("Continue."))], None, "closed"),
]
named = [f"{row[0]}-{number}" for number, row in enumerate(TABLE)]


@pytest.mark.parametrize(("rule", "broken", "mended", "model", "tail"), TABLE, ids=named)
def test_a_refused_history_is_flagged_and_mended(rule, broken, mended, model, tail):
    options = {**OPTIONS, "model": model, "tail": tail}
    assert rule in {one.rule for one in ls.check(broken, **options).errors}
    repaired = ls.repair(broken, **options)
    assert repaired.remaining == ()
    assert repaired.changes
    if mended is not None:
        assert repaired.messages == mended
    assert not ls.repair(repaired.messages, **options).changes


WARNED = [
    # What may be a mistake and was seen accepted, or is how a stored history looks.
    ("ge-count-equal", [GO, said(call("f"), call("g")), RESULT, told(gave("g"))]),
    ("ge-count-equal", [GO, said(call("f"), call("g")), RESULT]),
    ("ge-signature-missing", [GO, said(call()), RESULT]),
    ("ge-signature-corrupt", [GO, said(call(thoughtSignature="AAAA")), RESULT]),
    ("ge-end-with-model", [GO, A]),
    ("ge-part-data-required", [GO, A, told(text(""))]),
    ("ge-response-name", [GO, CALL, told({"functionResponse": {"response": {}}})]),
    ("ge-response-name", [GO, said(call("f", "1")), told(gave("g", "1"))]),
]


@pytest.mark.parametrize(("rule", "suspected"), WARNED)
def test_what_can_only_be_suspected_is_a_warning(rule, suspected):
    report = ls.check(suspected, **OPTIONS)
    assert report.ok
    assert rule in {found.rule for found in report.violations}


CLEAN = [
    [GO, CALL, RESULT, A, ON],
    [GO, CALL],
    # Neighbouring contents of one role are one turn.
    [GO, said(call("f")), said(call("g")), told(gave("f"), gave("g"))],
    [GO, CALL, told(gave(), text("and"))],
    [GO, said(call("f", **SIGNED), call("g")), told(gave("f"), gave("g"))],
    [A, GO],
    [GO, said(call("f", "1", **SIGNED)), told(gave("f", "1"))],
    [{"parts": [text()]}],
    # A text and what the model said with its signature after it.
    [GO, said(call(**SIGNED), {"text": "", **SIGNED}), RESULT],
]


@pytest.mark.parametrize("history", CLEAN)
def test_what_is_accepted_is_clean(history):
    assert not ls.check(
        history, model=NEW if history is not CLEAN[2] else OLD, **OPTIONS
    ).violations


def test_a_signature_is_asked_of_the_first_call_of_each_step_in_the_current_turn_alone():
    history = [GO, said(call()), RESULT, A, ON, CALL, RESULT, said(call(), call("g", **SIGNED))]
    (found,) = ls.check(history, model=NEW, **OPTIONS).errors
    assert (found.rule, found.path) == ("ge-signature-missing", "messages[7].parts[0]")
    assert not ls.check(history, model=OLD, **OPTIONS).violations


def test_a_signature_comes_back_from_the_record():
    broken = [GO, said(call()), RESULT]
    record = [GO, A, said(call()), RESULT, CALL]
    repaired = ls.repair(broken, model=NEW, record=record, **OPTIONS)
    assert repaired.messages == [GO, CALL, RESULT]
    assert [change.kind for change in repaired.changes] == ["restore"]
    without = ls.repair(broken, model=NEW, record=[GO, A], **OPTIONS)
    assert [change.kind for change in without.changes] == ["replace"]


def test_a_signature_that_differs_from_the_record_is_corrupt():
    changed = [GO, said(call(thoughtSignature="T1RI")), RESULT]
    record = [GO, CALL, RESULT]
    assert ls.check(changed, **OPTIONS).ok
    (found,) = ls.check(changed, record=record, **OPTIONS).errors
    assert found.rule == "ge-signature-corrupt"
    assert ls.repair(changed, record=record, **OPTIONS).messages == record


def test_signatures_as_bytes_are_left_to_the_sdk():
    assert ls.check([GO, said(call(thoughtSignature=b"SIG")), RESULT], **OPTIONS).ok


def test_a_response_is_given_the_name_of_its_call_on_the_way_out():
    unnamed = [GO, CALL, told({"functionResponse": {"response": {"result": "r"}}})]
    assert ls.export(unnamed, **OPTIONS).messages == [GO, CALL, RESULT]
    nameless = [GO, told({"functionResponse": {"response": {"result": "r"}}})]
    assert ls.export(nameless, **OPTIONS).messages == nameless


def test_contents_of_a_system_part_alone_are_nothing_to_answer():
    report = ls.check({"systemInstruction": {"parts": [text()]}, "contents": []}, **OPTIONS)
    assert [found.rule for found in report.errors] == ["ge-contents-empty"]


def test_code_that_the_provider_runs_needs_no_name():
    code = {"executableCode": {"code": "1", "language": "PYTHON"}}
    outcome = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    assert not ls.check([GO, said(code, outcome, text("a")), ON], **OPTIONS).violations


def test_a_row_that_no_model_sees_is_passed_over():
    row = {"role": "narrator", "parts": [text("")]}
    rules = {found.rule for found in ls.check([GO, row, A, ON], **OPTIONS).violations}
    assert rules == {"ge-role"}


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
@pytest.mark.parametrize("ids", ["unique", "reused", "none"])
@pytest.mark.parametrize("breakage", SIX)
def test_the_six_breakages_are_mended_and_lose_nothing(breakage, ids, packed):
    for place in range(18):
        steps = BREAKAGES[breakage](history(reused=ids == "reused"), place)
        shown = without_ids(steps) if ids == "none" else steps
        repaired = ls.repair(render_turns(shown, "gemini", packed=packed), **OPTIONS)
        assert repaired.remaining == ()
        assert ls.check(repaired.messages, tail="closed", **OPTIONS).ok
        assert not ls.repair(repaired.messages, **OPTIONS).changes
        left = json.dumps(repaired.messages)
        assert all(step.text in left for step in steps if isinstance(step, (User, Say)))


# --- windows --------------------------------------------------------------------------------------


def test_a_hole_puts_no_call_behind_text_of_the_model():
    messages = [GO, A, told(text("x" * 500)), CALL, RESULT, A, ON]
    window = ls.trim(messages, max_chars=300, floor=False, **OPTIONS)
    assert ls.check(window, tail="closed", **OPTIONS).ok
    assert window == [GO, CALL, RESULT, A, ON]


def test_without_its_newest_user_message_a_window_keeps_nothing_before_it():
    messages = [GO, said(call()), RESULT, A, told(text("x" * 500))]
    assert ls.trim(messages, max_chars=300, floor=False, **OPTIONS) == []
    pinned = ls.plan(
        messages, max_chars=300, floor=False, pins=(1,), on_overflow="smallest", **OPTIONS
    )
    assert pinned.kept == [0, 1, 2, 4]


def test_the_facts_of_a_model_are_found_by_its_name():
    assert known_of("gemini", "models/gemini-3-pro-preview") == {"signature_demanded": True}
    assert known_of("gemini", OLD) == {"signature_demanded": False}
    assert known_of("gemini", "learnlm") == {}


@pytest.mark.parametrize("id_", [None, "1"])
def test_an_export_gives_a_response_the_name_of_its_call_once(id_):
    history = [GO, said(call("f", "1", **SIGNED)), told(gave("g", "1"))]
    exported = ls.export(history, **OPTIONS)
    assert exported.messages == [*history[:2], told(gave("f", "1"))]
    (change,) = exported.changes
    assert (change.kind, change.before, change.after) == ("rename", "g", "f")
    nameless = [GO, said(call("f", id_, **SIGNED)), told(gave("f", "2"))]
    assert not ls.export(nameless, **OPTIONS).changes


def test_a_response_to_a_call_without_a_name_keeps_its_own():
    nameless = {"functionCall": {"args": {}, "id": "1"}, **SIGNED}
    assert not ls.export([GO, said(nameless), told(gave("g", "1"))], **OPTIONS).changes
    neither = told({"functionResponse": {"response": {}, "id": "1"}})
    assert not ls.export([GO, said(nameless), neither], **OPTIONS).changes
    unheard = [GO, CALL, RESULT, A, told({"functionResponse": {"response": {}, "id": "x"}})]
    assert not [one for one in ls.export(unheard, **OPTIONS).changes if one.kind == "rename"]


@pytest.mark.parametrize("stand_in", [BYPASS, "skip_thought_signature_validator"])
def test_what_stands_for_a_lost_signature_differs_from_no_record(stand_in):
    history = [GO, said(call(thoughtSignature=stand_in)), RESULT]
    record = [GO, said(call()), RESULT]
    assert not ls.repair(history, model=NEW, record=record, **OPTIONS).changes
    # One that was never issued is replaced once, whatever the record says.
    mended = ls.repair([GO, CALL, RESULT], model=NEW, record=record, **OPTIONS)
    assert mended.messages == [GO, said(call(thoughtSignature=BYPASS)), RESULT]
    assert len(mended.changes) == 1


def test_instructions_stay_in_the_list_where_they_may_not_be_moved():
    history = [
        {"role": "system", "parts": [{"text": "s"}]},
        {"role": "user", "parts": [{"text": "q"}]},
    ]
    mended = ls.repair(history, profile="gemini", format="gemini", allow=())
    assert mended.messages == history
    assert [one.rule for one in mended.remaining] == ["ge-role"]


@pytest.mark.parametrize(
    ("signature", "found"),
    [
        ("U0lH", []),
        # The letters of both alphabets, and no padding.
        ("-_-_", []),
        ("+/+/", []),
        ("AQI", []),
        ("AQ", []),
        ("AQI=", []),
        ("U0l", []),
        ("U0lH!", ["error"]),
        ("U", ["error"]),
        ("AAAA", ["warning"]),
    ],
)
def test_a_signature_is_text_in_base64_that_is_not_blank(signature, found):
    # What a call of code and a call without a signature say is passed over on the way to it.
    asked = said(text("so"), call("g"), call("f", thoughtSignature=signature))
    history = [told(text()), said(text("a")), told(text()), asked, told(gave("g"), gave("f"))]
    report = ls.check(history, **OPTIONS, model=OLD)
    severities = [one.severity for one in report.violations if one.rule == "ge-signature-corrupt"]
    assert severities == found


@pytest.mark.parametrize("keys", [("functionCall", "functionResponse")])
def test_a_response_is_given_the_name_of_its_call_by_an_export(keys):
    asked, given = keys
    nameless = {given: {"response": {"result": "r"}}}
    asking = said({asked: {"name": "f", "args": {}}})
    exported = ls.export([told(text()), asking, told(nameless)], **OPTIONS)
    assert exported.messages[2]["parts"][0][given]["name"] == "f"
    [change] = exported.changes
    assert (change.kind, change.index, change.path) == ("rename", 2, "messages[2].parts[0]")
    assert change.message == "the response was given the name of its call, f"
    assert (change.before, change.after) == (None, "f")
