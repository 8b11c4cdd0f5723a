"""Blob stores: what is put comes back whole, under its handle, in its scope, and nowhere else."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lockstitch.blobs import BlobStore
from lockstitch.stores.blobs import DirectoryBlobs, MemoryBlobs

HANDLE = "00112233445566ff"
OTHER = "ffeeddccbbaa9988"
NO_HANDLES = [
    "",
    "..",
    "../../etc/passwd",
    "0011223344556677/x",
    "00112233445566f",
    "00112233445566fff",
    "00112233445566FF",
    "00112233445566fg",
    "00112233445566ff\n",
    "٠٠١١٢٢٣٣٤٤٥٥٦٦٧٧",
    "\x00" * 16,
    b"00112233445566ff",
    None,
    16,
]
SCOPES = [
    "",
    " ",
    ".",
    "..",
    "/",
    "/etc",
    "a/b",
    "a\\b",
    "a:b",
    "A/b",
    "a",
    "A",
    "CON",
    "tenant\x00session",
    "tenant\nsession",
    "é",
    "e\u0301",
    "中文",
    "🧵",
    "\ud800",
    "x" * 512,
    "x" * 513,
    "x" * 10_000,
]


@pytest.fixture(params=["memory", "directory"])
def blobs(request, tmp_path):
    return MemoryBlobs() if request.param == "memory" else DirectoryBlobs(tmp_path / "blobs")


def files(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_both_are_blob_stores(blobs):
    assert isinstance(blobs, BlobStore)


@pytest.mark.parametrize("payload", [b"", b"12 of 12 pass", bytes(range(256)) * 5_000])
def test_what_is_put_comes_back_byte_for_byte(blobs, payload):
    blobs.put(HANDLE, payload)
    assert blobs.get(HANDLE) == payload


def test_what_was_never_put_is_a_key_error_that_names_the_handle(blobs):
    blobs.put(HANDLE, b"one")
    with pytest.raises(KeyError) as caught:
        blobs.get(OTHER)
    assert caught.value.args == (OTHER,)


def test_the_same_can_be_put_twice(blobs):
    blobs.put(HANDLE, b"one")
    blobs.put(HANDLE, b"one")
    assert blobs.get(HANDLE) == b"one"


def test_a_payload_that_the_caller_changes_later_stays_as_it_was(blobs):
    payload = bytearray(b"one")
    blobs.put(HANDLE, payload)
    payload[:] = b"two"
    assert blobs.get(HANDLE) == b"one"


@pytest.mark.parametrize("handle", NO_HANDLES)
def test_what_is_no_handle_is_refused(blobs, handle):
    with pytest.raises(ValueError, match="a handle is 16 hex digits"):
        blobs.put(handle, b"x")
    with pytest.raises(ValueError, match="a handle is 16 hex digits"):
        blobs.get(handle)


@pytest.mark.parametrize("handle", NO_HANDLES)
def test_what_is_no_handle_writes_nothing_at_all(tmp_path, handle):
    with pytest.raises(ValueError, match="a handle is 16 hex digits"):
        DirectoryBlobs(tmp_path / "blobs").put(handle, b"x")
    assert list(tmp_path.iterdir()) == []


def test_no_scope_reaches_another(tmp_path):
    for number, scope in enumerate(SCOPES):
        DirectoryBlobs(tmp_path, scope=scope).put(HANDLE, str(number).encode())
    for number, scope in enumerate(SCOPES):
        assert DirectoryBlobs(tmp_path, scope=scope).get(HANDLE) == str(number).encode()
    assert len(list(tmp_path.iterdir())) == len(SCOPES)


@pytest.mark.parametrize("scope", SCOPES)
def test_no_scope_reaches_out_of_the_directory(tmp_path, scope):
    DirectoryBlobs(tmp_path / "blobs", scope=scope).put(HANDLE, b"one")
    [written] = files(tmp_path)
    assert written.parent.parent == tmp_path / "blobs"
    assert written.name == HANDLE


def test_a_second_object_reads_what_the_first_one_wrote(tmp_path):
    DirectoryBlobs(str(tmp_path), scope="s").put(HANDLE, b"one")
    assert DirectoryBlobs(tmp_path, scope="s").get(HANDLE) == b"one"


def test_making_one_writes_nothing(tmp_path):
    with pytest.raises(KeyError):
        DirectoryBlobs(tmp_path / "deep" / "blobs").get(HANDLE)
    assert list(tmp_path.iterdir()) == []


def test_a_relative_path_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    DirectoryBlobs("blobs").put(HANDLE, b"one")
    assert DirectoryBlobs(tmp_path / "blobs").get(HANDLE) == b"one"


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    blobs = DirectoryBlobs(tmp_path)
    blobs.put(HANDLE, b"one")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        blobs.put(HANDLE, b"two")
    monkeypatch.undo()
    assert blobs.get(HANDLE) == b"one"
    assert len(files(tmp_path)) == 1


def test_a_payload_is_synced_before_it_gets_its_name_and_its_folder_after(tmp_path, monkeypatch):
    blobs = DirectoryBlobs(tmp_path)
    blobs.put(OTHER, b"zero")  # the folder is there
    done = []
    sync, replace = os.fsync, Path.replace

    def synced(descriptor):
        done.append("file" if os.fstat(descriptor).st_size == 3 else "folder")
        sync(descriptor)

    def replaced(self, target):
        done.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    blobs.put(HANDLE, b"one")
    assert done == ["file", "name", "folder"]


def test_every_folder_that_is_made_is_synced_in_the_one_above(tmp_path, monkeypatch):
    opened = []
    open_ = os.open

    def noted(path, flags, *rest, **named):
        opened.append(Path(path))
        return open_(path, flags, *rest, **named)

    # The temporary file is made with `os.open` as well; only folders are of interest.
    monkeypatch.setattr(os, "open", noted)
    DirectoryBlobs(tmp_path / "a" / "b").put(HANDLE, b"one")
    assert {tmp_path, tmp_path / "a", tmp_path / "a" / "b"} <= set(opened)


def test_where_a_folder_cannot_be_opened_payloads_are_kept_all_the_same(tmp_path, monkeypatch):
    open_ = os.open

    def as_on_windows(path, flags, *rest, **named):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied")
        return open_(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", as_on_windows)
    blobs = DirectoryBlobs(tmp_path / "blobs")
    blobs.put(HANDLE, b"one")
    assert blobs.get(HANDLE) == b"one"


def test_the_temporary_file_stands_in_the_same_folder(tmp_path, monkeypatch):
    made = []
    mkstemp = tempfile.mkstemp

    def noted(**named):
        made.append(named["dir"])
        return mkstemp(**named)

    monkeypatch.setattr(tempfile, "mkstemp", noted)
    DirectoryBlobs(tmp_path).put(HANDLE, b"one")
    assert made == [files(tmp_path)[0].parent]


def test_a_reader_never_sees_a_payload_in_part(tmp_path):
    blobs = DirectoryBlobs(tmp_path)
    whole = [bytes([number]) * 200_000 for number in range(4)]
    blobs.put(HANDLE, whole[0])

    def write(payload):
        for _ in range(20):
            blobs.put(HANDLE, payload)

    with ThreadPoolExecutor(max_workers=len(whole)) as pool:
        writing = [pool.submit(write, payload) for payload in whole]
        while not all(one.done() for one in writing):
            assert blobs.get(HANDLE) in whole
        for one in writing:
            one.result()
    assert len(files(tmp_path)) == 1
