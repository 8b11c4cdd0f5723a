"""Repairs, explained: a row for each change, and the breaches that are left.

Must not know: how a breach is mended, how rows are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.explain.rows import Explanation
from lockstitch.explain.words import count

if TYPE_CHECKING:
    from lockstitch.rules.account import Repair

__all__ = ["DONE", "of_repair"]

DONE: Final = {
    "restore": "restored",
    "move": "moved",
    "merge": "merged",
    "rename": "renamed",
    "replace": "replaced",
    "synthesize": "made up",
    "demote": "turned into notes",
    "drop": "dropped",
}
"""The kinds of change, least loss first, as said of what they were done to."""


def of_repair(repair: Repair) -> Explanation:
    """Work out the rows of a repair or an export."""
    kinds = [change.kind for change in repair.changes]
    counts = {kind: kinds.count(kind) for kind in DONE if kind in kinds}
    done = ", ".join(f"{number:,} {DONE[kind]}" for kind, number in counts.items())
    said = f"{count(len(kinds), 'change')}: {done}" if kinds else "no change"
    verdict = f"accepted by {repair.profile}"
    if not repair.ok:
        verdict = f"refused by {repair.profile}, {count(len(repair.remaining), 'error')} not mended"
    return Explanation(
        kind="changes",
        summary=f"{said}; {verdict} (format {repair.format})",
        head={
            "ok": repair.ok,
            "profile": repair.profile,
            "format": repair.format,
            "counts": counts,
            "system": repair.system,
        },
        rows=repair.changes,
        remaining=repair.remaining,
    )
