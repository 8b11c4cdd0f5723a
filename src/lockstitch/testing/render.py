"""Render: steps in the words of a format, for the formats that keep a message for each speaker.

>>> from lockstitch.testing.steps import Calls, Result, User
>>> [message["role"] for message in render([User(), Calls.of("a"), Result("a")], "anthropic")]
['user', 'assistant', 'user']
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lockstitch.testing.render_items import render_events, render_responses
from lockstitch.testing.render_langchain import LANGCHAIN_SHAPES, render_langchain
from lockstitch.testing.steps import Calls, Hosted, Result, Say, Step, System, Think, Unknown, User

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SHAPES", "render"]

# Every format of this release, and the shapes it is rendered in.
SHAPES: dict[str, tuple[str, ...]] = {
    "openai-chat": ("dict",),
    "anthropic": ("split", "packed"),
    "openai-responses": ("item",),
    "langchain": LANGCHAIN_SHAPES,
    "anthropic-events": ("event",),
}


def render(steps: Sequence[Step], format: str, shape: str | None = None) -> list[Any]:
    """Write a history in a format.

    Args:
        steps: what happens.
        format: the name of the format.
        shape: one of `SHAPES[format]`, the first by default. `packed` puts everything that one side
            says into one Anthropic message, `split` only the results of one batch.

    Returns:
        The native messages: dicts, or LangChain-like objects for the shape `object`.
    """
    if format not in SHAPES:
        raise ValueError(f"no renderer for {format!r}; there are: {', '.join(SHAPES)}")
    chosen = shape or SHAPES[format][0]
    if chosen not in SHAPES[format]:
        raise ValueError(f"{format} has no shape {shape!r}; it has: {', '.join(SHAPES[format])}")
    if format == "openai-chat":
        return _render_chat(steps)
    if format == "anthropic":
        return _render_anthropic(steps, packed=chosen == "packed")
    if format == "openai-responses":
        return render_responses(steps)
    if format == "langchain":
        return render_langchain(steps, chosen)
    return render_events(steps)


# --- OpenAI Chat ---------------------------------------------------------------------------------


def _render_chat(steps: Sequence[Step]) -> list[Any]:
    messages: list[Any] = []
    for step in steps:
        if isinstance(step, System):
            messages.append({"role": "system", "content": step.text})
        elif isinstance(step, User):
            said: Any = [{"type": "text", "text": step.text}] if step.blocks else step.text
            messages.append({"role": "user", "content": said})
        elif isinstance(step, Say):
            said = [{"type": "text", "text": step.text}] if step.blocks else step.text
            thought = {"reasoning_content": step.thought} if step.thought else {}
            messages.append({"role": "assistant", "content": said, **thought})
        elif isinstance(step, Think):
            messages.append({"role": "assistant", "reasoning_content": step.text})
        elif isinstance(step, Calls):
            messages.append(_chat_calls(step))
        elif isinstance(step, Result):
            answer = {"role": "tool", "tool_call_id": step.id, "content": step.text}
            if step.id is None:
                answer = {"role": "tool", "name": step.name, "content": step.text}
            messages.append(answer)
        elif isinstance(step, Unknown):
            messages.append({"role": step.type, "content": str(step.value)})
    return messages


def _chat_calls(step: Calls) -> dict[str, Any]:
    calls: list[dict[str, Any]] = []
    for call in step.calls:
        written = json.dumps(call.arguments, ensure_ascii=False)
        made: dict[str, Any] = {
            "type": "function",
            "function": {"name": call.name, "arguments": written},
        }
        if call.family == "custom":
            made = {"type": "custom", "custom": {"name": call.name, "input": written}}
        calls.append(made if call.id is None else {"id": call.id, **made})
    message: dict[str, Any] = {"role": "assistant", "content": step.text, "tool_calls": calls}
    thoughts = [step.thought, *(call.thought for call in step.calls)]
    text = "\n".join(thought for thought in thoughts if thought)
    return {**message, "reasoning_content": text} if text else message


# --- Anthropic -----------------------------------------------------------------------------------


def _render_anthropic(steps: Sequence[Step], *, packed: bool) -> list[Any]:
    messages: list[dict[str, Any]] = []
    was_result = False
    for step in steps:
        role, blocks = _anthropic_blocks(step)
        text = blocks[0]["text"] if len(blocks) == 1 and "text" in blocks[0] else None
        before = messages[-1] if messages else None
        # A result before the call it answers must stay a message of its own: joined with what the
        # user said first, it would stand in no legal place either way.
        answers = isinstance(step, Result)
        joins = before is not None and before["role"] == role and role != "system"
        if joins and before is not None and (packed or (answers and was_result)):
            content = before["content"]
            if isinstance(content, str):
                before["content"] = content = [{"type": "text", "text": content}]
            content.extend(blocks)
        else:
            plain = text is not None and not getattr(step, "blocks", False)
            messages.append({"role": role, "content": text if plain else blocks})
        was_result = answers
    return messages


def _anthropic_blocks(step: Step) -> tuple[str, list[dict[str, Any]]]:
    if isinstance(step, System):
        return "system", [{"type": "text", "text": step.text}]
    if isinstance(step, User):
        return "user", [{"type": "text", "text": step.text}]
    if isinstance(step, Result):
        return "user", [_anthropic_result(step)]
    if isinstance(step, Say):
        return "assistant", [*_thinking(step.thought), {"type": "text", "text": step.text}]
    if isinstance(step, Think):
        return "assistant", _thinking(step.text)
    if isinstance(step, Calls):
        blocks = _thinking(step.thought)
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        for call in step.calls:
            blocks += _thinking(call.thought)
            made = {"type": "tool_use", "name": call.name, "input": call.arguments}
            blocks.append(made if call.id is None else {**made, "id": call.id})
        return "assistant", blocks
    if isinstance(step, Hosted):
        kind = "mcp_tool" if step.mcp else "server_tool"
        answer = "mcp_tool_result" if step.mcp else "web_search_tool_result"
        return "assistant", [
            {"type": f"{kind}_use", "id": step.id, "name": "web_search", "input": {"query": "q"}},
            {
                "type": answer,
                "tool_use_id": step.id,
                "content": [{"type": "text", "text": step.text}],
            },
        ]
    if isinstance(step, Unknown):
        return "user", [{"type": step.type, "value": step.value}]
    return "user", [{"type": "text", "text": f"about {step.id}"}]


def _thinking(text: str | None) -> list[dict[str, Any]]:
    return [{"type": "thinking", "thinking": text, "signature": "sig"}] if text else []


def _anthropic_result(step: Result) -> dict[str, Any]:
    answer: dict[str, Any] = {"type": "tool_result", "content": step.text or ""}
    if step.id is not None:
        answer["tool_use_id"] = step.id
    return {**answer, "is_error": True} if step.error else answer
