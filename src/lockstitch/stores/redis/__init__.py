"""The Redis and Valkey backend: one script a call, one round trip, one slot a session.

Knows: which keys a session has and what they hold (`scripts/session.lua` has the list), and how
replies are read (`lockstitch.stores.redis.backend`); how a client carries a script out, whichever
of redis-py's clients it is (`drivers`), and how one is made from an address (`connecting`).

Must not know: what a cut is. Nothing here imports redis before an address is opened.
"""

from lockstitch.stores.redis.backend import RedisBackend
from lockstitch.stores.redis.connecting import connect, connect_async
from lockstitch.stores.redis.drivers import AsyncRedisDriver, RedisDriver

__all__ = ["AsyncRedisDriver", "RedisBackend", "RedisDriver", "connect", "connect_async"]
