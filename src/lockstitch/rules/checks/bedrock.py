"""Checks of Converse messages: strict turns, results at once, names, documents, media by address.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT, FUNCTION, OTHER, SYSTEM, TOOL, USER
from lockstitch.formats.base import blocks_of, mapping
from lockstitch.rules.ids import IdShape
from lockstitch.rules.view import Finding, View
from lockstitch.transcript import Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.pairing import Occurrence

__all__ = [
    "bad_tool_name",
    "blank_block",
    "duplicate_document",
    "equal_neighbours",
    "final_whitespace",
    "result_not_next",
    "s3_in_result",
    "s3_source",
    "text_beside_call",
    "text_beside_result",
    "too_many_documents",
    "tools_not_defined",
    "video_block",
]

_NAME: Final = IdShape("a-zA-Z0-9_-", 1, 64)
_MOST_DOCUMENTS: Final = 5
_MEDIA: Final = ("image", "document", "video", "audio")
# What a request body has beside the messages; a list that came with none of it is only a list.
_BODY: Final = ("modelId", "inferenceConfig", "system", "additionalModelRequestFields")


# --- turns ----------------------------------------------------------------------------------------


def equal_neighbours(view: View) -> Iterator[Finding]:
    """Find messages beside another one of their own role."""
    before = ""
    for index, fact in enumerate(view.facts):
        if fact.role in {SYSTEM, OTHER}:
            continue
        side = USER if fact.role == TOOL else fact.role
        if side == before:
            yield Finding(
                index, f"two {side} messages stand side by side: merge them into one message"
            )
        before = side


def final_whitespace(view: View) -> Iterator[Finding]:
    """Find a final assistant message whose text ends in white space."""
    last = len(view.facts) - 1
    if last < 0 or view.facts[last].role != ASSISTANT:
        return
    parts = view.parts(last)
    part = parts[-1] if parts else None
    if isinstance(part, Text) and part.text and part.text.strip() and part.text[-1].isspace():
        yield Finding(last, "the final text ends in white space: strip it", part.path)


# --- calls and results ----------------------------------------------------------------------------


def result_not_next(view: View) -> Iterator[Finding]:
    """Find calls that are not answered in the very next message.

    `related` names the message that holds the result, where there is one behind the next.
    """
    answered: set[int] = {
        call.message for call in view.groups.pairing.calls if call.answer == call.message + 1
    }
    due = {id(call) for call in view.unanswered()}
    for call in view.groups.pairing.calls:
        if call.link.family != FUNCTION or call.answer == call.message + 1:
            continue
        late = call.answer > call.message and not _between(view, call)
        if call.answer >= 0 and not late:
            continue
        # At the end of an open history the rest may still come, and then it must be merged.
        if late or id(call) in due or call.message in answered:
            yield Finding(
                call.message,
                f"the call {call.link.id} is not answered in the next message: "
                + ("merge its result into it" if late else "give it a result, or drop the call"),
                view.place(call.message, call.ordinal),
                (call.answer,) if late else (),
                maybe=not late and id(call) not in due,
            )


def _between(view: View, call: Occurrence) -> bool:
    """Whether nothing that counts stands between a call and its result."""
    return all(
        view.facts[at].role in {SYSTEM, OTHER} for at in range(call.message + 1, call.answer)
    )


def tools_not_defined(view: View) -> Iterator[Finding]:
    """Find a request with calls or results and without tool definitions."""
    context = view.context
    if context.get("toolConfig"):
        return
    if "toolConfig" not in context and not any(key in context for key in _BODY):
        return
    if any(fact.linked for fact in view.facts):
        yield Finding(
            -1, "the request has calls or results and defines no tools: pass toolConfig along"
        )


def text_beside_result(view: View) -> Iterator[Finding]:
    """Find user messages that hold text beside a result."""
    for index, fact in enumerate(view.facts):
        if fact.role == USER and fact.linked:
            for part in view.parts(index):
                if isinstance(part, Text):
                    yield Finding(
                        index, "text stands beside a result: move it into the result", part.path
                    )


def text_beside_call(view: View) -> Iterator[Finding]:
    """Find assistant messages that hold text beside a call."""
    for index, fact in enumerate(view.facts):
        if fact.role == ASSISTANT and fact.calls:
            for part in view.parts(index):
                if isinstance(part, Text):
                    yield Finding(index, "text stands beside a call: leave it out", part.path)


def bad_tool_name(view: View) -> Iterator[Finding]:
    """Find names of called tools that the target does not take."""
    for index, fact in enumerate(view.facts):
        if fact.role != ASSISTANT or not fact.linked:
            continue
        for part in view.parts(index):
            if isinstance(part, ToolCall) and not _NAME.takes(str(part.name or "")):
                yield Finding(
                    index,
                    f"the name {part.name} is not 1 to 64 of letters, digits and _-: rename it",
                    part.path,
                )


# --- content --------------------------------------------------------------------------------------


def blank_block(view: View) -> Iterator[Finding]:
    """Find blocks of text that show nothing."""
    for index, fact in enumerate(view.facts):
        if fact.role == OTHER:
            continue
        for part in view.parts(index):
            if isinstance(part, Text) and not (part.text or "").strip():
                yield Finding(index, "the text is blank: remove it, or say something", part.path)


# --- documents and media --------------------------------------------------------------------------


def _media(view: View) -> Iterator[tuple[int, str, str, Mapping[str, Any]]]:
    """Yield every attachment, those inside results too: message, path, kind, value."""
    for index in range(len(view.facts)):
        content = mapping(view.transcript.natives[index]).get("content")
        if isinstance(content, (list, tuple)):
            yield from _attached(index, "content", content)


def _attached(
    index: int, path: str, content: list[Any] | tuple[Any, ...]
) -> Iterator[tuple[int, str, str, Mapping[str, Any]]]:
    for at, block in enumerate(blocks_of(content)):
        result = block.get("toolResult")
        if isinstance(result, Mapping):
            held: Any = result.get("content")
            if isinstance(held, (list, tuple)):
                yield from _attached(index, f"{path}[{at}].toolResult.content", held)
            continue
        for kind in _MEDIA:
            value = block.get(kind)
            if isinstance(value, Mapping):
                yield index, f"{path}[{at}]", kind, value


def duplicate_document(view: View) -> Iterator[Finding]:
    """Find documents under a name that an earlier one has."""
    first: dict[Any, int] = {}
    for index, path, kind, value in _media(view):
        name = value.get("name")
        if kind != "document" or not name:
            continue
        if name in first:
            yield Finding(
                index,
                f"a second document is called {name}: rename it",
                path,
                (first[name],),
            )
        else:
            first[name] = index


def too_many_documents(view: View) -> Iterator[Finding]:
    """Find the oldest documents where there are more than a request may hold."""
    documents = [found for found in _media(view) if found[2] == "document"]
    for index, path, _, value in documents[:-_MOST_DOCUMENTS]:
        yield Finding(
            index,
            f"more than {_MOST_DOCUMENTS} documents: put a note in the place of "
            f"{value.get('name') or 'this one'}",
            path,
        )


def video_block(view: View) -> Iterator[Finding]:
    """Find video."""
    for index, path, kind, _ in _media(view):
        if kind == "video":
            yield Finding(index, "video: put a note in its place", path)


def _stored(value: Mapping[str, Any]) -> bool:
    source: Any = value.get("source")
    return isinstance(source, Mapping) and source.get("s3Location") is not None  # pyright: ignore[reportUnknownMemberType]


def s3_source(view: View) -> Iterator[Finding]:
    """Find media given by an S3 address."""
    for index, path, kind, value in _media(view):
        if _stored(value):
            yield Finding(index, f"{kind} by an S3 address: send its bytes, or a note", path)


def s3_in_result(view: View) -> Iterator[Finding]:
    """Find media given by an S3 address inside a result."""
    for index, path, kind, value in _media(view):
        if _stored(value) and ".toolResult." in path:
            yield Finding(
                index, f"{kind} by an S3 address inside a result: move it beside the result", path
            )
