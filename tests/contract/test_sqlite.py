"""The SQLite backend keeps the contract of stores."""

import pytest

from lockstitch.stores.sqlite import connect, connect_async
from lockstitch.testing.stores import StoreContract


class TestSqlite(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path):
        self.url = f"sqlite:///{tmp_path}/chat.db"

    def driver(self):
        return connect(self.url)

    async def async_driver(self):
        return connect_async(self.url)
