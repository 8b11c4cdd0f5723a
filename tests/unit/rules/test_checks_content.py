"""Checks of content: what a message holds, and what of it cannot be sent."""

from __future__ import annotations

import msgspec
import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

GO, ON = user("go"), user("on")
HALF = "half \ud83d"


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def use(id_="a"):
    return {"type": "tool_use", "id": id_, "name": "x", "input": {}}


def gave(id_="a"):
    return {"type": "tool_result", "tool_use_id": id_, "content": "r"}


def text(words="t"):
    return {"type": "text", "text": words}


def found(rule, history, profile, **options):
    """The places at which one rule is broken."""
    report = ls.check(history, profile=profile, **options)
    return [(one.index, one.path) for one in report.violations if one.rule == rule]


# --- nothing in it --------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", " \n\t", None, [], [text("")], [text(" "), text("")]])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_message_that_shows_nothing_is_empty_to_portable(role, content):
    message = {"role": role, "content": content}
    assert found("po-not-empty", [GO, message], "portable") == [(1, "messages[1].content")]


@pytest.mark.parametrize(
    "message",
    [
        user("x"),
        user([text(""), text("x")]),
        user([{"type": "image_url", "image_url": {"url": "u"}}]),
        call("a"),
        result("a", ""),
        system(""),
        {"role": "narrator", "content": ""},
        {"role": "assistant", "reasoning_content": "hm"},
    ],
)
def test_a_message_that_holds_anything_is_not(message):
    assert found("po-not-empty", [GO, call("a"), message], "portable") == []


def test_anthropic_allows_only_the_final_assistant_message_to_be_empty():
    rule = "an-empty-content"
    assert found(rule, [GO, assistant("")], "anthropic") == []
    assert found(rule, [GO, assistant(""), ON], "anthropic") == [(1, "messages[1].content")]
    assert found(rule, [GO, assistant("x"), user("")], "anthropic") == [(2, "messages[2].content")]
    assert found(rule, [user(""), assistant("x")], "anthropic") == [(0, "messages[0].content")]
    assert found(rule, [GO, assistant([]), ON], "anthropic") == [(1, "messages[1].content")]
    assert found(rule, [GO, assistant(" "), ON], "anthropic") == []
    assert found(rule, [GO, said(use()), told(gave()), ON], "anthropic") == []
    assert found(rule, [GO, {"role": "narrator", "content": ""}, ON], "anthropic") == []


def test_an_empty_block_is_told_from_empty_content():
    rule = "an-empty-text-block"
    options = {"format": "anthropic"}
    assert found(rule, [GO, said(text("x"), text("")), ON], "anthropic", **options) == [
        (1, "messages[1].content[1]")
    ]
    assert found(rule, [GO, said({"type": "text"}), ON], "anthropic", **options) == [
        (1, "messages[1].content[0]")
    ]
    assert found(rule, [GO, assistant(""), ON], "anthropic", **options) == []
    assert found(rule, [GO, said(text("x")), ON], "anthropic", **options) == []


@pytest.mark.parametrize("blank", [" ", "\n", "\u2003"])
def test_blank_text_is_told_from_empty_text(blank):
    rule = "an-whitespace-text-block"
    options = {"format": "anthropic"}
    assert found(rule, [GO, said(text("x"), text(blank)), ON], "anthropic", **options) == [
        (1, "messages[1].content[1]")
    ]
    assert found(rule, [GO, user(blank)], "anthropic", **options) == [(1, "messages[1].content")]
    assert found(rule, [GO, said(text(""), text("x")), ON], "anthropic", **options) == []


def test_blank_text_beside_a_server_tool_is_the_providers_own():
    """Recorded: between cited texts the API writes a single space, and takes it back."""
    use = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    gave = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    history = [GO, said(use, gave, text("x"), text(" "), text("y")), ON]
    assert found("an-whitespace-text-block", history, "anthropic", format="anthropic") == []


# --- null -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        user(None),
        system(None),
        assistant(None),
        result("a", None),
        user([{"type": "text", "text": None}]),
    ],
)
def test_null_content_is_refused_where_something_must_be_said(message):
    history = [GO, call("a"), message]
    assert [at for at, _ in found("oc-content-null", history, "openai-chat")] == [2]


@pytest.mark.parametrize(
    "message",
    [
        call("a"),
        assistant(None) | {"refusal": "no"},
        assistant(None) | {"audio": {"id": "a"}},
        assistant(None) | {"reasoning_content": "hm"},
        {"role": "assistant", "content": None, "function_call": {"name": "x", "arguments": ""}},
        user(""),
        assistant(""),
        result("a", ""),
        {"role": "assistant"},
    ],
)
def test_null_content_beside_something_else_is_accepted(message):
    assert found("oc-content-null", [GO, call("a"), message], "openai-chat") == []


