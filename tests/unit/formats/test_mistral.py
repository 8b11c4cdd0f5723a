"""Mistral chat messages: facts, parts, pairing and what speaks for the format."""

from __future__ import annotations

import copy
import json

import msgspec
import pytest
from reading import Reading

from lockstitch.document import open_document
from lockstitch.errors import FormatError
from lockstitch.facts import ASSISTANT, CALL, FUNCTION, RESULT, TOOL, Facts, Link
from lockstitch.formats import FORMATS
from lockstitch.formats.base import DEFINITE, FITS, LIKELY, NO, facts_of
from lockstitch.formats.mistral import FORMAT
from lockstitch.transcript import (
    Media,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)

TEXT = {"type": "text", "text": "t"}
THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
REFERENCE = {"type": "reference", "reference_ids": [1, 2]}
DOCUMENT = {"type": "document_url", "document_url": "https://example.com/a.pdf"}
AT = "content[0]"


def user(content="go on"):
    return {"role": "user", "content": content}


def assistant(content="done", **more):
    return {"role": "assistant", "content": content, **more}


def entry(id_="a", name="look_up", arguments="{}"):
    held = {"function": {"name": name, "arguments": arguments}, "type": "function"}
    return held if id_ is None else {"id": id_, **held}


def calling(*entries, content="", **more):
    return assistant(content, tool_calls=list(entries), **more)


def tool(id_="a", name=None, content="found"):
    held = {"role": "tool", "content": content}
    if name:
        held["name"] = name
    return held if id_ is None else {**held, "tool_call_id": id_}


READ = Reading(FORMAT)
transcript = READ.transcript
members = READ.members
states = READ.states
pairs = READ.pairs


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (user(), "user"),
        (user([TEXT]), "user"),
        ({"role": "system", "content": "x"}, "system"),
        (assistant(), "assistant"),
        (assistant(None), "assistant"),
        (assistant([]), "assistant"),
        (assistant([TEXT]), "assistant"),
        (assistant([THINKING, TEXT]), "assistant"),
        (assistant("x", tool_calls=None), "assistant"),
        (assistant("x", tool_calls=[]), "assistant"),
        (user([THINKING]), "user"),
        ({"role": "developer", "content": "x"}, "other"),
        ({"role": ["user"], "content": "x"}, "other"),
        ({"content": "x"}, "other"),
    ],
)
def test_a_message_without_calls_says_its_role_alone(message, role):
    assert FORMAT.facts(message) == Facts(role)


def test_calls_are_read_by_id():
    assert FORMAT.facts(calling(entry("a"), entry("b"))) == Facts(ASSISTANT, asks=("a", "b"))


@pytest.mark.parametrize("id_", [None, "", "null"])
def test_a_call_without_an_id_is_read_by_name(id_):
    assert FORMAT.facts(calling(entry(id_))).links == (Link(CALL, FUNCTION, None, "look_up"),)


def test_a_result_is_read_by_id():
    assert FORMAT.facts(tool("a", "look_up")) == Facts(TOOL, answers=("a",))


@pytest.mark.parametrize("id_", [None, "", "null"])
def test_a_result_without_an_id_is_read_by_name(id_):
    assert FORMAT.facts(tool(id_, "look_up")).links == (Link(RESULT, FUNCTION, None, "look_up"),)


def test_thinking_alone_is_reasoning():
    assert FORMAT.facts(assistant([THINKING])) == Facts(ASSISTANT, reasoning=True)
    assert FORMAT.facts(assistant([THINKING, THINKING])) == Facts(ASSISTANT, reasoning=True)


SAMPLES = [
    user(),
    user([TEXT, DOCUMENT]),
    user([{"type": "image_url", "image_url": "https://example.com/a.png"}]),
    user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]),
    user([{"type": "input_audio", "input_audio": "AAAA"}]),
    user([{"type": "file", "file_id": "f"}]),
    user([{"type": "resource_link", "uri": "u"}]),
    user([{"type": "new_thing"}]),
    {"role": "system", "content": "be brief"},
    {"role": "system", "content": [TEXT]},
    assistant(),
    assistant("", prefix=False),
    assistant(None),
    assistant([THINKING]),
    assistant([THINKING, TEXT], prefix=True),
    assistant([TEXT, REFERENCE]),
    assistant([THINKING, {**TEXT, "text": ""}]),
    calling(entry("a"), entry("b", arguments={"q": 1})),
    calling(entry(None), entry("b")),
    calling(entry("null"), content=[THINKING], prefix=False),
    calling({"id": "a"}),
    tool("a"),
    tool("a", "look_up"),
    tool(None, "look_up"),
    tool("null", content=[TEXT]),
]


