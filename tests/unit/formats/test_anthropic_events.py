"""Events of managed agent sessions: which of them are the conversation, and what they tie."""

from __future__ import annotations

import msgspec
import pytest

import lockstitch as ls
from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    OTHER_FACTS,
    REQUEST,
    RESULT,
    TOOL,
    Facts,
    Link,
)
from lockstitch.formats.anthropic_events import FORMAT
from lockstitch.formats.base import DEFINITE, NO
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


def event(kind, **fields):
    return {"type": kind, **fields}


CALLS = [
    ("agent.custom_tool_use", "custom", "user.custom_tool_result", "custom_tool_use_id"),
    ("agent.mcp_tool_use", "mcp", "agent.mcp_tool_result", "mcp_tool_use_id"),
    ("agent.tool_use", "server", "agent.tool_result", "tool_use_id"),
]


def test_messages_say_their_role():
    assert FORMAT.facts(event("user.message")) == Facts("user")
    assert FORMAT.facts(event("agent.message")) == Facts(ASSISTANT)
    assert FORMAT.facts(event("agent.thinking")) == Facts(ASSISTANT, reasoning=True)


@pytest.mark.parametrize(
    "native", [event("session.status_idle"), event("span.start"), event("user.interrupt"), {}]
)
def test_a_row_no_model_sees_is_other(native):
    assert FORMAT.facts(native) is OTHER_FACTS


@pytest.mark.parametrize(("use", "family", "gave", "field"), CALLS)
def test_each_kind_of_tool_use_pairs_with_its_own_result(use, family, gave, field):
    asked = FORMAT.facts(event(use, id="t", name="x", input={}))
    given = FORMAT.facts(event(gave, **{"id": "other", field: "t"}))
    assert asked == Facts(ASSISTANT, (Link(CALL, family, "t", "x"),))
    assert given == Facts(TOOL, (Link(RESULT, family, "t"),))


@pytest.mark.parametrize(("use", "family", "gave", "field"), CALLS)
def test_a_use_that_needs_a_person_asks_for_approval_too(use, family, gave, field):
    native = event(use, id="t", name="x", evaluated_permission="ask")
    assert FORMAT.facts(native) == Facts(
        ASSISTANT, (Link(CALL, family, "t", "x"), Link(REQUEST, family, "t", "x", "t"))
    )
    assert FORMAT.asks(native)
    assert not FORMAT.asks(event(use, id="t", evaluated_permission="allow"))
    assert not FORMAT.asks(event(gave))


@pytest.mark.parametrize("result", ["allow", "deny"])
def test_a_confirmation_decides_and_leaves_the_call_to_its_result(result):
    native = event("user.tool_confirmation", tool_use_id="t", result=result)
    assert FORMAT.facts(native) == Facts(TOOL, (Link(ANSWER, "mcp", "t"),))


@pytest.mark.parametrize(("use", "family", "gave", "field"), CALLS)
def test_use_confirmation_and_result_are_one_group(use, family, gave, field):
    history = [
        event("user.message", content=[{"type": "text", "text": "go"}]),
        event("agent.thinking"),
        event(use, id="t", name="x", input={}, evaluated_permission="ask"),
        event("session.status_idle"),
        event("user.tool_confirmation", tool_use_id="t", result="allow"),
        event(gave, **{field: "t"}),
        event("agent.message", content=[{"type": "text", "text": "done"}]),
    ]
    found = ls.groups(history, profile="anthropic")
    assert [(unit.members, unit.state) for unit in found] == [
        ((0,), "complete"),
        ((1, 2, 4, 5), "complete"),
        ((3,), "complete"),
        ((6,), "complete"),
    ]


@pytest.mark.parametrize(
    ("native", "parts"),
    [
        (
            event("agent.tool_use", id="t", name="x", input={"q": 1}),
            (ToolCall("server", "t", "x", {"q": 1}, "input"),),
        ),
        (
            event("agent.mcp_tool_use", id="t", name="x", evaluated_permission="ask"),
            (ToolCall("mcp", "t", "x", None, "input"), ApprovalRequest("t", "t", "x")),
        ),
        (
            event("agent.tool_result", tool_use_id="t", content="r"),
            (ToolResult("server", "t", "r", path="content"),),
        ),
        (
            event("user.custom_tool_result", custom_tool_use_id="t", content=[], is_error=True),
            (ToolResult("custom", "t", [], path="content", is_error=True),),
        ),
        (event("user.tool_confirmation", tool_use_id="t", result="allow"), (Approval("t"),)),
        (
            event("user.tool_confirmation", tool_use_id="t", result="deny"),
            (Approval("t", approved=False),),
        ),
        (event("agent.thinking", id="h"), (Reasoning("", None, "h"),)),
        (event("user.message"), ()),
        (
            event("user.message", content=[{"type": "text", "text": "a"}, "b"]),
            (Text("a", "content[0]"), Text("b", "content[1]")),
        ),
        (
            event(
                "agent.message",
                content=[
                    {"type": "image", "source": {"media_type": "image/png", "data": "AAAA"}},
                    {"type": "document", "source": {"url": "x"}},
                    {"type": "document"},
                    {"type": "sticker"},
                ],
            ),
            (
                Media("image", "image/png", 4, "content[0]"),
                Media("document", None, 0, "content[1]"),
                Media("document", None, 0, "content[2]"),
                Opaque("sticker", {"type": "sticker"}, "content[3]"),
            ),
        ),
        (event("session.error"), (Opaque("session.error", {"type": "session.error"}),)),
    ],
)
def test_events_become_parts(native, parts):
    assert FORMAT.parts(native) == parts


def test_raw_json_reads_like_a_dict():
    native = event("agent.tool_use", id="t", name="x", evaluated_permission="ask")
    raw = msgspec.Raw(msgspec.json.encode(native))
    assert FORMAT.facts(raw) == FORMAT.facts(native)
    assert FORMAT.asks(raw)


@pytest.mark.parametrize(
    ("native", "strength"),
    [
        (event("user.message"), DEFINITE),
        (event("agent.anything"), DEFINITE),
        (event("session.status"), DEFINITE),
        (event("span.end"), DEFINITE),
        (event("user"), NO),
        (event("message"), NO),
        (event(5), NO),
        ({"role": "user", "content": "x"}, NO),
    ],
)
def test_how_strongly_an_event_speaks_for_the_format(native, strength):
    assert FORMAT.evidence(native) == strength
