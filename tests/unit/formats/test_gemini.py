"""Gemini contents: facts, parts, pairing and what speaks for the format."""

from __future__ import annotations

import base64
import copy
import json
import types as builtin_types

import msgspec
import pytest
from reading import Reading

from lockstitch.document import open_document
from lockstitch.errors import FormatError
from lockstitch.facts import (
    ASSISTANT,
    CALL,
    FUNCTION,
    INTERIM,
    OTHER,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
    Facts,
    Link,
)
from lockstitch.formats import FORMATS
from lockstitch.formats.base import DEFINITE, FITS, LIKELY, NO, facts_of
from lockstitch.formats.gemini import FORMAT
from lockstitch.transcript import (
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

TEXT = {"text": "t"}
THOUGHT = {"text": "hm", "thought": True, "thoughtSignature": "sig"}
ROLES = {"user": USER, "function": USER, "model": ASSISTANT, "system": SYSTEM}
SNAKE = {
    "functionCall": "function_call",
    "functionResponse": "function_response",
    "inlineData": "inline_data",
    "fileData": "file_data",
    "mimeType": "mime_type",
    "fileUri": "file_uri",
    "thoughtSignature": "thought_signature",
    "executableCode": "executable_code",
    "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call",
    "toolResponse": "tool_response",
    "toolType": "tool_type",
    "willContinue": "will_continue",
    "partialArgs": "partial_args",
    "videoMetadata": "video_metadata",
}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def says(text="t"):
    return {"text": text}


def call(name="look_up", id_=None, **more):
    held = {"name": name, "args": {"q": 1}} | ({"id": id_} if id_ else {})
    return {"functionCall": held, **more}


def gave(name="look_up", id_=None, response=None, **more):
    held = {"name": name, "response": {"v": 1} if response is None else response}
    return {"functionResponse": held | ({"id": id_} if id_ else {}) | more}


def code(id_=None):
    return {"executableCode": {"code": "1", "language": "PYTHON"} | ({"id": id_} if id_ else {})}


def ran(id_=None, outcome="OUTCOME_OK"):
    held = {"outcome": outcome, "output": "1"}
    return {"codeExecutionResult": held | ({"id": id_} if id_ else {})}


def snake(value):
    """The same content as the Python SDK writes it."""
    if isinstance(value, dict):
        return {SNAKE.get(key, key): snake(inner) for key, inner in value.items()}
    return [snake(inner) for inner in value] if isinstance(value, list) else value


READ = Reading(FORMAT)
transcript = READ.transcript
groups = READ.groups
members = READ.members
pairs = READ.pairs


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "role"),
    [
        (user(TEXT), USER),
        (user(), USER),
        ({"role": "user"}, USER),
        ({"role": "user", "parts": None}, USER),
        ({"parts": [TEXT]}, USER),
        ({"role": None, "parts": [TEXT]}, USER),
        ({}, USER),
        (model(TEXT), ASSISTANT),
        (model(), ASSISTANT),
        ({"role": "model"}, ASSISTANT),
        ({"role": "assistant", "parts": [TEXT]}, ASSISTANT),
        ({"role": "function", "parts": [TEXT]}, USER),
        ({"role": "system", "parts": [TEXT]}, SYSTEM),
        ({"role": "narrator", "parts": [TEXT]}, OTHER),
        ({"role": 5, "parts": [TEXT]}, OTHER),
        ({"role": ["user"], "parts": [TEXT]}, OTHER),
        (model(THOUGHT, TEXT), ASSISTANT),
        (user(THOUGHT), USER),
        (model({"newThing": {}}), ASSISTANT),
        ({"role": "user", "parts": "hi"}, USER),
        ({"role": "user", "parts": TEXT}, USER),
        ({"role": "user", "parts": ["hi", TEXT]}, USER),
    ],
)
def test_a_content_without_calls_says_its_role_alone(content, role):
    assert FORMAT.facts(content) == Facts(role)


def test_calls_with_ids_are_read_by_id():
    assert FORMAT.facts(model(TEXT, call("x", "a"), call("y", "b"))) == Facts(
        ASSISTANT, asks=("a", "b")
    )


