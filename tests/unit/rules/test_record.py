"""The record: which message of a history is which of it, and what belongs to what."""

import pytest

import lockstitch as ls
from lockstitch.rules.record import Record
from lockstitch.testing.render import render
from lockstitch.testing.steps import Calls, Result, Say, Think, User

WHOLE = [
    *(User("1"), Calls.of("a"), Result("a", "one"), Say("x")),
    *(User("2"), Calls.of("a"), Result("a", "two"), Say("x")),
]


def record_of(kept, steps=WHOLE, format="openai-chat"):
    natives = render(steps, format)
    history = [natives[at] for at in kept]
    return Record(ls.load(natives, format=format), ls.load(history, format=format))


def part_of(record, at):
    return record.transcript.message(at).parts[-1]


def test_messages_that_look_alike_are_told_apart_by_those_around_them():
    record = record_of([0, 3, 4, 5, 6, 7])
    assert [record.place_of(at) for at in range(6)] == [0, 3, 4, 5, 6, 7]
    assert record.place_of(-1) == -1
    assert [record.kept(at) for at in range(8)] == [True, False, False, *[True] * 5]


def test_a_result_is_that_of_the_very_call_and_is_given_once():
    record = record_of([0, 1, 3, 4, 5, 7])
    native, part = record.result_of(part_of(record, 5), 4)
    assert native is record.transcript.natives[6]
    assert part.content == "two"
    assert record.result_of(part_of(record, 1), 1)[1].content == "one"
    assert record.result_of(part_of(record, 1), 1) is None


def test_the_call_of_a_result_is_found_and_what_the_record_does_not_hold_is_not():
    record = record_of([0, 2, 3, 4, 6, 7])
    assert record.call_of(part_of(record, 6), 4) == 5
    assert record.call_of(part_of(record, 2), 1) == 1
    assert record.call_of(part_of(record, 2), 1) is None


def test_lost_reasoning_comes_back_with_its_call():
    steps = [User(), Think("hm"), Calls.of("a"), Result("a")]
    record = record_of([0, 3], steps, "openai-responses")
    assert record.with_thoughts(2) == list(record.transcript.natives[1:3])
    assert record.kept(1)
    kept = record_of([0, 1, 3], steps, "openai-responses")
    assert kept.with_thoughts(2) == [kept.transcript.natives[2]]


def test_the_user_message_of_a_turn_is_known_for_what_the_record_holds():
    record = record_of([5, 6, 7])
    assert record.user_before(record.transcript.natives[5])["content"] == "1"
    assert record.user_before({"role": "user", "content": "never"}) is None


def test_the_user_message_of_a_long_turn_is_the_one_that_opened_it():
    record = record_of([6, 7])
    assert record.user_before(record.transcript.natives[6])["content"] == "2"
    first = record_of([1], [Say("x"), Say("y")])
    assert first.user_before(first.transcript.natives[1]) is None


def test_a_thought_is_found_by_its_words_where_it_still_has_its_seal():
    sealed, bare = ({"type": "thinking", "thinking": words} for words in ("one", "two"))
    sealed["signature"] = "S"
    native = {"role": "assistant", "content": [sealed, bare]}
    held = ls.load([native], format="anthropic")
    record = Record(held, held)
    thoughts = held.message(0).parts
    assert [record.thought(part) for part in thoughts] == [sealed, None]


def test_a_message_that_is_kept_answers_for_its_own_call_alone():
    record = record_of([0, 1, 2, 3])
    assert record.result_of(part_of(record, 1), 1)[1].content == "one"
    # The second call is alike; the message at hand is the first.
    assert record.result_of(part_of(record, 5), 1) is None


def test_a_message_that_was_made_later_is_given_what_is_nearest():
    record = record_of([0, 3, 4, 7])
    assert record.result_of(part_of(record, 1), -1)[1].content == "one"
    assert record.result_of(part_of(record, 1), -1)[1].content == "two"


