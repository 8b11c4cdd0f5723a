"""Travels: forks, exports, imports, lists, searches, and the check of what is stored.

Knows: that a copy is whole or is no session yet; that what was cut short goes on where it was.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.errors import Conflict, FormatError, SchemaTooNew, StoreError
from lockstitch.stores.base import Row
from lockstitch.stores.codec import read, write
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.messages import item_thinks, item_user, texts

if TYPE_CHECKING:
    from lockstitch.stores.store import Session
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Travels"]

ODD_IDS = (
    *("a", "A", "a ", "a:b", "a/b", "a|b", "a%3Ab", "a\x00b", "\x00", "é", "e\u0301", "E\u0301"),
    *("日本", "\ud83d", "{a}", "*", "a*", "a?", "[a]", "%", "_", "~", ".", "..", "", " ", "\n"),
    *("x" * 511, "x" * 512, "x" * 513, "x" * 5_000, "x" * 4_999 + "y", "é" * 600, "'; drop --"),
)


def _busy(chat: Session) -> None:
    """Let a session live through a little of everything."""
    for number in range(8):
        chat.append([user(f"q{number}"), call(f"c{number}")], key=f"turn-{number}")
        chat.append([result(f"c{number}"), assistant(f"a{number}")])
    chat.append([user("odd \ud83d text"), {**assistant(), "x_value": (math.inf, b"\x00", 2**80)}])
    chat.pop()
    chat.edit(33, user("even"))
    chat.compact(lambda _: "so far", keep_recent=4)
    chat.append([user("last"), call("open")])


class Travels:
    """Forks, exports, imports, lists, searches, and the check of what is stored."""

    # --- forks -----------------------------------------------------------------------------------

    def test_a_fork_is_the_session_as_it_was(self, stage: Stage) -> None:
        chat = stage.session(max_messages=8)
        shown = {}
        for number in range(8):
            receipt = chat.append([user(f"q{number}"), assistant(f"a{number}")])
            shown[receipt.last] = texts(chat.window())
        for at in (16, 10, 4):
            assert chat.fork(f"fork at {at}", at=at) == f"fork at {at}"
            fork = stage.elsewhere(f"fork at {at}")
            assert texts(fork.window()) == shown[at]
            assert len(list(fork.record())) == at
            assert fork.verify() == []
            assert fork.events()[-1].kind == "fork"
            assert fork.append([user("on"), assistant("ok")]).first == at + 1
            assert len(fork.window()) <= 8
        assert texts(chat.window()) == shown[16]
        chat.fork("empty", at=0)
        assert stage.session("empty").window() == []

    def test_a_fork_overwrites_nothing(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")])
        stage.session("there").append(user("mine"))
        with pytest.raises(Conflict):
            chat.fork("there")
        with pytest.raises(Conflict):
            chat.fork("chat")
        assert texts(stage.session("there").window()) == ["mine"]
        for at in (-1, 3):
            with pytest.raises(ValueError, match="1 to 2"):
                chat.fork("new", at=at)
        assert stage.reading("new").version is None

    def test_a_fork_of_nothing_is_refused(self, stage: Stage) -> None:
        with pytest.raises((FormatError, ValueError)):
            stage.session("nobody").fork("new")
        assert stage.reading("new").version is None

    def test_keys_are_known_in_a_fork(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")], key="turn")
        chat.fork("fork")
        receipt = stage.session("fork").append(user("1"), key="turn")
        assert (receipt.replayed, receipt.first, receipt.count) == (True, 1, 2)

    # --- export and import -----------------------------------------------------------------------

    def test_an_export_is_the_whole_session(self, stage: Stage) -> None:
        chat = stage.session()
        _busy(chat)
        lines = list(chat.export())
        assert all(b"\n" not in line for line in lines)
        copy = stage.elsewhere("copy")
        count = copy.import_(lines)
        assert count == chat.window().version.seq  # type: ignore[union-attr]
        assert copy.window() == chat.window()
        assert [
            (one.seq, one.message, one.state, one.reason, one.batch, one.format)
            for one in copy.record()
        ] == [
            (one.seq, one.message, one.state, one.reason, one.batch, one.format)
            for one in chat.record()
        ]
        mine, theirs = chat.events(), copy.events()
        assert theirs[:-1] == mine
        assert theirs[-1].kind == "import"
        assert copy.verify() == []
        assert copy.append(user("x"), key="turn-3").replayed
        copy.append(result("open"))
        assert texts(copy.window())[-2:] == ["open", "found"]
        # It is the very same again, wherever it goes.
        again = stage.session("again")
        again.import_(line.decode("utf-8", "surrogatepass") for line in lines)
        assert again.window() == chat.window()

    def test_an_import_may_come_as_objects_with_blank_lines(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")])
        lines: list[Any] = [read(line) for line in chat.export()]
        assert stage.session("copy").import_([lines[0], "", b" \n", *lines[1:], ""]) == 2

    def test_an_import_that_was_cut_short_goes_on(self, stage: Stage) -> None:
        chat = stage.session()
        _busy(chat)
        lines = list(chat.export())
        for stop in range(1, len(lines), 3):
            copy = stage.session(f"copy {stop}")
            with pytest.raises(FormatError, match="before the rest is here"):
                copy.import_(lines[:stop])
            with pytest.raises(StoreError, match="run again"):
                stage.session(f"copy {stop}").window()
            again = stage.elsewhere(f"copy {stop}")
            again.import_(lines)
            assert again.window() == chat.window()
            assert again.verify() == []
            assert len(again.events()) == len(chat.events()) + 1

    def test_an_import_overwrites_nothing(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2")])
        lines = list(chat.export())
        with pytest.raises(Conflict):
            stage.session().import_(lines)
        stage.session("copy").import_(lines)
        with pytest.raises(Conflict):
            stage.session("copy").import_(lines)
        # One that was begun with another session's lines is not gone on with.
        other = stage.session("other")
        other.append([user("x"), assistant("y")])
        with pytest.raises(FormatError):
            stage.session("half").import_(lines[:2])
        with pytest.raises(Conflict):
            stage.session("half").import_(other.export())

    def test_lines_that_are_none_are_refused_by_number(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), assistant("2"), user("3")])
        chat.append(assistant("4"))
        lines = list(chat.export())
        torn: list[tuple[list[Any], str]] = [
            ([*lines[:2], lines[2][:9], *lines[3:]], "line 3"),
            ([lines[1]], "line 1"),
            ([lines[0], b"[]"], "line 2"),
            ([lines[0], b'{"what": "is this"}'], "line 2"),
            ([*lines[:4], lines[-1]], "before the rest"),
            ([lines[0], *lines[4:]], "line "),
            ([lines[0], 7], "line 2"),
            ([], "before the rest"),
        ]
        for at, (wrong, where) in enumerate(torn):
            with pytest.raises(FormatError, match=where):
                stage.session(f"copy {at}").import_(wrong)
        newer = {**read(lines[0]), "lockstitch": 99}
        with pytest.raises(SchemaTooNew, match="export"):
            stage.session("newer").import_([write(newer)])
        assert stage.reading("newer").version is None

    def test_what_is_damaged_or_purged_travels_as_it_is(self, stage: Stage) -> None:
        from lockstitch.stores.settings import Retention

        chat = stage.session()
        chat.append([user("1"), assistant("2"), user("3")])
        stage.plant(Row(b"garbage", b"j{garbage"))
        stage.plant(Row(b"garbage", b"\x00"))
        chat.rewind(3)
        chat.append([user("6"), assistant("7")])
        chat.rewind(7)
        chat.rewind(2)
        chat.append([user("8")])
        chat.purge(Retention(messages=5))
        copy = stage.session("copy")
        copy.import_(chat.export())
        assert [(one.seq, one.state) for one in copy.record()] == [
            (one.seq, one.state) for one in chat.record()
        ]
        assert [one.seq for one in copy.verify()] == [one.seq for one in chat.verify()]
        assert copy.window() == chat.window()

    def test_an_export_of_nothing_is_empty(self, stage: Stage) -> None:
        assert list(stage.session("nobody").export()) == []

    # --- looking for things ----------------------------------------------------------------------

    def test_a_search_finds_the_newest_first(self, stage: Stage) -> None:
        chat = stage.session(max_messages=4)
        for number in range(600):
            chat.append([user(f"Question {number}"), assistant("OK")])
        assert [one.seq for one in chat.search("question 5", limit=3)] == [1199, 1197, 1195]
        assert chat.search("question", case=True) == []
        assert len(chat.search("Question", case=True, limit=2)) == 2
        (first,) = chat.search("Question 0")
        assert (first.seq, first.state, first.message) == (1, "dropped", user("Question 0"))
        assert chat.search("nothing of the sort") == []
        assert chat.search("x", limit=0) == []
        assert stage.session("nobody").search("x") == []
        no_text: Any
        for no_text in ("", None, 7):
            with pytest.raises(ValueError, match="text"):
                chat.search(no_text)

    def test_a_search_looks_into_results_and_other_formats(self, stage: Stage) -> None:
        chat = stage.session()
        chat.append([user("1"), call("a"), result("a", "the needle")])
        assert [one.seq for one in chat.search("needle")] == [3]
        items = stage.session("items", profile="openai-responses")
        items.append([item_user("a needle"), item_thinks("rs_1")])
        assert [one.seq for one in items.search("needle")] == [1]

    def test_the_record_is_read_in_parts(self, stage: Stage) -> None:
        chat = stage.session(max_messages=8)
        for number in range(0, 1_100, 50):
            chat.append([user(str(number + at)) for at in range(50)])
        numbers = [one.seq for one in chat.record()]
        assert numbers == list(range(1, 1_101))
        assert [one.seq for one in chat.record(1_099)] == [1_099, 1_100]
        assert [one.seq for one in chat.record(3, 4)] == [3, 4]
        assert [one.seq for one in chat.record(0, 1)] == [1]
        assert [one.seq for one in chat.record(1_100, 9_000)] == [1_100]
        assert list(chat.record(1_101)) == []
        assert list(chat.record(5, 4)) == []
        at = [one.at for one in chat.record(1, 51)]
        assert at[0] == at[49] <= at[50]

    # --- lists, and whose session it is ----------------------------------------------------------

    def test_no_id_reaches_another_session(self, stage: Stage) -> None:
        for at, id in enumerate(ODD_IDS):
            assert stage.session(id).append(user(f"this is {at}")).first == 1
        for at, id in enumerate(ODD_IDS):
            assert texts(stage.elsewhere(id).window()) == [f"this is {at}"]
        listed = [one.id for one in stage.store().list(tenant=stage.tenant, limit=1_000)]
        assert sorted(listed, key=repr) == sorted(ODD_IDS, key=repr)
        assert stage.session("a").delete()
        assert not stage.session("a").delete()
        assert texts(stage.session("A").window()) == ["this is 1"]

    def test_no_tenant_reaches_another(self, stage: Stage) -> None:
        store = stage.store()
        tenants = [f"{stage.tenant}{odd}" for odd in ODD_IDS]
        pairs = [(tenant, id) for tenant in tenants for id in ("s", ":s", "")]
        # What joins to the same text is not the same.
        pairs += [(f"{stage.tenant}:x", "y:z"), (f"{stage.tenant}:x:y", "z")]
        for at, (tenant, id) in enumerate(pairs):
            store.session(id, tenant=tenant).append(user(str(at)))
        for at, (tenant, id) in enumerate(pairs):
            assert texts(store.session(id, tenant=tenant).window()) == [str(at)]
        for tenant in tenants:
            assert {one.id for one in store.list(tenant=tenant)} >= {"s", ":s", ""}
            assert all(one.tenant == tenant for one in store.list(tenant=tenant))
        nobodys = stage.tenant + ":s"
        store.session(nobodys).append(user("no tenant"))
        assert texts(store.session(nobodys).window()) == ["no tenant"]
        assert nobodys in {one.id for one in store.list(stage.tenant)}
        store.session(nobodys).delete()

    def test_lists_go_by_prefix_and_page(self, stage: Stage) -> None:
        ids = [f"user-{number:02}" for number in range(25)] + ["user", "usher", "User-01", "us%r"]
        for id in ids:
            stage.session(id, max_messages=2).append([user(), assistant(), user(), assistant()])
        store = stage.store()
        everything = store.list(tenant=stage.tenant)
        assert {one.id for one in everything} == set(ids)
        assert len(everything) == len(ids)
        users = store.list("user-", tenant=stage.tenant)
        assert [one.id for one in users] == ids[:25]
        assert [one.id for one in store.list("us%", tenant=stage.tenant)] == ["us%r"]
        found: list[str] = []
        after = None
        while page := store.list(tenant=stage.tenant, after=after, limit=7):
            assert len(page) <= 7
            found += [one.id for one in page]
            after = page[-1].id
        assert found == [one.id for one in everything]
        one = users[0]
        assert (one.messages, one.revision, one.tenant) == (4, 1, stage.tenant)
        assert one.bytes > 0
        assert one.created <= one.updated
        assert one.expires is None
        assert store.list("nobody", tenant=stage.tenant) == []
        assert store.list(tenant=stage.tenant, limit=0) == []

    def test_a_handle_says_whose_it_is(self, stage: Stage) -> None:
        chat = stage.session("é")
        assert (chat.id, chat.tenant) == ("é", stage.tenant)
        assert "é" in repr(chat)
        assert stage.tenant in repr(chat)
        assert "tenant" not in repr(stage.store().session("é"))

    # --- what is wrong ---------------------------------------------------------------------------

    def test_a_whole_session_has_nothing_wrong_with_it(self, stage: Stage) -> None:
        chat = stage.session()
        _busy(chat)
        assert stage.elsewhere().verify() == []
        assert stage.session("nobody").verify() == []
