"""What is known of single models: deepseek, kimi. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["COMPATIBLE"]

_DEEPSEEK = "api-docs.deepseek.com/guides/thinking_mode"
_KIMI = "platform.moonshot.ai, guide to the thinking models; continuedev/continue issue 11600"
_SINCE = "2026-11-30"

COMPATIBLE: Final = (
    ModelFacts(
        profile="deepseek",
        pattern="deepseek-reasoner",
        facts={"thinks": True, "reasoning_demanded": True, "reasoning_refused": False},
        date=_SINCE,
        source=_DEEPSEEK,
    ),
    ModelFacts(
        profile="deepseek",
        pattern="deepseek-chat",
        facts={"thinks": False, "reasoning_demanded": True, "reasoning_refused": False},
        date=_SINCE,
        source=_DEEPSEEK,
    ),
    ModelFacts(
        profile="deepseek",
        pattern="deepseek-v4*",
        facts={
            "thinks": True,
            "reasoning_demanded": True,
            "reasoning_everywhere": True,
            "reasoning_refused": False,
        },
        date=_SINCE,
        source=_DEEPSEEK + "; openclaw/openclaw issue 73417",
    ),
    ModelFacts(
        profile="deepseek",
        pattern="deepseek-v3*",
        facts={"reasoning_everywhere": False, "reasoning_refused": False},
        date=_SINCE,
        source=_DEEPSEEK,
    ),
    ModelFacts(
        profile="deepseek",
        pattern="deepseek-r1*",
        facts={
            "thinks": True,
            "reasoning_demanded": False,
            "reasoning_everywhere": False,
            "reasoning_refused": True,
        },
        date="2025-06-01",
        source="DeepSeek's guide to the reasoner of 2025, recalled",
    ),
    ModelFacts(
        profile="kimi",
        pattern="kimi-k2*",
        facts={"thinks": False, "reasoning_demanded": False},
        date=_SINCE,
        source=_KIMI,
    ),
    ModelFacts(
        profile="kimi",
        pattern="kimi-k2-thinking*",
        facts={"thinks": True, "reasoning_demanded": True},
        date=_SINCE,
        source=_KIMI,
    ),
    # K2.5 and whatever follows it.
    ModelFacts(
        profile="kimi",
        pattern="kimi-k2.*",
        facts={"thinks": True, "reasoning_demanded": True},
        date=_SINCE,
        source=_KIMI,
    ),
    ModelFacts(
        profile="kimi",
        pattern="kimi-k3*",
        facts={"thinks": True, "reasoning_demanded": True},
        date=_SINCE,
        source=_KIMI,
    ),
)
