"""What OpenAI's Responses endpoint refuses in `input`, as far as the items alone show it.

Knows: shapes, ids, roles of parts, and the pairs of calls and outputs; and the words used.

Must not know: the library's own rules; what the server has issued or stored before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from lockstitch.testing.servers.base import Refused

__all__ = ["Item", "is_output_item", "items", "judge_items", "judge_pairs", "kind"]

Item: TypeAlias = Mapping[str, Any]

_LENGTH = 64
_CHARS = re.compile(r"[a-zA-Z0-9_-]+")
_PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "custom_tool_call": "ctc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "computer_call": "cu",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "tool_search_call": "tsc",
    "apply_patch_call": "apc",
    "compaction": "cmp",
}
_WORDS = {
    "function_call": "function call",
    "custom_tool_call": "custom tool call",
    "computer_call": "computer call",
    "shell_call": "shell call",
    "apply_patch_call": "apply patch call",
    "local_shell_call": "local shell call",
    "tool_search_call": "tool search call",
}
_CALL_OF = {
    **{f"{call}_output": call for call in _WORDS if call != "tool_search_call"},
    "tool_search_output": "tool_search_call",
}


def kind(item: Item) -> str:
    """The type of an item; an item with only a role is a message."""
    return str(item.get("type") or "message")


def is_output_item(item: Item) -> bool:
    """Tell whether an item is one that a model's response is made of."""
    if kind(item) == "message":
        return item.get("role") == "assistant"
    return kind(item).endswith("_call") or kind(item) in {
        "reasoning",
        "mcp_list_tools",
        "mcp_approval_request",
        "compaction",
        "program",
    }


def items(body: Mapping[str, Any]) -> list[Item]:
    """Read `input`: a string is one message of the user."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise Refused(
            "Invalid type for 'input': expected one of an array of input items or a string.",
            param="input",
            code="invalid_type",
        )
    return given


def judge_items(given: Sequence[Item]) -> None:
    """Judge each item by itself."""
    for index, item in enumerate(given):
        where = f"input[{index}]"
        _judge_id(where, item)
        _judge_call_id(where, item)
        if kind(item) == "message":
            _judge_message(where, item)
        if kind(item) == "reasoning" and not isinstance(item.get("summary"), list):
            raise Refused(
                f"Missing required parameter: '{where}.summary'.",
                param=f"{where}.summary",
                code="missing_required_parameter",
            )
        if kind(item) == "compaction_trigger" and index < len(given) - 1:
            raise Refused(
                f"Invalid '{where}': 'compaction_trigger' must be the final input item.",
                param=where,
                code="invalid_value",
            )
        if kind(item) == "compaction" and not item.get("encrypted_content"):
            raise Refused(
                f"Missing required parameter: '{where}.encrypted_content'.",
                param=f"{where}.encrypted_content",
                code="missing_required_parameter",
            )


def _judge_id(where: str, item: Item) -> None:
    value = item.get("id")
    if value is None:
        return
    if not isinstance(value, str) or not _CHARS.fullmatch(value):
        raise Refused(
            f"Invalid '{where}.id': '{value}'. Expected an ID that contains letters, numbers, "
            "underscores, or dashes, but this value contained additional characters.",
            param=f"{where}.id",
            code="invalid_value",
        )
    _judge_length(f"{where}.id", value)
    prefix = _PREFIXES.get(kind(item))
    if prefix and not value.startswith(prefix):
        raise Refused(
            f"Invalid '{where}.id': '{value}'. Expected an ID that begins with '{prefix}'.",
            param=f"{where}.id",
            code="invalid_value",
        )


def _judge_call_id(where: str, item: Item) -> None:
    called = item.get("call_id")
    hosted = kind(item) in {"tool_search_call", "tool_search_output"}
    if called is None and kind(item).startswith("local_shell_call"):
        called = item.get("id")
    if isinstance(called, str):
        _judge_length(f"{where}.call_id", called)
    elif (kind(item) in _CALL_OF or kind(item) in _WORDS) and not hosted:
        raise Refused(
            f"Missing required parameter: '{where}.call_id'.",
            param=f"{where}.call_id",
            code="missing_required_parameter",
        )


def _judge_length(where: str, value: str) -> None:
    if len(value) > _LENGTH:
        raise Refused(
            f"Invalid '{where}': string too long. Expected a string with maximum length {_LENGTH}, "
            f"but got a string with length {len(value)} instead.",
            param=where,
            code="string_above_max_length",
        )


def _judge_message(where: str, item: Item) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in {"user", "assistant", "system", "developer"}:
        raise Refused(
            f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', "
            "and 'user'.",
            param=f"{where}.role",
            code="invalid_value",
        )
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise Refused(
            f"Invalid type for '{where}.content': expected one of an array of objects or a string.",
            param=f"{where}.content",
            code="invalid_type",
        )
    for at, part in enumerate(content):
        written = part.get("type") in {"output_text", "refusal"}
        if written == (role == "assistant"):
            continue
        known = (
            "'output_text' and 'refusal'"
            if role == "assistant"
            else ("'input_text', 'input_image', and 'input_file'")
        )
        raise Refused(
            f"Invalid value: '{part.get('type')}'. Supported values are: {known}.",
            param=f"{where}.content[{at}].type",
            code="invalid_value",
        )


class _Open:
    """The calls that are not answered yet, oldest first."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, frozenset[str], str]] = []

    def add(self, item: Item) -> None:
        names = [item.get("call_id")]
        if kind(item) == "local_shell_call":
            names.append(item.get("id"))  # its output names it by either
        known = frozenset(name for name in names if isinstance(name, str))
        self.calls.append((kind(item), known, str(item.get("call_id") or item.get("id"))))

    def answer(self, item: Item) -> bool:
        """Take out the oldest call that an output answers, one of its own family first."""
        name = item.get("call_id") or item.get("id")
        fitting = [call for call in self.calls if name in call[1]]
        own = [call for call in fitting if call[0] == _CALL_OF[kind(item)]]
        for call in (own or fitting)[:1]:
            self.calls.remove(call)
        return bool(fitting)


