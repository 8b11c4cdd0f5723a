"""Payloads: what results and media hold, and the handles under which they are found again.

Knows: how to look at a result as text and media in any format, and how a handle is made. A handle
follows from the call's id, the tool's name and the payload itself: it is the same on every run, it
outlives a cut, and a call that uses an id again never answers to the handle of another payload.

Must not know: why anything is cleared.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import FormatError
from lockstitch.measure.counters import written
from lockstitch.transcript import Media, Opaque, Text, ToolCall, ToolResult
from lockstitch.writing import inside, text_of, writer_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from lockstitch.transcript import Transcript

__all__ = ["Payload", "find", "names_in", "payloads_at"]


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What a part of a message holds.

    Args:
        path: the place of the part in its message.
        kind: `result` or `media`.
        name: the tool, or what kind of media it is.
        content: the native value.
        text: what of it can be read.
        media: the media in it.
        handle: names it.
        said: is equal where two results of one tool say the same, whatever the id.
    """

    path: str
    kind: str
    name: str
    content: Any
    text: str
    media: tuple[Media, ...]
    handle: str
    said: str

    @property
    def size(self) -> int:
        """How many characters it has, inline data included."""
        return len(self.text) + sum(one.encoded for one in self.media)


def payloads_at(
    transcript: Transcript, at: int, names: Mapping[str | None, str | None] | None = None
) -> Iterator[Payload]:
    """Yield what the results and media of a message hold; `names` are those of tools, by call id.

    Media that are their whole message, and results of the provider's own tools, are not looked at.
    """
    fields: Mapping[str, Any] | None = None
    for part in transcript.parts_at(at):
        if isinstance(part, ToolResult):
            yield _of_result(transcript, at, part, (names or {}).get(part.id))
        elif isinstance(part, Media) and part.path.endswith("]"):
            fields = fields or writer_for(transcript.format.name).fields(transcript.natives[at])
            content = inside(fields, part.path)
            yield Payload(
                path=part.path,
                kind="media",
                name=part.kind,
                content=content,
                text="",
                media=(part,),
                handle=_digest("media", part.kind, content),
                said="",
            )


def _of_result(transcript: Transcript, at: int, part: ToolResult, name: str | None) -> Payload:
    content = part.content
    text = text_of(content)
    media: tuple[Media, ...] = ()
    if isinstance(content, (list, tuple)):
        # What a result shows is read as if the user showed it.
        writer = writer_for(transcript.format.name)
        shown = transcript.format.parts(writer.carrying(content))
        media = tuple(one for one in shown if isinstance(one, Media))
        text = "\n\n".join(_readable(shown)) if media else text
    tool = part.name or name or ""
    return Payload(
        path=part.path,
        kind="result",
        name=tool,
        content=part.content,
        text=text,
        media=media,
        handle=_digest(part.id or "", tool, part.content),
        said=_digest("", tool, part.content),
    )


def _readable(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text):
            yield part.text or ""
        elif isinstance(part, Opaque):
            yield text_of(part.value)


def _digest(id: str, name: str, content: Any) -> str:
    told = "\x00".join((id, name, written(content)))
    digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8)
    return digest.hexdigest()


def names_in(transcript: Transcript, positions: Iterable[int]) -> dict[str | None, str | None]:
    """Return the names of the tools that some messages call, by the ids of the calls."""
    return {
        part.id: part.name
        for at in positions
        if transcript.facts_at(at).calls
        for part in transcript.parts_at(at)
        if isinstance(part, ToolCall)
    }


def find(transcript: Transcript, handle: str) -> Any:
    """Return the payload that a handle names.

    Raises:
        FormatError: nothing in these messages has that handle.
    """
    names: dict[str | None, str | None] = {}
    for at in range(len(transcript)):
        names |= names_in(transcript, (at,))
        for payload in payloads_at(transcript, at, names):
            if payload.handle == handle:
                return payload.content
    raise FormatError(
        f"nothing in these {len(transcript)} messages has the handle {handle}: recall from the "
        "history as it was recorded, before anything was cleared"
    )