@pytest.mark.parametrize("message", SAMPLES)
def test_the_quick_facts_are_those_that_follow_from_the_parts(message):
    assert FORMAT.facts(message) == facts_of(message["role"], FORMAT.parts(message))


@pytest.mark.parametrize("message", SAMPLES)
def test_raw_json_says_the_same_as_a_dict(message):
    raw = msgspec.Raw(msgspec.json.encode(message))
    assert FORMAT.facts(raw) == FORMAT.facts(message)
    assert FORMAT.parts(raw) == FORMAT.parts(message)
    assert FORMAT.evidence(raw) == FORMAT.evidence(message)


def test_nothing_that_is_read_is_changed():
    messages = copy.deepcopy(SAMPLES)
    for message in messages:
        FORMAT.facts(message)
        FORMAT.parts(message)
        FORMAT.evidence(message)
    assert messages == SAMPLES


# --- parts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunk", "part"),
    [
        (TEXT, Text("t", AT)),
        ("words", Text("words", AT)),
        ({"type": "text"}, Text(None, AT)),
        (THINKING, Reasoning("hm", None, path=AT)),
        (
            {
                "type": "thinking",
                "thinking": [TEXT, REFERENCE, {"type": "text", "text": "u"}],
                "signature": "sig",
                "closed": True,
            },
            Reasoning("tu", "sig", path=AT),
        ),
        ({"type": "thinking", "thinking": "hm"}, Reasoning("hm", None, path=AT)),
        ({"type": "thinking"}, Reasoning("", None, path=AT)),
        (DOCUMENT, Media("document", path=AT)),
        (
            {"type": "document_url", "document_url": "data:application/pdf;base64,AA"},
            Media("document", encoded=30, path=AT),
        ),
        (
            {"type": "image_url", "image_url": "data:image/png;base64,AA"},
            Media("image", encoded=24, path=AT),
        ),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
            Media("image", encoded=24, path=AT),
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            Media("image", path=AT),
        ),
        ({"type": "image_url"}, Media("image", path=AT)),
        ({"type": "image_url", "image_url": {"url": 5}}, Media("image", path=AT)),
        ({"type": "image_url", "image_url": 5}, Media("image", path=AT)),
        ({"type": "input_audio", "input_audio": "AAAA"}, Media("audio", encoded=4, path=AT)),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            Media("audio", encoded=4, path=AT),
        ),
        (
            {"type": "input_audio", "input_audio": "https://example.com/a.mp3"},
            Media("audio", path=AT),
        ),
        ({"type": "file", "file_id": "f"}, Media("file", path=AT)),
        (REFERENCE, Opaque("reference", REFERENCE, AT)),
        (
            {"type": "resource", "uri": "u"},
            Opaque("resource", {"type": "resource", "uri": "u"}, AT),
        ),
        ({"type": "new_thing"}, Opaque("new_thing", {"type": "new_thing"}, AT)),
        ({"type": ["text"]}, Opaque("['text']", {"type": ["text"]}, AT)),
        ({"n": 1}, Opaque("None", {"n": 1}, AT)),
    ],
)
def test_a_chunk_is_read_with_its_place(chunk, part):
    assert FORMAT.parts(user([chunk])) == (part,)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", (Text("hi", "content"),)),
        ("", (Text("", "content"),)),
        (None, (Text(None, "content"),)),
        ([], ()),
        (5, (Opaque("int", 5, "content"),)),
    ],
)
def test_content_of_any_shape_becomes_parts(content, parts):
    assert FORMAT.parts(user(content)) == parts


def test_absent_content_is_no_part_at_all():
    assert FORMAT.parts({"role": "user"}) == ()


def test_arguments_stay_text_or_object_as_they_are():
    message = calling(entry("a", "x", '{"q": 1}'), entry("null", "y", {"q": 1}), {"id": "c"})
    assert FORMAT.parts(message) == (
        Text("", "content"),
        ToolCall("function", "a", "x", '{"q": 1}', "tool_calls[0]"),
        ToolCall("function", None, "y", {"q": 1}, "tool_calls[1]"),
        ToolCall("function", "c", None, None, "tool_calls[2]"),
    )


def test_calls_in_a_message_of_the_user_are_not_read():
    assert FORMAT.parts({**user("x"), "tool_calls": [entry()]}) == (Text("x", "content"),)


