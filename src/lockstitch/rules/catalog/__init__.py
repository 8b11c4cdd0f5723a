"""The catalogue: every rule as data, in our own words, with its source. No code reads a rule's id.

A rule says which profiles it belongs to, what it demands, what the provider answers when it is
broken, where that is known from, how sure that is, which check finds a breach, and the repairs from
least to most loss. Docs, the command line and reports render it.

Severity follows certainty: what is confirmed by a provider's documentation, code or a reported
refusal is an error; what is inferred is a warning until someone confirms it.

Must not know: how a check works.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.catalog.anthropic import ANTHROPIC
from lockstitch.rules.catalog.bedrock import BEDROCK
from lockstitch.rules.catalog.compatible import COMPATIBLE
from lockstitch.rules.catalog.gemini import GEMINI
from lockstitch.rules.catalog.langchain import LANGCHAIN
from lockstitch.rules.catalog.mistral import MISTRAL
from lockstitch.rules.catalog.openai_chat import CHAT
from lockstitch.rules.catalog.openai_responses import RESPONSES
from lockstitch.rules.catalog.portable import PORTABLE
from lockstitch.rules.catalog.templates import TEMPLATES
from lockstitch.rules.rule import Rule

__all__ = ["RULES", "Rule", "rules_of"]

RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for rule in (
        *PORTABLE,
        *CHAT,
        *RESPONSES,
        *ANTHROPIC,
        *GEMINI,
        *BEDROCK,
        *MISTRAL,
        *COMPATIBLE,
        *TEMPLATES,
        *LANGCHAIN,
    )
}


def rules_of(profile: str, format: str) -> tuple[Rule, ...]:
    """Return the rules of a profile that can be broken in a format.

    >>> rules_of("anthropic", "anthropic")[0].profiles
    ('portable', 'openai-chat', 'openai-responses', 'anthropic')
    """
    return tuple(
        rule
        for rule in RULES.values()
        if profile in rule.profiles and (not rule.formats or format in rule.formats)
    )
