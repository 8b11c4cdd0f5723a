"""Rendering in the formats that hold blocks in turns of two sides: Anthropic, Gemini, Bedrock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.facts import INTERIM
from lockstitch.testing.steps import Calls, Hosted, Result, Say, Step, System, Think, Unknown, User

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["TURN_FORMATS", "render_turns"]

Block = dict[str, Any]


def render_turns(steps: Sequence[Step], format: str, *, packed: bool) -> list[Any]:
    """Write a history as turns.

    Args:
        steps: what happens.
        format: `anthropic`, `gemini` or `bedrock`.
        packed: everything that one side says without the other between goes into one message;
            otherwise only the results of one batch do.

    >>> from lockstitch.testing.steps import Calls
    >>> [turn["role"] for turn in render_turns([User(), Calls.of("a")], "gemini", packed=False)]
    ['user', 'model']
    """
    write, model, key = TURN_FORMATS[format]
    turns: list[Block] = []
    after_result = False
    for step in steps:
        blocks = write(step)
        if not blocks:
            continue
        theirs = isinstance(step, (User, Result, Unknown))
        role = "system" if isinstance(step, System) else "user" if theirs else model
        answers = isinstance(step, Result)
        joins = packed or (answers and after_result)
        if joins and turns and turns[-1]["role"] == role != "system":
            turns[-1][key] += blocks
        else:
            turns.append({"role": role, key: blocks})
        after_result = answers
    if format == "anthropic":
        _write_plainly(turns, steps)
    return turns


def _write_plainly(turns: list[Block], steps: Sequence[Step]) -> None:
    """Say text alone as a string, which is how most clients write it."""
    in_blocks = {step.text for step in steps if isinstance(step, (User, Say)) and step.blocks}
    for turn in turns:
        content = turn["content"]
        text = content[0].get("text") if len(content) == 1 else None
        if text is not None and text not in in_blocks:
            turn["content"] = text


# --- Anthropic -----------------------------------------------------------------------------------


def _anthropic(step: Step) -> list[Block]:
    if isinstance(step, (System, User)):
        return [{"type": "text", "text": step.text}]
    if isinstance(step, Result):
        answer: Block = {"type": "tool_result", "content": step.text or ""}
        if step.id is not None:
            answer["tool_use_id"] = step.id
        return [{**answer, "is_error": True} if step.error else answer]
    if isinstance(step, Say):
        return [*_thinking(step.thought), {"type": "text", "text": step.text}]
    if isinstance(step, Think):
        return _thinking(step.text)
    if isinstance(step, Calls):
        blocks = _thinking(step.thought)
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        for call in step.calls:
            blocks += _thinking(call.thought)
            made: Block = {"type": "tool_use", "name": call.name, "input": call.arguments}
            blocks.append(made if call.id is None else {**made, "id": call.id})
        return blocks
    if isinstance(step, Hosted):
        use = "mcp_tool_use" if step.mcp else "server_tool_use"
        answered = "mcp_tool_result" if step.mcp else "web_search_tool_result"
        said = [{"type": "text", "text": step.text}]
        return [
            {"type": use, "id": step.id, "name": "web_search", "input": {"query": "q"}},
            {"type": answered, "tool_use_id": step.id, "content": said},
        ]
    return [{"type": step.type, "value": step.value}] if isinstance(step, Unknown) else []


def _thinking(text: str | None) -> list[Block]:
    return [{"type": "thinking", "thinking": text, "signature": "sig"}] if text else []


# --- Gemini --------------------------------------------------------------------------------------


def _gemini(step: Step) -> list[Block]:
    if isinstance(step, User):
        return [{"text": step.text}]
    if isinstance(step, Result):
        response: Block = {"result": step.text}
        if step.state == INTERIM:
            response["status"] = "pending"
        named = {} if step.id is None else {"id": step.id}
        return [{"functionResponse": {"name": step.name, "response": response, **named}}]
    if isinstance(step, Say):
        return [*_thought(step.thought), {"text": step.text}]
    if isinstance(step, Think):
        return _thought(step.text)
    if isinstance(step, Calls):
        blocks = _thought(step.thought)
        if step.text:
            blocks.append({"text": step.text})
        for at, call in enumerate(step.calls):
            blocks += _thought(call.thought)
            named = {} if call.id is None else {"id": call.id}
            made: Block = {"functionCall": {"name": call.name, "args": call.arguments, **named}}
            # Of parallel calls, the first carries the signature.
            blocks.append(made if at else {**made, "thoughtSignature": "c2ln"})
        return blocks
    if isinstance(step, Hosted):
        return [
            {"executableCode": {"id": step.id, "language": "PYTHON", "code": "1 + 1"}},
            {"codeExecutionResult": {"id": step.id, "outcome": "OUTCOME_OK", "output": step.text}},
        ]
    return [{step.type: step.value}] if isinstance(step, Unknown) else []


def _thought(text: str | None) -> list[Block]:
    return [{"text": text, "thought": True}] if text else []


# --- Bedrock -------------------------------------------------------------------------------------


def _bedrock(step: Step) -> list[Block]:
    if isinstance(step, User):
        return [{"text": step.text}]
    if isinstance(step, Result):
        answer: Block = {"content": [{"text": step.text or ""}]}
        if step.id is not None:
            answer["toolUseId"] = step.id
        return [{"toolResult": {**answer, "status": "error"} if step.error else answer}]
    if isinstance(step, Say):
        return [*_reasoned(step.thought), {"text": step.text}]
    if isinstance(step, Think):
        return _reasoned(step.text)
    if isinstance(step, Calls):
        blocks = _reasoned(step.thought)
        if step.text:
            blocks.append({"text": step.text})
        for call in step.calls:
            blocks += _reasoned(call.thought)
            made: Block = {"name": call.name, "input": call.arguments}
            blocks.append({"toolUse": made if call.id is None else {**made, "toolUseId": call.id}})
        return blocks
    if isinstance(step, Hosted):
        use = {"toolUseId": step.id, "name": "run", "input": {}, "type": "server_tool_use"}
        result = {"toolUseId": step.id, "content": [{"text": step.text}]}
        return [{"toolUse": use}, {"toolResult": result}]
    return [{step.type: {"value": step.value}}] if isinstance(step, Unknown) else []


def _reasoned(text: str | None) -> list[Block]:
    said = {"text": text, "signature": "sig"}
    return [{"reasoningContent": {"reasoningText": said}}] if text else []


TURN_FORMATS: Final[dict[str, tuple[Callable[[Step], list[Block]], str, str]]] = {
    "anthropic": (_anthropic, "assistant", "content"),
    "gemini": (_gemini, "model", "parts"),
    "bedrock": (_bedrock, "assistant", "content"),
}
"""For each format: what writes the blocks of a step, the model's role, and where blocks stand."""
