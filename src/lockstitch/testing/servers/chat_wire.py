"""The wire of Chat Completions: how an answer is written, whole or as a stream of chunks.

Knows: the shape that OpenAI and Mistral share, and how to read the messages of a request.

Must not know: what either of them refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.testing.servers.base import Reply, event, json_reply, size
from lockstitch.testing.servers.script import Action, Call, Say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["answered_since_user", "completion", "tool_names"]

CREATED: Final = 1_700_000_000
"""There is no clock here."""


def tool_names(tools: Any) -> list[Any]:
    """Name the functions of a request's `tools`."""
    found = [tool.get("function") or tool.get("custom") or {} for tool in tools or ()]
    return [function.get("name") for function in found]


def answered_since_user(messages: Sequence[dict[str, Any]]) -> int:
    """Count the tool messages behind the last message of the user."""
    count = 0
    for message in messages:
        if message["role"] == "user":
            count = 0
        elif message["role"] == "tool":
            count += 1
    return count


def completion(
    body: dict[str, Any],
    actions: Sequence[Action],
    *,
    answer_id: str,
    call_ids: Sequence[str],
    whole_calls: bool,
) -> Reply:
    """Write what the model does as a completion, in the way the request asks for.

    Args:
        body: the request.
        actions: what the model does.
        answer_id: the id of the completion.
        call_ids: an id for each call.
        whole_calls: a stream gives each call in one chunk, as Mistral does; else its arguments
            follow in another, which has no id, as with OpenAI.
    """
    text = "".join(action.text for action in actions if isinstance(action, Say))
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {
                "name": action.name,
                "arguments": msgspec.json.encode(action.arguments).decode(),
            },
        }
        for call_id, action in zip(
            call_ids, (action for action in actions if isinstance(action, Call)), strict=True
        )
    ]
    finish = "tool_calls" if calls else "stop"
    used = {"prompt_tokens": size(body), "completion_tokens": size([text, calls])}
    usage = {**used, "total_tokens": sum(used.values())}
    head = {"id": answer_id, "created": CREATED, "model": body["model"]}
    if body.get("stream"):
        deltas = [*_text_deltas(text), *_call_deltas(calls, whole=whole_calls)]
        return _stream({**head, "object": "chat.completion.chunk"}, deltas, finish, usage)
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json_reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})


def _text_deltas(text: str) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    half = len(text) // 2
    yield from ({"content": piece} for piece in (text[:half], text[half:]) if piece)


def _call_deltas(calls: Sequence[dict[str, Any]], *, whole: bool) -> Iterator[dict[str, Any]]:
    for index, call in enumerate(calls):
        if whole:
            yield {"tool_calls": [{**call, "index": index}]}
            continue
        begin = {**call["function"], "arguments": ""}
        yield {"tool_calls": [{**call, "index": index, "function": begin}]}
        rest = {"arguments": call["function"]["arguments"]}
        yield {"tool_calls": [{"index": index, "function": rest}]}


def _stream(
    head: dict[str, Any], deltas: Sequence[dict[str, Any]], finish: str, usage: dict[str, int]
) -> Reply:
    chunks = [
        event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        for delta in deltas
    ]
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    chunks.append(event({**head, "choices": [last], "usage": usage}))
    chunks.append(event("[DONE]"))
    return Reply(chunks=chunks, content_type="text/event-stream")
