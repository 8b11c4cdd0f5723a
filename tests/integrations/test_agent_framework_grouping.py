"""Groups in agent-framework's shape: its promises, and those that it does not keep itself."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

framework = pytest.importorskip("agent_framework")

from agent_framework import Content, Message, apply_compaction  # noqa: E402

from lockstitch.integrations.agent_framework import (  # noqa: E402
    LockstitchCompaction,
    group_messages,
)

SCRIPT = Path(__file__).parents[1] / "seeds" / "agent_framework_published.py"


def user(text="go on"):
    return Message("user", [text])


def says(*contents):
    return Message("assistant", list(contents) or ["done"])


def call(one, **options):
    return Content.from_function_call(one, "look_up", arguments="{}", **options)


def found(one, **options):
    return Content.from_function_result(one, result="found", **options)


def result(*ids):
    return Message("tool", [found(one) for one in ids])


def thought():
    return Content.from_text_reasoning(text="hm", protected_data="gAAAAAB")


def names(messages):
    """Return the group of each message, as the place of its first one."""
    spans = group_messages(messages)
    return [
        int(span["group_id"].removeprefix("group_"))
        for span in spans
        for _ in range(span["start_index"], span["end_index"] + 1)
    ]


def test_a_call_and_its_result_are_one_group_and_the_user_is_another():
    assert names([user(), says(call("a")), result("a"), says()]) == [0, 1, 1, 3]


def test_reasoning_in_front_of_a_call_is_of_its_group():
    history = [user(), says(thought()), says(call("a")), result("a")]
    assert names(history) == [0, 1, 1, 1]
    assert group_messages(history)[1]["has_reasoning"]


@pytest.mark.parametrize("ids", [("a",), ("a", "b")])
def test_reasoning_in_the_message_of_the_calls_marks_the_group(ids):
    history = [says(thought(), *map(call, ids)), *[result(one) for one in ids]]
    (span,) = group_messages(history)
    assert span == {
        "group_id": "group_0",
        "kind": "tool_call",
        "start_index": 0,
        "end_index": len(ids),
        "has_reasoning": True,
    }


def test_far_results_join_their_call_and_what_stands_between_stays_out():
    history = [says(call("a"), call("b")), result("a"), user(), result("b"), says()]
    assert names(history) == [0, 0, 2, 0, 4]


def test_one_message_that_answers_two_far_calls_makes_one_group_of_them():
    history = [says(call("a")), user(), says(call("b")), user(), result("a", "b")]
    assert names(history) == [0, 1, 0, 3, 0]


def test_a_result_of_another_call_stays_away_from_one_that_waits():
    assert names([says(call("a")), user(), result("b")]) == [0, 1, 2]


def test_a_result_before_its_call_is_not_paired():
    assert names([result("a"), says(call("a")), user()]) == [0, 1, 2]


def test_an_id_that_two_waiting_calls_share_pairs_by_run_and_in_order():
    """The package calls this ambiguous and pairs neither; a cut then leaves both results alone."""
    history = [says(call("a")), user(), says(call("a")), user(), result("a"), user(), result("a")]
    assert names(history) == [0, 1, 2, 3, 2, 5, 0]


def test_an_id_of_two_calls_in_one_message_pairs_both():
    assert names([says(call("a"), call("a")), user(), result("a"), result("a")]) == [0, 1, 0, 0]


def test_an_id_that_comes_back_later_is_another_occurrence():
    history = [says(call("a")), result("a"), user(), says(call("a")), user(), result("a")]
    assert names(history) == [0, 0, 2, 3, 4, 3]


def test_a_result_in_the_models_message_closes_its_call():
    history = [says(call("a")), user(), says(found("a")), user(), says(call("a")), user()]
    assert names([*history, result("a")]) == [0, 1, 0, 3, 4, 5, 4]


def test_the_id_of_an_occurrence_goes_before_the_providers():
    first, second = call("a", id="one"), call("a", id="two")
    late = [
        Message("tool", [found("a", id="two")]),
        user(),
        Message("tool", [found("a", id="one")]),
    ]
    assert names([says(first), user(), says(second), user(), *late]) == [0, 1, 2, 3, 2, 5, 0]
    swapped = [late[2], user(), late[0]]
    history = [says(first), user(), says(second), user(), *swapped]
    assert names(history) == [0, 1, 2, 3, 0, 5, 2]


HOSTED = {
    "mcp": (
        Content.from_mcp_server_tool_call("m", "find"),
        Content.from_mcp_server_tool_result("m", output="found"),
    ),
    "code": (
        Content.from_code_interpreter_tool_call(call_id="k"),
        Content.from_code_interpreter_tool_result(call_id="k"),
    ),
    "shell": (
        Content.from_shell_tool_call(call_id="s", commands=["ls"]),
        Content.from_shell_tool_result(call_id="s"),
    ),
    "image": (
        Content.from_image_generation_tool_call(image_id="i"),
        Content.from_image_generation_tool_result(image_id="i"),
    ),
    "search": (
        Content.from_search_tool_call("q", tool_name="web"),
        Content.from_search_tool_result("q", tool_name="web", result="found"),
    ),
}


@pytest.mark.parametrize("kind", HOSTED)
def test_a_hosted_call_and_its_result_are_one_group_across_messages(kind):
    """The package looks for no results of these; only neighbours hold together there."""
    asked, answered = HOSTED[kind]
    assert names([user(), says(asked), user(), says(answered)]) == [0, 1, 2, 1]


@pytest.mark.parametrize("kind", [kind for kind in HOSTED if kind != "search"])
def test_reasoning_in_front_of_a_hosted_call_is_of_its_group(kind):
    history = [user(), says(thought()), says(HOSTED[kind][0])]
    assert names(history) == [0, 1, 1]


def test_a_window_keeps_no_result_whose_call_went():
    history = [says(call("a")), user(), says(found("a")), user(), says(), user("last")]
    for limit in range(1, 6):
        mine = [Message.from_dict(one.to_dict()) for one in history]
        strategy = LockstitchCompaction(max_messages=limit)
        window = asyncio.run(apply_compaction(mine, strategy=strategy))
        assert len([one for one in (mine[0], mine[2]) if one in window]) in {0, 2}


def test_repeated_message_ids_join_nothing():
    history = [Message("user", ["a"], message_id="X"), Message("user", ["b"], message_id="X")]
    assert names(history) == [0, 1]


def test_missing_message_ids_are_not_filled_in():
    history = [user(), says()]
    group_messages(history)
    assert [one.message_id for one in history] == [None, None]


def test_groups_are_never_coarser_nor_finer_than_the_packages_where_it_splits_no_pair():
    """300 random histories; `tests/seeds/agent_framework_published.py` runs 10,000."""
    found = importlib.util.spec_from_file_location("agent_framework_published", SCRIPT)
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    counts, differences = script.compare(300)
    assert not differences
    assert counts["equal"] > 150
    assert counts["split by the package"] > 30


def test_without_the_package_groups_are_to_be_had_and_compaction_names_the_extra():
    script = (
        "import sys\n"
        "sys.modules['agent_framework'] = None\n"
        "from lockstitch.integrations import agent_framework as ours\n"
        "print(ours.group_messages([{'role': 'user', 'contents': []}])[0]['kind'])\n"
        "try:\n"
        "    ours.LockstitchCompaction\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("user\nMissingExtra")
    assert "lockstitch[agent-framework]" in ran.stdout
