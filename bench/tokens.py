"""Exact token counts without a network: tiktoken's o200k_base from the vocabulary litellm ships.

Every contender counts the same text of a message with the same tokenizer (litellm brings its own
call of it), so that a table compares how often a library counts, not how fast a tokenizer is.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PER_MESSAGE = 4


@cache
def _encoding() -> Any:
    spec = find_spec("litellm")
    if spec is None or not spec.origin:
        raise RuntimeError("litellm is not installed, and it is where the vocabulary comes from")
    vocabularies = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(vocabularies)
    import tiktoken

    return tiktoken.get_encoding("o200k_base")


def count_text(text: str) -> int:
    """Tokens of a text; words that look like special tokens are plain text."""
    return len(_encoding().encode_ordinary(text))


def text_of(message: dict[str, Any]) -> str:
    """The text that counts of an OpenAI Chat message."""
    parts = [message.get("reasoning_content") or "", message.get("content") or ""]
    for call in message.get("tool_calls") or ():
        parts += call["function"]["name"], call["function"]["arguments"]
    return "\n".join(part for part in parts if part)


def count_message(message: dict[str, Any]) -> int:
    """Exact tokens of an OpenAI Chat message."""
    return count_text(text_of(message)) + PER_MESSAGE


def weigh(text: str, known: int | None) -> int:
    """The size of a message: what is known of it or, where it was shortened, that of its text."""
    return count_text(text) + PER_MESSAGE if known is None else known


def estimate_message(message: dict[str, Any]) -> int:
    """Four characters a token: what most libraries fall back to, and wrong by half on JSON."""
    size = len(message.get("content") or "") + len(message.get("reasoning_content") or "")
    if calls := message.get("tool_calls"):
        for call in calls:
            size += len(call["function"]["name"]) + len(call["function"]["arguments"])
    return size // 4 + PER_MESSAGE


def count_langchain(messages: list[Any]) -> int:
    """Exact tokens of langchain-core messages, the same text as ``count_message``."""
    total = 0
    for message in messages:
        parts = [message.additional_kwargs.get("reasoning_content", ""), message.content]
        for call in getattr(message, "tool_calls", ()):
            parts += call["name"], str(call["args"])
        total += count_text("\n".join(part for part in parts if part)) + PER_MESSAGE
    return total
