"""Check of the ids that pair calls and results, against the shape that the target takes.

Must not know: which target takes which shape (`profiles`), rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import CALL
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.rules.ids import IdShape

__all__ = ["misshapen_id"]


def misshapen_id(view: View) -> Iterator[Finding]:
    """Find ids of another shape than the target takes, at calls and at results of held calls."""
    fits: dict[str, bool] = {}
    ends = [
        (call.message, call.ordinal, call.link.id)
        for call in view.groups.pairing.calls
        if call.link.kind == CALL
    ]
    if view.transcript.server_held:
        ends += [(tie.message, tie.ordinal, tie.link.id) for tie in view.results() if not tie.call]
    for message, ordinal, id_ in ends:
        if id_ is None:
            continue
        fit = fits.get(id_)
        if fit is None:
            fit = fits[id_] = view.ids.takes(id_)
        if not fit:
            said = f"the id {id_} is not taken ({_wanted(view.ids)}): rename it on both halves"
            yield Finding(message, said, view.place(message, ordinal))


def _wanted(shape: IdShape) -> str:
    bound = "exactly" if shape.least == shape.most else "at most"
    letters = f" of {shape.characters}" if shape.characters else ""
    return f"{bound} {shape.most} characters{letters}"
