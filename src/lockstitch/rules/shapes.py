"""Shapes: which targets take messages in the shape of a format. Data.

The shape of OpenAI Chat, and that of LangChain, is what gateways and frameworks take for any
target, so messages in it can be meant for each. The others are sent to the endpoints of few.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

__all__ = ["can_be_written"]

# Formats that are not here are taken for every target; `portable` takes every format.
_TARGETS: Final[dict[str, tuple[str, ...]]] = {
    "openai-responses": ("openai-responses", "xai", "groq"),
    "anthropic": ("anthropic", "deepseek", "kimi", "glm", "qwen"),
    "anthropic-events": ("anthropic",),
    "gemini": ("gemini",),
    "bedrock": ("bedrock",),
    "mistral": ("mistral",),
}


def can_be_written(profile: str, format: str) -> bool:
    """Whether messages for a target may be in the shape of a format.

    >>> can_be_written("anthropic", "openai-chat"), can_be_written("anthropic", "gemini")
    (True, False)
    """
    return profile == "portable" or format not in _TARGETS or profile in _TARGETS[format]
