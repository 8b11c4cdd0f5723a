"""Strict provider servers: ASGI applications that accept what a provider accepts, and no more.

They answer valid requests, whole or streaming, and refuse broken ones with the provider's status,
body and text. They judge by their own small checks on the raw JSON, never by the rules of this
library: so a test against them is a test of the library.

>>> from lockstitch.testing.servers import AnthropicServer
>>> server = AnthropicServer()
>>> body = {
...     "model": "claude-sonnet-5",
...     "max_tokens": 9,
...     "messages": [{"role": "user", "content": "Hi"}],
... }
>>> server.ask(body).json()["content"]
[{'type': 'text', 'text': 'Done.'}]
"""

from __future__ import annotations

from lockstitch.testing.servers.anthropic import AnthropicServer
from lockstitch.testing.servers.base import Refusal, Reply, Request, StrictServer
from lockstitch.testing.servers.bedrock import BedrockServer
from lockstitch.testing.servers.gemini import GeminiServer
from lockstitch.testing.servers.mistral import MistralServer
from lockstitch.testing.servers.openai_chat import OpenAIChatServer
from lockstitch.testing.servers.openai_responses import OpenAIResponsesServer
from lockstitch.testing.servers.script import (
    Call,
    Prompt,
    Say,
    Script,
    Think,
    call_every_tool,
    keep_calling,
    reply,
)
from lockstitch.testing.servers.serving import serve

__all__ = [
    "AnthropicServer",
    "BedrockServer",
    "Call",
    "GeminiServer",
    "MistralServer",
    "OpenAIChatServer",
    "OpenAIResponsesServer",
    "Prompt",
    "Refusal",
    "Reply",
    "Request",
    "Say",
    "Script",
    "StrictServer",
    "Think",
    "call_every_tool",
    "keep_calling",
    "reply",
    "serve",
]
