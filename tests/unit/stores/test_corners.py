"""What happens seldom: sessions that go while they are used, sizes nobody counted."""

import builtins

import msgspec
import pytest

import lockstitch as ls
from lockstitch.errors import StoreError
from lockstitch.facts import ASSISTANT, USER_FACTS
from lockstitch.stores.base import Reading, Version
from lockstitch.stores.head import Entry, Head, Said, View
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.messages import transcript_of
from lockstitch.stores.passing import Passing
from lockstitch.stores.rows import Meta
from lockstitch.stores.running import Ask, run
from lockstitch.stores.sealing import SealedBackend, new_key
from lockstitch.stores.settings import Settings
from lockstitch.stores.sqlite import connect
from lockstitch.strategies import ClearResults, StepsHistoryStrategy, SummarizingHistoryStrategy
from lockstitch.testing import assistant, call, result, user

LONG = "x" * 2_000


class Vanishing(MemoryBackend):
    """A backend whose session is gone before its head, or its payloads, are asked for."""

    when = ""

    def commit(self, change):
        if self.when == "head" and change.change is not None and not change.rows:
            self._ledgers.clear()
        return super().commit(change)

    def view(self, key, known=None, *, payloads=True):
        if self.when == "payloads" and payloads:
            self._ledgers.clear()
        return super().view(key, known, payloads=payloads)


@pytest.mark.parametrize("when", ["head", "payloads"])
def test_a_session_that_goes_before_its_cut_is_gone(when):
    backend = Vanishing()
    steps = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_chars=3_000)
    chat = ls.open_store(backend).session("s", strategy=steps)
    chat.append([user("1"), call("a"), result("a", LONG)])
    backend.when = when
    receipt = chat.append([call("b"), result("b", LONG)])
    assert (receipt.count, receipt.dropped, receipt.pending) == (2, 0, False)
    backend.when = ""
    assert chat.window() == []


def test_an_exclusive_handle_whose_view_is_in_use_reads_it_again():
    chat = ls.open_store("memory://").session("s", mode="exclusive", max_messages=4)
    for number in range(3):
        chat.append(user(str(number)))
    chat.effects.take_view()
    assert chat.append([user("3"), user("4")]).dropped == 1
    assert len(chat.window()) == 4


def test_rows_that_nobody_counted_are_counted_before_they_are_cut():
    store = ls.open_store("memory://")
    store.session("s").append([user(LONG), assistant(LONG), user("2")])
    chat = store.session("s", mode="exclusive", max_tokens=400)
    assert chat.append(assistant("3")).dropped == 2
    assert len(chat.window()) == 2


def test_tokens_are_counted_by_the_counter_that_was_named():
    steps = StepsHistoryStrategy(steps=(ClearResults(keep_groups=0),), max_tokens=2_600)
    chat = ls.open_store("memory://").session("s", strategy=steps, counter="bytes")
    chat.append([user("1"), call("a"), result("a", LONG), assistant("2")])
    chat.append([user("3"), call("b"), result("b", LONG), assistant("4")])
    states = [entry.state for entry in chat.record()]
    assert "changed" in states
    assert "dropped" not in states


def refuse(prompt):
    raise RuntimeError("no")


def say_nothing(prompt):
    return " "


@pytest.mark.parametrize("summarizer", [refuse, say_nothing])
def test_a_summary_that_fails_where_no_limit_is_passed_changes_nothing(summarizer):
    strategy = SummarizingHistoryStrategy(trigger_chars=100, keep_recent=2)
    chat = ls.open_store("memory://").session("s", strategy=strategy, summarizer=summarizer)
    told = []
    stop = ls.listen(told.append)
    chat.append([user("1" * 90), assistant("2" * 90), user("3"), assistant("4")])
    stop()
    assert [event.failure for event in told if event.failure]
    assert chat.events() == []


def test_a_long_view_is_read_whole_for_steps_that_read_what_is_said(monkeypatch):
    from lockstitch.stores import appending, commit, conversation

    for module in (commit, conversation, appending):
        monkeypatch.setattr(module, "TAIL", 6)
    store = ls.open_store("memory://")
    messages = []
    for turn in range(6):
        messages += [user(f"{turn}"), call(f"c{turn}"), result(f"c{turn}", LONG)]
    store.session("s").append(messages)
    steps = StepsHistoryStrategy(steps=(ClearResults(keep_groups=1),), max_chars=9_000)
    window = store.session("s").window(strategy=steps)
    assert len(window) == len(messages)
    assert "x" * 2_000 not in str(window[2])


class Behind(MemoryBackend):
    """A backend that shows every session as it was a moment ago."""

    def view(self, key, known=None, *, payloads=True):
        reading = yield from super().view(key, known, payloads=payloads)
        before = msgspec.structs.replace(reading.version, seq=reading.version.seq - 1)
        return msgspec.structs.replace(reading, version=before, rows=reading.rows[:-1])


def test_a_change_that_never_lands_is_given_up():
    chat = ls.open_store(Behind()).session("s", patience=0.05)
    chat.append([user("1"), assistant("2")])
    with pytest.raises(ls.Conflict, match="others kept writing"):
        chat.clear()


