"""The Redis backend keeps the contract of stores, on one server and on a cluster."""

import pytest

from lockstitch.stores.redis import connect, connect_async
from lockstitch.testing.stores import StoreContract


class TestValkey(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, valkey):
        self.url = valkey

    def driver(self):
        return connect(self.url)

    async def async_driver(self):
        return connect_async(self.url)


class TestRedis62(TestValkey):
    @pytest.fixture(autouse=True)
    def _place(self, redis62):
        self.url = redis62


class TestCluster(TestValkey):
    @pytest.fixture(autouse=True)
    def _place(self, valkey_cluster):
        self.url = valkey_cluster.url.replace("redis://", "redis+cluster://")
