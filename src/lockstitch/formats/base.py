"""What a format is, and the few shape questions that every format asks.

Knows: how to look at a native message as a mapping without importing the SDK it came from, and how
facts follow from parts.

Must not know: any one format. Formats import this module and never each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from reprlib import repr as shown
from typing import Any, Final

import msgspec

from lockstitch.errors import FormatError
from lockstitch.facts import (
    ANSWER,
    ASSISTANT,
    CALL,
    FINAL,
    FUNCTION,
    INTERIM,
    REJECTED,
    REQUEST,
    RESULT,
    TOOL,
    USER,
    Facts,
    Link,
    facts_with,
)
from lockstitch.transcript import (
    Approval,
    ApprovalRequest,
    Part,
    Reasoning,
    ToolCall,
    ToolResult,
)

__all__ = [
    "DEFINITE",
    "FITS",
    "LIKELY",
    "NO",
    "Format",
    "blocks_of",
    "facts_of",
    "identifier",
    "mapping",
]

# How strongly one message speaks for a format.
NO: Final = 0  # it cannot be this format
FITS: Final = 1  # it can be, and so it can be others
LIKELY: Final = 2  # fields that others do not have, but that wander between formats
DEFINITE: Final = 3  # a shape that no other format has


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One format: native shape to facts and parts.

    `facts` and `parts` take one native message. `evidence` says how strongly one message speaks
    for this format. `keys` are the names under which a request body holds the list; `system_keys`
    those under which it holds instructions outside the list. `whole_response`: all items of one
    response stand or fall together. `asks` tells the messages that ask a person for approval, where
    the format has such. `bound_system`: a system message inside the list has a place that it
    needs. `joins`: neighbouring messages of one role are one turn on the wire. `dialect_of`
    names the format that this one is a variant of.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    facts: Callable[[Any], Facts]
    parts: Callable[[Any], tuple[Part, ...]]
    evidence: Callable[[Any], int]
    system_keys: tuple[str, ...] = ()
    whole_response: bool = False
    asks: Callable[[Any], bool] | None = None
    bound_system: bool = False
    joins: bool = False
    dialect_of: str | None = None


_decode = msgspec.json.Decoder().decode


def _decoded(raw: msgspec.Raw) -> Any:
    try:
        return _decode(raw)
    except RecursionError:
        raise FormatError("nested too deeply to be read safely") from None
    except msgspec.DecodeError as error:
        raise FormatError(f"not JSON: {error}") from None


def mapping(native: Any) -> Mapping[str, Any]:
    """Look at a native message or block as a mapping, without changing it.

    Takes mappings, raw JSON, and SDK objects: anything with `model_dump` (pydantic), whose unset
    fields stay away as they do on the wire, or with `to_dict`.

    Raises:
        FormatError: it is none of these.
    """
    if type(native) is dict or isinstance(native, Mapping):
        return native
    if isinstance(native, msgspec.Raw):
        value = _decoded(native)
        if isinstance(value, dict):
            return value
        raise FormatError(f"expected an object, found {type(value).__name__}: {shown(value)}")
    dump = getattr(native, "model_dump", None)
    if callable(dump):
        dumped = dump(exclude_unset=True)
        if isinstance(dumped, dict):
            return dumped
    made = getattr(native, "to_dict", None)
    if callable(made):
        held = made()
        if isinstance(held, dict):
            return held
    raise FormatError(
        f"expected a mapping, or an object with model_dump, found "
        f"{type(native).__name__}: {shown(native)}"
    )


def blocks_of(content: Any) -> list[Mapping[str, Any]]:
    """Return the content blocks of a list content; strings among them become text blocks."""
    return [
        block
        if type(block) is dict
        else {"type": "text", "text": block}
        if isinstance(block, str)
        else mapping(block)
        for block in content
    ]


def identifier(value: Any) -> str | None:
    """Return an id that can pair: text, and nothing where it is empty or missing."""
    if not value and value != 0:
        return None
    return value if type(value) is str else str(value)


def facts_of(role: str, parts: tuple[Part, ...]) -> Facts:
    """Derive facts from parts: the definition that a format's fast `facts` must equal.

    `role` is the format's own idea of who speaks; a user message that holds nothing but answers
    becomes `tool`.
    """
    links: list[Link] = []
    answers = 0
    thoughts = 0
    for part in parts:
        if isinstance(part, ToolCall):
            if not part.hosted:
                state = INTERIM if part.waits else FINAL
                links.append(Link(CALL, part.family, part.id, part.name, part.alias, state))
        elif isinstance(part, ToolResult):
            answers += 1
            links.append(Link(RESULT, part.family, part.id, part.name, part.alias, part.state))
        elif isinstance(part, ApprovalRequest):
            links.append(Link(REQUEST, part.family, part.id, part.name, part.call_id))
        elif isinstance(part, Approval):
            answers += 1
            # A call that the client runs has a result even when it was refused.
            refused = not part.approved and part.family != FUNCTION
            state = REJECTED if refused else FINAL
            links.append(Link(ANSWER, part.family, part.id, None, part.call_id, state))
        elif isinstance(part, Reasoning):
            thoughts += 1
    if role == USER and answers and answers == len(parts):
        role = TOOL
    alone = role == ASSISTANT and thoughts > 0 and thoughts == len(parts)
    return facts_with(role, tuple(links), reasoning=alone)
