"""Pins: which messages must stay, found in a history; and phrases that must be said in the end.

Knows: how a message is picked by position, id, role, text or a function.

Must not know: how a pinned message is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from lockstitch.errors import PinLost
from lockstitch.formats.base import mapping
from lockstitch.measure.counters import texts_of
from lockstitch.strategies.steps import Pin

if TYPE_CHECKING:
    from lockstitch.transcript import Message, Transcript

__all__ = ["Pinning", "said_around", "sayings", "survivors", "where"]

Pinning = int | Pin | Callable[["Message"], bool]
"""What picks messages: a position, a `Pin`, or a function of a message."""


def where(transcript: Transcript, pins: Iterable[Any]) -> frozenset[int]:
    """Return the positions that pins pick.

    Raises:
        TypeError: a pin is neither a position, a `Pin` nor a function.
        ValueError: a position is outside the history.
    """
    found: set[int] = set()
    for pin in pins:
        if type(pin) is int:
            found.add(_position(pin, len(transcript)))
        elif isinstance(pin, Pin):
            found.update(_picked(transcript, pin))
        elif callable(pin):
            found.update(at for at, message in enumerate(transcript) if pin(message))
        else:
            raise TypeError(f"pins must be positions, Pins or functions of a message, got {pin!r}")
    return frozenset(found)


def _position(pin: int, count: int) -> int:
    if not -count <= pin < count:
        raise ValueError(f"pin {pin} is outside the history of {count} messages")
    return pin % count


def _picked(transcript: Transcript, pin: Pin) -> Iterator[int]:
    if pin.index is not None:
        yield _position(pin.index, len(transcript))
        return
    for at in range(len(transcript)):
        if pin.role is not None:
            picked = transcript.facts_at(at).role == pin.role
        elif pin.id is not None:
            picked = _has_id(transcript, at, pin.id)
        else:
            picked = any(str(pin.text) in said for said in sayings(transcript, at))
        if picked:
            yield at


def _has_id(transcript: Transcript, at: int, id: str) -> bool:
    if any(id in (link.id, link.alias) for link in transcript.facts_at(at).ends):
        return True
    return bool(_own_id(transcript.natives[at]) == id)


def _own_id(native: Any) -> Any:
    """Return the id of the message itself; LangChain's dicts keep it one level down."""
    fields = mapping(native)
    inner = fields.get("data") or fields.get("kwargs")
    return fields.get("id") or (inner.get("id") if isinstance(inner, dict) else None)


def sayings(transcript: Transcript, at: int) -> Iterator[str]:
    """Yield the texts of a message."""
    for part in transcript.parts_at(at):
        yield from texts_of(part)


def said_around(transcript: Transcript) -> Iterator[str]:
    """Yield the instructions that a request has outside the list."""
    for key in transcript.format.system_keys:
        held: Any = transcript.context.get(key)
        if isinstance(held, str):
            yield held
        elif held:
            yield str(held)


def survivors(transcript: Transcript, phrases: Iterable[str]) -> frozenset[int]:
    """Return the newest message that says each phrase, where the request itself does not.

    Raises:
        PinLost: nobody says it, so no window could.
    """
    found: set[int] = set()
    lost: list[str] = []
    for phrase in phrases:
        if any(phrase in said for said in said_around(transcript)):
            continue
        newest = next(
            (
                at
                for at in range(len(transcript) - 1, -1, -1)
                if any(phrase in said for said in sayings(transcript, at))
            ),
            -1,
        )
        if newest < 0:
            lost.append(f"the phrase {phrase!r}, which nobody said")
        else:
            found.add(newest)
    if lost:
        raise PinLost(lost)
    return frozenset(found)
