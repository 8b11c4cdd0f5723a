"""Requests that the real providers answered are answered here too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lockstitch.testing.servers import (
    AnthropicServer,
    BedrockServer,
    GeminiServer,
    MistralServer,
    OpenAIChatServer,
    OpenAIResponsesServer,
)

LINES = (Path(__file__).parent / "data" / "accepted.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]

NO_TOOLS = "test_search_result_tool_message.yaml.gz"
"""The one recorded request with tool blocks and no tools; public reports say that is refused."""


def answer(row, *, tools_required=True):
    model, body = row["model"], row["request"]
    match row["server"]:
        case "anthropic":
            server = AnthropicServer(signatures="any", tools_required=tools_required)
            return server.ask(body)
        case "anthropic-count":
            return AnthropicServer().ask(body, path="/v1/messages/count_tokens")
        case "openai-responses":
            return OpenAIResponsesServer(strangers="accept").ask(body)
        case "openai-responses-compact":
            return OpenAIResponsesServer().ask(body, path="/v1/responses/compact")
        case "openai-chat":
            return OpenAIChatServer().ask({"model": model, **body})
        case "mistral":
            return MistralServer().ask({"model": model, **body})
        case "gemini":
            server = GeminiServer(signatures="any")
            return server.ask(body, path=f"/v1beta/models/{model}:generateContent")
        case "bedrock-converse":
            return BedrockServer().ask(body, path=f"/model/{model}/converse")
    raise AssertionError(row["server"])


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{row['server']}-{number}" for number, row in enumerate(ROWS)]
)
def test_a_recorded_request_that_was_answered_is_accepted(row):
    reply = answer(row, tools_required=not row["source"]["path"].endswith(NO_TOOLS))
    assert reply.ok, reply.chunks


def test_tool_blocks_without_tools_were_answered_once_and_are_refused_unless_allowed():
    row = next(row for row in ROWS if row["source"]["path"].endswith(NO_TOOLS))
    assert answer(row).status == 400
    assert answer(row, tools_required=False).ok
