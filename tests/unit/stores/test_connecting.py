"""A store is opened from an address or a client; what is neither is refused in words."""

import asyncio

import pytest

import lockstitch as ls
from lockstitch.stores.memory import MemoryBackend
from lockstitch.testing import user


def test_a_memory_store_is_one_of_its_own():
    ls.open_store("memory://").session("s").append(user("1"))
    assert ls.open_store("memory://").session("s").window() == []


def test_a_memory_backend_is_shared_by_both_kinds_of_store():
    backend = MemoryBackend()
    ls.open_store(backend).session("s").append(user("1"))

    async def read():
        async with ls.open_async_store(backend) as store:
            return await store.session("s").window()

    assert asyncio.run(read()) == [user("1")]


def test_a_file_is_named_by_three_slashes_or_four(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ls.open_store("sqlite:///chat%20one.db") as store:
        store.session("s").append(user("1"))
    with ls.open_store(f"sqlite:///{tmp_path}/chat one.db") as store:
        assert store.session("s").window() == [user("1")]


@pytest.mark.parametrize("url", ["sqlite://chat.db", "sqlite://", "sqlite:///"])
def test_an_address_that_names_no_file_is_refused(url):
    with pytest.raises(ValueError, match="names no file"):
        ls.open_store(url)


@pytest.mark.parametrize("url", ["mysql://user:secret@host/db", "chat.db", ""])
def test_an_unknown_address_is_refused_and_no_secret_is_told(url):
    with pytest.raises(ValueError, match=r"sqlite:///chat\.db") as caught:
        ls.open_store(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("client", [None, 7, object()])
def test_what_is_no_client_is_refused(client):
    with pytest.raises(TypeError, match="from an address or a client"):
        ls.open_store(client)


def test_options_of_other_backends_are_refused():
    with pytest.raises(TypeError, match="memory:// takes no options, got prefix"):
        ls.open_store("memory://", prefix="x")
