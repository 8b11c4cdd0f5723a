"""Builders: the shortest way to write a history in a test, in OpenAI Chat's shape.

>>> call("c1", "c2")["tool_calls"][1]["id"]
'c2'
"""

from __future__ import annotations

from typing import Any

__all__ = ["assistant", "call", "result", "system", "user"]


def system(text: str = "be brief") -> dict[str, Any]:
    """Build a system message.

    >>> system()["role"]
    'system'
    """
    return {"role": "system", "content": text}


def user(text: str = "go on") -> dict[str, Any]:
    """Build a user message.

    >>> user("hi")
    {'role': 'user', 'content': 'hi'}
    """
    return {"role": "user", "content": text}


def assistant(text: str = "done") -> dict[str, Any]:
    """Build an assistant message of plain text.

    >>> assistant("hi")["content"]
    'hi'
    """
    return {"role": "assistant", "content": text}


def call(*ids: str, name: str = "look_up", arguments: str = "{}") -> dict[str, Any]:
    """Build an assistant message with one tool call for each id.

    >>> len(call("a", "b")["tool_calls"])
    2
    """
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": one, "type": "function", "function": {"name": name, "arguments": arguments}}
            for one in ids
        ],
    }


def result(call_id: str, text: str = "found") -> dict[str, Any]:
    """Build the answer to one tool call.

    >>> result("a")["tool_call_id"]
    'a'
    """
    return {"role": "tool", "tool_call_id": call_id, "content": text}
