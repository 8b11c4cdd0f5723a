"""A rule: one demand of one or more targets, as a value.

Must not know: any rule in particular.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ANSWER", "HOME", "Rule"]

# The repairs of a call without a result, and of a result without a call, least loss first.
ANSWER = ("restore", "synthesize", "drop")
HOME = ("restore", "rename", "demote", "drop")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One acceptance rule.

    Args:
        id: its name in reports.
        profiles: the profiles it belongs to.
        title: the demand in a few words.
        statement: the demand in full.
        error: the provider's own text, empty where none is known.
        source: where the rule is known from.
        status: `docs`, `issue`, `code` or `inferred`.
        severity: `error` or `warning`.
        check: the name of the check that finds a breach; empty where messages alone do not show it.
        formats: the formats in which it can be broken; empty for any.
        scope: the fact about the model that must hold for the rule to apply, or `not` and one that
            must not; where nothing is known of the model, a breach is a warning. Empty for every
            model.
        target_only: whether it concerns how one target wants things written (ids, packing), so that
            `export` mends it too.
        disputed: whether servers disagree about it: it warns, and `repair` mends it all the same.
        repairs: what mends it, least loss first.
    """

    id: str
    profiles: tuple[str, ...]
    title: str
    statement: str
    error: str = ""
    source: str = ""
    status: str
    severity: str = "error"
    check: str = ""
    formats: tuple[str, ...] = ()
    scope: str = ""
    target_only: bool = False
    disputed: bool = False
    repairs: tuple[str, ...] = ()

    def applies(self, known: Mapping[str, bool]) -> bool | None:
        """Whether the rule is one for a model, `None` where it is not known.

        >>> rule = Rule(
        ...     id="r", profiles=(), title="", statement="", status="docs", scope="not no_prefill"
        ... )
        >>> rule.applies({"no_prefill": True}), rule.applies({})
        (False, None)
        """
        if not self.scope:
            return True
        fact = self.scope.removeprefix("not ")
        holds = known.get(fact)
        return holds if holds is None or fact == self.scope else not holds
