"""The slice and its log: what providers accept, symfonic's windows where those are accepted."""

from __future__ import annotations

import dataclasses
import json
import logging
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pytest

import lockstitch as ls
from lockstitch.errors import FormatError
from lockstitch.integrations.symfonic import (
    STOCK_HISTORY_CAP,
    history_cap,
    log_history_trim,
    pair_aware_history_slice,
)
from lockstitch.testing import assistant, call, result, system, user

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "conformance" / "data" / "symfonic_vectors.jsonl")
    .read_text()
    .splitlines()
]


def spell(text):
    """Make messages of letters: U A S plain, A(p,q) asks, T(p) answers."""
    made = []
    for word in text.split():
        letter, _, ids = word.rstrip(")").partition("(")
        match letter:
            case "U":
                made.append(user("?"))
            case "S":
                made.append(system("Be brief."))
            case "T":
                made.append(result(ids, "ok"))
            case _:
                made.append(call(*ids.split(",")) if ids else assistant("well"))
    return made


def places(history, kept):
    return [next(at for at, one in enumerate(history) if one is native) for native in kept]


def kept(text, cap, **options):
    history = spell(text)
    return places(history, pair_aware_history_slice(history, cap, **options))


# --- damage, from the front to the end ------------------------------------------------------------

BEHIND_DAMAGE = {
    "a call in the middle that nobody answered": ("U A(d) U A U", 10, [2, 3, 4]),
    "a result in the middle without its call": ("U T(x) U", 10, [2]),
    "a batch in the middle that is half answered": ("U A(p,q) T(p) U", 10, [3]),
    "a result behind the next question": ("U A(c) U T(c) U", 10, [4]),
    "a second result that came late": ("U A(p,q) T(p) A T(q) U", 10, [5]),
    "a result, then a call, at the head": ("T(x) A(d) U", 10, [2]),
    "a call that the cut itself would expose": ("U A(p,q) T(p) T(q) A(d) U", 3, [5]),
    "results and calls by turns": ("T(x) A(d1) T(y) A(d2) T(z) A(d3) U", 10, [6]),
    "an id used again, just behind the cut": ("A(c) T(c) A(c) U", 2, [3]),
    "an id used again and not answered": ("U A(c) T(c) A U A(c) U", 10, [6]),
    "a result before its call": ("T(c) A(c) U", 10, [2]),
    "a call that is answered twice": ("U A(c) T(c) T(c) U", 10, [4]),
    "two messages that ask before one is answered": ("U A(c) A(d) T(c) T(d) U", 10, [5]),
    "one id for two calls of a message": ("U A(c,c) T(c) T(c) U", 10, [4]),
}


@pytest.mark.parametrize(("text", "cap", "places_"), BEHIND_DAMAGE.values(), ids=BEHIND_DAMAGE)
def test_a_window_begins_behind_the_newest_damage(text, cap, places_):
    assert kept(text, cap) == places_


@pytest.mark.parametrize("text", [text for text, _, _ in BEHIND_DAMAGE.values()])
def test_a_slice_of_a_slice_is_the_same(text):
    once = pair_aware_history_slice(spell(text), 10)
    assert places(once, pair_aware_history_slice(once, 10)) == list(range(len(once)))


def test_a_history_that_ends_in_damage_leaves_nothing_unless_older_messages_may_stand_in():
    assert kept("U A U T(x)", 10) == []
    assert kept("U A U T(x)", 10, otherwise="smallest") == []
    assert kept("U A U T(x)", 10, otherwise="older") == [0, 1, 2]
    assert kept("U A U T(x)", 2, otherwise="older") == [1, 2]


# --- what is whole --------------------------------------------------------------------------------


def test_an_id_that_comes_back_in_a_later_turn_is_another_call():
    assert kept("U A(c) T(c) U A(c) T(c) U", 10) == [0, 1, 2, 3, 4, 5, 6]


def test_a_round_that_the_cap_falls_into_goes_whole():
    assert kept("U A(p,q) T(q) T(p) A", 3) == [4]
    assert kept("U A(p,q) T(q) T(p) A", 4) == [1, 2, 3, 4]


def test_calls_at_the_end_may_wait_for_their_results_behind_something_else():
    assert kept("U A(c)", 10) == [0, 1]
    assert kept("U A(p,q) T(q)", 10) == [0, 1, 2]


@pytest.mark.parametrize(("text", "cap"), [("A(c)", 10), ("U A(c)", 1), ("A(p,q) T(p)", 10)])
def test_a_waiting_call_that_is_first_goes_unless_asked_for(text, cap):
    assert kept(text, cap) == []
    assert kept(text, cap, otherwise="older")[-1:] == [len(text.split()) - 1]


