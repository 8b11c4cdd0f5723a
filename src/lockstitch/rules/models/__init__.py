"""Models: what is known of single models, where targets do not treat all of theirs alike. Data.

A row says for which target and which names of models some facts hold, since when that is known, and
from where. Where two rows fit, the later one counts; rows of the caller come last. What no row says
is not known: rules that depend on it then warn.

Must not know: formats, checks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lockstitch.rules.models.anthropic import CLAUDE
from lockstitch.rules.models.bedrock import BEDROCK
from lockstitch.rules.models.compatible import COMPATIBLE
from lockstitch.rules.models.facts import FACTS, ModelFacts, phrase
from lockstitch.rules.models.gemini import GEMINI
from lockstitch.rules.models.mistral import MISTRAL
from lockstitch.rules.models.openai import OPENAI
from lockstitch.rules.models.templates import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FACTS", "MODELS", "ModelFacts", "known_of", "phrase"]

MODELS: Final[tuple[ModelFacts, ...]] = (
    *CLAUDE,
    *GEMINI,
    *BEDROCK,
    *OPENAI,
    *MISTRAL,
    *COMPATIBLE,
    *TEMPLATES,
)
"""The rows that come with this version."""


def known_of(profile: str, model: str | None, more: Iterable[ModelFacts] = ()) -> dict[str, bool]:
    """Return what is known of a model under a target.

    >>> row = ModelFacts(
    ...     profile="anthropic", pattern="claude-x*", facts={"no_prefill": True}, date="", source=""
    ... )
    >>> known_of("anthropic", "claude-x-1", [row])
    {'no_prefill': True}
    """
    known: dict[str, bool] = {}
    if not model:
        return known
    name = model.rpartition("/")[2].lower()
    for row in (*MODELS, *more):
        if row.profile == profile and _fits(name, row.pattern):
            known.update(row.facts)
    return known


def _fits(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern with `*` for any characters and `?` for one."""
    parts = (".*" if sign == "*" else "." if sign == "?" else re.escape(sign) for sign in pattern)
    return re.fullmatch("".join(parts), name) is not None
