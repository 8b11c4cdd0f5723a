"""Values of a kind that no field should hold: read as something else, or refused, never a crash."""

from __future__ import annotations

import copy

import pytest

import lockstitch as ls
from lockstitch.errors import LockstitchError
from lockstitch.testing import assistant, call, result, system, user

HISTORIES = {
    "openai-chat": [
        system(),
        user("hi"),
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        call("a"),
        result("a"),
        assistant("done"),
    ],
    "anthropic": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t", "name": "x", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}],
        },
    ],
    "agent-framework": [
        {"role": "user", "contents": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "contents": [
                {"type": "text_reasoning", "text": "hm", "protected_data": "s"},
                {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"},
                {
                    "type": "function_approval_request",
                    "id": "r",
                    "function_call": {"type": "function_call", "call_id": "c", "name": "x"},
                },
            ],
        },
        {
            "role": "tool",
            "contents": [{"type": "function_result", "call_id": "c", "result": "r", "items": []}],
        },
    ],
    "openai-responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c", "name": "x", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"},
    ],
}
ODD = (["x"], {"a": 1}, 3, True, 1.5, [[]])


def places(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, held in inner:
        yield (*path, key)
        if isinstance(held, (dict, list)):
            yield from places(held, (*path, key))


def with_odd(history, path, odd):
    changed = copy.deepcopy(history)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = odd
    return changed


CASES = [
    pytest.param(name, path, id=f"{name}: {'.'.join(map(str, path))}")
    for name, history in HISTORIES.items()
    for path in places(history)
    if len(path) > 1
]


@pytest.mark.parametrize(("name", "path"), CASES)
def test_a_value_of_another_kind_is_refused_by_name_or_judged_and_never_a_crash(name, path):
    profile = "portable" if name == "agent-framework" else name
    for odd in ODD:
        history = with_odd(HISTORIES[name], path, odd)
        for operation in (
            lambda: ls.check(history),  # noqa: B023
            lambda: ls.check(history, format=name, profile=profile),  # noqa: B023
            lambda: ls.trim(history, max_tokens=5, on_overflow="smallest"),  # noqa: B023
            lambda: ls.trim(history, format=name, max_messages=1, floor=False),  # noqa: B023
            lambda: ls.repair(history, format=name, profile=profile),  # noqa: B023
        ):
            try:
                operation()
            except LockstitchError:
                continue
