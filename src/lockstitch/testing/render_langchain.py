"""Rendering as LangChain messages, in the three dict shapes and as objects, without LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lockstitch.testing.steps import Calls, Result, Say, Step, System, Think, User

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LANGCHAIN_SHAPES", "DuckMessage", "render_langchain"]

# `messages_to_dict`, `dumpd`, `model_dump`, and message objects.
LANGCHAIN_SHAPES: Final = ("dict", "dumpd", "model", "object")

_CLASSES: Final = {
    "human": "HumanMessage",
    "ai": "AIMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
}


class DuckMessage:
    """An object with the attributes of a LangChain message, and nothing of LangChain.

    >>> DuckMessage("human", content="hi").content
    'hi'
    """

    def __init__(self, type: str, **fields: Any) -> None:
        self.type = type
        self.content: Any = ""
        self.additional_kwargs: dict[str, Any] = {}
        self.response_metadata: dict[str, Any] = {}
        self.__dict__.update(fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DuckMessage) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"DuckMessage({self.__dict__!r})"


def render_langchain(steps: Sequence[Step], shape: str) -> list[Any]:
    """Write a history as LangChain messages of one shape.

    >>> render_langchain([User("hi")], "model")[0]["type"]
    'human'
    """
    messages: list[Any] = []
    for step in steps:
        made = _message(step)
        if made is not None:
            messages.append(_shaped(*made, shape))
    return messages


def _message(step: Step) -> tuple[str, dict[str, Any]] | None:
    if isinstance(step, System):
        return "system", {"content": step.text}
    if isinstance(step, User):
        said = [{"type": "text", "text": step.text}] if step.blocks else step.text
        return "human", {"content": said}
    if isinstance(step, Say):
        return "ai", _spoken(step.text, step.thought, blocks=step.blocks)
    if isinstance(step, Think):
        return "ai", {"content": [{"type": "thinking", "thinking": step.text, "signature": "s"}]}
    if isinstance(step, Calls):
        thoughts = [step.thought, *(call.thought for call in step.calls)]
        thought = "\n".join(one for one in thoughts if one)
        calls = [
            {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}
            for call in step.calls
        ]
        return "ai", {**_spoken(step.text or "", thought or None), "tool_calls": calls}
    if isinstance(step, Result):
        status = "error" if step.error else "success"
        fields = {"content": step.text or "", "tool_call_id": step.id, "name": step.name}
        return "tool", {**fields, "status": status}
    return None


def _spoken(text: str, thought: str | None, *, blocks: bool = False) -> dict[str, Any]:
    said: Any = [{"type": "text", "text": text}] if blocks else text
    extra = {"additional_kwargs": {"reasoning_content": thought}} if thought else {}
    return {"content": said, **extra}


def _shaped(kind: str, fields: dict[str, Any], shape: str) -> Any:
    if shape == "dict":
        return {"type": kind, "data": {**fields, "type": kind}}
    if shape == "dumpd":
        name = ["langchain", "schema", "messages", _CLASSES[kind]]
        return {"lc": 1, "type": "constructor", "id": name, "kwargs": {**fields, "type": kind}}
    if shape == "model":
        return {**fields, "type": kind}
    return DuckMessage(kind, **fields)
