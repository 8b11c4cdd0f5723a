"""What comes back from the record, and what it does not hold and so cannot come back."""

import pytest

import lockstitch as ls
from lockstitch.rules.mends.links import NOTE, UNKNOWN
from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, User

ONE, TWO = Call("a", "f", {"n": 1}), Call("b", "f", {"n": 2})
A, B = Result("a", "one"), Result("b", "two")
LOST, NOTED = Result("a", UNKNOWN), User(f"{NOTE}\n\none")


def asked(*calls):
    return Calls(calls)


@pytest.mark.parametrize(
    ("record", "broken", "mended", "kinds"),
    [
        # The record knows no more than the history does.
        ([User(), asked(ONE)], [User(), asked(ONE)], [User(), asked(ONE), LOST], "synthesize"),
        ([User(), A], [User(), A], [User(), NOTED], "demote"),
        # A call that is there, and only stands elsewhere, is not brought back a second time.
        ([User(), asked(ONE), A], [User(), A, asked(ONE)], [User(), asked(ONE), A], "move"),
        # A call comes back behind the results of others that its result stands among.
        (
            [User(), asked(TWO), B, asked(ONE), A, Say()],
            [User(), asked(TWO), B, A, Say()],
            [User(), asked(TWO), B, asked(ONE), A, Say()],
            "restore",
        ),
        # The rest of its message takes it back.
        (
            [User(), asked(ONE, TWO), A, B, Say()],
            [User(), asked(TWO), B, A, Say()],
            [User(), asked(ONE, TWO), B, A, Say()],
            "restore",
        ),
    ],
)
def test_with_the_record_every_breakage_has_one_outcome(record, broken, mended, kinds):
    record, broken, mended = (render(steps, "openai-chat") for steps in (record, broken, mended))
    done = ls.repair(broken, profile="portable", format="openai-chat", record=record)
    assert done.messages == mended
    assert " ".join(change.kind for change in done.changes) == kinds


def test_a_call_comes_back_before_its_block_and_the_results_of_others_stay_before_both():
    record = render([User(), asked(TWO), B, asked(ONE), A, Say()], "anthropic")
    held = [*record[2]["content"], *record[4]["content"]]
    broken = [*record[:2], {"role": "user", "content": held}, record[5]]
    done = ls.repair(broken, profile="anthropic", format="anthropic", record=record)
    assert done.messages == record
    assert [change.kind for change in done.changes] == ["restore"]


def test_a_call_that_opened_the_list_comes_back_there():
    record = render([asked(ONE), A], "anthropic")
    done = ls.repair(record[1:], profile="anthropic", format="anthropic", record=record)
    assert done.messages == record


def test_a_result_that_went_to_another_call_of_its_id_gets_its_own_back():
    again = Call("a", "f", {"n": 3})
    whole = [User(), asked(again), Result("a", "three"), Say(), User(), asked(ONE), A, Say()]
    record = render(whole, "openai-chat")
    broken = [*record[:2], record[4], *record[6:]]
    done = ls.repair(broken, profile="portable", format="openai-chat", record=record)
    assert done.messages == [*record[:3], *record[4:]]
    assert [change.kind for change in done.changes] == ["restore", "restore"]


def test_without_the_user_message_in_the_record_the_start_is_made_up():
    record = render([Say("h"), User()], "openai-chat")
    done = ls.repair(record, profile="portable", format="openai-chat", record=record)
    assert [change.kind for change in done.changes] == ["synthesize"]


def test_of_an_empty_history_the_newest_user_message_comes_back():
    record = render([User("one"), Say("h"), User("two"), Say("so")], "anthropic")
    done = ls.repair([], profile="anthropic", format="anthropic", record=record)
    assert done.messages == [record[2]]
    (change,) = done.changes
    assert (change.kind, change.index, change.path, change.after) == ("restore", -1, "", record[2])


@pytest.mark.parametrize("record", [None, [{"role": "assistant", "content": "h"}]])
def test_of_an_empty_history_nothing_is_made_up(record):
    done = ls.repair([], profile="anthropic", format="anthropic", record=record)
    assert done.messages == []
    assert done.changes == ()
    assert [one.rule for one in done.remaining] == ["an-no-messages"]
