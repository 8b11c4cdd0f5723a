"""Messages of agent-framework: every content, dicts and objects, sessions, what is ignored."""

import copy
import json

import pytest

import lockstitch as ls
from lockstitch.facts import Facts, Link
from lockstitch.formats import FORMATS
from lockstitch.formats.agent_framework import FORMAT
from lockstitch.formats.base import DEFINITE, NO, facts_of
from lockstitch.measure.counters import sizer_for
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

PNG = "data:image/png;base64," + "A" * 400
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
HOSTED = {**CALL, "call_id": "mcpr_1", "hosted": True, "server_name": "docs"}


def message(role, *contents, **fields):
    return {"type": "message", "role": role, "contents": list(contents), **fields}


def text(said="hi"):
    return {"type": "text", "text": said}


def result(one="c1", said="ok", **fields):
    return {"type": "function_result", "call_id": one, "result": said, **fields}


# Each content type, and what it is read as.
CONTENTS = [
    (text(), Text),
    ({"type": "text_reasoning", "text": "hm", "protected_data": "x", "id": "rs_1"}, Reasoning),
    ({"type": "data", "uri": PNG, "media_type": "image/png"}, Media),
    ({"type": "uri", "uri": "https://a.example/a.pdf", "media_type": "application/pdf"}, Media),
    ({"type": "error", "message": "broke", "error_code": "e"}, Opaque),
    (CALL, ToolCall),
    (result(), ToolResult),
    ({"type": "usage", "usage_details": {"total_token_count": 3}}, Opaque),
    ({"type": "hosted_file", "file_id": "file_1"}, Media),
    ({"type": "hosted_vector_store", "vector_store_id": "vs_1"}, Opaque),
    ({"type": "code_interpreter_tool_call", "call_id": "k", "inputs": [text("1 + 1")]}, ToolCall),
    ({"type": "code_interpreter_tool_result", "call_id": "k", "outputs": [text("2")]}, ToolResult),
    ({"type": "image_generation_tool_call", "image_id": "i"}, ToolCall),
    ({"type": "image_generation_tool_result", "image_id": "i", "outputs": None}, ToolResult),
    ({"type": "mcp_server_tool_call", "call_id": "m", "tool_name": "find"}, ToolCall),
    ({"type": "mcp_server_tool_result", "call_id": "m", "output": "found"}, ToolResult),
    ({"type": "search_tool_call", "call_id": "q", "tool_name": "web"}, ToolCall),
    ({"type": "search_tool_result", "call_id": "q", "result": "found"}, ToolResult),
    ({"type": "shell_tool_call", "call_id": "s", "commands": ["ls"]}, ToolCall),
    ({"type": "shell_tool_result", "call_id": "s", "outputs": []}, ToolResult),
    ({"type": "shell_command_output", "stdout": "a", "exit_code": 0}, Opaque),
    ({"type": "computer_tool_call", "call_id": "p", "actions": [{"type": "click"}]}, ToolCall),
    ({"type": "computer_tool_result", "call_id": "p", "screenshot": None}, ToolResult),
    ({"type": "function_approval_request", "id": "r", "function_call": CALL}, ApprovalRequest),
    (
        {"type": "function_approval_response", "id": "r", "approved": True, "function_call": CALL},
        Approval,
    ),
    ({"type": "oauth_consent_request", "consent_link": "https://a.example"}, Opaque),
    ({"type": "x_seen_by_nobody", "value": [1, {"a": None}]}, Opaque),
]
ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}

each_content = pytest.mark.parametrize(
    ("content", "kind"), CONTENTS, ids=[content["type"] for content, _ in CONTENTS]
)


def test_there_are_26_types_and_one_that_nobody_knows():
    assert len({content["type"] for content, _ in CONTENTS}) == 27


