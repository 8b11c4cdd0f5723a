"""Rendering as messages of agent-framework, in the dicts that `Message.to_dict()` gives.

Every third message carries what the framework's compaction notes about a message, of a decision
that nobody remembers; whoever reads it must not heed it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import FUNCTION, INTERIM
from lockstitch.testing.steps import (
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
    from collections.abc import Sequence

__all__ = ["AGENT_FRAMEWORK_SHAPES", "render_agent_framework"]

# Each result in a message of its own, or those of one batch in one.
AGENT_FRAMEWORK_SHAPES: Final = ("split", "packed")

Content = dict[str, Any]

_NOTED: Final = {
    "_group": {"id": "group_msg_0", "kind": "tool_call", "index": 0, "has_reasoning": True},
    "_excluded": True,
    "_exclude_reason": "truncation",
}


def render_agent_framework(steps: Sequence[Step], *, packed: bool) -> list[Any]:
    """Write a history as messages of agent-framework.

    Args:
        steps: what happens.
        packed: the results of one batch share a message.

    >>> from lockstitch.testing.steps import Calls
    >>> [message["role"] for message in render_agent_framework([Calls.of("a")], packed=False)]
    ['assistant']
    """
    messages: list[Any] = []
    for step in steps:
        contents = _contents(step)
        if not contents:
            continue
        role = _role(step)
        if packed and role == "tool" and messages and messages[-1]["role"] == role:
            messages[-1]["contents"] += contents
            continue
        noted = dict(_NOTED) if len(messages) % 3 == 2 else {}  # noqa: PLR2004 - every third
        messages.append(
            {"type": "message", "role": role, "contents": contents, "additional_properties": noted}
        )
    return messages


def _role(step: Step) -> str:
    if isinstance(step, System):
        return "system"
    if isinstance(step, Result):
        return "tool"
    return "user" if isinstance(step, (User, Decide, Unknown)) else "assistant"


def _contents(step: Step) -> list[Content]:
    if isinstance(step, (System, User)):
        return [{"type": "text", "text": step.text}]
    if isinstance(step, Say):
        return [*_thought(step.thought), {"type": "text", "text": step.text}]
    if isinstance(step, Think):
        return _thought(step.text)
    if isinstance(step, Calls):
        return _asked(step)
    if isinstance(step, Result):
        return [_answered(step)]
    if isinstance(step, Hosted):
        return _hosted(step)
    if isinstance(step, Decide):
        return [
            {
                "type": "function_approval_response",
                "id": f"ask_{step.id}",
                "approved": step.approved,
                "function_call": _called(Call(step.id)),
            }
        ]
    return [{"type": step.type, "value": step.value}] if isinstance(step, Unknown) else []


def _thought(text: str | None) -> list[Content]:
    return [{"type": "text_reasoning", "text": text, "protected_data": "gAAAAAB"}] if text else []


def _called(call: Call) -> Content:
    named = {} if call.id is None else {"call_id": call.id}
    if call.family == FUNCTION:
        written = json.dumps(call.arguments, ensure_ascii=False)
        return {"type": "function_call", **named, "name": call.name, "arguments": written}
    if call.family == "computer":
        return {"type": "computer_tool_call", **named, "actions": [call.arguments]}
    return {"type": f"{call.family}_tool_call", **named, "commands": ["ls"]}


def _asked(step: Calls) -> list[Content]:
    contents = _thought(step.thought)
    if step.text is not None:
        contents.append({"type": "text", "text": step.text})
    for call in step.calls:
        contents += [*_thought(call.thought), _called(call)]
    for call in step.calls:
        if call.asks:
            request = {"type": "function_approval_request", "id": f"ask_{call.id}"}
            contents.append({**request, "function_call": _called(call)})
    return contents


def _answered(step: Result) -> Content:
    named = {} if step.id is None else {"call_id": step.id}
    text = step.text or ""
    if step.family == "computer":
        return {"type": "computer_tool_result", **named, "screenshot": {"type": "uri", "uri": text}}
    if step.family == "shell":
        said = {"type": "shell_command_output", "stdout": text}
        return {"type": "shell_tool_result", **named, "outputs": [said]}
    content: Content = {"type": "function_result", **named, "result": text}
    content["items"] = [{"type": "text", "text": text}]
    if step.error:
        content["exception"] = "it failed"
    return {**content, "status": "in_progress"} if step.state == INTERIM else content


def _hosted(step: Hosted) -> list[Content]:
    said = [{"type": "text", "text": step.text}]
    if step.mcp:
        call = {"type": "mcp_server_tool_call", "call_id": step.id, "tool_name": "find"}
        return [call, {"type": "mcp_server_tool_result", "call_id": step.id, "output": said}]
    ran: Content = {"type": "code_interpreter_tool_call", "call_id": step.id, "inputs": said}
    return [ran, {"type": "code_interpreter_tool_result", "call_id": step.id, "outputs": said}]
