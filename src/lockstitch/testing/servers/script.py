"""Scripts: what the model behind a strict server says, decided beforehand.

Knows: the actions a model can take, and a few ready-made ways of choosing them.

Must not know: providers, HTTP. A script is deterministic: it sees the request and counters only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

__all__ = [
    "Action",
    "Call",
    "Prompt",
    "Say",
    "Script",
    "Think",
    "call_every_tool",
    "keep_calling",
    "reply",
]


class Say(msgspec.Struct, frozen=True):
    """The model says something."""

    text: str


class Think(msgspec.Struct, frozen=True):
    """The model thinks, in a block that comes signed; `hidden` makes it a redacted one."""

    text: str
    hidden: bool = False


class Call(msgspec.Struct, frozen=True):
    """The model calls a tool."""

    name: str
    arguments: Mapping[str, Any] = {}


Action: TypeAlias = Say | Think | Call


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """What a script decides from.

    Args:
        body: the request body as it came.
        tools: the names of the client's tools, in the order of the request.
        number: how many requests were answered before this one.
        answered: how many tool results stand behind the newest text of the user.
        thinks: whether the request and the model make thinking blocks; without it `Think` is left
            out, with it a `Think` is put in front where the script has none.
    """

    body: Mapping[str, Any]
    tools: tuple[str, ...]
    number: int
    answered: int
    thinks: bool


Script: TypeAlias = Callable[[Prompt], Sequence[Action]]


def reply(text: str = "Done.") -> Script:
    """Make a script that always answers with one text.

    >>> reply("Hi.")(Prompt(body={}, tools=("f",), number=0, answered=0, thinks=False))
    [Say(text='Hi.')]
    """
    return lambda _: [Say(text)]


def call_every_tool(
    text: str = "Done.",
    *,
    together: bool = False,
    arguments: Mapping[str, Mapping[str, Any]] | None = None,
) -> Script:
    """Make a script that calls every tool once, then answers.

    Args:
        text: the answer.
        together: all calls in one batch, not one after another.
        arguments: what each tool is called with, by its name; others get none.

    >>> script = call_every_tool()
    >>> script(Prompt(body={}, tools=("f", "g"), number=0, answered=1, thinks=False))
    [Call(name='g', arguments={})]
    """
    known = arguments or {}

    def script(prompt: Prompt) -> list[Action]:
        rest = prompt.tools[prompt.answered :]
        if together and prompt.answered:
            rest = ()
        calls = [Call(name, known.get(name, {})) for name in rest]
        if not calls:
            return [Say(text)]
        return [*calls] if together else [calls[0]]

    return script


def keep_calling(
    rounds: int,
    text: str = "Done.",
    *,
    batch: int = 1,
    arguments: Mapping[str, Mapping[str, Any]] | None = None,
) -> Script:
    """Make a script that calls tools for many rounds, then answers, and so on again.

    The rounds are counted on the server, not in the history: a client may trim it in between.

    Args:
        rounds: requests answered with calls before one is answered with text.
        text: the answer.
        batch: calls in each round; the tools take turns.
        arguments: what each tool is called with, by its name; others get none.

    >>> script = keep_calling(1)
    >>> script(Prompt(body={}, tools=("f",), number=1, answered=0, thinks=False))
    [Say(text='Done.')]
    """
    known = arguments or {}

    def script(prompt: Prompt) -> list[Action]:
        place = prompt.number % (rounds + 1)
        if place == rounds or not prompt.tools:
            return [Say(text)]
        names = [prompt.tools[(place * batch + at) % len(prompt.tools)] for at in range(batch)]
        return [Call(name, known.get(name, {})) for name in names]

    return script
