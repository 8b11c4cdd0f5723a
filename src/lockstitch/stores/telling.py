"""Telling: what a session shows and does not, as text.

Must not know: backends, how any of it was decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.plan.reasons import REASONS

if TYPE_CHECKING:
    from lockstitch.stores.reading import States

__all__ = ["WORDS", "told"]

WORDS = {
    "open": "waits for its result, and something else has been said since",
    "late": "answers a call that is not in the view any more",
    "rewound": "the conversation was taken back to before it",
    "edited": "another message stands in its place",
    "popped": "taken back",
    "cleared-view": "the view was cleared",
}


def told(name: str, states: States) -> str:
    """Say what became of the messages of a session, the newest first."""
    rows: list[tuple[int, int, str]] = []
    for seq in range(states.newest, 0, -1):
        state, reason = states.of(seq)
        said = _said(state, reason, states, seq)
        if rows and rows[-1][2] == said:
            rows[-1] = (seq, rows[-1][1], said)
        else:
            rows.append((seq, seq, said))
    seen = sum(
        last - first + 1 for first, last, said in rows if said.startswith(("shown", "changed"))
    )
    lines = [f"session {name!r}: {seen} of {states.newest} messages are shown"]
    for first, last, said in rows:
        at = str(first) if first == last else f"{first}-{last}"
        lines.append(f"  {at:<9} {said}")
    summaries = [event for event in states.happened if event.summary]
    if summaries:
        lines.append(f"  a summary stands for {summaries[-1].dropped} of them")
    lines += [f"  ! {event.overflow}" for event in states.happened if event.overflow][-1:]
    return "\n".join(lines)


def _said(state: str, reason: str, states: States, seq: int) -> str:
    if not reason:
        return state
    words = REASONS.get(reason) or WORDS.get(reason) or reason
    fired = states.fired(seq)
    return f"{state}: {words} ({'; '.join(fired)})" if fired else f"{state}: {words}"
