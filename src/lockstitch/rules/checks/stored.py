"""Checks of what the server holds beside the input: chains, references, sealed reasoning.

Each takes a `View` and yields `Finding`s. Must not know: rule ids, texts, sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import CALL, CHILD, TOOL, USER
from lockstitch.formats.base import mapping
from lockstitch.grouping import group
from lockstitch.rules.checks.item_ids import issued, kind_of
from lockstitch.rules.view import Finding, View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lockstitch.transcript import Transcript

__all__ = [
    "SEAL",
    "children_without_program",
    "lost_compaction",
    "open_call_in_chain",
    "orphan_mcp_call",
    "request_sent_again",
    "seals_of",
    "sent_again",
    "strange_seal",
    "unsealed_reasoning",
    "unstored_reference",
]

SEAL: Final = "gAAAA"
"""What everything begins with that OpenAI seals."""


def _of_kind(view: View, *kinds: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        if kind_of(item) in kinds:
            yield index, item


# --- nothing is stored ----------------------------------------------------------------------------


def unsealed_reasoning(view: View) -> Iterator[Finding]:
    """Find reasoning that is named only by its id where nothing is stored."""
    if view.context.get("store") is not False or view.known.get("ids_unchecked"):
        return
    for index, item in _of_kind(view, "reasoning"):
        if item.get("id") and not item.get("encrypted_content"):
            yield Finding(
                index,
                f"the reasoning {item['id']} is not stored and has no encrypted_content: bring "
                "that back, or drop the reasoning",
            )


def unstored_reference(view: View) -> Iterator[Finding]:
    """Find references to items where nothing is stored."""
    if view.context.get("store") is False:
        for index, item in _of_kind(view, "item_reference"):
            said = f"the item {item.get('id')} is not stored: send the item itself, or drop it"
            yield Finding(index, said, maybe=view.transcript.server_held)


# --- sealed content -------------------------------------------------------------------------------


def seals_of(transcript: Transcript) -> dict[str, Any]:
    """Map the ids of sealed items to their sealed content."""
    seals: dict[str, Any] = {}
    for native in transcript.natives:
        item = mapping(native)
        if item.get("id") and item.get("encrypted_content"):
            seals.setdefault(str(item["id"]), item["encrypted_content"])
    return seals


def strange_seal(view: View) -> Iterator[Finding]:
    """Find sealed content that was changed since it was recorded, or that looks foreign."""
    if view.known.get("ids_unchecked"):
        return
    seals = seals_of(view.record) if view.record is not None else {}
    for index, item in _of_kind(view, "reasoning", "compaction"):
        sealed = item.get("encrypted_content")
        if not sealed:
            continue
        first = seals.get(str(item.get("id")))
        if first is not None and first != sealed:
            said = "the encrypted content is not what was recorded: bring the original back"
            yield Finding(index, said, "encrypted_content")
        elif first is None and not str(sealed).startswith(SEAL):
            said = "the encrypted content does not look like OpenAI's own: drop it if it is not"
            yield Finding(index, said, "encrypted_content", maybe=True)


def lost_compaction(view: View) -> Iterator[Finding]:
    """Find a history without the compaction item that the record has for its older part."""
    if view.record is None:
        return
    items = [mapping(native) for native in view.record.natives]
    newest = max((at for at, one in enumerate(items) if kind_of(one) == "compaction"), default=-1)
    if newest < 0:
        return
    sealed = items[newest].get("encrypted_content")
    held = any(one.get("encrypted_content") == sealed for _, one in _of_kind(view, "compaction"))
    if not held:
        yield Finding(
            -1, "the compaction item of the record is gone, and with it all that it stands for"
        )


# --- a chain of responses -------------------------------------------------------------------------


def sent_again(view: View) -> Iterator[Finding]:
    """Find items with a server id in front of what is new, where the server has them."""
    if not view.transcript.server_held or view.known.get("ids_unchecked"):
        return
    for index, native in enumerate(view.transcript.natives):
        item = mapping(native)
        referred = kind_of(item) == "item_reference" and not _approves(item)
        if referred or (issued(item) and not _approves(item) and item.get("role") != "user"):
            said = f"the server holds the item {item.get('id')}: send only what is new"
            yield Finding(index, said, "id")


def request_sent_again(view: View) -> Iterator[Finding]:
    """Find requests for approval, or references to one, where the server has them."""
    if not view.transcript.server_held:
        return
    for index, item in _of_kind(view, "mcp_approval_request", "item_reference"):
        if _approves(item):
            said = f"the server holds the request {item.get('id')}: send the decision alone"
            yield Finding(index, said, "id")


def _approves(item: Mapping[str, Any]) -> bool:
    return kind_of(item) == "mcp_approval_request" or str(item.get("id")).startswith("mcpr_")


def open_call_in_chain(view: View) -> Iterator[Finding]:
    """Find input that goes on over a call that the server holds open, or that may."""
    if not view.transcript.server_held:
        return
    first = next((at for at, fact in enumerate(view.facts) if fact.role == USER), -1)
    if view.record is None:
        # What the server holds does not show here; input without any output answers no call.
        if view.closed and first >= 0 and not any(fact.role == TOOL for fact in view.facts):
            said = "if the response before this one left a call open, its output must come first"
            yield Finding(first, said, maybe=True)
        return
    answered = {tie.link.id for tie in view.results()}
    for call in _open_calls(view.record):
        if call not in answered:
            said = f"the server holds the call {call} open: send its output first"
            yield Finding(first, said)


def _open_calls(record: Transcript) -> list[str]:
    calls = group(record.facts_from(0), 0).pairing.calls
    return [
        one.link.id
        for one in calls
        if one.answer < 0 and one.link.kind == CALL and one.link.id is not None
    ]


# --- children of what is not there ----------------------------------------------------------------


def orphan_mcp_call(view: View) -> Iterator[Finding]:
    """Find calls that were approved by a request that is not there."""
    return _orphan_children(view, "mcp", "mcp_approval_request", "id")


def children_without_program(view: View) -> Iterator[Finding]:
    """Find calls of a program that is not there."""
    return _orphan_children(view, "program", "program", "call_id")


def _orphan_children(view: View, family: str, kind: str, key: str) -> Iterator[Finding]:
    if view.transcript.server_held:
        return
    parents: set[str] = set()
    for index, fact in enumerate(view.facts):
        for link in fact.links:
            if link.kind == CHILD and link.family == family and link.id not in parents:
                yield Finding(index, f"the {kind} {link.id} that this came from is not there")
        if fact.links:
            item = mapping(view.transcript.natives[index])
            if kind_of(item) == kind:
                parents.add(str(item.get(key)))