def test_a_batch_wider_than_the_cap_leaves_nothing_or_what_was_asked_for():
    text = "U A A(a,b,c,d,e) T(a) T(b) T(c) T(d) T(e)"
    assert kept(text, 5) == []
    assert kept(text, 5, otherwise="older") == [0, 1]
    assert kept(text, 5, otherwise="smallest") == [2, 3, 4, 5, 6, 7]


def test_a_window_starts_with_the_user_where_that_is_asked_for():
    assert kept("U A U A", 3) == [1, 2, 3]
    assert kept("U A U A", 3, start="user") == [2, 3]
    assert kept("U A S U A", 3, start="user") == [2, 3, 4]
    assert kept("U A(c) T(c) A", 3) == [1, 2, 3]
    assert kept("U A(c) T(c) A", 3, start="user") == []
    assert kept("U A(c) T(c) A", 3, start="user", otherwise="older") == [0, 1, 2]
    assert kept("U A(c) T(c) A", 3, start="user", otherwise="smallest") == [0, 1, 2, 3]


@pytest.mark.parametrize("cap", [0, -1, -100])
def test_a_cap_of_nothing_keeps_nothing_whatever_was_asked_for(cap):
    assert kept("U A U", cap, otherwise="smallest") == []


# --- symfonic's own windows -----------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_window_is_symfonics_wherever_a_provider_takes_that(vector):
    history = vector["messages"]
    found = places(history, pair_aware_history_slice(history, vector["cap"]))
    if vector["output_empty"]:
        assert found == []
    elif vector["valid_for_anthropic"] or vector["valid_if_open_tail_allowed"]:
        assert found == vector["symfonic_kept"]
    else:
        # Another window, or none: one that every provider pairs.
        report = ls.check(history[len(history) - len(found) :], profile="portable")
        wrong = {one.rule for one in report.errors} - {"po-starts-with-user", "po-no-messages"}
        assert not wrong


# --- messages of every kind -----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str = "look"
    args: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    content: str = ""
    tool_calls: tuple = ()
    tool_call_id: str | None = None


def test_objects_of_no_package_are_read_by_their_attributes():
    history = [Plain("?"), Plain(tool_calls=(Call("p"), Call("q"))), Plain(tool_call_id="q")]
    history += [Plain(tool_call_id="p"), Plain("well")]
    assert places(history, pair_aware_history_slice(history, 4)) == [1, 2, 3, 4]
    assert places(history, pair_aware_history_slice(history, 3)) == [4]
    assert pair_aware_history_slice([history[1], history[3], Plain("?")], 9) == [Plain("?")]


def test_ids_that_are_numbers_pair_with_the_same_ids_as_text():
    history = [SimpleNamespace(tool_calls=[{"id": 7}]), SimpleNamespace(tool_call_id="7")]
    assert len(pair_aware_history_slice(history, 2)) == 2


def test_a_call_without_an_id_is_taken_by_nobody():
    asked = SimpleNamespace(role="assistant", content="", tool_calls=[{"id": None, "name": "n"}])
    answer = SimpleNamespace(role="tool", content="", tool_call_id="")
    assert pair_aware_history_slice([asked, answer, ("user", "?")], 9) == [("user", "?")]


def test_functions_of_the_time_before_ids_pair_by_name():
    asked = {"role": "assistant", "content": None}
    history = [asked | {"function_call": {"name": "look", "arguments": "{}"}}]
    history += [{"role": "function", "name": "look", "content": "ok"}, user("?")]
    assert pair_aware_history_slice(history, 3) == history
    assert pair_aware_history_slice(history, 2) == history[2:]


def test_blocks_of_anthropic_are_calls_and_results():
    use = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "c", "content": "ok"}
    history = [
        user("?"),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer, {"type": "text", "text": "and?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "well"}]},
    ]
    assert pair_aware_history_slice(history, 3) == history[1:]
    assert pair_aware_history_slice(history, 2) == history[3:]


def test_items_of_one_response_stay_together():
    history = [
        user("?"),
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "p", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "q", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "p", "output": "ok"},
        {"type": "function_call_output", "call_id": "q", "output": "ok"},
    ]
    assert pair_aware_history_slice(history, 5) == history[1:]
    assert pair_aware_history_slice(history, 4) == []


def test_one_list_may_hold_messages_of_several_kinds():
    history = [("human", "?"), call("c"), Plain(tool_call_id="c"), "and?"]
    assert places(history, pair_aware_history_slice(history, 3)) == [1, 2, 3]


@pytest.mark.parametrize("shape", [list, tuple, iter, deque])
def test_anything_that_holds_messages_in_order_is_taken(shape):
    history = spell("U A(c) T(c) A")
    assert pair_aware_history_slice(shape(history), 3) == history[1:]


