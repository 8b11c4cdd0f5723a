"""The memory backend keeps the contract of stores."""

import pytest

from lockstitch.stores.memory import AsyncMemoryDriver, MemoryBackend, MemoryDriver
from lockstitch.testing.stores import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self):
        self.backend = MemoryBackend()

    def driver(self):
        return MemoryDriver(self.backend)

    async def async_driver(self):
        return AsyncMemoryDriver(self.backend)
