"""Counters: sizes of messages in characters and tokens, and how sure each number is.

Knows: parts, and what of them reaches a provider as text. A media part weighs what providers charge
for it, not what its base64 is long; sealed reasoning is counted by its length, for nobody can read
it.

Must not know: tokenizers. Those are handed in: any object with `count(text)`, any callable over
native messages, or a list of sizes that somebody has counted already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, runtime_checkable

import msgspec

from lockstitch.measure.estimate import upper_edge
from lockstitch.measure.limits import CHARS, MESSAGES
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Media,
    Opaque,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = [
    "BYTES",
    "ESTIMATE",
    "ByteCounter",
    "Counter",
    "EstimateCounter",
    "Sizer",
    "sizer_for",
    "texts_of",
    "written",
]

# What a message costs beside its texts: role and separators. OpenAI documents 3 to 4 for Chat.
MESSAGE_OVERHEAD: Final = 4
# What a call or a result costs beside its texts: ids, type, the wrapping of arguments.
LINK_OVERHEAD: Final = 12
# Anthropic and OpenAI charge up to about 1,600 tokens for an image at the size they scale it to.
MEDIA_TOKENS: Final = 1_600
# A document costs by the page; about one token for four bytes of base64 bounds dense ones.
ENCODED_PER_TOKEN: Final = 4

_encode = msgspec.json.Encoder(enc_hook=str).encode


@runtime_checkable
class Counter(Protocol):
    """Counts tokens of a text.

    `name` is shown in plans; `kind` says how sure the number is: `exact`, `estimate`, or `bound`
    for one that is never too low.
    """

    name: str
    kind: str

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        ...


class EstimateCounter:
    """The default: the upper edge of an estimate that is calibrated by content class.

    >>> EstimateCounter().kind
    'estimate'
    """

    name = "estimate"
    kind = "estimate"

    def count(self, text: str) -> int:
        """Return the upper edge of the estimate."""
        return upper_edge(text)


class ByteCounter:
    """The sure upper bound: a byte-level tokenizer never makes more tokens than bytes.

    >>> ByteCounter().count("naïve")
    6
    """

    name = "bytes"
    kind = "bound"

    def count(self, text: str) -> int:
        """Return the length in UTF-8."""
        return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


class _CharCounter:
    name = "chars"
    kind = "exact"

    def count(self, text: str) -> int:
        return len(text)


_CHARS: Final = _CharCounter()
ESTIMATE: Final = EstimateCounter()
BYTES: Final = ByteCounter()
_NAMED: Final[dict[str, Counter]] = {"estimate": ESTIMATE, "bytes": BYTES}


class Sizer:
    """The size of each message of one transcript, in one unit, counted when asked for.

    Args:
        unit: `messages`, `tokens` or `chars`.
        counter: the name of what counts, `kind` how sure it is.
        size: the size of the message at a position.
        around: the size of what the request carries beside the messages.
    """

    __slots__ = ("around", "counter", "kind", "size", "unit")

    def __init__(
        self, unit: str, counter: str, kind: str, size: Callable[[int], int], around: int = 0
    ) -> None:
        self.unit = unit
        self.counter = counter
        self.kind = kind
        self.size = size
        self.around = around


def sizer_for(transcript: Transcript, unit: str, counter: Any = None) -> Sizer:
    """Make the sizer for a unit.

    Args:
        transcript: the messages.
        unit: `messages`, `tokens` or `chars`.
        counter: for tokens: `None` (the estimate), `"estimate"`, `"bytes"`, a `Counter`, a callable
            that takes a native message and returns its tokens, or a list with the tokens of each
            message.

    Raises:
        TypeError, ValueError: the counter is none of these, or the list has another length.
    """
    if unit == MESSAGES:
        return Sizer(unit, "messages", "exact", _one)
    if unit == CHARS:
        return _counted(transcript, unit, _CHARS, _CHAR_WEIGHTS)
    if counter is None:
        counter = ESTIMATE
    elif isinstance(counter, str):
        if counter not in _NAMED:
            known = ", ".join(map(repr, _NAMED))
            raise ValueError(f"no counter is called {counter!r}; there are: {known}")
        counter = _NAMED[counter]
    # A list first: to ask whether something is a `Counter` costs as much as a small cut.
    if isinstance(counter, Sequence):
        return _listed(transcript, unit, counter)
    if isinstance(counter, Counter):
        return _counted(transcript, unit, counter, _TOKEN_WEIGHTS)
    if callable(counter):
        return _called(transcript, unit, cast("Callable[[Any], int]", counter))
    raise TypeError(
        "counter must be None, a name, a Counter, a callable or a list of sizes, got "
        f"{counter!r:.60}"
    )


def _one(_: int) -> int:
    return 1


class _Weights(msgspec.Struct, frozen=True):
    """What a message, a call or result, and a media part weigh beside their texts."""

    message: int = 0
    link: int = 0
    media: int = 0

    def of_media(self, part: Media) -> int:
        """Weigh an image flat, and anything else by its length if that is more."""
        if not self.media or part.kind == "image":
            return self.media
        return max(self.media, part.encoded // ENCODED_PER_TOKEN)


_CHAR_WEIGHTS: Final = _Weights()
_TOKEN_WEIGHTS: Final = _Weights(MESSAGE_OVERHEAD, LINK_OVERHEAD, MEDIA_TOKENS)


def _counted(transcript: Transcript, unit: str, counter: Counter, weights: _Weights) -> Sizer:
    known: dict[int, int] = {}
    count = counter.count
    parts_of = transcript.format.parts
    natives = transcript.natives

    def size(position: int) -> int:
        found = known.get(position)
        if found is None:
            total = weights.message
            for part in parts_of(natives[position]):
                if isinstance(part, Media):
                    total += weights.of_media(part)
                    continue
                total += sum([count(text) for text in texts_of(part)])
                if isinstance(part, (ToolCall, ToolResult)):
                    total += weights.link
            found = known[position] = total
        return found

    around = 0
    for key in (*transcript.format.system_keys, "tools"):
        value = transcript.context.get(key)
        if value:
            around += count(value if isinstance(value, str) else written(value))
    return Sizer(unit, counter.name, counter.kind, size, around)


def _listed(transcript: Transcript, unit: str, sizes: Sequence[Any]) -> Sizer:
    if len(sizes) != len(transcript):
        raise ValueError(f"counter lists {len(sizes)} sizes for {len(transcript)} messages")

    def size(position: int) -> int:
        found = sizes[position]
        return found if type(found) is int and found >= 0 else _checked(found, position)

    return Sizer(unit, "sizes", "exact", size)


def _called(transcript: Transcript, unit: str, counter: Callable[[Any], int]) -> Sizer:
    known: dict[int, int] = {}

    def size(position: int) -> int:
        found = known.get(position)
        if found is None:
            found = known[position] = _checked(counter(transcript.natives[position]), position)
        return found

    return Sizer(unit, getattr(counter, "__name__", "callable"), "exact", size)


def _checked(size: Any, position: int) -> int:
    if type(size) is not int or size < 0:
        raise TypeError(
            f"the size of message {position} must be a number of at least 0, got {size!r}"
        )
    return size


def texts_of(part: Part) -> Iterator[str]:
    """Yield the texts of a part as a provider reads them.

    >>> list(texts_of(ToolCall("function", "c1", "search", '{"q": 1}')))
    ['search', '{"q": 1}']
    """
    if isinstance(part, Text):
        if part.text:
            yield part.text
    elif isinstance(part, Reasoning):
        if part.text:
            yield part.text
        if part.sealed:
            yield str(part.sealed)
    elif isinstance(part, (ToolCall, ApprovalRequest)):
        if part.name:
            yield str(part.name)
        if part.arguments:
            yield part.arguments if isinstance(part.arguments, str) else written(part.arguments)
    elif isinstance(part, ToolResult):
        yield from _result_texts(part.content)
    elif isinstance(part, Opaque):
        yield written(part.value)
    elif isinstance(part, Approval):
        return


def _result_texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, (list, tuple)):
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                yield block["text"]
            else:
                yield written(block)
    elif content is not None:
        yield written(content)


def written(value: Any) -> str:
    """Write a value as compact JSON, which is how it is sent.

    >>> written({"q": 1})
    '{"q":1}'
    """
    try:
        return _encode(value).decode()
    except (UnicodeEncodeError, TypeError, RecursionError):
        return _spelled(value)


def _spelled(value: Any) -> str:
    """Spell a value that no encoder takes, for its size: half a surrogate pair, deep nesting."""
    pieces: list[str] = []
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            todo.extend(item.keys())
            todo.extend(item.values())
        elif isinstance(item, (list, tuple)):
            todo.extend(item)
        else:
            pieces.append(str(item))
            continue
        pieces.append("{}" + ",:" * len(item))
    return "".join(pieces)