def test_the_callers_list_stays_as_it_was_and_another_one_is_returned():
    history = spell("U A U")
    before = list(history)
    found = pair_aware_history_slice(history, 9)
    assert found is not history
    assert places(before, history) == places(before, found) == [0, 1, 2]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("cap", [True, False, 2.0, "2", None])
def test_a_cap_that_is_no_whole_number_is_refused(cap):
    with pytest.raises(TypeError, match="cap must be a whole number"):
        pair_aware_history_slice([], cap)
    with pytest.raises(TypeError, match="cap must be a whole number"):
        log_history_trim([], cap)


@pytest.mark.parametrize("history", [None, "text", b"text", {"messages": []}, 7])
def test_what_is_no_list_of_messages_is_refused(history):
    with pytest.raises(TypeError, match="history must be a list of messages"):
        pair_aware_history_slice(history, 3)


@pytest.mark.parametrize("options", [{"start": "system"}, {"otherwise": "raise"}])
def test_an_option_that_there_is_not_is_refused(options):
    with pytest.raises(ValueError, match="must be"):
        pair_aware_history_slice([], 3, **options)


def test_what_is_no_message_is_refused_with_its_place():
    with pytest.raises(FormatError, match=r"history\[1\]: expected a message .* found int: 7"):
        pair_aware_history_slice([user("?"), 7], 5)


@pytest.mark.parametrize(
    ("stated", "cap"),
    [(12, 12), (0, 0), (-3, -3), (True, 200), (None, 200), (2.5, 200), ("12", 200)],
)
def test_a_stated_cap_is_taken_and_anything_else_is_the_stock_cap(stated, cap):
    assert history_cap(stated) == cap
    assert STOCK_HISTORY_CAP == 200


# --- the log --------------------------------------------------------------------------------------


@pytest.fixture
def records(caplog):
    caplog.set_level(logging.INFO, logger="lockstitch")
    caplog.set_level(logging.DEBUG, logger="symfonic.agent")

    def by_logger(name):
        return [record for record in caplog.records if record.name == name]

    return by_logger


def test_a_trim_is_logged_as_symfonic_does_and_once_exactly(records):
    log_history_trim(spell("U A(p,q) T(p) T(q) A U"), 3)
    (theirs,) = records("symfonic.agent")
    assert theirs.levelno == logging.DEBUG
    assert theirs.args == (3, 3)
    assert theirs.getMessage().startswith("Dropping 3 oldest history messages (cap=3). ")
    (exact,) = records("lockstitch")
    assert exact.getMessage() == "slice: 4 of 6 messages dropped (cap=3): 0-3 oldest"
    assert exact.levelno == logging.INFO
    assert exact.lockstitch.messages_dropped == 4
    assert exact.lockstitch.limit == {"messages": 3}


@pytest.mark.parametrize(
    ("text", "cap", "told"),
    [
        ("T(x) U", 10, "1 of 2 messages dropped (cap=10): 0 damaged"),
        ("U A(d) U T(y) A U", 4, "4 of 6 messages dropped (cap=4): 0-1 oldest, 2-3 damaged"),
        (
            "U A(p,q,r) T(p) T(q) T(r)",
            3,
            "5 of 5 messages dropped (cap=3): 0 oldest, 1-4 too-large",
        ),
        ("U A U", -1, "3 of 3 messages dropped (cap=-1): 0-2 zero"),
        ("A(c)", 10, "1 of 1 messages dropped (cap=10): 0 start"),
    ],
)
def test_the_exact_record_says_what_goes_and_why(records, text, cap, told):
    log_history_trim(spell(text), cap)
    assert [record.getMessage() for record in records("lockstitch")] == [f"slice: {told}"]


def test_the_exact_record_is_about_the_window_that_was_asked_for(records):
    log_history_trim(spell("U A U A"), 3, start="user")
    log_history_trim(spell("U A U T(x)"), 3, otherwise="older")
    assert [record.getMessage() for record in records("lockstitch")] == [
        "slice: 2 of 4 messages dropped (cap=3): 0 oldest, 1 start",
        "slice: 1 of 4 messages dropped (cap=3): 3 damaged",
    ]


@pytest.mark.parametrize("history", [None, [], spell("U A U")])
def test_nothing_is_logged_where_nothing_goes(records, history):
    log_history_trim(history, 3)
    assert records("symfonic.agent") == records("lockstitch") == []


def test_a_history_that_cannot_be_read_is_logged_all_the_same(records):
    log_history_trim([object(), object()], 1)
    assert records("symfonic.agent")[0].args == (1, 1)
    (exact,) = records("lockstitch")
    assert exact.levelno == logging.WARNING
    assert "history[0]: expected a message" in exact.getMessage()
