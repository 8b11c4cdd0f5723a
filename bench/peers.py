"""The contenders: one adapter each, from a history in its shape to a call that cuts it.

An adapter sets its contender up once, outside the clock, with the options that its own documents
give for the job, and calls a public function (symfonic-core has only a private one for it). Where
a contender changes what it is given, the clock starts after a fresh copy is made.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from types import SimpleNamespace
from typing import Any, Literal

import convert
import tokens
import walks
from judge import Skeleton
from timing import Entry
from world import World, included, unmarked

Sizes = Literal["known", "estimated", "exact"]
GROUPS_A_MESSAGE = 0.4  # agent-framework's window counts groups: 20 are about 50 messages


@dataclass(frozen=True, slots=True)
class Contender:
    """How to run one contender, how to read its result, and what it says about what it dropped."""

    key: str
    label: str
    package: str | None
    by_messages: Callable[[World, int], Entry] | None
    by_tokens: Callable[[World, int, Sizes], Entry | None] | None
    read: Callable[[Any], list[Skeleton]]
    reports: str
    system_apart: bool = False
    counts_messages: bool = True
    explain: Callable[[World, int], str] | None = None

    @property
    def missing(self) -> str:
        """Why it cannot run here, "" where it can."""
        if self.package is None:
            return ""
        try:
            metadata.version(self.package)
        except metadata.PackageNotFoundError:
            if self.package == "lockstitch" and ours() is not None:
                return ""
            return "not installed"
        if self.package == "lockstitch" and ours() is None:
            return "not importable"
        return ""


def ours() -> Any:
    """The library under test, None while it has no ``trim``."""
    try:
        import lockstitch
    except ImportError:
        return None
    return lockstitch if hasattr(lockstitch, "trim") else None


# --- the library under test -----------------------------------------------------------------------


def _ours_by_messages(world: World, limit: int, cut: str) -> Entry:
    trim = ours().trim
    return Entry("", lambda h: trim(h, max_messages=limit, cut=cut), world.chat)


def _ours_by_tokens(world: World, limit: int, sizes: Sizes, cut: str) -> Entry:
    trim = ours().trim
    counter: Any = {"known": world.sizes, "estimated": None, "exact": tokens.count_message}[sizes]
    return Entry("", lambda h: trim(h, max_tokens=limit, counter=counter, cut=cut), world.chat)


def _ours_explain(world: World, limit: int, cut: str) -> str:
    """What ``plan`` says of the same cut, where it accounts for every message."""
    plan = ours().plan(world.chat, max_messages=limit, cut=cut)
    missed = len(world.chat) - len(plan.kept) - len(plan.dropped)
    if missed:
        return f"`plan()` leaves out {missed} messages"
    return f"`plan()`: each of {len(plan.dropped)}, with a reason"


# --- yardsticks -----------------------------------------------------------------------------------


def _walk_by_messages(world: World, limit: int) -> Entry:
    return Entry("", lambda h: walks.last_messages(h, limit), world.chat)


def _walk_by_tokens(world: World, limit: int, sizes: Sizes) -> Entry:
    chat, known = world.chat, world.sizes.__getitem__
    if sizes == "known":
        return Entry("", lambda h: walks.last_tokens(h, limit, known), chat)
    count = tokens.count_message if sizes == "exact" else tokens.estimate_message
    return Entry("", lambda h: walks.last_tokens(h, limit, lambda i: count(h[i])), chat)


def _slice_by_messages(world: World, limit: int) -> Entry:
    return Entry("", lambda h: h[-limit:], world.chat)


# --- peers ----------------------------------------------------------------------------------------


def _symfonic_by_messages(world: World, limit: int) -> Entry:
    from symfonic.agent.engine import _pair_aware_history_slice as pair_aware_slice

    return Entry("", lambda h: pair_aware_slice(h, limit), world.langchain_apart)


def _langchain_by_messages(world: World, limit: int, options: dict[str, Any]) -> Entry:
    from langchain_core.messages import trim_messages

    trim = partial(trim_messages, max_tokens=limit, token_counter=len, strategy="last", **options)
    return Entry("", trim, world.langchain)


def _langchain_by_tokens(world: World, limit: int, sizes: Sizes, options: dict[str, Any]) -> Entry:
    from langchain_core.messages import trim_messages

    counter: Any = "approximate"
    if sizes == "exact":
        counter = tokens.count_langchain
    elif sizes == "known":
        size_of = world.langchain_sizes.__getitem__

        def counter(messages: list[Any]) -> int:
            return sum(map(size_of, map(id, messages)))

    trim = partial(
        trim_messages, max_tokens=limit, token_counter=counter, strategy="last", **options
    )
    return Entry("", trim, world.langchain)


def _agent_framework(strategy: Any, prepare: Callable[[], Any], tokenizer: Any = None) -> Entry:
    from agent_framework import apply_compaction

    return Entry(
        "",
        lambda h: _drive(apply_compaction(h, strategy=strategy, tokenizer=tokenizer)),
        prepare=prepare,
    )


def _truncation_by_messages(world: World, limit: int) -> Entry:
    from agent_framework import TruncationStrategy

    strategy = TruncationStrategy(max_n=limit, compact_to=limit)
    return _agent_framework(strategy, partial(unmarked, world.agent_framework))


def _truncation_by_tokens(world: World, limit: int, sizes: Sizes) -> Entry:
    from agent_framework import CharacterEstimatorTokenizer, TruncationStrategy

    tokenizer: Any = CharacterEstimatorTokenizer()
    prepare = partial(unmarked, world.agent_framework)
    if sizes == "exact":
        tokenizer = SimpleNamespace(count_tokens=tokens.count_text)
    elif sizes == "known":
        prepare = partial(included, world.agent_framework_counted)
    strategy = TruncationStrategy(max_n=limit, compact_to=limit, tokenizer=tokenizer)
    return _agent_framework(strategy, prepare, tokenizer)


def _window_by_messages(world: World, limit: int) -> Entry:
    from agent_framework import SlidingWindowStrategy

    strategy = SlidingWindowStrategy(keep_last_groups=max(1, int(limit * GROUPS_A_MESSAGE)))
    return _agent_framework(strategy, partial(unmarked, world.agent_framework))


def _litellm_by_tokens(world: World, limit: int, sizes: Sizes) -> Entry | None:
    if sizes != "exact":
        return None
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network
    from litellm._logging import verbose_logger
    from litellm.utils import trim_messages

    verbose_logger.handlers.clear()  # what it logs goes to the root, where the sweep listens
    verbose_logger.propagate = True

    return Entry("", lambda h: trim_messages(h, model="gpt-4o", max_tokens=limit), world.chat)


def _strands_by_messages(world: World, limit: int) -> Entry:
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    manager = SlidingWindowConversationManager(window_size=limit)

    def run(agent: Any) -> list[Any]:
        manager.apply_management(agent)
        return agent.messages

    messages = world.bedrock
    return Entry("", run, prepare=lambda: SimpleNamespace(messages=list(messages)))


def _drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine that waits for nothing, without the cost of an event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise RuntimeError("the coroutine waits for something")


HUMAN = {"start_on": "human", "include_system": True}
CHAT = convert.chat_skeletons
LANGCHAIN = convert.langchain_skeletons
FRAMEWORK = convert.agent_framework_skeletons

BARE, OURS, PREFIX = "bare", "ours", "ours-prefix"

CONTENDERS: Sequence[Contender] = (
    Contender(
        BARE, "bare Python walk (yardstick)", None,
        _walk_by_messages, _walk_by_tokens, CHAT, "nothing",
    ),
    Contender(
        "slice", "naive slice `[-n:]`", None, _slice_by_messages, None, CHAT, "nothing",
    ),
    Contender(
        OURS, "**lockstitch** `trim`", "lockstitch",
        partial(_ours_by_messages, cut="groups"), partial(_ours_by_tokens, cut="groups"),
        CHAT, "`plan()`: each message, with a reason",
        explain=partial(_ours_explain, cut="groups"),
    ),
    Contender(
        PREFIX, '**lockstitch** `trim`, `cut="prefix"`', "lockstitch",
        partial(_ours_by_messages, cut="prefix"), partial(_ours_by_tokens, cut="prefix"),
        CHAT, "`plan()`: each message, with a reason",
        explain=partial(_ours_explain, cut="prefix"),
    ),
    Contender(
        "symfonic", "symfonic-core history slice", "symfonic-core",
        _symfonic_by_messages, None, LANGCHAIN, "a debug log line with a count", system_apart=True,
    ),
    Contender(
        "langchain", "langchain-core `trim_messages`", "langchain-core",
        partial(_langchain_by_messages, options={}), partial(_langchain_by_tokens, options={}),
        LANGCHAIN, "nothing",
    ),
    Contender(
        "langchain-human", '... `start_on="human"`, `include_system`', "langchain-core",
        partial(_langchain_by_messages, options=HUMAN),
        partial(_langchain_by_tokens, options=HUMAN), LANGCHAIN, "nothing",
    ),
    Contender(
        "strands", "strands `SlidingWindowConversationManager`", "strands-agents",
        _strands_by_messages, None, convert.bedrock_skeletons, "a count", system_apart=True,
    ),
    Contender(
        "af-truncation", "agent-framework `TruncationStrategy`", "agent-framework-core",
        _truncation_by_messages, _truncation_by_tokens, FRAMEWORK,
        "a flag and a word on each dropped message",
    ),
    Contender(
        "af-window", "agent-framework `SlidingWindowStrategy`", "agent-framework-core",
        _window_by_messages, None, FRAMEWORK, "a flag and a word on each dropped message",
        counts_messages=False,
    ),
    Contender(
        "litellm", "litellm `trim_messages`", "litellm", None, _litellm_by_tokens, CHAT, "nothing",
    ),
)  # fmt: skip
