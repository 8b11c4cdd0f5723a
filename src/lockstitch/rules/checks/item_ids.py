"""Checks of the server's ids on Responses items: their shape, and the reasoning they are bound to.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.

Source of the prefixes: ids in recorded answers; those in `_SURE` are named by refusals, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import ASSISTANT
from lockstitch.formats.base import mapping
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lockstitch.transcript import Transcript

__all__ = [
    "HOSTED",
    "LONGEST",
    "PREFIXES",
    "foreign_follower",
    "issued",
    "item_id_characters",
    "item_id_length",
    "item_id_prefix",
    "kind_of",
    "led_by",
    "unbound",
]

PREFIXES: Final[dict[str, str]] = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "computer_call": "cu",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "apply_patch_call": "apc",
    "shell_call": "sh",
    "local_shell_call": "lsh",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "compaction": "cmp",
}
"""What the id of an item begins with, by the type of the item."""
_SURE: Final = frozenset({"message", "reasoning", "function_call", "custom_tool_call", "mcp_call"})
HOSTED: Final = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
    }
)
"""The types of calls that the provider runs inside its response."""
LONGEST: Final = 64
"""How long the id of an item may be."""

_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def kind_of(item: Mapping[str, Any]) -> str:
    """Return the type of an item; a message may leave it out."""
    return str(item.get("type") or "message")


def issued(item: Mapping[str, Any]) -> bool:
    """Whether an item carries an id that the server issues for its type.

    >>> issued({"type": "function_call", "id": "fc_1"}), issued({"type": "function_call"})
    (True, False)
    """
    prefix = PREFIXES.get(kind_of(item))
    named = item.get("id")
    return prefix is not None and isinstance(named, str) and named.startswith(prefix + "_")


def _items(view: View) -> Iterator[tuple[int, Mapping[str, Any], str]]:
    """Yield the items that have an id of their own, where those are looked at."""
    if view.known.get("ids_unchecked"):
        return
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        # The output of a local shell call carries the id of its call in this place.
        named = item.get("id")
        if isinstance(named, str) and not kind_of(item).endswith("_call_output"):
            yield index, item, named


def item_id_characters(view: View) -> Iterator[Finding]:
    """Find item ids that are empty or hold other than letters, digits, `_` and `-`."""
    for index, item, named in _items(view):
        if kind_of(item) != "item_reference" and not _PLAIN.fullmatch(named):
            said = f"the item id {named!r} holds strange characters" if named else "the id is empty"
            yield Finding(index, f"{said}: leave it out", "id")


def item_id_prefix(view: View) -> Iterator[Finding]:
    """Find item ids that do not begin as the server's do for that type."""
    for index, item, named in _items(view):
        kind = kind_of(item)
        prefix = PREFIXES.get(kind, "")
        if _PLAIN.fullmatch(named) and not named.startswith(prefix):
            said = f"the id {named} of this {kind} does not begin with {prefix}: leave it out"
            yield Finding(index, said, "id", maybe=kind not in _SURE)


def item_id_length(view: View) -> Iterator[Finding]:
    """Find item ids that are too long."""
    for index, _, named in _items(view):
        if len(named) > LONGEST:
            said = f"the item id has {len(named)} characters, {LONGEST} are taken: leave it out"
            yield Finding(index, said, "id")


# --- reasoning and what it is bound to ------------------------------------------------------------


def foreign_follower(view: View) -> Iterator[Finding]:
    """Find stored reasoning whose next item is not the one that it led to: it has no id."""
    if view.context.get("store") is False or view.known.get("ids_unchecked"):
        return
    natives, facts = view.transcript.natives, view.facts
    for index, fact in enumerate(facts[:-1]):
        if not fact.reasoning or facts[index + 1].role != ASSISTANT or facts[index + 1].reasoning:
            continue
        item, follower = mapping(natives[index]), mapping(natives[index + 1])
        if issued(item) and not follower.get("id"):
            yield Finding(
                index,
                f"the reasoning {item['id']} is followed by an item without an id, which is not "
                "the one it led to: bring that one back, or drop the reasoning",
                "",
                (index + 1,),
            )


def unbound(view: View, kinds: Collection[str]) -> Iterator[Finding]:
    """Find items of some types with a server id and without their reasoning.

    Whether a response reasoned shows in the record alone. Without one, a finding is sure only for
    models that always reason, and for items that the server can look up. Of a model that nothing is
    known of, and that is not seen to reason, it is said when it is about to be called.
    """
    if view.transcript.server_held or view.known.get("ids_unchecked"):
        return
    led = led_by(view.record) if view.record is not None else None
    binds = view.known.get("bound_reasoning")
    sure = binds is True and view.context.get("store") is not False
    reasoned = False
    here = {named for _, item, named in _items(view) if kind_of(item) == "reasoning"}
    suspected = binds is True or (binds is None and (view.closed or bool(here)))
    for index, fact in enumerate(view.facts):
        # By the stretch of the model's items, which no cut parts, and not by the turn.
        reasoned = fact.role == ASSISTANT and (reasoned or fact.reasoning)
        if fact.role != ASSISTANT or fact.reasoning:
            continue
        item = mapping(view.transcript.natives[index])
        # An approved call is run in a response of its own, before anything is thought.
        if kind_of(item) not in kinds or not issued(item) or "approval_request_id" in item:
            continue
        lost = led.get(item["id"]) if led is not None else None
        if lost is not None and lost not in here:
            said = f"the item {item['id']} lacks its reasoning {lost}: bring it back"
            yield Finding(index, f"{said}, or take the id off", "id", maybe=binds is False)
        elif led is None and not reasoned and suspected:
            said = f"the item {item['id']} stands without the reasoning it was made with"
            yield Finding(index, f"{said}: bring it back, or take the id off", "id", maybe=not sure)


def led_by(record: Transcript) -> dict[str, str]:
    """Map the ids of items to the reasoning that led to them, as a record has it."""
    led: dict[str, str] = {}
    last: str | None = None
    for index, native in enumerate(record.natives):
        fact, item = record.facts_at(index), mapping(native)
        if fact.reasoning:
            last = item["id"] if issued(item) else None
        elif fact.role != ASSISTANT:
            last = None
        elif last is not None and issued(item):
            led[item["id"]] = last
    return led