def test_calls_without_ids_are_read_by_name():
    assert FORMAT.facts(model(call("x"), call("y"))).links == (
        Link(CALL, FUNCTION, None, "x"),
        Link(CALL, FUNCTION, None, "y"),
    )


def test_an_empty_id_is_none_at_all():
    content = model({"functionCall": {"name": "x", "args": {}, "id": ""}})
    assert FORMAT.facts(content).links == (Link(CALL, FUNCTION, None, "x"),)


@pytest.mark.parametrize("role", ["user", "function", "tool", None])
def test_a_content_of_responses_alone_is_a_tools(role):
    content = {"role": role, "parts": [gave(id_="a"), gave(id_="b")]}
    assert FORMAT.facts(content) == Facts(TOOL, answers=("a", "b"))


def test_a_content_of_responses_and_words_stays_the_users():
    assert FORMAT.facts(user(gave(id_="a"), TEXT)) == Facts(USER, answers=("a",))


def test_a_response_in_the_models_turn_does_not_make_it_a_tools():
    assert FORMAT.facts(model(gave(id_="a"))) == Facts(ASSISTANT, answers=("a",))


@pytest.mark.parametrize("parts", [[call(id_="a")], [THOUGHT], [TEXT, code("a")]])
def test_a_content_without_a_role_is_the_models_where_only_a_model_speaks_so(parts):
    assert FORMAT.facts({"parts": parts}).role == ASSISTANT


def test_thoughts_alone_are_reasoning():
    assert FORMAT.facts(model(THOUGHT)) == Facts(ASSISTANT, reasoning=True)
    assert FORMAT.facts(model(THOUGHT, {"thought": True})) == Facts(ASSISTANT, reasoning=True)
    assert FORMAT.facts(model({"text": "", "thoughtSignature": "s"})) == Facts(
        ASSISTANT, reasoning=True
    )


@pytest.mark.parametrize(
    "part",
    [
        gave(id_="a", response={"status": "pending"}),
        gave(id_="a", response={"status": "pending", "ticket": 7}),
        gave(id_="a", willContinue=True),
        gave(id_="a", will_continue=True),
    ],
)
def test_an_answer_that_the_call_still_runs_is_interim(part):
    assert FORMAT.facts(user(part)) == Facts(
        TOOL, (Link(RESULT, FUNCTION, "a", "look_up", None, INTERIM),)
    )


@pytest.mark.parametrize(
    "part",
    [
        gave(id_="a", response={"status": "done"}),
        gave(id_="a", response="pending"),
        gave(id_="a", response={"order": {"status": "pending"}}),
        gave(id_="a", willContinue=False),
        {"functionResponse": {"id": "a", "name": "x"}},
    ],
)
def test_any_other_answer_is_final(part):
    assert FORMAT.facts(user(part)) == Facts(TOOL, answers=("a",))


def test_a_response_may_be_a_mapping_of_any_kind():
    held = builtin_types.MappingProxyType({"status": "pending"})
    assert FORMAT.facts(user(gave(id_="a", response=held))).links[0].state == INTERIM


def test_code_and_tools_that_the_provider_runs_are_tied_inside_their_turn():
    tool = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {}, "id": "s"}}
    reply = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {}, "id": "s"}}
    assert FORMAT.facts(model(code("c"), ran("c"), tool, reply)).links == (
        Link(CALL, "code_execution", "c"),
        Link(RESULT, "code_execution", "c"),
        Link(CALL, "server", "s", "GOOGLE_SEARCH_WEB"),
        Link(RESULT, "server", "s", "GOOGLE_SEARCH_WEB"),
    )


