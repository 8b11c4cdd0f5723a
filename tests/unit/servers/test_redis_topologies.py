"""A cluster and a set of sentinels fail over, move slots, and are whole again afterwards."""

import redis
from redis.sentinel import Sentinel as SentinelClient

from servers.redis_cluster import Cluster
from servers.redis_sentinel import Sentinel


def test_a_replica_takes_over_from_a_master_that_is_asked_and_from_one_that_is_killed(
    valkey_cluster: Cluster,
):
    key = "servers:{failover}"
    with redis.RedisCluster.from_url(valkey_cluster.url) as client:
        client.set(key, "kept")
        before = valkey_cluster.master_of(key)
        after = valkey_cluster.failover(key)
        assert after is not before
        assert valkey_cluster.master_of(key) is after
        assert client.get(key) == b"kept"
        assert valkey_cluster.kill_master_of(key) is after
        valkey_cluster.wait_until_ok()
        assert valkey_cluster.master_of(key) is before
        assert client.get(key) == b"kept"


def test_a_slot_moves_with_its_keys_and_answers_on_the_way(valkey_cluster: Cluster):
    keys = [f"servers:{{moving}}:{number}" for number in range(5)]
    with redis.RedisCluster.from_url(valkey_cluster.url) as client:
        for key in keys:
            client.set(key, key)
        source = valkey_cluster.master_of(keys[0])
        to = next(node for node in valkey_cluster.masters() if node is not source)
        assert valkey_cluster.begin_migration(keys[0], to) is source
        assert valkey_cluster.move_keys(keys[0], source, to, count=2) == 2
        assert [client.get(key).decode() for key in keys] == keys
        while valkey_cluster.move_keys(keys[0], source, to):
            pass
        valkey_cluster.end_migration(keys[0], source, to)
        assert valkey_cluster.master_of(keys[0]) is to
        assert [client.get(key).decode() for key in keys] == keys
        valkey_cluster.migrate_slot(keys[0], source)
        assert valkey_cluster.master_of(keys[0]) is source
        assert [client.get(key).decode() for key in keys] == keys


def test_healing_brings_back_who_was_killed_and_closes_an_open_slot(valkey_cluster: Cluster):
    to = next(
        node for node in valkey_cluster.masters() if node is not valkey_cluster.master_of("open")
    )
    valkey_cluster.begin_migration("open", to)
    valkey_cluster.replica_of("closed").kill()
    valkey_cluster.heal()
    assert len(valkey_cluster.running) == 6
    with valkey_cluster.master_of("open").client() as client:
        assert client.get("open") is None  # and no ASK


def test_sentinels_name_the_replica_once_the_master_is_dead(sentinel: Sentinel):
    killed = sentinel.kill_master()
    sentinel.wait_until_ok()
    assert sentinel.master() is not killed
    client = SentinelClient(sentinel.sentinels, socket_timeout=5)
    with client.master_for(sentinel.service_name) as master:
        assert master.set("servers:key", "value")
    for watcher in client.sentinels:
        watcher.close()
    sentinel.heal()
    with killed.client() as replica:
        assert replica.info("replication")["role"] == "slave"
