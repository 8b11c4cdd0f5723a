"""The PostgreSQL backend keeps the contract of stores."""

import pytest

from lockstitch.stores.postgres import connect, connect_async
from lockstitch.testing.stores import StoreContract


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, postgres):
        self.url = postgres

    def driver(self):
        # A pool that grows draws a random number in a thread of its own, for how long a connection
        # lives, and Hypothesis refuses that while it draws.
        return connect(self.url, max_size=1)

    async def async_driver(self):
        return connect_async(self.url, max_size=1)


class TestPostgres16(TestPostgres):
    @pytest.fixture(autouse=True)
    def _place(self, postgres16):
        self.url = postgres16


class TestPostgresOfTheMachine(TestPostgres):
    @pytest.fixture(autouse=True)
    def _place(self, postgres_machine):
        self.url = postgres_machine
