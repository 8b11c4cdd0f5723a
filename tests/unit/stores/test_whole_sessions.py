"""Whole sessions: what `append` takes, what a fork leaves behind for `verify`."""

import lockstitch as ls
from lockstitch.testing import assistant, call, result, user

TURN = [user(), call("a"), result("a"), assistant()]


def test_a_transcript_is_appended_as_the_messages_that_it_was_made_of():
    chat = ls.open_store("memory://").session("s")
    assert chat.append(ls.load(TURN)).count == 4
    assert list(chat.window()) == TURN
