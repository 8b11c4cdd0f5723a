"""Names: every span, attribute and metric that `otel` writes.

Where the GenAI semantic conventions have a name, it is used. They are still in development, so a
renamed one is changed here, and nowhere else.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "lockstitch"  # the instrumentation scope of spans and metrics

# --- spans: one for each operation ----------------------------------------------------------------

SPAN: Final = "lockstitch.{operation}"  # lockstitch.trim, lockstitch.plan, lockstitch.summarize

# --- attributes of the GenAI and general conventions ----------------------------------------------

# The name of the span. The conventions know a `plan`, and mean by it an agent that makes plans.
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"  # whose rules are kept, where the profile is a provider's
MODEL: Final = "gen_ai.request.model"  # the model, where it is known
COMPACTED: Final = "gen_ai.conversation.compacted"  # whether anything went or was put in
ERROR_TYPE: Final = "error.type"  # the class of what was raised
EXCEPTION: Final = "exception"  # the event of what was raised
EXCEPTION_TYPE: Final = "exception.type"  # its class
EXCEPTION_STACKTRACE: Final = "exception.stacktrace"  # files, lines and functions

# --- attributes of our own ------------------------------------------------------------------------

PROFILE: Final = "lockstitch.profile"  # the target whose rules are kept
FORMAT: Final = "lockstitch.format"  # the format of the messages
STRATEGY: Final = "lockstitch.strategy"  # the kind of the directive, where there is one
FIRED: Final = "lockstitch.fired"  # each limit that was passed
LIMIT: Final = "lockstitch.limit.{unit}"  # the limit in messages, tokens, chars
BEFORE: Final = "lockstitch.{unit}.before"  # the size before in messages, tokens, chars
AFTER: Final = "lockstitch.{unit}.after"  # the size after
GROUPS_DROPPED: Final = "lockstitch.groups.dropped"  # groups that went whole
MESSAGES_DROPPED: Final = "lockstitch.messages.dropped"  # messages that went
MESSAGES_CHANGED: Final = "lockstitch.messages.changed"  # messages that stay and were changed
MESSAGES_INSERTED: Final = "lockstitch.messages.inserted"  # messages that were put in
CHANGED_FROM: Final = "lockstitch.changed_from"  # the first position whose bytes differ
SUMMARY_CHARS: Final = "lockstitch.summary.chars"  # how long a new summary is
SUMMARY_FAILED: Final = "lockstitch.summary.failed"  # whether one was wanted and not had
MOMENT: Final = "lockstitch.moment"  # of a window size: before or after

# --- metrics --------------------------------------------------------------------------------------

OPERATIONS_METRIC: Final = "lockstitch.operations"  # counter of operations
MESSAGES_DROPPED_METRIC: Final = "lockstitch.messages.dropped"  # counter of messages that went
GROUPS_DROPPED_METRIC: Final = "lockstitch.groups.dropped"  # counter of groups that went whole
WINDOW_MESSAGES_METRIC: Final = "lockstitch.window.messages"  # histogram of sizes in messages
WINDOW_TOKENS_METRIC: Final = "lockstitch.window.tokens"  # histogram of sizes in tokens

# --- values ---------------------------------------------------------------------------------------

# The conventions' names of the providers that profiles stand for.
PROVIDERS: Final = {
    "anthropic": "anthropic",
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "gemini": "gcp.gemini",
    "groq": "groq",
    "mistral": "mistral_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
