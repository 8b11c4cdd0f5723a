"""With HYPOTHESIS_PROFILE=long every test here is a long one; else each runs a few examples."""

import os
import sys
from pathlib import Path

import pytest

# The references are modules of this folder, which pytest's importlib mode does not put on the path.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    if os.environ.get("HYPOTHESIS_PROFILE") == "long":
        here = Path(__file__).parent
        for item in items:
            if here in item.path.parents:
                item.add_marker(pytest.mark.long)
