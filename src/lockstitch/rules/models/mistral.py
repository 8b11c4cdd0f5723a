"""What is known of single models: mistral. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.rules.models.facts import ModelFacts

__all__ = ["MISTRAL"]

MISTRAL: Final[tuple[ModelFacts, ...]] = ()
