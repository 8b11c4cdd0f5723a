"""Typed messages: in from LangChain's own, out to them again, and what a model is shown."""

from __future__ import annotations

import logging
import sys

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    message_to_dict,
)

from lockstitch.errors import FormatError, MissingExtra
from lockstitch.integrations.symfonic import (
    CheckpointHistory,
    Message,
    ReplayedMessage,
    as_kernel_history,
    as_legacy_messages,
    named_tool_messages,
    pair_aware_history_slice,
    to_langchain,
)

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
USAGE = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}


def asks(*ids, name="look"):
    return [{"id": one, "name": name, "args": {"q": 1}, "type": "tool_call"} for one in ids]


def invalid(id_):
    return {"id": id_, "name": "n", "args": "{", "error": "cut", "type": "invalid_tool_call"}


SENT = {
    "text of the user": HumanMessage("hi"),
    "a user with a name": HumanMessage("hi", name="Ada"),
    "an image": HumanMessage([{"type": "text", "text": "a cat?"}, IMAGE]),
    "the system": SystemMessage("Be brief."),
    "a developer": SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer"}),
    "an answer with its usage": AIMessage("well", usage_metadata=USAGE, name="bot"),
    "reasoning before a call": AIMessage(
        [THOUGHT, {"type": "text", "text": "so"}], tool_calls=asks("c")
    ),
    "reasoning in the form of LangChain's own": AIMessage(
        [{"type": "reasoning", "reasoning": "hm", "extras": {"signature": "c2ln"}}],
        response_metadata={"model_provider": "anthropic", "output_version": "v1"},
    ),
    "reasoning beside the text": AIMessage("so", additional_kwargs={"reasoning_content": "hm"}),
    "a call in the provider's form": AIMessage(
        "",
        additional_kwargs={
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}
            ]
        },
    ),
    "parallel calls": AIMessage("", tool_calls=asks("p", "q")),
    "a call that could not be read": AIMessage("", invalid_tool_calls=[invalid("c")]),
    "a result": ToolMessage("ok", tool_call_id="c"),
    "a result with its name": ToolMessage("ok", tool_call_id="c", name="look"),
    "a result that failed": ToolMessage("no", tool_call_id="c", status="error"),
    "a result of blocks": ToolMessage([{"type": "text", "text": "ok"}, IMAGE], tool_call_id="c"),
    "another role": ChatMessage("hi", role="critic"),
}


@pytest.mark.parametrize("message", SENT.values(), ids=SENT)
@pytest.mark.parametrize(
    "shape", [lambda one: one, message_to_dict, dumpd, lambda one: one.model_dump()]
)
def test_a_message_comes_back_as_the_model_is_shown_it(message, shape):
    (typed,) = as_kernel_history(CheckpointHistory([shape(message)]), cap=1)
    assert to_langchain(typed) == message
    assert isinstance(typed.content, str)


@pytest.mark.parametrize("message", SENT.values(), ids=SENT)
def test_the_callers_message_is_the_same_afterwards(message):
    before = message.model_copy(deep=True)
    made = to_langchain(as_kernel_history(CheckpointHistory([message]), cap=1)[0])
    made.additional_kwargs["changed"] = True
    if isinstance(made.content, list):
        made.content.append("changed")
    assert message == before


def test_an_id_response_metadata_and_an_artifact_are_lost():
    message = ToolMessage("ok", tool_call_id="c", id="m1", artifact={"rows": 1})
    answer = AIMessage("well", id="m2", response_metadata={"model_name": "m"})
    back = [
        to_langchain(one) for one in as_kernel_history(CheckpointHistory([message, answer]), cap=1)
    ]
    assert back == [ToolMessage("ok", tool_call_id="c"), AIMessage("well")]


def test_a_chunk_is_the_message_that_it_is_a_chunk_of():
    (typed,) = as_kernel_history([AIMessageChunk("well")], cap=9)
    assert to_langchain(typed) == AIMessage("well")


def test_text_alone_is_a_plain_message_and_everything_of_a_tool_a_replayed_one():
    history = [
        HumanMessage("hi"),
        AIMessage("", tool_calls=asks("c")),
        ToolMessage("ok", tool_call_id="c"),
    ]
    typed = as_kernel_history(history, cap=9)
    assert [type(one) for one in typed] == [Message, Message, ReplayedMessage]
    assert typed[2].tool_name is None


def test_blocks_stand_beside_their_text():
    (typed,) = as_kernel_history([SENT["an image"]], cap=9)
    assert typed.content == "a cat?"
    assert typed.blocks == [{"type": "text", "text": "a cat?"}, IMAGE]


def test_the_content_of_a_message_is_text():
    with pytest.raises(TypeError, match="blocks go into ReplayedMessage"):
        Message("user", [IMAGE])


@pytest.mark.parametrize("message", [RemoveMessage("m1"), FunctionMessage("ok", name="look")])
def test_a_message_that_has_no_place_is_refused_with_its_position(message):
    with pytest.raises(FormatError, match=r"history\[1\]: a message of the type"):
        as_kernel_history(CheckpointHistory([HumanMessage("hi"), message]), cap=9)


# --- the cut on the way in ------------------------------------------------------------------------


def conversation():
    return [
        HumanMessage("1"),
        AIMessage("", tool_calls=asks("p", "q")),
        ToolMessage("ok", tool_call_id="p"),
        ToolMessage("ok", tool_call_id="q"),
        AIMessage("2"),
        HumanMessage("3"),
    ]


def test_a_history_is_cut_and_logged_before_it_is_converted(caplog):
    caplog.set_level(logging.DEBUG, logger="symfonic.agent")
    typed = as_kernel_history(iter(conversation()), cap=4)
    assert [one.content for one in typed] == ["2", "3"]
    assert [record.args for record in caplog.records if record.name == "symfonic.agent"] == [(2, 4)]


