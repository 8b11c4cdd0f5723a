"""The PostgreSQL backend keeps the contract of stores."""

import pytest

from lockstitch.stores.postgres import connect, connect_async
from lockstitch.testing.stores import StoreContract


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, postgres):
        self.url = postgres

    def driver(self):
        return connect(self.url)

    async def async_driver(self):
        return connect_async(self.url)


class TestPostgres16(TestPostgres):
    @pytest.fixture(autouse=True)
    def _place(self, postgres16):
        self.url = postgres16
