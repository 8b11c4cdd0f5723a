"""Damage: rows that cannot be read, half a batch, and what a newer version wrote.

Knows: that one bad row must not make a session unreadable, and that nobody may write over what a
newer version of Lockstitch wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lockstitch.errors import CorruptRow, SchemaTooNew, StoreError
from lockstitch.stores.base import Row
from lockstitch.stores.codec import read, write
from lockstitch.stores.head import Head, Run
from lockstitch.stores.settings import Settings
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.messages import texts

if TYPE_CHECKING:
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Damage"]

_pack = msgspec.msgpack.encode


def _rows(stage: Stage, *messages: Any) -> list[Row]:
    """Return the rows that messages are stored as."""
    stage.session("source").append(list(messages))
    first = stage.reading("source").version
    assert first is not None
    count = len(messages)
    found = stage.effect(stage.backend.rows(stage.key("source"), first.seq - count + 1, first.seq))
    return [Row(one.meta, one.payload) for one in found]


class Damage:
    """Rows that cannot be read, half a batch, and what a newer version wrote."""

    @pytest.mark.parametrize("limit", [None, 6, 40])
    def test_rows_that_cannot_be_read_are_set_aside(self, stage: Stage, limit: int | None) -> None:
        chat = stage.session(max_messages=limit)
        chat.append([user("1"), assistant("2")])
        whole = _rows(stage, user("lost"))[0]
        stage.plant(Row(b"garbage", b"no payload of ours"))
        stage.plant(Row(whole.meta, b"j" + whole.payload))
        stage.plant(Row(whole.meta, b""), Row(_pack([1, 2]), whole.payload))
        stage.plant(Row(b"\xc1\xff", b""), Row(_pack(["one"]), b""), Row(_pack({"a": 1}), b""))
        stage.plant(Row(b"\xc1", b"\xc1\xff"), Row(whole.meta, b"\xc1\xfe"))
        damaged = set(range(3, 12))
        for handle in (chat, stage.session(max_messages=limit), stage.elsewhere()):
            window = handle.window()
            assert texts(window)[-2:] == ["1", "2"]
            assert set(window.damaged) == damaged
            assert all(window.damaged.values())
        record = list(chat.record())
        assert [one.seq for one in record if one.state == "damaged"] == sorted(damaged)
        assert all(one.message is None and one.reason for one in record if one.seq in damaged)
        assert {one.seq for one in chat.verify() if one.kind == "damaged"} == damaged
        assert "damaged" in chat.explain()
        for number in range(12):
            assert chat.append([user(str(number)), assistant("ok")]).count == 2
        window = stage.session().window()
        assert window[-2:] == [user("11"), assistant("ok")]
        assert limit is None or len(window) <= limit

    def test_a_damaged_call_takes_its_answer_along(self, stage: Stage) -> None:
        chat = stage.session(profile="openai-chat")
        chat.append([user("1"), call("a"), result("a"), assistant("2")])
        rows = _rows(stage, user("3"), call("b"), result("b"), user("4"))
        stage.plant(rows[0], Row(rows[1].meta, b"j{"), rows[2], rows[3])
        window = chat.window()
        assert texts(window) == ["1", "a", "found", "2", "3", "4"]
        assert list(window.damaged) == [6]
        assert window.hidden == [7]

    def test_a_damaged_row_can_be_dropped_summarised_over_and_gone_back_behind(
        self, stage: Stage
    ) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")])
        stage.plant(Row(b"garbage", b""))
        chat.append([user("4"), assistant("5"), user("6"), assistant("7")])
        assert chat.compact(keep_recent=2).dropped
        assert 3 not in chat.window().seqs
        assert chat.rewind(2) >= 0
        assert texts(chat.window()) == ["1", "2"]
        with pytest.raises(CorruptRow) as caught:
            chat.recall(3)
        assert caught.value.seq == 3
        assert chat.search("nothing of the sort") == []
        assert chat.clear() == 2
        assert chat.window() == []

    def test_batches_that_are_not_whole_are_found(self, stage: Stage) -> None:
        rows = _rows(stage, user("1"), assistant("2"), user("3"))
        stage.plant(*rows[:2])
        stage.plant(*rows)
        found = stage.session().verify()
        assert [(one.seq, one.kind) for one in found] == [(1, "torn")]
        assert "2 of the 3" in found[0].message

    def test_a_view_that_refers_to_what_is_not_there_is_found(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")])
        head = Head(items=(Run(1, 2), Run(7, 8)), through=2)
        assert stage.put_head(head.written(), ranges=(1, 2, 7, 8)).changed
        assert chat.window() == [user("1"), assistant("2")]
        assert set(chat.window().damaged) == {7, 8}
        assert {(one.seq, one.kind) for one in chat.verify()} == {(7, "view"), (8, "view")}
        assert chat.append(user("3")).first == 3

    def test_an_event_that_cannot_be_read_hides_no_other(self, stage: Stage) -> None:
        chat = stage.session(max_messages=2)
        chat.append([user("1"), assistant("2"), user("3"), assistant("4")])
        stage.commit(rows=(), note=b"no event")
        chat.append([user("5"), assistant("6")])
        assert [event.kind for event in chat.events()] == ["cut", "set", "cut"]
        assert [one.kind for one in chat.verify()] == ["event"]
        assert len(list(chat.record())) == 6

    def test_what_a_newer_version_wrote_is_named_and_left_alone(self, stage: Stage) -> None:
        written = _rows(stage, user("from the future"))[0]
        envelope = msgspec.msgpack.decode(written.meta)
        for newer in ([99, *envelope[1:]], [2, *envelope[1:], "another field"], [2, {}]):
            id = str(newer)[:60]
            chat = stage.session(id)
            chat.append(user("1"))
            stage.plant(Row(_pack(newer), written.payload), id=id)
            with pytest.raises(SchemaTooNew) as caught:
                chat.window()
            assert caught.value.found == newer[0]
            assert "row 2" in str(caught.value)

    @pytest.mark.parametrize(
        "newer", [{"version": 99, "items": [], "through": 2}, {"version": 2, "items": "another"}]
    )
    def test_a_view_of_a_newer_version_is_named_and_left_alone(
        self, stage: Stage, newer: Any
    ) -> None:
        stage.session().append([user("1"), assistant("2")])
        stage.put_head(write(newer))
        before = stage.reading()
        chat = stage.session(max_messages=2)
        for use in (chat.window, chat.pop, chat.clear, chat.explain, chat.compact):
            with pytest.raises(SchemaTooNew) as caught:
                use()
            assert caught.value.found == newer["version"]
            assert "the view" in str(caught.value)
        assert stage.reading().head == before.head

    def test_settings_of_a_newer_version_are_named_and_left_alone(self, stage: Stage) -> None:
        stage.session().append([user("1"), assistant("2")])
        newer = {**read(Settings(profile="gemini").written()), "version": 99}
        stage.commit(settings=write(newer))
        for use in (
            stage.session().window,
            lambda: stage.session().append(user("3")),
            lambda: stage.session().configure(profile="portable"),
            stage.session().verify,
        ):
            with pytest.raises(SchemaTooNew, match="the session"):
                use()
        assert read(stage.reading().settings)["version"] == 99

    def test_what_says_how_a_session_is_kept_may_be_damaged_too(self, stage: Stage) -> None:
        stage.session("s").append(user("1"))
        stage.commit("s", settings=b"{")
        stage.session("h").append(user("1"))
        stage.put_head(b"\xff\x00", "h")
        stage.session("i").append(user("1"))
        stage.put_head(b"[]", "i")
        for id in ("s", "h", "i"):
            window = stage.session(id).window()
            assert list(window) == [user("1")]
            assert "cannot be read" in window.damaged[0]
            assert [finding.seq for finding in stage.session(id).verify()] == [0]
            assert stage.session(id).append(user("2")).count == 1
        stage.session("s").configure(max_messages=5)
        stage.session("h").clear()
        for id in ("s", "h"):
            assert stage.session(id).window().damaged == {}

    def test_a_session_that_is_not_all_here_says_so(self, stage: Stage) -> None:
        stage.session().append(user("1"))
        stage.commit(settings=Settings(copying="elsewhere:7").written())
        with pytest.raises(StoreError, match="run again"):
            stage.session().window()
