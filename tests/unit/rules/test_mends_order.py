"""Who speaks first, and where instructions stand: one outcome for each breach."""

import lockstitch as ls
from lockstitch.rules.mends.order import EARLIER

ANSWER = {"role": "assistant", "content": "x"}
ASK = {"role": "user", "content": "y"}


def test_the_opening_user_message_comes_back_from_the_record():
    record = [{"role": "user", "content": "first"}, ANSWER, ASK]
    mended = ls.repair(record[1:], record=record)
    assert mended.messages == record
    assert [(one.kind, one.after) for one in mended.changes] == [("restore", record[0])]


def test_instructions_in_the_middle_move_behind_the_next_user_turn():
    system = {"role": "system", "content": "be kind"}
    history = [ASK, ANSWER, system, ASK, ANSWER]
    mended = ls.repair(history, profile="anthropic", format="anthropic")
    assert mended.messages == [ASK, ANSWER, ASK, system, ANSWER]
    assert mended.messages[3] is system
    assert [(one.kind, one.index) for one in mended.changes] == [("move", 2)]
    assert mended.origins == (0, 1, 3, 2, 4)


def test_what_opens_a_conversation_without_its_start_says_so():
    assert EARLIER == "[The earlier part of this conversation is not shown.]"
