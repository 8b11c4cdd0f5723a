"""Sessions that several processes share, and processes that are killed in the middle of a turn."""

import json
import random
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import lockstitch as ls

sys.path.insert(0, str(Path(__file__).parent))

from session_children import turns

CHILD = Path(__file__).with_name("session_children.py")
STORES = ("sqlite", "valkey", "valkey_cluster", "postgres")


@pytest.fixture(params=STORES)
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/chat.db"
    found = request.getfixturevalue(request.param)
    if request.param == "valkey_cluster":
        return found.url.replace("redis://", "redis+cluster://")
    return found


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, CHILD, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def whole(record, sent):
    """Count the batches that are there, each of them whole and together."""
    there = 0
    places = {json.dumps(message): at for at, message in enumerate(record)}
    assert len(places) == len(record), "a message is there twice"
    for batch in sent:
        found = [places.get(json.dumps(message)) for message in batch]
        if found == [None] * len(batch):
            continue
        assert None not in found, f"a batch is torn: {found}"
        assert found == list(range(found[0], found[0] + len(batch)))
        there += 1
    assert sum(map(len, sent)) >= len(record)
    return there


def killed(url, kills):
    """Kill a writer again and again; its session is whole each time, and goes on."""
    id, chance = f"killed-{uuid.uuid4()}", random.Random(7)  # noqa: S311 - a seeded draw
    landed = 0
    with ls.open_store(url) as store:
        for life in range(kills):
            child = start("write", url, id, f"life{life}", -1, 12)
            for _ in range(chance.randrange(1, 40)):
                assert child.stdout.readline()
            child.kill()
            told = len(child.stdout.read().split())
            child.wait()
            child.stdin.close()
            child.stdout.close()
            chat = store.session(id)
            record = [entry.message for entry in chat.record()]
            sent = []
            for batch in turns(f"life{life}", 100_000):
                sent.append(batch)
                if batch[-1] not in record[landed:]:
                    break
            new = whole(record[landed:], sent)
            assert new >= told
            landed = len(record)
            assert len(chat.window()) <= 12
            assert ls.check(chat.window(), tail="open").ok
        assert store.session(id).verify() == []


def crowd(url, *, writers, readers, count, limit):
    """Let processes write and read one session, and look at all of it afterwards."""
    id = f"crowd-{uuid.uuid4()}"
    reading = [start("read", url, id, limit) for _ in range(readers)]
    writing = [start("write", url, id, worker, count, limit) for worker in range(writers)]
    for child in writing:
        child.communicate()
        assert child.returncode == 0
    seen = [json.loads(child.communicate("")[0]) for child in reading]
    assert all(one["windows"] and not one["invalid"] and not one["over"] for one in seen), seen
    sent = [batch for worker in range(writers) for batch in turns(worker, count)]
    with ls.open_store(url) as store:
        chat = store.session(id)
        record = [entry.message for entry in chat.record()]
        assert whole(record, sent) == len(sent)
        assert len(record) == sum(map(len, sent))
        assert chat.verify() == []


def test_a_process_that_is_killed_in_the_middle_leaves_a_session_that_goes_on(url):
    killed(url, 8)


@pytest.mark.long
def test_two_hundred_processes_that_are_killed_leave_a_session_that_goes_on(url):
    killed(url, 200)


@pytest.mark.parametrize("limit", [6, 50])
def test_processes_that_share_a_session_lose_nothing_and_read_nothing_invalid(url, limit):
    crowd(url, writers=4, readers=2, count=12, limit=limit)


@pytest.mark.long
@pytest.mark.parametrize("limit", [6, 50])
def test_eight_processes_write_two_thousand_batches_and_four_read_nothing_invalid(url, limit):
    crowd(url, writers=8, readers=4, count=125, limit=limit)
