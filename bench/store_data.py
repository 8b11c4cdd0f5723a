"""Messages for stores: a seeded stream of small appends of about 1.5 KB a message, and marks.

An append is two messages, a call with its result or a question with its answer, in turn; with
``wide`` it is a call with one to four results. All are plain OpenAI Chat dicts. Every message holds
a mark that no other has, which tells after a run what was lost and what came twice.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from random import Random
from typing import Any

from histories import TOOLS, Texts

Chat = dict[str, Any]
Unit = list[Chat]

TEXTS = Texts(0)
_MARK = re.compile(r"#([0-9a-z.-]+)#")


def units(name: str, *, wide: bool = False, start: int = 0) -> Iterator[Unit]:
    """Appends without end; the same name gives the same ones, and another name other marks."""
    rng = Random(f"units-{name}-{start}")
    for number in count(start):
        mark = f"{name}.{number}"
        if number % 3 == 0:
            yield _exchange(rng, mark)
        else:
            yield _round(rng, mark, rng.choice((1, 1, 2, 3, 4)) if wide else 1)


def batches(messages: int, name: str = "seed", size: int = 500) -> Iterator[list[Chat]]:
    """So many messages in batches, to fill a store with; the first is a user message."""
    stream = (message for unit in units(name) for message in unit)
    while messages > 0:
        batch = list(islice(stream, min(size, messages)))
        messages -= len(batch)
        yield batch


def take(stream: Iterator[Unit], number: int) -> list[Unit]:
    """The next appends of a stream."""
    return list(islice(stream, number))


def marks(messages: Iterable[Chat]) -> Counter[str]:
    """How often each mark is in a list of messages."""
    found: Counter[str] = Counter()
    for message in messages:
        calls = message.get("tool_calls") or ()
        texts = [call["function"]["arguments"] for call in calls] or [message["content"]]
        found.update([mark[1] for text in texts if (mark := _MARK.search(text))])
    return found


def mean_size(messages: Sequence[Chat]) -> float:
    """Bytes of JSON a message."""
    return sum(len(encoded(message)) for message in messages) / len(messages)


def encoded(message: Chat) -> bytes:
    """A message as compact JSON."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def _exchange(rng: Random, mark: str) -> Unit:
    return [
        {"role": "user", "content": f"#{mark}.q# {TEXTS.prose(rng, 200, 1_600)}"},
        {"role": "assistant", "content": f"#{mark}.a# {TEXTS.prose(rng, 400, 2_600)}"},
    ]


def _round(rng: Random, mark: str, parallel: int) -> Unit:
    calls = [
        {
            "id": f"call_{mark}.{number}",
            "type": "function",
            "function": {
                "name": rng.choice(TOOLS),
                "arguments": json.dumps(
                    {"query": f"#{mark}.c{number}# {TEXTS.prose(rng, 300, 1_200)}", "limit": 10},
                    ensure_ascii=False,
                ),
            },
        }
        for number in range(parallel)
    ]
    results = [
        {
            "role": "tool",
            "tool_call_id": call["id"],
            "content": f"#{mark}.r{number}# {TEXTS.result(rng, mark)}",
        }
        for number, call in enumerate(calls)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *results]


# --- other shapes, and back -----------------------------------------------------------------------


def to_items(messages: Sequence[Chat]) -> list[Any]:
    """Items of the Responses API, as openai-agents keeps them."""
    items: list[Any] = []
    for message in messages:
        role = message["role"]
        if role == "tool":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": message["content"],
                }
            )
        elif message.get("tool_calls"):
            items += [
                {"type": "function_call", "call_id": call["id"], **call["function"]}
                for call in message["tool_calls"]
            ]
        else:
            items.append({"role": role, "content": message["content"]})
    return items


def from_items(items: Iterable[Any]) -> list[Chat]:
    """OpenAI Chat dicts of such items; calls that follow each other are one message."""
    chat: list[Chat] = []
    for item in items:
        kind = item.get("type")
        if kind == "function_call_output":
            chat.append(_result(item["call_id"], item["output"]))
        elif kind == "function_call":
            call = _call(item["call_id"], item["name"], item["arguments"])
            if chat and chat[-1].get("tool_calls"):
                chat[-1]["tool_calls"].append(call)
            else:
                chat.append({"role": "assistant", "content": None, "tool_calls": [call]})
        else:
            chat.append({"role": item["role"], "content": item["content"]})
    return chat


def from_langchain(messages: Iterable[Any]) -> list[Chat]:
    """OpenAI Chat dicts of langchain-core messages."""
    chat: list[Chat] = []
    for message in messages:
        if message.type == "tool":
            chat.append(_result(message.tool_call_id, message.content))
        elif calls := getattr(message, "tool_calls", None):
            made = [
                _call(one["id"], one["name"], json.dumps(one["args"], ensure_ascii=False))
                for one in calls
            ]
            chat.append({"role": "assistant", "content": None, "tool_calls": made})
        else:
            role = {"human": "user", "ai": "assistant"}.get(message.type, message.type)
            chat.append({"role": role, "content": message.content})
    return chat


def from_agent_framework(messages: Iterable[Any]) -> list[Chat]:
    """OpenAI Chat dicts of agent-framework messages."""
    chat: list[Chat] = []
    for message in messages:
        results = [one for one in message.contents if one.type == "function_result"]
        calls = [one for one in message.contents if one.type == "function_call"]
        if results:
            chat += [_result(one.call_id, str(one.result)) for one in results]
        elif calls:
            made = [_call(one.call_id, one.name, one.arguments) for one in calls]
            chat.append({"role": "assistant", "content": None, "tool_calls": made})
        else:
            text = "".join(one.text or "" for one in message.contents if one.type == "text")
            chat.append({"role": str(message.role), "content": text})
    return chat


def _result(id: str, content: str) -> Chat:
    return {"role": "tool", "tool_call_id": id, "content": content}


def _call(id: str, name: str, arguments: str) -> Chat:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
