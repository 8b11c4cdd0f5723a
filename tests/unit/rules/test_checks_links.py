"""Checks of calls, results and approvals: what is near enough, and what may still be open."""

from __future__ import annotations

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, call, result, system, user

GO, ON = user("go"), user("on")


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


def asked(id_="a", **more):
    return {"type": "function_call", "call_id": id_, "name": "x", "arguments": "{}", **more}


def output(id_="a", **more):
    return {"type": "function_call_output", "call_id": id_, "output": "r", **more}


# Rules that only warn where nothing is known of the model, or beside the rule that refuses.
BESIDE = {
    "az-same-validator",
    "oc-reused-id",
    "oc-system-role-some-models",
    "or-calls-stand-together",
}


def broken(history, profile, **options):
    report = ls.check(history, profile=profile, **options)
    assert all(found.severity == "warning" for found in report.violations if found.rule in BESIDE)
    return [(found.rule, found.index) for found in report.violations if found.rule not in BESIDE]


# --- the tail -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "rule"),
    [("portable", "po-call-answered"), ("openai-chat", "oc-tool-calls-answered")],
)
def test_an_open_call_is_fine_while_tools_run_and_a_breach_when_the_model_is_called(profile, rule):
    history = [GO, call("a")]
    assert broken(history, profile) == []
    assert broken(history, profile, tail="open") == []
    assert broken(history, profile, tail="closed") == [(rule, 1)]


def test_a_batch_answered_in_part_is_open_as_well():
    history = [GO, call("a", "b"), result("b")]
    assert broken(history, "openai-chat") == []
    assert broken(history, "openai-chat", tail="closed") == [
        ("oc-tool-calls-answered", 1),
        ("oc-partial-parallel", 1),
    ]


def test_a_server_tool_of_a_paused_turn_is_open():
    history = [GO, said(text(), use("s", "server_tool_use"))]
    assert broken(history, "anthropic") == []
    # It is sent back as it is, so that the provider goes on with it.
    for profile in ("anthropic", "portable"):
        assert broken(history, profile, tail="closed") == []
        assert broken([*history, ON], profile, tail="open") != []
    # And a result for the client's own call beside it ends nothing.
    for kind in ("server_tool_use", "mcp_tool_use"):
        both = [GO, said(use("s", kind), use("a")), told(gave("a"))]
        assert broken(both, "portable", tail="closed") == []


def test_a_request_that_waits_for_a_person_is_no_call_without_a_result():
    request = {"type": "mcp_approval_request", "id": "mcpr_r", "name": "x", "arguments": "{}"}
    for profile in ("openai-responses", "portable"):
        for tail in ("open", "closed"):
            assert broken([GO, request], profile, tail=tail) == []


@pytest.mark.parametrize("tail", ["", "shut", None, True])
def test_the_tail_is_open_or_closed(tail):
    with pytest.raises(ValueError, match='tail must be "open" or "closed", got'):
        ls.check([GO], tail=tail)


# --- how near a result must stand -----------------------------------------------------------------


@pytest.mark.parametrize("profile", ["portable", "openai-chat"])
@pytest.mark.parametrize("between", [ON, system("s"), assistant("x")])
def test_in_chat_nothing_but_results_may_stand_between(profile, between):
    history = [GO, call("a", "b"), result("b"), between, result("a")]
    rules = {rule for rule, index in broken(history, profile) if index == 4}
    assert rules == {"oc-tool-adjacent" if profile == "openai-chat" else "po-result-adjacent"}
    assert broken([GO, call("a", "b"), result("b"), result("a"), between], profile) == []


def test_rows_that_no_model_sees_may_stand_between():
    odd = {"role": "narrator", "content": "x"}
    assert broken([GO, call("a"), odd, result("a")], "openai-chat") == []


def test_a_chat_result_answers_the_message_that_asked_and_no_neighbour_of_it():
    history = [GO, call("a"), call("b"), result("b"), result("a")]
    assert broken(history, "openai-chat") == [("oc-tool-adjacent", 4)]
    assert broken(history, "anthropic") == []


def test_anthropic_joins_neighbours_before_it_pairs():
    history = [GO, said(use("a")), said(use("b")), told(gave("a"), gave("b"))]
    assert broken(history, "anthropic") == []
    assert broken(history, "portable") == []
    history = [GO, said(use("a")), said(use("b")), told(gave("b")), told(gave("a"))]
    assert broken(history, "anthropic") == []


