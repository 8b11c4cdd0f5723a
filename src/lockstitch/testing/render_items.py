"""Rendering in the formats that keep every step in an item of its own: Responses, agent events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lockstitch.facts import FUNCTION, INTERIM
from lockstitch.testing.steps import (
    Ask,
    Call,
    Calls,
    Decide,
    Hosted,
    Result,
    Say,
    Step,
    System,
    Think,
    Unknown,
    User,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["render_events", "render_responses"]


# --- OpenAI Responses ----------------------------------------------------------------------------


# What the server begins an id with, by the type of the item.
_PREFIXES = {
    "apply_patch_call": "apc",
    "computer_call": "cu",
    "custom_tool_call": "ctc",
    "function_call": "fc",
    "local_shell_call": "lsh",
    "message": "msg",
    "reasoning": "rs",
    "shell_call": "sh",
}


def render_responses(steps: Sequence[Step]) -> list[Any]:
    """Write a history as Responses items.

    >>> from lockstitch.testing.steps import Calls
    >>> [item["type"] for item in render_responses([Calls.of("a", "b")])]
    ['function_call', 'function_call']
    """
    items: list[Any] = []
    for step in steps:
        for item in _items(step):
            # Item ids are the server's: one each, never twice.
            named = item.get("id") == ""
            items.append(
                {**item, "id": f"{_PREFIXES[item['type']]}_{len(items)}"} if named else item
            )
    return items


def _items(step: Step) -> Iterator[dict[str, Any]]:
    if isinstance(step, (System, User)):
        role = "developer" if isinstance(step, System) else "user"
        blocks = isinstance(step, User) and step.blocks
        said = [{"type": "input_text", "text": step.text}] if blocks else step.text
        yield (
            {"type": "message", "role": role, "content": said}
            if blocks
            else {
                "role": role,
                "content": said,
            }
        )
    elif isinstance(step, Say):
        yield from _reasoning(step.thought)
        text = {"type": "output_text", "text": step.text, "annotations": []}
        item: dict[str, Any] = {"type": "message", "id": "", "role": "assistant"}
        yield {**item, "content": [text], "status": "completed"}
    elif isinstance(step, Think):
        yield from _reasoning(step.text)
    elif isinstance(step, Calls):
        yield from _reasoning(step.thought)
        if step.text:
            yield from _items(Say(step.text))
        for call in step.calls:
            yield from _reasoning(call.thought)
            yield _call_item(call)
    elif isinstance(step, Result):
        yield _output_item(step)
    else:
        yield from _rarer_items(step)


def _reasoning(text: str | None) -> Iterator[dict[str, Any]]:
    if text:
        summary = [{"type": "summary_text", "text": text}]
        yield {"type": "reasoning", "id": "", "summary": summary, "encrypted_content": "gAAAAAB"}


def _call_item(call: Call) -> dict[str, Any]:
    written = json.dumps(call.arguments, ensure_ascii=False)
    item: dict[str, Any]
    if call.family == FUNCTION:
        item = {"type": "function_call", "id": "", "name": call.name, "arguments": written}
    elif call.family == "custom":
        item = {"type": "custom_tool_call", "id": "", "name": call.name, "input": written}
    else:
        item = {"type": f"{call.family}_call", "id": "", "action": call.arguments}
    return item if call.id is None else {**item, "call_id": call.id}


def _output_item(step: Result) -> dict[str, Any]:
    kind = "custom_tool" if step.family == "custom" else step.family
    item: dict[str, Any] = {"type": f"{kind}_call_output", "output": step.text}
    if step.family == "local_shell":
        item["id"] = step.id
    elif step.id is not None:
        item["call_id"] = step.id
    if step.state == INTERIM:
        item["status"] = "in_progress"
    return item


def _rarer_items(step: Step) -> Iterator[dict[str, Any]]:
    if isinstance(step, Hosted):
        if step.mcp:
            yield {"type": "mcp_call", "id": f"mcp_{step.id}", "name": "find", "output": step.text}
        else:
            yield {"type": "web_search_call", "id": f"ws_{step.id}", "status": "completed"}
    elif isinstance(step, Ask):
        yield {
            "type": "mcp_approval_request",
            "id": step.id,
            "name": step.name,
            "server_label": "files",
            "arguments": "{}",
        }
    elif isinstance(step, Decide):
        answer = {"type": "mcp_approval_response", "approval_request_id": step.id}
        yield {**answer, "approve": step.approved}
        if step.ran is not None:
            yield {
                "type": "mcp_call",
                "id": f"mcp_{step.ran}",
                "name": "remove",
                "approval_request_id": step.id,
                "output": "removed",
            }
    elif isinstance(step, Unknown):
        yield {"type": step.type, "value": step.value}


# --- Anthropic's agent events --------------------------------------------------------------------

_CALL_EVENTS = {
    FUNCTION: "agent.custom_tool_use",
    "custom": "agent.custom_tool_use",
    "mcp": "agent.mcp_tool_use",
    "server": "agent.tool_use",
}
_RESULT_EVENTS = {
    FUNCTION: ("user.custom_tool_result", "custom_tool_use_id"),
    "custom": ("user.custom_tool_result", "custom_tool_use_id"),
    "mcp": ("agent.mcp_tool_result", "mcp_tool_use_id"),
    "server": ("agent.tool_result", "tool_use_id"),
}


def render_events(steps: Sequence[Step]) -> list[Any]:
    """Write a history as events of a managed agent session, with its status rows.

    >>> [event["type"] for event in render_events([User(), Say()])][:2]
    ['user.message', 'session.status_running']
    """
    events: list[Any] = []
    for step in steps:
        for event in _events(step):
            events.append(event if "id" in event else {"id": f"evt_{len(events)}", **event})
    return events


def _events(step: Step) -> Iterator[dict[str, Any]]:
    if isinstance(step, (User, Say)):
        kind = "user.message" if isinstance(step, User) else "agent.message"
        yield {"type": kind, "content": [{"type": "text", "text": step.text}]}
        if isinstance(step, User):
            yield {"type": "session.status_running"}
    elif isinstance(step, Think):
        yield {"type": "agent.thinking"}
    elif isinstance(step, Calls):
        if step.thought:
            yield {"type": "agent.thinking"}
        for call in step.calls:
            event = {"type": _CALL_EVENTS.get(call.family, "agent.tool_use")}
            if call.id is not None:
                event["id"] = call.id
            policy = {"evaluated_permission": "ask"} if call.asks else {}
            yield {**event, "name": call.name, "input": call.arguments, **policy}
    elif isinstance(step, Result):
        kind, field = _RESULT_EVENTS.get(step.family, _RESULT_EVENTS["server"])
        content = [{"type": "text", "text": step.text or ""}]
        yield {"type": kind, field: step.id, "content": content, "is_error": step.error}
    elif isinstance(step, Hosted):
        yield {"type": "agent.tool_use", "id": step.id, "name": "web_search", "input": {}}
        yield {"type": "agent.tool_result", "tool_use_id": step.id, "content": []}
    elif isinstance(step, Decide):
        verdict = "allow" if step.approved else "deny"
        yield {"type": "user.tool_confirmation", "tool_use_id": step.id, "result": verdict}
    elif isinstance(step, Unknown):
        yield {"type": f"session.{step.type}", "value": step.value}
