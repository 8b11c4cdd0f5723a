"""The laws of repair and export: every breakage, in every format, for every profile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spread import spread

from lockstitch.rules.profiles import PROFILES
from lockstitch.testing import laws_of_repair
from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.render import SHAPES, render
from lockstitch.testing.steps import Calls, Result, Say, System, User
from lockstitch.testing.strategies import KINDS
from lockstitch.testing.subject import Subject
from lockstitch.writing import WRITERS

FORMATS = sorted(SHAPES.keys() & WRITERS.keys())
in_every_format = pytest.mark.parametrize("format", FORMATS)
for_every_profile = pytest.mark.parametrize("profile", sorted(PROFILES))


def broken(name, number, ids, format):
    second = "a" if ids == "reused" else "c"
    steps = [
        *(System(), User("q"), Calls.of("a", "b"), Result("a"), Result("b"), Say("d"), User("r")),
        *(Calls.of(second), Result(second), Say("done"), User("last")),
    ]
    return Subject(render(BREAKAGES[name](steps, number), format), format)


@in_every_format
@for_every_profile
@pytest.mark.parametrize("ids", ["unique", "reused"])
@pytest.mark.parametrize("name", sorted(BREAKAGES))
def test_every_breakage_is_mended_by_the_laws(name, ids, format, profile):
    for number in range(4):
        subject = broken(name, number, ids, format)
        assert laws_of_repair.repaired(subject, profile) == []
        assert laws_of_repair.exported(subject, profile) == []


@in_every_format
@given(data=st.data())
@spread(len(FORMATS))
def test_a_repair_leaves_a_valid_history_as_it_is(format, data):
    subject = Subject(data.draw(KINDS["valid"](format)), format)
    for profile in {"portable", format} & PROFILES.keys():
        assert laws_of_repair.repaired(subject, profile) == []


# --- found by a search ---------------------------------------------------------------------------


def chat_call(*ids):
    function = {"name": "look_up", "arguments": "{}"}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


FOUND = {
    # Two calls in a row, the second answered, the assistant goes on: results go behind it.
    "an answer is put behind the words of the assistant": (
        "openai-chat",
        "anthropic",
        [
            chat_call("a"),
            chat_call("b"),
            {"role": "tool", "tool_call_id": "b", "content": "ok"},
            {"role": "assistant", "content": "go on"},
        ],
    ),
    "an answer is put behind an item that is no result": (
        "openai-responses",
        "openai-chat",
        [
            {"type": "function_call", "name": "edit", "arguments": "{}", "call_id": "a"},
            {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        ],
    ),
    "a result is moved to and fro": (
        "openai-responses",
        "anthropic",
        [
            {"type": "shell_call", "action": {"commands": ["ls"]}, "call_id": "c"},
            {"type": "shell_call_output", "output": [], "call_id": "gone"},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "go on", "annotations": []}],
                "status": "completed",
            },
            {"type": "shell_call_output", "output": [], "call_id": "c"},
        ],
    ),
    "an empty first message goes, and the next one is no user's": (
        "gemini",
        "portable",
        [
            {"role": "user", "parts": [{"text": ""}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        ],
    ),
    "a result is put among those of the calls beside it": (
        "openai-chat",
        "anthropic",
        [
            {"role": "user", "content": "q"},
            chat_call("a", "b", "c"),
            chat_call("d"),
            {"role": "tool", "tool_call_id": "d", "content": "ok"},
            {"role": "assistant", "content": "go on"},
        ],
    ),
    "calls and results without ids": (
        "langchain",
        "langchain",
        [
            {"type": "human", "content": "q"},
            {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": None}]},
            {"type": "tool", "content": "r", "name": "f", "tool_call_id": None},
            {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": None}]},
            {"type": "human", "content": "q"},
        ],
    ),
    "reasoning in front of a message, for strict turns": (
        "openai-responses",
        "chat-template",
        [
            {"role": "user", "content": "q"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
            {"role": "assistant", "content": "done"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            {"role": "assistant", "content": "and"},
            {"role": "user", "content": "again"},
        ],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_a_search_found_is_mended(name):
    format, profile, history = FOUND[name]
    assert laws_of_repair.repaired(Subject(history, format), profile) == []
