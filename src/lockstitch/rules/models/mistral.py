"""What is known of single models: mistral. Data.

The tokenizer of a model decides: up to v3 a message has content or calls, from v11 on ids count.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["MISTRAL"]

_SOURCE = "mistral-common, its validators and the tokenizer each model came with"
_OLD = {"content_or_calls": True, "ids_checked": False}
_MIDDLE = {"content_or_calls": False, "ids_checked": False}
_NEW = {"content_or_calls": False, "ids_checked": True}


def _row(pattern: str, facts: dict[str, bool]) -> ModelFacts:
    return ModelFacts(
        profile="mistral", pattern=pattern, facts=facts, date="2026-11-30", source=_SOURCE
    )


MISTRAL: Final = (
    # Names that move on to the newest model.
    _row("*-latest", _NEW),
    # v1 to v3.
    _row("*mistral-7b*", _OLD),
    _row("open-mistral-7b*", _OLD),
    _row("*mixtral-8x*", _OLD),
    _row("codestral-2405*", _OLD),
    _row("mistral-nemo*", _OLD),
    _row("open-mistral-nemo*", _OLD),
    _row("mistral-large-2402*", _OLD),
    _row("mistral-large-2407*", _OLD),
    _row("mistral-small-2402*", _OLD),
    _row("mistral-small-2409*", _OLD),
    # v7.
    _row("mistral-large-2411*", _MIDDLE),
    _row("pixtral-large-2411*", _MIDDLE),
    _row("mistral-small-2501*", _MIDDLE),
    _row("mistral-small-2503*", _MIDDLE),
    _row("mistral-small-2506*", _NEW),
    # v11 and later, which check ids too.
    _row("mistral-large-25*", _NEW),
    _row("mistral-large-3*", _NEW),
    _row("mistral-small-2603*", _NEW),
    _row("mistral-medium-2508*", _NEW),
    _row("devstral-*", _NEW),
    _row("magistral-*-2509*", _NEW),
    _row("ministral-*-2512*", _NEW),
    # Recorded and accepted in 2026, while older models were reported to refuse it.
    ModelFacts(
        profile="mistral",
        pattern="mistral-small-latest",
        facts={"user_after_result": True},
        date="2026-11-30",
        source="recorded requests of crmne/ruby_llm, two answered with status 200",
    ),
)