def judge_pairs(
    held: Sequence[Item], given: Sequence[Item], *, known: bool, adjacent: bool
) -> None:
    """Judge calls, outputs and approvals, over what the server holds and what came.

    Args:
        held: the items of the chain before.
        given: the items of this request.
        known: whether `held` is all there is; if not, an output may answer what is not here.
        adjacent: nothing but calls and outputs may stand between a call and its output.
    """
    opened = _Open()
    asked: set[Any] = set()
    for index, item in enumerate([*held, *given]):
        name = kind(item)
        if name in _WORDS and item.get("execution") != "server" and _is_client(item):
            opened.add(item)
        elif name in _CALL_OF and item.get("execution") != "server":
            if not opened.answer(item) and known and index >= len(held):
                _refuse_orphan(name, item)
        elif name == "mcp_approval_request":
            asked.add(item.get("id"))
        elif name == "mcp_approval_response" and known:
            if item.get("approval_request_id") not in asked:
                raise Refused(
                    "No approval request found with id "
                    f"'{item.get('approval_request_id')}' for this approval response.",
                    param="input",
                )
        elif adjacent and opened.calls and name == "message":
            _refuse_open(opened)
    if opened.calls:
        _refuse_open(opened)


def _is_client(item: Item) -> bool:
    return kind(item) != "tool_search_call" or item.get("execution") == "client"


def _refuse_orphan(name: str, item: Item) -> None:
    words = _WORDS[_CALL_OF[name]]
    called = item.get("call_id") or item.get("id")
    raise Refused(f"No tool call found for {words} output with call_id {called}.", param="input")


def _refuse_open(opened: _Open) -> None:
    name, _, called = opened.calls[0]
    raise Refused(f"No tool output found for {_WORDS[name]} {called}.", param="input")
