"""Going back: a view is what it was when a message was its newest."""

import pytest

from lockstitch import open_store
from lockstitch.stores.store import Session
from lockstitch.testing import assistant, user


def _cut_with_the_last_two() -> Session:
    chat = open_store("memory://").session("s", max_messages=4)
    chat.append([user("1"), assistant("2"), user("3"), assistant("4")])
    assert chat.append([user("5"), assistant("6")]).dropped == 2
    return chat


def test_going_back_before_a_cut_takes_it_back_although_it_named_no_later_message():
    chat = _cut_with_the_last_two()
    assert chat.events()[0].head is not None
    assert chat.events()[0].head.through == 4
    chat.rewind(to=4)
    assert chat.window().seqs == [1, 2, 3, 4]


def test_going_back_to_what_a_cut_came_with_keeps_it():
    chat = _cut_with_the_last_two()
    chat.append(user("7"))
    chat.rewind(to=6)
    assert chat.window().seqs == [3, 4, 5, 6]


@pytest.mark.parametrize("at", range(7))
def test_a_fork_shows_what_going_back_shows(at: int):
    store = open_store("memory://")
    for name in ("s", "t"):
        chat = store.session(name, max_messages=4)
        chat.append([user("1"), assistant("2"), user("3"), assistant("4")])
        chat.append([user("5"), assistant("6")])
    store.session("s").fork("forked", at=at)
    store.session("t").rewind(to=at)
    assert store.session("forked").window() == store.session("t").window()
