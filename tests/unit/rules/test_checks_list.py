"""Checks of the shape of the list: who speaks first, what stands beside what."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

GO, ON = user("go"), user("on")
REASONING = {"type": "reasoning", "id": "rs_1", "summary": []}


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def text(words="t"):
    return {"type": "text", "text": words}


def use(id_="a", kind="tool_use"):
    return {"type": kind, "id": id_, "name": "x", "input": {}}


def gave(id_="a", kind="tool_result"):
    return {"type": kind, "tool_use_id": id_, "content": "r"}


def at(rule, history, profile, **options):
    report = ls.check(history, profile=profile, **options)
    return [one.index for one in report.violations if one.rule == rule]


# --- who speaks first -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "index"),
    [
        ([assistant()], 0),
        ([system(), system(), assistant(), ON], 2),
        ([call("a"), result("a"), ON], 0),
        ([result("a"), ON], 0),
        ([{"role": "narrator", "content": "x"}, assistant()], 1),
    ],
)
def test_a_conversation_starts_with_the_user(history, index):
    assert at("po-starts-with-user", history, "portable") == [index]


@pytest.mark.parametrize(
    "history",
    [
        [GO],
        [system(), GO],
        [{"role": "narrator", "content": "x"}, GO, assistant()],
        [system()],
        [],
    ],
)
def test_a_system_part_and_rows_no_model_sees_come_before_the_start(history):
    assert at("po-starts-with-user", history, "portable") == []


def test_a_start_that_the_server_holds_is_not_asked_for():
    body = {"input": [assistant()], "previous_response_id": "resp_1"}
    assert at("po-starts-with-user", body, "portable") == []
    assert at("po-starts-with-user", {"input": [assistant()]}, "portable") == [0]


@pytest.mark.parametrize("history", [[], [system()], [{"role": "narrator", "content": "x"}]])
@pytest.mark.parametrize("profile", ["portable", "openai-chat", "openai-responses"])
def test_a_list_with_nothing_to_answer_is_refused(history, profile):
    report = ls.check(history, profile=profile, format="openai-chat")
    (found,) = report.errors
    assert (found.rule, found.index, found.path) == ("po-no-messages", -1, "messages")


@pytest.mark.parametrize("message", [GO, assistant(), result("a")])
def test_any_message_of_the_conversation_is_something(message):
    assert at("po-no-messages", [message], "openai-chat") == []


# --- system messages inside an Anthropic list -----------------------------------------------------


def placed(history):
    return at("an-system-role-placement", history, "anthropic", format="anthropic")


@pytest.mark.parametrize(
    ("history", "index"),
    [
        ([GO, system(), assistant()], []),
        ([GO, system()], []),
        ([GO, said(use()), told(gave()), system(), assistant()], []),
        ([GO, said(use("s", "server_tool_use"), gave("s", "x_tool_result")), system()], []),
        ([GO, said(use("m", "mcp_tool_use"), gave("m", "mcp_tool_result")), system()], []),
        ([GO, assistant(), system(), assistant()], [2]),
        ([GO, assistant(), system()], [2]),
        ([GO, system(), ON], [1]),
        ([GO, system(), system(), assistant()], [1, 2]),
        ([GO, said(use()), system(), told(gave())], [2]),
        ([system(), system(), GO], [1]),
        ([system(), GO], []),
    ],
)
def test_a_system_message_has_its_place_after_a_user_turn(history, index):
    assert placed(history) == index


def test_a_system_message_does_not_open_an_anthropic_list():
    rule = "an-system-role-first"
    assert at(rule, [system(), GO], "anthropic", format="anthropic") == [0]
    assert at(rule, [GO, system()], "anthropic", format="anthropic") == []
    assert at(rule, [], "anthropic", format="anthropic") == []
    assert at(rule, [system(), GO], "anthropic", format="openai-chat") == []


# --- reasoning ------------------------------------------------------------------------------------


def call_item(id_="a"):
    return {"type": "function_call", "call_id": id_, "name": "x", "arguments": "{}"}


def output_item(id_="a"):
    return {"type": "function_call_output", "call_id": id_, "output": "r"}


@pytest.mark.parametrize(
    ("history", "index"),
    [
        ([GO, REASONING], [1]),
        ([GO, REASONING, ON], [1]),
        ([GO, REASONING, output_item(), ON], [1]),
        ([GO, REASONING, call_item(), output_item()], []),
        ([GO, REASONING, assistant()], []),
        ([GO, REASONING, {"type": "web_search_call", "id": "ws"}], []),
        ([GO, REASONING, REASONING | {"id": "rs_2"}, assistant()], []),
        ([GO, REASONING, REASONING | {"id": "rs_2"}], [2]),
        ([GO, assistant(), REASONING], [2]),
    ],
)
def test_reasoning_stands_before_the_item_it_led_to(history, index):
    for profile in ("openai-responses", "portable"):
        assert at("or-reasoning-needs-following", history, profile) == index


def test_thinking_in_a_message_of_its_own_is_no_reasoning_item():
    history = [GO, said({"type": "thinking", "thinking": "hm", "signature": "s"}), ON]
    assert ls.check(history, profile="portable").violations == ()


# --- items that stand twice -----------------------------------------------------------------------


def test_an_item_id_appears_once():
    rule, profile = "or-duplicate-item", "openai-responses"
    history = [GO]
    for number in range(3):
        history += [REASONING, assistant() | {"id": f"msg_{number}"}, ON]
    assert at(rule, history, profile) == [4, 7]
    report = ls.check(history, profile=profile)
    assert [one.related for one in report.violations] == [(1,), (1,)]
    assert "rs_1" in report.violations[0].message


@pytest.mark.parametrize("name", [None, ""])
def test_items_without_an_id_are_not_twice_the_same(name):
    history = [GO, call_item() | {"id": name}, output_item() | {"id": name}]
    assert at("or-duplicate-item", history, "openai-responses") == []


# --- reports --------------------------------------------------------------------------------------


def test_a_report_says_what_was_checked_and_lists_breaches_by_place():
    history = [GO, result("x"), call("a"), ON, assistant("")]
    report = ls.check(history, profile="portable")
    assert (report.profile, report.format, report.messages, report.groups) == (
        "portable",
        "openai-chat",
        5,
        5,
    )
    assert [one.index for one in report.violations] == [1, 2, 4]
    assert not report.ok
    assert report.errors == report.violations


def test_a_report_with_warnings_alone_is_ok():
    report = ls.check([assistant(), ON], profile="anthropic", format="anthropic")
    assert report.ok
    assert report.errors == ()
    assert [one.severity for one in report.violations] == ["warning"]


def test_a_report_is_summed_up_in_one_line():
    assert ls.check([GO], profile="portable").summary() == "1 message, accepted by portable"
    clean = ls.check([GO, assistant()], profile="portable").summary()
    assert clean == "2 messages, accepted by portable"
    broken = ls.check([GO, result("a"), assistant(""), ON], profile="portable").summary()
    assert broken.startswith("4 messages, 2 errors and 0 warnings for portable; first: messages[1]")
    warned = ls.check([assistant(), ON], profile="anthropic").summary()
    assert "0 errors and 1 warning" in warned


def test_a_report_raises_where_errors_are_not_wanted():
    ls.check([GO], profile="portable").raise_for_errors()
    ls.check([assistant(), ON], profile="anthropic").raise_for_errors()
    report = ls.check([GO, result("a")], profile="portable")
    with pytest.raises(ls.InvalidHistory) as caught:
        report.raise_for_errors()
    assert caught.value.report is report


def test_groups_are_counted_with_the_ties_the_profile_demands():
    history = [told(text()), system("s"), said(text())]
    assert ls.check(history, profile="anthropic", format="anthropic").groups == 1
    assert ls.check(history, profile="openai-chat", format="anthropic").groups == 3
