"""What is known of single models: gemini. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.rules.models.facts import ModelFacts

__all__ = ["GEMINI"]

GEMINI: Final[tuple[ModelFacts, ...]] = ()
