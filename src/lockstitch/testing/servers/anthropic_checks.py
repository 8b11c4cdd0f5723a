"""What Anthropic refuses in a request, before it looks at signatures.

Knows: shapes, text, ids, roles, and the pairs of tool blocks, judged on turns joined by role; and
the words used.

Must not know: the library's own rules; signatures.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from lockstitch.testing.servers.base import Refused
from lockstitch.testing.servers.claude_models import refuses_prefill, takes_system_messages
from lockstitch.testing.servers.thinking_ledger import THINKING, blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["judge"]

Block: TypeAlias = dict[str, Any]

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_SERVER_USES = ("server_tool_use", "mcp_tool_use")
_CACHE_MARKS = 4
_MESSAGES = 100_000


class _Turn(msgspec.Struct):
    """Neighbouring messages of one role, joined: (message, place in it, block)."""

    role: str
    blocks: list[tuple[int, int, Block]]

    def of(self, *kinds: str) -> list[tuple[int, int, Block]]:
        return [entry for entry in self.blocks if entry[2].get("type") in kinds]


def judge(body: dict[str, Any], *, counting: bool, tools_required: bool) -> None:
    """Raise `Refused` at the first thing that is wrong with a request."""
    messages = _messages(body, counting=counting)
    for index, message in enumerate(messages):
        _judge_content(index, message, last=index == len(messages) - 1)
    _judge_cache_marks(body)
    _judge_system(messages, body["model"])
    turns = _turns(messages)
    for at, turn in enumerate(turns):
        _judge_uses(turn, turns[at + 1] if at + 1 < len(turns) else None)
        _judge_results(turn, turns[at - 1] if at else None)
    _judge_server_tools(turns)
    if tools_required:
        _judge_tools(body, turns)
    _judge_thinking_lead(body, turns)
    if turns and not counting:
        _judge_end(body, turns[-1])


def _messages(body: dict[str, Any], *, counting: bool) -> list[dict[str, Any]]:
    for name in ("model", "messages", *(() if counting else ("max_tokens",))):
        if body.get(name) is None:
            raise Refused(f"{name}: Field required")
    messages = body["messages"]
    if not isinstance(messages, list):
        raise Refused("messages: Input should be a valid list")
    if not messages:
        raise Refused("messages: at least one message is required")
    if len(messages) > _MESSAGES:
        raise Refused("There is a limit of 100,000 messages in a single request.")
    for index, message in enumerate(messages):
        _judge_shape(f"messages.{index}", message)
    return messages


def _judge_shape(where: str, message: Any) -> None:
    if not isinstance(message, dict):
        raise Refused(f"{where}: Input should be an object")
    if message.get("role") not in {"user", "assistant", "system"}:
        raise Refused(
            f'messages: Unexpected role "{message.get("role")}". Allowed roles are "user" or '
            '"assistant".'
        )
    content = message.get("content")
    if isinstance(content, str):
        return
    if content is None:
        raise Refused(f"{where}.content: Field required")
    if not isinstance(content, list):
        raise Refused(f"{where}.content: Input should be a valid list")
    for at, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise Refused(f"{where}.content.{at}.type: Field required")
        for name in _required(block["type"]):
            if not isinstance(block.get(name), str):
                raise Refused(f"{where}.content.{at}.{block['type']}.{name}: Field required")


def _required(kind: str) -> tuple[str, ...]:
    """The fields of a block that are read here and must be strings."""
    known = {
        "text": ("text",),
        "thinking": ("thinking", "signature"),
        "redacted_thinking": ("data",),
        "tool_use": ("id", "name"),
        "server_tool_use": ("id", "name"),
        "mcp_tool_use": ("id", "name"),
    }
    return known.get(kind, ("tool_use_id",) if kind.endswith("tool_result") else ())


def _judge_content(index: int, message: dict[str, Any], *, last: bool) -> None:
    where, content = f"messages.{index}", message["content"]
    if not content and not (last and message["role"] == "assistant"):
        directive = message["role"] == "system" and "output_config" in message
        if not directive:
            raise Refused(
                f"{where}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
    found = list(blocks(message))
    # The API itself writes blank text beside its own tools, and takes it back.
    hosted = any(block["type"] in _SERVER_USES for block in found)
    for at, block in enumerate(found):
        if block["type"] == "text" and not hosted and not (not content and last):
            _judge_text(block)
        _judge_ids(f"{where}.content.{at}", block)
        if block["type"] == "tool_result" and block.get("is_error") and not block.get("content"):
            raise Refused(f"{where}.content.{at}: content cannot be empty if `is_error` is true")
        if block["type"] == "compaction" and block.get("content") == "":
            raise Refused(f"{where}.content.{at}: compaction content must be non-empty")


def _judge_text(block: Block) -> None:
    if not block["text"]:
        if block.get("cache_control"):
            raise Refused("cache_control cannot be set for empty text blocks")
        raise Refused("messages: text content blocks must be non-empty")
    if not block["text"].strip():
        raise Refused("messages: text content blocks must contain non-whitespace text")


def _judge_ids(where: str, block: Block) -> None:
    for name in ("id", "tool_use_id"):
        value = block.get(name)
        if "tool" in block["type"] and isinstance(value, str) and not _ID.fullmatch(value):
            raise Refused(
                f"{where}.{block['type']}.{name}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )


def _judge_cache_marks(body: dict[str, Any]) -> None:
    system = body.get("system")
    marked = list(body.get("tools") or ()) + (system if isinstance(system, list) else [])
    for message in body["messages"]:
        for block in blocks(message):
            inner = block.get("content") if block["type"] == "tool_result" else None
            marked += [block, *(inner if isinstance(inner, list) else [])]
    count = sum(bool(one.get("cache_control")) for one in marked)
    if count > _CACHE_MARKS:
        raise Refused(
            f"A maximum of {_CACHE_MARKS} blocks with cache_control may be provided. Found {count}."
        )


def _judge_system(messages: Sequence[dict[str, Any]], model: str) -> None:
    for index, message in enumerate(messages):
        if message["role"] != "system" or (not message["content"] and "output_config" in message):
            continue
        if not takes_system_messages(model):
            raise Refused(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` '
                'parameter, not "system" as an input message role.'
            )
        where = f"messages.{index}"
        if index == 0:
            raise Refused(
                f"{where}: use the top-level 'system' parameter for the initial system prompt"
            )
        before = messages[index - 1]
        after = messages[index + 1] if index + 1 < len(messages) else None
        ends = list(blocks(before))[-1]["type"] if before["content"] else ""
        hosted = ends != "tool_result" and ends.endswith("_tool_result")
        if before["role"] == "system" or (before["role"] == "assistant" and not hosted):
            raise Refused(f"{where}: a system message must follow a user turn")
        if after is not None and after["role"] != "assistant":
            raise Refused(
                f"{where}: a system message must be last or be followed by an assistant turn"
            )


def _turns(messages: Sequence[dict[str, Any]]) -> list[_Turn]:
    turns: list[_Turn] = []
    for index, message in enumerate(messages):
        if message["role"] == "system":
            continue
        entries = [(index, at, block) for at, block in enumerate(blocks(message))]
        if turns and turns[-1].role == message["role"]:
            turns[-1].blocks += entries
        else:
            turns.append(_Turn(message["role"], entries))
    return turns


def _judge_uses(turn: _Turn, after: _Turn | None) -> None:
    """Every call of a turn is answered at the beginning of the next."""
    uses = turn.of("tool_use")
    if uses and turn.role != "assistant":
        raise Refused(
            f"messages.{uses[0][0]}: `tool_use` blocks can only be in `assistant` messages"
        )
    seen: set[str] = set()
    for index, at, block in uses:
        if block["id"] in seen:
            raise Refused(f"messages.{index}.content.{at}: `tool_use` ids must be unique")
        seen.add(block["id"])
    answered = {block["tool_use_id"] for _, _, block in (after.of("tool_result") if after else [])}
    missing = [block["id"] for _, _, block in uses if block["id"] not in answered]
    if missing:
        index = next(index for index, _, block in uses if block["id"] == missing[0])
        raise Refused(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message."
        )


def _judge_results(turn: _Turn, before: _Turn | None) -> None:
    """Every result answers a call of the turn before, once, and stands in front."""
    results = turn.of("tool_result")
    if results and turn.role != "user":
        raise Refused(
            f"messages.{results[0][0]}: `tool_result` blocks can only be in `user` messages"
        )
    called = {block["id"] for _, _, block in (before.of("tool_use") if before else [])}
    seen: set[str] = set()
    for index, at, block in results:
        answers = block["tool_use_id"]
        if answers not in called:
            raise Refused(
                f"messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {answers}. Each `tool_result` block must have a corresponding `tool_use` "
                "block in the previous message."
            )
        if answers in seen:
            raise Refused(
                f"messages.{index}.content.{at}: each tool_use must have a single result. Found "
                f"multiple `tool_result` blocks with id: {answers}"
            )
        seen.add(answers)
    if any(block["type"] != "tool_result" for _, _, block in turn.blocks[: len(results)]):
        raise Refused(
            f"messages.{turn.blocks[0][0]}: Did not find {len(results)} `tool_result` block(s) at "
            "the beginning of this message. Messages following `tool_use` blocks must begin with a "
            "matching number of `tool_result` blocks."
        )


def _judge_server_tools(turns: Sequence[_Turn]) -> None:
    """What the API ran stands beside its result, in the turn that it belongs to."""
    carried: dict[str, Block] = {}
    for at, turn in enumerate(turns):
        if turn.role != "assistant":
            continue
        waiting = carried
        for index, place, block in turn.blocks:
            kind = block["type"]
            if kind in _SERVER_USES:
                waiting[block["id"]] = block
            elif kind.endswith("_tool_result") and block["tool_use_id"] not in waiting:
                raise Refused(
                    f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `{kind}` "
                    f"blocks: {block['tool_use_id']}. Each `{kind}` block must have a "
                    f"corresponding `{_use_of(kind)}` block before it."
                )
            elif kind.endswith("_tool_result"):
                del waiting[block["tool_use_id"]]
        # Beside a call to the client a use waits for the next assistant turn: it is in flight. A
        # turn that paused is the last.
        if waiting and not turn.of("tool_use") and at < len(turns) - 1:
            name, use = next(iter(waiting.items()))
            raise Refused(
                f"messages.{turn.blocks[-1][0]}: `{use['name']}` tool use with id `{name}` was "
                f"found without a corresponding `{use['name']}_tool_result` block"
            )
        carried = waiting


def _use_of(kind: str) -> str:
    return "mcp_tool_use" if kind.startswith("mcp_") else "server_tool_use"


def _judge_tools(body: dict[str, Any], turns: Sequence[_Turn]) -> None:
    if not body.get("tools") and any(turn.of("tool_use", "tool_result") for turn in turns):
        raise Refused("Requests which include `tool_use` or `tool_result` blocks must define tools")


def _judge_thinking_lead(body: dict[str, Any], turns: Sequence[_Turn]) -> None:
    """With manual thinking, the turn before the last results starts with a thinking block."""
    if (body.get("thinking") or {}).get("type") != "enabled" or len(turns) < 2:  # noqa: PLR2004
        return
    if not turns[-1].of("tool_result"):
        return
    index, _, first = turns[-2].blocks[0]
    if first["type"] not in THINKING:
        raise Refused(
            f"messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{first['type']}`. When `thinking` is enabled, a final `assistant` message "
            "must start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks)."
        )


def _judge_end(body: dict[str, Any], turn: _Turn) -> None:
    if turn.role != "assistant":
        return
    kinds = [block["type"] for _, _, block in turn.blocks]
    if any(kind in _SERVER_USES for kind in kinds):
        return  # a paused turn, given back to be gone on with
    if refuses_prefill(body["model"]):
        raise Refused(
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
    for index, at, block in turn.of(*THINKING):
        if (body.get("thinking") or {}).get("type", "disabled") == "disabled":
            raise Refused(
                f"messages.{index}.content.{at}: When thinking is disabled, an `assistant` message "
                f"in the final position cannot contain `{block['type']}`. To use thinking blocks, "
                "enable `thinking` in your request."
            )
    texts = list(_texts(turn))
    if texts and texts[-1] != texts[-1].rstrip():
        raise Refused("messages: final assistant content cannot end with trailing whitespace")


def _texts(turn: _Turn) -> Iterator[str]:
    return (block["text"] for _, _, block in turn.of("text"))
