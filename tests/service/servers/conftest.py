"""What every test of the servers needs: a served server, and SDK clients that end with the test."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from lockstitch.testing.servers import serve


@pytest.fixture
def served():
    """Serve applications until the test ends; the call returns the base URL."""
    with ExitStack() as stack:
        yield lambda app: stack.enter_context(serve(app))


@pytest.fixture
def closing():
    """Close what a test opened, clients above all, when it ends."""
    with ExitStack() as stack:
        yield stack.enter_context
