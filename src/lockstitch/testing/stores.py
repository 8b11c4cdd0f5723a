"""The contract of stores: every test that a backend has to pass, to be inherited.

A backend's own test says where its storage is, and pytest collects the rest:

    import pytest
    from lockstitch.testing.stores import StoreContract

    class TestMine(StoreContract):
        @pytest.fixture(autouse=True)
        def _place(self, tmp_path):
            self.path = tmp_path / "chat.db"

        def driver(self):                # another client of the same storage each time
            return MyDriver(self.path)

        async def async_driver(self):    # the same for asyncio; leave it out if there is none
            return MyAsyncDriver(self.path)

Every test is played to both kinds of driver, each time under a tenant of its own, so that nothing
has to be cleaned up between tests. Tests that take minutes are marked `long`: register that marker.

Needs pytest and Hypothesis: `pip install 'lockstitch[testing]'`. To see in a failure what
was compared, let pytest rewrite the kit's assertions, first of all in a `conftest.py`:

    pytest.register_assert_rewrite("lockstitch.testing")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lockstitch.testing.contract.appends import Appends
from lockstitch.testing.contract.changes import Changes
from lockstitch.testing.contract.crowds import Crowds
from lockstitch.testing.contract.cuts import Cuts
from lockstitch.testing.contract.damage import Damage
from lockstitch.testing.contract.faults import AsyncFaulty, Faulty
from lockstitch.testing.contract.histories import Histories
from lockstitch.testing.contract.lifetimes import Lifetimes
from lockstitch.testing.contract.stage import Place, Stage
from lockstitch.testing.contract.steps import Steps
from lockstitch.testing.contract.travels import Travels
from lockstitch.testing.contract.troubles import Troubles
from lockstitch.testing.contract.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AsyncFaulty", "Faulty", "Stage", "StoreContract"]


class StoreContract(
    Place,
    Appends,
    Cuts,
    Waits,
    Damage,
    Changes,
    Steps,
    Travels,
    Lifetimes,
    Crowds,
    Troubles,
    Histories,
):
    """What every store promises. Subclass it, and say where the storage is."""

    @pytest.fixture(params=["sync", "async"])
    def stage(self, request: pytest.FixtureRequest) -> Iterator[Stage]:
        """The test's own corner of the storage, once for each kind of driver."""
        stage = Stage(self, request.param)
        try:
            if not stage.possible:
                pytest.skip(f"the backend has no {request.param} driver")
            yield stage
        finally:
            stage.close()