@each_content
@pytest.mark.parametrize("role", ROLES)
def test_every_content_is_read_counted_and_written_back_as_it_was(content, kind, role):
    native = message(role, content, message_id="m1", x_new={"a": [None]})
    (part,) = FORMAT.parts(native)
    # What a tool says is an answer.
    assert type(part) is (ToolResult if (role, kind) == ("tool", Text) else kind)
    assert part.path == "contents[0]"
    assert FORMAT.facts(native) == facts_of(ROLES[role], FORMAT.parts(native))
    transcript = ls.load([native])
    assert transcript.format is FORMAT
    assert sizer_for(transcript, "tokens").size(0) >= 4
    written = json.dumps([native])
    assert ls.dump(ls.load(written)) == written


@each_content
def test_an_object_is_read_as_its_dict(content, kind):
    framework = pytest.importorskip("agent_framework")
    if content["type"] == "x_seen_by_nobody":
        pytest.skip("the package makes no object of what it does not know")
    made = framework.Message("assistant", [framework.Content.from_dict(copy.deepcopy(content))])
    dumped = made.to_dict()
    assert FORMAT.parts(made) == FORMAT.parts(dumped)
    assert FORMAT.facts(made) == FORMAT.facts(dumped)
    assert ls.load([made]).format is FORMAT
    for unit in ("chars", "tokens"):
        sizes = [sizer_for(ls.load([one]), unit).size(0) for one in (made, dumped)]
        assert sizes[0] == sizes[1]


# --- sizes ---------------------------------------------------------------------------------------


def chars(*contents, role="assistant", **fields):
    return sizer_for(ls.load([message(role, *contents, **fields)]), "chars").size(0)


def test_texts_arguments_and_results_are_counted_once():
    assert chars(text("abc")) == 3
    assert chars(CALL) == len("f" + '{"a": 1}')
    mirrored = result(said="found", items=[text("found")])
    assert chars(mirrored, role="tool") == len("found")


def test_a_result_that_shows_something_is_its_items():
    shown = result(said="see", items=[text("see"), {"type": "data", "uri": PNG}])
    (part,) = FORMAT.parts(message("tool", shown))
    assert part.content == shown["items"]


def test_media_weigh_what_they_are_and_links_nothing():
    inline, link = FORMAT.parts(message("user", CONTENTS[2][0], CONTENTS[3][0]))
    assert (inline.kind, inline.encoded) == ("image", len(PNG))
    assert (link.kind, link.encoded) == ("document", 0)


def test_what_the_framework_notes_about_a_message_is_not_counted():
    noted = {"_group": {"id": "g" * 500}, "_excluded": True}
    assert chars(text("abc"), additional_properties=noted) == 3


# --- private notes -------------------------------------------------------------------------------

NOTED = {
    "_group": {
        "id": "group_1",
        "kind": "tool_call",
        "index": 0,
        "has_reasoning": True,
        "_summary_of_message_ids": ["msg_1"],
        "_summarized_by_summary_id": "summary_3",
    },
    "_excluded": True,
    "_exclude_reason": "truncation",
    "_attribution": {"source_id": "in_memory", "source_type": "InMemoryHistoryProvider"},
}


def test_private_notes_neither_group_nor_refuse_anything_and_come_back_as_they_were():
    bare = [
        message("user", text()),
        message("assistant", CALL),
        message("tool", result()),
        message("assistant", text("done")),
    ]
    noted = [{**one, "additional_properties": NOTED} for one in bare]
    for profile in ("portable", "openai-responses", "anthropic"):
        options = {"profile": profile}
        assert [one.members for one in ls.groups(noted, **options)] == [
            one.members for one in ls.groups(bare, **options)
        ]
        assert ls.check(noted, **options).ok
        window = ls.trim(noted, max_messages=4, **options)
        assert all(one is other for one, other in zip(window, noted, strict=True))
    assert ls.dump(ls.load(json.dumps(noted))) == json.dumps(noted)


# --- links ---------------------------------------------------------------------------------------


def test_a_call_with_an_occurrence_of_its_own_is_known_by_both_ids():
    native = message("assistant", {**CALL, "id": "occ"})
    assert FORMAT.facts(native).links == (Link("call", "function", "c1", "f", "occ"),)
    answered = message("tool", result(id="occ"))
    assert FORMAT.facts(answered).links == (Link("result", "function", "c1", None, "occ"),)


