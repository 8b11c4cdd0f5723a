"""Steps: what happens in a conversation, said once, in no format's words.

    history = [User("weather?"), Calls(Call("c1")), Result("c1"), Say("rain")]
    render(history, "anthropic")

Knows: nothing but these values. `render` writes them in a format; what a format has no word for, it
leaves out or says in the nearest words it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.facts import FINAL, FUNCTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Ask", "Call", "Calls", "Decide", "Hosted", "Result", "Say", "Step", "System", "Think"]
__all__ += ["Unknown", "User", "ids_of"]


class System(msgspec.Struct, frozen=True):
    """Instructions."""

    text: str = "be brief"


class User(msgspec.Struct, frozen=True):
    """Something a person says. `blocks` says it as a list of content blocks."""

    text: str = "go on"
    blocks: bool = False


class Say(msgspec.Struct, frozen=True):
    """Text of the model. `thought` is reasoning in the same message, where a format has that."""

    text: str = "done"
    thought: str | None = None
    blocks: bool = False


class Think(msgspec.Struct, frozen=True):
    """Reasoning in a message or an item of its own."""

    text: str = "hm"


class Call(msgspec.Struct, frozen=True):
    """One call of a message.

    `thought` is reasoning right before it; `asks` waits for a person's approval first, where the
    format marks that on the call.
    """

    id: str | None
    name: str = "look_up"
    arguments: dict[str, Any] = {}
    family: str = FUNCTION
    thought: str | None = None
    asks: bool = False


class Calls(msgspec.Struct, frozen=True):
    """Calls that the model makes at once, with or without text beside them.

    `text` may be empty or absent: `""`, `None` and a missing key are three different contents.
    """

    calls: tuple[Call, ...]
    text: str | None = None
    thought: str | None = None

    @classmethod
    def of(cls, *ids: str | None) -> Calls:
        """Make plain calls, one for each id.

        >>> len(Calls.of("a", "b").calls)
        2
        """
        return cls(tuple(Call(one) for one in ids))


class Result(msgspec.Struct, frozen=True):
    """The answer to one call. `state` is `interim` for "still running", where a format says so."""

    id: str | None
    text: str | None = "found"
    family: str = FUNCTION
    name: str = "look_up"
    error: bool = False
    state: str = FINAL


class Hosted(msgspec.Struct, frozen=True):
    """A call that the provider ran itself, with its result, inside one response."""

    id: str
    text: str = "found on the web"
    mcp: bool = False


class Ask(msgspec.Struct, frozen=True):
    """A request to approve a call, in an item of its own."""

    id: str
    name: str = "remove"


class Decide(msgspec.Struct, frozen=True):
    """A person's decision about a request; the call runs after it, `ran`, or is refused."""

    id: str
    approved: bool = True
    ran: str | None = None


class Unknown(msgspec.Struct, frozen=True):
    """An item, a block or a row of a type that nobody has seen yet."""

    type: str = "x_note"
    value: Any = 1


Step = System | User | Say | Think | Calls | Result | Hosted | Ask | Decide | Unknown


def ids_of(steps: Sequence[Step]) -> Iterator[str | None]:
    """Yield the id of every call, in order.

    >>> list(ids_of([User(), Calls.of("a", "b"), Result("a")]))
    ['a', 'b']
    """
    for step in steps:
        if isinstance(step, Calls):
            yield from (call.id for call in step.calls)
