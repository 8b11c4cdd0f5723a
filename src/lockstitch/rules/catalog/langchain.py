"""The rules of LangChain and LangGraph themselves.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.rules.rule import Rule

__all__ = ["LANGCHAIN"]

LANGCHAIN: Final[tuple[Rule, ...]] = ()
