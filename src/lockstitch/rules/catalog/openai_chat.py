"""The rules of OpenAI Chat Completions, and of Azure, which runs the same checks.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["CHAT"]

_CHAT_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'."
)
_CHAT_ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
    "'tool_calls'."
)

CHAT: Final = (
    Rule(
        id="oc-tool-calls-answered",
        profiles=("openai-chat",),
        title="every tool call is answered",
        statement="Each id in tool_calls is answered by a tool message after it, before any other "
        "role.",
        error=_CHAT_UNANSWERED,
        status="issue",
        source="BerriAI/litellm issue 10083; aliasrobotics/cai issue 111",
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="oc-partial-parallel",
        profiles=("openai-chat",),
        title="a parallel batch is answered in full",
        statement="Answering some of the ids of one message is refused like answering none.",
        error=_CHAT_UNANSWERED + " (insufficient tool messages following tool_calls message)",
        status="issue",
        source="langgenius/dify issue 32222; agno-agi/agno issue 3105",
        check="partly_answered_batch",
        repairs=ANSWER,
    ),
    Rule(
        id="oc-tool-needs-call",
        profiles=("openai-chat",),
        title="a tool message answers a call",
        statement="Before a tool message stands the assistant message that asked for it, with "
        "nothing but tool messages between.",
        error=_CHAT_ORPHAN,
        status="issue",
        source="dimagi/open-chat-studio issue 1659; miurla/morphic issue 136",
        check="orphan_result",
        repairs=HOME,
    ),
    Rule(
        id="oc-tool-adjacent",
        profiles=("openai-chat",),
        title="nothing stands between a call and its results",
        statement="A late result is refused although both halves are there.",
        error=_CHAT_UNANSWERED,
        status="issue",
        source="QwenLM/qwen-code issue 606",
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="oc-result-before-call",
        profiles=("openai-chat",),
        title="a result comes after its call",
        statement="A result in front of its call is an orphan to the provider.",
        error=_CHAT_ORPHAN,
        status="issue",
        source="smarter-sh/smarter issue 264",
        check="result_before_call",
        repairs=("move",),
    ),
    Rule(
        id="oc-single-result",
        profiles=("openai-chat",),
        title="one tool message for each call",
        statement="A second tool message for one id is taken by some servers and refused by others.",
        status="inferred",
        severity="warning",
        source="public reports disagree",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="oc-tool-calls-empty-array",
        profiles=("openai-chat",),
        title="tool_calls is absent or holds something",
        statement="An empty tool_calls array is refused.",
        error="Invalid 'messages[2].tool_calls': empty array. Expected an array with minimum length "
        "1, but got an empty array instead.",
        status="issue",
        source="home-assistant/core pull request 118577; openai/openai-node issue 1341",
        check="empty_tool_calls",
        formats=("openai-chat",),
        repairs=("drop",),
    ),
    Rule(
        id="oc-content-null",
        profiles=("openai-chat",),
        title="content is null only beside calls",
        statement="Only an assistant message with calls (or audio, or a refusal) may have null "
        "content.",
        error="Invalid value for 'content': expected a string, got null.",
        status="issue",
        source="docker/docker-agent issue 63; run-llama/llama_index issue 17555",
        check="null_content",
        formats=("openai-chat",),
        repairs=("replace",),
    ),
)