SAMPLES = [
    user(TEXT),
    user(),
    model(TEXT, call("x", "a", thoughtSignature="s"), call("y", "b")),
    model(call("x"), call("y", "b")),
    model(THOUGHT),
    model(THOUGHT, call("x", "a")),
    model({"text": "", "thoughtSignature": "s"}),
    model(code(), ran()),
    model(code("c"), ran("c", "OUTCOME_FAILED"), TEXT),
    model(
        {"toolCall": {"toolType": "X", "id": "s"}}, {"toolResponse": {"toolType": "X", "id": "s"}}
    ),
    model({"functionCall": {"willContinue": True, "partialArgs": []}}),
    model({"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thought": True}),
    user(gave(id_="a"), gave("y", "b")),
    user(gave("x"), gave("y", "b")),
    user(gave(id_="a"), TEXT),
    user(gave(id_="a", willContinue=True)),
    user(gave(id_="a", parts=[{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}])),
    user({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://x"}, "videoMetadata": {"fps": 1}}),
    user({"newThing": {"x": 1}}, {}),
    {"role": "function", "parts": [gave("x")]},
    {"role": "system", "parts": [TEXT]},
]


@pytest.mark.parametrize("content", SAMPLES)
def test_the_quick_facts_are_those_that_follow_from_the_parts(content):
    assert FORMAT.facts(content) == facts_of(ROLES[content["role"]], FORMAT.parts(content))


@pytest.mark.parametrize("content", SAMPLES)
def test_snake_case_says_the_same_as_camel_case(content):
    twin = snake(content)
    assert FORMAT.facts(twin) == FORMAT.facts(content)
    assert FORMAT.evidence(twin) == FORMAT.evidence(content)
    for one, other in zip(FORMAT.parts(twin), FORMAT.parts(content), strict=True):
        if not isinstance(other, Opaque | ToolResult):
            assert one == other


@pytest.mark.parametrize("content", SAMPLES)
def test_raw_json_says_the_same_as_a_dict(content):
    raw = msgspec.Raw(msgspec.json.encode(content))
    assert FORMAT.facts(raw) == FORMAT.facts(content)
    assert FORMAT.parts(raw) == FORMAT.parts(content)
    assert FORMAT.evidence(raw) == FORMAT.evidence(content)


def test_fields_that_are_null_are_absent():
    names = ("text", "thought", "function_response", "inline_data", "executable_code", "new_thing")
    full = dict.fromkeys(names) | {"function_call": {"id": None, "args": {"q": 1}, "name": "x"}}
    assert FORMAT.facts(model(full)) == FORMAT.facts(model(call("x")))
    assert FORMAT.parts(model(full)) == FORMAT.parts(model(call("x")))


def test_nothing_that_is_read_is_changed():
    contents = copy.deepcopy(SAMPLES)
    for content in contents:
        FORMAT.facts(content)
        FORMAT.parts(content)
        FORMAT.evidence(content)
    assert contents == SAMPLES


# --- parts ----------------------------------------------------------------------------------------

PNG = {"mimeType": "image/png", "data": "AAAA"}
AT = "parts[0]"


@pytest.mark.parametrize(
    ("part", "read"),
    [
        (TEXT, Text("t", AT)),
        ("words", Text("words", AT)),
        ({"text": ""}, Text("", AT)),
        ({"text": 5}, Text("5", AT)),
        ({"text": "t", "thoughtSignature": "s"}, Text("t", AT)),
        ({"text": "t", "thought": False}, Text("t", AT)),
        ({"text": "t", "audioTranscription": {}}, Text("t", AT)),
        (THOUGHT, Reasoning("hm", "sig", path=AT)),
        ({"text": "hm", "thought": True}, Reasoning("hm", None, path=AT)),
        ({"thought": True, "thoughtSignature": "s"}, Reasoning("", "s", path=AT)),
        ({"thoughtSignature": "s"}, Reasoning("", "s", path=AT)),
        ({"text": "", "thoughtSignature": "s"}, Reasoning("", "s", path=AT)),
        ({"thought": True, "inlineData": PNG}, Reasoning("", None, path=AT)),
        (call("x"), ToolCall("function", None, "x", {"q": 1}, AT)),
        (call("x", "a", thoughtSignature="s"), ToolCall("function", "a", "x", {"q": 1}, AT)),
        (call("x", "a", thought=True), ToolCall("function", "a", "x", {"q": 1}, AT)),
        ({"text": "", **call("x", "a")}, ToolCall("function", "a", "x", {"q": 1}, AT)),
        (
            {"functionCall": {"name": "x", "willContinue": True}},
            ToolCall("function", None, "x", None, AT),
        ),
        ({"functionCall": {"args": {"q": 1}}}, ToolCall("function", None, None, {"q": 1}, AT)),
        (gave("x", "a"), ToolResult("function", "a", {"v": 1}, "x", AT)),
        (
            gave("x", response={"status": "pending"}),
            ToolResult("function", None, {"status": "pending"}, "x", AT, state=INTERIM),
        ),
        (
            gave("x", parts=[{"inlineData": PNG}]),
            ToolResult("function", None, [{"v": 1}, {"inlineData": PNG}], "x", AT),
        ),
        (gave("x", parts=[]), ToolResult("function", None, {"v": 1}, "x", AT)),
        (code("c"), ToolCall("code_execution", "c", None, "1", AT)),
        (ran("c"), ToolResult("code_execution", "c", "1", None, AT)),
        (
            ran(outcome="OUTCOME_DEADLINE_EXCEEDED"),
            ToolResult("code_execution", None, "1", None, AT, is_error=True),
        ),
        (
            {
                "toolCall": {"toolType": "FILE_SEARCH", "args": {}, "id": "s"},
                "thoughtSignature": "x",
            },
            ToolCall("server", "s", "FILE_SEARCH", {}, AT),
        ),
        (
            {"toolResponse": {"toolType": "FILE_SEARCH", "response": {"r": 1}, "id": "s"}},
            ToolResult("server", "s", {"r": 1}, "FILE_SEARCH", AT),
        ),
        ({"inlineData": PNG}, Media("image", "image/png", 4, AT)),
        (
            {"inlineData": {"mimeType": "audio/wav", "data": b"abcd"}},
            Media("audio", "audio/wav", 8, AT),
        ),
        ({"inlineData": {"mimeType": "text/plain"}}, Media("document", "text/plain", 0, AT)),
        (
            {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://x"}},
            Media("document", "application/pdf", 0, AT),
        ),
        ({"fileData": {"fileUri": "gs://x"}}, Media("file", None, 0, AT)),
        ({"newThing": {"x": 1}}, Opaque("newThing", {"newThing": {"x": 1}}, AT)),
        (
            {"thoughtSignature": "s", "newThing": 1},
            Opaque("newThing", {"thoughtSignature": "s", "newThing": 1}, AT),
        ),
        ({"call": {"x": 1}}, Opaque("call", {"call": {"x": 1}}, AT)),
        ({"functionCall": "x"}, Opaque("functionCall", {"functionCall": "x"}, AT)),
        ({"functionCall": {}}, Opaque("functionCall", {"functionCall": {}}, AT)),
        (
            {"functionCall": {"partialArgs": [], "willContinue": True}},
            Opaque("functionCall", {"functionCall": {"partialArgs": [], "willContinue": True}}, AT),
        ),
        ({}, Opaque("empty", {}, AT)),
        ({"text": None}, Opaque("empty", {"text": None}, AT)),
    ],
)
def test_a_part_is_read_with_its_place(part, read):
    assert FORMAT.parts(user(part)) == (read,)


def test_the_first_of_two_unknown_keys_names_the_part():
    assert FORMAT.parts(user({"one": 1, "two": 2, "functionCall": "x"}))[0].type == "one"
    assert FORMAT.parts(user({"functionCall": "x", "one": 1}))[0].type == "functionCall"


def test_the_second_part_has_the_second_place():
    assert [part.path for part in FORMAT.parts(model(TEXT, call()))] == ["parts[0]", "parts[1]"]


@pytest.mark.parametrize("alone", ["t", TEXT])
def test_a_single_part_may_stand_without_its_list(alone):
    assert FORMAT.parts({"role": "user", "parts": alone}) == (Text("t", "parts"),)


@pytest.mark.parametrize("content", [{"role": "model"}, {"role": "model", "parts": None}, model()])
def test_a_content_without_parts_has_none(content):
    assert FORMAT.parts(content) == ()


def test_the_bytes_of_a_signature_are_shown_as_they_are_written():
    sealed = FORMAT.parts(model({"thought": True, "thought_signature": b"\xff\xfe"}))[0].sealed
    assert sealed == "__4="


def test_what_is_no_part_is_refused():
    for read in (FORMAT.facts, FORMAT.parts):
        with pytest.raises(FormatError, match="expected a mapping"):
            read(user(5))


def test_the_native_keeps_the_signature_of_a_call():
    contents = [user(TEXT), model(call("x", "a", thoughtSignature="s"))]
    message = transcript(contents).message(1)
    assert message.native is contents[1]
    assert message.native["parts"][0]["thoughtSignature"] == "s"


# --- pairing --------------------------------------------------------------------------------------


def test_parallel_calls_without_ids_are_answered_by_name():
    contents = [user(TEXT), model(call("x"), call("y")), user(gave("y"), gave("x")), model(TEXT)]
    assert members(contents) == [(0,), (1, 2), (3,)]
    assert pairs(contents) == [(2, 0, (1, 1)), (2, 1, (1, 0))]


def test_calls_of_one_name_without_ids_are_answered_in_order():
    contents = [user(TEXT), model(call("x"), call("x")), user(gave("x"), gave("x"))]
    assert pairs(contents) == [(2, 0, (1, 0)), (2, 1, (1, 1))]
    assert [one.state for one in groups(contents)] == ["complete", "complete"]


def test_joined_turns_share_their_answers():
    contents = [user(TEXT), model(call("x")), model(call("y")), user(gave("x"), gave("y"))]
    assert members(contents) == [(0,), (1, 2, 3)]
    apart = [user(TEXT), model(call("x")), model(call("y")), user(gave("x")), user(gave("y"))]
    assert members(apart) == [(0,), (1, 3), (2, 4)]


def test_the_same_call_in_two_turns_is_two_calls():
    round_ = [model(call("x")), user(gave("x"))]
    contents = [user(TEXT), *round_, *copy.deepcopy(round_), model(TEXT)]
    assert members(contents) == [(0,), (1, 2), (3, 4), (5,)]


def test_an_id_that_comes_back_in_a_later_turn_is_another_call():
    round_ = [model(call("x", "a")), user(gave("x", "a"))]
    contents = [user(TEXT), *round_, user(TEXT), *copy.deepcopy(round_)]
    assert members(contents) == [(0,), (1, 2), (3,), (4, 5)]


def test_ids_decide_over_the_order():
    contents = [model(call("x", "a"), call("x", "b")), user(gave("x", "b"), gave("x", "a"))]
    assert pairs(contents) == [(1, 0, (0, 1)), (1, 1, (0, 0))]


def test_calls_with_ids_take_responses_without():
    contents = [user(TEXT), model(call("x", "a"), call("x", "b")), user(gave("x"), gave("x"))]
    assert pairs(contents) == [(2, 0, (1, 0)), (2, 1, (1, 1))]
    assert [one.state for one in groups(contents)] == ["complete", "complete"]


def test_calls_without_ids_take_responses_with_ids_where_the_message_says_the_names():
    contents = [model(call("x"), call("y")), user(gave("y"), gave("x", "b"))]
    assert pairs(contents) == [(1, 0, (0, 1)), (1, 1, (0, 0))]


def test_calls_without_ids_take_responses_with_ids():
    contents = [user(TEXT), model(call("x")), user(gave("x", "a"))]
    assert members(contents) == [(0,), (1, 2)]


def test_a_call_without_an_answer_is_open_until_the_conversation_goes_on():
    assert [one.state for one in groups([user(TEXT), model(call("x"))])] == ["complete", "open"]
    moved = [user(TEXT), model(call("x")), user(says("still there?"))]
    assert [one.state for one in groups(moved)] == ["complete", "abandoned", "complete"]


def test_a_response_without_its_call_is_an_orphan():
    assert [one.state for one in groups([user(TEXT), user(gave("x"))])] == ["complete", "orphan"]


def test_an_interim_answer_leaves_the_call_open():
    contents = [model(call("x", "a")), user(gave("x", "a", willContinue=True))]
    assert [(one.members, one.state) for one in groups(contents)] == [((0, 1), "open")]
    contents.append(user(gave("x", "a", willContinue=False)))
    assert [(one.members, one.state) for one in groups(contents)] == [((0, 1, 2), "complete")]


def test_interim_answers_pair_by_name_too():
    more = gave("x", willContinue=True)
    contents = [model(call("x"), call("y")), user(more), user(more), user(gave("x"), gave("y"))]
    assert pairs(contents) == [(1, 0, (0, 0)), (2, 0, (0, 0)), (3, 0, (0, 0)), (3, 1, (0, 1))]
    assert [one.state for one in groups(contents)] == ["complete"]


def test_the_last_answer_finds_its_call_past_a_pending_one_and_past_other_turns():
    contents = [
        user(says("export")),
        model(call("export_data", "L")),
        user(gave("export_data", "L", {"status": "pending"})),
        model(says("started")),
        user(says("time?")),
        model(says("12:00")),
        user(gave("export_data", "L", {"status": "done"})),
    ]
    assert members(contents) == [(0,), (1, 2, 6), (3,), (4,), (5,)]
    assert {one.state for one in groups(contents)} == {"complete"}


@pytest.mark.parametrize("id_", [None, "c"])
def test_code_and_its_outcome_stay_together(id_):
    assert members([user(TEXT), model(code(id_), ran(id_)), user(TEXT)]) == [(0,), (1,), (2,)]
    apart = [user(TEXT), model(code(id_)), model(ran(id_), TEXT), user(TEXT)]
    assert members(apart) == [(0,), (1, 2), (3,)]
    assert {one.state for one in groups(apart)} == {"complete"}


def test_code_in_between_does_not_take_the_answer_of_a_call():
    contents = [user(TEXT), model(code(), call("x")), user(gave("x"))]
    assert pairs(contents) == [(2, 0, (1, 1))]


def test_thoughts_are_bound_to_what_the_model_said_next():
    contents = [user(TEXT), model(THOUGHT), model(call("x", "a")), user(gave("x", "a"))]
    assert members(contents) == [(0,), (1, 2, 3)]


def test_snake_case_pairs_like_camel_case():
    contents = [
        user(TEXT),
        model(THOUGHT, call("x"), call("y", "b")),
        user(gave("x"), gave("y", "b", willContinue=True)),
        user(gave("y", "b")),
        model(code(), ran()),
    ]
    assert pairs(snake(contents)) == pairs(contents)
    assert members(snake(contents)) == members(contents)


# --- round trip -----------------------------------------------------------------------------------


@pytest.mark.parametrize("contents", [SAMPLES, snake(SAMPLES)])
def test_every_content_comes_back_as_it_was(contents):
    opened = transcript(contents)
    assert all(one is other for one, other in zip(opened.natives, contents, strict=True))
    assert opened.document.rebuild(opened.natives) == contents
    written = json.dumps(contents)
    text = Transcript(open_document(written), FORMAT)
    assert [text.format.parts(one) for one in text.natives] == list(map(FORMAT.parts, contents))


def test_the_format_names_the_keys_of_its_request():
    assert FORMAT.keys == ("contents",)
    assert FORMAT.system_keys == ("systemInstruction", "system_instruction")
    assert FORMAT.joins


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "strength"),
    [
        (user(TEXT), LIKELY),
        (user("words"), LIKELY),
        (user(), FITS),
        ({"parts": [TEXT]}, LIKELY),
        ({"role": "user", "parts": "words"}, LIKELY),
        ({"role": "user", "parts": TEXT}, LIKELY),
        (model(TEXT), DEFINITE),
        (model(), LIKELY),
        ({"role": "model"}, LIKELY),
        ({"role": "model", "parts": None}, LIKELY),
        ({"role": "model", "text": "x"}, NO),
        ({"role": "user"}, NO),
        ({"role": "assistant", "parts": [TEXT]}, LIKELY),
        (model(call()), DEFINITE),
        (user(gave()), DEFINITE),
        (model(code()), DEFINITE),
        (model(ran()), DEFINITE),
        (user({"inlineData": PNG}), DEFINITE),
        (user({"fileData": {"fileUri": "gs://x"}}), DEFINITE),
        (user(TEXT, gave()), DEFINITE),
        (user(gave(), TEXT), DEFINITE),
        (user(gave(), "words"), DEFINITE),
        (user({"newThing": 1}), FITS),
        (model({"newThing": 1}), LIKELY),
        (user({}), FITS),
        (user(5), NO),
        (user({"type": "text", "text": "t"}), NO),
        (user({"kind": "text", "text": "t"}), NO),
        (user({"part_kind": "user-prompt", "content": "t"}), NO),
        ({"kind": "request", "parts": [TEXT]}, NO),
        ({"type": "message", "role": "user", "parts": [TEXT]}, NO),
        ({"role": "user", "content": "x"}, NO),
        ({"role": "user", "content": [TEXT]}, NO),
        ({"role": "user", "content": "x", "parts": [TEXT]}, NO),
        ({"role": "narrator", "parts": [TEXT]}, NO),
        ({"role": ["user"], "parts": [TEXT]}, NO),
    ],
)
def test_evidence(content, strength):
    assert FORMAT.evidence(content) == strength


@pytest.mark.parametrize("content", SAMPLES)
def test_no_other_format_takes_a_content_for_its_own(content):
    for name, form in FORMATS.items():
        if name != FORMAT.name:
            assert form.evidence(content) == NO, name


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
        {"role": "tool", "content": "x", "tool_call_id": "a"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
        {"role": "user", "content": [{"text": "x"}]},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        {"type": "human", "content": "x"},
        {"id": "m", "role": "user", "parts": [{"type": "text", "text": "x"}]},
        {"speaker": "me"},
    ],
)
def test_messages_of_other_formats_are_refused(message):
    assert FORMAT.evidence(message) == NO


