"""Each rule of the catalogue: a history that breaks it, and its mended twin that is clean."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import pytest

import lockstitch as ls
from lockstitch.formats import FORMATS
from lockstitch.rules.catalog import RULES, rules_of
from lockstitch.rules.checks import CHECKS
from lockstitch.rules.profiles import PROFILES, get_profile
from lockstitch.testing import assistant, call, result, system, user


class Case(NamedTuple):
    """A rule of a profile, broken and mended; `also` are rules that cannot but break with it."""

    rule: str
    profile: str
    broken: Any
    mended: Any
    at: int
    path: str
    also: tuple[str, ...] = ()
    format: str | None = None
    tail: str = "open"


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def use(id_="a", kind="tool_use"):
    return {"type": kind, "id": id_, "name": "x", "input": {}}


def gave(id_="a", kind="tool_result"):
    return {"type": kind, "tool_use_id": id_, "content": "r"}


def text(words="t"):
    return {"type": "text", "text": words}


def asked(family, id_="a", **more):
    return {"type": f"{family}_call", "call_id": id_, "name": "x", "arguments": "{}", **more}


def output(family, id_="a"):
    return {"type": f"{family}_call_output", "call_id": id_, "output": "r"}


HALF = "half \ud83d"
GO, ON = user("go"), user("on")
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}
DEVELOPER = {"role": "developer", "content": "s"}
SAID, SAID_2 = (assistant() | {"id": f"msg_{number}"} for number in (1, 2))
REQUEST = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "x", "arguments": "{}"}
DECISION = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}

CHAT = "openai-chat"
RESPONSES = "openai-responses"

CASES = [
    # --- portable
    Case(
        "po-call-answered",
        "portable",
        [GO, call("a"), ON],
        [GO, call("a"), result("a"), ON],
        1,
        "messages[1].tool_calls[0]",
    ),
    Case(
        "po-result-has-call",
        "portable",
        [GO, result("a")],
        [GO, call("a"), result("a")],
        1,
        "messages[1].content",
    ),
    Case(
        "po-result-adjacent",
        "portable",
        [GO, call("a"), ON, result("a")],
        [GO, call("a"), result("a"), ON],
        3,
        "messages[3].content",
    ),
    Case(
        "po-single-result",
        "portable",
        [GO, call("a"), result("a"), result("a")],
        [GO, call("a"), result("a")],
        3,
        "messages[3].content",
    ),
    Case(
        "po-starts-with-user",
        "portable",
        [system(), assistant(), ON],
        [system(), GO, ON],
        1,
        "messages[1]",
    ),
    Case(
        "po-not-empty",
        "portable",
        [GO, assistant("  ")],
        [GO, assistant("x")],
        1,
        "messages[1].content",
    ),
    Case(
        "po-valid-text",
        "portable",
        [GO, assistant(HALF)],
        [GO, assistant("half \ufffd")],
        1,
        "messages[1].content",
    ),
    Case("po-no-messages", "portable", [system()], [system(), GO], -1, "messages"),
    Case(
        "or-reasoning-needs-following",
        "portable",
        [GO, REASONING, ON],
        [GO, REASONING, SAID, ON],
        1,
        "messages[1]",
    ),
    Case(
        "or-approval-needs-request",
        "portable",
        [GO, DECISION],
        [GO, REQUEST, DECISION],
        1,
        "messages[1]",
        format=RESPONSES,
    ),
    Case(
        "an-tool-use-role",
        "portable",
        [GO, told(text(), use()), said(text())],
        [GO, told(text()), said(text())],
        1,
        "messages[1].content[1]",
        format="anthropic",
    ),
    Case(
        "an-system-role-first",
        "portable",
        [system(), told(text())],
        [told(text())],
        0,
        "messages[0]",
        format="anthropic",
    ),
    Case(
        "an-system-role-placement",
        "portable",
        [told(text()), said(text()), system()],
        [told(text()), said(text()), told(text()), system()],
        2,
        "messages[2]",
        format="anthropic",
    ),
    # --- OpenAI Chat Completions
    Case(
        "oc-tool-calls-answered",
        CHAT,
        [GO, call("a"), ON],
        [GO, call("a"), result("a"), ON],
        1,
        "messages[1].tool_calls[0]",
        ("az-same-validator",),
    ),
    Case(
        "oc-partial-parallel",
        CHAT,
        [GO, call("a", "b"), result("a"), ON],
        [GO, call("a", "b"), result("a"), result("b"), ON],
        1,
        "messages[1].tool_calls[1]",
        ("oc-tool-calls-answered", "az-same-validator"),
    ),
    Case(
        "oc-tool-needs-call",
        CHAT,
        [GO, result("a")],
        [GO, call("a"), result("a")],
        1,
        "messages[1].content",
    ),
    Case(
        "oc-tool-adjacent",
        CHAT,
        [GO, call("a"), ON, result("a")],
        [GO, call("a"), result("a"), ON],
        3,
        "messages[3].content",
    ),
    Case(
        "oc-result-before-call",
        CHAT,
        [GO, result("a"), call("a")],
        [GO, call("a"), result("a")],
        1,
        "messages[1].content",
        ("oc-tool-needs-call",),
    ),
    Case(
        "oc-single-result",
        CHAT,
        [GO, call("a"), result("a"), result("a")],
        [GO, call("a"), result("a")],
        3,
        "messages[3].content",
    ),
    Case(
        "oc-tool-calls-empty-array",
        CHAT,
        [GO, assistant("x") | {"tool_calls": []}],
        [GO, assistant("x")],
        1,
        "messages[1].tool_calls",
    ),
    Case(
        "oc-content-null",
        CHAT,
        [GO, assistant(None)],
        [GO, assistant("")],
        1,
        "messages[1].content",
    ),
    Case(
        "po-valid-text",
        CHAT,
        [GO, assistant(HALF)],
        [GO, assistant("half \ufffd")],
        1,
        "messages[1].content",
    ),
    Case("po-no-messages", CHAT, [DEVELOPER], [DEVELOPER, GO], -1, "messages", format=CHAT),
    # --- OpenAI Responses
    Case(
        "or-call-needs-output",
        RESPONSES,
        [GO, asked("function"), ON],
        [GO, asked("function"), output("function"), ON],
        1,
        "messages[1].arguments",
    ),
    Case(
        "or-output-needs-call",
        RESPONSES,
        [GO, output("function")],
        [GO, asked("function"), output("function")],
        1,
        "messages[1].output",
    ),
    Case(
        "or-computer-call-needs-output",
        RESPONSES,
        [GO, asked("computer"), ON],
        [GO, asked("computer"), output("computer"), ON],
        1,
        "messages[1].arguments",
    ),
    Case(
        "or-custom-tool-pair",
        RESPONSES,
        [GO, asked("custom_tool"), ON],
        [GO, asked("custom_tool"), output("custom_tool"), ON],
        1,
        "messages[1].arguments",
    ),
    Case(
        "or-shell-pair",
        RESPONSES,
        [GO, asked("shell"), ON],
        [GO, asked("shell"), output("shell"), ON],
        1,
        "messages[1].arguments",
    ),
    Case(
        "or-local-shell-pair-key",
        RESPONSES,
        [GO, asked("local_shell", id="lsh_1"), ON],
        [
            GO,
            asked("local_shell", id="lsh_1"),
            {"type": "local_shell_call_output", "id": "lsh_1"},
            ON,
        ],
        1,
        "messages[1].arguments",
    ),
    Case(
        "or-single-output",
        RESPONSES,
        [GO, asked("function"), *[output("function")] * 2],
        [GO, asked("function"), output("function")],
        3,
        "messages[3].output",
    ),
    Case(
        "or-reasoning-needs-following",
        RESPONSES,
        [GO, REASONING, ON],
        [GO, REASONING, SAID, ON],
        1,
        "messages[1]",
    ),
    Case(
        "or-duplicate-item",
        RESPONSES,
        [GO, REASONING, SAID, ON, REASONING, SAID_2],
        [GO, REASONING, SAID, ON, REASONING | {"id": "rs_2"}, SAID_2],
        4,
        "messages[4].id",
    ),
    Case(
        "or-approval-needs-request",
        RESPONSES,
        [GO, DECISION],
        [GO, REQUEST, DECISION],
        1,
        "messages[1]",
        format=RESPONSES,
    ),
    Case(
        "po-valid-text",
        RESPONSES,
        [GO, assistant(HALF)],
        [GO, assistant("half \ufffd")],
        1,
        "messages[1].content",
    ),
    Case("po-no-messages", RESPONSES, [system()], [system(), GO], -1, "messages"),
    # --- Anthropic Messages
    Case(
        "an-tool-use-answered",
        "anthropic",
        [GO, said(use()), ON],
        [GO, said(use()), told(gave()), ON],
        1,
        "messages[1].content[0]",
    ),
    Case(
        "an-result-needs-use",
        "anthropic",
        [GO, said(text()), told(gave())],
        [GO, said(use()), told(gave())],
        2,
        "messages[2].content[0]",
    ),
    Case(
        "an-result-nonadjacent",
        "anthropic",
        [GO, said(use()), ON, said(text()), told(gave())],
        [GO, said(use()), told(gave()), said(text()), ON],
        4,
        "messages[4].content[0]",
    ),
    Case(
        "an-result-first",
        "anthropic",
        [GO, said(use()), told(text(), gave())],
        [GO, said(use()), told(gave(), text())],
        2,
        "messages[2].content[1]",
    ),
    Case(
        "an-tool-use-role",
        "anthropic",
        [GO, told(text(), use()), said(text()), ON],
        [GO, told(text()), said(text()), ON],
        1,
        "messages[1].content[1]",
    ),
    Case(
        "an-single-result",
        "anthropic",
        [GO, said(use()), told(gave(), gave())],
        [GO, said(use()), told(gave())],
        2,
        "messages[2].content[1]",
    ),
    Case(
        "an-tool-use-id-unique",
        "anthropic",
        [GO, said(use(), use()), told(gave(), gave())],
        [GO, said(use(), use("b")), told(gave(), gave("b"))],
        1,
        "messages[1].content[1]",
    ),
    Case("an-no-messages", "anthropic", [], [GO], -1, "messages"),
    Case(
        "an-first-message-user",
        "anthropic",
        [said(text()), ON],
        [GO, said(text()), ON],
        0,
        "messages[0]",
    ),
    Case(
        "an-empty-content",
        "anthropic",
        [GO, assistant(""), ON],
        [GO, assistant("x"), ON],
        1,
        "messages[1].content",
    ),
    Case(
        "an-empty-text-block",
        "anthropic",
        [GO, said(text(), text("")), ON],
        [GO, said(text()), ON],
        1,
        "messages[1].content[1]",
        format="anthropic",
    ),
    Case(
        "an-whitespace-text-block",
        "anthropic",
        [GO, said(text(), text(" \n")), ON],
        [GO, said(text()), ON],
        1,
        "messages[1].content[1]",
        format="anthropic",
    ),
    Case(
        "an-thinking-signature-required",
        "anthropic",
        [GO, said({"type": "thinking", "thinking": "hm"}, text()), ON],
        [GO, said({"type": "thinking", "thinking": "hm", "signature": "s"}, text()), ON],
        1,
        "messages[1].content[0]",
    ),
    Case(
        "an-server-result-needs-use",
        "anthropic",
        [GO, said(gave("s", "web_search_tool_result"), text())],
        [GO, said(use("s", "server_tool_use"), gave("s", "web_search_tool_result"), text())],
        1,
        "messages[1].content[0]",
    ),
    Case(
        "an-server-use-needs-result",
        "anthropic",
        [GO, said(use("s", "server_tool_use"), text()), ON],
        [GO, said(use("s", "server_tool_use"), gave("s", "web_search_tool_result"), text()), ON],
        1,
        "messages[1].content[0]",
    ),
    Case(
        "an-mcp-tool-pair",
        "anthropic",
        [GO, said(use("m", "mcp_tool_use"), text()), ON],
        [GO, said(use("m", "mcp_tool_use"), gave("m", "mcp_tool_result"), text()), ON],
        1,
        "messages[1].content[0]",
    ),
    Case(
        "an-system-role-first",
        "anthropic",
        [system(), told(text())],
        [told(text())],
        0,
        "messages[0]",
        format="anthropic",
    ),
    Case(
        "an-system-role-placement",
        "anthropic",
        [told(text()), said(text()), system()],
        [told(text()), said(text()), told(text()), system()],
        2,
        "messages[2]",
        format="anthropic",
    ),
    Case(
        "po-valid-text",
        "anthropic",
        [GO, assistant(HALF)],
        [GO, assistant("half \ufffd")],
        1,
        "messages[1].content",
    ),
]


def named(case):
    return f"{case.rule}-{case.profile}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_history_that_breaks_a_rule_is_found_at_its_place(case):
    before = copy.deepcopy(case.broken)
    report = ls.check(case.broken, profile=case.profile, format=case.format, tail=case.tail)
    assert {found.rule for found in report.violations} == {case.rule, *case.also}
    found = next(one for one in report.violations if one.rule == case.rule)
    rule = RULES[case.rule]
    assert (found.index, found.path) == (case.at, case.path)
    assert found.severity == rule.severity
    assert found.provider_error == rule.error
    assert found.source == rule.source
    assert found.message
    assert not found.caused
    errors = any(RULES[name].severity == "error" for name in (case.rule, *case.also))
    assert report.ok is not errors
    assert case.broken == before


@pytest.mark.parametrize("case", CASES, ids=named)
def test_its_mended_twin_is_clean(case):
    report = ls.check(case.mended, profile=case.profile, format=case.format, tail=case.tail)
    assert report.violations == ()
    assert report.ok


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_rule_is_broken_only_in_the_profiles_it_belongs_to(case):
    for profile in PROFILES:
        report = ls.check(case.broken, profile=profile, format=case.format)
        if profile not in RULES[case.rule].profiles:
            assert case.rule not in {found.rule for found in report.violations}


def test_every_rule_that_holds_for_all_providers_is_broken_here():
    shown = {case.rule for case in CASES if case.profile == "portable"}
    assert shown == {rule.id for rule in RULES.values() if "portable" in rule.profiles}


# --- the catalogue is sound -----------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_rule_is_complete_and_names_what_exists(rule):
    assert RULES[rule.id] is rule
    assert rule.title
    assert rule.statement
    assert rule.source
    assert set(rule.profiles) <= PROFILES.keys()
    assert rule.profiles
    assert set(rule.formats) <= FORMATS.keys()
    assert rule.check in CHECKS or not rule.check
    assert rule.status in {"docs", "issue", "code", "inferred"}
    assert set(rule.repairs) <= {
        "restore",
        "synthesize",
        "drop",
        "demote",
        "move",
        "merge",
        "rename",
        "replace",
    }


CHECKED = [rule for rule in RULES.values() if rule.check]


@pytest.mark.parametrize("rule", CHECKED, ids=lambda rule: rule.id)
def test_what_is_only_inferred_is_a_warning_and_what_is_confirmed_an_error(rule):
    assert rule.severity == ("warning" if rule.status == "inferred" else "error")


def test_no_check_goes_unused():
    assert {rule.check for rule in RULES.values() if rule.check} == CHECKS.keys()


def test_the_rules_of_a_profile_are_those_that_a_format_can_break():
    for profile in PROFILES:
        for format_ in FORMATS:
            assert {rule.id for rule in rules_of(profile, format_)} == {
                rule.id
                for rule in RULES.values()
                if profile in rule.profiles and (not rule.formats or format_ in rule.formats)
            }
    assert "an-system-role-first" in {rule.id for rule in rules_of("portable", "anthropic")}
    assert "an-system-role-first" not in {rule.id for rule in rules_of("portable", "openai-chat")}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_found_under_its_name(name):
    assert get_profile(name).name == name
    assert get_profile(name).start in {"user", "any"}
    assert get_profile(name).adjacency in {"message", "run", "order"}


@pytest.mark.parametrize("name", ["openai", "", None, [], 5])
def test_an_unknown_profile_is_refused_and_the_known_ones_listed(name):
    with pytest.raises(
        ValueError, match=r"no profile is called .*; there are: portable, openai-ch"
    ):
        get_profile(name)
    for function in (ls.check, ls.trim, ls.plan, ls.groups):
        with pytest.raises(ValueError, match="no profile is called"):
            function([GO], profile=name)


def test_a_view_of_the_portable_profile_demands_the_most():
    portable = get_profile("portable")
    assert portable.start == "user"
    assert portable.adjacency == "message"
    assert portable.bound_system
    assert get_profile("openai-responses").whole_response
    assert get_profile("anthropic").bound_system
    assert not get_profile("openai-chat").whole_response
    assert not get_profile("openai-chat").bound_system


def test_a_row_of_a_model_states_only_facts_that_there_are():
    with pytest.raises(ValueError, match="no fact is called 'sings'; there are: no_prefill"):
        ls.ModelFacts(profile="anthropic", pattern="*", facts={"sings": True}, date="", source="")
