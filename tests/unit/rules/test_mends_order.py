"""Who speaks first, and where instructions stand: one outcome for each breach."""

import pytest

import lockstitch as ls
from lockstitch.rules.breach import Breach
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import view_of
from lockstitch.rules.draft import Draft
from lockstitch.rules.lookup import Lookup
from lockstitch.rules.mends import order
from lockstitch.rules.mends.order import EARLIER
from lockstitch.rules.profiles import get_profile
from lockstitch.rules.view import Finding
from lockstitch.writing import writer_for

ANSWER = {"role": "assistant", "content": "x"}
ASK = {"role": "user", "content": "y"}
SYSTEM = {"role": "system", "content": "be kind"}


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


@pytest.mark.parametrize("last", [[], [ANSWER]])
def test_instructions_with_no_user_turn_behind_them_are_said_by_the_user(last):
    history = [ASK, ANSWER, SYSTEM, *last]
    mended = ls.repair(history, profile="anthropic", format="anthropic")
    assert mended.messages == [ASK, ANSWER, {"role": "user", "content": "be kind"}, *last]
    assert [(one.kind, one.index) for one in mended.changes] == [("demote", 2)]


@pytest.mark.parametrize(("content", "system"), [("be kind", "be kind"), ("", None)])
def test_instructions_go_to_the_field_of_the_request_and_empty_ones_go_away(content, system):
    told = {"role": "user", "content": [{"text": "y"}]}
    history = [{"role": "system", "content": content}, told]
    mended = ls.repair(history, profile="bedrock", format="bedrock")
    assert (mended.messages, mended.system) == ([told], system)
    assert [one.kind for one in mended.changes] == ["move"]


def test_instructions_that_are_no_text_stay_and_are_said():
    told = {"role": "user", "content": [{"text": "y"}]}
    history = [{"role": "system", "content": [{"image": {"source": {}}}]}, told]
    mended = ls.repair(history, profile="bedrock", format="bedrock")
    assert mended.messages == history
    assert [one.rule for one in mended.remaining] == ["br-system-role"]


@pytest.mark.parametrize(
    ("mend", "index"),
    [(order.merge_neighbours, 0), (order.merge_neighbours, 1), (order.drop_item, 0)],
)
def test_a_message_with_no_neighbour_of_its_side_and_one_of_the_users_stay(mend, index):
    transcript = ls.load([ASK, ANSWER], format="openai-chat")
    profile = get_profile("portable")
    view = view_of(transcript, profile, tail="open")
    draft = Draft(transcript, writer_for("openai-chat"), profile)
    breach = Breach(
        rule=RULES["tp-alternate"],
        finding=Finding(index, "nothing"),
        view=view,
        entries=draft.begin(),
        lookup=Lookup(view),
    )
    assert not mend(draft, breach)
    assert draft.transcript().natives == [ASK, ANSWER]
