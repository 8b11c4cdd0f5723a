"""Reasons: why an edit is in a plan. One word in the data, one sentence for people.

Must not know: how a decision is reached.
"""

from __future__ import annotations

from typing import Final

__all__ = ["DROPPED", "INSERTED", "KEPT", "REASONS", "REPLACED", "STRIPPED"]

# No word stands in two tables, so a reason tells what became of the messages.
KEPT: Final[dict[str, str]] = {
    "all": "everything fits",
    "system": "the system part stays",
    "pinned": "pinned by the caller",
    "task": "the newest user message stays",
    "lead": "the user message that the kept work answers",
    "between": "stands between two turns of one side that stay",
    "open": "a call that still waits for its result stays",
    "newest": "the newest complete group stays",
    "recent": "fits into the limit",
    "request": "system, tools and reserve of the request",
    "last": "within the newest turns or groups that were asked for",
}
DROPPED: Final[dict[str, str]] = {
    "oldest": "the limit is reached; oldest groups go first",
    "too-large": "larger than the whole limit",
    "start": "the window could not start here",
    "damaged": "broken before; the window starts behind it",
    "unbound": "thinking alone, valid only behind what went",
    "joined": "a hole would join it to a turn that uses the same id",
    "neighbour": "a hole would put it beside a turn of its own side",
    "zero": "a limit of 0 keeps nothing",
    "overflow": "the floor does not fit and an empty window was asked for",
    "summarized": "the summary says what it said",
    "superseded": "a summary that the new one replaces",
    "compacted": "the provider's compaction stands for it",
    "thoughts": "old reasoning, which goes first",
    "beyond": "before the newest turns or groups that were asked for",
}
STRIPPED: Final[dict[str, str]] = {
    "bound": "stays without its thinking, which is valid only behind what went",
    "thinking": "stays without its thinking; the oldest thinking goes first",
}
REPLACED: Final[dict[str, str]] = {
    "cleared": "an old result, cleared; the record has it",
    "offloaded": "a large result, in the blob store now",
    "repeated": "a newer result says the same",
    "media": "old media, cleared; the record has them",
    "unled": "stays without the id that its reasoning, now gone, had given it",
}
INSERTED: Final[dict[str, str]] = {
    "summary": "says what the messages said that went",
    "reply": "parts the summary from the user's next message",
}
REASONS: Final[dict[str, str]] = {**KEPT, **DROPPED, **STRIPPED, **REPLACED, **INSERTED}
