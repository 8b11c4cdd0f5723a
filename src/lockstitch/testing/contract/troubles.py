"""Troubles: replies that are lost, servers that are not there, tasks that are cancelled.

Knows: that an operation takes place whole or not at all, and once however often it is asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.accepting import check
from lockstitch.errors import StoreError, StoreUnavailable
from lockstitch.stores.store import AsyncStore
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.faults import AsyncFaulty, Faulty
from lockstitch.testing.contract.messages import texts

if TYPE_CHECKING:
    from lockstitch.stores.store import Session
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Troubles"]


def _driver(stage: Stage, seed: int, before: float, after: float) -> Any:
    """Return a driver that fails now and then."""
    faulty = Faulty if stage.kind == "sync" else AsyncFaulty
    return stage.new_driver(partial(faulty, seed=seed, before=before, after=after))


def _through(stage: Stage, seed: int, before: float, after: float, **options: Any) -> Session:
    """Return a handle whose driver fails now and then."""
    driver = _driver(stage, seed, before, after)
    return stage.store(driver).session("chat", tenant=stage.tenant, **options)


class Troubles:
    """Replies that are lost, servers that are not there, tasks that are cancelled."""

    @pytest.mark.parametrize("limit", [None, 6])
    @pytest.mark.parametrize("named", ["with keys", "without keys"])
    def test_lost_replies_lose_and_double_nothing(
        self, stage: Stage, limit: int | None, named: str
    ) -> None:
        chat = _through(stage, 3, 0.25, 0.25, max_messages=limit)
        other = stage.elsewhere(max_messages=limit)
        for number in range(12):
            key = f"turn-{number}" if named == "with keys" else None
            receipt = chat.append([user(str(number)), call(f"c{number}")], key=key)
            assert receipt.count == 2
            other.append(user(f"beside {number}"))
            chat.append([result(f"c{number}"), assistant("ok")])
            assert check(chat.window(), profile="portable", tail="open").ok
        record = [one.message for one in stage.session().record()]
        assert len(record) == 60
        mine = [one for one in record if not str(one["content"]).startswith("beside")]
        assert mine == [
            one
            for number in range(12)
            for one in (
                user(str(number)),
                call(f"c{number}"),
                result(f"c{number}"),
                assistant("ok"),
            )
        ]
        assert stage.session().verify() == []
        assert limit is None or len(stage.session().window()) <= limit

    def test_lost_replies_do_nothing_twice_to_the_view(self, stage: Stage) -> None:
        chat = _through(stage, 5, 0.2, 0.3)
        chat.append([user("1"), assistant("2"), user("3"), assistant("4")])
        assert chat.edit(1, user("one")).first == 5
        assert texts(chat.window()) == ["one", "2", "3", "4"]
        assert chat.rewind(4) >= 0
        assert texts(chat.window()) == ["1", "2", "3", "4"]
        assert chat.pop() == [assistant("4")]
        assert texts(chat.window()) == ["1", "2", "3"]
        chat.compact(lambda _: "so far", keep_recent=1)
        assert texts(chat.window())[-1] == "3"
        assert chat.fork("fork") == "fork"
        assert stage.session("fork").verify() == []
        assert chat.clear() == 1
        assert chat.touch(3_600)
        assert len(list(chat.record())) == 5
        assert chat.delete() in {True, False}
        assert stage.reading().version is None

    def test_an_exclusive_append_whose_reply_is_lost_is_no_conflict(self, stage: Stage) -> None:
        chat = _through(stage, 9, 0.1, 0.4, mode="exclusive")
        for number in range(20):
            assert chat.append([user(str(number)), assistant("ok")]).first == 2 * number + 1

    def test_a_server_that_is_not_there_is_given_up_in_time(self, stage: Stage) -> None:
        stage.session().append(user("1"))
        chat = _through(stage, 1, 1.0, 0.0, patience=0.2, max_messages=4)
        for use in (
            lambda: chat.append(user("2")),
            chat.window,
            chat.events,
            chat.clear,
            lambda: list(chat.record()),
            lambda: list(chat.export()),
            chat.verify,
            chat.touch,
            chat.delete,
        ):
            with pytest.raises(StoreUnavailable, match=r"0\.2 seconds") as caught:
                use()
            assert caught.value.attempts > 1
            assert caught.value.retryable
        assert texts(stage.session().window()) == ["1"]

    def test_an_append_that_was_given_up_may_be_sent_again_with_its_key(self, stage: Stage) -> None:
        lost = _through(stage, 1, 0.0, 1.0, patience=0.1)
        with pytest.raises(StoreUnavailable):
            lost.append([user("1"), assistant("2")], key="turn")
        receipt = stage.session().append([user("1"), assistant("2")], key="turn")
        assert (receipt.replayed, receipt.first, receipt.count) == (True, 1, 2)
        assert len(stage.session().window()) == 2

    def test_a_handle_goes_on_when_the_server_is_back(self, stage: Stage) -> None:
        driver = _driver(stage, 1, 0.0, 0.0)
        chat = stage.store(driver).session(
            "chat", tenant=stage.tenant, max_messages=6, patience=0.1
        )
        for number in range(6):
            chat.append([user(str(number)), assistant("ok")])
            driver.break_off(before=number % 2, after=1 - number % 2)
            with pytest.raises(StoreUnavailable):
                chat.append([user("lost"), assistant("or not")], key=f"k{number}")
            driver.break_off(before=0.0, after=0.0)
            chat.append([user("lost"), assistant("or not")], key=f"k{number}")
            assert len(chat.window()) <= 6
        assert len(list(stage.session().record())) == 24

    def test_what_the_server_refuses_is_not_asked_for_again(self, stage: Stage) -> None:
        driver = _driver(stage, 1, 0.0, 0.0)
        chat = stage.store(driver).session("chat", tenant=stage.tenant)
        driver.break_off(before=1.0, error=StoreError("the disk is full"))
        with pytest.raises(StoreError, match="disk is full"):
            chat.append([user("1"), assistant("2")])
        assert driver.lost == 1
        driver.break_off(before=0.0)
        assert chat.append(user("1")).first == 1

    def test_a_task_that_is_cancelled_leaves_the_session_whole(self, stage: Stage) -> None:
        if stage.kind == "sync":
            pytest.skip("only what is awaited is cancelled")
        driver = stage.new_driver(partial(AsyncFaulty, seed=2, before=0.1, after=0.1))
        stage.in_loop(self._cancelled(stage, driver, seeds=30))
        record = [one.message for one in stage.session().record()]
        batches = [record[at : at + 3] for at in range(0, len(record), 3)]
        for first, second, third in batches:
            number = first["content"]
            assert (second, third) == (call(f"c{number}"), result(f"c{number}"))
        said = [first["content"] for first, _, _ in batches]
        assert len(said) == len(set(said)), "something was stored twice"
        assert stage.session().verify() == []
        window = stage.session().window()
        assert len(window) <= 8
        assert check(window, profile="portable", tail="open").ok

    @staticmethod
    async def _cancelled(stage: Stage, driver: Any, seeds: int) -> None:
        chat: Any = AsyncStore(driver).session("chat", tenant=stage.tenant, max_messages=8)
        draw = random.Random(4)  # noqa: S311 - a seeded draw, nothing secret

        async def act(number: int) -> None:
            name = str(number)
            await chat.append([user(name), call(f"c{name}"), result(f"c{name}")], key=name)
            await chat.window()
            if number % 5 == 0:
                await chat.rewind(max(0, (await chat.window()).version.seq - 3))
            if number % 7 == 0:
                await chat.compact(lambda _: "so far", keep_recent=3)

        for number in range(seeds):
            task = asyncio.ensure_future(act(number))
            for _ in range(draw.randrange(0, 12)):
                await asyncio.sleep(0)
            if draw.random() < 0.5:
                await asyncio.sleep(draw.random() * 0.01)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        # The handle that lived through all of it is still good.
        receipt = await chat.append([user("end"), call("cend"), result("cend")], key="end")
        assert receipt.count == 3
