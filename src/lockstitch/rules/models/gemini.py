"""What is known of single models: gemini. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["GEMINI"]

_SOURCE = (
    "Google documentation, thought signatures; recorded requests: about 330 first calls of a step "
    "to gemini-3 models all had one, several to 2.x models had none and were accepted"
)

GEMINI: Final[tuple[ModelFacts, ...]] = tuple(
    ModelFacts(
        profile="gemini",
        pattern=pattern,
        facts={"signature_demanded": demanded},
        date="2026-11",
        source=_SOURCE,
    )
    for pattern, demanded in (
        ("gemini-1*", False),
        ("gemini-2*", False),
        ("gemini-3*", True),
        ("gemini-4*", True),
    )
)
