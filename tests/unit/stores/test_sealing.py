"""What is stored is sealed: nobody reads or alters it without a key, and keys can change."""

import builtins

import msgspec
import pytest

import lockstitch as ls
from lockstitch.stores.base import Change, Commit, Key, Row
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.running import run
from lockstitch.stores.sealing import SealedBackend, Sealer, new_key
from lockstitch.testing import assistant, call, result, user
from lockstitch.testing.store_model import Twins

SECRET = "the code is 1234"


@pytest.fixture
def memory():
    return MemoryBackend()


def session(memory, keys, name="s", **options):
    return ls.open_store(memory, keys=keys).session(name, **options)


def everything(memory):
    """All bytes that the backend holds of its sessions."""
    return b"".join(
        [
            *(
                piece
                for ledger in memory._ledgers.values()
                for piece in (ledger.head, ledger.settings, *ledger.events)
            ),
            *(
                piece
                for ledger in memory._ledgers.values()
                for row in ledger.rows
                for piece in (row.meta, row.payload)
            ),
        ]
    )


def test_nothing_that_was_said_is_stored_in_the_clear(memory):
    key = new_key()
    chat = session(memory, key, max_messages=4)
    for _ in range(4):
        chat.append([user(SECRET), call("call-of-mine"), result("call-of-mine", SECRET)])
    chat.compact(lambda _: SECRET, keep_recent=1)
    held = everything(memory)
    assert held
    for word in (SECRET, "call-of-mine", "window_messages", "portable", "user"):
        assert word.encode() not in held
    assert any(SECRET in str(message) for message in chat.window())


def test_all_keys_open_and_the_first_one_seals(memory):
    old, new = new_key(), new_key()
    session(memory, old).append(user("with the old key"))
    session(memory, [new, old]).append(assistant("with the new key"))
    assert len(session(memory, [old, new]).window()) == 2
    with pytest.raises(ls.CorruptRow, match="cannot be decrypted"):
        session(memory, new).window()


def test_a_row_that_was_altered_is_damaged_and_the_others_are_not(memory):
    key = new_key()
    chat = session(memory, key)
    chat.append([user("1"), assistant("2"), user("3")])
    ledger = memory._ledgers[Key(None, "s")]
    row = ledger.rows[1]
    ledger.rows[1] = msgspec.structs.replace(row, payload=row.payload[:-1] + b"\x00")
    window = chat.window()
    assert [message["content"] for message in window] == ["1", "3"]
    assert "cannot be decrypted" in window.damaged[2]
    ledger.rows[1] = msgspec.structs.replace(row, meta=row.meta[:-1] + b"\x00")
    assert "cannot be decrypted" in chat.window().damaged[2]
    assert [finding.seq for finding in chat.verify()] == [2]


def test_a_row_of_another_session_cannot_be_passed_off_as_ones_own(memory):
    key = new_key()
    session(memory, key, "s").append(user("of s"))
    session(memory, key, "t").append(user("of t"))
    one, other = memory._ledgers[Key(None, "s")], memory._ledgers[Key(None, "t")]
    one.rows[0] = other.rows[0]
    assert session(memory, key, "s").window() == []


def test_a_payload_cannot_be_swapped_for_another_of_the_session(memory):
    key = new_key()
    chat = session(memory, key)
    chat.append([user("1"), assistant("2")])
    rows = memory._ledgers[Key(None, "s")].rows
    rows[0], rows[1] = (
        msgspec.structs.replace(rows[0], payload=rows[1].payload),
        msgspec.structs.replace(rows[1], payload=rows[0].payload),
    )
    assert set(chat.window().damaged) == {1, 2}


def test_a_sealed_backend_does_what_the_model_does(memory):
    for seed in range(12):
        driver = MemoryDriver(MemoryBackend())
        backend = SealedBackend(driver.backend, new_key())
        twins = Twins(
            lambda effect, driver=driver: run(effect, driver),
            backend,
            seed=seed,
            tenant="t",
            sizes=False,
        )
        for _ in range(120):
            twins.step()


def test_what_expires_is_swept_away_behind_the_seal():
    now = [0.0]
    memory = MemoryBackend(clock=lambda: now[0])
    store = ls.open_store(memory, keys=new_key())
    store.session("s", ttl=5).append(user("1"))
    now[0] = 6.0
    assert store.sweep() == 1


def test_what_is_in_the_clear_is_not_taken_for_sealed(memory):
    ls.open_store(memory).session("s").append(user("plain"))
    with pytest.raises(ls.CorruptRow, match="no key of ours fits"):
        session(memory, new_key()).window()


def test_the_same_text_is_never_sealed_the_same():
    sealer = Sealer(new_key())
    assert sealer.seal(b"x", "s", b"row") != sealer.seal(b"x", "s", b"row")


def test_many_sessions_share_a_sealer():
    sealer = Sealer(new_key())
    for number in range(1_001):
        sealer.seal(b"x", str(number), b"row")
    sealed = sealer.seal(b"x", "0", b"row")
    assert sealer.open(sealed, "0", b"row") == b"x"


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ([], ValueError),
        (b"short", ValueError),
        (["x" * 32], TypeError),
        ([b"x" * 32, b"y"], ValueError),
    ],
)
def test_what_is_no_key_is_refused(keys, error):
    with pytest.raises(error):
        Sealer(keys)


def test_without_the_package_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ls.MissingExtra, match=r"lockstitch\[crypto\]"):
        Sealer(new_key())


def test_a_head_is_sealed_with_its_event(memory):
    backend = SealedBackend(memory, new_key())
    driver = MemoryDriver(memory)
    key = Key(None, "s")
    done = run(
        backend.commit(Commit(key=key, mark="a", rows=(Row(b"m", b"p"),), epoch="e")), driver
    )
    change = Change(head=b"head", ranges=(1, 1), through=1, event=b"cut")
    sent = Commit(key=key, mark="b", expected=done.now.version, change=change, epoch="f")
    assert run(backend.commit(sent), driver).changed
    assert run(backend.view(key), driver).head == b"head"
    assert run(backend.events(key), driver) == (b"cut",)
    assert b"head" not in everything(memory)
