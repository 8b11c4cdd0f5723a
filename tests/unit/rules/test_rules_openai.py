"""The rules of Chat Completions, Azure and Responses: each broken, mended by hand, and repaired."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest
from openai_pieces import (
    CHAIN,
    CHAT,
    GO,
    LONG,
    ON,
    PICTURE,
    RESPONSES,
    SOUND,
    asked,
    decided,
    gave,
    ran,
    requested,
    said,
    searched,
    thought,
    without,
)

import lockstitch as ls
from lockstitch.rules.catalog import RULES
from lockstitch.testing import assistant, call, result, system, user

NOTHING: dict[str, Any] = {}
UNSTORED: dict[str, Any] = {"store": False}


def audio_file(where="content"):
    block = {"type": "input_file", "filename": "a.mp3", "file_data": "data:audio/mpeg;base64,AA"}
    return {"role": "user", "content": [block]} if where == "content" else gave(output=[block])


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
        [GO, call("x" * 31 + "_wWF2mMQI"), result("x" * 31 + "_wWF2mMQI")],
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
        [
            GO,
            asked(call_id="call_" + "x" * 50 + "_lz9tXkIM"),
            gave("call_" + "x" * 50 + "_lz9tXkIM"),
        ],
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


# What is only suspected of a model that nothing is known of is said when it is about to be called.
WHEN_CALLED = {
    "oc-system-role-some-models",
    "or-call-needs-reasoning",
    "or-hosted-call-needs-reasoning",
    "or-message-needs-reasoning",
    "or-pending-call-in-chain",
}


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_broken_history_is_found_at_its_place(case):
    before = copy.deepcopy(case.broken)
    request, target = body(case)
    for tail in ("closed",) if case.rule in WHEN_CALLED else ("open", "closed"):
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
    report = ls.check(request, profile="azure", format=CHAT, tail="closed")
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


# --- the catalogue --------------------------------------------------------------------------------


def test_what_no_list_of_messages_shows_is_in_the_catalogue_without_a_check():
    parts = {"oc", "az", "or"}
    silent = {name for name, rule in RULES.items() if name[:2] in parts and not rule.check}
    assert silent == {"oc-context-length", "or-prev-id-cannot-trim", "or-tool-search-pair"}
    assert {case.rule for case in CASES} <= RULES.keys() - silent


def test_azure_has_every_rule_of_chat_completions():
    chat_rules = {name for name, rule in RULES.items() if name[:2] in {"oc", "az"}}
    assert chat_rules <= {name for name, rule in RULES.items() if "azure" in rule.profiles}


@pytest.mark.parametrize(("model", "refused"), [("gpt-5", True), ("grok-4.3", False)])
def test_where_ids_are_taken_as_they_are_nothing_is_sent_twice_or_unsealed(model, refused):
    items = [
        {"role": "user", "content": "q"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ]
    options = {"profile": "openai-responses", "format": "openai-responses", "model": model}
    for around in ({"store": False}, {"previous_response_id": "resp_1"}):
        assert ls.check({"input": items, **around}, **options).ok is not refused


@pytest.mark.parametrize("kind", ["audio/mpeg", "video/mp4", "text/plain"])
def test_files_of_sound_and_of_moving_pictures_are_refused(kind):
    file = {"type": "input_file", "filename": "a", "file_data": f"data:{kind};base64,AA;"}
    history = [{"role": "user", "content": [{"type": "input_text", "text": "q"}, file]}]
    options = {"profile": "openai-responses", "format": "openai-responses"}
    plain = kind == "text/plain"
    assert ls.check({"input": history}, **options).ok is plain
    # The data of what is no file is not looked at.
    other = {**file, "type": "input_text", "text": "t"}
    told = [{"role": "user", "content": [other]}]
    assert ls.check({"input": told}, **options).ok
