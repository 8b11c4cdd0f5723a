"""The summary that stands in a history: how it is known again, with the reply behind it.

Knows: the line that a summary of ours begins with, and what the model is taken to answer to it. It
stands behind the system part, and stays while others go, until a newer one takes its place.

Must not know: what is summarised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.facts import USER
from lockstitch.plan.pending import numbers_of
from lockstitch.transcript import Text

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = ["REPLY", "first_text", "replies", "summaries"]

REPLY: Final = "Understood. I will go on from this summary."
"""What the model is taken to answer to a summary, where two messages of the user may not meet."""


def summaries(transcript: Transcript) -> list[int]:
    """Return where summaries of earlier cuts stand."""
    return [
        at
        for at in range(len(transcript))
        if transcript.facts_at(at).role == USER and numbers_of(first_text(transcript, at))
    ]


def replies(transcript: Transcript, earlier: list[int]) -> set[int]:
    """Return where the replies behind summaries stand."""
    last = len(transcript) - 1
    return {at + 1 for at in earlier if at < last and first_text(transcript, at + 1) == REPLY}


def first_text(transcript: Transcript, at: int) -> str:
    """Return the text that a message begins with, empty where it begins with something else."""
    for part in transcript.parts_at(at):
        return (part.text or "") if isinstance(part, Text) else ""
    return ""
