"""Messages of the framework: what is kept of one, and what the framework is given back.

Knows: `Message.to_dict` and `from_dict`; which entries of `additional_properties` are notes that
the framework makes for a run of its own; that a newer version of it may have written what this one
cannot read.

Must not know: stores, limits.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from agent_framework import Content, Message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["revived", "written"]

# Notes of a compaction: they speak of the list that they were made for. Sent along later, they make
# the framework refuse a request over messages that are long gone, or leave out what is there.
_NOTES: Final = ("_group", "_excluded", "_exclude_reason")
_ATTRIBUTION: Final = "_attribution"
_ORIGINS: Final = "origin_session_ids"
_PROPERTIES: Final = "additional_properties"


def written(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return what is kept of messages: all that they dump to, notes included.

    >>> written([Message("user", ["hi"])])[0]["contents"]
    [{'type': 'text', 'text': 'hi', ...}]
    """
    return [message.to_dict() for message in messages]


def revived(natives: Iterable[Any]) -> list[Message]:
    """Return messages for the framework, without the notes of earlier runs.

    >>> from lockstitch.integrations.agent_framework.messages import written
    >>> noted = Message("user", ["hi"], additional_properties={"_excluded": True, "mine": 1})
    >>> revived(written([noted]))[0].additional_properties
    {'mine': 1}
    """
    return [_revived(native) for native in natives]


def _revived(native: Mapping[str, Any]) -> Message:
    fields = {**native, _PROPERTIES: _without_notes(native.get(_PROPERTIES))}
    try:
        return Message.from_dict(fields)
    except (TypeError, ValueError, LookupError, AttributeError):
        return _as_far_as_known(fields)


def _without_notes(properties: Any) -> dict[str, Any]:
    """Return properties without notes; of what they came from, other sessions alone stay named.

    The framework names the source anew with every load. Which other sessions something was said
    in, it does not find out again.
    """
    kept = dict(properties or {})
    for note in _NOTES:
        kept.pop(note, None)
    attribution = kept.pop(_ATTRIBUTION, None)
    if isinstance(attribution, dict) and attribution.get(_ORIGINS):
        kept[_ATTRIBUTION] = {_ORIGINS: attribution[_ORIGINS]}
    return kept


def _as_far_as_known(fields: dict[str, Any]) -> Message:
    """Make a message of what this version of the framework knows; the rest is a property of it."""
    known, unknown = _parted(fields, _parameters(Message))
    unknown.pop("type", None)
    known["contents"] = [_content(one) for one in fields.get("contents") or ()]
    known[_PROPERTIES] = {**unknown, **known[_PROPERTIES]}
    known.setdefault("role", "assistant")
    return Message(**known)


def _content(fields: Any) -> Content:
    if isinstance(fields, str):
        return Content.from_text(fields)
    try:
        return Content.from_dict(fields)
    except (TypeError, ValueError, LookupError, AttributeError):
        pass
    known, unknown = _parted(fields, _parameters(Content))
    properties = {**unknown, **(known.pop(_PROPERTIES, None) or {})}
    try:
        return Content.from_dict({**known, _PROPERTIES: properties})
    except (TypeError, ValueError, LookupError, AttributeError):
        # Nothing that is sent: the framework's clients pass over what they do not know.
        return Content("unknown", additional_properties={"content": fields})  # type: ignore[arg-type]


def _parted(
    fields: Mapping[str, Any], names: frozenset[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    known = {name: value for name, value in fields.items() if name in names}
    return known, {name: value for name, value in fields.items() if name not in names}


@lru_cache
def _parameters(kind: type) -> frozenset[str]:
    return frozenset(inspect.signature(kind.__init__).parameters) - {"self"}  # type: ignore[misc]
