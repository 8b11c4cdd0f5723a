"""Faults: drivers that lose replies and refuse connections, as networks and servers do.

>>> from lockstitch.stores.memory import MemoryDriver
>>> from lockstitch.stores.store import Store
>>> chat = Store(Faulty(MemoryDriver(), seed=1)).session("s")
>>> [chat.append({"role": "user", "content": str(n)}).first for n in range(20)][-1]
20
"""

from __future__ import annotations

import random
from typing import Any

from lockstitch.errors import StoreUnavailable

__all__ = ["AsyncFaulty", "Faulty"]


class _Fate:
    """What befalls a step: nothing, or it is lost on the way there, or on the way back."""

    def __init__(self, driver: Any, seed: int, before: float, after: float) -> None:
        self.backend = driver.backend
        self.lost = 0
        self._driver = driver
        self._draw = random.Random(seed)  # noqa: S311 - a seeded draw, nothing secret
        self.break_off(before=before, after=after)

    def break_off(
        self, *, before: float = 0.0, after: float = 0.0, error: Exception | None = None
    ) -> None:
        """Fail so often from now on; with another error than that nobody answers."""
        self._before = before
        self._after = after
        self._error = error

    def _meet(self, chance: float, where: str) -> None:
        if self._draw.random() < chance:
            self.lost += 1
            raise self._error or StoreUnavailable(f"lost {where}, as the test wants it")


class Faulty(_Fate):
    """A driver that fails now and then, before a step is carried out or after.

    Args:
        driver: the one that carries out the steps.
        seed: what the failures follow from.
        before: how often a step is lost before it is carried out, from 0 to 1.
        after: how often the reply is lost to a step that was carried out.

    `lost` counts the failures.
    """

    def __init__(self, driver: Any, seed: int, *, before: float = 0.2, after: float = 0.2) -> None:
        super().__init__(driver, seed, before, after)

    def perform(self, step: Any) -> Any:
        """Carry out a step, or not, and return what comes of it, or not."""
        self._meet(self._before, "on the way there")
        outcome = self._driver.perform(step)
        self._meet(self._after, "on the way back")
        return outcome

    def close(self) -> None:
        """Close the driver."""
        self._driver.close()


class AsyncFaulty(_Fate):
    """The same for a driver whose steps are awaited.

    Args:
        driver: the one that carries out the steps.
        seed: what the failures follow from.
        before: how often a step is lost before it is carried out, from 0 to 1.
        after: how often the reply is lost to a step that was carried out.
    """

    def __init__(self, driver: Any, seed: int, *, before: float = 0.2, after: float = 0.2) -> None:
        super().__init__(driver, seed, before, after)

    async def perform(self, step: Any) -> Any:
        """Carry out a step, or not, and return what comes of it, or not."""
        self._meet(self._before, "on the way there")
        outcome = await self._driver.perform(step)
        self._meet(self._after, "on the way back")
        return outcome

    async def aclose(self) -> None:
        """Close the driver."""
        await self._driver.aclose()
