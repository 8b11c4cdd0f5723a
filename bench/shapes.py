"""The message shapes of the libraries that only the validity tables ask, and skeletons of them.

As in `convert.py`: from OpenAI Chat dicts to a library's own objects in the way in which that
library would hold them, whole or broken, and back to skeletons for the judge. A result whose call
is not there gets the tool name "unknown" where the shape asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from convert import Chat
from judge import Skeleton


def tool_names(messages: Sequence[Chat]) -> dict[str, str]:
    """The name of the tool that each call id is last used for."""
    return {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls") or ()
    }


# --- OpenAI Responses -----------------------------------------------------------------------------


def to_responses(messages: Sequence[Chat]) -> list[Any]:
    """Input items of the OpenAI Responses API, without the system message."""
    items: list[Any] = []
    for message in messages:
        if message["role"] == "system":
            continue
        if message["role"] == "tool":
            items.append(
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": message["content"],
                }
            )
            continue
        if message["content"]:
            items.append({"role": message["role"], "content": message["content"]})
        items += [
            {"type": "function_call", "call_id": call["id"], **call["function"]}
            for call in message.get("tool_calls") or ()
        ]
    return items


def responses_skeletons(items: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of Responses items, one for each item."""
    skeletons: list[Skeleton] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "function_call":
            skeletons.append(Skeleton("assistant", calls=(item["call_id"],)))
        elif kind == "function_call_output":
            skeletons.append(Skeleton("tool", text=item["output"], answers=item["call_id"]))
        else:
            content = item["content"]
            text = content if isinstance(content, str) else "".join(p["text"] for p in content)
            skeletons.append(Skeleton(item["role"], text=text))
    return skeletons


# --- pydantic-ai ----------------------------------------------------------------------------------


def to_pydantic(messages: Sequence[Chat]) -> list[Any]:
    """pydantic-ai messages; the results of one step stand in one request.

    So do the system prompt and the first user prompt, as an agent's run records them.
    """
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    names = tool_names(messages)
    converted: list[Any] = []
    for message in messages:
        role = message["role"]
        if role == "assistant":
            parts: list[Any] = [TextPart(message["content"])] if message["content"] else []
            for call in message.get("tool_calls") or ():
                function = call["function"]
                part = ToolCallPart(function["name"], function["arguments"], call["id"])
                parts.append(part)
            converted.append(ModelResponse(parts=parts))
        elif role == "tool":
            id_ = message["tool_call_id"]
            part = ToolReturnPart(names.get(id_, "unknown"), message["content"], id_)
            newest = converted[-1] if converted else None
            if isinstance(newest, ModelRequest) and isinstance(newest.parts[0], ToolReturnPart):
                newest.parts.append(part)
            else:
                converted.append(ModelRequest(parts=[part]))
        else:
            part = (SystemPromptPart if role == "system" else UserPromptPart)(message["content"])
            if converted and isinstance(converted[-1].parts[-1], SystemPromptPart):
                converted[-1].parts.append(part)
            else:
                converted.append(ModelRequest(parts=[part]))
    return converted


