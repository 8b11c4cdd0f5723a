"""Lifetimes: when a session expires, and that it does so as one.

Knows: real time. Sessions here live for a second or so.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from lockstitch.stores.base import TAIL, Row
from lockstitch.testing.builders import assistant, user

if TYPE_CHECKING:
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Lifetimes"]


class Lifetimes:
    """When a session expires, and that it does so as one."""

    def test_a_session_expires_with_all_that_belongs_to_it(self, stage: Stage) -> None:
        chat = stage.session(ttl=1.0, max_messages=2)
        for number in range(3):
            chat.append([user(str(number)), assistant()], key=f"turn-{number}")
        stays = stage.session("stays", ttl=3_600)
        stays.append(user())
        listed = {one.id: one.expires for one in stage.store().list(tenant=stage.tenant)}
        assert set(listed) == {"chat", "stays"}
        assert listed["stays"] is not None
        time.sleep(1.1)
        assert chat.window() == []
        assert list(chat.record()) == []
        assert chat.events() == []
        assert stage.reading().version is None
        assert [one.id for one in stage.store().list(tenant=stage.tenant)] == ["stays"]
        assert not chat.touch()
        assert not chat.delete()
        # Its keys are gone with it, and it begins anew.
        receipt = stage.elsewhere().append(user("again"), key="turn-0")
        assert (receipt.first, receipt.replayed) == (1, False)
        assert len(stage.session().window()) == 1

    def test_every_commit_lets_the_time_begin_anew(self, stage: Stage) -> None:
        chat = stage.session(ttl=1.0)
        chat.append(user("1"))
        for _ in range(3):
            time.sleep(0.45)
            # Another handle, which was told of no time, keeps it alive all the same.
            stage.session().append(user("on"))
        assert len(chat.window()) == 4
        time.sleep(0.45)
        assert chat.touch()
        time.sleep(0.6)
        assert len(chat.window()) == 4
        time.sleep(0.6)
        assert chat.window() == []

    def test_a_time_can_be_given_changed_and_taken_away(self, stage: Stage) -> None:
        chat = stage.session(ttl=0.3)
        chat.append(user())
        assert chat.touch(0)
        assert stage.reading().expires is None
        time.sleep(0.4)
        assert len(chat.window()) == 1
        chat = stage.session()
        assert chat.touch(3_600)
        expires = stage.reading().expires
        assert expires is not None
        assert expires > time.time() + 3_000
        chat.configure(ttl=0)
        assert stage.reading().expires is None
        chat.configure(ttl=0.2)
        time.sleep(0.3)
        assert chat.window() == []
        for wrong in (-1, True):
            with pytest.raises(ValueError, match="ttl"):
                chat.touch(wrong)
            with pytest.raises(ValueError, match="ttl"):
                chat.configure(ttl=wrong)

    def test_what_has_expired_is_swept(self, stage: Stage) -> None:
        for number in range(3):
            stage.session(str(number), ttl=0.1).append(user())
        stage.session("stays").append(user())
        time.sleep(0.2)
        assert stage.store().sweep() >= 0
        assert [one.id for one in stage.store().list(tenant=stage.tenant)] == ["stays"]
        assert len(stage.session("stays").window()) == 1

    def test_a_reading_holds_the_newest_rows_behind_the_head_and_no_more(
        self, stage: Stage
    ) -> None:
        many = tuple(Row(b"meta", b"payload") for _ in range(TAIL + 10))
        stage.commit(rows=many)
        newest = list(range(11, TAIL + 11))
        assert [row.seq for row in stage.reading().rows] == newest
        assert [row.seq for row in stage.commit(rows=many[:2]).now.rows] == newest
        stage.put_head(b"head", ranges=(3, 4))
        stage.commit(rows=many)
        seqs = [row.seq for row in stage.reading().rows]
        assert seqs == [3, 4, *range(TAIL + 23, 2 * TAIL + 23)]
