"""What is known of single models of OpenAI, on both of its endpoints. Data.

Reasoning: what binds an item to its reasoning is the response that it came from. Models that always
reason bind all they say. `gpt-5` itself and the models from 5.1 on are left out: those reason only
when asked to, and `gpt-5` was seen to take a call of an older model without any reasoning.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["OPENAI"]

_SEEN = "recorded requests of pydantic/pydantic-ai, tests/models/cassettes"
_RECORDED = "2026-11-30"


def _rows(
    profiles: tuple[str, ...], patterns: tuple[str, ...], source: str, **facts: bool
) -> tuple[ModelFacts, ...]:
    return tuple(
        ModelFacts(profile=profile, pattern=pattern, facts=facts, date=_RECORDED, source=source)
        for profile in profiles
        for pattern in patterns
    )


_CHAT = ("openai-chat", "azure")
_RESPONSES = ("openai-responses",)

OPENAI: Final[tuple[ModelFacts, ...]] = (
    *_rows(
        _CHAT,
        ("gpt-*", "chatgpt-*", "o1*", "o3*", "o4*"),
        "system and developer messages in recorded requests; OpenAI takes one for the other",
        no_system=False,
        no_developer=False,
    ),
    *_rows(
        _CHAT,
        ("o1-mini*", "o1-preview*"),
        _SEEN + "/test_openai/test_openai_o1_mini_system_role",
        no_system=True,
        no_developer=True,
    ),
    *_rows(
        _CHAT,
        ("gpt-5*",),
        _SEEN + "/test_multimodal_tool_returns, refused for gpt-5-mini",
        no_audio=True,
    ),
    *_rows(
        _CHAT,
        ("*audio*",),
        "the models that OpenAI lists for sound in Chat Completions",
        no_audio=False,
    ),
    *_rows(
        _RESPONSES,
        ("gpt-3.5*", "gpt-4*", "chatgpt-4o*"),
        "server ids without reasoning in recorded requests to gpt-4o and gpt-4.1",
        bound_reasoning=False,
    ),
    *_rows(
        _RESPONSES,
        ("o1*", "o3*", "o4*", "gpt-5-mini*", "gpt-5-nano*", "gpt-5*codex*", "codex-mini*"),
        "cline/cline issue 12242; continuedev/continue issues 10018 and 12620",
        bound_reasoning=True,
    ),
    *_rows(
        _RESPONSES,
        ("deepseek*",),
        _SEEN + "/test_deepseek_responses",
        ids_unchecked=True,
        calls_together=True,
        bound_reasoning=False,
    ),
    *_rows(
        _RESPONSES,
        ("grok*",),
        "recorded requests to grok-4.3 with repeated, long and unusual item ids",
        ids_unchecked=True,
        bound_reasoning=False,
    ),
)
