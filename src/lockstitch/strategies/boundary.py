"""The prefix cut: one legal boundary, everything before it goes, the floor excepted.

Knows: where a boundary is legal (no group astride it, a first message the profile takes) and how to
move it past damage when nothing else is protected.

Must not know: how the floor was found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import OTHER, SYSTEM, USER
from lockstitch.rules.catalog import RULES
from lockstitch.rules.check import check_transcript

if TYPE_CHECKING:
    from lockstitch.strategies.planner import Window

__all__ = ["prefix_cut"]


def prefix_cut(window: Window) -> int | None:
    """Keep everything from the earliest legal boundary that fits.

    Returns an earlier start to try from, or `None` when the decision is made.
    """
    boundaries, full = _boundaries(window)
    if not full and window.start > 0:
        return window.start - 1
    if not boundaries:
        return None
    best = boundaries[-1]
    if not window.request.floor and window.request.readable:
        best = _past_damage(window, boundaries)
    for unit, first in enumerate(window.units.firsts):
        if first >= best:
            window.keep_unit(unit, "recent")
        elif first >= boundaries[-1] and window.why[unit] is None:
            window.why[unit] = "damaged"
    return None


def _boundaries(window: Window) -> tuple[list[int], bool]:
    """List the legal boundaries that fit, the latest first, and whether a limit ended the list."""
    found: list[int] = []
    measures = window.budget.measures
    used = [measure.used for measure in measures]
    # What stands before the boundary and stays (the floor) is what the window starts with.
    anchor = window.first
    wants_user = window.request.profile.start == "user"
    speaker = ""
    earliest = window.count
    for position in range(window.count - 1, window.start - 1, -1):
        if not window.is_kept(position):
            earliest = min(earliest, window.units.firsts[window.units.of(position)])
            for at, measure in enumerate(measures):
                used[at] += measure.size(position)
                if used[at] > measure.target:
                    return found, True
        if window.role(position) not in {SYSTEM, OTHER}:
            speaker = window.role(position)
        starts = anchor < position or not wants_user or speaker == USER
        if earliest >= position and starts:
            found.append(position)
    return found, False


def _past_damage(window: Window, boundaries: list[int]) -> int:
    """Move the boundary behind the last breach of a rule, if anything is left there.

    With the floor off nothing is protected, damage neither: what is left is what the provider
    takes, down to nothing where the newest message itself is broken. What is pinned stays, broken
    or not, and the rest is looked at as it will stand beside it.
    """
    best = boundaries[-1]
    transcript = window.transcript
    pinned = [at for at in range(best) if window.is_kept(at)] if window.request.pins else []
    while True:
        kept = [*(at for at in pinned if at < best), *range(best, window.count)]
        report = check_transcript(transcript.at(kept), window.request.profile)
        # How the target wants things written is mended on the way out, and damages nothing.
        errors = [one.index for one in report.errors if not RULES[one.rule].target_only]
        # A breach of the list as a whole (nothing to answer) is mended by no later start.
        broken = [kept[index] if index >= 0 else window.count for index in errors]
        broken = [at for at in broken if at == window.count or not window.is_kept(at)]
        if not broken:
            return best
        later = [boundary for boundary in boundaries if boundary > max(broken)]
        if not later:
            return window.count
        pinned += [at for at in range(best, later[-1]) if window.is_kept(at)]
        best = later[-1]
