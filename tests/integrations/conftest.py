"""What tests of summarizers need: a prompt, a history, a served server, clients that are closed."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from lockstitch.strategies.asking import SummaryPrompt
from lockstitch.testing import assistant, call, result, system, user
from lockstitch.testing.servers import serve


@pytest.fixture
def prompt():
    return SummaryPrompt("Summarise: the tests were red.", room=1_000)


@pytest.fixture
def history():
    """A chat whose older messages hold a word that a summary is to take the place of."""
    return [
        system("You fix bugs."),
        user("Make the test pass."),
        call("c1", name="shell"),
        result("c1", "FAILED test_zebra"),
        assistant("It was the zebra."),
        user("And the others?"),
        assistant("All pass."),
    ]


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
