"""Whole sessions: what `append` takes, what a fork leaves for `verify`, what needs a key."""

import pytest

import lockstitch as ls
from lockstitch.stores.memory import MemoryBackend
from lockstitch.stores.sealing import new_key
from lockstitch.testing import assistant, call, result, user

TURN = [user(), call("a"), result("a"), assistant()]


def test_a_transcript_is_appended_as_the_messages_that_it_was_made_of():
    chat = ls.open_store("memory://").session("s")
    assert chat.append(ls.load(TURN)).count == 4
    assert list(chat.window()) == TURN


def test_a_fork_in_the_middle_of_a_batch_is_whole():
    store = ls.open_store("memory://")
    chat = store.session("s")
    chat.append(TURN)
    fork = store.session(chat.fork("t", at=3))
    assert fork.verify() == []
    fork.append(user("more"))
    assert fork.verify() == []
    again = store.session("u")
    again.import_(fork.export())
    assert again.verify() == []


def test_an_encrypted_session_says_that_it_is_one_where_no_keys_are_given():
    backend = MemoryBackend()
    ls.open_store(backend, keys=new_key()).session("s").append(TURN)
    with pytest.raises(ls.CorruptRow, match="is encrypted: open the store with its keys"):
        ls.open_store(backend).session("s").window()
