"""Short seeded histories in the shape of OpenAI Chat messages, whole and broken in six ways.

A history is valid as it is made: a system message, eight turns of a user message, 0-4 tool steps
and an answer; a step is 1-3 parallel calls and their results in any order. It ends with a new user
message or, mid-run, with the last result of a tool step: the two moments at which a model is
called. Call ids are unique, or they start anew with every step, as some servers give them out.

Every text and every call carries a *mark*, a word that occurs nowhere else, so that what a
contender lost can be told whatever shape its result has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

Message = dict[str, Any]

TURNS = 8
MARK = re.compile(r"mark\d{4}x")
WORDS = [
    "order",
    "invoice",
    "parcel",
    "stock",
    "price",
    "report",
    "table",
    "branch",
    "server",
    "city",
    "weather",
    "ticket",
]


def whole(rng: Random, *, reused: bool, mid_run: bool) -> list[Message]:
    """A valid history."""
    return _History(rng, reused=reused).make(mid_run=mid_run)


def marks(value: Any) -> set[str]:
    """The marks that occur anywhere in a value, whatever it is made of."""
    return set(MARK.findall(repr(value)))


class _History:
    def __init__(self, rng: Random, *, reused: bool) -> None:
        self.rng = rng
        self.reused = reused
        self.marked = 0
        self.called = 0
        self.messages: list[Message] = []

    def make(self, *, mid_run: bool) -> list[Message]:
        self.add("system")
        for turn in range(TURNS):
            self.add("user")
            last = mid_run and turn == TURNS - 1
            for _ in range(self.rng.randint(1 if last else 0, 4)):
                self.step()
            if not last:
                self.add("assistant")
        if not mid_run:
            self.add("user")
        return self.messages

    def add(self, role: str) -> None:
        self.messages.append({"role": role, "content": self.text()})

    def step(self) -> None:
        if self.reused:
            self.called = 0
        calls: list[Message] = []
        for _ in range(self.rng.randint(1, 3)):
            self.called += 1
            arguments = json.dumps({"query": self.text(2)})
            function = {"name": self.rng.choice(("look_up", "book")), "arguments": arguments}
            calls.append({"id": f"call_{self.called}", "type": "function", "function": function})
        text = self.text() if self.rng.random() < 0.5 else None
        self.messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        for call in self.rng.sample(calls, len(calls)):
            self.messages.append(
                {"role": "tool", "tool_call_id": call["id"], "content": self.text()}
            )

    def text(self, words: int = 8) -> str:
        self.marked += 1
        said = self.rng.choices(WORDS, k=words - 1)
        return " ".join([*said, f"mark{self.marked:04}x"])


# --- six ways to break one ------------------------------------------------------------------------


def result_deleted(rng: Random, history: list[Message]) -> list[Message]:
    """A result is gone: the tool crashed, or the run was stopped."""
    at = rng.choice(_results(history))
    return history[:at] + history[at + 1 :]


def call_deleted(rng: Random, history: list[Message]) -> list[Message]:
    """A call is gone and its result is not; a message that said nothing else went with it."""
    at = rng.choice(_results(history))
    caller = _caller(history, at)
    message = dict(history[caller])
    wanted = history[at]["tool_call_id"]
    left = [call for call in message["tool_calls"] if call["id"] != wanted]
    if left:
        message["tool_calls"] = left
    else:
        del message["tool_calls"]
    kept = [message] if left or message["content"] else []
    return [*history[:caller], *kept, *history[caller + 1 :]]


def duplicate_result(rng: Random, history: list[Message]) -> list[Message]:
    """A result was stored twice."""
    at = rng.choice(_results(history))
    return [*history[: at + 1], dict(history[at]), *history[at + 1 :]]


def result_after_later_user_message(rng: Random, history: list[Message]) -> list[Message]:
    """A slow tool: its result was stored after the user had spoken again."""
    users = [at for at, message in enumerate(history) if message["role"] == "user"]
    at = rng.choice([at for at in _results(history) if at < users[-1]])
    user = next(other for other in users if other > at)
    return [*history[:at], *history[at + 1 : user + 1], history[at], *history[user + 1 :]]


def user_message_between(rng: Random, history: list[Message]) -> list[Message]:
    """The user spoke while a tool ran."""
    at = rng.choice(_results(history))
    return [*history[:at], {"role": "user", "content": "hurry, mark9999x"}, *history[at:]]


def result_before_call(rng: Random, history: list[Message]) -> list[Message]:
    """Two writers: a result was stored ahead of its call."""
    at = rng.choice(_results(history))
    caller = _caller(history, at)
    return [*history[:caller], history[at], *history[caller:at], *history[at + 1 :]]


BREAKAGES: dict[str, Callable[[Random, list[Message]], list[Message]]] = {
    "result deleted": result_deleted,
    "call deleted": call_deleted,
    "duplicate result": duplicate_result,
    "result after a later user message": result_after_later_user_message,
    "user message between call and result": user_message_between,
    "result before call": result_before_call,
}


def _results(history: list[Message]) -> list[int]:
    return [at for at, message in enumerate(history) if message["role"] == "tool"]


def _caller(history: list[Message], result: int) -> int:
    return max(at for at in range(result) if history[at].get("tool_calls"))
