"""The rules of Gemini generateContent.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.rules.rule import Rule

__all__ = ["GEMINI"]

GEMINI: Final[tuple[Rule, ...]] = ()
