"""The shapes of requests: of each field that a server reads, what type of JSON it must be.

Knows: types of fields; none is required here, and fields that are not read may hold anything.

Must not know: what the fields mean.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypedDict

import msgspec

__all__ = ["AnthropicBody", "BedrockBody", "ChatBody", "GeminiBody", "ResponsesBody", "misfit"]

Map: TypeAlias = dict[str, Any]


def misfit(body: Map, shape: Any) -> str | None:
    """Say where a body does not have a shape; None where it has it.

    >>> misfit({"messages": 1}, ChatBody)
    'Expected `array`, got `int` - at `$.messages`'
    """
    try:
        msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        return str(error)
    return None


class _Typed(TypedDict, total=False):
    type: str


class _Named(TypedDict, total=False):
    name: str


class _ChatFunction(TypedDict, total=False):
    name: str
    arguments: str


class _ChatCall(TypedDict, total=False):
    id: str
    function: _ChatFunction


class _ChatMessage(TypedDict, total=False):
    role: str
    content: str | list[_Typed] | None
    tool_calls: list[_ChatCall] | None
    tool_call_id: str | None


class _ChatTool(TypedDict, total=False):
    function: _Named
    custom: _Named


class ChatBody(TypedDict, total=False):
    """Of Chat Completions, at OpenAI and at Mistral."""

    model: str
    messages: list[_ChatMessage]
    tools: list[_ChatTool] | None


class _Item(TypedDict, total=False):
    type: str
    id: str | None
    call_id: str | None
    role: str
    content: str | list[_Typed] | None
    encrypted_content: str | None
    approval_request_id: str | None
    execution: str | None


class _Compacting(TypedDict, total=False):
    type: str
    compact_threshold: int | None


class ResponsesBody(TypedDict, total=False):
    """Of OpenAI's Responses."""

    model: str
    input: str | list[_Item]
    tools: list[Map] | None
    include: list[str] | None
    context_management: list[_Compacting] | None


class _Binding(TypedDict, total=False):
    prefix_mismatch_behavior: str | None


class _Thinking(TypedDict, total=False):
    type: str
    block_binding: _Binding | None


class _Block(TypedDict, total=False):
    type: str
    text: str
    thinking: str
    signature: str
    data: str
    id: str
    tool_use_id: str
    content: str | list[Map] | Map | None
    name: str


class _Message(TypedDict, total=False):
    role: str
    content: str | list[_Block]


class AnthropicBody(TypedDict, total=False):
    """Of Anthropic's Messages."""

    model: str
    messages: list[_Message]
    system: str | list[Map] | None
    tools: list[Map] | None
    thinking: _Thinking | None


class _Call(TypedDict, total=False):
    name: str
    args: Map | None


class _Part(TypedDict, total=False):
    functionCall: _Call
    function_call: _Call
    functionResponse: _Named
    function_response: _Named
    thoughtSignature: str | None
    thought_signature: str | None


class _Content(TypedDict, total=False):
    role: str | None
    parts: list[_Part]


class _GeminiTool(TypedDict, total=False):
    functionDeclarations: list[_Named] | None
    function_declarations: list[_Named] | None


class GeminiBody(TypedDict, total=False):
    """Of Gemini's generateContent."""

    contents: list[_Content]
    tools: list[_GeminiTool] | _GeminiTool | None


class _Use(TypedDict, total=False):
    toolUseId: str
    name: str
    type: str


class _Result(TypedDict, total=False):
    toolUseId: str
    content: list[Map]


class _BedrockBlock(TypedDict, total=False):
    text: str
    toolUse: _Use
    toolResult: _Result
    document: _Named


class _BedrockMessage(TypedDict, total=False):
    role: str
    content: list[_BedrockBlock]


class _BedrockTool(TypedDict, total=False):
    toolSpec: _Named


class _ToolConfig(TypedDict, total=False):
    tools: list[_BedrockTool]


class BedrockBody(TypedDict, total=False):
    """Of Bedrock's Converse."""

    messages: list[_BedrockMessage]
    toolConfig: _ToolConfig | None