class Losing(MemoryBackend):
    """A backend that has lost a row."""

    lost = 0

    def rows(self, key, first, last, *, payloads=True):
        found = yield from super().rows(key, first, last, payloads=payloads)
        return tuple([row for row in found if row.seq != self.lost])


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_row_that_is_lost_is_found_missing(lost):
    backend = Losing()
    chat = ls.open_store(backend).session("s")
    for number in range(3):
        chat.append(user(str(number)))
    backend.lost = lost
    assert (lost, "missing") in [(one.seq, one.kind) for one in chat.verify()]


def test_who_writes_into_an_import_is_noticed():
    store = ls.open_store("memory://")
    for number in range(3):
        store.session("s").append(user(str(number)))
    lines = list(store.session("s").export())

    def interrupted():
        yield from lines[:3]
        raw = store.backend
        ledger = raw._ledgers[store.session("t").effects.key]
        ledger.rows.append(ledger.rows[0])
        yield from lines[3:]

    with pytest.raises(ls.Conflict, match="somebody else writes"):
        store.session("t").import_(interrupted())


def test_langchain_messages_come_back_as_messages(monkeypatch):
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    asked = {"name": "look_up", "args": {"q": 1}, "id": "a", "type": "tool_call"}
    messages = [
        HumanMessage("1", additional_kwargs={"n": 1}),
        AIMessage("", tool_calls=[asked]),
        ToolMessage("found", tool_call_id="a"),
    ]
    chat = ls.open_store("memory://").session("s")
    chat.append(messages)
    assert list(chat.window()) == messages
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("langchain_core"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ls.MissingExtra, match=r"lockstitch\[langchain\]"):
        chat.window()


def test_what_is_of_langchain_and_no_message_is_stored_as_it_dumps():
    from lockstitch.stores.objects import marked

    class Other:
        pass

    Other.__module__ = "langchain_core.other"
    other = Other()
    assert marked(other) is other


def test_a_sealed_backend_hands_a_migration_on(tmp_path):
    driver = connect(f"sqlite:///{tmp_path}/chat.db")
    sealed = SealedBackend(driver.backend, new_key())
    assert run(sealed.migrate(), driver)[1] == 1
    driver.close()
    memory = MemoryDriver()
    assert run(SealedBackend(memory.backend, new_key()).migrate(), memory) == (0, 0)


def test_a_reading_without_a_head_is_no_view():
    with pytest.raises(StoreError, match="no head"):
        View.of(Reading(version=Version("e", 0, 0)), 0)


def test_sums_end_where_something_was_not_counted():
    view = View(Version("e", 0, 0), Head(), [], {})
    counted = Meta(format="", facts=USER_FACTS, tokens=3, counter="estimate")
    view.grow(Version("e", 0, 1), 1, [counted])
    assert view.size("tokens", "estimate") == 3
    view.grow(Version("e", 0, 2), 2, [Meta(format="", facts=USER_FACTS)])
    assert view.size("tokens", "estimate") is None


def test_a_reply_that_parts_a_summary_is_the_models():
    reading = Reading(
        version=Version("e", 1, 0),
        head=Head(
            items=(Said("user", "so far", "summary"), Said("assistant", "ok", "reply"))
        ).written(),
    )
    assert [one.meta.facts.role for one in View.of(reading, 0).entries] == ["user", ASSISTANT]
    system = Head(items=(Said("system", "be kind", "summary"),)).written()
    read = msgspec.structs.replace(reading, head=system)
    assert View.of(read, 0).entries[0].meta.facts.role == "system"


def test_ranges_of_what_went_by_join():
    passing = Passing()
    metas = [
        Meta(format="", facts=USER_FACTS),
        Meta(format="", facts=ls.load([assistant("a")]).facts_at(0)),
    ]
    for seq in range(1, 8):
        passing.take(Entry(seq, metas[seq % 2 == 0]))
    passing.take(Entry(9, metas[0]))
    passing.take(Entry(10, metas[0]))
    assert passing.passed == [(1, 7), (9, 9)]


def test_messages_with_other_ties_are_held():
    passing = Passing()
    asks = ls.load([{"type": "mcp_approval_request", "id": "a", "name": "n", "arguments": "{}"}])
    passing.take(Entry(1, Meta(format="", facts=asks.facts_at(0))))
    passing.take(Entry(2, Meta(format="", facts=USER_FACTS)))
    assert [entry.seq for entry in passing.held()] == [1, 2]


def test_what_has_to_be_awaited_is_refused_by_who_waits():
    class Soon:
        def __await__(self):
            yield

    def asking():
        return (yield Ask(Soon))

    with pytest.raises(TypeError, match="open_async_store"):
        run(asking(), MemoryDriver())


def test_odd_arguments_are_refused():
    store = ls.open_store("memory://")
    with pytest.raises(TypeError, match="a list of sizes is for one history"):
        store.session("s", counter=[1, 2])
    assert Settings.read(b"") == Settings()
    assert transcript_of([user("1")], "openai-chat").document.rebuild([user("2")]) == [user("2")]


def test_a_user_message_that_waited_goes_by_between_others():
    passing = Passing()
    said = Meta(format="", facts=ls.load([assistant("a")]).facts_at(0))
    asked = Meta(format="", facts=USER_FACTS)
    for seq, meta in ((2, asked), (4, said), (7, said), (8, asked), (9, asked)):
        passing.take(Entry(seq, meta))
    assert passing.passed == [(2, 2), (4, 4), (7, 8)]
