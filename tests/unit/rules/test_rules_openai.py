"""The rules of Chat Completions, Azure and Responses: each broken, mended by hand, and repaired."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import msgspec
import pytest

import lockstitch as ls
from lockstitch.opening import Opened
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.mends import chat, stored
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.record import Record
from lockstitch.rules.view import Finding
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.writing import writer_for

CHAT, RESPONSES = "openai-chat", "openai-responses"
GO, ON = user("q"), user("next")
NOTHING: dict[str, Any] = {}
UNSTORED: dict[str, Any] = {"store": False}
CHAIN: dict[str, Any] = {"previous_response_id": "resp_1"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}}
LONG = "call_" + "x" * 70


def thought(id_="rs_1", **more):
    return {"type": "reasoning", "id": id_, "summary": [], "encrypted_content": "gAAAAAB1", **more}


def said(text="a", id_="msg_1", kind="output_text"):
    named = {} if id_ is None else {"id": id_}
    return {
        "type": "message",
        **named,
        "role": "assistant",
        "content": [{"type": kind, "text": text}],
    }


def asked(id_=None, call_id="call_1", **more):
    named = {} if id_ is None else {"id": id_}
    item = {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}
    return {**item, **named, **more}


def gave(call_id="call_1", output: Any = "r"):
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def searched(id_="ws_1"):
    return {"type": "web_search_call", "id": id_, "status": "completed"}


def requested(id_="mcpr_1"):
    return {"type": "mcp_approval_request", "id": id_, "name": "f", "arguments": "{}"}


def decided(id_="mcpr_1"):
    return {"type": "mcp_approval_response", "approval_request_id": id_, "approve": True}


def ran(id_="mcp_1", request="mcpr_1"):
    return {
        "type": "mcp_call",
        "id": id_,
        "name": "f",
        "approval_request_id": request,
        "output": "r",
    }


def audio_file(where="content"):
    block = {"type": "input_file", "filename": "a.mp3", "file_data": "data:audio/mpeg;base64,AA"}
    return {"role": "user", "content": [block]} if where == "content" else gave(output=[block])


def without(item, key):
    return {name: value for name, value in item.items() if name != key}


class Case(NamedTuple):
    """A rule: a history that breaks it at a place, and what a repair is to make of it."""

    rule: str
    context: dict[str, Any]
    broken: list[Any]
    mended: list[Any] | None
    at: int
    path: str
    severity: str = "error"
    id: str = ""


CASES = [
    Case(
        "oc-tool-call-id-length",
        NOTHING,
        [GO, call("x" * 41), result("x" * 41)],
        [GO, call("wWF2mMQIc8Gb7mYtu1E4sMox"), result("wWF2mMQIc8Gb7mYtu1E4sMox")],
        1,
        "tool_calls[0]",
    ),
    Case(
        "oc-arguments-string",
        NOTHING,
        [GO, call("a", arguments={"é": 1}), result("a")],
        [GO, call("a", arguments='{"é": 1}'), result("a")],
        1,
        "tool_calls[0]",
    ),
    Case(
        "oc-audio-some-models",
        {"model": "gpt-5-mini"},
        [GO, call("a"), result("a"), {"role": "user", "content": [SOUND]}],
        None,
        3,
        "content[0]",
    ),
    Case(
        "oc-system-role-some-models",
        {"model": "o1-mini-2024-09-12"},
        [system("s"), GO],
        [user("s"), GO],
        0,
        "role",
    ),
    Case(
        "oc-system-role-some-models", NOTHING, [system("s"), GO], None, 0, "role", "warning", "bare"
    ),
    Case(
        "oc-developer-role-some-models",
        {"model": "o1-mini"},
        [{"role": "developer", "content": "s"}, GO],
        [user("s"), GO],
        0,
        "role",
    ),
    Case(
        "oc-reused-id",
        NOTHING,
        [GO, call("a"), result("a"), call("a"), result("a"), ON],
        None,
        3,
        "tool_calls[0]",
        "warning",
    ),
    Case("az-same-validator", NOTHING, [GO, call("a"), ON], None, 1, "tool_calls[0]", "warning"),
    Case("or-pending-call-in-chain", CHAIN, [ON], None, 0, "", "warning"),
    Case(
        "or-reasoning-followed-by-foreign",
        {"store": True},
        [GO, thought(), assistant("rebuilt"), ON],
        [GO, assistant("rebuilt"), ON],
        1,
        "",
    ),
    Case(
        "or-call-needs-reasoning",
        {"model": "o4-mini"},
        [GO, asked("fc_1"), gave()],
        [GO, asked(), gave()],
        1,
        "id",
    ),
    Case(
        "or-call-needs-reasoning",
        NOTHING,
        [GO, asked("fc_1"), gave()],
        None,
        1,
        "id",
        "warning",
        "bare",
    ),
    Case(
        "or-call-needs-reasoning",
        {"model": "o3", **UNSTORED},
        [GO, asked("fc_1"), gave()],
        None,
        1,
        "id",
        "warning",
        "unstored",
    ),
    Case(
        "or-message-needs-reasoning",
        {"model": "openai/o3"},
        [GO, said(), ON],
        [GO, said(id_=None), ON],
        1,
        "id",
    ),
    Case("or-hosted-call-needs-reasoning", NOTHING, [GO, searched(), ON], None, 1, "id", "warning"),
    Case(
        "or-store-false-ids",
        UNSTORED,
        [GO, without(thought(), "encrypted_content"), asked("fc_1"), gave()],
        [GO, asked(), gave()],
        1,
        "",
    ),
    Case(
        "or-item-reference-store-false",
        UNSTORED,
        [{"type": "item_reference", "id": "msg_1"}, GO],
        [GO],
        0,
        "",
    ),
    Case(
        "or-encrypted-content-invalid",
        UNSTORED,
        [GO, thought(encrypted_content="tampered"), said(), ON],
        None,
        1,
        "encrypted_content",
        "warning",
    ),
    Case(
        "or-reasoning-summary-required",
        NOTHING,
        [GO, without(thought(), "summary"), said()],
        [GO, thought(), said()],
        1,
        "summary",
    ),
    Case("or-id-prefix", NOTHING, [GO, said(id_="item_d"), ON], [GO, said(id_=None), ON], 1, "id"),
    Case(
        "or-id-prefix", NOTHING, [GO, searched("19"), said(), ON], None, 1, "id", "warning", "rare"
    ),
    Case(
        "or-id-charset",
        NOTHING,
        [GO, asked(""), gave()],
        [GO, asked(), gave()],
        1,
        "id",
    ),
    Case(
        "or-call-id-length",
        NOTHING,
        [GO, asked(call_id=LONG), gave(LONG)],
        [GO, asked(call_id="lz9tXkIMhxFyQsV6Lfh88KrL"), gave("lz9tXkIMhxFyQsV6Lfh88KrL")],
        1,
        "arguments",
    ),
    Case(
        "or-item-id-length",
        NOTHING,
        [GO, said(id_="msg_" + "x" * 70), ON],
        [GO, said(id_=None), ON],
        1,
        "id",
    ),
    Case("or-chain-plus-replay", CHAIN, [GO, thought(), said(), ON], [ON], 1, "id"),
    Case(
        "or-chain-plus-replay",
        {"conversation": "conv_1"},
        [{"type": "item_reference", "id": "msg_1"}, ON],
        [ON],
        0,
        "id",
        id="reference",
    ),
    Case(
        "or-approval-duplicate-with-chain",
        CHAIN,
        [{"type": "item_reference", "id": "mcpr_1"}, decided()],
        [decided()],
        0,
        "id",
    ),
    Case("or-mcp-call-approval-link", UNSTORED, [GO, ran(), ON], None, 1, "", "warning"),
    Case(
        "or-output-without-call-id",
        CHAIN,
        [GO, without(gave(), "call_id")],
        None,
        1,
        "output",
    ),
    Case(
        "or-assistant-part-type",
        NOTHING,
        [GO, said(kind="input_text", id_=None)],
        None,
        1,
        "content[0]",
        "warning",
    ),
    Case(
        "or-compaction-trigger-last",
        UNSTORED,
        [GO, {"type": "compaction_trigger"}, ON],
        [GO, ON, {"type": "compaction_trigger"}],
        1,
        "",
    ),
    Case(
        "or-compaction-trigger-last",
        UNSTORED,
        [{"type": "compaction_trigger"}, GO, {"type": "compaction_trigger"}],
        [GO, {"type": "compaction_trigger"}],
        0,
        "",
        id="twice",
    ),
    Case(
        "or-program-children",
        NOTHING,
        [GO, asked(caller={"type": "program", "caller_id": "prog_1"}), gave()],
        None,
        1,
        "",
        "warning",
    ),
    Case(
        "or-calls-stand-together",
        {"model": "deepseek-v4-flash"},
        [GO, asked(call_id="a"), assistant("t"), asked(call_id="b"), gave("a"), gave("b"), ON],
        [GO, assistant("t"), asked(call_id="a"), asked(call_id="b"), gave("a"), gave("b"), ON],
        2,
        "",
    ),
    Case(
        "or-calls-stand-together",
        NOTHING,
        [GO, asked(), assistant("t"), gave(), ON],
        None,
        2,
        "",
        "warning",
        "bare",
    ),
    Case("or-file-media-type", NOTHING, [GO, audio_file()], None, 1, "content[0]"),
    Case(
        "or-file-media-type",
        NOTHING,
        [GO, asked(), audio_file("output")],
        None,
        2,
        "output[0]",
        id="output",
    ),
    Case(
        "or-local-shell-pair-key",
        NOTHING,
        [GO, {"type": "local_shell_call", "call_id": "c", "action": {}}, ON],
        None,
        1,
        "arguments",
    ),
]


def body(case: Case, messages: Any = None) -> tuple[dict[str, Any], str]:
    target = RESPONSES if case.rule.startswith("or-") else CHAT
    key = "input" if target == RESPONSES else "messages"
    return {**case.context, key: case.broken if messages is None else messages}, target


def named(case):
    return f"{case.rule}-{case.id}".rstrip("-")


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_broken_history_is_found_at_its_place(case):
    before = copy.deepcopy(case.broken)
    request, target = body(case)
    for tail in ("open", "closed"):
        report = ls.check(request, profile=target, format=target, tail=tail)
        found = next(one for one in report.violations if one.rule == case.rule)
        inside = f"{next(iter(reversed(request)))}[{case.at}]"
        assert (found.index, found.path) == (case.at, f"{inside}.{case.path}".rstrip("."))
        assert found.severity == case.severity
        assert found.message
    assert case.broken == before


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_repair_leaves_no_error_and_a_second_one_changes_nothing(case):
    before = copy.deepcopy(case.broken)
    request, target = body(case)
    mended = ls.repair(request, profile=target, format=target)
    assert mended.ok, mended.remaining
    key = next(iter(reversed(request)))
    if case.mended is not None:
        assert mended.messages[key] == case.mended
    assert ls.repair(mended.messages, profile=target, format=target).changes == ()
    mine = [change for change in mended.changes if change.rule == case.rule]
    assert bool(mine) is (case.severity == "error")
    assert case.broken == before


@pytest.mark.parametrize("case", [case for case in CASES if case.rule.startswith("oc-")], ids=named)
def test_azure_refuses_what_openai_refuses(case):
    request, _ = body(case)
    report = ls.check(request, profile="azure", format=CHAT)
    assert case.severity in {one.severity for one in report.violations if one.rule == case.rule}


GIVEN = (gave(), gave("b"))
PROGRAM = {"type": "program", "caller_id": "p"}

FINE = [
    (
        CHAT,
        NOTHING,
        [
            GO,
            *(
                {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "r"},
            )
            * 2,
        ],
    ),
    (CHAT, NOTHING, [GO, call("x" * 40), result("x" * 40)]),
    (CHAT, {"model": "gpt-4o"}, [system(), GO]),
    (CHAT, NOTHING, [{"role": "developer", "content": "s"}, GO]),
    (CHAT, NOTHING, [GO, call("a"), result("a"), {"role": "user", "content": [SOUND]}]),
    (CHAT, {"model": "gpt-5-mini"}, [GO, {"role": "user", "content": [PICTURE]}]),
    (CHAT, {"model": "gpt-5-audio"}, [{"role": "user", "content": [SOUND]}]),
    (CHAT, NOTHING, [GO, call("a"), {**result("a"), "content": [{"type": "text", "text": "r"}]}]),
    (RESPONSES, UNSTORED, [GO, thought(), asked(), gave(), ON]),
    (RESPONSES, NOTHING, [GO, without(thought(), "id"), asked(), gave(), ON]),
    (RESPONSES, NOTHING, [GO, thought(), thought("rs_2"), said(), ON]),
    (RESPONSES, {"model": "gpt-4o"}, [GO, asked("fc_1"), gave(), said(), ON]),
    (
        RESPONSES,
        {"model": "o3"},
        [GO, thought(), asked("fc_1"), asked("fc_2", "b"), gave(), gave("b")],
    ),
    (
        RESPONSES,
        {"model": "grok-4.3"},
        [GO, thought("tco_1", encrypted_content="x"), said("a", "z")],
    ),
    (RESPONSES, {"model": "grok-4.3"}, [GO, said(), said(), ON]),
    (RESPONSES, {"model": "deepseek-v4"}, [GO, thought("rs_1"), assistant("a"), ON]),
    (RESPONSES, CHAIN, [gave(), ON]),
    (RESPONSES, CHAIN, [decided()]),
    (
        RESPONSES,
        CHAIN,
        [{"type": "mcp_call", "approval_request_id": "mcpr_9", "output": "r"}, gave()],
    ),
    (RESPONSES, UNSTORED, [GO, requested(), decided(), ran()]),
    (RESPONSES, NOTHING, [GO, {"type": "local_shell_call", "id": "lsh_1", "action": {}}]),
    (
        RESPONSES,
        NOTHING,
        [
            GO,
            {"type": "program", "call_id": "p"},
            asked(caller={"type": "program", "caller_id": "p"}),
        ],
    ),
    (RESPONSES, NOTHING, [GO, asked(), asked(call_id="b"), gave(), gave("b"), assistant("t"), ON]),
    (RESPONSES, NOTHING, [GO, {"role": "user", "content": [{"type": "input_text", "text": "t"}]}]),
    (RESPONSES, NOTHING, [GO, asked(), gave(output=["text", {"type": "input_file"}]), ON]),
]


@pytest.mark.parametrize(("target", "context", "history"), FINE)
def test_what_was_accepted_is_not_found_fault_with(target, context, history):
    key = "input" if target == RESPONSES else "messages"
    request = {**context, key: history}
    assert ls.check(request, profile=target, format=target).violations == ()


# --- media ----------------------------------------------------------------------------------------


def test_media_move_behind_the_results_of_the_batch_into_one_message():
    text = {"type": "text", "text": "seen"}
    history = [
        GO,
        call("a", "b", "c"),
        {**result("a"), "content": [text, PICTURE]},
        result("b"),
        {**result("c"), "content": [PICTURE]},
        ON,
    ]
    mended = ls.repair(history, profile=CHAT)
    messages = mended.messages
    assert [one["role"] for one in messages] == [
        *["user", "assistant"],
        *["tool"] * 3,
        "user",
        "user",
    ]
    assert messages[2]["content"] == [text]
    assert messages[3] is history[3]
    assert "below" in messages[4]["content"]
    assert [one["type"] for one in messages[5]["content"]] == ["text", "image_url"] * 2
    assert "call a" in messages[5]["content"][0]["text"]
    assert messages[6] is ON
    assert [change.kind for change in mended.changes] == ["move", "move"]
    assert ls.export(history, profile=CHAT).messages == messages


def test_media_at_the_end_of_the_list_move_behind_it():
    history = [GO, call("a"), {**result("a"), "content": [PICTURE]}]
    messages = ls.repair(history, profile=CHAT).messages
    assert [one["role"] for one in messages] == ["user", "assistant", "tool", "user"]


def test_sound_leaves_a_note_in_its_place():
    history = [GO, {"role": "user", "content": [{"type": "text", "text": "t"}, SOUND]}]
    mended = ls.repair(history, profile=CHAT, format=CHAT, model="gpt-5-mini")
    assert [one["type"] for one in mended.messages[1]["content"]] == ["text", "text"]
    assert mended.changes[0].before == SOUND


# --- roles ----------------------------------------------------------------------------------------


def test_a_model_that_takes_only_developer_messages_is_told_as_the_developer():
    row = ls.ModelFacts(
        profile=CHAT,
        pattern="new",
        facts={"no_system": True, "no_developer": False},
        date="",
        source="",
    )
    mended = ls.repair([system("s"), GO], profile=CHAT, model="new", models=[row])
    assert mended.messages[0] == {"role": "developer", "content": "s"}
    row = msgspec.structs.replace(row, facts={"no_system": True})
    assert ls.repair([system("s"), GO], profile=CHAT, model="new", models=[row]).ok


def test_an_export_leaves_the_roles_alone_where_the_model_is_not_known():
    assert ls.export([system("s"), GO], profile=CHAT).changes == ()


# --- batches --------------------------------------------------------------------------------------


def test_a_batch_of_too_many_calls_is_parted_with_its_results():
    names = [f"c{number}" for number in range(300)]
    history = [GO, call(*names), *(result(name) for name in names[:250]), ON]
    history[2], history[203] = history[203], history[2]
    history += [call("z"), result("z")]
    report = ls.check(history, profile=CHAT)
    assert [one.index for one in report.errors if one.rule == "oc-tool-calls-max-128"] == [1]
    mended = ls.repair(history, profile=CHAT)
    assert mended.ok
    batches = [one for one in mended.messages if one.get("tool_calls")]
    assert [len(one["tool_calls"]) for one in batches] == [128, 128, 44, 1]
    answers = [one["tool_call_id"] for one in mended.messages if one["role"] == "tool"]
    assert sorted(answers) == sorted([*names, "z"])
    assert ls.repair(mended.messages, profile=CHAT).changes == ()


# --- ids of items ---------------------------------------------------------------------------------


def test_an_item_that_must_have_an_id_is_given_one_that_follows_from_the_old():
    history = [
        GO,
        {**requested("made:up")},
        decided("made:up"),
        ran("mcp_1", "made:up"),
        said(),
        ON,
    ]
    mended = ls.repair(history, profile=RESPONSES)
    name = mended.messages[1]["id"]
    assert name.startswith("mcpr_")
    assert [one.get("approval_request_id") for one in mended.messages[2:4]] == [name, name]
    assert ls.repair(history, profile=RESPONSES).messages == mended.messages
    empty = ls.repair([GO, searched(""), ON], profile=RESPONSES)
    assert empty.messages[1]["id"].startswith("ws_")


def test_reasoning_under_a_strange_id_keeps_what_is_sealed_and_goes_where_nothing_is():
    sealed = ls.repair({"store": False, "input": [GO, thought("x1"), said()]}, profile=RESPONSES)
    assert sealed.messages["input"] == [GO, without(thought(), "id"), said()]
    bare = without(thought("x1"), "encrypted_content")
    mended = ls.repair([GO, bare, said(), asked("fc_1"), gave()], profile=RESPONSES)
    assert mended.messages == [GO, said(id_=None), asked(), gave()]
    assert [change.kind for change in mended.changes] == ["drop", "rename", "rename"]


def test_the_id_that_pairs_a_shell_call_stays():
    history = [GO, {"type": "local_shell_call", "id": "a b", "action": {}}]
    history.append({"type": "local_shell_call_output", "id": "a b", "output": "r"})
    mended = ls.repair(history, profile=RESPONSES)
    assert mended.messages == history
    assert [one.rule for one in mended.remaining] == ["or-id-charset"]


def test_a_long_id_of_an_output_alone_is_found_too():
    report = ls.check({**CHAIN, "input": [gave(LONG)]}, profile=RESPONSES)
    assert [(one.rule, one.path) for one in report.errors] == [
        ("or-call-id-length", "input[0].output")
    ]


def test_reasoning_that_goes_leaves_the_ids_that_items_must_have():
    history = [
        GO,
        thought(),
        {**assistant("x")},
        searched(),
        said(),
        thought("rs_2"),
        said("b", "msg_2"),
    ]
    mended = ls.repair(history, profile=RESPONSES)
    assert mended.messages == [GO, assistant("x"), searched(), said(id_=None), *history[5:]]


# --- beside the record ----------------------------------------------------------------------------


def test_reasoning_comes_back_from_the_record_once_for_its_response():
    whole = [GO, thought(), asked("fc_1"), asked("fc_2", "b"), gave(), gave("b"), said(), ON]
    cut = [one for one in whole if one.get("type") != "reasoning"]
    report = ls.check(cut, profile=RESPONSES, record=whole)
    assert [(one.rule, one.index) for one in report.errors] == [
        ("or-call-needs-reasoning", 1),
        ("or-call-needs-reasoning", 2),
    ]
    mended = ls.repair(cut, profile=RESPONSES, record=whole)
    assert mended.messages == whole
    known = ls.check(cut, profile=RESPONSES, record=whole, model="gpt-4o")
    assert {one.severity for one in known.violations} == {"warning"}


def test_what_the_record_shows_to_have_had_no_reasoning_is_fine():
    whole = [GO, asked("fc_1"), gave(), said(), ON]
    assert ls.check(whole, profile=RESPONSES, record=whole, model="o3").violations == ()


def test_a_rebuilt_item_gives_way_to_the_recorded_one_that_says_the_same():
    whole = [GO, thought(), said(), ON]
    mended = ls.repair([GO, thought(), assistant("a"), ON], profile=RESPONSES, record=whole)
    assert mended.messages == whole
    edited = ls.repair([GO, thought(), assistant("b"), ON], profile=RESPONSES, record=whole)
    assert edited.messages == [GO, assistant("b"), ON]
    called = [GO, thought(), asked("fc_1"), gave(), ON]
    again = ls.repair([GO, thought(), asked(), gave(), ON], profile=RESPONSES, record=called)
    assert again.messages == called
    other = ls.repair([GO, thought(), asked(), gave(), ON], profile=RESPONSES, record=[GO, ON])
    assert other.messages == [GO, asked(), gave(), ON]
    odd = [GO, thought(), {"role": "user", "id": "msg_1", "content": "a"}]
    kept = ls.repair([GO, thought(), assistant("a"), ON], profile=RESPONSES, record=odd)
    assert kept.messages == [GO, assistant("a"), ON]


def test_sealed_content_that_was_changed_comes_back():
    whole = [GO, thought(), said(), ON]
    changed = [GO, thought(encrypted_content="gAAAAAB2"), said(), ON]
    (found,) = ls.check(changed, profile=RESPONSES, record=whole).violations
    assert (found.rule, found.severity) == ("or-encrypted-content-invalid", "error")
    assert ls.repair(changed, profile=RESPONSES, record=whole).messages == whole
    bare = [GO, without(thought(), "encrypted_content"), said(), ON]
    request = {"store": False, "input": bare}
    assert ls.repair(request, profile=RESPONSES, record=whole).messages["input"] == whole
    without_seal = ls.repair(request, profile=RESPONSES, record=bare).messages["input"]
    assert without_seal == [GO, said(id_=None), ON]
    at_the_end = ls.repair({"store": False, "input": bare[:3]}, profile=RESPONSES)
    assert at_the_end.messages["input"] == [GO, said(id_=None)]


def test_foreign_reasoning_is_left_out_at_export():
    history = [GO, thought(encrypted_content="EtsB"), asked("fc_1"), gave()]
    exported = ls.export(history, profile=RESPONSES)
    assert exported.messages == [GO, asked(), gave()]
    sealed = {"type": "compaction", "encrypted_content": "EtsB"}
    assert ls.export([sealed, GO], profile=RESPONSES).messages == [sealed, GO]


def test_a_reference_gives_way_to_the_recorded_item():
    request = {"store": False, "input": [{"type": "item_reference", "id": "msg_1"}, ON]}
    record = [GO, {"type": "item_reference", "id": "msg_1"}, said(), ON]
    assert ls.repair(request, profile=RESPONSES, record=record).messages["input"] == [said(), ON]


def test_a_compaction_item_that_is_gone_shows_beside_the_record():
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAAB1"}
    (found,) = ls.check({"input": [ON]}, profile=RESPONSES, record=[compaction, ON]).violations
    assert (found.rule, found.severity, found.index) == ("or-compaction-verbatim", "warning", -1)
    assert (
        ls.check([compaction, ON], profile=RESPONSES, record=[GO, compaction, ON]).violations == ()
    )


def test_calls_that_the_chain_holds_open_are_answered_first():
    record = [GO, asked("fc_1"), asked("fc_2", "b"), {**requested("mcpr_2")}]
    request = {**CHAIN, "input": [ON, gave("b")]}
    (found,) = ls.check(request, profile=RESPONSES, record=record).errors
    assert found.rule == "or-pending-call-in-chain"
    mended = ls.repair(request, profile=RESPONSES, record=record)
    assert [one.get("call_id") for one in mended.messages["input"]] == ["call_1", None, "b"]
    both = ls.repair({**CHAIN, "input": [ON]}, profile=RESPONSES, record=record)
    assert [one.get("call_id") for one in both.messages["input"]] == ["call_1", "b", None]
    assert ls.check(both.messages, profile=RESPONSES, record=record).ok
    screen = [GO, {"type": "computer_call", "call_id": "c", "action": {}}]
    left = ls.repair({**CHAIN, "input": [ON]}, profile=RESPONSES, record=screen)
    assert [one.rule for one in left.remaining] == ["or-pending-call-in-chain"]


# --- blocks and order -----------------------------------------------------------------------------


def test_an_export_writes_blocks_as_the_roles_own():
    picture = {"type": "input_image", "image_url": "u"}
    history = [
        {
            "role": "user",
            "content": [{"type": "output_text", "text": "q"}, {"type": "text", "text": "z"}],
        },
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "input_text", "text": "a"}, picture],
        },
        ON,
    ]
    messages = ls.export(history, profile=RESPONSES).messages
    assert [block["type"] for block in messages[0]["content"]] == ["input_text", "input_text"]
    assert [block["type"] for block in messages[1]["content"]] == ["output_text", "input_image"]


def test_a_message_among_calls_takes_its_reasoning_along_and_parts_no_other():
    history = [
        GO,
        thought(),
        asked("fc_1", "a"),
        thought("rs_2"),
        said(id_="msg_2"),
        thought("rs_3"),
        asked("fc_3", "b"),
        gave("a"),
        gave("b"),
    ]
    exported = ls.export(history, profile=RESPONSES)
    assert exported.messages == [GO, *history[3:5], *history[1:3], *history[5:]]
    assert [change.kind for change in exported.changes] == ["move"]


def test_a_chain_is_sent_what_came_after_the_last_item_it_holds():
    narrator = {"role": "narrator", "content": "x"}
    request = {**CHAIN, "input": [GO, narrator, asked("fc_1"), gave(), ON]}
    mended = ls.repair(request, profile=RESPONSES)
    assert mended.messages["input"] == [narrator, gave(), ON]


def test_a_message_among_the_first_calls_of_a_list_comes_first():
    history = [asked(), assistant("t"), gave()]
    exported = ls.export({"input": history}, profile=RESPONSES)
    assert exported.messages["input"] == [history[1], history[0], history[2]]


# --- what cannot help -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mend", "record"),
    [
        (chat.hoist_media, None),
        (chat.leave_out, None),
        (stored.answer_chain, None),
        (stored.bring_back_thought, None),
        (stored.bring_back_thought, Record(Opened([ON], RESPONSES).transcript)),
    ],
)
def test_a_mend_that_finds_nothing_to_work_on_leaves_the_draft_alone(mend, record):
    transcript = Opened([said()], RESPONSES).transcript
    profile = get_profile(RESPONSES)
    draft = Draft(transcript, writer_for(RESPONSES), profile)
    finding = Finding(0, "", "nowhere")
    view = view_of(transcript, profile, tail="open")
    breach = Breach(
        rule=RULES["oc-content-null"], finding=finding, view=view, entries=draft.begin()
    )
    assert not mend(draft, breach)
    assert (draft.changes, draft.entries[0].native) == ([], said())


# --- the catalogue --------------------------------------------------------------------------------


def test_every_rule_of_the_part_that_shows_is_broken_here_or_in_the_catalogues_own_test():
    parts = {"oc", "az", "or"}
    rules = {name for name, rule in RULES.items() if name[:2] in parts and rule.check}
    older = {name for name in rules if name.endswith(("-answered", "-needs-call", "-pair"))}
    assert {case.rule for case in CASES} <= rules
    assert len(rules - older - {case.rule for case in CASES}) < 20
    shown = {name for name, rule in RULES.items() if name[:2] in parts and not rule.check}
    assert shown == {"oc-context-length", "or-prev-id-cannot-trim", "or-tool-search-pair"}
