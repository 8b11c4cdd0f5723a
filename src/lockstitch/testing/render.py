"""Render: steps in the words of a format.

>>> from lockstitch.testing.steps import Calls, Result, User
>>> [message["role"] for message in render([User(), Calls.of("a"), Result("a")], "anthropic")]
['user', 'assistant', 'user']
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from lockstitch.testing.render_agent_framework import (
    AGENT_FRAMEWORK_SHAPES,
    render_agent_framework,
)
from lockstitch.testing.render_items import render_events, render_responses
from lockstitch.testing.render_langchain import LANGCHAIN_SHAPES, render_langchain
from lockstitch.testing.render_turns import TURN_FORMATS, render_turns
from lockstitch.testing.steps import Calls, Result, Say, Step, System, Think, Unknown, User

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SHAPES", "render"]

SHAPES: Final[dict[str, tuple[str, ...]]] = {
    "openai-chat": ("dict",),
    "anthropic": ("split", "packed"),
    "openai-responses": ("item",),
    "langchain": LANGCHAIN_SHAPES,
    "anthropic-events": ("event",),
    "mistral": ("dict",),
    "gemini": ("split", "packed"),
    "bedrock": ("packed",),
    "agent-framework": AGENT_FRAMEWORK_SHAPES,
}
"""Every format, and the shapes it is rendered in, the usual one first."""


def render(steps: Sequence[Step], format: str, shape: str | None = None) -> list[Any]:
    """Write a history in a format.

    Args:
        steps: what happens.
        format: the name of the format.
        shape: one of `SHAPES[format]`, the first by default. `packed` puts everything that one side
            says into one message, `split` only the results of one batch.

    Returns:
        The native messages: dicts, or LangChain-like objects for the shape `object`.

    Raises:
        ValueError: there is no such format, or it has no such shape.
    """
    if format not in SHAPES:
        raise ValueError(f"no renderer for {format!r}; there are: {', '.join(SHAPES)}")
    chosen = shape or SHAPES[format][0]
    if chosen not in SHAPES[format]:
        raise ValueError(f"{format} has no shape {shape!r}; it has: {', '.join(SHAPES[format])}")
    if format in TURN_FORMATS:
        return render_turns(steps, format, packed=chosen == "packed")
    if format == "openai-responses":
        return render_responses(steps)
    if format == "langchain":
        return render_langchain(steps, chosen)
    if format == "anthropic-events":
        return render_events(steps)
    if format == "agent-framework":
        return render_agent_framework(steps, packed=chosen == "packed")
    return _render_chat(steps, chunks=format == "mistral")


def _render_chat(steps: Sequence[Step], *, chunks: bool) -> list[Any]:
    """Write Chat messages; Mistral's keep reasoning in a chunk of the content."""
    messages: list[Any] = []
    for step in steps:
        if isinstance(step, System):
            messages.append({"role": "system", "content": step.text})
        elif isinstance(step, User):
            messages.append({"role": "user", "content": _said(step)})
        elif isinstance(step, (Say, Think)):
            messages.append(_spoken(step, chunks=chunks))
        elif isinstance(step, Calls):
            messages.append(_calls(step, chunks=chunks))
        elif isinstance(step, Result):
            named: dict[str, Any] = {"tool_call_id": step.id}
            if step.id is None or chunks:
                named = {"name": step.name, **({} if step.id is None else named)}
            messages.append({"role": "tool", **named, "content": step.text})
        elif isinstance(step, Unknown):
            messages.append({"role": step.type, "content": str(step.value)})
    return messages


def _said(step: User | Say) -> Any:
    return [{"type": "text", "text": step.text}] if step.blocks else step.text


def _thinking(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _spoken(step: Say | Think, *, chunks: bool) -> dict[str, Any]:
    thought = step.text if isinstance(step, Think) else step.thought
    if not chunks:
        content = {} if isinstance(step, Think) else {"content": _said(step)}
        extra = {"reasoning_content": thought} if thought else {}
        return {"role": "assistant", **content, **extra}
    if not thought:
        return {"role": "assistant", "content": step.text}
    after = [] if isinstance(step, Think) else [{"type": "text", "text": step.text}]
    return {"role": "assistant", "content": [_thinking(thought), *after]}


def _calls(step: Calls, *, chunks: bool) -> dict[str, Any]:
    calls: list[dict[str, Any]] = []
    for call in step.calls:
        written = json.dumps(call.arguments, ensure_ascii=False)
        function: dict[str, Any] = {"name": call.name, "arguments": written}
        made: dict[str, Any] = {"type": "function", "function": function}
        if call.family == "custom":
            made = {"type": "custom", "custom": {"name": call.name, "input": written}}
        calls.append(made if call.id is None else {"id": call.id, **made})
    message: dict[str, Any] = {"role": "assistant", "content": step.text, "tool_calls": calls}
    thoughts = [step.thought, *(call.thought for call in step.calls)]
    text = "\n".join(thought for thought in thoughts if thought)
    if not text:
        return message
    if chunks:
        return {**message, "content": [_thinking(text)]}
    return {**message, "reasoning_content": text}
