"""Results that go to a directory: the payload is on the disk before a stub names it."""

from __future__ import annotations

import json
import re

import pytest

import lockstitch as ls
from lockstitch.stores.blobs import DirectoryBlobs
from lockstitch.strategies import OffloadResults, StepsHistoryStrategy
from lockstitch.testing import call, result, user

LOG = "".join(f"line {number}: ok é\n" for number in range(2_000))
STRATEGY = StepsHistoryStrategy(steps=(OffloadResults(keep_groups=0),), max_chars=5_000)


@pytest.fixture
def history():
    return [user("Run them."), call("c1", name="shell"), result("c1", LOG), user("And?")]


def handle_in(stub):
    [handle] = re.findall(r"\b[0-9a-f]{16}\b", stub)
    return handle


def test_a_payload_is_written_before_its_stub_appears_and_reads_back(history, tmp_path):
    blobs = DirectoryBlobs(tmp_path, scope="tenant 1/session 7")
    window = ls.trim(history, strategy=STRATEGY, blobs=blobs)
    stub = window[2]["content"]
    assert len(stub) < 2_000
    later = DirectoryBlobs(tmp_path, scope="tenant 1/session 7")
    assert json.loads(later.get(handle_in(stub))) == LOG == ls.recall(history, handle_in(stub))


def test_another_scope_does_not_read_it(history, tmp_path):
    window = ls.trim(history, strategy=STRATEGY, blobs=DirectoryBlobs(tmp_path, scope="one"))
    with pytest.raises(KeyError):
        DirectoryBlobs(tmp_path, scope="two").get(handle_in(window[2]["content"]))


def test_where_the_payload_cannot_be_written_no_stub_is_put_in(history, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no directory")
    with pytest.raises(OSError, match="file"):
        ls.trim(history, strategy=STRATEGY, blobs=DirectoryBlobs(in_the_way))
    assert history[2]["content"] == LOG


def test_cutting_again_writes_the_same_payload_again(history, tmp_path):
    blobs = DirectoryBlobs(tmp_path)
    assert ls.trim(history, strategy=STRATEGY, blobs=blobs) == ls.trim(
        history, strategy=STRATEGY, blobs=blobs
    )
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1