def pydantic_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of pydantic-ai messages, in the order of their parts."""
    roles = {"system-prompt": "system", "user-prompt": "user"}
    skeletons: list[Skeleton] = []
    for message in messages:
        if message.kind == "response":
            text = "".join(p.content for p in message.parts if p.part_kind == "text")
            calls = tuple(p.tool_call_id for p in message.parts if p.part_kind == "tool-call")
            skeletons.append(Skeleton("assistant", text=text, calls=calls))
            continue
        for part in message.parts:
            if part.part_kind in roles:
                skeletons.append(Skeleton(roles[part.part_kind], text=str(part.content)))
            elif getattr(part, "tool_call_id", None):
                content = str(part.content)
                skeletons.append(Skeleton("tool", text=content, answers=part.tool_call_id))
    return skeletons


# --- AutoGen --------------------------------------------------------------------------------------


def to_autogen(messages: Sequence[Chat]) -> list[Any]:
    """autogen-core messages; the results of one step stand in one message."""
    from autogen_core import FunctionCall
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        FunctionExecutionResultMessage,
        SystemMessage,
        UserMessage,
    )

    names = tool_names(messages)
    converted: list[Any] = []
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "system":
            converted.append(SystemMessage(content=content))
        elif role == "user":
            converted.append(UserMessage(content=content, source="user"))
        elif role == "tool":
            id_ = message["tool_call_id"]
            result = FunctionExecutionResult(
                content=content, name=names.get(id_, "unknown"), call_id=id_, is_error=False
            )
            if converted and isinstance(converted[-1], FunctionExecutionResultMessage):
                converted[-1].content.append(result)
            else:
                converted.append(FunctionExecutionResultMessage(content=[result]))
        elif calls := message.get("tool_calls"):
            made = [FunctionCall(id=call["id"], **call["function"]) for call in calls]
            said = AssistantMessage(content=made, thought=content, source="assistant")
            converted.append(said)
        else:
            converted.append(AssistantMessage(content=content, source="assistant"))
    return converted


def autogen_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of autogen-core messages."""
    roles = {"SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant"}
    skeletons: list[Skeleton] = []
    for message in messages:
        if message.type == "FunctionExecutionResultMessage":
            skeletons += [Skeleton("tool", r.content, answers=r.call_id) for r in message.content]
        elif isinstance(message.content, str):
            skeletons.append(Skeleton(roles[message.type], text=message.content))
        else:
            calls = tuple(call.id for call in message.content)
            skeletons.append(Skeleton("assistant", text=message.thought or "", calls=calls))
    return skeletons


# --- LlamaIndex -----------------------------------------------------------------------------------


def to_llama_index(messages: Sequence[Chat]) -> list[Any]:
    """llama-index messages with the calls as the OpenAI client stores them."""
    from llama_index.core.llms import ChatMessage

    converted: list[Any] = []
    for message in messages:
        extra = {key: message[key] for key in ("tool_calls", "tool_call_id") if key in message}
        converted.append(
            ChatMessage(role=message["role"], content=message["content"], additional_kwargs=extra)
        )
    return converted


def llama_index_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of llama-index messages."""
    return [
        Skeleton(
            message.role.value,
            text=message.content or "",
            calls=tuple(c["id"] for c in message.additional_kwargs.get("tool_calls", ())),
            answers=message.additional_kwargs.get("tool_call_id"),
        )
        for message in messages
    ]


# --- Semantic Kernel ------------------------------------------------------------------------------


def to_semantic_kernel(messages: Sequence[Chat]) -> list[Any]:
    """semantic-kernel messages; each result is a message of its own."""
    from semantic_kernel.contents import (
        ChatMessageContent,
        FunctionCallContent,
        FunctionResultContent,
        TextContent,
    )

    names = tool_names(messages)
    converted: list[Any] = []
    for message in messages:
        role, content = message["role"], message["content"]
        items: list[Any] = []
        if role == "tool":
            id_ = message["tool_call_id"]
            name = names.get(id_, "unknown")
            items.append(FunctionResultContent(id=id_, name=name, result=content))
        elif content:
            items.append(TextContent(text=content))
        items += [
            FunctionCallContent(id=call["id"], **call["function"])
            for call in message.get("tool_calls") or ()
        ]
        converted.append(ChatMessageContent(role=role, items=items))
    return converted


def semantic_kernel_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of semantic-kernel messages."""
    skeletons: list[Skeleton] = []
    for message in messages:
        kinds = [(type(item).__name__, item) for item in message.items]
        results = [item for kind, item in kinds if kind == "FunctionResultContent"]
        if results:
            skeletons += [Skeleton("tool", str(r.result), answers=r.id) for r in results]
            continue
        text = "".join(item.text for kind, item in kinds if kind == "TextContent")
        calls = tuple(item.id for kind, item in kinds if kind == "FunctionCallContent")
        skeletons.append(Skeleton(message.role.value, text=text, calls=calls))
    return skeletons


# --- Haystack -------------------------------------------------------------------------------------