# --- objects of the SDK ---------------------------------------------------------------------------


class Dumps:
    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields


def test_parts_that_are_objects_read_like_dicts():
    content = model(
        Dumps(**TEXT), Dumps(**call("x", "a")), {"functionCall": Dumps(name="y", args={})}
    )
    plain = model(TEXT, call("x", "a"), {"functionCall": {"name": "y", "args": {}}})
    assert FORMAT.facts(content) == FORMAT.facts(plain)
    assert FORMAT.parts(content) == FORMAT.parts(plain)
    assert FORMAT.evidence(content) == DEFINITE
    assert FORMAT.facts(Dumps(**plain)) == FORMAT.facts(plain)
    assert FORMAT.evidence(Dumps(**plain)) == DEFINITE


def test_contents_of_the_sdk_read_like_the_wire():
    types = pytest.importorskip("google.genai.types")
    signature = base64.urlsafe_b64encode(b"\x01sealed").decode()
    wire = [
        user(says("hi")),
        model(
            {"text": "hm", "thought": True, "thoughtSignature": signature},
            call("x", "a", thoughtSignature=signature),
            call("y"),
        ),
        user(gave("x", "a"), gave("y", willContinue=True)),
        user(gave("y"), {"inlineData": PNG}),
        model(code("c"), ran("c", "OUTCOME_FAILED")),
        model(
            {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {}, "id": "s"}},
            {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {}, "id": "s"}},
        ),
    ]
    natives = [types.Content.model_validate(content) for content in wire]
    for native, content in zip(natives, wire, strict=True):
        assert FORMAT.facts(native) == FORMAT.facts(content)
        assert FORMAT.parts(native) == FORMAT.parts(content)
        assert FORMAT.evidence(native) == FORMAT.evidence(content)
    assert members(natives) == members(wire)
    built = types.Content(role="user", parts=[types.Part.from_text(text="hi")])
    assert FORMAT.parts(built) == (Text("hi", AT),)
