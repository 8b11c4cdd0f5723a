"""Plans: a decision as inert data, its reasons, and the one function that carries it out."""

from __future__ import annotations

from lockstitch.plan.applying import (
    apply_plan,
    ensure_made_for,
    kept_natives,
    put_in,
    said_in,
)
from lockstitch.plan.edits import Edit, FloorItem, Put, Size, StepReport
from lockstitch.plan.pending import Line, PendingSummary
from lockstitch.plan.plan import Plan, fingerprint, phrase_with
from lockstitch.plan.reasons import DROPPED, INSERTED, KEPT, REASONS, REPLACED, STRIPPED

__all__ = [
    "DROPPED",
    "INSERTED",
    "KEPT",
    "REASONS",
    "REPLACED",
    "STRIPPED",
    "Edit",
    "FloorItem",
    "Line",
    "PendingSummary",
    "Plan",
    "Put",
    "Size",
    "StepReport",
    "apply_plan",
    "ensure_made_for",
    "fingerprint",
    "kept_natives",
    "phrase_with",
    "put_in",
    "said_in",
]
