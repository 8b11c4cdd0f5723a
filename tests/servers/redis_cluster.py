"""A Valkey Cluster of three masters and a replica each, formed, broken and mended by commands.

    with Cluster() as cluster:
        client = redis.RedisCluster.from_url(cluster.url)
        cluster.kill_master_of("key")     # its replica takes over after about two seconds
        cluster.wait_until_ok()
        cluster.heal()                    # all six run again, and each master has its replica

Nothing is on disk: a master that comes back before its replica took over comes back empty.
"""

import dataclasses
from collections.abc import Iterator
from typing import Self

import redis
from redis.crc import key_slot

from servers.processes import HOST, give_port_back, take_port, wait_until
from servers.redis_servers import Binary, RedisServer

SLOTS = 16_384
MASTERS = 3


@dataclasses.dataclass(frozen=True)
class Seen:
    """A node, as another one sees it."""

    id: str
    port: int
    flags: frozenset[str]
    master: str
    slots: tuple[range, ...]

    def holds(self, slot: int) -> bool:
        return any(slot in held for held in self.slots)


def _read(line: str) -> Seen:
    id_, address, flags, master, *_ = line.split()
    slots = [piece.partition("-") for piece in line.split()[8:] if piece[0] != "["]
    return Seen(
        id=id_,
        port=int(address.partition("@")[0].rpartition(":")[2]),
        flags=frozenset(flags.split(",")),
        master=master,
        slots=tuple(range(int(first), int(last or first) + 1) for first, _, last in slots),
    )


