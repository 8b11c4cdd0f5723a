"""The real SDK clients against the strict servers: broken, mended, cut.

    python tests/service/matrix.py [--count 5000] [--only anthropic,gemini]

For each provider so many broken histories are sent as they are, after `repair` and `export`, and
after a `trim` of the mended one to a limit by chance. The servers judge by checks of their own.
Printed is how many were refused as they were, and how many of the mended and cut ones were taken.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from broken_histories import SIX, TOOLS, broken

import lockstitch as ls
from lockstitch.testing.servers import (
    AnthropicServer,
    BedrockServer,
    GeminiServer,
    MistralServer,
    OpenAIChatServer,
    OpenAIResponsesServer,
    serve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """One provider: its format and profile, its server, and how its SDK sends a history.

    Args:
        kinds: the breakages that it refuses; Responses asks for order and number, not nearness.
    """

    name: str
    format: str
    model: str
    server: Any
    client: Any
    refused: Any
    shape: str | None = None
    kinds: tuple[str, ...] = SIX


def _functions(style: str) -> list[dict[str, Any]]:
    schema: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    if style == "anthropic":
        return [{"name": name, "input_schema": schema} for name in TOOLS]
    if style == "responses":
        return [{"type": "function", "name": name, "parameters": schema} for name in TOOLS]
    if style == "bedrock":
        return [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name in TOOLS]
    if style == "gemini":
        return [{"function_declarations": [{"name": name} for name in TOOLS]}]
    return [
        {"type": "function", "function": {"name": name, "parameters": schema}} for name in TOOLS
    ]


@contextmanager
def _openai_chat(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tools: Any = _functions("chat")
        yield lambda messages: client.chat.completions.create(
            model=model, messages=messages, tools=tools
        )


@contextmanager
def _openai_responses(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
        tools: Any = _functions("responses")
        yield lambda items: client.responses.create(
            model=model, input=items, tools=tools, store=False
        )


@contextmanager
def _anthropic(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    import anthropic

    with anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client:
        tools: Any = _functions("anthropic")
        yield lambda messages: client.messages.create(
            model=model, max_tokens=100, messages=messages, tools=tools
        )


@contextmanager
def _gemini(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    from google import genai
    from google.genai import types

    options = types.HttpOptions(base_url=url, retry_options={"attempts": 1})
    client = genai.Client(api_key="none", http_options=options)
    config: Any = {
        "tools": _functions("gemini"),
        "automatic_function_calling": {"disable": True},
    }
    yield lambda contents: client.models.generate_content(
        model=model, contents=contents, config=config
    )
    client.close()


@contextmanager
def _bedrock(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "bedrock-runtime",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(retries={"max_attempts": 1}),
    )
    tools = {"tools": _functions("bedrock")}
    yield lambda messages: client.converse(modelId=model, messages=messages, toolConfig=tools)
    client.close()


@contextmanager
def _mistral(url: str, model: str) -> Iterator[Callable[[list[Any]], None]]:
    from mistralai.client import Mistral

    with Mistral(api_key="none", server_url=url) as client:
        tools: Any = _functions("chat")
        yield lambda messages: client.chat.complete(model=model, messages=messages, tools=tools)


def _refusals() -> dict[str, Any]:
    import anthropic
    import openai
    from botocore.exceptions import ClientError, ParamValidationError
    from google.genai import errors
    from mistralai.client.errors import SDKError

    return {
        "openai": openai.BadRequestError,
        "anthropic": anthropic.BadRequestError,
        "gemini": errors.ClientError,
        "bedrock": (ClientError, ParamValidationError),
        "mistral": SDKError,
    }


def providers() -> list[Provider]:
    """Every provider that has a strict server."""
    refusals = _refusals()
    return [
        Provider(
            name="openai-chat",
            format="openai-chat",
            model="gpt-4o",
            server=OpenAIChatServer,
            client=_openai_chat,
            refused=refusals["openai"],
        ),
        Provider(
            name="openai-responses",
            format="openai-responses",
            model="gpt-4o",
            server=lambda: OpenAIResponsesServer(strangers="accept"),
            client=_openai_responses,
            refused=refusals["openai"],
            kinds=("delete result", "delete call", "double result", "answer early"),
        ),
        Provider(
            name="anthropic",
            format="anthropic",
            model="claude-opus-4-8",
            server=AnthropicServer,
            client=_anthropic,
            refused=refusals["anthropic"],
            shape="packed",
        ),
        Provider(
            name="gemini",
            format="gemini",
            model="gemini-2.5-flash",
            # The histories are made up, and so are the signatures in them.
            server=lambda: GeminiServer(signatures="any"),
            client=_gemini,
            refused=refusals["gemini"],
            shape="packed",
        ),
        Provider(
            name="bedrock",
            format="bedrock",
            model="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            server=BedrockServer,
            client=_bedrock,
            refused=refusals["bedrock"],
        ),
        Provider(
            name="mistral",
            format="mistral",
            model="mistral-large-2411",
            server=lambda: MistralServer(user_after_tool=False),
            client=_mistral,
            refused=refusals["mistral"],
        ),
    ]


def tried(provider: Provider, count: int) -> Counter[str]:
    """Send so many histories in their three states; count what came of them."""
    found: Counter[str] = Counter()
    options: dict[str, Any] = {
        "profile": provider.name,
        "format": provider.format,
        "model": provider.model,
    }
    with ExitStack() as stack:
        url = stack.enter_context(serve(provider.server()))
        send = stack.enter_context(provider.client(url, provider.model))

        def taken(messages: list[Any]) -> bool:
            try:
                send(messages)
            except provider.refused as refusal:
                found[f"said: {str(refusal)[:160]}"] += 1
                return False
            return True

        number = 0
        while found["histories"] < count:
            number += 1
            made = broken(number, provider.format, provider.shape, kinds=provider.kinds)
            if made is None:
                continue
            _, history = made
            was = Counter({key: times for key, times in found.items() if key.startswith("said")})
            if taken(history):
                # Broken twice over, it can come out whole: an answer moved in front of one call may
                # stand behind another call of its id.
                found["not broken"] += 1
                continue
            found["histories"] += 1
            for key in [key for key in found if key.startswith("said")]:
                found[key] = was[key]
            mended = ls.export(ls.repair(history, **options).messages, **options).messages
            found["mended and taken"] += taken(mended)
            limit = random.Random(number).randint(1, max(1, len(mended)))
            window = ls.trim(mended, max_messages=limit, on_overflow="smallest", **options)
            found["cut and taken"] += taken(window)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return 1 where something mended or cut was refused."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--only", default="")
    chosen = parser.parse_args(arguments)
    wanted = set(filter(None, chosen.only.split(",")))
    failed = False
    heads = ("refused as it was", "mended: taken", "cut: taken", "sent, not broken")
    print(f"{'provider':18}" + "".join(f"{head:>20}" for head in heads))
    for provider in providers():
        if wanted and provider.name not in wanted:
            continue
        found = tried(provider, chosen.count)
        cells = [
            found[key] for key in ("histories", "mended and taken", "cut and taken", "not broken")
        ]
        print(f"{provider.name:18}" + "".join(f"{cell:>20,}" for cell in cells), flush=True)
        for key, times in found.items():
            if key.startswith("said") and times:
                print(f"    {times} x {key.removeprefix('said: ')}")
        failed = failed or min(cells[1:3]) < cells[0]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