def test_null_is_a_matter_of_chat_alone():
    for profile in ("portable", "anthropic", "openai-responses"):
        report = ls.check([GO, assistant(None)], profile=profile)
        assert "oc-content-null" not in {one.rule for one in report.violations}


# --- tool_calls -----------------------------------------------------------------------------------


def test_an_empty_array_of_calls_is_refused_and_an_absent_one_is_not():
    rule = "oc-tool-calls-empty-array"
    assert found(rule, [GO, assistant("x") | {"tool_calls": []}], "openai-chat") == [
        (1, "messages[1].tool_calls")
    ]
    assert found(rule, [GO, assistant("x") | {"tool_calls": None}], "openai-chat") == []
    assert found(rule, [GO, assistant("x")], "openai-chat") == []
    assert found(rule, [GO | {"tool_calls": []}], "openai-chat") == []
    raw = msgspec.json.encode([GO, assistant("x") | {"tool_calls": []}])
    assert found(rule, raw, "openai-chat") == [(1, "messages[1].tool_calls")]


# --- results first --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "at"),
    [
        ([text(), gave("a"), gave("b")], "content[1]"),
        ([gave("a"), text(), gave("b")], "content[2]"),
        ([gave("a"), gave("b"), text()], None),
        ([gave("a"), gave("b")], None),
    ],
)
def test_results_stand_before_anything_else_in_their_turn(blocks, at):
    history = [GO, said(use("a"), use("b")), told(*blocks)]
    expected = [(2, f"messages[2].{at}")] if at else []
    assert found("an-result-first", history, "anthropic") == expected


def test_a_message_without_results_has_none_to_put_first():
    assert found("an-result-first", [told(text(), text())], "anthropic", format="anthropic") == []


# --- thinking -------------------------------------------------------------------------------------


def test_thinking_without_its_signature_is_refused():
    rule = "an-thinking-signature-required"
    for block in (
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "redacted_thinking"},
    ):
        assert found(rule, [GO, said(text(), block)], "anthropic") == [
            (1, "messages[1].content[1]")
        ]
    for block in (
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "x"},
    ):
        assert found(rule, [GO, said(block, text())], "anthropic") == []


def test_only_the_assistants_thinking_is_looked_at():
    block = {"type": "thinking", "thinking": "hm"}
    history = [told(block, text()), said(use())]
    assert found("an-thinking-signature-required", history, "anthropic") == []


# --- text that cannot be sent ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (user(HALF), "content"),
        (user([text("x"), text(HALF)]), "content[1].text"),
        (call("a", arguments=HALF), "tool_calls[0].function.arguments"),
        (assistant("x") | {"meta": {"deep": [1, {"k": HALF}]}}, "meta.deep[1].k"),
        (assistant("x") | {HALF: 1}, ""),
        (assistant("x") | {"meta": {HALF: 1}}, "meta"),
        (assistant("x") | {"meta": (1, HALF)}, "meta[1]"),
    ],
)
def test_half_a_surrogate_pair_is_found_wherever_it_stands(message, path):
    where = "messages[1]" + (f".{path}" if path else "")
    assert found("po-valid-text", [GO, message], "openai-chat") == [(1, where)]


@pytest.mark.parametrize(
    "words",
    [
        "plain",
        "é",
        "日本",
        "🎉",
        "\ufffd",
        "\ud83c\udf89".encode("utf-16", "surrogatepass").decode("utf-16"),
    ],
)
def test_text_that_can_be_sent_is_fine(words):
    assert found("po-valid-text", [GO, user(words)], "openai-chat") == []


def test_half_a_pair_inside_an_object_is_found():
    class Block:
        def __init__(self):
            self.text = HALF

        def model_dump(self, *, exclude_unset):
            return {"type": "text", "text": self.text}

    assert found("po-valid-text", [told(Block())], "openai-chat") == [
        (0, "messages[0].content[0].text")
    ]


def test_half_a_pair_is_looked_for_without_recursion():
    deep: object = HALF
    for _ in range(5_000):
        deep = [deep]
    message = assistant("x") | {"meta": deep}
    assert len(found("po-valid-text", [GO, message], "openai-chat")) == 1
    assert found("po-valid-text", [GO, assistant("x") | {"n": 5, "b": None}], "openai-chat") == []
