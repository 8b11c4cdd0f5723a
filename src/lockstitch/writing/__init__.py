"""Writers: how each format is written, by its name.

Knows: every writer. Must not know: rules, or why something is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.transcript import Reasoning
from lockstitch.writing import (
    agent_framework,
    anthropic,
    bedrock,
    gemini,
    langchain,
    mistral,
    openai_chat,
    openai_responses,
)
from lockstitch.writing.base import (
    Fields,
    Writer,
    edited,
    first_path,
    inside,
    joined,
    text_of,
    without,
)

if TYPE_CHECKING:
    from lockstitch.formats.base import Format

__all__ = [
    "WRITERS",
    "Fields",
    "Writer",
    "edited",
    "first_path",
    "inside",
    "joined",
    "stripped",
    "text_of",
    "without",
    "writer_for",
]

WRITERS: Final[dict[str, Writer]] = {
    "agent-framework": agent_framework.WRITER,
    "anthropic": anthropic.WRITER,
    "bedrock": bedrock.WRITER,
    "gemini": gemini.WRITER,
    "langchain": langchain.WRITER,
    "mistral": mistral.WRITER,
    "openai-chat": openai_chat.WRITER,
    "openai-responses": openai_responses.WRITER,
}
"""The writer of every format that can be mended."""


def writer_for(format: str) -> Writer:
    """Return the writer of a format.

    Raises:
        ValueError: this version reads the format and does not write it.

    >>> writer_for("anthropic").packed
    True
    """
    if format not in WRITERS:
        known = ", ".join(WRITERS)
        raise ValueError(f"histories in the format {format} cannot be mended, only: {known}")
    return WRITERS[format]


def stripped(native: Any, format: Format) -> Any:
    """Return a message without the reasoning in it; the message itself where there is none.

    >>> from lockstitch.formats import get_format
    >>> thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    >>> said = {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}
    >>> stripped(said, get_format("anthropic"))
    {'role': 'assistant', 'content': [{'type': 'text', 'text': 'a'}]}
    """
    parts = format.parts(native)
    if not any(isinstance(part, Reasoning) for part in parts):
        return native
    writer = writer_for(format.name)
    return writer.refit(native, writer.thoughtless(writer.fields(native), parts))
