"""The trimmers of the first validity table: from a short history and a limit to a window.

A limit is a number of OpenAI Chat messages. Who counts messages is given it as it is; who counts
tokens through a function of the caller's is given one token a message; who counts tokens itself is
given as many as that many messages of the history have; who counts something else (groups, turns,
a share) gets what comes nearest, and is not asked whether it kept to the limit.

Each is called through its own function with the options of its documents. What a contender needs
around that function (an agent, a model) is a stand-in that answers nothing of interest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import convert
import peers
import shapes
from convert import Chat
from judge import Skeleton
from world import World

MESSAGES_A_TURN = 9  # about, in these histories: what a limit in turns is made from


@dataclass(frozen=True, slots=True)
class Cut:
    """A window; its size and what it had to keep to, where they are in the contender's unit."""

    window: list[Skeleton]
    size: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Trimmer:
    """One row of the table."""

    key: str
    label: str
    package: str
    cut: Callable[[list[Chat], int], Cut]
    unit: str
    says: str = "nothing"
    system_apart: bool = False
    place: str = "validity"
    items: bool = False


class NotThisCase(Exception):
    """The contender has no such moment."""


# --- the contenders of the other benchmark --------------------------------------------------------


def _contender(key: str) -> Callable[[list[Chat], int], Cut]:
    contender = next(one for one in peers.CONTENDERS if one.key == key)
    assert contender.by_messages is not None

    def cut(chat: list[Chat], limit: int) -> Cut:
        entry = contender.by_messages(World(chat), limit)
        result = entry.run(entry.given if entry.prepare is None else entry.prepare())
        bound = limit if contender.counts_messages else None
        return Cut(contender.read(result), len(result), bound)

    return cut


# --- peers that are here alone --------------------------------------------------------------------


def _litellm(chat: list[Chat], limit: int) -> Cut:
    from litellm import token_counter
    from litellm.utils import trim_messages

    whole = token_counter(model="gpt-4o", messages=chat)
    tokens = whole * limit // len(chat)
    window = trim_messages(chat, model="gpt-4o", max_tokens=tokens)
    size = token_counter(model="gpt-4o", messages=window)
    return Cut(convert.chat_skeletons(window), size, tokens)


def _summarization(chat: list[Chat], limit: int) -> Cut:
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models import FakeListChatModel

    messages = convert.to_langchain(convert.without_system(chat))
    middleware = SummarizationMiddleware(
        FakeListChatModel(responses=["what was said so far"]),
        trigger=("messages", limit),
        keep=("messages", limit - 1),
    )
    changed = middleware.before_model({"messages": messages}, None)
    kept = messages if changed is None else changed["messages"][1:]
    return Cut(convert.langchain_skeletons(kept), len(kept), limit)


def _autogen(name: str) -> Callable[[list[Chat], int], Cut]:
    def cut(chat: list[Chat], limit: int) -> Cut:
        from autogen_core import model_context

        messages = shapes.to_autogen(convert.without_system(chat))
        if name == "buffered":
            context = model_context.BufferedChatCompletionContext(limit, messages)
        elif name == "head and tail":
            context = model_context.HeadAndTailChatCompletionContext(
                head_size=1, tail_size=limit - 2, initial_messages=messages
            )
        else:
            counter = SimpleNamespace(count_tokens=_one_each)
            context = model_context.TokenLimitedChatCompletionContext(
                counter, token_limit=limit, initial_messages=messages
            )
        kept = asyncio.run(context.get_messages())
        return Cut(shapes.autogen_skeletons(kept), len(kept), limit)

    return cut


def _one_each(messages: list[Any], tools: Any = None) -> int:
    """A token counter of the caller's for whom every message is one token."""
    return len(messages)


def _words(text: str) -> list[str]:
    return text.split()


def _llama_buffer(chat: list[Chat], limit: int) -> Cut:
    from llama_index.core.memory import ChatMemoryBuffer

    messages = shapes.to_llama_index(convert.without_system(chat))
    tokens = _counted(messages) * limit // len(messages)
    memory = ChatMemoryBuffer.from_defaults(messages, token_limit=tokens, tokenizer_fn=_words)
    kept = memory.get()
    return Cut(shapes.llama_index_skeletons(kept), _counted(kept), tokens)


def _counted(messages: list[Any]) -> int:
    """What `ChatMemoryBuffer` counts: a call without text is one word."""
    return len(_words(" ".join(str(message.content) for message in messages)))


