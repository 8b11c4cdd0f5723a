"""What may be said of a model, and the value that says it.

Must not know: any model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

__all__ = ["FACTS", "ModelFacts", "phrase"]

FACTS: Final[dict[str, str]] = {
    "no_prefill": "a final assistant message is refused",
    "preserved_thinking": "thinking is valid only behind the very messages it was made from",
    "thinking_leads": "with thinking on, the assistant turn before the last results starts with it",
    "mid_system": "a system message inside the list is taken",
    "no_system": "the role system is refused",
    "no_developer": "the role developer is refused",
    "no_audio": "sound in the input is refused",
    "ids_unchecked": "ids of items are taken as they are, and items without their neighbours",
    "calls_together": "nothing but calls and outputs stands between a call and its output",
    "signature_demanded": "the first call of a step must carry its thought signature",
    "bound_reasoning": "an item with a server id needs the reasoning item it was made with",
    "reasoning_demanded": "reasoning must be passed back with the calls it led to",
    "reasoning_everywhere": "every assistant message must have the reasoning field",
    "reasoning_refused": "reasoning in the input is refused",
    "parts_apart": "text may not stand beside tool blocks in one message",
    "content_or_calls": "an assistant message has content or calls, not both",
    "ids_checked": "results must name the id of a call, and ids must differ",
    "single_call": "one tool call a message",
    "s3_refused": "media by an S3 address is refused",
    "video_refused": "video is refused",
    "thinks": "the model thinks unless the request says otherwise",
    "user_after_result": "a user message may stand right behind a result",
    "strict_turns": "user and model must take turns, from the user on",
    "orphans_refused": "a result without a call is refused",
    "content_or_thinking": "a message with calls has content or thinking, not both",
    "s3_in_result_refused": "media by an S3 address is refused inside a result",
    "user_first": "the conversation must start with a user message",
    "anthropic_checks": "the checks of Anthropic Messages are run as well",
}
"""Every fact that a row may state, in words."""


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of some models of one target.

    Args:
        profile: the target.
        pattern: the names it is about, with `*` and `?`; compared in lower case, and with what
            stands before the last `/` left out.
        facts: what holds (`True`) and what does not (`False`), by the names of `FACTS`.
        date: when the row was last confirmed.
        source: where it is known from.
    """

    profile: str
    pattern: str
    facts: Mapping[str, bool]
    date: str
    source: str

    def __post_init__(self) -> None:
        strange = [name for name in self.facts if name not in FACTS]
        if strange:
            raise ValueError(f"no fact is called {strange[0]!r}; there are: {', '.join(FACTS)}")


def phrase(scope: str) -> str:
    """Say a scope in words: a fact of `FACTS`, or `not` and one.

    >>> phrase("no_prefill")
    'a final assistant message is refused'
    >>> phrase("not no_prefill")
    'not so: a final assistant message is refused'
    """
    fact = scope.removeprefix("not ")
    return FACTS[fact] if fact == scope else f"not so: {FACTS[fact]}"