def test_a_joined_turn_does_not_reach_over_a_user_turn():
    history = [GO, said(use("a"), use("b")), told(gave("b")), said(text()), told(gave("a"))]
    assert broken(history, "anthropic") == [("an-result-nonadjacent", 4)]
    history = [GO, said(use("a")), ON, told(gave("a"))]
    assert broken(history, "anthropic") == [("an-result-nonadjacent", 3)]


def test_a_system_message_inside_an_anthropic_list_does_not_part_a_result_from_its_call():
    history = [GO, said(use("a")), system("s"), told(gave("a"))]
    assert ("an-result-nonadjacent", 3) not in broken(history, "anthropic")
    assert ("an-system-role-placement", 2) in broken(history, "anthropic")


def test_a_server_tool_pairs_inside_one_message_and_across_joined_ones():
    inside = [GO, said(use("s", "server_tool_use"), gave("s", "x_tool_result"))]
    across = [GO, said(use("s", "server_tool_use")), said(gave("s", "x_tool_result"))]
    for history in (inside, across):
        assert broken(history, "anthropic") == []
        assert broken(history, "portable") == []


def test_a_server_result_in_a_later_turn_is_displaced():
    history = [GO, said(use("s", "server_tool_use")), ON, said(gave("s", "x_tool_result"))]
    assert broken(history, "anthropic") == [("an-result-nonadjacent", 3)]


def test_responses_takes_an_output_anywhere_after_its_call():
    history = [GO, asked(), ON, assistant("x"), output()]
    assert broken(history, "openai-responses") == []
    assert broken(history, "portable") == [("po-result-adjacent", 4)]


def test_portable_judges_responses_on_the_joined_view():
    history = [GO, asked("a"), asked("b"), output("a"), output("b")]
    assert broken(history, "portable") == []


def test_a_displaced_result_names_the_call_it_belongs_to():
    (found,) = ls.check([GO, call("a"), ON, result("a")], profile="portable").violations
    assert found.related == (1,)
    assert "messages[1]" in found.message


# --- orphans, duplicates, reuse -------------------------------------------------------------------


def test_what_the_server_holds_is_no_orphan():
    held = {"previous_response_id": "resp_1"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True}
    for around in (held, {"conversation": "conv_1"}):
        for item in (output(), answer):
            assert broken({"input": [item], **around}, "openai-responses") == []
    assert broken({"input": [output()]}, "openai-responses") == [("or-output-needs-call", 0)]
    assert broken({"input": [answer]}, "openai-responses") == [("or-approval-needs-request", 0)]
    assert broken({"input": [], **held}, "openai-responses") == []
    assert broken({"input": [output()], **held}, "portable") == []


def test_a_client_result_and_a_server_result_are_told_apart():
    assert broken([GO, said(text()), told(gave())], "anthropic") == [("an-result-needs-use", 2)]
    assert broken([GO, said(gave("m", "mcp_tool_result"))], "anthropic") == [
        ("an-server-result-needs-use", 1)
    ]


def test_a_duplicate_names_the_call_and_the_answer_it_has():
    (found,) = ls.check([GO, call("a"), result("a"), result("a")], profile="portable").violations
    assert found.related == (1, 2)


def test_a_duplicate_far_from_its_call_is_out_of_place_as_well():
    """The second tool message follows no message with calls, which is what OpenAI refuses."""
    history = [GO, call("a"), result("a"), ON, result("a")]
    assert sorted(broken(history, "openai-chat")) == [
        ("oc-single-result", 4),
        ("oc-tool-adjacent", 4),
    ]
    assert not ls.check(history, profile="openai-chat").ok
    near = [GO, call("a"), result("a"), result("a"), ON]
    assert broken(near, "openai-chat") == [("oc-single-result", 3)]


def test_an_id_used_again_in_a_later_turn_is_accepted_everywhere():
    history = [GO, call("a"), result("a"), ON, call("a"), result("a")]
    for profile in ("portable", "openai-chat"):
        assert broken(history, profile) == []
    history = [GO, said(use()), told(gave()), said(use()), told(gave())]
    for profile in ("portable", "anthropic"):
        assert broken(history, profile) == []


def test_an_id_used_twice_in_a_joined_turn_is_refused_by_anthropic():
    history = [GO, said(use()), said(use()), told(gave(), gave())]
    assert broken(history, "anthropic") == [("an-tool-use-id-unique", 2)]


def test_calls_without_ids_are_not_equal_ids():
    history = [GO, said(use(""), use("")), told(gave(""), gave(""))]
    assert ("an-tool-use-id-unique", 1) not in broken(history, "anthropic")


