"""Bedrock's Converse endpoints, strict.

Knows: what Converse refuses in `messages`, what some models behind it refuse beyond that, and the
words used. The binary framing of the stream is in `event_stream`.

Must not know: the library's own rules.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import unquote

import msgspec

from lockstitch.testing.servers.base import (
    Refused,
    Reply,
    Request,
    StrictServer,
    digest,
    json_reply,
    size,
)
from lockstitch.testing.servers.claude_models import refuses_prefill
from lockstitch.testing.servers.event_stream import frame
from lockstitch.testing.servers.script import Action, Call
from lockstitch.testing.servers.shapes import BedrockBody

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["BedrockServer"]

_ROUTE = re.compile(r"/model/(?P<model>.+)/(?P<how>converse|converse-stream)")
_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DOCUMENTS = 5
_APART = ("meta.", "mistral.", "cohere.", "ai21.")

Block = dict[str, Any]


class BedrockServer(StrictServer):
    """`POST /model/{id}/converse` and `/converse-stream`.

    Args:
        script: decides what the model answers; a short text if it is not given.

    >>> server = BedrockServer()
    >>> server.ask({"messages": [{"role": "user", "content": [{"text": " "}]}]}).json()["message"]
    'The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to...'
    """

    path: ClassVar[str] = "/model/anthropic.claude-sonnet-4-5-20250929-v1:0/converse"
    shape: ClassVar[Any] = BedrockBody

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        route = _ROUTE.fullmatch(unquote(request.path))
        if route is None:
            raise Refused("Unable to determine service/operation name", status=404, kind="Unknown")
        model, body = route["model"], request.body
        messages = _messages(body)
        _judge_blocks(messages)
        _judge_documents(messages)
        _judge_roles(messages, claude="anthropic." in model)
        _judge_pairs(messages)
        _judge_tools(body, messages)
        _judge_model(model, messages)
        config = body.get("toolConfig") or {}
        specs = [tool.get("toolSpec") or {} for tool in config.get("tools") or ()]
        actions = self.decide(
            body, tools=[spec.get("name") for spec in specs], answered=_answered(messages)
        )
        content = self._content(actions)
        stop = "tool_use" if any("toolUse" in block for block in content) else "end_turn"
        used = {"inputTokens": size(body), "outputTokens": size(content)}
        usage = {**used, "totalTokens": sum(used.values())}
        if route["how"] == "converse-stream":
            return Reply(
                chunks=list(_stream(content, stop, usage)),
                content_type="application/vnd.amazon.eventstream",
            )
        message = {"role": "assistant", "content": content}
        return json_reply(
            {
                "output": {"message": message},
                "stopReason": stop,
                "usage": usage,
                "metrics": {"latencyMs": 1},
            }
        )

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in the shape of the AWS services."""
        kind = refused.kind or "ValidationException"
        return json_reply(
            {"message": refused.text},
            status=refused.status,
            headers={"x-amzn-errortype": kind, "x-amzn-requestid": digest(refused.text)[:32]},
        )

    def _content(self, actions: Sequence[Action]) -> list[Block]:
        content: list[Block] = []
        for action in actions:
            if isinstance(action, Call):
                use = {"toolUseId": self.mint("tooluse_", 22), "name": action.name}
                content.append({"toolUse": {**use, "input": dict(action.arguments)}})
            else:
                content.append({"text": action.text})
        return content


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise Refused("The value at messages is not a list of Message objects.")
    if not messages:
        raise Refused(
            "A conversation must start with a user message. Try again with a conversation "
            "that starts with a user message."
        )
    for index, message in enumerate(messages):
        if message.get("role") not in {"user", "assistant"}:
            raise Refused(
                f"1 validation error detected: Value at 'messages.{index + 1}.member.role' failed "
                "to satisfy constraint: Member must satisfy enum value set: [user, assistant]"
            )
        content = message.get("content")
        if not isinstance(content, list) or not all(isinstance(one, dict) for one in content):
            raise Refused(
                f"The content field in the Message object at messages.{index} is missing."
            )
        if not content:
            raise Refused(
                f"The content field in the Message object at messages.{index} is empty. Add a "
                "ContentBlock object to the content field and try again."
            )
    return messages


def _places(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any], Block]]:
    for index, message in enumerate(messages):
        for at, block in enumerate(message["content"]):
            yield f"messages.{index}.content.{at}", message, block


def _judge_blocks(messages: Sequence[dict[str, Any]]) -> None:
    for where, message, block in _places(messages):
        text, use, result = block.get("text"), block.get("toolUse"), block.get("toolResult")
        if isinstance(text, str) and not text.strip():
            raise Refused(
                f"The text field in the ContentBlock object at {where} is blank. Add text to the "
                "text field, and try again."
            )
        if use is not None:
            if message["role"] != "assistant":
                raise Refused(f"The toolUse block at {where} may only be in an assistant message.")
            _judge_pattern(f"{where}.toolUse.toolUseId", use.get("toolUseId"), _ID)
            _judge_pattern(f"{where}.toolUse.name", use.get("name"), _NAME)
        if result is not None:
            _judge_pattern(f"{where}.toolResult.toolUseId", result.get("toolUseId"), _ID)
            if result.get("status") == "error" and not result.get("content"):
                raise Refused(
                    f"The content field at {where}.toolResult cannot be empty when status value "
                    "is error."
                )


