"""The shape questions every format asks, and facts as they follow from parts."""

from __future__ import annotations

from collections import ChainMap, UserDict
from types import MappingProxyType, SimpleNamespace

import msgspec
import pytest

from lockstitch.errors import FormatError
from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    FUNCTION,
    INTERIM,
    REJECTED,
    REQUEST,
    RESULT,
    TOOL,
    USER,
    Facts,
    Link,
)
from lockstitch.formats.base import blocks_of, facts_of, identifier, mapping
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)


class Dumps:
    """What an SDK's object looks like from here."""

    def __init__(self, value):
        self.value = value

    def model_dump(self, *, exclude_unset):
        assert exclude_unset is True
        return self.value


@pytest.mark.parametrize(
    "native",
    [
        {"role": "user"},
        UserDict({"role": "user"}),
        ChainMap({"role": "user"}),
        MappingProxyType({"role": "user"}),
        msgspec.Raw(b'{"role": "user"}'),
        Dumps({"role": "user"}),
    ],
)
def test_whatever_can_be_looked_at_as_a_mapping_is(native):
    assert dict(mapping(native)) == {"role": "user"}


def test_a_dict_is_looked_at_and_not_copied():
    native = {"role": "user"}
    assert mapping(native) is native


@pytest.mark.parametrize(
    ("native", "said"),
    [
        (msgspec.Raw(b"[1]"), r"expected an object, found list: \[1\]"),
        (msgspec.Raw(b"null"), "expected an object, found NoneType: None"),
        (
            "text",
            r"expected a mapping, or an object with model_dump, found str: 'text'",
        ),
        (5, "found int: 5"),
        (Dumps([1]), "found Dumps: "),
        (SimpleNamespace(model_dump=3), "found SimpleNamespace: "),
        (SimpleNamespace(to_dict=lambda: [1]), "found SimpleNamespace: "),
        ("x" * 5_000, "found str: 'xxxxx"),
    ],
)
def test_anything_else_is_refused_and_shown_in_short(native, said):
    with pytest.raises(FormatError, match=said) as caught:
        mapping(native)
    assert len(str(caught.value)) < 160


@pytest.mark.parametrize("raw", [b'{"content": "a \xff"}', b'{"content": "\xed\xa0\x80"}'])
def test_raw_text_that_is_not_utf_8_is_a_format_error(raw):
    with pytest.raises(FormatError):
        mapping(msgspec.Raw(raw))


def test_something_nested_a_thousand_times_is_refused_without_a_recursion_error():
    deep = []
    for _ in range(2_000):
        deep = [deep]
    with pytest.raises(FormatError):
        mapping(deep)


def test_raw_text_nested_too_deeply_is_a_format_error():
    with pytest.raises(FormatError, match="nested too deeply"):
        mapping(msgspec.Raw(b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}"))


def test_strings_among_blocks_are_text_and_objects_are_looked_into():
    block = {"type": "image"}
    assert blocks_of([block, "words", Dumps({"type": "text"}), UserDict({"type": "x"})]) == [
        block,
        {"type": "text", "text": "words"},
        {"type": "text"},
        {"type": "x"},
    ]
    assert blocks_of([block])[0] is block


@pytest.mark.parametrize(
    ("value", "found"),
    [("a", "a"), ("", None), (None, None), (0, "0"), (12, "12"), ([], None)],
)
def test_an_id_is_text_and_nothing_where_it_is_empty(value, found):
    assert identifier(value) == found


# --- facts from parts -----------------------------------------------------------------------------


def test_calls_and_results_become_links():
    parts = (
        Text("let me see"),
        ToolCall("custom", "a", "x", alias="b"),
        ToolResult("custom", "a", name="x", state=INTERIM),
    )
    assert facts_of(ASSISTANT, parts) == Facts(
        ASSISTANT,
        (Link(CALL, "custom", "a", "x", "b"), Link(RESULT, "custom", "a", "x", None, INTERIM)),
    )


def test_ordinary_calls_become_ids():
    assert facts_of(ASSISTANT, (ToolCall(FUNCTION, "a", "x"),)) == Facts(ASSISTANT, asks=("a",))


def test_a_hosted_call_asks_for_nothing():
    assert facts_of(ASSISTANT, (ToolCall("web_search", "a", "x", hosted=True),)) == Facts(ASSISTANT)


def test_approvals_become_requests_and_decisions():
    parts = (ApprovalRequest("r", "c", "x"), Approval("r"), Approval("q", approved=False))
    assert facts_of(ASSISTANT, parts).links == (
        Link(REQUEST, "mcp", "r", "x", "c"),
        Link(ANSWER, "mcp", "r"),
        Link(ANSWER, "mcp", "q", None, None, REJECTED),
    )


@pytest.mark.parametrize(
    ("parts", "role"),
    [
        ((ToolResult(FUNCTION, "a"),), TOOL),
        ((ToolResult(FUNCTION, "a"), ToolResult(FUNCTION, "b")), TOOL),
        ((Approval("r"),), TOOL),
        ((ToolResult(FUNCTION, "a"), Text("t")), USER),
        ((Text("t"),), USER),
        ((), USER),
    ],
)
def test_a_user_message_that_holds_nothing_but_answers_is_a_tools(parts, role):
    assert facts_of(USER, parts).role == role


def test_an_assistant_message_with_results_alone_stays_the_assistants():
    assert facts_of(ASSISTANT, (ToolResult("server", "a"),)).role == ASSISTANT


@pytest.mark.parametrize(
    ("role", "parts", "alone"),
    [
        (ASSISTANT, (Reasoning("t"),), True),
        (ASSISTANT, (Reasoning("t"), Reasoning("u")), True),
        (ASSISTANT, (Reasoning("t"), Text("u")), False),
        (ASSISTANT, (Reasoning("t"), Opaque("x")), False),
        (ASSISTANT, (), False),
        (USER, (Reasoning("t"),), False),
    ],
)
def test_only_an_assistant_message_of_reasoning_alone_is_bound_forward(role, parts, alone):
    assert facts_of(role, parts).reasoning is alone
