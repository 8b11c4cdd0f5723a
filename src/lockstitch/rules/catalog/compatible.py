"""The rules of servers that speak the shape of Chat: Cohere, DeepSeek, Kimi, GLM, Qwen, xAI, Groq.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from lockstitch.rules.rule import Rule

__all__ = ["COMPATIBLE"]

COMPATIBLE: Final[tuple[Rule, ...]] = ()
