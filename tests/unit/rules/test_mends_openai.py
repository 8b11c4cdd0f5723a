"""How breaches of the rules of Chat Completions and Responses are mended, kind after kind."""

from __future__ import annotations

import msgspec
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
from lockstitch.opening import Opened
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import chat, stored
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.record import Record
from lockstitch.rules.view import Finding
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.writing import writer_for

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
    # Each move says what became of the result and of the message that took its media.
    assert [(change.kind, change.index) for change in mended.changes] == [
        *(("move", 2), ("move", -1)),
        *(("move", 4), ("move", -1)),
    ]
    assert mended.changes[-1].after == messages[5]
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
    exported = ls.export(history, profile=RESPONSES, model="deepseek-v4-flash")
    assert exported.messages == [GO, *history[3:5], *history[1:3], *history[5:]]
    assert [change.kind for change in exported.changes] == ["move"]


def test_a_chain_is_sent_what_came_after_the_last_item_it_holds():
    narrator = {"role": "narrator", "content": "x"}
    request = {**CHAIN, "input": [GO, narrator, asked("fc_1"), gave(), ON]}
    mended = ls.repair(request, profile=RESPONSES)
    assert mended.messages["input"] == [narrator, gave(), ON]


def test_a_message_among_the_first_calls_of_a_list_comes_first():
    history = [asked(), assistant("t"), gave()]
    exported = ls.export({"input": history, "model": "deepseek-v4-flash"}, profile=RESPONSES)
    assert exported.messages["input"] == [history[1], history[0], history[2]]
    assert not ls.export({"input": history}, profile=RESPONSES).changes


# --- what cannot help -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mend", "record"),
    [
        (chat.hoist_media, None),
        (chat.leave_out, None),
        (stored.answer_chain, None),
        (stored.bring_back_thought, None),
        (stored.bring_back_thought, [ON]),
    ],
)
def test_a_mend_that_finds_nothing_to_work_on_leaves_the_draft_alone(mend, record):
    transcript = Opened([said()], RESPONSES).transcript
    profile = get_profile(RESPONSES)
    draft = Draft(transcript, writer_for(RESPONSES), profile)
    finding = Finding(0, "", "nowhere")
    view = view_of(transcript, profile, tail="open")
    breach = Breach(
        rule=RULES["oc-content-null"],
        finding=finding,
        view=view,
        entries=draft.begin(),
        lookup=Lookup(view),
        record=record and Record(Opened(record, RESPONSES).transcript, transcript),
    )
    assert not mend(draft, breach)
    assert (draft.changes, draft.entries[0].native) == ([], said())


def test_two_items_of_one_id_that_say_different_things_are_both_kept():
    history = [
        *(user("q"), asked("fc_1", "a"), gave("a", "1"), asked("fc_1", "b"), gave("b", "2")),
        *(said("x"), said("x"), searched(), searched(), user("q")),
    ]
    done = ls.repair(history, profile="openai-responses", format="openai-responses")
    assert done.messages == [
        *history[:3],
        without(history[3], "id"),
        *(gave("b", "2"), said("x"), searched(), user("q")),
    ]
    assert [change.kind for change in done.changes] == ["rename", "drop", "drop"]
    assert done.ok


def test_a_screenshot_cannot_be_made_up():
    asked_for = {"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {}}
    mended = ls.repair([GO, asked_for, ON], profile=RESPONSES, format=RESPONSES)
    assert mended.messages == [GO, ON]
    assert [change.kind for change in mended.changes] == ["drop"]


def test_every_call_that_the_chain_holds_open_is_answered_in_the_order_of_the_calls():
    opened = [asked(call_id=one) for one in ("a", "b", "c")]
    record = [GO, asked(call_id="z"), gave("z"), *opened]
    request = {"input": [ON], "previous_response_id": "resp_1"}
    mended = ls.repair(request, profile=RESPONSES, format="openai-responses", record=record)
    *outputs, last = mended.messages["input"]
    assert [one["call_id"] for one in outputs] == ["a", "b", "c"]
    assert last == ON
    assert [one.kind for one in mended.changes] == ["synthesize"] * 3