def test_plain_calls_and_results_are_told_by_their_ids_alone():
    assert FORMAT.facts(message("assistant", CALL)) == Facts("assistant", asks=("c1",))
    assert FORMAT.facts(message("tool", result())) == Facts("tool", answers=("c1",))


def test_what_a_tool_says_without_a_result_answers_the_call_before_it():
    history = [message("user", text()), message("assistant", CALL), message("tool", text("ok"))]
    assert [unit.members for unit in ls.groups(history)] == [(0,), (1, 2)]


@pytest.mark.parametrize("approved", [True, False])
def test_call_request_decision_and_result_are_one_group(approved):
    decision = {"type": "function_approval_response", "id": "r", "approved": approved}
    history = [
        message("user", text()),
        message("assistant", CALL, CONTENTS[23][0]),
        message("user", {**decision, "function_call": CALL}),
        message("tool", result()),
        message("assistant", text("done")),
    ]
    (unit,) = [unit for unit in ls.groups(history) if 1 in unit.members]
    assert (unit.members, unit.state) == ((1, 2, 3), "complete")
    assert ls.check(history, tail="closed").ok


def test_a_request_stands_for_the_call_that_it_embeds():
    history = [
        message("user", text()),
        message("assistant", CONTENTS[23][0]),
        message("user", CONTENTS[24][0]),
        message("tool", result()),
    ]
    assert [unit.members for unit in ls.groups(history)] == [(0,), (1, 2, 3)]
    assert ls.check(history, tail="closed").ok


def test_a_pending_request_waits_however_far_the_conversation_goes_on():
    history = [message("user", text()), message("assistant", CALL, CONTENTS[23][0])]
    history += [message("user", text()), message("assistant", text("later"))] * 3
    assert 1 in ls.plan(history, max_messages=3, profile="openai-responses").kept


def test_a_hosted_request_names_no_call():
    request = {"type": "function_approval_request", "id": "mcpr_1", "function_call": HOSTED}
    older = {**CALL, "additional_properties": {"server_label": "docs"}}
    assert FORMAT.facts(message("assistant", request)).links == (
        Link("request", "mcp", "mcpr_1", "f"),
    )
    old = FORMAT.facts(message("assistant", {**request, "function_call": older}))
    assert old.links[0].family == "mcp"


def test_messages_that_ask_a_person_are_told_from_others():
    assert FORMAT.asks(message("assistant", CONTENTS[23][0]))
    assert not FORMAT.asks(message("assistant", CALL, text()))


def test_a_role_that_nobody_knows_is_read_and_written_back():
    history = [message("user", text()), message("critic", text("well"))]
    assert [one.role for one in ls.load(history)] == ["user", "other"]
    assert ls.dump(ls.load(history)) == history


# --- which format it is --------------------------------------------------------------------------


@each_content
@pytest.mark.parametrize("role", [*ROLES, "developer"])
@pytest.mark.parametrize("typed", [True, False])
def test_no_other_format_claims_such_a_message(content, kind, role, typed):
    native = message(role, content)
    if not typed:
        del native["type"]
    claims = {name for name, form in FORMATS.items() if form.evidence(native) != NO}
    assert claims == {"agent-framework"}
    assert FORMAT.evidence(native) == DEFINITE


@pytest.mark.parametrize(
    "native",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "user", "contents": "hi"},
        {"contents": []},
        {"role": "user", "contents": [], "content": ""},
        {"type": "message", "role": "user", "content": [text()]},
    ],
)
def test_messages_of_others_are_not_claimed(native):
    assert FORMAT.evidence(native) == NO


def test_a_request_with_contents_is_geminis():
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    assert ls.load(body).format.name == "gemini"


def test_one_message_on_one_line_is_a_history_of_one():
    line = json.dumps(message("user", text())).encode() + b"\n"
    assert len(ls.load(line)) == 1
    assert ls.dump(ls.load(line)) == line


# --- sessions ------------------------------------------------------------------------------------


