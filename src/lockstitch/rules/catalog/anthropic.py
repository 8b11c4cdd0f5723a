"""The rules of Anthropic Messages.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["ANTHROPIC"]

_ANTHROPIC_UNANSWERED = (
    "`tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` "
    "block must have a corresponding `tool_result` block in the next message."
)
_ANTHROPIC_ORPHAN = (
    "unexpected `tool_use_id` found in `tool_result` blocks. Each `tool_result` block must have a "
    "corresponding `tool_use` block in the previous message."
)

ANTHROPIC: Final = (
    Rule(
        id="an-tool-use-answered",
        profiles=("anthropic",),
        title="every tool_use is answered in the next turn",
        statement="The user turn after a tool_use holds its tool_result.",
        error=_ANTHROPIC_UNANSWERED,
        status="issue",
        source="anthropics/claude-code issues 5989 and 1237; OpenHands/OpenHands issue 7512",
        check="unanswered_function",
        repairs=ANSWER,
    ),
    Rule(
        id="an-result-needs-use",
        profiles=("anthropic",),
        title="every tool_result answers a tool_use of the turn before",
        statement="A tool_result refers to a tool_use in the assistant turn directly before it.",
        error=_ANTHROPIC_ORPHAN,
        status="issue",
        source="anthropics/claude-code issues 18947 and 24670; decocms/studio issue 1803",
        check="orphan_client_result",
        repairs=HOME,
    ),
    Rule(
        id="an-result-nonadjacent",
        profiles=("anthropic",),
        title="a result does not come late",
        statement="A tool_result after another turn does not count as an answer.",
        error=_ANTHROPIC_UNANSWERED,
        status="issue",
        source="openai/openai-agents-python issues 1797 and 1935",
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="an-result-first",
        profiles=("anthropic",),
        title="results come first in the answering turn",
        statement="In the user turn after tool_use blocks, every tool_result stands before anything "
        "else.",
        error="Did not find 1 `tool_result` block(s) at the beginning of this message. Messages "
        "following `tool_use` blocks must begin with a matching number of `tool_result` blocks.",
        status="issue",
        source="anthropics/anthropic-sdk-typescript issue 653",
        check="result_not_first",
        formats=("anthropic",),
        repairs=("move",),
    ),
    Rule(
        id="an-tool-use-role",
        profiles=("anthropic", "portable"),
        title="a tool_use is the assistant's",
        statement="A tool_use block stands in an assistant message; under another role it is no call, "
        "and a result cannot answer it.",
        error="`tool_use` blocks can only be in `assistant` messages",
        status="issue",
        source="microsoft/agent-framework issue 4328",
        check="call_of_another_role",
        formats=("anthropic",),
        repairs=("drop",),
    ),
    Rule(
        id="an-single-result",
        profiles=("anthropic",),
        title="one result for each tool_use",
        statement="A tool_use is answered by exactly one tool_result.",
        error="each tool_use must have a single result. Found multiple `tool_result` blocks with "
        "id: toolu_…",
        status="issue",
        source="vectorize-io/hindsight pull request 4250",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="an-tool-use-id-unique",
        profiles=("anthropic",),
        title="an id is used once in a turn",
        statement="Two tool_use blocks of one (joined) assistant turn have different ids. The same "
        "id in a later turn is accepted.",
        error="messages.1.content.1: `tool_use` ids must be unique",
        status="issue",
        source="trycua/cua issue 524; BerriAI/litellm issue 23510; recorded requests accept reuse "
        "in later turns",
        check="repeated_id_in_turn",
        repairs=("rename",),
    ),
    Rule(
        id="an-no-messages",
        profiles=("anthropic",),
        title="at least one message",
        statement="The list is not empty.",
        error="messages: at least one message is required",
        status="docs",
        source="Anthropic Messages API errors",
        check="no_messages",
    ),
    Rule(
        id="an-first-message-user",
        profiles=("anthropic",),
        title="the first message is a user's",
        statement="Enforced in 2024; recorded requests that start with the assistant were accepted "
        "since.",
        error='messages: first message must use the "user" role',
        status="inferred",
        severity="warning",
        source="livekit/agents pull request 669; recorded requests",
        check="first_not_user",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-empty-content",
        profiles=("anthropic",),
        title="no empty message",
        statement="Every message except a final assistant message has content.",
        error="messages.0: all messages must have non-empty content except for the optional final "
        "assistant message",
        status="issue",
        source="anthropics/claude-code issues 6774 and 3196",
        check="empty_content",
        repairs=("drop",),
    ),
    Rule(
        id="an-empty-text-block",
        profiles=("anthropic",),
        title="no empty text block",
        statement="A text block holds text.",
        error="messages: text content blocks must be non-empty",
        status="issue",
        source="aws-samples/generative-ai-use-cases issue 1685",
        check="empty_text_block",
        formats=("anthropic",),
        repairs=("drop",),
    ),
    Rule(
        id="an-whitespace-text-block",
        profiles=("anthropic",),
        title="no blank text",
        statement="Text holds something other than white space; a single space is no placeholder.",
        error="messages: text content blocks must contain non-whitespace text",
        status="issue",
        source="anomalyco/opencode issue 31259; aaif-goose/goose pull request 7343",
        check="blank_text",
        formats=("anthropic",),
        repairs=("drop", "replace"),
    ),
    Rule(
        id="an-thinking-signature-required",
        profiles=("anthropic",),
        title="thinking carries its signature",
        statement="A thinking block has the signature it was issued with; a blank one is invalid.",
        error="messages.1.content.0.thinking.signature: Field required",
        status="code",
        source="types of the anthropic SDK, release 2.14; bigduu/Bamboo-agent issue 520",
        check="unsigned_thinking",
        formats=("anthropic",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-server-result-needs-use",
        profiles=("anthropic",),
        title="a server tool's result follows its use in the same turn",
        statement="A result block of a server tool stands after its server_tool_use in one "
        "assistant turn.",
        error="unexpected `tool_use_id` found in `…_tool_result` blocks. Each block must have a "
        "corresponding `server_tool_use` block before it.",
        status="issue",
        source="anthropics/claude-code issues 64383 and 95406",
        check="orphan_server_result",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-server-use-needs-result",
        profiles=("anthropic",),
        title="a server tool's use has its result in the same turn",
        statement="A server_tool_use is followed by its result, except while a paused turn goes on.",
        error="tool use with id `srvtoolu_…` was found without a corresponding `…_tool_result` block",
        status="issue",
        source="vercel/ai issue 18785; BerriAI/litellm issue 22240",
        check="unanswered_server",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-mcp-tool-pair",
        profiles=("anthropic",),
        title="MCP uses and results pair in the assistant turn",
        statement="mcp_tool_use and mcp_tool_result stand in one assistant turn.",
        status="inferred",
        severity="warning",
        source="beta types of the anthropic SDK, release 2.14",
        check="unanswered_mcp",
        formats=("anthropic",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="an-system-role-first",
        profiles=("anthropic", "portable"),
        title="a system message is not the first",
        statement="Instructions that open the conversation go to the request's `system` field; "
        "trimming must not leave a later system message in front.",
        error="messages.0: use the top-level 'system' parameter for the initial system prompt",
        status="docs",
        source="Anthropic documentation, mid-conversation system messages",
        check="system_first",
        formats=("anthropic",),
        repairs=("move",),
    ),
    Rule(
        id="an-system-role-placement",
        profiles=("anthropic", "portable"),
        title="a system message inside the list stands after a user turn",
        statement="It follows a user turn, is last or followed by an assistant turn, has no system "
        "neighbour, and does not part a tool_use from its result.",
        status="docs",
        source="Anthropic documentation, mid-conversation system messages",
        check="system_misplaced",
        formats=("anthropic",),
        repairs=("move",),
    ),
)
