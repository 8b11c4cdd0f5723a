"""Crowds: many writers and readers on one session at once.

Knows: what must hold at every moment: no window that a provider would refuse, none over the limit;
and at the end: nothing lost, nothing doubled, no batch torn.
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.accepting import check
from lockstitch.errors import Conflict
from lockstitch.testing.builders import assistant, call, result, user

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from lockstitch.stores.store import Session, Store
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Crowds"]


class _Crowd:
    """Writers and readers of one session, and what they saw.

    Args:
        stage: where they play.
        options: of their handles.
    """

    def __init__(self, stage: Stage, id: str = "crowd", **options: Any) -> None:
        self.stage = stage
        self.id = id
        self.options = options
        self.limit: int | None = options.get("max_messages")
        self.sent: dict[str, list[Any]] = {}
        self.first: dict[str, int] = {}
        self.wrong: list[str] = []
        self.windows = 0
        self.writers = 0
        self.ended: list[str] = []

    @property
    def busy(self) -> bool:
        """Whether somebody writes still."""
        return len(self.ended) < self.writers

    def on(self, store: Store) -> Any:
        """Return a handle whose methods are to be awaited."""
        return store.session(self.id, tenant=self.stage.tenant, **self.options)

    def writer(self, name: str, turns: int) -> Callable[[Store], Coroutine[Any, Any, None]]:
        """Return the part of one who appends calls and their results apart, in batches."""
        self.writers += 1

        async def write(store: Store) -> None:
            chat = self.on(store)
            try:
                for turn in range(turns):
                    mine = f"{name}.{turn}"
                    await self.append(chat, mine + "a", [user(mine), call(mine)])
                    await asyncio.sleep(0)
                    said = [result(mine, mine), assistant(f"{mine} done")]
                    await self.append(chat, mine + "b", said)
            finally:
                self.ended.append(name)

        return write

    async def append(self, chat: Any, key: str, batch: list[Any]) -> None:
        """Append one batch with a key of its own, as those do who may have to ask twice."""
        self.sent[key] = batch
        receipt = await chat.append(batch, key=key)
        if not receipt.replayed and receipt.count != len(batch):
            self.wrong.append(f"{key}: {receipt}")
        self.first[key] = receipt.first

    def reader(self, store: Store) -> Coroutine[Any, Any, None]:
        """Play the part of one who asks for windows as long as somebody writes."""

        async def read() -> None:
            chat = self.on(store)
            while self.busy:
                self.look(await chat.window())
                # A view without a limit gets long: who only reads it would keep the others waiting.
                for _ in range(1 if self.limit else 40):
                    await asyncio.sleep(0)

        return read()

    def look(self, window: Any) -> None:
        """Look whether a window may be shown."""
        self.windows += 1
        if self.limit is not None and len(window) > self.limit:
            self.wrong.append(f"{len(window)} messages of {self.limit}")
        if window and not check(list(window), profile="portable", tail="open").ok:
            report = check(list(window), profile="portable", tail="open")
            self.wrong.append(f"{window.seqs}: {report.errors[0].message}")
        if window.damaged:
            self.wrong.append(f"damaged: {window.damaged}")

    def settle(self) -> None:
        """Look whether everything is there, once, in whole batches."""
        assert not self.wrong, "\n".join(self.wrong[:9])
        chat: Session = self.stage.session(self.id, **self.options)
        assert chat.verify() == []
        record = list(chat.record())
        messages = [one.message for one in record]
        assert len(messages) == sum(map(len, self.sent.values())), "lost or doubled"
        for key, batch in self.sent.items():
            first = self.first[key]
            assert messages[first - 1 : first - 1 + len(batch)] == batch, f"{key} is torn"
        self.look(chat.window())
        assert not self.wrong, "\n".join(self.wrong[:9])
        reasons = [(one.seq, one.state) for one in record if one.state == "dropped"]
        assert all(one.reason for one in record if one.state == "dropped"), reasons


class Crowds:
    """Many writers and readers on one session at once."""

    @pytest.mark.parametrize("limit", [None, 6, 50])
    def test_a_crowd_loses_nothing_and_sees_nothing_invalid(
        self, stage: Stage, limit: int | None
    ) -> None:
        self._crowd(stage, limit, writers=4, readers=2, turns=30)

    @pytest.mark.long
    @pytest.mark.parametrize("limit", [None, 6, 50])
    def test_a_large_crowd_loses_nothing_and_sees_nothing_invalid(
        self, stage: Stage, limit: int | None
    ) -> None:
        self._crowd(stage, limit, writers=8, readers=4, turns=125)

    @staticmethod
    def _crowd(stage: Stage, limit: int | None, *, writers: int, readers: int, turns: int) -> None:
        crowd = _Crowd(stage, max_messages=limit)
        bodies = [crowd.writer(f"w{number}", turns) for number in range(writers)]
        stage.together(*bodies, *[crowd.reader] * readers)
        assert len(crowd.sent) == 2 * writers * turns
        crowd.settle()

    def test_a_crowd_on_one_handle_loses_nothing(self, stage: Stage) -> None:
        crowd = _Crowd(stage, max_messages=10)
        shared: list[Any] = []

        def on(store: Store) -> Any:
            if not shared:
                shared.append(_Crowd.on(crowd, store))
            return shared[0]

        crowd.on = on  # type: ignore[method-assign]
        bodies = [crowd.writer(f"w{number}", 5) for number in range(4)]
        stage.together(*bodies, crowd.reader)
        crowd.settle()

    def test_a_crowd_that_makes_the_session_makes_one(self, stage: Stage) -> None:
        crowd = _Crowd(stage, max_messages=40)
        stage.together(*[crowd.writer(f"w{number}", 1) for number in range(8)])
        crowd.settle()

    def test_a_crowd_that_repeats_itself_is_stored_once(self, stage: Stage) -> None:
        crowd = _Crowd(stage, max_messages=20)
        # Everybody sends everything: the same keys, the same batches.
        stage.together(*[crowd.writer("same", 6) for _ in range(5)], crowd.reader)
        assert len(crowd.sent) == 12
        crowd.settle()

    def test_of_a_crowd_that_is_exclusive_one_wins_each_round(self, stage: Stage) -> None:
        won: list[int] = []

        async def play(store: Store) -> None:
            chat: Any = store.session("alone", tenant=stage.tenant, mode="exclusive")
            for _ in range(8):
                window = await chat.window()
                try:
                    receipt = await chat.append(user(str(len(window))))
                except Conflict:
                    continue
                won.append(receipt.first)

        stage.together(*[play] * 4)
        said = [one.message["content"] for one in stage.session("alone").record()]
        assert said == [str(number) for number in range(len(said))]
        assert sorted(won) == list(range(1, len(said) + 1))

    def test_a_crowd_that_changes_the_view_keeps_it_whole(self, stage: Stage) -> None:
        crowd = _Crowd(stage, max_messages=30)

        async def change(store: Store) -> None:
            chat = crowd.on(store)
            draw = random.Random(7)  # noqa: S311 - a seeded draw, nothing secret
            while crowd.busy:
                window = await chat.window()
                if window.version is not None:
                    act = draw.choice(("compact", "rewind", "configure", "compact"))
                    if act == "compact":
                        await chat.compact(lambda _: "so far", keep_recent=6)
                    elif act == "rewind":
                        await chat.rewind(max(0, window.version.seq - 2))
                    else:
                        await chat.configure(max_messages=30)
                await asyncio.sleep(0)

        bodies = [crowd.writer(f"w{number}", 8) for number in range(3)]
        stage.together(*bodies, crowd.reader, change)
        crowd.settle()
