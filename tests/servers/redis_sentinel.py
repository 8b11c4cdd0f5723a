"""A Valkey master with a replica, and three sentinels that watch over them.

with Sentinel() as sentinel:
    client = redis.sentinel.Sentinel(sentinel.sentinels).master_for(sentinel.service_name)
    sentinel.kill_master()            # after about two seconds the replica is the master
    sentinel.wait_until_ok()
    sentinel.heal()                   # both run again, one as the replica of the other
"""

from typing import Self

import redis

from servers.processes import HOST, wait_until
from servers.redis_servers import Binary, RedisServer

# Without these a sentinel looks around every ten seconds, and each failover takes as long.
_HURRY = {
    "INFO-PERIOD": 200,
    "PING-PERIOD": 100,
    "ASK-PERIOD": 100,
    "PUBLISH-PERIOD": 100,
    "DEFAULT-DOWN-AFTER": 500,
    "DEFAULT-FAILOVER-TIMEOUT": 3000,
    "ELECTION-TIMEOUT": 1000,
    "SLAVE-RECONF-TIMEOUT": 1000,
    "MIN-LINK-RECONNECT-PERIOD": 100,
}


class Sentinel:
    """Two servers and three sentinels; which of the servers is the master changes."""

    service_name = "lockstitch"

    def __init__(self, *, down_after_ms: int = 500, binary: Binary | None = None):
        self._binary = binary
        self.servers = [RedisServer(binary) for _ in range(2)]
        name, port = self.service_name, self.servers[0].port
        watch = "\n".join(
            [
                f"sentinel monitor {name} {HOST} {port} 2",
                f"sentinel down-after-milliseconds {name} {down_after_ms}",
                f"sentinel failover-timeout {name} 3000",
            ]
        )
        self._watchers = [RedisServer(binary, sentinel=watch) for _ in range(3)]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def sentinels(self) -> list[tuple[str, int]]:
        """What `redis.sentinel.Sentinel` takes first."""
        return [watcher.address for watcher in self._watchers]

    def start(self) -> Self:
        try:
            first, second = (server.start() for server in self.servers)
            with second.client() as client:
                client.execute_command("REPLICAOF", HOST, first.port)
            for watcher in self._watchers:
                self._start_watcher(watcher)
            self.wait_until_ok()
            wait_until(self._is_whole, "the sentinels know each other and the replica")
        except BaseException:
            self.stop()
            raise
        return self

    def _start_watcher(self, watcher: RedisServer) -> None:
        watcher.start()
        with watcher.client() as client:
            settings = [part for pair in _HURRY.items() for part in pair]
            client.execute_command("SENTINEL", "DEBUG", *settings)

    def stop(self) -> None:
        for server in (*self._watchers, *self.servers):
            server.kill()
            server.stop()

    def master(self) -> RedisServer:
        """Whom the first sentinel takes for the master, running or not."""
        return next(one for one in self.servers if one.port == _master_port(self._watchers[0]))

    def kill_master(self) -> RedisServer:
        """Kills the master, and returns it. `wait_until_ok()` waits for its successor."""
        master = self.master()
        master.kill()
        return master

    def wait_until_ok(self, *, seconds: float = 20) -> None:
        """Until all sentinels name one master that runs and says so itself."""
        wait_until(self._is_ok, "the sentinels agree on a master that runs", seconds=seconds)

    def _is_ok(self) -> bool:
        ports = {_master_port(watcher) for watcher in self._watchers if watcher.running}
        named = next((one for one in self.servers if {one.port} == ports), None)
        return named is not None and named.running and _replication(named)["role"] == "master"

    def heal(self) -> None:
        """Starts what was killed, and waits until it follows the master."""
        for server in self.servers:
            server.start()
        for watcher in self._watchers:
            if not watcher.running:
                self._start_watcher(watcher)
        self.wait_until_ok()
        wait_until(self._is_whole, "the replica follows the master")

    def _is_whole(self) -> bool:
        if not self._is_ok():
            return False
        replica = next(one for one in self.servers if one is not self.master())
        says = _replication(replica)
        followed = says["role"] == "slave" and says["master_port"] == self.master().port
        return (
            followed
            and says["master_link_status"] == "up"
            and all(_knows_all(watcher, self.service_name) for watcher in self._watchers)
        )


def _master_port(watcher: RedisServer) -> int:
    with watcher.client() as client:
        words = ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Sentinel.service_name)
        return int(client.execute_command(*words)[1])


def _replication(server: RedisServer) -> dict:
    try:
        with server.client() as client:
            return client.info("replication")
    except redis.ConnectionError:
        return {"role": "gone"}


def _knows_all(watcher: RedisServer, name: str) -> bool:
    with watcher.client() as client:
        info = client.info("sentinel")
    told = next(
        one for key, one in info.items() if key.startswith("master") and one["name"] == name
    )
    return told["status"] == "ok" and told["slaves"] == 1 and told["sentinels"] == 3
