"""Histories that steps are tried on."""

import pytest

from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, System, Think, User


@pytest.fixture
def agent():
    """Make an agent's history: a task, rounds of one call with a long result, an answer."""

    def make(format="openai-chat", rounds=6, size=1_000, *, system=True, thoughts=False):
        steps = [System("Be brief.")] if system else []
        steps.append(User("Find the bug."))
        for at in range(rounds):
            if thoughts:
                steps.append(Think(f"thought {at}"))
            steps += [
                Calls((Call(f"call_{at}", "read", {"path": f"src/m{at}.py"}),)),
                Result(f"call_{at}", f"<{at}>" + "x" * size + f"</{at}>"),
            ]
        return render([*steps, Say("It is in m3.")], format)

    return make
