"""The rules of Anthropic Messages: what breaks each, what mends it, and what must be let alone."""

from __future__ import annotations

import copy
import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import lockstitch as ls
from lockstitch.rules.catalog import RULES
from lockstitch.rules.checks import anthropic
from lockstitch.rules.models import known_of

if TYPE_CHECKING:
    from collections.abc import Mapping

MANUAL = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
OFF = {"thinking": {"type": "disabled"}}
TOOLS = {"tools": [{"name": "f", "input_schema": {"type": "object"}}]}
MARK = {"cache_control": {"type": "ephemeral"}}
BIG = "iVBORw0KGgoAAAANSUhEUgAACHIAAAFCCAIAAAAYcf92"
SMALL = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSnc"
PREFILL, NO_PREFILL = "claude-haiku-4-5-20251001", "us.anthropic.claude-opus-4-6-v1"
BOUND = "claude-opus-5-5"


def said(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def ask(words: str = "q") -> dict[str, Any]:
    return {"role": "user", "content": words}


def text(words: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def thought(words: str = "t", signature: str = "SIG1", **more: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature, **more}


def use(id_: str = "toolu_1", name: str = "f", kind: str = "tool_use") -> dict[str, Any]:
    return {"type": kind, "id": id_, "name": name, "input": {}}


def gave(id_: str = "toolu_1", content: Any = "r", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def image(data: str = SMALL) -> dict[str, Any]:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }


class Case(NamedTuple):
    """A rule, a history that breaks it at a place, and what a repair makes of it."""

    rule: str
    broken: list[Any]
    path: str
    mended: list[Any]
    context: Mapping[str, Any] = MappingProxyType({})
    after: Mapping[str, Any] = MappingProxyType({})
    model: str | None = None


ROUND = [ask(), said(use()), told(gave())]

ERRORS = [
    Case(
        "an-tool-id-pattern",
        [ask(), said(use("functions.f:0")), told(gave("functions.f:0"))],
        "messages[1].content[0]",
        [ask(), said(use("functions_f_0_my0XMsOJ")), told(gave("functions_f_0_my0XMsOJ"))],
    ),
    Case(
        "an-tool-name",
        [ask(), said(use(name="psql -c 'select 1'")), told(gave())],
        "messages[1].content[0]",
        [ask(), said(use(name="psql_-c_select_1")), told(gave())],
    ),
    Case(
        "an-tools-must-be-defined",
        ROUND,
        "messages[1].content[0]",
        ROUND,
        {"tools": None},
        {
            "tools": [
                {
                    "name": "f",
                    "description": "Used earlier in this conversation; not available now.",
                    "input_schema": {"type": "object"},
                }
            ]
        },
    ),
    Case(
        "an-thinking-must-lead",
        ROUND,
        "messages[1].content[0]",
        ROUND,
        {**MANUAL, **TOOLS},
        {**OFF, **TOOLS},
    ),
    Case(
        "an-thinking-signature-invalid",
        [ask(), said(thought("other", "reasoning_content"), text()), ask("q2")],
        "messages[1].content[0]",
        [ask(), said(text()), ask("q2")],
    ),
    Case(
        "an-thinking-disabled-final",
        [ask(), said(thought(), text())],
        "messages[1].content[0]",
        [ask(), said(thought(), text()), ask("Continue.")],
        OFF,
        OFF,
    ),
    Case(
        "an-prefill-unsupported",
        [ask(), {"role": "assistant", "content": "The answer is"}],
        "messages[1]",
        [ask(), {"role": "assistant", "content": "The answer is"}, ask("Continue.")],
        model=NO_PREFILL,
    ),
    Case(
        "an-trailing-whitespace",
        [ask(), {"role": "assistant", "content": "a \n"}],
        "messages[1].content",
        [ask(), {"role": "assistant", "content": "a"}],
        model=PREFILL,
    ),
    Case(
        "an-trailing-whitespace",
        [ask(), said(text("a\t"))],
        "messages[1].content[0]",
        [ask(), said(text("a"))],
        model=PREFILL,
    ),
    Case(
        "an-system-role-model",
        [ask(), {"role": "system", "content": "s"}],
        "messages[1]",
        [ask(), ask("s")],
        model=PREFILL,
    ),
    Case(
        "an-cache-control-max-4",
        [told(*(text(str(at), **MARK) for at in range(5)))],
        "messages[0].content[0].cache_control",
        [told(text("0"), *(text(str(at), **MARK) for at in range(1, 5)))],
    ),
    Case(
        "an-cache-control-max-4",
        [ask(), said(use()), told(gave(content=[text("r", **MARK)])), told(text("q", **MARK))],
        "messages[2].content[0].content[0].cache_control",
        [ask(), said(use()), told(gave(content=[text("r")])), told(text("q", **MARK))],
        {**MARK, "system": [text("s", **MARK)], "tools": [{"name": "f", **MARK}]},
        {**MARK, "system": [text("s", **MARK)], "tools": [{"name": "f", **MARK}]},
    ),
    Case(
        "an-many-images",
        [told(*(image() for _ in range(20)), image(BIG))],
        "messages[0].content[20]",
        [
            told(
                *(image() for _ in range(20)),
                text("[An image stood here. It was too large for a request with many images.]"),
            )
        ],
    ),
    Case(
        "an-compaction-first",
        [ask("old"), said({"type": "compaction", "content": ""}), ask()],
        "messages[1].content[0]",
        [ask("old"), ask()],
    ),
    Case(
        "an-empty-text-block", [told(text(""))], "messages[0].content[0]", [told(text("(empty)"))]
    ),
    Case("an-empty-content", [ask("")], "messages[0].content", [ask("(empty)")]),
]


def named(case: Case) -> str:
    return f"{case.rule}-{case.path}"


@pytest.mark.parametrize("case", ERRORS, ids=named)
def test_a_breach_is_found_and_mended_and_stays_mended(case):
    body = {**case.context, "messages": case.broken}
    before = copy.deepcopy(body)
    report = ls.check(
        body, profile="anthropic", format="anthropic", model=case.model, tail="closed"
    )
    found = [one for one in report.errors if one.rule == case.rule]
    assert [one.path for one in found] == [case.path]
    mended = ls.repair(body, profile="anthropic", format="anthropic", model=case.model)
    assert mended.messages == {**case.after, "messages": case.mended}
    assert mended.ok
    assert mended.changes
    again = ls.repair(mended.messages, profile="anthropic", format="anthropic", model=case.model)
    assert again.changes == ()
    assert body == before


WARNINGS = [
    ("an-error-result-empty", [ask(), said(use()), told(gave(content="", is_error=True))], {}),
    ("an-cache-control-empty-text", [told(text(), text("", **MARK))], {}),
    ("an-cache-control-empty-text", [ask(), said(thought(**MARK), text()), ask()], {}),
    ("an-pause-turn", [ask(), said(use("s", "x", "server_tool_use")), ask("go on")], {}),
    ("an-tools-must-be-defined", ROUND, {"model": PREFILL}),
    ("an-tool-id-pattern", [ask(), said(use("x" * 65)), told(gave("x" * 65))], {}),
    ("an-tool-name", [ask(), said(use(name="x" * 129)), told(gave())], {}),
    ("an-prefill-unsupported", [ask(), said(text())], {"model": NO_PREFILL}),
    ("an-trailing-whitespace", [ask(), said(text("a "))], {"model": PREFILL}),
    ("an-thinking-latest-immutable", [ask(), said(thought("trimmed…"), use())], {}),
    ("an-thinking-latest-immutable", [ask(), said(thought("so [truncated]"), use())], {}),
    ("an-thinking-latest-filtered", [ask(), said(thought("a"), thought("b"), use())], {}),
    (
        "an-thinking-mid-removal",
        [ask(), said(thought(), text()), ask(), said(text()), ask(), said(thought()), ask()],
        {"model": BOUND},
    ),
    ("an-thinking-prefix-bound", [said(text()), ask(), said(thought(), text())], {"model": BOUND}),
]


@pytest.mark.parametrize(("rule", "history", "context"), WARNINGS)
def test_what_is_only_likely_is_a_warning_and_is_not_repaired(rule, history, context):
    body = {**context, "messages": history}
    report = ls.check(body, profile="anthropic", format="anthropic")
    assert [one.severity for one in report.violations if one.rule == rule] == ["warning"]
    mended = ls.repair(body, profile="anthropic", format="anthropic", tail="open")
    assert rule not in {change.rule for change in mended.changes}


ACCEPTED = [
    # Only one answer of a round of tools need hold thinking.
    ([ask(), said(thought(), use()), told(gave()), said(use("b")), told(gave("b"))], MANUAL),
    ([ask(), said(use()), told(gave()), said(thought(), use("b")), told(gave("b"))], MANUAL),
    ([ask(), said(thought()), said(use()), told(gave())], MANUAL),
    # A past turn may be without it, and one that is not of the model's making.
    ([ask(), said(text()), ask()], MANUAL),
    ([*ROUND, said(text()), ask()], MANUAL),
    ([told(gave("x"))], MANUAL | {"previous_response_id": "kept on a server"}),
    (ROUND, {"thinking": {"type": "adaptive"}}),
    (ROUND, {**MANUAL, "model": "claude-opus-4-8"}),
    # Tools of MCP servers are not defined in the request.
    (ROUND, {"tools": [], "mcp_servers": [{"name": "m", "url": "https://e.example"}]}),
    ([ask(), said(text()), ask()], {"model": PREFILL}),
    # What ends with the provider's own work goes back as it is.
    ([ask(), said(text(), use("s", "x", "server_tool_use"))], {"model": NO_PREFILL}),
    ([ask(), said({"type": "compaction", "content": "sum"})], {"model": NO_PREFILL}),
    ([ask(), said({"type": "compaction", "content": None}), ask()], {}),
    # Code of the provider waits for a tool of the client.
    ([ask(), said(use("s", "x", "server_tool_use"), use()), told(gave())], {}),
    ([ask(), {"role": "system", "content": "s"}], {"model": "claude-opus-4-8"}),
    ([told(*(image() for _ in range(21)))], {}),
    ([told(text(), {"type": "container_upload", "file_id": "f"})], {}),
    ([ask(), {"type": "summary", "summary": "a row that no model sees"}], {}),
    ([told(*(image(BIG) for _ in range(20)))], {}),
    ([told({"type": "image", "source": {"type": "url", "url": "u"}}, *[image()] * 21)], {}),
    ([told(*(text(str(at), **MARK) for at in range(4)))], {"tools": "none"}),
    ([ask(), said(thought("Hmm..."), text("a")), ask()], {"thinking": {"type": "adaptive"}}),
    ([ask(), said(thought(), text())], {"thinking": {"type": "adaptive"}}),
]


@pytest.mark.parametrize(("history", "context"), ACCEPTED)
def test_what_is_accepted_is_let_alone(history, context):
    body = {**context, "messages": history}
    errors = [
        one
        for tail in ("open", "closed")
        for one in ls.check(body, profile="anthropic", format="anthropic", tail=tail).errors
        if one.rule != "an-result-needs-use"
    ]
    assert errors == []


def test_every_rule_of_the_provider_is_in_the_catalogue_with_its_source():
    ours = [rule for rule in RULES.values() if rule.id.startswith("an-")]
    assert len(ours) == 46
    assert all(rule.source and rule.statement and rule.title for rule in ours)


def test_results_without_their_calls_get_a_tool_to_stand_for_theirs():
    body = {"tools": [], "messages": [ask(), told(gave())]}
    mended = ls.repair(body, profile="anthropic", allow={"synthesize"})
    assert mended.request == {"tools": mended.messages["tools"]}
    assert [tool["name"] for tool in mended.messages["tools"]] == ["tool"]


def test_a_repair_that_may_not_make_up_tools_says_what_is_left():
    mended = ls.repair({"tools": [], "messages": ROUND}, profile="anthropic", allow={"move"})
    assert [one.rule for one in mended.remaining] == ["an-tools-must-be-defined"]
    assert mended.request == {}


@pytest.mark.parametrize("kind", [str, str.encode])
def test_a_request_that_came_as_json_goes_back_as_json_with_the_tools_in_it(kind):
    given = kind(json.dumps({"tools": None, "messages": ROUND, "n": 1.0}))
    mended = ls.repair(given, profile="anthropic")
    assert type(mended.messages) is type(given)
    back = json.loads(mended.messages)
    assert back["messages"] == ROUND
    assert [tool["name"] for tool in back["tools"]] == ["f"]
    assert ls.repair(given, profile="anthropic", dry_run=True).messages == given


def test_export_mends_what_one_target_wants_warnings_included():
    history = [
        ask(),
        said(thought(**MARK), text(), use("x" * 70)),
        told(gave("x" * 70, "", is_error=True)),
    ]
    written = ls.export(history, profile="anthropic")
    call, result = written.messages[1]["content"][2], written.messages[2]["content"][0]
    assert call["id"] == result["tool_use_id"] != "x" * 70
    assert len(call["id"]) <= 64
    assert result["content"] == "(empty)"
    assert "cache_control" not in written.messages[1]["content"][0]
    later = [told(text("a"), {"type": "image", **MARK}, thought(), text("", **MARK))]
    moved = ls.export(later, profile="anthropic", format="anthropic").messages[0]["content"]
    assert [bool(block.get("cache_control")) for block in moved] == [True, True, False, False]
    nearest = [told(text("a"), text("", **MARK))]
    moved = ls.export(nearest, profile="anthropic", format="anthropic").messages[0]["content"]
    assert moved == [text("a", **MARK), text("")]


def test_a_large_image_inside_a_result_is_found_and_replaced_there():
    shots = [*[image() for _ in range(20)], {"type": "text", "text": "x"}, image(BIG)]
    history = [ask(), said(use()), told(gave(content=shots))]
    report = ls.check(history, profile="anthropic")
    assert [one.path for one in report.errors] == ["messages[2].content[0].content[21]"]
    mended = ls.repair(history, profile="anthropic")
    assert mended.messages[2]["content"][0]["content"][21]["type"] == "text"


def test_a_list_and_a_request_have_a_largest_size(monkeypatch):
    monkeypatch.setattr("lockstitch.rules.checks.anthropic._MESSAGES", 2)
    monkeypatch.setattr("lockstitch.rules.checks.anthropic._BYTES", 10)
    history = [*ROUND, said(text("a" * 6)), told(image(), text())]
    report = ls.check(history, profile="anthropic")
    assert {one.rule for one in report.errors} == {"an-max-messages", "an-request-size"}
    mended = ls.repair(history, profile="anthropic")
    assert not mended.ok
    assert mended.changes == ()


@pytest.mark.parametrize(
    ("model", "prefill", "bound", "system"),
    [
        ("claude-3-5-sonnet-20240620", True, False, False),
        ("us.anthropic.claude-3-5-haiku-20241022-v1:0", True, False, False),
        ("claude-sonnet-4-20250514", True, False, False),
        ("claude-opus-4-1@20250805", True, False, False),
        ("anthropic/claude-haiku-4.5", True, False, False),
        ("claude-sonnet-4-6", False, False, False),
        ("us.anthropic.claude-opus-4-6-v1", False, False, False),
        ("claude-opus-4-7", False, False, False),
        ("claude-opus-4-8-20260528", False, False, True),
        ("claude-fable-5-20260609", False, False, True),
        ("claude-fable-5-1", False, True, True),
        ("claude-fable-5-2-20261001", False, True, True),
        ("claude-opus-5", False, False, True),
        ("eu.anthropic.claude-opus-5-5-v1:0", False, True, True),
        ("claude-sonnet-5-5@20261001", False, True, True),
        ("claude-haiku-5-5", False, True, True),
        ("claude-mythos-5", False, False, True),
        ("claude-mythos-5-1", False, None, True),
    ],
)
def test_a_model_is_known_under_each_of_its_names(model, prefill, bound, system):
    known = known_of("anthropic", model)
    assert known["no_prefill"] is not prefill
    assert known.get("preserved_thinking") is bound
    assert known["mid_system"] is system


def test_a_model_of_no_row_is_not_known():
    assert known_of("anthropic", "claude-verse-9") == {}


# --- the size of the request ----------------------------------------------------------------------


@pytest.mark.parametrize("most", [2, 3])
def test_more_messages_than_a_request_takes_are_said_of_the_whole(monkeypatch, most):
    monkeypatch.setattr(anthropic, "_MESSAGES", most)
    report = ls.check([ask(), said(text()), ask()], profile="anthropic", format="anthropic")
    told_of = [(one.index, one.message) for one in report.violations]
    assert told_of == ([(-1, "there are 3 messages: trim to 2 at most")] if most == 2 else [])


@pytest.mark.parametrize("most", [47, 48])
def test_more_bytes_than_a_request_takes_are_said_of_the_whole(monkeypatch, most):
    monkeypatch.setattr(anthropic, "_BYTES", most)
    shown = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "A" * 8},
    }
    results = [gave(content="r" * 10), {**gave(content="s" * 10), "tool_use_id": "toolu_2"}]
    uses = said(use(), {**use(), "id": "toolu_2"})
    history = [told(text("12345"), text("67890"), shown), uses, told(*results), said(text("12"))]
    report = ls.check([*history, told(shown)], profile="anthropic", format="anthropic")
    size = "text and media alone are 48 bytes and a request may have 47: send files by their ids, "
    told_of = [(one.index, one.message) for one in report.violations if "bytes" in one.message]
    assert told_of == ([(-1, f"{size}or trim")] if most == 47 else [])


def test_what_is_odd_about_a_call_is_found_behind_what_is_no_call_of_a_tool():
    hosted = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    odd = {"type": "tool_use", "id": "a.b", "name": "f.g", "input": {}}
    given = {"type": "tool_result", "tool_use_id": "a.b", "content": "r"}
    history = [ask(), said(text(), hosted, found, odd), told(given)]
    report = ls.check(history, profile="anthropic", format="anthropic")
    assert {one.path for one in report.errors} == {"messages[1].content[3]"}
    assert len(report.errors) == 2