def test_one_id_in_two_families_is_no_repetition():
    history = [GO, said(use("a"), use("a", "server_tool_use"), gave("a", "x_tool_result"))]
    assert "an-tool-use-id-unique" not in {rule for rule, _ in broken(history, "anthropic")}


def test_a_result_before_its_call_is_told_from_one_without_any():
    history = [GO, result("a"), call("a")]
    assert broken(history, "openai-chat") == [
        ("oc-tool-needs-call", 1),
        ("oc-result-before-call", 1),
    ]
    # The later call has a result of its own, so the first one is not its.
    assert broken([*history, result("a")], "openai-chat") == [("oc-tool-needs-call", 1)]
    # A result that is paired is not before anything, whatever is open later.
    assert broken([GO, call("a"), result("a"), call("a")], "openai-chat") == []
    # And one whose open call stands before it took another.
    odd = [GO, call("a"), ON, call("a"), result("a")]
    assert broken(odd, "openai-chat") == [("oc-tool-calls-answered", 1)]


def test_a_result_before_its_call_names_the_call():
    report = ls.check([GO, result("a"), ON, call("a")], profile="openai-chat")
    found = next(one for one in report.violations if one.rule == "oc-result-before-call")
    assert found.related == (3,)
    # Where the id is used again, the nearest call that is open.
    report = ls.check([GO, result("a"), call("a"), ON, call("a"), ON], profile="openai-chat")
    found = next(one for one in report.violations if one.rule == "oc-result-before-call")
    assert found.related == (2,)


def test_a_result_without_an_id_stands_before_no_call():
    history = [GO, {"role": "tool", "name": "x", "content": ""}, call("a")]
    assert broken(history, "openai-chat") == [("oc-tool-needs-call", 1)]


def test_a_partly_answered_batch_is_told_from_one_that_nobody_answered():
    history = [GO, call("a", "b"), ON]
    assert broken(history, "openai-chat") == [("oc-tool-calls-answered", 1)] * 2
    history = [GO, call("a", "b"), result("a"), ON]
    assert broken(history, "openai-chat") == [
        ("oc-tool-calls-answered", 1),
        ("oc-partial-parallel", 1),
    ]


# --- families and words ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("function_call", "or-call-needs-output"),
        ("tool_search_call", "or-call-needs-output"),
        ("computer_call", "or-computer-call-needs-output"),
        ("custom_tool_call", "or-custom-tool-pair"),
        ("shell_call", "or-shell-pair"),
        ("apply_patch_call", "or-shell-pair"),
        ("local_shell_call", "or-local-shell-pair-key"),
    ],
)
def test_each_family_of_responses_has_its_own_rule(kind, rule):
    assert broken([GO, {"type": kind, "call_id": "a"}, ON], "openai-responses") == [(rule, 1)]


@pytest.mark.parametrize("kind", ["web_search_call", "code_interpreter_call", "mcp_call"])
def test_a_call_the_provider_ran_misses_nothing(kind):
    assert broken([GO, {"type": kind}, ON], "openai-responses", tail="closed") == []


def test_a_local_shell_pair_under_the_documented_key_is_fine():
    history = [
        GO,
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "call_1", "action": {}},
        {"type": "local_shell_call_output", "id": "lsh_1", "output": "r"},
    ]
    assert broken(history, "openai-responses") == []


def test_a_call_without_an_id_is_named_by_its_name():
    entry = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
    history = [GO, {"role": "assistant", "content": None, "tool_calls": [entry]}, ON]
    (found,) = ls.check(history, profile="portable").violations
    assert "without an id (search)" in found.message


def test_the_place_of_each_call_of_a_batch_is_named():
    report = ls.check([GO, call("a", "b"), ON], profile="openai-chat")
    assert [found.path for found in report.errors] == [
        "messages[1].tool_calls[0]",
        "messages[1].tool_calls[1]",
    ]
    assert "the call a " in report.errors[0].message
    assert "the call b " in report.errors[1].message


def test_a_link_that_no_part_shows_has_the_place_of_its_message():
    caller = {"type": "program", "caller_id": "p"}
    history = [GO, asked(caller=caller), ON]
    (found,) = ls.check(history, profile="openai-responses").errors
    assert found.path == "messages[1].arguments"


def test_the_list_is_named_as_the_caller_named_it():
    (found,) = ls.check({"input": [output()]}, profile="openai-responses").violations
    assert found.path == "input[0].output"
    body = {"request": {"messages": [GO, result("a")]}}
    (found,) = ls.check(body, profile="openai-chat").violations
    assert found.path == "request.messages[1].content"
