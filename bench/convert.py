"""From OpenAI Chat dicts to each contender's own message objects, and from those to skeletons.

Histories are converted once, outside every clock. The way back is for the judge alone, so it
carries roles, text, call ids and which call a result answers, and nothing more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from judge import Skeleton

Chat = dict[str, Any]


def chat_skeletons(messages: Iterable[Chat]) -> list[Skeleton]:
    """Skeletons of OpenAI Chat dicts."""
    return [
        Skeleton(
            role=message["role"],
            text=message.get("content") or "",
            calls=tuple(call["id"] for call in message.get("tool_calls") or ()),
            answers=message.get("tool_call_id"),
        )
        for message in messages
    ]


def to_langchain(messages: Sequence[Chat]) -> list[Any]:
    """langchain-core message objects."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    plain = {"system": SystemMessage, "user": HumanMessage}
    converted: list[Any] = []
    for message in messages:
        role = message["role"]
        if role in plain:
            converted.append(plain[role](message["content"]))
        elif role == "tool":
            converted.append(ToolMessage(message["content"], tool_call_id=message["tool_call_id"]))
        else:
            calls = [
                {
                    "type": "tool_call",
                    "id": call["id"],
                    "name": call["function"]["name"],
                    "args": json.loads(call["function"]["arguments"]),
                }
                for call in message.get("tool_calls", ())
            ]
            reasoning = message.get("reasoning_content")
            extra = {"reasoning_content": reasoning} if reasoning else {}
            converted.append(
                AIMessage(message["content"] or "", tool_calls=calls, additional_kwargs=extra)
            )
    return converted


def langchain_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of langchain-core messages."""
    roles = {"human": "user", "ai": "assistant"}
    return [
        Skeleton(
            role=roles.get(message.type, message.type),
            text=message.content,
            calls=tuple(call["id"] for call in getattr(message, "tool_calls", ())),
            answers=getattr(message, "tool_call_id", None),
        )
        for message in messages
    ]


def to_agent_framework(messages: Sequence[Chat]) -> list[Any]:
    """agent-framework ``Message`` objects; each result is a message of its own."""
    from agent_framework import Content
    from agent_framework import Message as Framework

    converted: list[Any] = []
    for message in messages:
        role = message["role"]
        contents: list[Any] = []
        if role == "tool":
            contents.append(
                Content.from_function_result(message["tool_call_id"], result=message["content"])
            )
        else:
            if reasoning := message.get("reasoning_content"):
                contents.append(Content.from_text_reasoning(text=reasoning))
            if message["content"]:
                contents.append(Content.from_text(message["content"]))
            for call in message.get("tool_calls", ()):
                function = call["function"]
                contents.append(
                    Content.from_function_call(
                        call["id"], function["name"], arguments=function["arguments"]
                    )
                )
        converted.append(Framework(role, contents))
    return converted


def agent_framework_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of agent-framework messages; a message with two results gives two."""
    skeletons: list[Skeleton] = []
    for message in messages:
        results = [c for c in message.contents if c.type == "function_result"]
        if results:
            skeletons += [Skeleton("tool", text=str(c.result), answers=c.call_id) for c in results]
            continue
        text = "".join(c.text or "" for c in message.contents if c.type == "text")
        calls = tuple(c.call_id for c in message.contents if c.type == "function_call")
        skeletons.append(Skeleton(message.role, text=text, calls=calls))
    return skeletons


def to_bedrock(messages: Sequence[Chat]) -> list[Any]:
    """strands messages (Bedrock Converse): no system message, parallel results in one message."""
    converted: list[Any] = []
    for message in messages:
        role = message["role"]
        if role == "user":
            converted.append({"role": "user", "content": [{"text": message["content"]}]})
        elif role == "tool":
            block = {
                "toolResult": {
                    "toolUseId": message["tool_call_id"],
                    "status": "success",
                    "content": [{"text": message["content"]}],
                }
            }
            newest = converted[-1] if converted else {"role": ""}
            if newest["role"] == "user" and "toolResult" in newest["content"][0]:
                newest["content"].append(block)
            else:
                converted.append({"role": "user", "content": [block]})
        elif role == "assistant":
            blocks: list[Any] = []
            if reasoning := message.get("reasoning_content"):
                blocks.append({"reasoningContent": {"reasoningText": {"text": reasoning}}})
            if message["content"]:
                blocks.append({"text": message["content"]})
            for call in message.get("tool_calls", ()):
                function = call["function"]
                blocks.append(
                    {
                        "toolUse": {
                            "toolUseId": call["id"],
                            "name": function["name"],
                            "input": json.loads(function["arguments"]),
                        }
                    }
                )
            converted.append({"role": "assistant", "content": blocks})
    return converted


def bedrock_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of strands messages; a message with two results gives two, its text one more."""
    skeletons: list[Skeleton] = []
    for message in messages:
        results = [b["toolResult"] for b in message["content"] if "toolResult" in b]
        skeletons += [
            Skeleton("tool", text=r["content"][0]["text"], answers=r["toolUseId"]) for r in results
        ]
        text = "".join(b.get("text", "") for b in message["content"])
        if results and not text:
            continue
        calls = tuple(b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b)
        skeletons.append(Skeleton(message["role"], text=text, calls=calls))
    return skeletons


def without_system(messages: Sequence[Chat]) -> list[Chat]:
    """The history of a framework that keeps the system part outside the list."""
    return [message for message in messages if message["role"] != "system"]
