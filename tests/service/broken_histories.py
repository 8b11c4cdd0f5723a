"""Broken histories by the number: one after another, the same every time, in every format.

Each begins as a valid agent run that ends with the user's words, so that it can be sent, and is
broken in one of the six ways that real histories are, with ids of its own or reused ones.
"""

from __future__ import annotations

import random
from typing import Any

from lockstitch.testing.breakages import BREAKAGES
from lockstitch.testing.render import render
from lockstitch.testing.steps import Call, Calls, Result, Say, Step, User

SIX = (
    "delete result",
    "delete call",
    "double result",
    "answer late",
    "interrupt",
    "answer early",
)
TOOLS = ("look_up", "edit")


def whole(chance: random.Random, *, alphabet: str) -> list[Step]:
    """A valid run: turns of tool rounds, some with parallel calls, some with words between."""
    reused = chance.random() < 0.3
    steps: list[Step] = []
    for turn in range(chance.randint(1, 4)):
        steps.append(User(f"question {turn}"))
        for _ in range(chance.randint(0, 4)):
            calls = tuple(
                Call(_id(chance, alphabet, reused, at), chance.choice(TOOLS), {"n": at})
                for at in range(chance.choice((1, 1, 1, 2, 3)))
            )
            steps.append(Calls(calls))
            answers = [Result(one.id, f"found {one.id}", name=one.name) for one in calls]
            chance.shuffle(answers)
            steps += answers
        steps.append(Say(f"answer {turn}"))
    return [*steps, User("and now?")]


def _id(chance: random.Random, alphabet: str, reused: bool, at: int) -> str:
    if reused:
        return f"call0000{at}"
    return "".join(chance.choices(alphabet, k=9))


def broken(
    number: int, format: str, shape: str | None = None, *, kinds: tuple[str, ...] = SIX
) -> tuple[str, list[Any]] | None:
    """The broken history of a number and how it was broken; `None` where nothing could break."""
    chance = random.Random(f"{format} {number}")
    steps = whole(chance, alphabet="abcdefghijklmnopqrstuvwxyz0123456789")
    kind = chance.choice(kinds)
    damaged = BREAKAGES[kind](steps, chance.randrange(1000))
    if damaged == steps:
        return None
    return kind, render(damaged, format, shape)