def test_a_result_keeps_its_name_and_its_content():
    assert FORMAT.parts(tool("a", "x", [TEXT])) == (
        ToolResult("function", "a", [TEXT], "x", "content"),
    )
    assert FORMAT.parts(tool("null")) == (ToolResult("function", None, "found", None, "content"),)


def test_what_is_no_chunk_is_refused():
    for read in (FORMAT.facts, FORMAT.parts, FORMAT.evidence):
        with pytest.raises(FormatError, match="expected a mapping"):
            read(assistant([5]))


# --- pairing --------------------------------------------------------------------------------------


def test_parallel_calls_are_answered_by_id():
    messages = [user(), calling(entry("a"), entry("b")), tool("b"), tool("a"), assistant()]
    assert members(messages) == [(0,), (1, 2, 3), (4,)]
    assert pairs(messages) == [(2, 0, (1, 1)), (3, 0, (1, 0))]


@pytest.mark.parametrize("id_", [None, "null"])
def test_parallel_calls_without_ids_are_answered_by_name(id_):
    messages = [calling(entry(id_, "x"), entry(id_, "y")), tool(id_, "y"), tool(id_, "x")]
    assert pairs(messages) == [(1, 0, (0, 1)), (2, 0, (0, 0))]


def test_calls_of_one_name_without_ids_are_answered_in_order():
    messages = [calling(entry("null", "x"), entry("null", "x")), tool(None, "x"), tool(None, "x")]
    assert pairs(messages) == [(1, 0, (0, 0)), (2, 0, (0, 1))]
    assert states(messages) == ["complete"]


def test_calls_with_ids_take_results_without():
    messages = [calling(entry("a"), entry("b")), tool(None), tool("null")]
    assert pairs(messages) == [(1, 0, (0, 0)), (2, 0, (0, 1))]


def test_calls_without_ids_take_results_with_ids():
    assert members([calling(entry("null", "x")), tool("a", "x")]) == [(0, 1)]


def test_an_id_that_comes_back_in_a_later_turn_is_another_call():
    round_ = [calling(entry("a")), tool("a")]
    messages = [user(), *round_, assistant(), user(), *copy.deepcopy(round_)]
    assert members(messages) == [(0,), (1, 2), (3,), (4,), (5, 6)]


def test_thinking_is_bound_to_what_the_model_said_next():
    messages = [user(), assistant([THINKING]), calling(entry("a")), tool("a")]
    assert members(messages) == [(0,), (1, 2, 3)]


def test_a_call_is_open_until_the_conversation_goes_on():
    assert states([user(), calling(entry("a"))]) == ["complete", "open"]
    assert states([user(), calling(entry("a")), user()]) == ["complete", "abandoned", "complete"]
    assert states([user(), tool("a")]) == ["complete", "orphan"]


# --- round trip -----------------------------------------------------------------------------------


def test_every_message_comes_back_as_it_was():
    opened = transcript(SAMPLES)
    assert all(one is other for one, other in zip(opened.natives, SAMPLES, strict=True))
    assert opened.document.rebuild(opened.natives) == SAMPLES
    text = Transcript(open_document(json.dumps(SAMPLES)), FORMAT)
    assert [text.format.parts(one) for one in text.natives] == list(map(FORMAT.parts, SAMPLES))


def test_the_format_names_the_keys_of_its_request():
    assert FORMAT.keys == ("messages",)
    assert FORMAT.system_keys == ()
    assert not FORMAT.joins


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "strength"),
    [
        (user(), FITS),
        (user([TEXT]), FITS),
        (user(None), FITS),
        ({"role": "user"}, FITS),
        ({"role": "system", "content": "x"}, FITS),
        (tool(), FITS),
        (calling(entry()), FITS),
        (user([{"type": "image_url", "image_url": "u"}]), FITS),
        (user([{"type": "document_url", "document_url": {"url": "u"}}]), FITS),
        (assistant(), FITS),
        (assistant(prefix=False), LIKELY),
        (assistant([TEXT], prefix=True), LIKELY),
        ({**user(), "prefix": True}, FITS),
        (assistant([THINKING, TEXT]), DEFINITE),
        (assistant([TEXT, THINKING]), DEFINITE),
        (calling(entry(), content=[THINKING]), DEFINITE),
        (user([DOCUMENT]), DEFINITE),
        (assistant([TEXT, REFERENCE]), DEFINITE),
        (assistant([{"type": "reference"}]), NO),
        (assistant([{"type": "thinking", "thinking": "hm"}]), NO),
        (assistant([{"type": "tool_use", "id": "a"}]), NO),
        (user([{"type": "input_text", "text": "t"}]), NO),
        (user([{"text": "t"}]), NO),
        (user(5), NO),
        ({"role": "developer", "content": "x"}, NO),
        ({"role": "function", "content": "x"}, NO),
        ({"role": ["user"], "content": "x"}, NO),
        ({"content": "x"}, NO),
        ({**user(), "type": "message"}, NO),
        ({**user(), "parts": []}, NO),
        (assistant(function_call={"name": "x"}), NO),
        (assistant(function_call=None), FITS),
    ],
)
def test_evidence(message, strength):
    assert FORMAT.evidence(message) == strength


