"""The servers judge by themselves: nothing of the engine they are there to judge is in them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from lockstitch.testing import servers

FILES = sorted(Path(servers.__file__).parent.glob("*.py"))
OURS = "lockstitch.testing.servers"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_server_imports_the_standard_library_msgspec_and_its_own_package_only(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for name in names:
        top = name.partition(".")[0]
        assert top in sys.stdlib_module_names or top == "msgspec" or name.startswith(OURS), name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_server_knows_no_clock_and_no_chance(path):
    words = path.read_text(encoding="utf-8")
    assert not [
        word for word in ("import time", "import random", "uuid", "datetime") if word in words
    ]
