"""Messages for the contract, in the shapes of the formats that have what is to be shown.

>>> item_call("c1")["call_id"]
'c1'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lockstitch.strategies.named import StepsHistoryStrategy

if TYPE_CHECKING:
    from typing import Literal

__all__ = [
    "approval",
    "exact",
    "item_call",
    "item_output",
    "item_says",
    "item_thinks",
    "item_user",
    "request",
    "texts",
    "thinking",
    "tool_result",
    "tool_use",
]


def exact(
    limit: int, cut: Literal["groups", "prefix"] = "groups", low_water: float = 1.0
) -> StepsHistoryStrategy:
    """Return a strategy that cuts down to its limit and no further, or to a share of it."""
    return StepsHistoryStrategy(max_messages=limit, low_water=low_water, cut=cut)


def texts(messages: Any) -> list[str]:
    """Return what messages of OpenAI Chat say, calls by their ids."""
    return [one["content"] or " ".join(c["id"] for c in one["tool_calls"]) for one in messages]


# --- OpenAI Responses ----------------------------------------------------------------------------


def item_user(text: str) -> dict[str, Any]:
    """Build a user's item."""
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def item_says(text: str) -> dict[str, Any]:
    """Build an item in which the model says something."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"type": "message", "id": f"msg_{text}", "role": "assistant", "content": content}
    return {**said, "status": "completed"}


def item_thinks(id: str) -> dict[str, Any]:
    """Build a reasoning item."""
    return {"type": "reasoning", "id": id, "summary": [], "encrypted_content": "gAAAAAc2VhbGVk"}


def item_call(call_id: str, id: str = "") -> dict[str, Any]:
    """Build an item that calls a function."""
    named = {"type": "function_call", "id": id or f"fc_{call_id}", "call_id": call_id}
    return {**named, "name": "look_up", "arguments": "{}"}


def item_output(call_id: str, output: str = "found") -> dict[str, Any]:
    """Build the item that answers a call."""
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def request(id: str) -> dict[str, Any]:
    """Build an item that asks whether a call may be made."""
    asked = {"type": "mcp_approval_request", "id": id, "server_label": "files"}
    return {**asked, "name": "delete", "arguments": "{}"}


def approval(id: str, *, approve: bool = True) -> dict[str, Any]:
    """Build the item that answers such a request."""
    return {"type": "mcp_approval_response", "approval_request_id": id, "approve": approve}


# --- Anthropic -----------------------------------------------------------------------------------


def thinking(*ids: str) -> dict[str, Any]:
    """Build a message that thinks, and then calls a tool for each id."""
    thought = {"type": "thinking", "thinking": "which one?", "signature": "c2VhbGVk"}
    return {"role": "assistant", "content": [thought, *tool_use(*ids)["content"]]}


def tool_use(*ids: str) -> dict[str, Any]:
    """Build a message that calls a tool for each id."""
    calls = [{"type": "tool_use", "id": id, "name": "look_up", "input": {}} for id in ids]
    return {"role": "assistant", "content": calls}


def tool_result(*ids: str) -> dict[str, Any]:
    """Build a user's message that answers calls."""
    answers = [{"type": "tool_result", "tool_use_id": id, "content": "found"} for id in ids]
    return {"role": "user", "content": answers}