@pytest.mark.parametrize(
    "message", [assistant([THINKING]), user([TEXT, DOCUMENT]), assistant([TEXT, REFERENCE])]
)
def test_no_other_format_is_as_sure_of_what_is_mistrals(message):
    for name, form in FORMATS.items():
        if name != FORMAT.name:
            assert form.evidence(message) < DEFINITE, name


@pytest.mark.parametrize(
    "message", [user(), user([TEXT]), assistant(), calling(entry()), tool(), assistant(prefix=True)]
)
def test_a_plain_chat_message_is_chats_at_least_as_much(message):
    assert FORMATS["openai-chat"].evidence(message) >= FORMAT.evidence(message)


# --- objects of the SDK ---------------------------------------------------------------------------


class Dumps:
    """An object of an SDK whose role is a default, which a dump of what was set leaves out."""

    def __init__(self, role, **fields):
        self.role = role
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields if exclude_unset else {"role": self.role, **self.fields}


def test_objects_whose_role_is_a_default_read_like_dicts():
    thing = Dumps("assistant", content="", tool_calls=[entry("a")])
    assert FORMAT.facts(thing) == Facts(ASSISTANT, asks=("a",))
    assert FORMAT.parts(thing) == FORMAT.parts(calling(entry("a")))
    assert FORMAT.evidence(thing) == FITS


class Chunk:
    def model_dump(self, *, exclude_unset):
        return {"text": "t"} if exclude_unset else TEXT


def test_chunks_whose_type_is_a_default_read_like_dicts():
    assert FORMAT.parts(user([Chunk()])) == (Text("t", AT),)
    assert FORMAT.evidence(user([Chunk()])) == FITS
    assert FORMAT.facts(assistant([Chunk()])) == Facts(ASSISTANT)


def test_a_link_may_be_an_object():
    class Link:
        def model_dump(self, *, exclude_unset):
            return {"url": "data:image/png;base64,AA"}

    assert FORMAT.parts(user([{"type": "image_url", "image_url": Link()}])) == (
        Media("image", encoded=24, path=AT),
    )


def test_calls_and_their_functions_may_be_objects():
    class Call:
        def model_dump(self, *, exclude_unset):
            return {"id": "a", "function": Function()}

    class Function:
        def model_dump(self, *, exclude_unset):
            return {"name": "x", "arguments": {"q": 1}}

    message = calling(Call())
    assert FORMAT.facts(message) == Facts(ASSISTANT, asks=("a",))
    assert FORMAT.parts(message)[1] == ToolCall("function", "a", "x", {"q": 1}, "tool_calls[0]")


def test_what_dumps_to_no_object_is_refused():
    class Odd:
        def model_dump(self, *, exclude_unset):
            return "odd"

    for read in (FORMAT.facts, FORMAT.parts, FORMAT.evidence):
        with pytest.raises(FormatError, match="expected a mapping"):
            read(Odd())


def test_messages_of_the_sdk_read_like_the_wire():
    models = pytest.importorskip("mistralai.client.models")
    message = models.AssistantMessage(
        content=[
            models.ThinkChunk(thinking=[models.TextChunk(text="hm")]),
            models.TextChunk(text="t"),
        ],
        tool_calls=[models.ToolCall(function=models.FunctionCall(name="x", arguments={"q": 1}))],
    )
    wire = calling(entry("null", "x", {"q": 1}), content=[THINKING, TEXT], prefix=False)
    assert FORMAT.facts(message) == FORMAT.facts(wire)
    assert FORMAT.parts(message) == FORMAT.parts(wire)
    assert FORMAT.evidence(message) == DEFINITE
    history = [
        models.UserMessage(content="go on"),
        message,
        models.ToolMessage(content="r", name="x"),
    ]
    assert members(history) == [(0,), (1, 2)]
