"""What a commit to the Redis backend costs beside a bare transaction of the same rows.

Both go to one server over one connection, by turns, so that what else the machine does falls on
both. The bare one is MULTI, RPUSH of two rows, LTRIM to fifty, EXEC, through redis-py's pipeline.

    .venv/bin/python bench/measure_redis.py [redis://host:port/db]    # a Valkey of its own without
"""

import contextlib
import statistics
import sys
import time
import uuid
from pathlib import Path

import redis

from lockstitch.stores.base import Change, Commit, Key, Row
from lockstitch.stores.redis import RedisDriver
from lockstitch.stores.running import run

ROW = Row(b"m" * 120, b'{"role":"user","content":"' + b"x" * 400 + b'"}')
HEAD, EVENT = b"h" * 60, b"e" * 80
ROUNDS, TURNS = 60, 50


def bare(client, name, stored):
    client.rpush(name, *[ROW.payload] * min(stored, 50))

    def once(_):
        pipeline = client.pipeline(transaction=True)
        pipeline.rpush(name, ROW.payload, ROW.payload)
        pipeline.ltrim(name, -50, -1)
        pipeline.execute()

    return once


def ours(driver, tenant, stored, *, cut=False, event=b"", ttl=None):
    key, backend = Key(tenant, uuid.uuid4().hex), driver.backend
    first = Commit(key=key, mark="m", rows=(ROW,) * stored, initial=b"s" * 80, epoch="e", ttl=ttl)
    version = run(backend.commit(first), driver).now.version

    def once(number):
        nonlocal version
        change = None
        if cut:
            change = Change(head=HEAD, ranges=(1, 1), through=version.seq - 48, event=event)
        mark, rows = f"{number:032x}", (ROW, ROW)
        sent = Commit(key=key, mark=mark, expected=version, rows=rows, change=change)
        done = run(backend.commit(sent), driver)
        assert (done.outcome, done.changed) == ("stored", cut)
        version = done.now.version

    return once


def measure(client):
    driver, tenant = RedisDriver(client), uuid.uuid4().hex
    cases = {}
    for stored in (50, 500, 5_000):
        cases[f"bare, {stored}"] = bare(client, f"{tenant}:{stored}", stored)
        cases[f"two rows, {stored}"] = ours(driver, tenant, stored)
        cases[f"two rows and a cut, {stored}"] = ours(driver, tenant, stored, cut=True)
    cases["two rows, a cut and its event, 50"] = ours(driver, tenant, 50, cut=True, event=EVENT)
    cases["two rows and a cut, with a ttl, 50"] = ours(driver, tenant, 50, cut=True, ttl=1_000)
    took = {name: [] for name in cases}
    for turn in range(ROUNDS):
        for name, once in cases.items():
            started = time.perf_counter()
            for number in range(TURNS):
                once(turn * TURNS + number)
            took[name].append((time.perf_counter() - started) / TURNS * 1e6)
    base = statistics.median(took["bare, 50"])
    for name, times in took.items():
        middle = statistics.median(times)
        print(f"{name:36}{middle:8.1f} us, at best {min(times):6.1f}  {middle / base:5.2f} times")
    for key in client.scan_iter(f"*{tenant}*"):
        client.unlink(key)


def main():
    with contextlib.ExitStack() as stack:
        if len(sys.argv) > 1:
            url = sys.argv[1]
        else:
            sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
            from servers.redis_servers import RedisServer

            url = stack.enter_context(RedisServer()).url
        measure(stack.enter_context(redis.Redis.from_url(url)))


if __name__ == "__main__":
    main()
