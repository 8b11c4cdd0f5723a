"""The event stream of a Responses answer.

Knows: which events an answer is told in, and in what order.

Must not know: how the answer came about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.testing.servers.base import event

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CREATED", "stream"]

CREATED: Final = 1_700_000_000
"""There is no clock here."""


def stream(response: dict[str, Any]) -> Iterator[bytes]:
    """Tell a response in events, numbered from 0."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    told: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(response["output"]):
        empty, inner = _item_events(item)
        placed = [{**one, "item_id": item["id"], "output_index": index} for one in inner]
        told.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        told += placed
        told.append({"type": "response.output_item.done", "output_index": index, "item": item})
    told.append({"type": "response.completed", "response": response})
    for number, one in enumerate(told):
        yield event({**one, "sequence_number": number}, name=one["type"])


def _item_events(item: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """An item as it begins, and the events that fill it."""
    running = {**item, "status": "in_progress"}
    if item["type"] == "message":
        part = item["content"][0]
        place = {"content_index": 0}
        half = len(part["text"]) // 2
        pieces = [piece for piece in (part["text"][:half], part["text"][half:]) if piece]
        empty = {**part, "text": ""}
        text = "response.output_text"
        return {**running, "content": []}, [
            {"type": "response.content_part.added", **place, "part": empty},
            *({"type": f"{text}.delta", **place, "delta": one, "logprobs": []} for one in pieces),
            {"type": f"{text}.done", **place, "text": part["text"], "logprobs": []},
            {"type": "response.content_part.done", **place, "part": part},
        ]
    if item["type"] == "function_call":
        name, arguments = item["name"], item["arguments"]
        told = "response.function_call_arguments"
        return {**running, "arguments": ""}, [
            {"type": f"{told}.delta", "delta": arguments},
            {"type": f"{told}.done", "name": name, "arguments": arguments},
        ]
    if item["type"] == "reasoning":
        part = item["summary"][0]
        place = {"summary_index": 0}
        told = "response.reasoning_summary_text"
        return {**item, "summary": []}, [
            {
                "type": "response.reasoning_summary_part.added",
                **place,
                "part": {**part, "text": ""},
            },
            {"type": f"{told}.delta", **place, "delta": part["text"]},
            {"type": f"{told}.done", **place, "text": part["text"]},
            {"type": "response.reasoning_summary_part.done", **place, "part": part},
        ]
    return item, []
