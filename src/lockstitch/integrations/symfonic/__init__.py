"""symfonic's history functions and strategies, under their names.

    history_trim    `symfonic.agent.history_trim`: the slice, and what is logged of it
    messages        `symfonic.agent.cutover.messages`: typed messages, in and out
    typed           what typed messages hold, and how one is made of a caller's
    reading         any message as facts
    windows         which stretches of a history stand alone

What `symfonic.services.conversation.history` has are Lockstitch's own strategies. All of it can be
imported from here. Only making LangChain's messages needs langchain-core.
"""

from __future__ import annotations

from lockstitch.errors import ConversationServiceError
from lockstitch.integrations.symfonic.history_trim import (
    log_history_trim,
    pair_aware_history_slice,
)
from lockstitch.integrations.symfonic.messages import (
    STOCK_HISTORY_CAP,
    CheckpointHistory,
    Message,
    ReplayedMessage,
    as_kernel_history,
    as_legacy_messages,
    history_cap,
    named_tool_messages,
    to_langchain,
)
from lockstitch.strategies.directive import UNBOUNDED, HistoryDirective
from lockstitch.strategies.named import (
    HistoryStrategy,
    NullHistoryStrategy,
    SlidingWindowHistoryStrategy,
    SummarizingHistoryStrategy,
    resolve_history,
)

__all__ = [
    "STOCK_HISTORY_CAP",
    "UNBOUNDED",
    "CheckpointHistory",
    "ConversationServiceError",
    "HistoryDirective",
    "HistoryStrategy",
    "Message",
    "NullHistoryStrategy",
    "ReplayedMessage",
    "SlidingWindowHistoryStrategy",
    "SummarizingHistoryStrategy",
    "as_kernel_history",
    "as_legacy_messages",
    "history_cap",
    "log_history_trim",
    "named_tool_messages",
    "pair_aware_history_slice",
    "resolve_history",
    "to_langchain",
]
