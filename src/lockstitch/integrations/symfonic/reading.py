"""Reading: any message that symfonic's callers have in a list, as facts.

Knows: LangChain messages, the formats that Lockstitch reads, and messages of no package at all that
have the same attributes (`tool_calls` as a list or a tuple, `tool_call_id`). One list may hold
several of these.

Must not know: limits, langchain's packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from reprlib import repr as shown
from typing import Any, Final, NamedTuple

import msgspec

from lockstitch.errors import FormatError
from lockstitch.facts import FUNCTION, Facts
from lockstitch.formats import ENOUGH, FORMATS, Format, detect, get_format
from lockstitch.formats.base import DEFINITE, mapping

__all__ = ["Reading", "as_sequence", "fields_of", "is_langchain", "read"]

_LANGCHAIN: Final = FORMATS["langchain"]
# Here calls have no ids by design, and pair by name.
_BY_NAME: Final = frozenset({"gemini"})
_TYPES: Final = {
    "ai": "ai",
    "assistant": "ai",
    "developer": "system",
    "human": "human",
    "system": "system",
    "tool": "tool",
    "user": "human",
}
_PLAIN_KEYS: Final = frozenset({"role", "content"})
_PLAIN_ROLES: Final = ("assistant", "system", "user")
# What an object has at least one of, if it is a message.
_SIGNS: Final = ("content", "role", "tool_call_id", "tool_calls")


class Reading(NamedTuple):
    """What the decisions read of a stretch of messages.

    `unsent` are positions with a call or a result that no provider takes, since it has no id.
    `whole_runs`: what the model says in one go stays together in this format.
    """

    facts: list[Facts]
    unsent: frozenset[int]
    whole_runs: bool


def as_sequence(history: Any) -> Sequence[Any]:
    """Return the messages as something with positions; a list is taken as it is.

    Raises:
        TypeError: it is no list of messages.

    >>> as_sequence(iter("ab"))
    ['a', 'b']
    """
    if isinstance(history, (list, tuple)):
        return history
    if isinstance(history, (str, bytes, Mapping)) or not isinstance(history, Iterable):
        raise TypeError(f"history must be a list of messages, got {type(history).__name__}")
    return list(history)


def read(history: Sequence[Any], begin: int = 0, format: str | None = None) -> Reading:
    """Read the messages from a position on.

    Args:
        history: the messages.
        begin: the position of the first one that matters.
        format: the format of those that are neither LangChain's nor of no package; found by shape
            when it is not given.

    Raises:
        FormatError: something in it is no message, or the format cannot be told.

    >>> read([{"role": "assistant", "tool_calls": [{"id": "c1"}]}]).facts[0].asks
    ('c1',)
    """
    known: set[type] = set()
    views = [_view(native, begin + at, known) for at, native in enumerate(history[begin:])]
    chosen = _chosen(views, begin, format)
    facts: list[Facts] = []
    unsent: set[int] = set()
    for at, (view, own) in enumerate(views):
        form = own or chosen
        try:
            fact = form.facts(view)
        except FormatError as error:
            raise FormatError(str(error), where=f"history[{begin + at}]") from None
        facts.append(fact)
        if fact.links and form.name not in _BY_NAME and _lacks_id(fact) and not _older(view):
            unsent.add(at)
    return Reading(facts, frozenset(unsent), chosen.joins or chosen.whole_response)


def is_langchain(native: Any) -> bool:
    """Whether it is an object of LangChain's.

    >>> is_langchain({"role": "user"})
    False
    """
    if isinstance(native, (Mapping, msgspec.Raw)):
        return False
    return _LANGCHAIN.evidence(native) == DEFINITE


def _view(native: Any, at: int, known: set[type]) -> tuple[Any, Format | None]:
    """Return what a format can read, and which one where that is clear.

    `known` are the classes that were found to be LangChain's.
    """
    if type(native) in known:
        return native, _LANGCHAIN
    if isinstance(native, (Mapping, msgspec.Raw)):
        return native, None
    if is_langchain(native):
        known.add(type(native))
        return native, _LANGCHAIN
    if hasattr(native, "model_dump") and any(hasattr(native, name) for name in ("role", "type")):
        return native, None
    return fields_of(native, f"history[{at}]"), _LANGCHAIN


def _chosen(views: Sequence[tuple[Any, Format | None]], begin: int, format: str | None) -> Format:
    """Find the format of the messages that do not say it each by itself."""
    others = [view for view, form in views if form is None]
    if format:
        return get_format(format)
    # Plain text is read alike in every format, and there is much of it.
    telling = [view for view in others if not _is_plain(view)]
    if not telling:
        return FORMATS["openai-chat"] if others else _LANGCHAIN
    path = f"history[{begin}:]" if len(telling) == len(views) else "telling messages of history"
    return detect(telling, look=ENOUGH, path=path)[0]


def _is_plain(view: Any) -> bool:
    return (
        type(view) is dict
        and view.keys() == _PLAIN_KEYS
        and type(view["content"]) is str
        and view["role"] in _PLAIN_ROLES
    )


def fields_of(native: Any, where: str) -> dict[str, Any]:
    """Return what LangChain would call the fields of a message of no package.

    Text alone and a pair of role and text are messages too, as they are to LangChain.

    >>> fields_of(("human", "hi"), "history[0]")
    {'type': 'human', 'content': 'hi'}
    """
    if isinstance(native, str):
        return {"type": "human", "content": native}
    if isinstance(native, tuple) and [type(one) for one in native] == [str, str]:
        return {**_typed(native[0]), "content": native[1]}
    if not any(hasattr(native, name) for name in _SIGNS):
        raise FormatError(
            f"expected a message (a dict, or an object with content), found "
            f"{type(native).__name__}: {shown(native)}",
            where=where,
        )
    calls = getattr(native, "tool_calls", None)
    answered = getattr(native, "tool_call_id", None)
    role = getattr(native, "role", None) or getattr(native, "type", None)
    if not isinstance(role, str):
        role = "tool" if answered else "assistant" if calls else "unknown"
    fields = _typed(role)
    blocks = getattr(native, "blocks", None)
    fields["content"] = getattr(native, "content", "") if blocks is None else blocks
    fields["tool_calls"] = calls if isinstance(calls, (list, tuple)) else ()
    invalid = getattr(native, "invalid_tool_calls", None)
    fields["invalid_tool_calls"] = invalid if isinstance(invalid, (list, tuple)) else ()
    if fields["type"] == "tool" or answered:
        fields |= {"type": "tool", "tool_call_id": answered}
    for name in ("additional_kwargs", "name", "status", "usage_metadata"):
        value = getattr(native, name, None)
        if value is not None:
            fields[name] = value
    return fields


def _typed(role: str) -> dict[str, Any]:
    known = _TYPES.get(role)
    return {"type": known} if known else {"type": "chat", "role": role}


def _lacks_id(fact: Facts) -> bool:
    return any(link.id is None and link.family == FUNCTION for link in fact.links)


def _older(view: Any) -> bool:
    """Whether a message is of the time when functions had no ids."""
    fields: Mapping[str, Any] = vars(view) if is_langchain(view) else mapping(view)
    extra = fields.get("additional_kwargs")
    return (
        "function" in (fields.get("role"), fields.get("type"))
        or bool(fields.get("function_call"))
        or (isinstance(extra, dict) and bool(extra.get("function_call")))
    )
