"""The PostgreSQL backend keeps the contract of stores."""

import pytest

from lockstitch.stores.postgres import connect, connect_async
from lockstitch.testing.stores import StoreContract


class TestPostgres(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, postgres: str):
        self.url = postgres

    def driver(self):
        return connect(self.url, max_size=4)

    async def async_driver(self):
        return connect_async(self.url, max_size=4)


class TestPostgresOfTheMachine(TestPostgres):
    @pytest.fixture(autouse=True)
    def _place(self, postgres_machine: str):
        self.url = postgres_machine
