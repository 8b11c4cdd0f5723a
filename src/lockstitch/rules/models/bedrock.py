"""What is known of single models: bedrock. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["BEDROCK"]

# Ids of models and of inference profiles: `us.anthropic.claude-...`, `amazon.nova-...`.
BEDROCK: Final[tuple[ModelFacts, ...]] = (
    ModelFacts(
        profile="bedrock",
        pattern="*anthropic.claude*",
        facts={
            "anthropic_checks": True,
            "parts_apart": False,
            "s3_refused": True,
            "user_first": False,
            "video_refused": True,
        },
        date="2026-11",
        source="recorded requests and refusals of claude-sonnet-4-5 on Bedrock (pydantic-ai)",
    ),
    ModelFacts(
        profile="bedrock",
        pattern="*amazon.nova*",
        facts={
            "anthropic_checks": False,
            "parts_apart": False,
            "s3_in_result_refused": True,
            "s3_refused": False,
            "user_first": True,
            "video_refused": False,
        },
        date="2026-11",
        source="recorded requests and refusals of nova-2-lite (pydantic-ai); Nova documentation",
    ),
    ModelFacts(
        profile="bedrock",
        pattern="*moonshot*",
        facts={"anthropic_checks": False, "parts_apart": False},
        date="2026-11",
        source="recorded requests of kimi-k2-thinking on Bedrock",
    ),
    *(
        ModelFacts(
            profile="bedrock",
            pattern=pattern,
            facts={"anthropic_checks": False, "parts_apart": True, "user_first": True},
            date="2026-11",
            source="strands-agents/harness-sdk issue 1223; langchain-ai/langchain-aws issue 141; "
            "quarkiverse/quarkus-langchain4j issue 1983",
        )
        for pattern in ("*meta.llama*", "*mistral.*")
    ),
)
