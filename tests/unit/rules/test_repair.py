"""The rounds of a repair: what is mended, in what order, under which terms, and when it ends."""

from __future__ import annotations

import msgspec
import pytest

import lockstitch as ls
from lockstitch.rules import repair
from lockstitch.rules.account import KINDS, LOSSLESS, Terms
from lockstitch.rules.mends import MENDS
from lockstitch.rules.profiles import get_profile
from lockstitch.testing import assistant, call, result, system, user

GO, ON = user("q"), user("next")
PORTABLE = get_profile("portable")
LOST = [GO, call("a"), ON]
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def mended(history, profile="portable", record=None, format="openai-chat", **terms):
    """Mend a history; return the draft and the errors that it still has."""
    options = Terms(profile=get_profile(profile), **terms)
    held = None if record is None else ls.load(record, format=format)
    draft = repair.mend(ls.load(history, format=format), options, held)
    return draft, repair.left(draft, options, held)


def kinds(draft):
    return [change.kind for change in draft.changes]


# --- rounds ---------------------------------------------------------------------------------------


def test_what_nothing_is_wrong_with_is_not_touched():
    history = [GO, call("a"), result("a"), assistant("x"), ON]
    draft, left = mended(history)
    assert [entry.native for entry in draft.entries] == history
    assert all(entry.native is given for entry, given in zip(draft.entries, history, strict=True))
    assert (draft.changes, left) == ([], ())


def test_what_moves_comes_first_and_what_is_made_up_last():
    history = [GO, call("a"), call("b"), ON, result("a"), result("a", "more")]
    draft, left = mended(history)
    assert kinds(draft) == ["move", "move", "merge", "synthesize"]
    assert [entry.origin for entry in draft.entries] == [0, 1, 4, 2, -1, 3]
    assert draft.entries[2].native == result("a", "found\n\nmore")
    assert left == ()


def test_one_breach_under_two_rules_of_one_check_is_mended_once():
    draft, _ = mended(LOST)
    assert kinds(draft) == ["synthesize"]
    assert [entry.origin for entry in draft.entries] == [0, 1, -1, 2]


def test_many_breaches_of_one_check_are_mended_in_one_round(monkeypatch):
    looked = []

    def look(*arguments, **options):
        looked.append(1)
        return view_of(*arguments, **options)

    view_of = repair.view_of
    monkeypatch.setattr(repair, "view_of", look)
    history = [GO, *(call(f"c{number}") for number in range(40)), ON]
    draft, left = mended(history)
    assert kinds(draft) == ["synthesize"] * 40
    assert left == ()
    assert len(looked) == 2


def test_mends_that_go_in_a_circle_are_left_after_a_while(monkeypatch):
    asked = []

    def turn(draft, breach):
        asked.append(1)
        draft.rewrite(breach.entry, {**draft.fields(breach.entry), "turn": len(asked)})
        draft.note("synthesize", breach.rule.id, breach.entry, "turned")
        return True

    monkeypatch.setitem(MENDS, "unanswered_call", {"synthesize": turn})
    draft, left = mended(LOST)
    assert len(asked) == 2 * repair._PATIENCE
    assert [one.index for one in left] == [1]
    assert len(draft.changes) == len(asked)


def test_what_a_mend_cannot_help_is_tried_with_the_next_kind(monkeypatch):
    tried = []

    def fails(draft, breach):
        tried.append(breach.place)
        return False

    table = MENDS["unanswered_call"]
    monkeypatch.setitem(MENDS, "unanswered_call", {**table, "synthesize": fails})
    draft, left = mended(LOST)
    assert tried == [(1, "tool_calls[0]")]
    assert kinds(draft) == ["drop"]
    assert left == ()


# --- terms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allow", "expected"),
    [
        (KINDS, ["synthesize"]),
        (("drop",), ["drop"]),
        (("move", "merge", "demote"), []),
        ((), []),
    ],
)
def test_a_kind_that_is_not_allowed_gives_way_to_one_that_is(allow, expected):
    draft, left = mended(LOST, allow=allow)
    assert kinds(draft) == expected
    assert bool(left) is (expected == [])


def test_calls_of_one_id_are_dropped_each_in_its_own_message():
    history = [GO, call("a", "b"), call("a", "b"), result("a"), result("b"), ON]
    draft, left = mended(history, allow=("drop",))
    assert [entry.native for entry in draft.entries] == [GO, *history[2:]]
    assert left == ()
    longer = [GO, call("a", "a"), call("a", "b"), call("b"), result("a"), ON]
    draft, left = mended(longer, allow=("drop",))
    assert left == ()
    assert [entry.native for entry in draft.entries if entry.native in longer][-1] == ON


def test_what_loses_nothing_is_allowed_whatever_is_forbidden():
    history = [GO, call("call:1"), result("call:1"), assistant("x"), ON]
    draft, left = mended(history, "mistral", allow=())
    assert set(kinds(draft)) == {"rename"}
    assert set(kinds(draft)) <= set(LOSSLESS)
    assert left == ()
    whole = [GO, call("a"), result("a"), assistant("x"), ON]
    draft, left = mended([*whole[:2], *whole[3:]], record=whole, allow=())
    assert kinds(draft) == ["restore"]
    assert [entry.native for entry in draft.entries] == whole
    assert left == ()


