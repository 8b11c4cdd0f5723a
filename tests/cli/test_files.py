"""Reading and writing: in one step, with nothing left behind."""

import os
import stat
from pathlib import Path

import pytest

from lockstitch.cli import files
from lockstitch.cli.failures import Unusable


def test_a_new_file_gets_the_rights_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        files.write_file(str(tmp_path / "out"), b"x", zipped=False)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_file_that_is_replaced_keeps_its_rights(tmp_path):
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o600)
    files.write_file(str(target), b"new", zipped=False)
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    files.write_file(str(tmp_path / "link"), b"new", zipped=False)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_the_same_history_compressed_is_the_same_file(tmp_path):
    for name in ("one", "two"):
        files.write_file(str(tmp_path / name), b"x" * 99, zipped=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    target = tmp_path / "out"
    target.write_bytes(b"old")

    def fail(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(Unusable, match="No space left"):
        files.write_file(str(target), b"new", zipped=False)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_is_not_there_is_named(tmp_path, run, data):
    trimmed = run("trim", data / "langchain.json", "--max-messages", 9, "-o", tmp_path / "no" / "x")
    assert trimmed.exit_code == 2
    assert "cannot be written" in trimmed.stderr


def test_a_device_is_written_to_and_not_replaced(run, data):
    trimmed = run("trim", data / "langchain.json", "--max-messages", 9, "-o", os.devnull)
    assert trimmed.exit_code == 0
    assert not Path(os.devnull).is_file()


def test_the_input_can_be_replaced_by_naming_it(run, write, data):
    path = write((data / "langchain.json").read_bytes())
    assert run("trim", path, "--max-messages", 9, "-o", path).exit_code == 0
    assert len(path.read_bytes()) < len((data / "langchain.json").read_bytes())
