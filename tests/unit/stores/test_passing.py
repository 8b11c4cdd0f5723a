"""A session that grew without a limit is looked at with one: what no cut could keep goes by."""

import random

import pytest

import lockstitch as ls
from lockstitch.stores import appending, commit, conversation
from lockstitch.stores.memory import MemoryBackend
from lockstitch.testing import assistant, call, result, user

SYSTEM = {"role": "system", "content": "be kind"}


@pytest.fixture
def short(monkeypatch):
    """Readings that hold few rows, so that short sessions are long ones."""

    def tail(rows):
        for module in (commit, conversation, appending):
            monkeypatch.setattr(module, "TAIL", rows)

    return tail


def history(draw, turns):
    """A history of turns: answered at once, later, or never; with parallel calls and text."""
    messages = [SYSTEM] if draw.random() < 0.5 else []
    late = []
    for turn in range(turns):
        messages.append(user(f"ask {turn}"))
        for step in range(draw.choice((0, 1, 2, 3))):
            ids = [f"c{turn}.{step}.{n}" for n in range(draw.choice((1, 1, 2)))]
            messages.append(call(*ids))
            for one in ids:
                (late if draw.random() < 0.05 else messages).append(result(one))
        if late and draw.random() < 0.3:
            messages.append(late.pop(0))
        if draw.random() < 0.8:
            messages.append(assistant(f"done {turn}"))
    return messages


def filled(messages, **options):
    chat = ls.open_store(MemoryBackend()).session("s", **options)
    for at in range(0, len(messages), 7):
        chat.append(messages[at : at + 7])
    return chat


@pytest.mark.parametrize("seed", range(60))
def test_the_window_is_that_of_a_reading_that_holds_everything(short, seed):
    draw = random.Random(seed)  # noqa: S311 - a seeded draw
    messages = history(draw, draw.choice((10, 25, 40)))
    chat = filled(messages)
    limit = draw.choice((3, 6, 9))
    short(1_000_000)
    whole = chat.window(max_messages=limit)
    short(18)
    seen = chat.window(max_messages=limit)
    assert list(seen) == list(whole)
    assert seen.seqs == whole.seqs


@pytest.mark.parametrize("seed", range(30))
def test_a_cut_of_a_long_view_drops_what_went_by_and_says_so(short, seed):
    draw = random.Random(seed)  # noqa: S311 - a seeded draw
    messages = history(draw, 30)
    chat = filled(messages)
    short(16)
    limited = ls.open_store(chat.effects.backend).session("s", max_messages=8)
    receipt = limited.append([user("more"), assistant("done")])
    event = limited.events()[-1]
    assert receipt.dropped == event.dropped
    assert len(limited.window()) <= 8
    assert all(entry.state != "dropped" or entry.reason for entry in limited.record())
    assert limited.verify() == []
    before = list(limited.window())
    short(1_000_000)
    assert list(limited.window()) == before


def test_a_long_view_without_a_limit_is_read_whole(short):
    messages = history(random.Random(1), 20)  # noqa: S311 - as above
    chat = filled(messages)
    short(10)
    fresh = ls.open_store(chat.effects.backend).session("s")
    assert [entry.message for entry in fresh.record()] == messages
    assert fresh.window().seqs[-1] == len(messages)
    assert len(fresh.window()) >= len(messages) - len(fresh.window().hidden)


def test_where_the_newest_rows_are_within_the_limit_all_are_looked_at(short):
    chat = filled([user(str(number)) for number in range(40)])
    short(10)
    assert len(chat.window(max_tokens=1_000)) == 40
    assert len(chat.window(max_messages=4)) == 4
    assert len(chat.window(max_tokens=60)) < 10


def test_what_is_never_answered_is_waited_for_however_old_it_is(short):
    messages = [user("1"), call("old"), *[user(str(number)) for number in range(40)]]
    chat = filled(messages)
    short(12)
    limited = ls.open_store(chat.effects.backend).session("s", max_messages=6)
    limited.append(assistant("done"))
    limited.append(result("old"))
    assert result("old") in limited.window()


def test_edits_and_rewinds_of_a_long_view_keep_all_of_it(short):
    messages = [user(str(number)) for number in range(40)]
    chat = filled(messages)
    short(10)
    limited = ls.open_store(chat.effects.backend).session("s")
    limited.edit(3, user("other"))
    window = limited.window()
    assert len(window) == 40
    assert window[2] == user("other")
    assert limited.rewind(to=38) == 3


def test_turns_that_are_held_go_by_when_a_newer_one_comes(short):
    for width in (1, 2, 3):
        messages = []
        for turn in range(12):
            messages += [user(f"{turn}"), *[assistant("a")] * width]
        chat = filled(messages)
        short(10)
        limited = ls.open_store(chat.effects.backend).session("s", max_messages=4)
        limited.append(assistant("more"))
        gone = limited.events()[-1].gone
        assert gone[0][0] == 1
        assert sum(last - first + 1 for first, last, _ in gone) + len(limited.window()) == (
            len(messages) + 1
        )
