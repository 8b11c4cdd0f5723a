"""What is damaged costs what is damaged: the rest is shown, and the next cut mends the view."""

import msgspec
import pytest

import lockstitch as ls
from lockstitch.stores.base import Key
from lockstitch.stores.memory import MemoryBackend
from lockstitch.testing import assistant, call, result, user

KEY = Key(None, "s")


@pytest.fixture
def memory():
    return MemoryBackend()


def chat_of(memory, turns=6, **options):
    chat = ls.open_store(memory).session("s", **options)
    for turn in range(turns):
        chat.append([user(f"ask {turn}"), assistant(f"answer {turn}")])
    return chat


def test_a_head_that_cannot_be_read_is_taken_from_the_events(memory):
    chat = chat_of(memory, max_messages=10)
    before = list(chat.window())
    memory._ledgers[KEY].head = b"garbage"
    window = chat.window()
    assert list(window) == before
    assert "taken from the events" in window.damaged[0]
    assert [(finding.seq, finding.kind) for finding in chat.verify()] == [(0, "view")]


def test_an_append_onto_a_damaged_head_lands_and_the_next_cut_mends_it(memory):
    chat_of(memory, max_messages=10)
    memory._ledgers[KEY].head = b"garbage"
    fresh = ls.open_store(memory).session("s", max_messages=10)
    assert fresh.append([user("more"), assistant("done")]).count == 2
    for turn in range(6):
        fresh.append([user(f"then {turn}"), assistant("done")])
    assert fresh.window().damaged == {}
    assert fresh.verify() == []
    assert len(list(fresh.record())) == 26


def test_where_the_newest_event_is_damaged_too_an_older_one_serves(memory):
    chat = chat_of(memory, turns=12, max_messages=10)
    ledger = memory._ledgers[KEY]
    ledger.head = b"garbage"
    ledger.events[-1] = b"garbage"
    window = chat.window()
    assert list(window)[-1] == assistant("answer 11")
    assert len(window) <= 10
    kinds = {finding.kind for finding in chat.verify()}
    assert kinds == {"view", "event"}


def test_a_row_that_is_missing_behind_the_head_is_told(memory):
    chat = chat_of(memory, turns=2)
    ledger = memory._ledgers[KEY]
    ledger.rows[1] = msgspec.structs.replace(ledger.rows[1], meta=b"")
    assert chat.window().damaged == {2: "it is not there"}


def test_a_fork_inside_a_batch_does_not_take_its_key_along(memory):
    chat = chat_of(memory, turns=0)
    batch = [user("1"), call("a"), result("a")]
    chat.append(batch, key="turn")
    store = ls.open_store(memory)
    whole, part = store.session(chat.fork("whole")), store.session(chat.fork("part", at=1))
    assert whole.append(batch, key="turn").replayed
    assert not part.append(batch, key="turn").replayed
    assert len(list(part.record())) == 4


def test_what_was_purged_is_told_the_same_by_all(memory):
    chat = chat_of(memory, max_messages=4)
    assert chat.purge(ls.Retention(messages=6)) == 6
    assert [entry.state for entry in chat.record()][:6] == ["purged"] * 6
    assert "1-6       purged" in chat.explain()
    assert chat.events()[-1].emptied == (1, 6)


def test_a_limit_that_may_be_passed_writes_no_head_that_changes_nothing(memory):
    chat = ls.open_store(memory).session("s", max_messages=1, on_overflow="smallest")
    chat.append([user("1"), call("a"), call("b")])
    chat.append([user("2")])
    before = len(chat.events())
    chat.append([call("c", "d")])
    chat.append([result("c")])
    assert all(event.gone or event.abandoned for event in chat.events()[before:])


def test_settings_that_are_configured_are_all_named(memory):
    chat = chat_of(memory)
    chat.configure(ttl=60, max_messages=9)
    assert chat.events()[-1].note == "directive, ttl"


def _asks(*ids):
    calls = [{"name": "look_up", "args": {}, "id": one, "type": "tool_call"} for one in ids]
    return {"type": "ai", "data": {"content": "", "tool_calls": calls, "type": "ai"}}


def _says(one):
    told = {"content": "go on", "tool_call_id": one, "name": "look_up", "type": "tool"}
    return {"type": "tool", "data": told}


def _uses(*ids):
    calls = [{"toolUse": {"name": "look_up", "input": {}, "toolUseId": one}} for one in ids]
    return {"role": "assistant", "content": calls}


def _gives(*ids):
    told = [{"toolResult": {"content": [{"text": "ok"}], "toolUseId": one}} for one in ids]
    return {"role": "user", "content": told}


@pytest.mark.parametrize(
    ("format", "messages"),
    [
        (
            "langchain",
            [_asks("c", "c", "c"), _asks("c"), _says("c"), _asks("c"), _says("c")],
        ),
        ("bedrock", [_uses("c"), _uses("c", "c"), _gives("c", "c")]),
    ],
)
@pytest.mark.parametrize("tail", ["open", "closed"])
def test_calls_that_share_an_id_and_stay_open_are_shown_as_the_target_takes_them(
    format, messages, tail
):
    chat = ls.open_store("memory://").session("s", format=format)
    for message in messages:
        chat.append([message])
        window = chat.window(tail=tail)
        report = ls.check(list(window), format=format, tail=tail)
        assert not [one for one in report.errors if one.index >= 0]
