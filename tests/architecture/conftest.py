"""Where things are, for the tests that read the source instead of running it."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def package(root: Path) -> Path:
    return root / "src" / "lockstitch"
