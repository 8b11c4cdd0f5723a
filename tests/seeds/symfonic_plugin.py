"""A pytest plugin: symfonic-core as it is installed, with Lockstitch's functions in its place.

The slice and the log stand in for its own. Its conversation managers are thin over our strategies:
what a directive says in its overrides is written into its configuration.
"""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lockstitch.integrations import symfonic as ours

CALLS = {"slice": 0, "log": 0, "directive": 0}
OUTCOMES = {}

# symfonic's own estimate of how many characters a token has.
CHARS_OF_TOKEN = 4


def pytest_configure():
    from symfonic.agent import engine

    engine._pair_aware_history_slice = counted_slice
    engine.SymfonicAgent._maybe_log_history_trim = counted_log
    replace_managers()


def counted_slice(history, cap):
    CALLS["slice"] += 1
    return ours.pair_aware_history_slice(history, cap)


def counted_log(agent, history):
    CALLS["log"] += 1
    ours.log_history_trim(history, agent._config.agent.max_conversation_messages)


def written(config, strategy, **beside):
    """Write a directive into symfonic's configuration, both of its limiters always."""
    CALLS["directive"] += 1
    said = ours.resolve_history(strategy).to_legacy_overrides()
    if said["compaction_enabled"]:
        limiter = {"soft_threshold_tokens": said["compaction_trigger_chars"] // CHARS_OF_TOKEN}
        limiter["keep_recent_messages"] = said["compaction_keep_recent"]
    else:
        never = said["compaction_trigger_chars"]
        limiter = {"soft_threshold_tokens": never, "context_window_tokens": never}
    compaction = replace(config.compaction, **limiter, **beside)
    cap = said["max_conversation_messages"]
    return replace(config, compaction=compaction, max_conversation_messages=cap)


def replace_managers():
    import symfonic.agent
    from symfonic.agent import conversation

    @dataclass(frozen=True)
    class Summarizing(conversation.ConversationManager):
        context_window_tokens: int | None = None
        keep_recent_messages: int = 10
        soft_threshold_tokens: int = 4_000
        summary_model: str = "claude-haiku-4-5"

        def apply(self, agent_config):
            strategy = ours.SummarizingHistoryStrategy(
                self.soft_threshold_tokens * CHARS_OF_TOKEN, self.keep_recent_messages
            )
            return written(
                agent_config,
                strategy,
                context_window_tokens=self.context_window_tokens,
                compaction_model=self.summary_model,
            )

    @dataclass(frozen=True)
    class SlidingWindow(conversation.ConversationManager):
        window_size: int = 40

        def __post_init__(self):
            # A manager takes no window of 0; the strategy does, and keeps nothing.
            if self.window_size < 1:
                raise ValueError(f"window_size must be >= 1, got {self.window_size}")

        def apply(self, agent_config):
            return written(agent_config, ours.SlidingWindowHistoryStrategy(self.window_size))

    @dataclass(frozen=True)
    class Null(conversation.ConversationManager):
        def apply(self, agent_config):
            return written(agent_config, ours.NullHistoryStrategy())

    for manager in (Summarizing, SlidingWindow, Null):
        for module in (conversation, symfonic.agent):
            setattr(module, f"{manager.__name__}ConversationManager", manager)


@pytest.hookimpl
def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        OUTCOMES[report.nodeid] = report.outcome


def pytest_sessionfinish():
    Path(os.environ["OUTCOMES"]).write_text(json.dumps({"tests": OUTCOMES, "calls": CALLS}))
