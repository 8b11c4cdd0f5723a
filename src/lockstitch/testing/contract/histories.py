"""Histories: conversations of every kind, in every format, appended bit by bit by several handles.

Knows: what holds whatever was appended. Needs Hypothesis: `pip install 'lockstitch[testing]'`.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lockstitch.accepting import check
from lockstitch.formats import FORMATS
from lockstitch.rules.profiles import PROFILES
from lockstitch.stores.memory import MemoryBackend, MemoryDriver
from lockstitch.stores.running import run
from lockstitch.testing.contract.messages import exact
from lockstitch.testing.store_model import Twins
from lockstitch.testing.strategies import KINDS
from lockstitch.writing import WRITERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.testing.contract.stage import Stage

__all__ = ["Histories"]

# What is inherited is run by another class each time; its storage is the same for all examples.
_SHARED: Final = [
    HealthCheck.differing_executors,
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
    HealthCheck.filter_too_much,
]
FEW: Final = max(4, settings().max_examples // 12)
"""Each example is many round trips; a profile that searches far has more of them here as well."""

# A profile asks for a shape that other formats cannot be written in.
_TARGETS: Final = {
    "openai-chat": ("portable", "openai-chat", "deepseek", "mistral"),
    "openai-responses": ("portable", "openai-responses"),
    "anthropic": ("portable", "anthropic", "bedrock"),
    "anthropic-events": ("portable",),
    "langchain": ("portable", "anthropic"),
    "mistral": ("portable", "mistral"),
    "gemini": ("portable", "gemini"),
    "bedrock": ("portable", "bedrock"),
    "agent-framework": ("portable", "openai-chat", "openai-responses", "anthropic"),
}


@st.composite
def _batches(draw: Any, messages: Sequence[Any]) -> list[tuple[int, list[Any]]]:
    """Cut messages into batches, each with the number of the handle that appends it."""
    batches: list[tuple[int, list[Any]]] = []
    at = 0
    while at < len(messages):
        size = draw(st.sampled_from((1, 1, 2, 3, 5, 20)))
        batches.append((draw(st.integers(0, 1)), list(messages[at : at + size])))
        at += size
    return batches


class Histories:
    """Conversations of every kind, in every format, appended bit by bit by several handles."""

    @pytest.mark.parametrize("format", sorted(FORMATS))
    @settings(max_examples=FEW, suppress_health_check=_SHARED)
    @given(data=st.data())
    def test_any_history_is_recorded_whole_and_shown_as_the_target_takes_it(
        self, stage: Stage, format: str, data: st.DataObject
    ) -> None:
        kind = data.draw(st.sampled_from(["valid", "valid", *sorted(KINDS)]), label="kind")
        messages = data.draw(KINDS[kind](format), label="messages")
        # An object that cannot be dumped cannot be stored, and is refused.
        assume(all(isinstance(message, dict) for message in messages))
        profile = data.draw(
            st.sampled_from([name for name in _TARGETS[format] if name in PROFILES])
        )
        limit = data.draw(st.sampled_from((None, 1, 2, 3, 5, 8, 12, 30)), label="limit")
        cut: Literal["groups", "prefix"]
        cut = data.draw(st.sampled_from(("groups", "prefix")), label="cut")
        tight = data.draw(st.booleans(), label="tight")
        options: dict[str, Any] = {"format": format, "profile": profile}
        if limit is not None:
            options["strategy"] = exact(limit, cut) if tight else exact(limit, cut, low_water=0.5)
        id = secrets.token_hex(6)
        handles = [stage.session(id, **options), stage.session(id, **options)]
        sent: list[Any] = []
        for number, batch in data.draw(_batches(messages), label="batches"):
            receipt = handles[number].append(batch)
            assert (receipt.first, receipt.count) == (len(sent) + 1, len(batch))
            sent += batch
            self._shown(handles[number], profile, format, limit)
        self._recorded(stage.session(id, **options), sent)

    @staticmethod
    def _shown(chat: Any, profile: str, format: str, limit: int | None) -> None:
        for tail in ("open", "closed"):
            window = chat.window(tail=tail)
            assert not window.damaged
            assert limit is None or len(window) <= limit, "over the limit"
            if not window or format not in WRITERS:
                continue  # what cannot be written cannot be mended
            report = check(list(window), profile=profile, format=format, tail=tail)
            # That there is nothing to answer yet is no damage.
            errors = [one for one in report.errors if one.index >= 0]
            assert not errors, f"refused: {errors}\n{list(window)}"
        assert chat.window() == chat.window()

    @staticmethod
    def _recorded(chat: Any, sent: list[Any]) -> None:
        record = list(chat.record())
        assert [one.message for one in record] == sent
        window = chat.window()
        shown = {seq for seq in window.seqs if seq}
        dropped = {seq for seq, _ in window.dropped}
        for one in record:
            assert one.state in {"shown", "changed", "hidden", "dropped"}
            if one.state == "dropped":
                assert one.reason, f"{one.seq} went without a reason"
                assert one.seq not in shown
            elif one.state == "hidden":
                assert one.seq not in shown
            elif one.seq not in shown:
                # What is mended for the target is said, and so is what this reader left out.
                assert window.changes or one.seq in dropped, f"{one.seq} is not shown"
        assert chat.verify() == []

    @pytest.mark.parametrize("seed", range(12))
    def test_a_backend_replies_as_the_model_does(self, stage: Stage, seed: int) -> None:
        twins = Twins(stage.effect, stage.backend, seed=seed, tenant=stage.tenant)
        for _ in range(60):
            twins.step()

    @pytest.mark.long
    @pytest.mark.parametrize("seed", range(100, 150))
    def test_a_backend_replies_as_the_model_does_for_long(self, stage: Stage, seed: int) -> None:
        twins = Twins(stage.effect, stage.backend, seed=seed, tenant=stage.tenant)
        for _ in range(600):
            twins.step()

    def test_twins_notice_a_backend_that_is_another(self, stage: Stage) -> None:
        class Other(MemoryBackend):
            """Replies that nothing is there."""

            def _commit(self, change: Any) -> Any:
                done = super()._commit(change)
                self._ledgers.clear()
                return done

        driver = MemoryDriver(Other())
        twins = Twins(
            lambda effect: run(effect, driver), driver.backend, seed=1, tenant=stage.tenant
        )

        def play() -> None:
            for _ in range(60):
                twins.step()

        with pytest.raises(AssertionError, match="the model"):
            play()
