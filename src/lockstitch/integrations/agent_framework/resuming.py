"""Resuming: what a model is shown where the messages that follow may answer calls in it.

Knows: a run of an agent hands over the results of its calls, or a decision about one, as new
messages behind the history. The calls must be the last of what is loaded then, whoever has written
to the session meanwhile; and where nothing answers them they are not shown at all, since the model
is about to be called.

Must not know: the framework's objects, how calls are paired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.grouping import group
from lockstitch.stores.messages import transcript_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.grouping import Groups
    from lockstitch.stores.store import AsyncSession

__all__ = ["FORMAT", "shown_before"]

FORMAT: Final = "agent-framework"
# How far back calls are looked for that are not in the view any more.
_LOOK_BACK: Final = 500


async def shown_before(chat: AsyncSession, following: list[dict[str, Any]]) -> list[Any]:
    """Return what is shown before messages that are not in the session yet.

    Args:
        chat: the session.
        following: the messages that the run itself brings.

    One look at the session is all it takes, unless somebody else has gone on in between.
    """
    if not any(fact.linked for fact in transcript_of(following, FORMAT).facts_from(0)):
        return await chat.window(tail="closed")
    window = await chat.window()
    if not _grouped([*window, *following]).states:
        return window
    closed = await chat.window(tail="closed")
    called = await _called(chat, closed, following)
    return [*closed, *called]


async def _called(chat: AsyncSession, closed: Any, following: list[dict[str, Any]]) -> list[Any]:
    """Return the messages of the record whose calls are answered, and that are not shown."""
    newest = closed.version.seq if closed.version else 0
    seen = set(closed.seqs)
    waiting = [
        entry.message
        async for entry in chat.record(max(1, newest - _LOOK_BACK), newest or None)
        if entry.seq not in seen and entry.message is not None
    ]
    groups = _grouped([*waiting, *following])
    answered = {groups.name_of(at) for at in range(len(waiting), len(groups.names))}
    return [one for at, one in enumerate(waiting) if groups.name_of(at) in answered]


def _grouped(natives: Sequence[Any]) -> Groups:
    return group(transcript_of(natives, FORMAT).facts_from(0))