def _llama_memory(chat: list[Chat], limit: int) -> Cut:
    from llama_index.core.memory import Memory

    messages = shapes.to_llama_index(convert.without_system(chat))
    tokens = sum(len(_words(m.content or "")) for m in messages) * limit // len(messages)

    async def remembered() -> list[Any]:
        memory = Memory.from_defaults(
            token_limit=tokens,
            chat_history_token_ratio=1.0,
            token_flush_size=max(1, tokens // 10),
            tokenizer_fn=_words,
        )
        await memory.aput_messages(messages)
        kept: list[Any] = await memory.aget()
        await memory.sql_store._async_engine.dispose()  # noqa: SLF001 - it has no close
        return kept

    kept = asyncio.run(remembered())
    size = sum(len(_words(m.content or "")) for m in kept)
    return Cut(shapes.llama_index_skeletons(kept), size, tokens)


def _semantic_kernel(threshold: int) -> Callable[[list[Chat], int], Cut]:
    def cut(chat: list[Chat], limit: int) -> Cut:
        from semantic_kernel.contents import ChatHistoryTruncationReducer

        reducer = ChatHistoryTruncationReducer(
            messages=shapes.to_semantic_kernel(chat),
            target_count=limit,
            threshold_count=threshold,
        )
        asyncio.run(reducer.reduce())
        kept = reducer.messages
        return Cut(shapes.semantic_kernel_skeletons(kept), len(kept), limit + threshold)

    return cut


def _adk(chat: list[Chat], limit: int) -> Cut:
    from google.adk.plugins.context_filter_plugin import ContextFilterPlugin

    plugin = ContextFilterPlugin(num_invocations_to_keep=max(1, limit // MESSAGES_A_TURN))
    request = SimpleNamespace(contents=shapes.to_gemini(chat))
    asyncio.run(plugin.before_model_callback(callback_context=None, llm_request=request))
    return Cut(shapes.gemini_skeletons(request.contents))


def _inspect(chat: list[Chat], limit: int) -> Cut:
    from inspect_ai.model import trim_messages

    kept = asyncio.run(trim_messages(shapes.to_inspect(chat), preserve=limit / len(chat)))
    return Cut(shapes.inspect_skeletons(kept))


def _openai_agents(chat: list[Chat], limit: int) -> Cut:
    if chat[-1]["role"] != "user":
        raise NotThisCase
    items = run_with_session(chat[:-1], chat[-1]["content"], limit - 1)
    return Cut(shapes.responses_skeletons(items), len(items), limit)


def run_with_session(chat: list[Chat], said: str, limit: int | None) -> list[Any]:
    """What openai-agents sends to its model when a user says something in a stored session."""
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, SQLiteSession, Usage
    from agents.memory import SessionSettings
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    sent: list[Any] = []

    class Listening(Model):
        async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any):
            sent.extend(input)
            text = ResponseOutputText(text="yes", type="output_text", annotations=[])
            answer = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[answer], usage=Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any):
            raise NotImplementedError

    async def run() -> None:
        session = SQLiteSession("one")
        await session.add_items(shapes.to_responses(chat))
        config = RunConfig(session_settings=SessionSettings(limit=limit), tracing_disabled=True)
        agent = Agent(name="agent", model=Listening())
        await Runner.run(agent, said, session=session, run_config=config)
        session.close()

    asyncio.run(run())
    return sent


def _pydantic_slice(repaired: bool) -> Callable[[list[Chat], int], Cut]:  # noqa: FBT001
    def cut(chat: list[Chat], limit: int) -> Cut:
        from pydantic_ai.messages import repair_messages

        kept = shapes.to_pydantic(chat)[-limit:]
        if repaired:
            kept = repair_messages(kept)
        return Cut(shapes.pydantic_skeletons(kept), len(kept), limit)

    return cut


def _harness(chat: list[Chat], limit: int) -> Cut:
    from pydantic_ai_harness.compaction import SlidingWindowCompaction

    # It keeps the first user message beside the tail, so there is to be room for that.
    window = SlidingWindowCompaction(max_messages=limit, keep_messages=limit - 1)
    messages = shapes.to_pydantic(chat)
    if len(messages) > limit:
        messages = asyncio.run(window.compact(messages, SimpleNamespace()))
    return Cut(shapes.pydantic_skeletons(messages), len(messages), limit)


def _haystack(chat: list[Chat], limit: int) -> Cut:
    from haystack.hooks.compaction import SlidingWindowCompactor

    messages = shapes.to_haystack(chat)
    counter = SimpleNamespace(count=_one_each)
    kept = SlidingWindowCompactor().compact(messages, limit, counter) or messages
    return Cut(shapes.haystack_skeletons(kept), len(kept), limit)


def _ctx_compact(chat: list[Chat], limit: int) -> Cut:
    from ctx_compact import compact

    tail = max(1, min(4, limit - 2))
    kept = compact(chat, max_tokens=limit, count_tokens=lambda _: 1, keep_tail=tail).messages
    return Cut(convert.chat_skeletons(kept), len(kept), limit)


FLAG = "a flag and a word on each dropped message"
NOTE = "a note in the window with a count"

TRIMMERS: Sequence[Trimmer] = (
    Trimmer("slice", "naive slice `[-n:]`", "", _contender("slice"), "messages"),
    Trimmer("ours", "**lockstitch** `trim`", "lockstitch", _contender("ours"), "messages",
            "`plan()`: each message, with a reason"),
    Trimmer("ours-prefix", '**lockstitch** `trim`, `cut="prefix"`', "lockstitch",
            _contender("ours-prefix"), "messages", "`plan()`: each message, with a reason"),
    Trimmer("symfonic", "symfonic-core history slice", "symfonic-core",
            _contender("symfonic"), "messages", "a debug log line with a count", system_apart=True),
    Trimmer("langchain", "langchain-core `trim_messages`", "langchain-core",
            _contender("langchain"), "messages"),
    Trimmer("langchain-human", '... `start_on="human"`, `include_system`', "langchain-core",
            _contender("langchain-human"), "messages"),
    Trimmer("summarization", "langchain `SummarizationMiddleware`", "langchain",
            _summarization, "messages", "a summary in the window", system_apart=True),
    Trimmer("litellm", "litellm `trim_messages`", "litellm", _litellm, "its tokens"),
    Trimmer("strands", "strands `SlidingWindowConversationManager`", "strands-agents",
            _contender("strands"), "its messages", "a count", system_apart=True),
    Trimmer("af-truncation", "agent-framework `TruncationStrategy`", "agent-framework-core",
            _contender("af-truncation"), "messages", FLAG),
    Trimmer("af-window", "agent-framework `SlidingWindowStrategy`", "agent-framework-core",
            _contender("af-window"), "groups", FLAG),
    Trimmer("autogen-buffered", "autogen `BufferedChatCompletionContext`", "autogen-core",
            _autogen("buffered"), "its messages", system_apart=True),
    Trimmer("autogen-head-tail", "autogen `HeadAndTailChatCompletionContext`", "autogen-core",
            _autogen("head and tail"), "its messages", NOTE, system_apart=True),
    Trimmer("autogen-tokens", "autogen `TokenLimitedChatCompletionContext`", "autogen-core",
            _autogen("tokens"), "a token each", system_apart=True),
    Trimmer("llama-buffer", "llama-index `ChatMemoryBuffer`", "llama-index-core",
            _llama_buffer, "words", system_apart=True),
    Trimmer("llama-memory", "llama-index `Memory`", "llama-index-core",
            _llama_memory, "words", system_apart=True),
    Trimmer("sk-0", "semantic-kernel `ChatHistoryTruncationReducer`", "semantic-kernel",
            _semantic_kernel(0), "messages", place="semantic-kernel"),
    Trimmer("sk-5", "... `threshold_count=5`", "semantic-kernel",
            _semantic_kernel(5), "messages", place="semantic-kernel"),
    Trimmer("adk", "google-adk `ContextFilterPlugin`", "google-adk", _adk, "turns",
            system_apart=True),
    Trimmer("inspect", "inspect-ai `trim_messages`", "inspect-ai", _inspect, "a share"),
    Trimmer("openai-agents", "openai-agents `SessionSettings(limit)`", "openai-agents",
            _openai_agents, "items", system_apart=True, items=True),
    Trimmer("pydantic-slice", "pydantic-ai, naive slice", "pydantic-ai-slim",
            _pydantic_slice(repaired=False), "its messages"),
    Trimmer("pydantic-repair", "... and then `repair_messages`", "pydantic-ai-slim",
            _pydantic_slice(repaired=True), "its messages"),
    Trimmer("harness", "pydantic-ai-harness `SlidingWindowCompaction`", "pydantic-ai-harness",
            _harness, "its messages"),
    Trimmer("haystack", "haystack `SlidingWindowCompactor`", "haystack-ai",
            _haystack, "a token each", NOTE),
    Trimmer("ctx-compact", "ctx-compact `compact`", "ctx-compact",
            _ctx_compact, "a token each", "a count"),
)  # fmt: skip