def test_a_result_that_was_edited_is_looked_for_between_its_neighbours():
    natives = render(WHOLE, "openai-chat")
    edited = [*natives[:4], natives[4], {**natives[6], "x_note": 1, "name": "f"}, natives[7]]
    record = Record(ls.load(natives, format="openai-chat"), ls.load(edited, format="openai-chat"))
    assert record.call_of(part_of(record, 6), 5) == 5


def test_what_the_record_itself_does_not_pair_is_not_found():
    record = record_of([0, 1], [User(), Result("a", "one"), Calls.of("a")])
    assert record.call_of(part_of(record, 1), 1) is None


# Messages that stand once, and between them one that is the same every time.
ALIKE = [step for at in range(6) for step in (User(str(at)), Say("x"))]


@pytest.mark.parametrize("kept", [(1,), (4, 2, 3, 10, 0), (2, 8, 0, 1, 4), (0, 6, 2, 3)])
def test_the_longest_run_in_order_says_which_of_those_alike_a_message_is(kept):
    record = record_of(kept, ALIKE)
    assert [record.place_of(at) for at in range(len(kept))] == list(kept)


TURNS = [
    *(Calls.of("a"), Result("a", "one"), User("1")),
    *(Calls.of("a"), Result("a", "two"), User("2")),
    *(Calls.of("a"), Result("a", "three")),
]
SAID = ("one", "two", "three")


@pytest.mark.parametrize("turn", range(3))
def test_an_edited_call_is_looked_for_between_the_neighbours_that_were_kept(turn):
    natives = render(TURNS, "openai-chat")
    history = [{**natives[0], "content": "edited"}, natives[2]]
    history += [{**natives[3], "content": "edited"}, natives[5], {**natives[6], "content": "too"}]
    transcript = ls.load(natives, format="openai-chat")
    record = Record(transcript, ls.load(history, format="openai-chat"))
    at = 2 * turn
    assert record.place_of(at) == -1
    assert record.result_of(part_of(record, 3 * turn), at)[1].content == SAID[turn]
    # Each is given once; then what is free is given, in order, wherever it stands.
    left = [said for said in SAID if said != SAID[turn]]
    assert record.result_of(part_of(record, 3 * turn), at)[1].content == left[0]


@pytest.mark.parametrize("turn", range(3))
def test_of_edited_calls_side_by_side_each_is_given_what_lies_between_its_neighbours(turn):
    steps = [User("q"), *TURNS[:2], *TURNS[3:5], User("m"), *TURNS[6:], Say("end")]
    natives = render(steps, "openai-chat")
    history = [natives[0], {**natives[1], "content": "e"}, {**natives[3], "content": "e"}]
    history += [natives[5], {**natives[6], "content": "e"}, natives[8]]
    transcript = ls.load(natives, format="openai-chat")
    record = Record(transcript, ls.load(history, format="openai-chat"))
    asked = [(1, "one"), (2, "one"), (4, "three")][turn]
    assert record.result_of(part_of(record, 1), asked[0])[1].content == asked[1]


def test_the_first_message_of_all_answers_for_its_own_call_alone():
    record = record_of([0, 1, 2], TURNS)
    assert record.result_of(part_of(record, 0), 0)[1].content == "one"
    assert record.result_of(part_of(record, 0), 0) is None


def test_what_was_made_later_is_given_what_comes_first_of_all():
    record = record_of([2], TURNS)
    given = [record.result_of(part_of(record, 0), -1)[1].content for _ in SAID]
    assert given == list(SAID)
    assert record.result_of(part_of(record, 0), -1) is None


def test_lost_reasoning_is_brought_back_from_the_start_on_and_no_more_than_it():
    steps = [Think("hm"), Think("so"), Calls.of("a"), Result("a"), User()]
    record = record_of([3], steps, "openai-responses")
    assert record.with_thoughts(2) == list(record.transcript.natives[:3])
    assert [record.kept(at) for at in range(5)] == [True, True, True, True, False]
    other = record_of([4], [User(), *steps], "openai-responses")
    other.with_thoughts(3)
    assert [other.kept(at) for at in range(6)] == [False, True, True, True, True, False]
