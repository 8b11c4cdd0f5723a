"""LangChain messages are changed in every place where a call stands, in each of their shapes."""

import pytest

from lockstitch.formats.langchain import FORMAT
from lockstitch.opening import Opened
from lockstitch.rules.draft import Draft
from lockstitch.rules.profiles import get_profile
from lockstitch.transcript import ToolCall
from lockstitch.writing import writer_for

messages = pytest.importorskip("langchain_core.messages")
load = pytest.importorskip("langchain_core.load")
WRITER = writer_for("langchain")
SHAPES = {
    "objects": lambda one: one,
    "messages_to_dict": lambda one: messages.messages_to_dict([one])[0],
    "dumpd": load.dumpd,
}
in_every_shape = pytest.mark.parametrize("shape", SHAPES)


def turn(*ids):
    """A turn of the model as adapters leave it: its calls stand in three places."""
    return messages.AIMessage(
        content=[
            {"type": "text", "text": "so"},
            *({"type": "tool_use", "id": id_, "name": "f", "input": {}} for id_ in ids),
        ],
        tool_calls=[{"name": "f", "args": {}, "id": id_} for id_ in ids],
        additional_kwargs={
            "tool_calls": [
                {"id": id_, "type": "function", "function": {"name": "f", "arguments": "{}"}}
                for id_ in ids
            ]
        },
    )


def calls(native):
    return [part for part in FORMAT.parts(native) if isinstance(part, ToolCall)]


def places(native):
    """What each place says: id, name, arguments."""
    fields = WRITER.fields(native)
    own = fields["additional_kwargs"].get("tool_calls", ())
    return {
        "stated": [(one["id"], one["name"], one["args"]) for one in fields["tool_calls"]],
        "blocks": [
            (one["id"], one["name"], one["input"])
            for one in fields["content"]
            if one["type"] == "tool_use"
        ],
        "own": [(one["id"], one["function"]["name"], one["function"]["arguments"]) for one in own],
    }


def changed(native, fields):
    return WRITER.refit(native, fields)


@in_every_shape
def test_a_call_is_renamed_everywhere(shape):
    native = SHAPES[shape](turn("a", "b"))
    renamed = changed(native, WRITER.renamed(WRITER.fields(native), calls(native)[1], "new"))
    for found in places(renamed).values():
        assert [id_ for id_, _, _ in found] == ["a", "new"]
    assert [id_ for id_, _, _ in places(native)["stated"]] == ["a", "b"]
    assert type(renamed) is type(native)


@in_every_shape
def test_two_calls_of_one_id_are_told_apart_by_their_order(shape):
    native = SHAPES[shape](turn("a", "a"))
    renamed = changed(native, WRITER.renamed(WRITER.fields(native), calls(native)[1], "new"))
    for found in places(renamed).values():
        assert [id_ for id_, _, _ in found] == ["a", "new"]


@in_every_shape
def test_a_call_is_given_another_name_and_other_arguments_everywhere(shape):
    native = SHAPES[shape](turn("a"))
    fields = WRITER.recalled(WRITER.fields(native), calls(native)[0], "g")
    assert {name for found in places(changed(native, fields)).values() for _, name, _ in found} == {
        "g"
    }
    for arguments in ('{"x": 1}', {"x": 1}):
        fields = WRITER.rearranged(WRITER.fields(native), calls(native)[0], arguments)
        found = places(changed(native, fields))
        assert found["stated"][0][2] == found["blocks"][0][2] == {"x": 1}
        assert found["own"][0][2] == '{"x": 1}'


@in_every_shape
def test_a_call_is_dropped_from_every_place(shape):
    draft = Draft(
        Opened([SHAPES[shape](turn("a", "b"))], "langchain").transcript,
        WRITER,
        get_profile("langchain"),
    )
    [entry] = draft.entries
    draft.take_out(entry, ["tool_calls[0]"])
    for found in places(entry.native).values():
        assert [id_ for id_, _, _ in found] == ["b"]
    draft.take_out(entry, ["tool_calls[0]"])
    assert set(map(len, places(entry.native).values())) == {0}
    assert "tool_calls" not in WRITER.fields(entry.native)["additional_kwargs"]
    assert calls(entry.native) == []
    draft.take_out(entry, ["content[0]"])
    assert draft.entries == []


def test_a_call_that_stands_only_as_a_block_is_renamed_there():
    block = {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"}
    native = messages.AIMessage(content=[block])
    renamed = WRITER.renamed(WRITER.fields(native), calls(native)[0], "new")
    assert renamed["content"] == [{**block, "call_id": "new"}]


def test_the_chunks_of_a_stream_go_along():
    native = messages.AIMessageChunk(
        content="",
        tool_call_chunks=[{"name": "f", "args": "{}", "id": "a", "index": 0}],
    )
    fields = WRITER.renamed(WRITER.fields(native), calls(native)[0], "new")
    assert fields["tool_call_chunks"][0]["id"] == fields["tool_calls"][0]["id"] == "new"


DICTS = {
    "plain": {"type": "human", "content": "hi"},
    "messages_to_dict": {"type": "human", "data": {"content": "hi"}},
    "dumpd": load.dumpd(messages.HumanMessage("hi")),
}


def plainly(native):
    """What a made message says, whatever its shape."""
    fields = WRITER.fields(native)
    kind = fields.get("type") or native.get("type")
    return kind, fields["content"]


@pytest.mark.parametrize("shape", DICTS)
def test_a_made_message_takes_the_shape_of_another_one(shape):
    like = DICTS[shape]
    said = WRITER.said("assistant", "a", like)
    assert said.keys() == like.keys()
    assert plainly(said) == ("ai", "a")
    carried = WRITER.carrying([{"type": "text", "text": "b"}], like)
    assert plainly(carried) == ("human", [{"type": "text", "text": "b"}])


def test_a_made_message_beside_objects_is_an_object_of_their_package():
    assert WRITER.said("user", "a", messages.AIMessage("x")) == messages.HumanMessage("a")
    assert WRITER.said("system", "a") == {"type": "system", "content": "a"}


def test_beside_an_object_of_no_known_package_a_message_is_a_mapping():
    class Own:
        pass

    assert WRITER.said("user", "a", Own()) == {"type": "human", "content": "a"}


def test_a_class_of_ones_own_is_looked_for_where_its_base_comes_from():
    class Own(messages.AIMessage):
        pass

    assert WRITER.said("user", "a", Own("x")) == messages.HumanMessage("a")


def test_a_call_is_answered_by_an_error_and_what_the_provider_runs_by_nothing():
    call = calls(turn("a"))[0]
    assert WRITER.answer(call, "lost", messages.AIMessage("x")) == messages.ToolMessage(
        "lost", tool_call_id="a", status="error", name="f"
    )
    nameless = ToolCall(path="tool_calls[0]", family="function", id="a", name=None, arguments={})
    assert "name" not in WRITER.answer(nameless, "lost")
    hosted = ToolCall(path="content[0]", family="server", id="a", name="f", arguments={})
    assert WRITER.answer(hosted, "lost") is None


def test_a_result_is_given_another_id_and_content():
    native = messages.ToolMessage("r", tool_call_id="a")
    [result] = FORMAT.parts(native)
    fields = WRITER.fields(native)
    assert changed(native, WRITER.renamed(fields, result, "b")).tool_call_id == "b"
    assert changed(native, WRITER.result(fields, result, "more")).content == "more"