def test_a_move_that_no_rule_names_is_tried_and_can_be_forbidden():
    early = [GO, result("a"), call("a"), assistant("x"), ON]
    draft, _ = mended(early)
    assert kinds(draft) == ["move"]
    draft, _ = mended(early, allow=("synthesize", "drop"))
    assert "move" not in kinds(draft)


def test_a_call_at_the_end_may_stay_open_while_tools_run():
    assert kinds(mended([GO, call("a")], tail="open")[0]) == []
    assert kinds(mended([GO, call("a")], tail="closed")[0]) == ["synthesize"]


def test_a_warning_is_not_mended_and_a_disputed_one_is():
    twice = [GO, call("a"), result("a"), result("a", "more"), assistant("x"), ON]
    found = ls.check(twice, profile="openai-chat").violations
    assert {one.severity for one in found} == {"warning"}
    assert kinds(mended(twice, "openai-chat")[0]) == ["merge"]
    inside = [GO, assistant("x"), system("s"), ON]
    found = ls.check(inside, profile="chat-template", model="qwen3.5-9b").violations
    assert {one.severity for one in found} == {"warning"}
    assert kinds(mended(inside, "chat-template")[0]) == []


def test_an_export_mends_how_one_target_wants_things_written_and_nothing_else():
    history = [GO, call("call:1"), result("call:1"), assistant("x"), ON, call("a"), user("?")]
    draft, left = mended(history, "mistral", target_only=True)
    assert kinds(draft) == ["rename"] * 3
    assert [(one.rule, one.index) for one in left] == [("mi-count", 5)]


def test_an_export_takes_nothing_away_for_a_trait_that_may_not_be_there():
    history = [system("s"), GO, assistant("x"), ON]
    known = {"no_system": True}
    told = mended(history, "chat-template", target_only=True, known=known)[0]
    assert kinds(told) == ["merge"]
    assert kinds(mended(history, "chat-template", target_only=True)[0]) == []


# --- the witness ----------------------------------------------------------------------------------


def sealed():
    """A turn of thinking and a call, one blank message of the model's in front of it."""
    asked = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    gave = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "r"}
    return [
        GO,
        {"role": "assistant", "content": [THINKING, asked]},
        {"role": "user", "content": [gave]},
    ]


def test_thinking_that_a_mend_unbinds_is_looked_after_without_a_record():
    lost = {"type": "tool_use", "id": "toolu_0", "name": "f", "input": {}}
    history = [GO, {"role": "assistant", "content": [lost]}, ON, *sealed()[1:]]
    known = {"preserved_thinking": True}
    draft, left = mended(history, "anthropic", format="anthropic", known=known)
    assert kinds(draft) == ["synthesize", "drop"]
    assert [one["type"] for one in draft.entries[-2].native["content"]] == ["tool_use"]
    assert left == ()
    unaware, _ = mended(history, "portable", format="anthropic", known=known)
    assert kinds(unaware) == ["synthesize"]


def test_with_a_record_thinking_is_bound_to_that():
    history = sealed()
    record = msgspec.json.decode(msgspec.json.encode(history))
    known = {"preserved_thinking": True}
    draft, left = mended(history, "anthropic", record, "anthropic", known=known)
    assert (draft.changes, left) == ([], ())
    record[0]["content"] = "another question"
    draft, left = mended(history, "anthropic", record, "anthropic", known=known)
    assert kinds(draft) == ["drop"]
    assert left == ()


@pytest.mark.parametrize(
    ("profile", "history", "kind"),
    [
        (
            "anthropic",
            [
                {"role": "user", "content": "y"},
                {"role": "assistant", "content": "x"},
                {"role": "system", "content": "be kind"},
            ],
            "demote",
        ),
        (
            "openai-responses",
            [
                {"role": "user", "content": "y"},
                {"type": "compaction_trigger"},
                {"role": "user", "content": "y"},
                {"type": "compaction_trigger"},
            ],
            "drop",
        ),
    ],
)
def test_where_nothing_can_be_moved_it_takes_another_kind_and_that_may_be_forbidden(
    profile, history, kind
):
    done = ls.repair(history, profile=profile, format=profile)
    assert [change.kind for change in done.changes] == [kind]
    assert done.ok
    kept = ls.repair(history, profile=profile, format=profile, allow={"move"})
    assert kept.changes == ()
    assert kept.messages == history


def test_a_marker_that_no_block_before_it_can_have_is_taken_away():
    thought = {"type": "thinking", "thinking": "hm", "signature": "SIG1"}
    marked = {**thought, "cache_control": {"type": "ephemeral"}}
    question = {"role": "user", "content": "q"}
    answer = {"role": "assistant", "content": [marked, {"type": "text", "text": "c"}]}
    done = ls.export([question, answer, question], profile="anthropic", format="anthropic")
    (change,) = done.changes
    assert (change.kind, change.path) == ("drop", "messages[1].content[0]")
    assert change.message.startswith("the cache marker was taken away")
    assert done.messages[1]["content"][0] == thought
