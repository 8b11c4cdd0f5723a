"""Thinking beside the record it was made in: what may be missing, what may not be changed."""

from __future__ import annotations

import msgspec
import pytest

import lockstitch as ls
from lockstitch.document import open_document
from lockstitch.formats import get_format
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.checks import CHECKS
from lockstitch.rules.draft import Draft
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import MENDS
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.record import Record
from lockstitch.transcript import Transcript
from lockstitch.writing import writer_for

PROFILE = get_profile("anthropic")
BOUND = "claude-opus-5-5"


def said(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def told(*blocks):
    return {"role": "user", "content": list(blocks)}


def ask(words="q"):
    return {"role": "user", "content": words}


def text(words="a"):
    return {"type": "text", "text": words}


def thought(number):
    return {"type": "thinking", "thinking": f"t{number}", "signature": f"S{number}"}


def use(id_="toolu_1", kind="tool_use"):
    return {"type": kind, "id": id_, "name": "f", "input": {}}


def gave(id_="toolu_1", kind="tool_result"):
    return {"type": kind, "tool_use_id": id_, "content": "r"}


def turn(number):
    return [ask(f"q{number}"), said(thought(number), text(f"a{number}"))]


def bare(number):
    return [ask(f"q{number}"), said(text(f"a{number}"))]


THREE = [*turn(1), *turn(2), *turn(3), ask("q4")]
SEARCHED = said(
    thought(1),
    use("srvtoolu_1", "server_tool_use"),
    gave("srvtoolu_1", "web_search_tool_result"),
    thought(2),
    use(),
)
LOOP = [ask(), SEARCHED, told(gave())]


def found(history, record=None, model=BOUND, **context):
    report = ls.check(
        {"messages": history, **context},
        profile="anthropic",
        format="anthropic",
        model=model,
        record=record,
    )
    return [(one.rule, one.severity, one.path) for one in report.violations]


def mended(history, record=None, model=BOUND, **context):
    made = ls.repair(
        {"messages": history, **context},
        profile="anthropic",
        format="anthropic",
        model=model,
        record=record,
    )
    again = ls.repair(
        made.messages, profile="anthropic", format="anthropic", model=model, record=record
    )
    assert made.ok
    assert again.changes == ()
    return made


# --- what stands before thinking ------------------------------------------------------------------


@pytest.mark.parametrize(
    "history",
    [
        THREE,
        [*bare(1), *turn(2), *turn(3), ask("q4")],
        [*bare(1), *bare(2), *turn(3), ask("q4")],
        [*bare(1), *bare(2), *bare(3), ask("q4")],
        [*THREE, said(thought(9), text("new")), ask("q5")],
        # Text alone is a block of text, neighbours are one turn, and cache markers move.
        [told(text("q1")), *THREE[1:]],
        [ask("q1"), said(thought(1)), said(text("a1")), *THREE[2:]],
        [told({**text("q1"), "cache_control": {"type": "ephemeral"}}), *THREE[1:]],
        [{"uuid": "x", "type": "summary"}, *THREE],
    ],
)
def test_a_leading_run_of_thinking_may_be_missing(history):
    assert found(history, THREE) == []


def test_after_a_cut_all_older_thinking_goes_and_no_turn_with_it():
    cut = [*turn(2), *turn(3), ask("q4")]
    rule = "an-thinking-prefix-bound"
    assert found(cut, THREE) == [
        (rule, "error", "messages[1].content[0]"),
        (rule, "error", "messages[3].content[0]"),
    ]
    made = mended(cut, THREE)
    assert made.messages["messages"] == [*bare(2), *bare(3), ask("q4")]
    assert [change.kind for change in made.changes] == ["drop", "drop"]
    assert found(cut, THREE, model=None)[0][1] == "warning"
    assert found(cut, THREE, model="claude-opus-4-8") == []


def test_thinking_in_front_of_an_edit_is_kept():
    edited = [*turn(1), ask("other"), *THREE[3:]]
    assert mended(edited, THREE).messages["messages"] == [
        *turn(1),
        ask("other"),
        *bare(2)[1:],
        *bare(3),
        ask("q4"),
    ]


def test_thinking_behind_an_edit_goes_and_a_newest_turn_without_any_stays():
    edited = [*turn(1), ask("other"), *turn(2)[1:], *bare(3)]
    made = mended([*edited, ask("q4")], THREE)
    assert made.messages["messages"] == [*turn(1), ask("other"), *bare(2)[1:], *bare(3), ask("q4")]


def test_thinking_made_after_the_record_is_not_judged():
    later = [*bare(2), ask("q9"), said(thought(9), text()), ask("q10")]
    assert found(later, THREE) == []


def test_where_the_provider_drops_such_thinking_itself_it_is_a_warning():
    setting = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    cut = [*turn(2), ask("q4")]
    assert found(cut, THREE, thinking=setting)[0][:2] == ("an-thinking-prefix-bound", "warning")


def test_a_repair_in_front_of_bound_thinking_takes_the_thinking_behind_it_along():
    history = [*turn(1), ask("q2"), said(thought(2), use()), *turn(3), ask("q4")]
    made = mended(history)
    assert [change.kind for change in made.changes] == ["synthesize", "drop"]
    kept = [
        block["signature"]
        for message in made.messages["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else [])
        if block["type"] == "thinking"
    ]
    assert kept == ["S1", "S2"]
    free = mended(history, model="claude-opus-4-8")
    assert [change.kind for change in free.changes] == ["synthesize"]


# --- thinking taken out of the middle -------------------------------------------------------------

HOLED = [*turn(1), *bare(2), *turn(3), ask("q4")]


def test_thinking_taken_out_of_the_middle_comes_back_from_the_record():
    assert found(HOLED, THREE) == [("an-thinking-mid-removal", "error", "messages[5].content[0]")]
    made = mended(HOLED, THREE)
    assert made.messages["messages"] == THREE
    assert [change.kind for change in made.changes] == ["restore"]


def test_it_comes_back_into_a_message_that_was_left_as_bare_text():
    holed = [*turn(1), ask("q2"), {"role": "assistant", "content": "a2"}, *turn(3), ask("q4")]
    assert mended(holed, THREE).messages["messages"] == THREE


def test_where_its_message_is_gone_the_older_thinking_goes():
    record = [ask("q1"), said(thought(1), text("a1")), ask("q2"), said(thought(2)), *turn(3), ask()]
    history = [*turn(1), ask("q2"), *turn(3), ask()]
    made = mended(history, record)
    assert made.messages["messages"] == [*bare(1), ask("q2"), *turn(3), ask()]


def test_two_thoughts_missing_behind_one_another_both_come_back():
    record = [*turn(1), ask("q2"), said(thought(2), thought(5), text("a2")), *turn(3), ask("q4")]
    assert mended(HOLED, record).messages["messages"] == record


def test_without_a_record_a_round_without_thinking_is_only_suspicious_once():
    rule = "an-thinking-mid-removal"
    assert found(HOLED) == [(rule, "warning", "messages[5].content")]
    assert found([*HOLED, *bare(5)[1:], *turn(6)], thinking={"type": "adaptive"})[0][0] == rule
    assert found(HOLED, thinking={"type": "disabled"}) == []
    assert found([*bare(1), *turn(2), ask()]) == []
    # A round in which only the first answer has thinking is the model's own choice.
    looped = [ask(), said(thought(1), use()), told(gave()), said(text()), *turn(2), ask()]
    assert found(looped) == []


# --- the newest turn ------------------------------------------------------------------------------


def test_shortened_thinking_comes_back_as_it_was_issued():
    short = [ask(), said({**thought(1), "thinking": "t…"}, *SEARCHED["content"][1:]), told(gave())]
    assert found(short, LOOP)[0] == (
        "an-thinking-latest-immutable",
        "error",
        "messages[1].content[0]",
    )
    made = mended(short, LOOP)
    assert made.messages["messages"] == LOOP
    assert [change.kind for change in made.changes] == ["restore"]


def test_older_thinking_is_compared_where_all_of_it_is_bound():
    altered = [ask("q1"), said({**thought(1), "thinking": "x"}, text("a1")), *THREE[2:]]
    rule, path = "an-thinking-latest-immutable", "messages[1].content[0]"
    assert found(altered, THREE) == [(rule, "error", path)]
    assert found(altered, THREE, model="claude-opus-4-6") == [(rule, "warning", path)]


@pytest.mark.parametrize(
    ("left", "rule"),
    [
        ([thought(1), thought(2), use()], "an-thinking-latest-filtered"),
        ([*SEARCHED["content"][:3], use()], "an-thinking-latest-immutable"),
        (
            [thought(2), *SEARCHED["content"][1:3], thought(1), use()],
            "an-thinking-latest-immutable",
        ),
    ],
)
def test_a_newest_turn_that_lost_a_block_comes_back_whole(left, rule):
    history = [ask(), said(*left), told(gave())]
    assert (rule, "error", "messages[1].content") in found(history, LOOP, "claude-opus-4-8")
    made = mended(history, LOOP, "claude-opus-4-8")
    assert made.messages["messages"] == LOOP


def test_a_turn_in_two_messages_comes_back_as_one():
    history = [ask(), said(thought(1), thought(2)), said(use()), told(gave())]
    assert mended(history, LOOP, "claude-opus-4-8").messages["messages"] == LOOP


def test_a_newest_turn_without_any_thinking_is_let_alone():
    assert found([ask(), said(use()), told(gave())], LOOP) == []
    assert found([ask("other"), said(text("x")), ask()], LOOP) == []
    assert found([ask()], LOOP) == []


def test_a_turn_that_must_start_with_thinking_gets_it_back_from_the_record():
    context = {"thinking": {"type": "enabled"}, "tools": [{"name": "f"}]}
    history = [ask(), said(*SEARCHED["content"][1:3], use()), told(gave())]
    made = mended(history, LOOP, "claude-opus-4-5", **context)
    assert made.messages["messages"] == LOOP
    assert made.request == {}
    off = mended(history, [ask("other")], "claude-opus-4-5", **context)
    assert off.request == {"thinking": {"type": "disabled"}}


# --- the request ----------------------------------------------------------------------------------


def test_other_instructions_or_tools_unbind_all_thinking():
    record = {"system": "s", "tools": [], "messages": THREE}
    assert found(THREE, record, system="s", tools=[]) == []
    changed = found(THREE, record, system="other", tools=[])
    assert {rule for rule, _, _ in changed} == {"an-system-or-tools-changed"}
    assert len(changed) == 3
    assert found(THREE, THREE, system="other") == []
    assert found(THREE, record) == []
    made = mended(THREE, record, system="other", tools=[])
    assert made.messages["messages"] == [*bare(1), *bare(2), *bare(3), ask("q4")]


# --- what cannot be helped ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "context", "expected"),
    [
        ([ask(), said(text()), ask()], {}, [1]),
        ([ask(), said(thought(1), text()), ask()], {}, []),
        ([ask(), said(thought(1)), said(use()), told(gave())], {}, []),
        ([ask(), said(text()), said(text()), ask(), said(thought(1))], {}, [2]),
        ([ask(), said(text())], {"thinking": {"type": "disabled"}}, []),
    ],
)
def test_a_turn_that_comes_without_thinking_is_found_once(history, context, expected):
    document = open_document({**context, "messages": history})
    view = view_of(Transcript(document, get_format("anthropic")), PROFILE, tail="open")
    assert [one.index for one in CHECKS["thinking_absent"](view)] == expected


def test_a_turn_without_its_thinking_gets_it_back_where_the_record_has_it():
    document = open_document([ask("q1"), *bare(1)[1:], ask("q2")])
    record = Transcript(open_document([*turn(1), ask("q2")]), get_format("anthropic"))
    transcript = Transcript(document, get_format("anthropic"))
    for beside, expected in ((record, [*turn(1), ask("q2")]), (None, None)):
        view = view_of(transcript, PROFILE, tail="open", record=beside)
        draft = Draft(transcript, writer_for("anthropic"), PROFILE)
        breach = Breach(
            rule=RULES["an-thinking-must-lead"],
            finding=next(CHECKS["thinking_absent"](view)),
            view=view,
            entries=draft.begin(),
            lookup=Lookup(view),
            record=Record(beside, transcript) if beside is not None else None,
        )
        assert MENDS["thinking_absent"]["restore"](draft, breach) is (expected is not None)
        if expected:
            assert [entry.native for entry in draft.entries] == expected


def test_thinking_off_asks_nothing_of_a_last_message_without_any():
    assert found([ask(), said(text("a"))], thinking={"type": "disabled"}, model=None) == [
        ("an-prefill-unsupported", "warning", "messages[1]")
    ]


def test_calls_that_run_are_not_asked_for_their_thinking_yet():
    manual = {"thinking": {"type": "enabled"}}
    assert found([ask(), said(use())], model="claude-opus-4-5", **manual) == []
    assert found([], model="claude-opus-4-5", **manual)[0][0] == "an-no-messages"


@pytest.mark.parametrize("model", [BOUND, "claude-opus-4-8", None])
def test_a_newest_turn_that_a_mend_took_a_block_from_loses_its_thinking(model):
    lost = said(thought(1), use("srvtoolu_1", "server_tool_use"), thought(2), text("a"))
    made = mended([ask(), lost, ask()], model=model)
    assert made.messages["messages"] == [ask(), said(text("a")), ask()]
    assert [change.kind for change in made.changes] == ["drop", "drop", "drop"]


def test_foreign_thinking_in_the_middle_takes_the_older_thinking_along():
    foreign = said({**thought(2), "signature": "reasoning_content"}, text("a2"))
    made = mended([*turn(1), ask("q2"), foreign, *turn(3), ask("q4")])
    assert made.messages["messages"] == [*bare(1), *bare(2), *turn(3), ask("q4")]


def test_thinking_that_a_mend_had_to_rewrite_is_dropped():
    broken = {**thought(1), "thinking": "half \ud83d"}
    made = mended([ask(), said(broken, text("a")), ask()], model="claude-opus-4-8")
    assert made.messages["messages"] == [ask(), said(text("a")), ask()]


def test_a_turn_whose_record_has_no_thinking_either_switches_it_off():
    history = [ask(), said(use()), told(gave())]
    context = {"thinking": {"type": "enabled"}, "tools": [{"name": "f"}]}
    made = mended(history, history, "claude-opus-4-5", **context)
    assert made.messages["messages"] == history
    assert made.request == {"thinking": {"type": "disabled"}}


def test_a_message_without_content_is_no_change_of_what_stands_around_it():
    empty = {"role": "assistant", "content": None}
    assert "an-thinking-prefix-bound" not in {rule for rule, _, _ in found([empty, *THREE], THREE)}


def test_a_history_whose_signatures_are_all_alike_is_compared_by_its_words_too():
    alike = [
        ask("q1"),
        said({**thought(1), "signature": "sig"}, use("a")),
        ask("q2"),
        said({**thought(2), "signature": "sig"}, text("a2")),
        ask("q3"),
    ]
    made = mended(alike, model="claude-opus-4-8")
    assert [change.kind for change in made.changes] == ["synthesize"]


@pytest.mark.parametrize("signature", [5, ["x"], {"y": 1}, "a_b"])
def test_a_signature_of_another_shape_was_never_issued(signature):
    history = [ask(), said({**thought(1), "signature": signature}, text("a")), ask()]
    assert [rule for rule, _, _ in found(history, history)] == ["an-thinking-signature-invalid"]
    assert mended(history, THREE).messages["messages"] == [ask(), said(text("a")), ask()]


def test_a_newest_turn_in_a_new_place_loses_all_its_thinking_at_once():
    turn_of_two = said(thought(4), thought(5), use())
    record = [*turn(1), ask("q2"), turn_of_two, told(gave()), ask("q3")]
    made = mended([ask("q2"), turn_of_two, told(gave()), ask("q3")], record)
    assert made.messages["messages"] == [ask("q2"), said(use()), told(gave()), ask("q3")]
    assert [change.kind for change in made.changes] == ["drop", "drop"]


def test_a_turn_that_is_broken_in_the_record_too_comes_back_once_and_then_without_thinking():
    foreign = {**thought(1), "signature": "reasoning_content"}
    history = [ask(), said(foreign, thought(2), text("a")), ask()]
    made = mended(history, history, "claude-opus-4-8")
    assert made.messages["messages"] == [ask(), said(text("a")), ask()]


def test_a_turn_over_two_messages_gets_its_thinking_back_into_the_last_of_them():
    whole = [ask("q1"), said(thought(1), text("a")), said(text("b")), ask("q2")]
    cut = [ask("q1"), said(text("a")), said(text("b")), ask("q2")]
    transcript, record = (
        Transcript(open_document(messages), get_format("anthropic")) for messages in (cut, whole)
    )
    view = view_of(transcript, PROFILE, tail="open", record=record)
    draft = Draft(transcript, writer_for("anthropic"), PROFILE)
    breach = Breach(
        rule=RULES["an-thinking-must-lead"],
        finding=msgspec.structs.replace(next(CHECKS["thinking_absent"](view)), index=2),
        view=view,
        entries=draft.begin(),
        lookup=Lookup(view),
        record=Record(record, transcript),
    )
    assert MENDS["thinking_absent"]["restore"](draft, breach)
    blocks = [block for entry in draft.entries[1:-1] for block in entry.native["content"]]
    assert blocks == [thought(1), text("a"), text("b")]


@pytest.mark.parametrize("kind", ["compaction", "text"])
def test_where_the_provider_cut_the_history_itself_its_start_is_not_missed(kind):
    first = {"type": "compaction", "content": "s"} if kind == "compaction" else text("s")
    history = [said(first, thought(1), text("a")), ask()]
    suspected = {rule for rule, *_ in found(history)}
    assert ("an-thinking-prefix-bound" in suspected) is (kind == "text")
