"""One history in the shape that each contender works on, and those shapes made fresh again."""

from __future__ import annotations

from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import convert
import tokens

if TYPE_CHECKING:
    from judge import Skeleton


class World:
    """One history in every shape, each made when it is first asked for."""

    def __init__(self, chat: list[dict[str, Any]]) -> None:
        self.chat = chat

    @cached_property
    def skeletons(self) -> list[Skeleton]:
        return convert.chat_skeletons(self.chat)

    @cached_property
    def sizes(self) -> list[int]:
        """The exact token count of each message."""
        return [tokens.count_message(message) for message in self.chat]

    @cached_property
    def langchain(self) -> list[Any]:
        return convert.to_langchain(self.chat)

    @cached_property
    def langchain_sizes(self) -> dict[int, int]:
        """The exact token counts by the identity of the langchain message."""
        return {id(m): size for m, size in zip(self.langchain, self.sizes, strict=True)}

    @cached_property
    def langchain_apart(self) -> list[Any]:
        return self.langchain[1:]

    @cached_property
    def bedrock(self) -> list[Any]:
        return convert.to_bedrock(self.chat)

    @cached_property
    def agent_framework(self) -> list[Any]:
        return convert.to_agent_framework(self.chat)

    @cached_property
    def agent_framework_counted(self) -> list[Any]:
        """A second copy that carries its groups and token counts, as a live session does."""
        from agent_framework._compaction import annotate_token_counts

        messages = convert.to_agent_framework(self.chat)
        counts = iter(self.sizes)
        annotate_token_counts(
            messages, tokenizer=SimpleNamespace(count_tokens=lambda _: next(counts))
        )
        return messages


def unmarked(messages: list[Any]) -> list[Any]:
    """Agent-framework messages as they come back from a store: no group, count or flag on them."""
    for message in messages:
        message.additional_properties.clear()
        message.message_id = None
    return messages


def included(messages: list[Any]) -> list[Any]:
    """Agent-framework messages with their groups and counts, and nothing excluded."""
    for message in messages:
        message.additional_properties["_excluded"] = False
        message.additional_properties.pop("_exclude_reason", None)
    return messages