def to_haystack(messages: Sequence[Chat]) -> list[Any]:
    """haystack messages; each result is a message of its own and holds the call it answers."""
    from haystack.dataclasses import ChatMessage, ToolCall

    converted: list[Any] = []
    calls: dict[str, Any] = {}
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "system":
            converted.append(ChatMessage.from_system(content))
        elif role == "user":
            converted.append(ChatMessage.from_user(content))
        elif role == "tool":
            origin = calls[message["tool_call_id"]]
            converted.append(ChatMessage.from_tool(content, origin=origin))
        else:
            made: list[Any] = []
            for call in message.get("tool_calls") or ():
                function = call["function"]
                arguments = json.loads(function["arguments"])
                made.append(ToolCall(function["name"], arguments, id=call["id"]))
            calls |= {call.id: call for call in made}
            converted.append(ChatMessage.from_assistant(content, tool_calls=made))
    return converted


def haystack_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of haystack messages."""
    skeletons: list[Skeleton] = []
    for message in messages:
        if results := message.tool_call_results:
            skeletons += [Skeleton("tool", r.result, answers=r.origin.id) for r in results]
            continue
        calls = tuple(call.id for call in message.tool_calls)
        skeletons.append(Skeleton(message.role.value, text=message.text or "", calls=calls))
    return skeletons


# --- Gemini, as google-adk holds it ---------------------------------------------------------------


def to_gemini(messages: Sequence[Chat]) -> list[Any]:
    """google-genai contents without the system part; the results of one step in one content."""
    from google.genai import types

    names = tool_names(messages)
    converted: list[Any] = []
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "user":
            converted.append(types.Content(role="user", parts=[types.Part(text=content)]))
        elif role == "tool":
            id_ = message["tool_call_id"]
            response = types.FunctionResponse(
                id=id_, name=names.get(id_, "unknown"), response={"output": content}
            )
            part = types.Part(function_response=response)
            newest = converted[-1] if converted else None
            if newest and newest.parts[0].function_response:
                newest.parts.append(part)
            else:
                converted.append(types.Content(role="user", parts=[part]))
        elif role == "assistant":
            parts = [types.Part(text=content)] if content else []
            for call in message.get("tool_calls") or ():
                function = call["function"]
                made = types.FunctionCall(
                    id=call["id"],
                    name=function["name"],
                    args=json.loads(function["arguments"]),
                )
                parts.append(types.Part(function_call=made))
            converted.append(types.Content(role="model", parts=parts))
    return converted


def gemini_skeletons(contents: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of google-genai contents."""
    skeletons: list[Skeleton] = []
    for content in contents:
        results = [p.function_response for p in content.parts if p.function_response]
        if results:
            skeletons += [Skeleton("tool", r.response["output"], answers=r.id) for r in results]
            continue
        role = "assistant" if content.role == "model" else "user"
        text = "".join(p.text or "" for p in content.parts)
        calls = tuple(p.function_call.id for p in content.parts if p.function_call)
        skeletons.append(Skeleton(role, text=text, calls=calls))
    return skeletons


# --- Inspect --------------------------------------------------------------------------------------


def to_inspect(messages: Sequence[Chat]) -> list[Any]:
    """inspect-ai messages; the first user message is the sample's input."""
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )
    from inspect_ai.tool import ToolCall

    converted: list[Any] = []
    for message in messages:
        role, content = message["role"], message["content"]
        if role == "system":
            converted.append(ChatMessageSystem(content=content))
        elif role == "user":
            first = not any(m.role == "user" for m in converted)
            source = {"source": "input"} if first else {}
            converted.append(ChatMessageUser(content=content, **source))
        elif role == "tool":
            id_ = message["tool_call_id"]
            converted.append(ChatMessageTool(content=content, tool_call_id=id_))
        else:
            calls = [
                ToolCall(
                    id=call["id"],
                    function=call["function"]["name"],
                    arguments=json.loads(call["function"]["arguments"]),
                )
                for call in message.get("tool_calls") or ()
            ]
            converted.append(ChatMessageAssistant(content=content or "", tool_calls=calls or None))
    return converted


def inspect_skeletons(messages: Iterable[Any]) -> list[Skeleton]:
    """Skeletons of inspect-ai messages."""
    return [
        Skeleton(
            message.role,
            text=message.text,
            calls=tuple(call.id for call in getattr(message, "tool_calls", None) or ()),
            answers=getattr(message, "tool_call_id", None),
        )
        for message in messages
    ]
