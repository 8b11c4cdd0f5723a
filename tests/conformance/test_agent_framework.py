"""The 88 vectors of agent-framework: our groups and windows beside those of its package."""

from __future__ import annotations

import copy

import pytest
from agent_framework_vectors import canonical, native, vectors

import lockstitch as ls
from lockstitch.integrations.agent_framework import group_messages

VECTORS = vectors()
# Where our groups are others than the vectors', and why.
OTHERWISE = {
    # A second result answers the call that has one; without the call it would be an orphan.
    "af-051": ["g0", "g1", "g0", "g2", "g0", "g3"],
    # A result without an id belongs to the call of the run just spoken.
    "af-058": ["g0", "g1", "g0", "g2"],
}
# Windows that the target takes and that keep more than the vectors': the framework glues reasoning
# to the call before it (026), and text beside reasoning is what the reasoning led to (022).
FULLER = {("af-022", "3"): [2, 3, 4], ("af-026", "4"): [2, 3, 4, 5]}
# All items of one response stand or fall together for this target, so unanswered calls of the run
# go with the pair behind them.
WHOLE = {"af-056", "af-057"}

each = pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])


def natives_of(vector):
    return [native(message) for message in vector["messages"]]


def kept(natives, limit, profile):
    options = {"cut": "prefix", "floor": False, "on_overflow": "empty"}
    decision = ls.plan(
        natives, max_messages=limit, profile=profile, format="agent-framework", **options
    )
    return decision.kept


def test_there_are_88_vectors():
    assert len(VECTORS) == 88


@each
def test_groups_are_those_of_the_vector(vector):
    expected = vector.get("group_of_message_proposal", vector["group_of_message"])
    spans = group_messages(natives_of(vector))
    assert canonical(spans) == OTHERWISE.get(vector["id"], expected)


@each
def test_kinds_are_those_of_the_framework(vector):
    spans = group_messages(natives_of(vector))
    kinds = [one["kind"] for one in spans for _ in range(one["start_index"], one["end_index"] + 1)]
    assert kinds == vector["kind_of_message"]


@each
def test_a_message_object_is_grouped_as_its_dict_and_is_not_written_into(vector):
    framework = pytest.importorskip("agent_framework")
    natives = natives_of(vector)
    objects = [framework.Message.from_dict(copy.deepcopy(one)) for one in natives]
    before = [one.to_dict() for one in objects]
    assert group_messages(objects) == group_messages(natives)
    assert [one.to_dict() for one in objects] == before


@each
def test_groups_by_approval_are_never_finer_than_what_the_pull_request_asks_for(vector):
    asked = vector.get("group_of_message_seed_approvals")
    ours = canonical(group_messages(natives_of(vector)))
    pairs = list(zip(asked or (), ours, strict=bool(asked)))
    for one, group in pairs:
        assert {ours for theirs, ours in pairs if theirs == one} == {group}


@each
@pytest.mark.parametrize("profile", ["openai-chat", "openai-responses"])
def test_a_prefix_cut_keeps_what_the_vector_keeps_where_the_target_takes_that(vector, profile):
    natives = natives_of(vector)
    expected = vector.get("window_proposal") or vector["window_complete_groups"]
    for limit, window in expected.items():
        if not natives:
            continue
        positions = kept(natives, int(limit), profile)
        taken = [natives[at] for at in window]
        options = {"profile": profile, "format": "agent-framework", "tail": "open"}
        fine = not window or ls.check(taken, **options).ok
        if profile == "openai-responses" and vector["id"] in WHOLE:
            assert positions in (window, [], [6])
        elif fine and profile == "openai-chat":
            assert positions == FULLER.get((vector["id"], limit), window), limit
        elif fine:
            assert positions == window, limit


@each
@pytest.mark.parametrize("cut", ["groups", "prefix"])
def test_no_limit_splits_a_pair(vector, cut):
    natives = natives_of(vector)
    options = {"profile": "openai-chat", "format": "agent-framework"}
    units = ls.groups(natives, **options) if natives else ()
    for limit in range(len(natives) + 1):
        window = ls.plan(
            natives, max_messages=limit, cut=cut, floor=False, on_overflow="empty", **options
        ).kept
        assert len(window) <= limit
        for unit in units:
            assert len(set(unit.members) & set(window)) in {0, len(unit.members)}
