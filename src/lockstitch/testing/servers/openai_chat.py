"""OpenAI's Chat Completions endpoint, strict.

Knows: what OpenAI refuses in `messages`, and the words it uses.

Must not know: the library's own rules.
"""

from __future__ import annotations

from typing import Any, ClassVar

from lockstitch.testing.servers.base import Refused, Reply, Request, StrictServer, json_reply
from lockstitch.testing.servers.chat_wire import answered_since_user, completion, tool_names
from lockstitch.testing.servers.script import Call
from lockstitch.testing.servers.shapes import ChatBody

__all__ = ["OpenAIChatServer", "openai_refusal"]

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_ID_LENGTH = 40
_CALLS = 128


class OpenAIChatServer(StrictServer):
    """`POST /v1/chat/completions`.

    Args:
        script: decides what the model answers; a short text if it is not given.

    >>> server = OpenAIChatServer()
    >>> orphan = {"role": "tool", "tool_call_id": "c", "content": "r"}
    >>> server.ask({"model": "gpt-5", "messages": [orphan]}).status
    400
    >>> server.refusals[0].text
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    """  # noqa: E501  (the provider's words)

    path: ClassVar[str] = "/v1/chat/completions"
    shape: ClassVar[Any] = ChatBody

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        if request.path.rstrip("/") not in {self.path, self.path.removeprefix("/v1")}:
            raise Refused(f"Invalid URL (POST {request.path})", status=404)
        body = request.body
        messages = _messages(body)
        for index, message in enumerate(messages):
            _judge_message(index, message, str(body["model"]))
        _judge_pairs(messages)
        actions = self.decide(
            body, tools=tool_names(body.get("tools")), answered=answered_since_user(messages)
        )
        return completion(
            body,
            actions,
            answer_id=self.mint("chatcmpl-", 29),
            call_ids=[self.mint("call_") for action in actions if isinstance(action, Call)],
            whole_calls=False,
        )

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in OpenAI's shape."""
        return openai_refusal(refused)


def openai_refusal(refused: Refused) -> Reply:
    """Word a refusal in the shape that Chat Completions and Responses share."""
    error = {
        "message": refused.text,
        "type": refused.kind or "invalid_request_error",
        "param": refused.param,
        "code": refused.code,
    }
    return json_reply({"error": error}, status=refused.status)


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(body.get("model"), str):
        raise Refused("you must provide a model parameter")
    messages = body.get("messages")
    if messages is None:
        raise Refused(
            "Missing required parameter: 'messages'.",
            param="messages",
            code="missing_required_parameter",
        )
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise Refused(
            "Invalid type for 'messages': expected an array of objects.",
            param="messages",
            code="invalid_type",
        )
    if not messages:
        raise Refused(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead.",
            param="messages",
            code="empty_array",
        )
    return messages


def _judge_message(index: int, message: dict[str, Any], model: str) -> None:
    where = f"messages[{index}]"
    role = message.get("role")
    if role not in _ROLES:
        known = ", ".join(f"'{name}'" for name in _ROLES)
        raise Refused(
            f"Invalid value: {role!r}. Supported values are: {known}.",
            param=f"{where}.role",
            code="invalid_value",
        )
    if role in {"system", "developer"} and model.startswith(("o1-mini", "o1-preview")):
        raise Refused(
            f"Unsupported value: '{where}.role' does not support '{role}' with this model.",
            param=f"{where}.role",
            code="unsupported_value",
        )
    _judge_content(where, message)
    if role == "assistant":
        _judge_calls(where, message)
    if role == "tool":
        _judge_id(f"{where}.tool_call_id", message.get("tool_call_id"))


def _judge_content(where: str, message: dict[str, Any]) -> None:
    role, content = message["role"], message.get("content")
    if content is None:
        payload = ("tool_calls", "function_call", "refusal", "audio")
        if role == "assistant" and any(message.get(key) is not None for key in payload):
            return
        raise Refused(
            "Invalid value for 'content': expected a string, got null.",
            param=f"{where}.content",
        )
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise Refused(
            f"Invalid type for '{where}.content': expected one of a string or array of objects.",
            param=f"{where}.content",
            code="invalid_type",
        )
    if role != "user" and any(part.get("type") == "image_url" for part in content):
        raise Refused(
            f"Invalid '{where}'. Image URLs are only allowed for messages with role 'user', but "
            f"this message with role '{role}' contains an image URL.",
            param=where,
            code="invalid_value",
        )


def _judge_calls(where: str, message: dict[str, Any]) -> None:
    calls = message.get("tool_calls")
    if calls is None:
        return
    path = f"{where}.tool_calls"
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise Refused(
            f"Invalid type for '{path}': expected an array of objects.",
            param=path,
            code="invalid_type",
        )
    if not calls:
        raise Refused(
            f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an "
            "empty array instead.",
            param=path,
            code="empty_array",
        )
    if len(calls) > _CALLS:
        raise Refused(
            f"Invalid '{path}': array too long. Expected an array with maximum length {_CALLS}, "
            f"but got an array with length {len(calls)} instead.",
            param=path,
            code="array_above_max_length",
        )
    for at, call in enumerate(calls):
        _judge_id(f"{path}[{at}].id", call.get("id"))
        function = call.get("function")
        if isinstance(function, dict) and not isinstance(function.get("arguments"), str):
            raise Refused(
                f"Invalid type for '{path}[{at}].function.arguments': expected a string, but got "
                "an object instead.",
                param=f"{path}[{at}].function.arguments",
                code="invalid_type",
            )


def _judge_id(path: str, value: Any) -> None:
    if not isinstance(value, str):
        raise Refused(
            f"Missing required parameter: '{path}'.",
            param=path,
            code="missing_required_parameter",
        )
    if len(value) > _ID_LENGTH:
        raise Refused(
            f"Invalid '{path}': string too long. Expected a string with maximum length "
            f"{_ID_LENGTH}, but got a string with length {len(value)} instead.",
            param=path,
            code="string_above_max_length",
        )


def _judge_pairs(messages: list[dict[str, Any]]) -> None:
    """Every batch of calls is answered at once, call by call; no answer stands anywhere else."""
    owed: list[str] = []
    in_batch = False
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            called = message["tool_call_id"]
            if called not in owed:
                raise Refused(
                    _NO_CALL if not in_batch else _OTHER_CALL.format(index),
                    param=(f"messages.[{index}].role"),
                )
            owed.remove(called)
            continue
        if owed:
            raise _unanswered(owed, index)
        calls = message.get("tool_calls") or ()
        owed = [call["id"] for call in calls]
        in_batch = bool(owed)
    if owed:
        raise _unanswered(owed, len(messages))


_NO_CALL = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)
_OTHER_CALL = (
    "Invalid parameter: 'tool_call_id' of 'messages[{}]' not found in 'tool_calls' of previous "
    "message."
)


def _unanswered(ids: list[str], index: int) -> Refused:
    return Refused(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        + ", ".join(ids),
        param=f"messages.[{index}].role",
    )
