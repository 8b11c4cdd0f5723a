"""Documents that are Python objects: lists of messages, and request bodies that wrap one.

Knows: under which keys request bodies, logs, recorded exchanges and sessions keep the list.

Must not know: JSON, or what a message means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lockstitch.document.base import NOTHING, Document
from lockstitch.errors import FormatError

__all__ = ["find_list", "from_list", "from_mapping", "is_message"]

# Where request bodies, logs and exports keep the list.
LIST_KEYS = ("messages", "input", "contents")
# A recorded exchange keeps the request body under this key.
NESTED = "request"
# A session of agent-framework keeps one list for each source of messages, in the source's state.
STATE = "state"


def from_list(source: Iterable[Any]) -> Document:
    """Take a list as it is; anything else that can be gone through becomes one."""
    natives = source if isinstance(source, (list, tuple)) else list(source)

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> list[Any]:
        return list(changed)

    return Document(natives=natives, path="messages", context={}, rebuild=rebuild)


def from_mapping(body: Mapping[str, Any]) -> Document:
    """Find the list in a request body and keep what stands around it."""
    steps, found = find_list(body)
    *outer, key = steps
    request = body
    for step in outer:
        request = request[step]
    context = {name: value for name, value in request.items() if name != key}
    text = isinstance(found, str)
    natives = [{"role": "user", "content": found}] if text else found

    def rebuild(changed: Sequence[Any], around: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
        if text and not around and len(changed) == 1 and changed[0] is natives[0]:
            return dict(body)
        inner = {**request, **around, key: list(changed)}
        for depth in range(len(outer), 0, -1):
            holder: Any = body
            for step in outer[: depth - 1]:
                holder = holder[step]
            inner = {**holder, outer[depth - 1]: inner}
        return inner

    return Document(natives=natives, path=".".join(steps), context=context, rebuild=rebuild)


def is_message(body: Mapping[str, Any]) -> bool:
    """Whether an object is itself a message that keeps what it says under `contents`."""
    return "role" in body and "contents" in body


def find_list(body: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Find the list in a request body or a session, and the keys that lead to it.

    A bare string input is a list of one.
    """
    held = (
        []
        if is_message(body)
        else [
            key
            for key in LIST_KEYS
            if isinstance(body.get(key), (list, tuple))
            or (key == "input" and isinstance(body.get(key), str))
        ]
    )
    if len(held) > 1:
        raise FormatError(
            f"the object holds {' and '.join(map(repr, held))}: hand over the list you mean"
        )
    if held:
        return (held[0],), body[held[0]]
    nested = body.get(NESTED)
    if isinstance(nested, Mapping):
        steps, found = find_list(nested)
        return (NESTED, *steps), found
    state = body.get(STATE)
    if isinstance(state, Mapping):
        return _of_session(state)
    shown = ", ".join(sorted(map(str, body))[:12]) or "no keys at all"
    raise FormatError(
        f"no list of messages found: looked for {' and '.join(map(repr, LIST_KEYS))}, "
        f"the object has {shown}"
    )


def _of_session(state: Mapping[str, Any]) -> tuple[tuple[str, ...], Any]:
    """Find the list in the state of a session, where one source holds one."""
    lists = {
        source: held["messages"]
        for source, held in state.items()
        if isinstance(held, Mapping) and isinstance(held.get("messages"), (list, tuple))
    }
    if len(lists) == 1:
        source, found = next(iter(lists.items()))
        return (STATE, source, "messages"), found
    if lists:
        raise FormatError(
            f"the session holds the messages of {' and '.join(map(repr, lists))}: hand over the "
            "list you mean, state[source]['messages']"
        )
    shown = ", ".join(sorted(map(str, state))[:12]) or "nothing"
    raise FormatError(
        f"no list of messages found: looked for 'messages' under each source of the session's "
        f"state, which has {shown}"
    )
