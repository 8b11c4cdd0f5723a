"""The rules of Anthropic Messages; those about thinking are in `anthropic_thinking`.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.catalog.anthropic_thinking import THINKING
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
        repairs=("restore",),
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
        repairs=("restore", "synthesize"),
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
        repairs=("drop", "replace"),
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
        repairs=("drop", "replace"),
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
        repairs=("move", "demote"),
    ),
    Rule(
        id="an-tool-id-pattern",
        profiles=("anthropic",),
        title="ids of calls are letters, digits, _ and -",
        statement="The id of a tool_use, and the tool_use_id of its result, hold nothing but "
        "letters, digits, underscore and hyphen.",
        error="String should match pattern '^[a-zA-Z0-9_-]+$'",
        status="code",
        source="BerriAI/litellm rewrites ids to this pattern; anomalyco/opencode reports the text",
        check="odd_call_id",
        formats=("anthropic",),
        target_only=True,
        repairs=("rename",),
    ),
    Rule(
        id="an-tool-name",
        profiles=("anthropic",),
        title="a call names a tool by a name that a tool can have",
        statement="The name of a tool_use has at most 200 characters, all of them letters, "
        "digits, underscore or hyphen; a model that writes a command line there must "
        "not be quoted.",
        error="tool_use.name: String should have at most 200 characters",
        status="issue",
        source="earendil-works/pi pull request 1643",
        check="odd_call_name",
        formats=("anthropic",),
        target_only=True,
        repairs=("rename",),
    ),
    Rule(
        id="an-tools-must-be-defined",
        profiles=("anthropic",),
        title="a request with tool blocks defines tools",
        statement="A history that holds tool_use or tool_result blocks goes with a non-empty list"
        " of tools, also where the request only asks for a summary. A request that "
        "leaves the field out was accepted once, so that is a warning; tools of MCP "
        "servers need no list.",
        error="Requests which include `tool_use` or `tool_result` blocks must define tools",
        status="docs",
        source="portkey.ai error library 10488; BerriAI/litellm adds a dummy tool; recorded "
        "requests",
        check="tools_undefined",
        formats=("anthropic",),
        repairs=("synthesize",),
    ),
    Rule(
        id="an-prefill-unsupported",
        profiles=("anthropic",),
        title="the user has the last word",
        statement="Claude 4.6 and later take no final assistant message to go on with. A history "
        "at rest may end so; before the model is called the user must speak.",
        error="This model does not support assistant message prefill. The conversation must "
        "end with a user message.",
        status="docs",
        source="Claude API errors; smallmain/vscode-unify-chat-provider issue 249; strands-"
        "agents/sdk-python issue 1694",
        check="assistant_last",
        formats=("anthropic",),
        scope="no_prefill",
        repairs=("synthesize", "drop"),
    ),
    Rule(
        id="an-trailing-whitespace",
        profiles=("anthropic",),
        title="a text to go on with does not end with white space",
        statement="On models that take a final assistant message, its text does not end with "
        "white space.",
        error="messages: final assistant content cannot end with trailing whitespace",
        status="issue",
        source="anomalyco/opencode issue 1295; tailcallhq/forgecode issue 1872",
        check="white_space_at_end",
        formats=("anthropic",),
        scope="not no_prefill",
        target_only=True,
        repairs=("replace",),
    ),
    Rule(
        id="an-consecutive-roles",
        profiles=("anthropic",),
        title="neighbours of one role are one turn",
        statement="The provider joins neighbouring messages of one role and accepts them; results"
        " must come first in the joined turn. Versions of 2023 refused this.",
        error='roles must alternate between "user" and "assistant", but found multiple "user"'
        " roles in a row",
        status="docs",
        severity="warning",
        source="types of the anthropic SDK, release 2.14; recorded requests",
    ),
    Rule(
        id="an-max-messages",
        profiles=("anthropic",),
        title="at most 100,000 messages",
        statement="A request holds at most 100,000 messages.",
        error="There is a limit of 100,000 messages in a single request.",
        status="docs",
        source="types of the anthropic SDK, release 2.14",
        check="too_many_messages",
        formats=("anthropic",),
    ),
    Rule(
        id="an-request-size",
        profiles=("anthropic",),
        title="at most 32 MB a request",
        statement="The body of a request has at most 32 MB; text and inline media alone are "
        "counted here. Media goes first: send files by their ids.",
        error="request_too_large",
        status="docs",
        source="Claude API errors",
        check="request_too_big",
        formats=("anthropic",),
    ),
    Rule(
        id="an-context-too-long",
        profiles=("anthropic",),
        title="the input fits the window of the model",
        statement="Tokens are not counted by a check; trim by whole groups to the limit of the "
        "model.",
        error="prompt is too long: N tokens > 200000 maximum",
        status="code",
        source="BerriAI/litellm maps this text; recorded requests",
    ),
    Rule(
        id="an-system-role-model",
        profiles=("anthropic",),
        title="system messages inside the list are for models that take them",
        statement="Models before Opus 4.8 take no system message inside the list.",
        error="role 'system' is not supported on this model",
        status="docs",
        source="Claude documentation, mid-conversation system messages; vercel/ai pull request"
        " 15674",
        check="system_after_start",
        formats=("anthropic",),
        scope="not mid_system",
        target_only=True,
        repairs=("demote",),
    ),
    Rule(
        id="an-server-block-order",
        profiles=("anthropic",),
        title="nested server calls keep their order",
        statement="A search inside code execution stands between the code execution and its "
        "result. Blocks that were sorted into pairs are refused; the history alone does"
        " not show how they stood.",
        error="`code_execution` tool use with id `srvtoolu_…` was found without a "
        "corresponding `code_execution_tool_result` block",
        status="issue",
        source="vercel/ai issue 18785",
    ),
    Rule(
        id="an-pause-turn",
        profiles=("anthropic",),
        title="a paused turn is resumed before anything else is said",
        statement="The content of a paused turn goes back unchanged as the last message; a user "
        "message behind it abandons the work and leaves a server_tool_use open.",
        status="inferred",
        severity="warning",
        source="Claude documentation, stop reasons, as recalled",
        check="abandoned_server_use",
        formats=("anthropic",),
    ),
    Rule(
        id="an-cache-control-max-4",
        profiles=("anthropic",),
        title="at most four cache markers",
        statement="Tools, system and messages together have at most four blocks with "
        "cache_control. Taking markers away changes nothing that the model sees, and "
        "leaves thinking valid.",
        error="A maximum of 4 blocks with cache_control may be provided. Found 5.",
        status="issue",
        source="avante-corp/avante.nvim pull request 425; bug-ops/zeph pull request 1568",
        check="too_many_markers",
        formats=("anthropic",),
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="an-many-images",
        profiles=("anthropic",),
        title="among many images none is large",
        statement="With more than 20 images and documents in a request, no image has more than "
        "2,000 pixels a side: an old large one can break a later turn.",
        error="At least one of the image dimensions exceed max allowed size for many-image "
        "requests: 2000 pixels",
        status="docs",
        source="Claude documentation, vision; anthropics/claude-code issue 59133",
        check="large_image_among_many",
        formats=("anthropic",),
        repairs=("drop",),
    ),
    Rule(
        id="an-error-result-empty",
        profiles=("anthropic",),
        title="an error says something",
        statement="A tool_result with is_error has content.",
        error="content cannot be empty if `is_error` is true",
        status="inferred",
        severity="warning",
        source="recalled; Bedrock reports the same text",
        check="empty_error_result",
        formats=("anthropic",),
        target_only=True,
        repairs=("replace",),
    ),
    Rule(
        id="an-cache-control-empty-text",
        profiles=("anthropic",),
        title="a cache marker stands on a block that can be cached",
        statement="Empty text and thinking take no cache_control.",
        error="cache_control cannot be set for empty text blocks",
        status="inferred",
        severity="warning",
        source="recalled",
        check="marker_misplaced",
        formats=("anthropic",),
        target_only=True,
        repairs=("move", "drop"),
    ),
    Rule(
        id="an-compaction-first",
        profiles=("anthropic",),
        title="a compaction block goes back as it is, in front of what is kept",
        statement="The block stands in place of what it sums up and is not empty; null marks one "
        "that failed and is taken. What is kept behind it starts with another role than"
        " what it sums up ended with, which the history alone does not show.",
        status="docs",
        source="Claude documentation, compaction; types of the anthropic SDK, release 2.14",
        check="empty_compaction",
        formats=("anthropic",),
        repairs=("drop",),
    ),
    Rule(
        id="an-fallback-block",
        profiles=("anthropic",),
        title="a fallback block stays where it was",
        statement="Between two runs of thinking a fallback block marks where another model took "
        "over; without it, or with it moved, the turn is refused. Some blocks before "
        "the last fallback must be left out.",
        status="docs",
        source="types of the anthropic SDK, release 2.14",
    ),
    Rule(
        id="an-container-required",
        profiles=("anthropic",),
        title="open calls of code execution need their container",
        statement="The id of the container goes along with the request while code waits for a "
        "tool; it is no part of the messages.",
        error="container_id is required when there are pending tool uses generated by code "
        "execution with tools.",
        status="inferred",
        severity="warning",
        source="recalled",
    ),
    *THINKING,
)