def session(**sources):
    state = {source: {"messages": held} for source, held in sources.items()}
    return {"type": "session", "session_id": "s", "service_session_id": None, "state": state}


HISTORY = [message("user", text(str(at))) for at in range(4)]


def test_the_list_of_a_session_is_found_and_cut_where_it_stands():
    body = session(in_memory=HISTORY)
    transcript = ls.load(body)
    assert (transcript.path, len(transcript)) == ("state.in_memory.messages", 4)
    cut = ls.trim(body, max_messages=1)
    assert cut == session(in_memory=HISTORY[3:])
    assert body == session(in_memory=HISTORY)


@pytest.mark.parametrize("indent", [None, 1])
def test_the_text_of_a_session_comes_back_byte_for_byte(indent):
    body = session(**{"my.provider": HISTORY})
    body["state"]["other"] = {"count": 3}
    written = json.dumps(body, indent=indent)
    assert ls.dump(ls.load(written)) == written
    cut = json.loads(ls.trim(written, max_messages=1))
    assert cut["state"]["my.provider"]["messages"] == HISTORY[3:]
    assert cut["state"]["other"] == {"count": 3}


def test_several_lists_in_a_session_are_refused_by_name():
    with pytest.raises(ls.FormatError, match=r"'audit' and 'in_memory'.*hand over the list"):
        ls.load(session(audit=HISTORY, in_memory=HISTORY))


def test_a_session_without_a_list_says_what_it_has():
    body = session()
    body["state"]["counter"] = {"n": 1}
    with pytest.raises(ls.FormatError, match="which has counter"):
        ls.load(body)


def test_a_session_of_the_package_is_read():
    framework = pytest.importorskip("agent_framework")
    made = framework.AgentSession()
    made.state["in_memory"] = {"messages": [framework.Message.from_dict(one) for one in HISTORY]}
    dumped = made.to_dict()
    cut = ls.trim(dumped, max_messages=2)
    again = framework.AgentSession.from_dict(cut)
    assert [one.text for one in again.state["in_memory"]["messages"]] == ["2", "3"]


# --- stores and mending --------------------------------------------------------------------------


def test_objects_come_back_from_a_store_as_objects():
    framework = pytest.importorskip("agent_framework")
    made = [framework.Message.from_dict(copy.deepcopy(one)) for one in HISTORY]
    made.append(framework.Message("assistant", ["done"]))
    with ls.open_store("memory://") as store:
        chat = store.session("s")
        chat.append(made)
        window = chat.window()
    assert [type(one) for one in window] == [framework.Message] * 5
    assert [one.to_dict() for one in window] == [one.to_dict() for one in made]


def test_an_object_without_its_package_is_told(monkeypatch):
    framework = pytest.importorskip("agent_framework")
    with ls.open_store("memory://") as store:
        chat = store.session("s")
        chat.append([framework.Message("user", ["hi"])])
        monkeypatch.setitem(__import__("sys").modules, "agent_framework", None)
        with pytest.raises(ls.MissingExtra, match=r"lockstitch\[agent-framework\]"):
            chat.window()


@pytest.mark.parametrize("made", ["dict", "object"])
def test_a_call_without_a_result_is_answered_in_its_own_kind(made):
    history = [message("user", text()), message("assistant", CALL), message("user", text("well?"))]
    if made == "object":
        framework = pytest.importorskip("agent_framework")
        history = [framework.Message.from_dict(copy.deepcopy(one)) for one in history]
    mended = ls.repair(history)
    assert mended.ok
    assert [type(one) for one in mended.messages] == [type(history[0])] * 4
    answer = mended.messages[2]
    held = answer if made == "dict" else answer.to_dict()
    assert held["role"] == "tool"
    assert held["contents"][0]["call_id"] == "c1"
    assert "exception" in held["contents"][0]


def test_an_orphan_becomes_a_note_of_the_users():
    history = [message("user", text()), message("tool", result()), message("user", text())]
    mended = ls.repair(history)
    assert mended.ok
    assert [one["role"] for one in mended.messages if "ok" in str(one)] == ["user"]
