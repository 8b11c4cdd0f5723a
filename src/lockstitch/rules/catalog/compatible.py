"""The rules of servers that speak Chat's shape: DeepSeek, Kimi, GLM, Qwen, xAI, Groq, Cohere.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["COMPATIBLE"]

# Servers that were seen to run Chat's own checks of calls and results.
_STRICT = ("deepseek", "kimi", "qwen")
# Servers of which that is likely; GLM was seen to take a call without a result.
_LENIENT = ("cohere", "glm", "xai", "groq", "chat-template")
_EVERY = (*_STRICT, *_LENIENT, "mistral", "langchain")
_CHAT = ("openai-chat",)
_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'."
)
_QWEN = "<400> InternalError.Algo.InvalidParameter: "
_LIKELY = "as in Chat, whose shape these servers take"

COMPATIBLE: Final = (
    # --- what they share -------------------------------------------------------------------------
    Rule(
        id="cp-tool-adjacent",
        profiles=_STRICT,
        title="nothing stands between a call and its results",
        statement="A late result is refused although both halves are there.",
        error=_UNANSWERED,
        status="issue",
        source="QwenLM/qwen-code issue 606; NousResearch/hermes-agent issue 24328 (Kimi)",
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="cp-result-before-call",
        profiles=_STRICT,
        title="a result comes after its call",
        statement="A result in front of its call is one without a call to these servers.",
        error="Messages with role 'tool' must be a response to a preceding message with "
        "'tool_calls'",
        status="issue",
        source="qwersyk/Newelle issue 425; NousResearch/hermes-agent issue 24328 (Kimi)",
        check="result_before_call",
        repairs=("move",),
    ),
    Rule(
        id="cp-single-result",
        profiles=(*_STRICT, *_LENIENT),
        title="one result for each call",
        statement="A second result for one id is taken by some servers and refused by others.",
        status="inferred",
        severity="warning",
        source="public reports disagree",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="cp-likely-answered",
        profiles=_LENIENT,
        title="every call is likely to need its result",
        statement="Calls are followed by a result for each id.",
        status="inferred",
        severity="warning",
        source=_LIKELY,
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="cp-likely-call",
        profiles=("glm", "xai", "groq", "chat-template"),
        title="every result is likely to need its call",
        statement="A result answers a call before it.",
        status="inferred",
        severity="warning",
        source=_LIKELY,
        check="orphan_result",
        repairs=HOME,
    ),
    Rule(
        id="cp-likely-adjacent",
        profiles=_LENIENT,
        title="a result is likely to have to stand at its call",
        statement="Between a call and its results there is no other message.",
        status="inferred",
        severity="warning",
        source=_LIKELY,
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="cp-valid-text",
        profiles=_EVERY,
        title="text is well-formed Unicode",
        statement="No text holds half of a surrogate pair; it cannot be sent as UTF-8.",
        status="docs",
        source="JSON is sent as UTF-8, which has no half of a pair",
        check="lone_surrogate",
        repairs=("replace",),
    ),
    Rule(
        id="cp-no-messages",
        profiles=(*_STRICT, "cohere", "glm", "xai", "groq", "chat-template"),
        title="there is something to answer",
        statement="At least one message besides the system part.",
        status="docs",
        source="every server refuses an empty list",
        check="no_messages",
        repairs=("restore",),
    ),
    # --- Cohere ----------------------------------------------------------------------------------
    Rule(
        id="co-history-message",
        profiles=("cohere",),
        title="every element of the history has a message (v1)",
        statement="The v1 chat endpoint takes no element of chat_history without its message.",
        error="invalid request: all elements in history must have a message.",
        status="issue",
        source="langchain-ai/langchain-cohere pull request 15",
    ),
    Rule(
        id="co-message-and-results",
        profiles=("cohere",),
        title="a message or results (v1)",
        statement="The v1 chat endpoint takes a message or tool_results in a step, not both.",
        error="invalid request: cannot specify both message and tool_results in multistep mode",
        status="issue",
        source="cohere-ai/cohere-python issue 525",
    ),
    Rule(
        id="co-v2-tool-id",
        profiles=("cohere",),
        title="a result names a call before it (v2)",
        statement="A tool message carries the id of a call that stands before it.",
        status="inferred",
        severity="warning",
        source="the type ToolChatMessageV2 of Cohere's SDK demands the id",
        check="orphan_result",
        repairs=HOME,
    ),
    # --- DeepSeek --------------------------------------------------------------------------------
    Rule(
        id="ds-reasoning-tool-call",
        profiles=("deepseek",),
        title="calls of the current turn carry their reasoning",
        statement="In thinking mode a message with calls, in the turn that is under way, has the "
        "reasoning_content it was made with.",
        error="Missing `reasoning_content` field in the assistant message at message index 2.",
        status="docs",
        source="api-docs.deepseek.com/guides/thinking_mode; decolua/9router issue 355",
        check="call_without_reasoning_in_turn",
        formats=_CHAT,
        scope="reasoning_demanded",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="ds-v4-reasoning-all",
        profiles=("deepseek",),
        title="every message of the model carries its reasoning",
        statement="V4 in thinking mode: once tools were used, each message of the model has the "
        "field reasoning_content, if only empty.",
        error="The `reasoning_content` in the thinking mode must be passed back to the API.",
        status="issue",
        source="api-docs.deepseek.com/guides/thinking_mode; charmbracelet/crush issue 2754",
        check="turn_without_reasoning",
        formats=_CHAT,
        scope="reasoning_everywhere",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="ds-anthropic-thinking",
        profiles=("deepseek",),
        title="thinking blocks go back to the Anthropic-shaped endpoint",
        statement="In thinking mode the endpoint that takes Anthropic messages wants the thinking "
        "block of each turn of the model.",
        error="The `content[].thinking` in the thinking mode must be passed back to the API.",
        status="issue",
        source="esengine/DeepSeek-Reasonix issue 8902",
        check="thinking_absent",
        formats=("anthropic",),
        scope="reasoning_demanded",
        repairs=("restore",),
    ),
    Rule(
        id="ds-r1-reasoning-forbidden",
        profiles=("deepseek",),
        title="no reasoning in the input of R1",
        statement="The first reasoner refused reasoning_content; later models want it back.",
        status="inferred",
        severity="warning",
        source="DeepSeek's guide of 2025, recalled; superseded",
        check="reasoning_field",
        formats=_CHAT,
        scope="reasoning_refused",
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="ds-tool-unanswered",
        profiles=("deepseek",),
        title="every call is answered",
        statement="Calls are followed by a result for each id before anyone else speaks.",
        error=_UNANSWERED + " (insufficient tool messages following tool_calls message)",
        status="issue",
        source="langgenius/dify issue 32222",
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="ds-tool-orphan",
        profiles=("deepseek",),
        title="every result has its call",
        statement="A result answers a call that stands before it.",
        error="Messages with role 'tool' must be a response to a preceding message with "
        "'tool_calls'",
        status="issue",
        source="qwersyk/Newelle issue 425; FoundationAgents/OpenManus issue 744",
        check="orphan_result",
        repairs=HOME,
    ),
    # --- Kimi ------------------------------------------------------------------------------------
    Rule(
        id="ki-reasoning-tool-call",
        profiles=("kimi",),
        title="calls carry their reasoning",
        statement="With thinking on, every message with calls has its reasoning_content.",
        error="thinking is enabled but reasoning_content is missing in assistant tool call message "
        "at index 2",
        status="issue",
        source="continuedev/continue issue 11600",
        check="call_without_thoughts",
        formats=_CHAT,
        scope="reasoning_demanded",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="ki-reasoning-ignored",
        profiles=("kimi",),
        title="reasoning of older turns is not read",
        statement="K2.6 passes over the reasoning of older turns unless thinking.keep is all, so "
        "that it may go first.",
        status="docs",
        severity="warning",
        source="platform.moonshot.ai, guide to the thinking models",
    ),
    Rule(
        id="ki-tool-unanswered",
        profiles=("kimi",),
        title="every call is answered",
        statement="Calls are followed by a result for each id before anyone else speaks.",
        error="an assistant message with 'tool_calls' must be followed by tool messages responding "
        "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
        "Shell:58",
        status="issue",
        source="MoonshotAI/kimi-cli issue 1977",
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="ki-tool-orphan",
        profiles=("kimi",),
        title="every result has its call",
        statement="A result answers a call that stands before it.",
        error="Invalid request: messages with role 'tool' must be a response to a preceeding "
        "message with 'tool_calls'",
        status="issue",
        source="NousResearch/hermes-agent issue 24328",
        check="orphan_result",
        repairs=HOME,
    ),
    # --- GLM -------------------------------------------------------------------------------------
    Rule(
        id="gl-no-user",
        profiles=("glm",),
        title="the user says something",
        statement="A list without any user message is refused, as a window of tool rounds alone.",
        error="The messages parameter is illegal. Please check the documentation. (code 1214)",
        status="issue",
        source="anomalyco/opencode issue 2557; MetaGLM/zhipuai-sdk-python-v4 issue 14",
        check="no_user_message",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="gl-empty-assistant",
        profiles=("glm",),
        title="a message of the model has content or calls",
        statement="Content and tool_calls may not both be empty.",
        error="messages[4]:content和tool_calls 字段不能同时为空 (code 1214)",
        status="issue",
        source="AgentEra/Agently issue 76",
        check="neither_content_nor_calls",
        repairs=("drop", "replace"),
    ),
    # --- Qwen ------------------------------------------------------------------------------------
    Rule(
        id="qw-arguments-json",
        profiles=("qwen",),
        title="arguments are JSON",
        statement="The arguments of every call in the history can be read as JSON; one call that "
        "was cut short spoils the session.",
        error=_QWEN
        + 'The "function.arguments" parameter of the code model must be in JSON format.',
        status="issue",
        source="HKUDS/nanobot issues 1487 and 2469",
        check="arguments_not_json",
        formats=("openai-chat", "mistral"),
        repairs=("replace",),
    ),
    Rule(
        id="qw-tool-unanswered",
        profiles=("qwen",),
        title="every call is answered",
        statement="Calls are followed by a result for each id before anyone else speaks.",
        error=_QWEN + 'An assistant message with "tool_calls" must be followed by tool messages '
        'responding to each "tool_call_id".',
        status="issue",
        source="QwenLM/qwen-code issue 606",
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="qw-tool-orphan",
        profiles=("qwen",),
        title="every result has its call",
        statement="A result answers a call that stands before it.",
        error=_QWEN + 'messages with role "tool" must be a response to a preceeding message with '
        '"tool_calls".',
        status="issue",
        source="langchain-ai/langgraph-supervisor-py issue 122",
        check="orphan_result",
        repairs=HOME,
    ),
    # --- xAI and Groq ----------------------------------------------------------------------------
    Rule(
        id="xa-empty-content",
        profiles=("xai",),
        title="every message has content",
        statement='Content that is null, an empty list or not there is refused; "" is taken.',
        error="Invalid request content: Each message must have at least one content element.",
        status="issue",
        source="langchain-ai/langchain issue 34140; AstrBotDevs/AstrBot pull request 6551",
        check="content_missing",
        formats=_CHAT,
        target_only=True,
        repairs=("replace",),
    ),
    Rule(
        id="gr-reasoning-unsupported",
        profiles=("groq",),
        title="no reasoning_content in the input",
        statement="Keys that Groq does not know are refused, reasoning_content among them.",
        error="'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : "
        "property 'reasoning_content' is unsupported)]",
        status="issue",
        source="janhq/jan issue 8136; vercel/ai pull request 8057",
        check="reasoning_field",
        formats=_CHAT,
        target_only=True,
        repairs=("drop",),
    ),
)
