"""What is known of single models: anthropic. Data.

Names come plain, with a date, with the prefix of a Bedrock region and version, and with the date of
Vertex; each row is written once and spread over these spellings. A version that no row names is
not known, so its rules warn.

Must not know: rules, checks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.rules.models.facts import ModelFacts

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLAUDE"]

# How a name may go on and still be the same model: a date, an alias, a version of Bedrock's.
_ENDINGS: Final = ("", "-20*", "-latest", "-v?*", "@*", ":*")
_DATE: Final = "2026-11-30"


def _rows(names: str, source: str, **facts: bool) -> Iterator[ModelFacts]:
    for name in names.split():
        for ending in _ENDINGS:
            yield ModelFacts(
                profile="anthropic",
                pattern=f"*claude-{name}{ending}",
                facts=facts,
                date=_DATE,
                source=source,
            )


CLAUDE: Final[tuple[ModelFacts, ...]] = (
    *_rows(
        "v1* v2* 2* instant* 3-* 3.* opus-4 opus-4?1 opus-4?5 sonnet-4 sonnet-4?0 sonnet-4?5 "
        "opus-4?0 haiku-4?5",
        "recorded requests; the documentation of extended thinking and of system messages",
        no_prefill=False,
        preserved_thinking=False,
        mid_system=False,
        thinking_leads=True,
    ),
    *_rows(
        "opus-4?6 sonnet-4?6",
        "what is new in Claude 4.6: prefill is gone; strands-agents/sdk-python issue 1694",
        no_prefill=True,
        preserved_thinking=False,
        mid_system=False,
        thinking_leads=True,
    ),
    *_rows(
        "opus-4?7",
        "the documentation of adaptive thinking; QwenLM/qwen-code issue 8039",
        no_prefill=True,
        preserved_thinking=False,
        mid_system=False,
        thinking_leads=False,
    ),
    *_rows(
        "opus-4?8 opus-5 sonnet-5 fable-5 mythos-5",
        "what is new in Claude 4.8; langchain-ai/langchainjs release anthropic 1.5.13",
        no_prefill=True,
        preserved_thinking=False,
        mid_system=True,
        thinking_leads=False,
    ),
    *_rows(
        "fable-5?1 fable-5?2 opus-5?5 sonnet-5?5 haiku-5?5",
        "Claude documentation, preserved thinking, prefix checks",
        no_prefill=True,
        preserved_thinking=True,
        mid_system=True,
        thinking_leads=False,
    ),
    # The list of prefix checks names these; the page of one of them says that it runs none.
    *_rows(
        "mythos-5?1 mythos-5?2",
        "Claude documentation, preserved thinking, prefix checks; the pages of the models",
        no_prefill=True,
        mid_system=True,
        thinking_leads=False,
    ),
)
