"""Rows that were acknowledged and lost, as in a failover, while a handle remembers them."""

import copy

from lockstitch import open_store
from lockstitch.stores.base import Change, Commit, Key, Row, Version
from lockstitch.stores.commit import Ledger, commit
from lockstitch.stores.memory import MemoryBackend
from lockstitch.testing import assistant, user


class _FailsOver(MemoryBackend):
    """A backend whose sessions can be put back to an earlier state."""

    def saved(self) -> dict[Key, Ledger]:
        return copy.deepcopy(self._ledgers)

    def put_back(self, saved: dict[Key, Ledger]) -> None:
        self._ledgers = saved


def test_a_handle_that_remembers_lost_rows_shows_no_row_twice():
    backend = _FailsOver()
    chat = open_store(backend).session("s", max_messages=12)
    for n in range(4):
        chat.append([user(f"q{n}"), assistant(f"a{n}")])
    saved = backend.saved()
    chat.append([user("lost"), assistant("lost")])
    backend.put_back(saved)

    for n in range(4, 9):
        chat.append([user(f"q{n}"), assistant(f"a{n}")])
    window = chat.window()
    assert window.seqs == [*range(9, 19)]
    assert window[0]["content"] == "q4"


def test_a_head_that_was_made_of_lost_rows_is_left_out_and_the_reply_has_the_whole_view():
    key = Key(None, "s")
    row = Row(b"m", b"p")
    ledger, _ = commit(None, Commit(key=key, mark="a", rows=(row,), epoch="e"), 0.0)
    ahead = Version("e", 0, 3)
    head = Change(head=b"h", ranges=(2, 3), through=3)
    _, done = commit(
        ledger, Commit(key=key, mark="b", rows=(row,), expected=ahead, change=head), 1.0
    )
    assert (done.outcome, done.first, done.changed) == ("stored", 2, False)
    assert done.now.head == b""
    assert [one.seq for one in done.now.rows] == [1]
