"""What is known of single models under their own chat templates. Data.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.models.facts import ModelFacts

__all__ = ["TEMPLATES"]


def _row(pattern: str, facts: dict[str, bool], source: str) -> ModelFacts:
    return ModelFacts(
        profile="chat-template", pattern=pattern, facts=facts, date="2026-11-30", source=source
    )


_OTHERS = {
    "no_system": False,
    "single_call": False,
    "orphans_refused": False,
    "content_or_thinking": False,
}
_FREE = {**_OTHERS, "strict_turns": False}
_OLD = {**_OTHERS, "no_system": True, "strict_turns": True}
_MISTRAL = "their chat templates"
_GEMMA = "the chat templates of Gemma; anomalyco/opencode issue 5034"
_LLAMA = "the chat templates of Llama 3, recalled"
_QWEN = "the chat templates of Qwen; vllm-project/vllm issue 36432"

TEMPLATES: Final = (
    _row("qwen*", _FREE, _QWEN),
    _row("gemma*", _OLD, _GEMMA),
    # The third one folds the system message by itself.
    _row("gemma-3*", {"no_system": False}, _GEMMA),
    _row("gemma3*", {"no_system": False}, _GEMMA),
    _row("mistral-7b-instruct-v0.1*", _OLD, _MISTRAL),
    _row("mistral-7b-instruct-v0.2*", _OLD, _MISTRAL),
    _row("mixtral-8x7b-instruct-v0.1*", _OLD, _MISTRAL),
    _row("*llama-3*", {**_FREE, "single_call": True}, _LLAMA),
    _row("llama3*", {**_FREE, "single_call": True}, _LLAMA),
    _row(
        "gpt-oss*",
        {**_FREE, "orphans_refused": True, "content_or_thinking": True},
        "the chat template of gpt-oss; ggml-org/llama.cpp pull request 19702",
    ),
)
