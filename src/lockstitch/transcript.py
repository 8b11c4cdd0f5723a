"""Values: messages and their parts, and the transcript that holds them in order.

Knows: what a conversation is made of. Parts hold references into the native message, never copies
of its text; `native` is the caller's own object, or the raw bytes it was read from.

Must not know: any format's field names, any rule, any limit. Identity is the position in the
transcript: ids repeat, are missing, and get rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import FormatError
from lockstitch.facts import FINAL, Facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lockstitch.document.base import Document
    from lockstitch.formats.base import Format

__all__ = [
    "Approval",
    "ApprovalRequest",
    "Media",
    "Message",
    "Opaque",
    "Part",
    "Provenance",
    "Reasoning",
    "Text",
    "ToolCall",
    "ToolResult",
    "Transcript",
]


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where an opaque value comes from; it is valid only there.

    >>> Provenance(provider="anthropic", model="claude-sonnet-4-5").endpoint is None
    True
    """

    provider: str | None = None
    model: str | None = None
    endpoint: str | None = None


class Text(msgspec.Struct, frozen=True):
    """Text, or `None` where the format says null.

    >>> Text("hello").text
    'hello'
    """

    text: str | None
    path: str = ""


class Reasoning(msgspec.Struct, frozen=True):
    """The model's reasoning: readable text, an opaque payload, or both.

    `sealed` is the signature or encrypted content; it is kept exact or dropped whole.
    """

    text: str = ""
    sealed: str | None = None
    id: str | None = None
    path: str = ""
    provenance: Provenance | None = None


class ToolCall(msgspec.Struct, frozen=True):
    """A call. `arguments` is as the format has it: the written text, or the object.

    `hosted` calls are run by the provider inside its own response. One that `waits` asks a person,
    and can be answered however far the conversation has gone on.
    """

    family: str
    id: str | None
    name: str | None
    arguments: Any = None
    path: str = ""
    alias: str | None = None
    hosted: bool = False
    waits: bool = False


class ToolResult(msgspec.Struct, frozen=True):
    """An answer to a call. `content` is the native value: text, or a list of blocks."""

    family: str
    id: str | None
    content: Any = None
    name: str | None = None
    path: str = ""
    is_error: bool = False
    state: str = FINAL
    alias: str | None = None


class ApprovalRequest(msgspec.Struct, frozen=True):
    """A call that waits for a person; `call_id` is the id of the embedded call, if it has one.

    `family` is that of the call: a result follows the decision about one that the client runs.
    """

    id: str | None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    path: str = ""
    family: str = "mcp"


class Approval(msgspec.Struct, frozen=True):
    """A person's decision about an approval request, known by its id or by that of its call."""

    id: str | None
    approved: bool = True
    path: str = ""
    call_id: str | None = None
    family: str = "mcp"


class Media(msgspec.Struct, frozen=True):
    """An image, a document, sound. `encoded` counts the characters of inline data, 0 for a link."""

    kind: str
    media_type: str | None = None
    encoded: int = 0
    path: str = ""


class Opaque(msgspec.Struct, frozen=True):
    """A part of a type this version does not know. It groups, it counts, it round-trips."""

    type: str
    value: Any = None
    path: str = ""


Part = Text | Reasoning | ToolCall | ToolResult | ApprovalRequest | Approval | Media | Opaque


class Message(msgspec.Struct, frozen=True):
    """One message: its role, its parts, and the native object they refer to."""

    role: str
    parts: tuple[Part, ...]
    native: Any


class Transcript:
    """An ordered list of messages in one format, read lazily.

    The natives are the caller's own sequence: it is neither copied nor changed, and a message is
    looked into only when something is asked of it, so work on the tail costs the tail.

    Args:
        document: what was handed over: the messages, the request around them (`system`, `tools`,
            `previous_response_id`, ...), and how the list is named in reports.
        format: the format they are in.
    """

    __slots__ = ("_facts", "_start", "document", "format", "natives")

    def __init__(self, document: Document, format: Format) -> None:
        self.document = document
        self.format = format
        self.natives: Sequence[Any] = document.natives
        # Facts of a suffix, [_start, len). Decisions grow it towards the front as they need.
        self._facts: list[Facts] = []
        self._start = len(document.natives)

    @property
    def context(self) -> Mapping[str, Any]:
        """The request around the list, empty when only a list was given."""
        return self.document.context

    @property
    def path(self) -> str:
        """How the list is named in reports."""
        return self.document.path

    def __len__(self) -> int:
        return len(self.natives)

    def __iter__(self) -> Iterator[Message]:
        return (self.message(index) for index in range(len(self.natives)))

    def facts_at(self, index: int) -> Facts:
        """Return the facts of one message."""
        if index >= self._start:
            return self._facts[index - self._start]
        try:
            return self.format.facts(self.natives[index])
        except FormatError as error:
            raise self._placed(error, index) from None

    def facts_from(self, start: int) -> list[Facts]:
        """Return the facts of the messages from `start` on. The list must not be changed."""
        if start != self._start:
            facts = self.format.facts
            if start > self._start:
                return self._facts[start - self._start :]
            read: list[Facts] = []
            try:
                read.extend(map(facts, self.natives[start : self._start]))
            except FormatError as error:
                # What was read before the message at fault tells which one it is.
                raise self._placed(error, start + len(read)) from None
            self._facts[:0] = read
            self._start = start
        return self._facts

    def message(self, index: int) -> Message:
        """Return one message with its parts."""
        return Message(self.facts_at(index).role, self.parts_at(index), self.natives[index])

    def parts_at(self, index: int) -> tuple[Part, ...]:
        """Return the parts of one message."""
        try:
            return self.format.parts(self.natives[index])
        except FormatError as error:
            raise self._placed(error, index) from None

    def at(self, positions: Iterable[int]) -> Transcript:
        """Return the messages at some positions as a transcript of their own."""
        document = self.document
        return Transcript(
            type(document)(
                natives=[self.natives[position] for position in positions],
                path=document.path,
                context=document.context,
                rebuild=document.rebuild,
            ),
            self.format,
        )

    @property
    def server_held(self) -> bool:
        """Whether the provider holds an earlier part of this conversation."""
        return bool(self.context.get("previous_response_id") or self.context.get("conversation"))

    def _placed(self, error: FormatError, index: int) -> FormatError:
        return FormatError(str(error), where=f"{self.path}[{index}]")