def test_a_checkpoint_is_converted_and_neither_cut_nor_logged(caplog):
    caplog.set_level(logging.DEBUG)
    damaged = [ToolMessage("ok", tool_call_id="x"), *conversation()]
    assert len(as_kernel_history(CheckpointHistory(damaged), cap=2)) == len(damaged)
    assert caplog.records == []


@pytest.mark.parametrize("history", [None, [], (), CheckpointHistory()])
def test_no_history_is_no_messages(history):
    assert as_kernel_history(history, cap=5) == ()


def test_nothing_is_reordered_and_no_system_message_is_taken_out():
    history = [HumanMessage("1"), SystemMessage("s"), AIMessage("2"), SystemMessage("t")]
    assert [one.content for one in as_kernel_history(history, cap=9)] == ["1", "s", "2", "t"]


def test_typed_messages_are_a_history_too():
    typed = as_kernel_history(conversation(), cap=9)
    assert as_kernel_history(typed, cap=9) == typed
    assert pair_aware_history_slice(typed, 5) == list(typed[1:])
    assert pair_aware_history_slice(typed, 4) == list(typed[4:])


def test_dicts_of_chat_completions_become_the_same_messages():
    arguments = {
        "id": "c",
        "type": "function",
        "function": {"name": "look", "arguments": '{"q": 1}'},
    }
    history = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "a cat?"}, IMAGE]},
        {"role": "assistant", "content": None, "tool_calls": [arguments]},
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
        {"role": "assistant", "content": "well", "reasoning_content": "hm"},
    ]
    assert [to_langchain(one) for one in as_kernel_history(history, cap=9)] == [
        SENT["a developer"],
        SENT["an image"],
        AIMessage("", tool_calls=asks("c")),
        SENT["a result"],
        AIMessage("well", additional_kwargs={"reasoning_content": "hm"}),
    ]


def test_arguments_that_are_no_json_make_an_invalid_call():
    broken = {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{"}}
    history = [{"role": "assistant", "content": None, "tool_calls": [broken]}]
    (typed,) = as_kernel_history(CheckpointHistory(history), cap=9)
    (call,) = to_langchain(typed).invalid_tool_calls
    assert (call["id"], call["name"], call["args"]) == ("c", "n", "{")


# --- out, with the names of tools -----------------------------------------------------------------


def kernel_tool(id_):
    return Message("tool", "ok", (), id_)


def test_a_dump_has_the_fields_of_langchains_own():
    dumps = as_legacy_messages(as_kernel_history(conversation(), cap=9))
    assert dumps == [message.model_dump() for message in conversation()]


def test_a_dump_has_no_response_metadata():
    typed = as_kernel_history([SENT["reasoning in the form of LangChain's own"]], cap=1)
    assert as_legacy_messages(typed)[0]["response_metadata"] == {}


def test_a_result_that_the_kernel_made_is_named_after_its_call():
    typed = [Message("assistant", "", tuple(asks("c", name="search"))), kernel_tool("c")]
    assert as_legacy_messages(typed)[1]["name"] == "search"


@pytest.mark.parametrize("name", [None, "", "mine"])
def test_the_name_of_a_replayed_result_is_never_made_up(name):
    history = [AIMessage("", tool_calls=asks("c")), ToolMessage("ok", tool_call_id="c", name=name)]
    assert as_legacy_messages(as_kernel_history(history, cap=9))[1]["name"] == name


def test_an_id_that_is_used_again_names_each_result_after_its_own_call():
    typed = [
        Message("assistant", "", tuple(asks("c", name="search"))),
        kernel_tool("c"),
        Message("assistant", "", tuple(asks("c", name="fetch"))),
        kernel_tool("c"),
    ]
    assert [dump["name"] for dump in as_legacy_messages(typed)] == [None, "search", None, "fetch"]


def test_parallel_calls_name_their_results_in_whatever_order_these_come():
    calls = (*asks("p", name="search"), *asks("q", name="fetch"))
    typed = [Message("assistant", "", calls), kernel_tool("q"), kernel_tool("p")]
    assert [dump["name"] for dump in as_legacy_messages(typed)] == [None, "fetch", "search"]


def test_calls_that_also_stand_as_blocks_name_their_results():
    use = {"type": "tool_use", "id": "p", "name": "search", "input": {}}
    asked = ReplayedMessage("assistant", "", tuple(asks("q", name="fetch")), blocks=[use])
    typed = [asked, kernel_tool("q"), kernel_tool("p")]
    assert [dump["name"] for dump in as_legacy_messages(typed)] == [None, "fetch", "search"]


def test_a_result_without_its_call_stays_without_a_name():
    assert as_legacy_messages([kernel_tool("x")])[0]["name"] is None


def test_dumps_that_are_handed_over_are_not_changed():
    typed = [Message("assistant", "", tuple(asks("c"))), kernel_tool("c")]
    dumps = [{"name": None}, {"name": None}]
    assert named_tool_messages(typed, dumps)[1] == {"name": "look"}
    assert dumps == [{"name": None}, {"name": None}]


# --- without langchain-core -----------------------------------------------------------------------


def test_without_langchain_core_only_what_makes_its_messages_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    monkeypatch.setitem(sys.modules, "langchain_core.messages", None)
    history = [("user", "hi"), {"role": "assistant", "content": "well"}]
    typed = as_kernel_history(history, cap=1)
    assert [one.content for one in typed] == ["well"]
    for make in (lambda: to_langchain(typed[0]), lambda: as_legacy_messages(typed)):
        with pytest.raises(MissingExtra, match=r"lockstitch\[langchain\]"):
            make()
