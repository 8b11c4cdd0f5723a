"""Steps: what strategies do beside dropping the oldest; limits that come later than messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lockstitch.accepting import check
from lockstitch.errors import CannotFit
from lockstitch.measure.counters import ByteCounter
from lockstitch.strategies.named import (
    LastGroupsHistoryStrategy,
    LastTurnsHistoryStrategy,
    StepsHistoryStrategy,
    SummarizingHistoryStrategy,
)
from lockstitch.strategies.steps import ClearResults, DropReasoning
from lockstitch.testing.builders import assistant, call, result, user
from lockstitch.testing.contract.messages import texts, thinking, tool_result

if TYPE_CHECKING:
    from lockstitch.testing.contract.stage import Stage

__all__ = ["Steps"]


def _turn(number: int) -> list[Any]:
    id = f"c{number}"
    return [user(f"q{number}"), call(id), result(id), assistant(f"a{number}")]


class Steps:
    """What strategies do beside dropping the oldest, and limits that came later than messages."""

    def test_the_last_turns_are_kept(self, stage: Stage) -> None:
        chat = stage.session(strategy=LastTurnsHistoryStrategy(turns=2))
        for number in range(6):
            chat.append(_turn(number))
        assert chat.window() == _turn(4) + _turn(5)
        assert "turns" in chat.events()[0].fired[0]

    def test_the_last_groups_are_kept(self, stage: Stage) -> None:
        chat = stage.session(strategy=LastGroupsHistoryStrategy(groups=3), profile="openai-chat")
        for number in range(6):
            chat.append(_turn(number))
        assert chat.window() == _turn(5)
        assert "groups" in chat.events()[0].fired[0]

    def test_old_thinking_goes_first(self, stage: Stage) -> None:
        strategy = StepsHistoryStrategy(steps=(DropReasoning(),), max_chars=500, low_water=0.9)
        chat = stage.session(strategy=strategy, profile="anthropic")
        for number in range(12):
            chat.append([user("q " * 9), thinking(f"c{number}"), tool_result(f"c{number}")])
            chat.append(assistant("ok"))
            window = chat.window()
            assert check(list(window), profile="anthropic", format="anthropic").ok
        assert len([one for one in chat.record() if one.state == "shown"]) < 48
        assert stage.elsewhere().window() == chat.window()

    def test_a_limit_in_tokens_holds_for_what_nobody_counted(self, stage: Stage) -> None:
        chat = stage.session()
        for number in range(10):
            chat.append(_turn(number))
        counters: tuple[Any, ...] = (None, ByteCounter(), _one)
        for at, counter in enumerate(counters):
            limited = stage.session(max_tokens=(60, 200, 9)[at], counter=counter)
            window = limited.window()
            assert 0 < len(window) < 40
            assert check(list(window), profile="portable").ok
        limited = stage.session(max_tokens=60)
        receipt = limited.append(_turn(10))
        assert receipt.dropped
        assert texts(limited.window())[-1] == "a10"

    def test_steps_whose_floor_does_not_fit_drop_or_raise(self, stage: Stage) -> None:
        for overflow in ("drop", "raise"):
            strategy = StepsHistoryStrategy(steps=(ClearResults(),), max_chars=60)
            chat: Any = stage.session(overflow, strategy=strategy, on_overflow=overflow)
            chat.append([user("q"), assistant("a")])
            receipt = chat.append([user("x" * 500), assistant("y" * 500)])
            assert receipt.count == 2
            if overflow == "raise":
                with pytest.raises(CannotFit):
                    chat.window()
            else:
                assert receipt.overflow
                assert sum(map(len, texts(chat.window()))) <= 60
            assert len(list(chat.record())) == 4

    def test_a_summarizer_may_be_awaited_where_the_store_is(self, stage: Stage) -> None:
        async def summarizer(prompt: Any) -> str:
            return f"{len(prompt.lines)} lines so far"

        strategy = SummarizingHistoryStrategy(trigger_chars=80, keep_recent=2)
        chat = stage.session(strategy=strategy, summarizer=summarizer)
        for number in range(8):
            receipt = chat.append(_turn(number))
            assert receipt.count == 4
        said = [event.summary for event in chat.events() if event.summary]
        if stage.kind == "async":
            assert said
            assert "lines so far" in said[0]
        assert len(list(chat.record())) == 32

    def test_a_store_lets_go_of_what_it_opened(self, stage: Stage) -> None:
        store: Any = stage.store(stage.new_driver())
        if stage.kind == "sync":
            with store as opened:
                opened.session("chat", tenant=stage.tenant).append(user())
        else:
            stage.in_loop(_entered(store.awaited, stage.tenant))
        assert len(stage.session().window()) == 1


async def _entered(store: Any, tenant: str) -> None:
    async with store as opened:
        await opened.session("chat", tenant=tenant).append(user())


def _one(_: Any) -> int:
    return 1
