"""A hole joins the turns on either side of it; two that share an id must not meet there."""

import pytest

import lockstitch as ls
from lockstitch.testing import assistant, user


def searched(one="s"):
    """A turn whose tool the provider ran: call and result in one message."""
    use = {"type": "server_tool_use", "id": one, "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": one, "content": []}
    return {"role": "assistant", "content": [use, found]}


APART = [user(), searched(), user("huge"), searched(), user()]


def reasons(history, limit, **options):
    """Why each message is kept or goes; the third is too large for any window."""
    sizes = [1, 1, 9, *[1] * (len(history) - 3)]
    profile = {"format": "anthropic", "profile": "anthropic"}
    decision = ls.plan(history, max_tokens=limit, counter=sizes, **profile, **options)
    return [edit.reason for edit in decision.edits for _ in range(edit.start, edit.stop)]


def test_the_earlier_of_two_turns_that_would_meet_goes():
    assert reasons(APART, 4) == ["recent", "joined", "too-large", "recent", "task"]


def test_turns_that_share_no_id_may_meet():
    history = [user(), searched("s"), user("huge"), searched("t"), user()]
    assert reasons(history, 4) == ["recent", "recent", "too-large", "recent", "task"]


@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_the_later_goes_where_the_earlier_is_pinned(cut):
    assert reasons(APART, 4, cut=cut, pins=(0, 1))[-2:] == ["joined", "task"]


def test_a_prefix_cut_leaves_no_hole_after_the_boundary():
    """What stands between the boundary and the later turn goes with it."""
    history = [user(), searched(), user("huge"), assistant(), searched(), user()]
    pinned = ["pinned", "pinned"]
    kept = reasons(history, 5, cut="groups", pins=(0, 1))
    assert kept == [*pinned, "too-large", "recent", "joined", "task"]
    kept = reasons(history, 5, cut="prefix", pins=(0, 1))
    assert kept == [*pinned, "oldest", "joined", "joined", "task"]


def test_two_turns_that_must_both_stay_are_left_as_they_are():
    kept = reasons(APART, 5, pins=(0, 1, 3))
    assert kept == ["pinned", "pinned", "too-large", "pinned", "task"]
