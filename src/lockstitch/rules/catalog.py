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

from lockstitch.rules.catalog_anthropic import ANTHROPIC
from lockstitch.rules.catalog_openai import CHAT, RESPONSES
from lockstitch.rules.catalog_portable import PORTABLE
from lockstitch.rules.rule import Rule

__all__ = ["RULES", "Rule", "rules_of"]

RULES: Final[dict[str, Rule]] = {
    rule.id: rule for rule in (*PORTABLE, *CHAT, *RESPONSES, *ANTHROPIC)
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
