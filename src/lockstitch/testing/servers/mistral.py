"""Mistral's chat endpoint, strict.

Knows: the order of roles, the ids and the counts that Mistral's API demands, and its words.

Must not know: the library's own rules; nor mistral-common, which is another judge.
"""

from __future__ import annotations

import itertools
import re
from typing import Any, ClassVar

from lockstitch.testing.servers.base import Refused, Reply, Request, StrictServer, json_reply
from lockstitch.testing.servers.chat_wire import answered_since_user, completion, tool_names
from lockstitch.testing.servers.script import Call, Script
from lockstitch.testing.servers.shapes import ChatBody

__all__ = ["MistralServer"]

_ID = re.compile(r"[a-zA-Z0-9]{9}")
_AFTER = {
    "system": {"system", "user"},
    "user": {"system", "user", "assistant", "tool"},
    "assistant": {"system", "user", "assistant", "tool"},
    "tool": {"assistant", "tool"},
}


class MistralServer(StrictServer):
    """`POST /v1/chat/completions`, as Mistral serves it.

    Args:
        script: decides what the model answers; a short text if it is not given.
        user_after_tool: whether a user message may follow a tool message at once. It was refused
            for years, and recorded requests of late were answered.

    >>> server = MistralServer()
    >>> last = {"role": "assistant", "content": "a"}
    >>> server.ask({"model": "m", "messages": [{"role": "user", "content": "q"}, last]}).status
    400
    """

    path: ClassVar[str] = "/v1/chat/completions"
    shape: ClassVar[Any] = ChatBody
    misfit_status: ClassVar[int] = 422

    def __init__(self, *, script: Script | None = None, user_after_tool: bool = True) -> None:
        super().__init__(script=script)
        self.user_after_tool = user_after_tool

    def answer(self, request: Request) -> Reply:
        """Judge a request and answer it, or raise `Refused`."""
        if request.path != self.path:
            raise Refused("no Route matched with those values", status=404)
        body = request.body
        messages = _messages(body)
        for index, message in enumerate(messages):
            _judge_message(index, message)
        self._judge_order(messages)
        _judge_pairs(messages)
        actions = self.decide(
            body, tools=tool_names(body.get("tools")), answered=answered_since_user(messages)
        )
        return completion(
            body,
            actions,
            answer_id=self.mint("", 32),
            call_ids=[self.mint("M", 8) for action in actions if isinstance(action, Call)],
            whole_calls=True,
        )

    def refusal(self, refused: Refused) -> Reply:
        """Word a refusal in Mistral's shape."""
        error = {
            "object": "error",
            "message": refused.text,
            "type": refused.kind or "invalid_request_error",
            "param": refused.param,
            "code": refused.code,
        }
        return json_reply(error, status=refused.status)

    def _judge_order(self, messages: list[dict[str, Any]]) -> None:
        if messages[0]["role"] == "tool":
            raise _misordered("Conversation must start with a user message or system message")
        for before, message in itertools.pairwise(messages):
            role, earlier = message["role"], before["role"]
            fits = earlier in _AFTER[role]
            if role == "user" and earlier == "tool":
                fits = self.user_after_tool
            if not fits:
                raise _misordered(f"Unexpected role '{role}' after role '{earlier}'")
        last = messages[-1]
        if last["role"] not in {"user", "tool"} and not last.get("prefix"):
            raise _misordered(
                "Expected last role User or Tool (or Assistant with prefix True) for serving but "
                f"got {last['role']}"
            )


def _misordered(text: str) -> Refused:
    return Refused(text, kind="invalid_request_message_order", code="3230")


def _miscalled(text: str) -> Refused:
    return Refused(text, kind="invalid_function_call", code="3280")


def _messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(body.get("model"), str):
        raise Refused("Field required: model", status=422, kind="invalid_request_error")
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise Refused("Input should be a valid list: messages", status=422)
    if not messages:
        raise _misordered("Conversation must have at least one message")
    return messages


def _judge_message(index: int, message: dict[str, Any]) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in _AFTER:
        raise Refused(
            f"Input tag {role!r} found using 'role' does not match any of the expected tags: "
            "'assistant', 'system', 'tool', 'user' (messages." + str(index) + ")",
            status=422,
        )
    if not isinstance(content, str | list | None):
        raise Refused(f"Input should be a valid string or list: messages.{index}", status=422)
    if role == "tool":
        _judge_id(message.get("tool_call_id"))
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        raise Refused(f"Input should be a valid list: messages.{index}.tool_calls", status=422)
    if role != "assistant":
        return
    if not content and not calls:
        raise Refused(
            "Assistant message must have either content or tool_calls, but not both.",
            kind="invalid_request_assistant_message",
            code="3240",
        )
    seen: set[str] = set()
    for call in calls:
        _judge_id(call.get("id"))
        if call["id"] in seen:
            raise _miscalled(f"Duplicate tool call id {call['id']} in assistant message")
        seen.add(call["id"])


def _judge_id(value: Any) -> None:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise _miscalled(f"Tool call id was {value} but must be a-z, A-Z, 0-9, with a length of 9.")


def _judge_pairs(messages: list[dict[str, Any]]) -> None:
    """Behind each batch of calls stand as many results, one for each of its ids."""
    owed: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            called = message["tool_call_id"]
            if called not in owed:
                if not owed:
                    raise _uneven()
                raise _miscalled(f"Unexpected tool call id {called} in tool results")
            owed.remove(called)
            continue
        if owed:
            raise _uneven()
        owed = [call["id"] for call in message.get("tool_calls") or ()]
    if owed:
        raise _uneven()


def _uneven() -> Refused:
    return _misordered("Not the same number of function calls and responses")