def _judge_pattern(where: str, value: Any, pattern: re.Pattern[str]) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Refused(
            f"1 validation error detected: Value at '{where}' failed to satisfy constraint: Member "
            f"must satisfy regular expression pattern: {pattern.pattern}"
        )


def _judge_documents(messages: Sequence[dict[str, Any]]) -> None:
    names = [
        block["document"].get("name") for _, _, block in _places(messages) if "document" in block
    ]
    if len(names) > _DOCUMENTS:
        raise Refused(f"You can't include more than {_DOCUMENTS} documents in a request.")
    if len(set(names)) < len(names):
        raise Refused(
            "Messages can't contain duplicate document names. Rename the document and retry your "
            "request."
        )


def _judge_roles(messages: Sequence[dict[str, Any]], *, claude: bool) -> None:
    """Roles alternate; Claude alone was recorded to take an assistant message first."""
    if messages[0]["role"] != "user" and not claude:
        raise Refused(
            "A conversation must start with a user message. Try again with a conversation that "
            "starts with a user message."
        )
    for before, message in itertools.pairwise(messages):
        if before["role"] == message["role"]:
            raise Refused(
                "A conversation must alternate between user and assistant roles. Make sure the "
                "conversation alternates between user and assistant roles and try again."
            )


def _client_uses(message: dict[str, Any]) -> list[str]:
    """The ids that a turn leaves to the client; what the service ran is answered within it."""
    done = [
        block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block
    ]
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    return [
        use["toolUseId"]
        for use in uses
        if use.get("type") != "server_tool_use" and use["toolUseId"] not in done
    ]


def _judge_pairs(messages: Sequence[dict[str, Any]]) -> None:
    owed: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "assistant":
            owed = _client_uses(message)
            if len(set(owed)) < len(owed):
                raise Refused(f"messages.{index}.content contains duplicate toolUse Ids.")
            continue
        results = [
            block["toolResult"]["toolUseId"]
            for block in message["content"]
            if "toolResult" in block
        ]
        if len(results) > len(owed):
            raise Refused(
                f"The number of toolResult blocks at messages.{index}.content exceeds the number "
                "of toolUse blocks of previous turn."
            )
        _judge_owed(index, owed, results)
        owed = []
    _judge_owed(len(messages), owed, [])


def _judge_owed(index: int, owed: Sequence[str], results: Sequence[str]) -> None:
    missing = [one for one in owed if one not in results]
    if missing:
        raise Refused(
            f"Expected toolResult blocks at messages.{index}.content for the following Ids: "
            + ", ".join(missing)
        )


def _judge_tools(body: dict[str, Any], messages: Sequence[dict[str, Any]]) -> None:
    used = any("toolUse" in block or "toolResult" in block for _, _, block in _places(messages))
    if used and not (body.get("toolConfig") or {}).get("tools"):
        raise Refused(
            "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        )


def _judge_model(model: str, messages: Sequence[dict[str, Any]]) -> None:
    """What not Converse but the model behind it refuses."""
    if any(name in model for name in _APART):
        _judge_apart(messages)
    last = messages[-1]
    if "anthropic." not in model or last["role"] != "assistant":
        return
    prefix = "The model returned the following errors: "
    if refuses_prefill(model):
        raise Refused(
            prefix + "This model does not support assistant message prefill. The conversation must "
            "end with a user message."
        )
    text = last["content"][-1].get("text")
    if isinstance(text, str) and text != text.rstrip():
        raise Refused(
            prefix + "messages: final assistant content cannot end with trailing whitespace"
        )


def _judge_apart(messages: Sequence[dict[str, Any]]) -> None:
    for index, message in enumerate(messages):
        kinds = {kind for block in message["content"] for kind in block}
        for tool, words in (("toolResult", "tool result blocks"), ("toolUse", "tool use blocks")):
            if tool in kinds and "text" in kinds:
                raise Refused(
                    f"messages.{index}.content: Conversation blocks and {words} cannot be provided "
                    "in the same turn."
                )


def _answered(messages: Sequence[dict[str, Any]]) -> int:
    count = 0
    for message in messages:
        results = sum("toolResult" in block for block in message["content"])
        if message["role"] == "user":
            count = count + results if results else 0
    return count


def _stream(content: Sequence[Block], stop: str, usage: dict[str, int]) -> Iterator[bytes]:
    yield frame("messageStart", {"role": "assistant"})
    for index, block in enumerate(content):
        use = block.get("toolUse")
        if use is not None:
            begin = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
            yield frame("contentBlockStart", {"contentBlockIndex": index, "start": begin})
            delta: Block = {"toolUse": {"input": msgspec.json.encode(use["input"]).decode()}}
        else:
            delta = {"text": block["text"]}
        yield frame("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
        yield frame("contentBlockStop", {"contentBlockIndex": index})
    yield frame("messageStop", {"stopReason": stop})
    yield frame("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})