class Cluster:
    """Six servers; which of them are masters changes as they fail over."""

    def __init__(self, *, node_timeout_ms: int = 2000, binary: Binary | None = None):
        self._bus = [take_port() for _ in range(2 * MASTERS)]
        self.nodes = [
            RedisServer(
                binary,
                config={
                    "cluster-enabled": "yes",
                    "cluster-config-file": "nodes.conf",
                    "cluster-node-timeout": str(node_timeout_ms),
                    "cluster-port": str(bus),
                    "cluster-allow-replica-migration": "no",  # each keeps to its pair
                    "cluster-replica-validity-factor": "0",  # a replica always stands for election
                },
            )
            for bus in self._bus
        ]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Of one node that runs; a client finds the others through it."""
        return self.running[0].url

    @property
    def running(self) -> list[RedisServer]:
        return [node for node in self.nodes if node.running]

    # --- forming ---------------------------------------------------------------------------------

    def start(self) -> Self:
        try:
            self._form()
        except BaseException:
            self.stop()
            raise
        return self

    def _form(self) -> None:
        for node in self.nodes:
            node.start()
        masters, replicas = self.nodes[:MASTERS], self.nodes[MASTERS:]
        for number, master in enumerate(masters):
            first, end = number * SLOTS // MASTERS, (number + 1) * SLOTS // MASTERS
            _say(master, "SET-CONFIG-EPOCH", number + 1)
            _say(master, "ADDSLOTSRANGE", first, end - 1)
        # Every pair is introduced: waiting for them to hear of each other takes longer.
        for number, node in enumerate(self.nodes):
            for other, bus in zip(self.nodes[:number], self._bus, strict=False):
                _say(node, "MEET", HOST, other.port, bus)
        wait_until(self._all_met, "all nodes know each other")
        for master, replica in zip(masters, replicas, strict=True):
            _say(replica, "REPLICATE", self.id_of(master))
        self._wait_until_whole()

    def _all_met(self) -> bool:
        return all(
            len(seen) == len(self.nodes) and not any("handshake" in one.flags for one in seen)
            for seen in map(view, self.nodes)
        )

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()
            node.stop()
        while self._bus:
            give_port_back(self._bus.pop())

    # --- who is who ------------------------------------------------------------------------------

    def id_of(self, node: RedisServer) -> str:
        return str(_say(node, "MYID"))

    def masters(self) -> list[RedisServer]:
        """Those that hold slots, running or not, as the first running node sees it."""
        return [self._node(seen) for seen in view(self.running[0]) if seen.slots]

    def master_of(self, slot: int | str | bytes) -> RedisServer:
        """Who holds a slot; a key stands for its slot."""
        return self._node(self._holder(slot))

    def replica_of(self, slot: int | str | bytes) -> RedisServer:
        """A running replica of who holds the slot."""
        master = self._holder(slot)
        for seen in view(self.running[0]):
            if seen.master == master.id and self._node(seen).running:
                return self._node(seen)
        raise LookupError(f"no replica of {master} is running")

    def _holder(self, slot: int | str | bytes) -> Seen:
        number = slot_of(slot)
        return next(seen for seen in view(self.running[0]) if seen.holds(number))

    def _node(self, seen: Seen) -> RedisServer:
        return next(node for node in self.nodes if node.port == seen.port)

    # --- breaking and mending --------------------------------------------------------------------

    def kill_master_of(self, slot: int | str | bytes) -> RedisServer:
        """Kills who holds the slot, and returns it. `wait_until_ok()` waits for its successor."""
        master = self.master_of(slot)
        master.kill()
        return master

    def failover(self, slot: int | str | bytes) -> RedisServer:
        """Lets the replica take over in an orderly way; returns the new master."""
        replica = self.replica_of(slot)
        _say(replica, "FAILOVER")
        wait_until(
            lambda: all(
                seen.port == replica.port
                for node in self.running
                for seen in view(node)
                if seen.holds(slot_of(slot))
            ),
            "all nodes know the new master",
        )
        self.wait_until_ok()
        return replica

    def wait_until_ok(self, *, seconds: float = 20) -> None:
        """Until all running nodes agree that running nodes hold all slots."""
        wait_until(self._is_ok, "the cluster is ok", seconds=seconds)

    def _is_ok(self) -> bool:
        running = {node.port for node in self.running}
        held = {tuple(_slots_of_the_living(node, running)) for node in self.running}
        return (
            len(held) == 1
            and sum(len(slots) for _, slots in held.pop()) == SLOTS
            and all("cluster_state:ok" in str(_say(node, "INFO")) for node in self.running)
        )

    def heal(self) -> None:
        """Starts what was killed, closes what a migration left open, waits for all replicas."""
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            with node.client() as client:
                for line in str(client.execute_command("CLUSTER", "NODES")).splitlines():
                    if "myself" in line:
                        for piece in line.split()[8:]:
                            if piece[0] == "[":
                                slot = piece[1:].partition("-")[0]
                                _say(node, "SETSLOT", int(slot), "STABLE")
        self._wait_until_whole()

    def _wait_until_whole(self) -> None:
        self.wait_until_ok()
        wait_until(self._is_whole, "each master has its replica")

    def _is_whole(self) -> bool:
        if len(self.masters()) != MASTERS:
            return False
        for node in self.nodes:
            with node.client() as client:
                info = client.info("replication")
            if info["role"] == "master" and not info["connected_slaves"]:
                return False
            if info["role"] != "master" and info["master_link_status"] != "up":
                return False
        return self._is_ok()

    # --- moving a slot ---------------------------------------------------------------------------

    def migrate_slot(self, slot: int | str | bytes, to: RedisServer) -> None:
        """Moves a slot and its keys to another master, as an operator does, under traffic."""
        if self.master_of(slot) is not to:
            source = self.begin_migration(slot, to)
            while self.move_keys(slot, source, to):
                pass
            self.end_migration(slot, source, to)

    def begin_migration(self, slot: int | str | bytes, to: RedisServer) -> RedisServer:
        """From here on who holds the slot answers ASK for keys it has not; returns that one."""
        source = self.master_of(slot)
        _say(to, "SETSLOT", slot_of(slot), "IMPORTING", self.id_of(source))
        _say(source, "SETSLOT", slot_of(slot), "MIGRATING", self.id_of(to))
        return source

    def move_keys(
        self, slot: int | str | bytes, source: RedisServer, to: RedisServer, count: int = 100
    ) -> int:
        """Moves up to so many keys; returns how many there were."""
        with source.client(decode_responses=False) as client:
            keys = client.execute_command("CLUSTER", "GETKEYSINSLOT", slot_of(slot), count)
            if keys:
                client.execute_command("MIGRATE", HOST, to.port, "", 0, 5000, "KEYS", *keys)
        return len(keys)

    def end_migration(self, slot: int | str | bytes, source: RedisServer, to: RedisServer) -> None:
        """Tells all masters who holds the slot now, the new one first."""
        id_, masters = self.id_of(to), [node for node in self.masters() if node.running]
        for node in (to, source, *(node for node in masters if node not in {to, source})):
            _say(node, "SETSLOT", slot_of(slot), "NODE", id_)
        self.wait_until_ok()


def slot_of(slot: int | str | bytes) -> int:
    if isinstance(slot, int):
        return slot
    return key_slot(slot.encode() if isinstance(slot, str) else slot)


def view(node: RedisServer) -> list[Seen]:
    """The cluster as this node sees it."""
    return [_read(line) for line in str(_say(node, "NODES")).splitlines()]


def _slots_of_the_living(node: RedisServer, ports: set[int]) -> Iterator[tuple[int, range]]:
    seen = [(one.port, held) for one in view(node) for held in one.slots if one.port in ports]
    return iter(sorted(seen, key=lambda pair: pair[1].start))


def _say(node: RedisServer, *words: str | int) -> object:
    try:
        with node.client() as client:
            return client.execute_command("CLUSTER", *words)
    except redis.RedisError as error:
        raise RuntimeError(f"CLUSTER {words} on {node}: {error}") from error
