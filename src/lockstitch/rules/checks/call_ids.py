"""Checks of the ids that pair calls and results, against the shape that a target takes.

Must not know: which target takes which shape (`profiles`), rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import CALL
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lockstitch.rules.ids import IdShape

__all__ = ["misshapen"]


def misshapen(shape: IdShape) -> Callable[[View], Iterator[Finding]]:
    """Make the check that finds ids of another shape, at calls and at results without a call."""

    def check(view: View) -> Iterator[Finding]:
        fits: dict[str, bool] = {}
        ends = [
            (call.message, call.ordinal, call.link.id)
            for call in view.groups.pairing.calls
            if call.link.kind == CALL
        ]
        ends += [(tie.message, tie.ordinal, tie.link.id) for tie in view.results() if not tie.call]
        for message, ordinal, id_ in ends:
            if id_ is None:
                continue
            fit = fits.get(id_)
            if fit is None:
                fit = fits[id_] = shape.takes(id_)
            if not fit:
                said = f"the id {id_} is not taken ({_wanted(shape)}): rename it on both halves"
                yield Finding(message, said, view.place(message, ordinal))

    return check


def _wanted(shape: IdShape) -> str:
    length = f"{shape.most} characters at most" if shape.most else ""
    letters = f"of {shape.characters}" if shape.characters else ""
    return ", ".join(filter(None, (length, letters)))
