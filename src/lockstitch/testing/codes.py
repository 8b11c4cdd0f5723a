"""Finding codes: the names that cases use for findings, and the catalogue's rules for each.

The one place where the two vocabularies meet. A code stands for checks, and so for every rule of
any profile that uses one of them, or for a rule by its id; a code without either is known, but
nothing finds it yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lockstitch.rules.catalog import RULES, rules_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.rules.report import Violation
    from lockstitch.rules.rule import Rule

__all__ = ["CODES", "found_at", "has_rule", "stands_for"]

# A late or an early result is found at the result and names the call in `related`: to a checker
# that knows positions alone it is an orphan there and an unanswered call here.
_APART: Final = ("displaced_result", "result_before_call", "response_astray")

CODES: Final[dict[str, tuple[str, ...]]] = {
    "bad-tool-name": ("bad_tool_name", "odd_call_name"),
    "dangling-server-call": ("unanswered_server", "unanswered_mcp", "unanswered_shell"),
    "dangling-tool-call": (
        "unanswered_call",
        "partly_answered_batch",
        "unanswered_function",
        "unanswered_custom",
        "unanswered_computer",
        "unanswered_shell",
        "unanswered_local_shell",
        "dangling_call",
        "response_count",
        "result_not_next",
        *_APART,
        *("ge-dangling-call", "ge-count-equal", "br-result-missing", "mi-count"),
        *("ds-tool-unanswered", "qw-tool-unanswered", "lc-invalid-chat-history"),
    ),
    "duplicate-item-id": ("duplicate_item", "repeated_id_in_turn", "or-chain-plus-replay"),
    "duplicate-tool-result": ("duplicate_result",),
    "empty-content": (
        "empty_message",
        "empty_content",
        "empty_text_block",
        "blank_text",
        "null_content",
        "blank_block",
        "no_parts",
        "part_without_data",
        *("mi-empty-assistant", "gl-empty-assistant", "xa-empty-content"),
    ),
    "first-not-user": ("first_not_user", "call_leads", "mi-start"),
    "malformed-arguments": ("oc-arguments-string", "qw-arguments-json", "lc-arguments-json"),
    "missing-signature": ("unsigned_thinking", "signature_missing"),
    "no-messages": ("no_messages", "mi-empty"),
    "not-alternating": ("equal_neighbours", "tp-alternate", "tp-alternate-after-system"),
    "orphan-server-result": ("orphan_server_result",),
    "orphan-tool-result": (
        "orphan_result",
        "orphan_client_result",
        "orphan_approval",
        *_APART,
        *("ge-response-after-call", "ge-count-equal", "br-result-exceeds", "mi-count"),
        *("mi-tool-after-user", "mi-unknown-id", "co-v2-tool-id"),
        *("ds-tool-orphan", "qw-tool-orphan", "tp-tool-orphan-gpt-oss"),
    ),
    "oversized-image": ("large_image_among_many",),
    "pending-approval": (),
    "reasoning-without-item": ("lone_reasoning", "or-reasoning-followed-by-foreign"),
    "result-not-first": ("result_not_first",),
    "system-not-first": ("system_misplaced", "mi-system-mid", "tp-system-first"),
    "tool-use-in-user-message": ("call_of_another_role",),
    "trailing-assistant": (
        "ends_with_model",
        "assistant_last",
        *("mi-last-role", "tp-prefill-vs-thinking"),
    ),
    "unpaired-surrogate": ("lone_surrogate",),
}
"""The checks behind every finding code, and single rules where a check serves other ends too."""


def has_rule(code: str, profile: str, format: str) -> bool:
    """Tell whether a profile has a rule, for a format, that a code stands for.

    >>> has_rule("orphan-tool-result", "anthropic", "anthropic")
    True
    """
    return any(rule.check and _means(rule, code) for rule in rules_of(profile, format))


def stands_for(code: str, violation: Violation) -> bool:
    """Tell whether a violation is what a code means."""
    return _means(RULES[violation.rule], code)


def _means(rule: Rule, code: str) -> bool:
    return rule.check in CODES[code] or rule.id in CODES[code]


def found_at(violations: Sequence[Violation], code: str, index: int | None) -> list[Violation]:
    """Return the violations that a code at an index means.

    An index is met by the violation's own, or by one of `related`; a finding about the list as a
    whole is met at any index.
    """
    return [
        violation
        for violation in violations
        if stands_for(code, violation)
        and (index is None or index in {violation.index, *violation.related} or violation.index < 0)
    ]
