"""The public surface has the types that its callers write down."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def test_the_public_surface_has_the_types_callers_write_down(tmp_path: Path):
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--warn-unused-ignores",
            "--no-error-summary",
            f"--cache-dir={tmp_path}",
            str(HERE / "api.py"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.stdout == ""
    assert checked.returncode == 0


def test_every_public_name_is_used_there():
    import lockstitch

    text = (HERE / "api.py").read_text(encoding="utf-8")
    assert [name for name in lockstitch.__all__ if f"ls.{name}" not in text] == []
