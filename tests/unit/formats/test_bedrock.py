"""Bedrock Converse messages: facts, parts, pairing and what speaks for the format."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType

import msgspec
import pytest
from reading import Reading

from lockstitch.document import open_document
from lockstitch.errors import FormatError
from lockstitch.facts import (
    ASSISTANT,
    CALL,
    FUNCTION,
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
from lockstitch.formats.bedrock import FORMAT
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
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}}
MARK = {"cachePoint": {"type": "default"}}
PNG = {"format": "png", "source": {"bytes": "AAAA"}}
AT = "content[0]"


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def use(id_="a", name="look_up", **more):
    return {"toolUse": {"toolUseId": id_, "name": name, "input": {"q": 1}, **more}}


def gave(id_="a", *content, **more):
    return {"toolResult": {"toolUseId": id_, "content": list(content or (TEXT,)), **more}}


def server_use(id_="s"):
    return use(id_, "nova_code_interpreter", type="server_tool_use")


def server_gave(id_="s"):
    return gave(id_, {"json": {"stdOut": "7"}}, type="nova_code_interpreter_result")


READ = Reading(FORMAT)
transcript = READ.transcript
members = READ.members
states = READ.states
pairs = READ.pairs


# --- facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (told(TEXT), USER),
        (told(), USER),
        (told(MARK), USER),
        (told(TEXT, MARK), USER),
        (said(TEXT), ASSISTANT),
        (said(), ASSISTANT),
        (said(THOUGHT, TEXT), ASSISTANT),
        (told(THOUGHT), USER),
        (said({"newThing": {}}), ASSISTANT),
        ({"role": "system", "content": [TEXT]}, SYSTEM),
        ({"role": "narrator", "content": [TEXT]}, OTHER),
        ({"role": ["user"], "content": [TEXT]}, OTHER),
        ({"role": "tool", "content": [TEXT]}, OTHER),
        ({"content": [TEXT]}, OTHER),
        ({"role": "user"}, USER),
        ({"role": "user", "content": "x"}, USER),
        ({"role": "assistant", "content": None}, ASSISTANT),
        ({"role": "user", "content": ["words"]}, USER),
    ],
)
def test_a_message_without_calls_says_its_role_alone(message, role):
    assert FORMAT.facts(message) == Facts(role)


def test_uses_are_read_by_id():
    assert FORMAT.facts(said(TEXT, use("a"), use("b"))) == Facts(ASSISTANT, asks=("a", "b"))


def test_a_use_without_an_id_is_read_by_name():
    assert FORMAT.facts(said(use(""))) == Facts(ASSISTANT, (Link(CALL, FUNCTION, None, "look_up"),))


def test_a_user_message_of_results_alone_is_a_tools():
    assert FORMAT.facts(told(gave("a"), gave("b"))) == Facts(TOOL, answers=("a", "b"))


def test_a_cache_point_does_not_make_results_the_users():
    assert FORMAT.facts(told(gave("a"), MARK)) == Facts(TOOL, answers=("a",))
    assert FORMAT.facts(told(MARK, gave("a"))) == Facts(TOOL, answers=("a",))


def test_results_with_words_or_pictures_stay_the_users():
    assert FORMAT.facts(told(gave("a"), TEXT)) == Facts(USER, answers=("a",))
    assert FORMAT.facts(told(gave("a"), {"image": PNG})) == Facts(USER, answers=("a",))


def test_reasoning_alone_is_reasoning():
    assert FORMAT.facts(said(THOUGHT)) == Facts(ASSISTANT, reasoning=True)
    assert FORMAT.facts(said(THOUGHT, THOUGHT, MARK)) == Facts(ASSISTANT, reasoning=True)


def test_a_tool_of_the_server_is_tied_inside_the_assistants_turn():
    assert FORMAT.facts(said(server_use("s"), server_gave("s"), use("a"))).links == (
        Link(CALL, "server", "s", "nova_code_interpreter"),
        Link(RESULT, "server", "s"),
        Link(CALL, FUNCTION, "a", "look_up"),
    )


def test_a_result_inside_the_assistants_turn_tells_the_use_that_it_answers():
    assert FORMAT.facts(said(use("s"), gave("s"), use("a"))).links == (
        Link(CALL, "server", "s", "look_up"),
        Link(RESULT, "server", "s"),
        Link(CALL, FUNCTION, "a", "look_up"),
    )


SAMPLES = [
    told(TEXT),
    told(),
    told(MARK),
    told(TEXT, MARK, {"image": PNG}),
    said(TEXT, use("a"), use("b")),
    said(use("")),
    said(THOUGHT),
    said(THOUGHT, use("a")),
    said({"reasoningContent": {"redactedContent": "c2VhbGVk"}}, TEXT),
    said(server_use("s"), server_gave("s"), use("a")),
    said(server_use("s")),
    said(use("s"), gave("s")),
    said(gave("s")),
    said({"citationsContent": {"content": [TEXT], "citations": []}}),
    told(use("a")),
    told(gave("a"), gave("b")),
    told(gave("a"), TEXT),
    told(gave("a"), MARK),
    told(gave("a", {"image": PNG}, status="error")),
    told({"guardContent": {"text": {"text": "t", "qualifiers": ["query"]}}}),
    told({"guardContent": {"image": PNG}}),
    told({"document": {"name": "d", "format": "pdf", "source": {"bytes": "AAAA"}}}),
    told({"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://x"}}}}),
    told({"audio": {"format": "wav", "source": {"bytes": "AAAA"}}}),
    told({"searchResult": {"source": "s", "title": "t", "content": [TEXT]}}),
    told({"newThing": {"x": 1}}),
    {"role": "system", "content": [TEXT]},
    {"role": "system", "content": [{"toolAddition": {"tool": {"name": "x"}}}]},
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
    ("block", "part"),
    [
        (TEXT, Text("t", AT)),
        ("words", Text("words", AT)),
        ({"text": ""}, Text("", AT)),
        (use("a"), ToolCall("function", "a", "look_up", {"q": 1}, AT)),
        (use(""), ToolCall("function", None, "look_up", {"q": 1}, AT)),
        (server_use("s"), ToolCall("server", "s", "nova_code_interpreter", {"q": 1}, AT)),
        ({"toolUse": {}}, ToolCall("function", None, None, None, AT)),
        (gave("a"), ToolResult("server", "a", [TEXT], path=AT)),
        (gave("a", status="success"), ToolResult("server", "a", [TEXT], path=AT)),
        (gave("a", status="error"), ToolResult("server", "a", [TEXT], path=AT, is_error=True)),
        (THOUGHT, Reasoning("hm", "sig", path=AT)),
        ({"reasoningContent": {"reasoningText": {"text": "hm"}}}, Reasoning("hm", None, path=AT)),
        ({"reasoningContent": {"reasoningText": {"text": None}}}, Reasoning("", None, path=AT)),
        ({"reasoningContent": {"redactedContent": "c2U="}}, Reasoning("", "c2U=", path=AT)),
        ({"reasoningContent": {"redactedContent": b"se"}}, Reasoning("", "c2U=", path=AT)),
        ({"reasoningContent": {}}, Reasoning("", None, path=AT)),
        ({"image": PNG}, Media("image", "image/png", 4, AT)),
        (
            {"image": {"format": "png", "source": {"bytes": b"abcd"}}},
            Media("image", "image/png", 8, AT),
        ),
        ({"image": {"source": "odd"}}, Media("image", None, 0, AT)),
        (
            {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://x"}}}},
            Media("video", "video/mp4", 0, AT),
        ),
        (
            {"audio": {"format": "wav", "source": {"bytes": "AAAA"}}},
            Media("audio", "audio/wav", 4, AT),
        ),
        (
            {"document": {"format": "pdf", "name": "d", "source": {"bytes": "AAAA"}}},
            Media("document", "application/pdf", 4, AT),
        ),
        (
            {"document": {"format": "txt", "name": "d", "source": {"text": "five!"}}},
            Media("document", "text/plain", 5, AT),
        ),
        (
            {"document": {"name": "d", "source": {"content": [TEXT, {"text": "uv"}]}}},
            Media("document", None, 3, AT),
        ),
        ({"document": {"name": "d", "source": {"bytes": 5}}}, Media("document", None, 0, AT)),
        ({"guardContent": {"text": {"text": "t"}}}, Text("t", AT)),
        ({"guardContent": {"image": PNG}}, Media("image", "image/png", 4, AT)),
        ({"guardContent": {}}, Opaque("guardContent", {"guardContent": {}}, AT)),
        (
            {"citationsContent": {"content": [TEXT, {"text": "u"}, {"image": 1}], "citations": []}},
            Text("tu", AT),
        ),
        ({"citationsContent": {}}, Text("", AT)),
        (
            {"searchResult": {"title": "t"}},
            Opaque("searchResult", {"searchResult": {"title": "t"}}, AT),
        ),
        ({"newThing": 1}, Opaque("newThing", {"newThing": 1}, AT)),
        ({"toolUse": "x"}, Opaque("toolUse", {"toolUse": "x"}, AT)),
        ({"text": None}, Opaque("text", {"text": None}, AT)),
        ({}, Opaque("empty", {}, AT)),
    ],
)
def test_a_block_is_read_with_its_place(block, part):
    assert FORMAT.parts(said(block)) == (part,)


def test_a_result_of_the_users_message_is_a_clients():
    assert FORMAT.parts(told(gave("a"))) == (ToolResult("function", "a", [TEXT], path=AT),)


def test_a_cache_point_is_no_part_and_keeps_its_place():
    parts = FORMAT.parts(told(TEXT, MARK, TEXT))
    assert [part.path for part in parts] == ["content[0]", "content[2]"]


def test_values_may_be_mappings_of_any_kind():
    message = said({"toolUse": MappingProxyType({"toolUseId": "a", "name": "x", "input": {}})})
    assert FORMAT.facts(message) == Facts(ASSISTANT, asks=("a",))


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hi", (Text("hi", "content"),)),
        (None, (Text(None, "content"),)),
        ([], ()),
        ((TEXT,), (Text("t", AT),)),
        (5, (Opaque("int", 5, "content"),)),
    ],
)
def test_content_of_any_shape_becomes_parts(content, parts):
    assert FORMAT.parts({"role": "user", "content": content}) == parts


def test_absent_content_is_no_part_at_all():
    assert FORMAT.parts({"role": "user"}) == ()


def test_what_is_no_block_is_refused():
    for read in (FORMAT.facts, FORMAT.parts, FORMAT.evidence):
        with pytest.raises(FormatError, match="expected a mapping"):
            read(told(5))


class Dumps:
    def __init__(self, **fields):
        self.fields = fields

    def model_dump(self, *, exclude_unset):
        return self.fields


def test_messages_that_are_objects_read_like_dicts():
    plain = said(TEXT, use("a"))
    assert FORMAT.facts(Dumps(**plain)) == FORMAT.facts(plain)
    assert FORMAT.facts(said(Dumps(**TEXT), Dumps(**use("a")))) == FORMAT.facts(plain)
    assert FORMAT.parts(said(Dumps(**TEXT), Dumps(**use("a")))) == FORMAT.parts(plain)
    assert FORMAT.evidence(Dumps(**plain)) == DEFINITE


# --- pairing --------------------------------------------------------------------------------------


def test_parallel_uses_are_answered_in_one_message():
    messages = [told(TEXT), said(use("a"), use("b")), told(gave("b"), gave("a")), said(TEXT)]
    assert members(messages) == [(0,), (1, 2), (3,)]
    assert pairs(messages) == [(2, 0, (1, 1)), (2, 1, (1, 0))]


def test_an_id_that_comes_back_in_a_later_turn_is_another_use():
    round_ = [said(use("a")), told(gave("a"))]
    messages = [told(TEXT), *round_, said(TEXT), told(TEXT), *copy.deepcopy(round_)]
    assert members(messages) == [(0,), (1, 2), (3,), (4,), (5, 6)]


def test_one_id_twice_in_a_turn_is_answered_in_order():
    messages = [said(use("a"), use("a")), told(gave("a"), gave("a"))]
    assert pairs(messages) == [(1, 0, (0, 0)), (1, 1, (0, 1))]


def test_uses_and_results_without_ids_pair_in_order():
    messages = [told(TEXT), said(use("", "x"), use("", "y")), told(gave(""), gave(""))]
    assert pairs(messages) == [(2, 0, (1, 0)), (2, 1, (1, 1))]


def test_a_use_with_an_id_takes_a_result_without_one():
    assert members([said(use("a")), told(gave(""))]) == [(0, 1)]


def test_the_tool_of_the_server_pairs_inside_its_message_and_the_clients_after_it():
    messages = [
        told(TEXT),
        said(server_use("s"), server_gave("s"), use("a")),
        told(gave("a"), TEXT),
        said(TEXT),
    ]
    assert pairs(messages) == [(1, 1, (1, 0)), (2, 0, (1, 2))]
    assert members(messages) == [(0,), (1, 2), (3,)]
    assert set(states(messages)) == {"complete"}


def test_the_tool_of_the_server_pairs_without_its_type_and_without_an_id():
    for id_ in ("s", ""):
        messages = [told(TEXT), said(use(id_), gave(id_)), told(TEXT)]
        assert states(messages) == ["complete"] * 3
        assert pairs(messages) == [(1, 1, (1, 0))]


def test_a_result_too_many_is_an_orphan():
    messages = [told(TEXT), said(TEXT, use("a")), told(gave("a"), gave("pruned"))]
    assert states(messages) == ["complete", "orphan"]
    assert pairs(messages) == [(2, 0, (1, 0)), (2, 1, None)]


def test_a_use_is_open_until_the_conversation_goes_on():
    assert states([told(TEXT), said(use("a"), use("b")), told(gave("a"), MARK)])[1] == "open"
    assert states([told(TEXT), said(use("a"), use("b")), told(gave("a"), TEXT)])[1] == "abandoned"


def test_reasoning_is_bound_to_what_the_model_said_next():
    messages = [told(TEXT), said(THOUGHT), said(use("a")), told(gave("a"))]
    assert members(messages) == [(0,), (1, 2, 3)]


# --- round trip -----------------------------------------------------------------------------------


def test_every_message_comes_back_as_it_was():
    opened = transcript(SAMPLES)
    assert all(one is other for one, other in zip(opened.natives, SAMPLES, strict=True))
    assert opened.document.rebuild(opened.natives) == SAMPLES
    text = Transcript(open_document(json.dumps(SAMPLES)), FORMAT)
    assert [text.format.parts(one) for one in text.natives] == list(map(FORMAT.parts, SAMPLES))


def test_a_request_keeps_what_stands_around_its_messages():
    body = {"system": [TEXT], "messages": SAMPLES, "toolConfig": {"tools": []}}
    opened = open_document(body)
    assert opened.rebuild(opened.natives) == body
    assert FORMAT.keys == ("messages",)
    assert FORMAT.system_keys == ("system",)
    assert not FORMAT.joins


# --- evidence -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "strength"),
    [
        (told(TEXT), LIKELY),
        (said(TEXT), LIKELY),
        ({"role": "system", "content": [TEXT]}, LIKELY),
        (told(), FITS),
        (told({"newThing": 1}), FITS),
        (told({"newThing": 1}, TEXT), LIKELY),
        (said(use()), DEFINITE),
        (told(gave(), TEXT), DEFINITE),
        (told(TEXT, gave()), DEFINITE),
        (said(THOUGHT), DEFINITE),
        (told(TEXT, MARK), DEFINITE),
        (told({"image": PNG}), DEFINITE),
        (told({"image": "https://example.com/a.png"}, TEXT), NO),
        (told({"text": 5}), FITS),
        (told({"one": 1, "two": 2}), NO),
        (told({}), NO),
        (told("words"), NO),
        (told({"type": "text", "text": "t"}), NO),
        (told({"type": "image", "image": PNG}), NO),
        ({"role": "user", "content": "x"}, NO),
        ({"role": "user", "content": None}, NO),
        ({"role": "user"}, NO),
        ({"role": "tool", "content": [TEXT]}, NO),
        ({"role": ["user"], "content": [TEXT]}, NO),
        ({"role": "other", "content": [TEXT]}, NO),
        ({"role": "user", "content": [TEXT], "parts": [TEXT]}, NO),
        ({"role": "user", "content": [TEXT], "type": "message"}, NO),
        ({"role": "assistant", "content": [TEXT], "tool_calls": [{"id": "a"}]}, NO),
        ({"role": "assistant", "content": [TEXT], "function_call": {"name": "x"}}, NO),
        ({"role": "user", "parts": [TEXT]}, NO),
        ({"type": "function_call", "call_id": "a"}, NO),
        ({"type": "human", "content": [TEXT]}, NO),
    ],
)
def test_evidence(message, strength):
    assert FORMAT.evidence(message) == strength


@pytest.mark.parametrize("message", [one for one in SAMPLES if one["content"]])
def test_no_other_format_takes_a_message_for_its_own(message):
    for name, form in FORMATS.items():
        if name != FORMAT.name:
            assert form.evidence(message) == NO, name
