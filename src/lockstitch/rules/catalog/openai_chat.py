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
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
        title="one tool message for each call",
        statement="A second tool message for one id is taken by some servers and refused by others.",
        status="inferred",
        severity="warning",
        source="public reports disagree",
        check="duplicate_result",
        disputed=True,
        repairs=("merge", "drop"),
    ),
    Rule(
        id="oc-tool-calls-empty-array",
        profiles=("openai-chat", "azure"),
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
        profiles=("openai-chat", "azure"),
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
    Rule(
        id="oc-tool-call-id-length",
        profiles=("openai-chat", "azure"),
        title="a call id has 40 characters at most",
        statement="Neither the id of a call nor the tool_call_id that answers it is longer than 40 "
        "characters. One maintainer could not reproduce the refusal in 2026.",
        error="Invalid 'messages[68].tool_calls[0].id': string too long. Expected a string with "
        "maximum length 40, but got a string with length 46 instead.",
        status="issue",
        source="anomalyco/opencode issue 12653; Portkey-AI/gateway issue 1062",
        check="misshapen_id",
        formats=("openai-chat",),
        target_only=True,
        repairs=("rename",),
    ),
    Rule(
        id="oc-tool-calls-max-128",
        profiles=("openai-chat", "azure"),
        title="a message holds 128 calls at most",
        statement="An array of more than 128 tool_calls is refused.",
        error="Invalid 'messages[2].tool_calls': array too long. Expected an array with maximum "
        "length 128, but got an array with length 200 instead.",
        status="issue",
        source="openai/openai-dotnet issue 317",
        check="large_batch",
        formats=("openai-chat",),
        target_only=True,
        repairs=("move",),
    ),
    Rule(
        id="oc-arguments-string",
        profiles=("openai-chat", "azure"),
        title="arguments are JSON text",
        statement="The arguments of a function are a string that holds JSON, not an object.",
        status="code",
        source="type ChatCompletionMessageFunctionToolCallParam of the openai SDK",
        check="arguments_not_text",
        formats=("openai-chat",),
        target_only=True,
        repairs=("replace",),
    ),
    Rule(
        id="oc-tool-message-images",
        profiles=("openai-chat", "azure"),
        title="images stand in user messages",
        statement="A tool message holds text; an image that a tool returned is shown in a user "
        "message behind the results of its batch.",
        error="Image URLs are only allowed for messages with role 'user'",
        status="code",
        source="BerriAI/litellm, which moves images out of tool messages",
        check="media_in_result",
        formats=("openai-chat",),
        target_only=True,
        repairs=("move",),
    ),
    Rule(
        id="oc-audio-some-models",
        profiles=("openai-chat", "azure"),
        title="no sound for models that do not take it",
        statement="A model that does not listen refuses sound. It was recorded for sound that a tool "
        "had returned, in the user message after its result.",
        error="Invalid 'messages[3]'. Content blocks are expected to be either text or image_url "
        "type.",
        status="issue",
        source="a recorded request to gpt-5-mini, pydantic/pydantic-ai "
        "test_multimodal_tool_return_matrix",
        check="audio_refused",
        formats=("openai-chat",),
        scope="no_audio",
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="oc-system-role-some-models",
        profiles=("openai-chat", "azure"),
        title="some models refuse the role system",
        statement="Early reasoning models take no system message: developer says the same, or the "
        "user.",
        error="Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        status="issue",
        source="a recorded request to o1-mini, pydantic/pydantic-ai test_openai_o1_mini_system_role",
        check="system_refused",
        formats=("openai-chat",),
        scope="no_system",
        target_only=True,
        repairs=("replace", "demote"),
    ),
    Rule(
        id="oc-developer-role-some-models",
        profiles=("openai-chat", "azure"),
        title="some models refuse the role developer",
        statement="The first reasoning models take neither system nor developer messages.",
        error="Unsupported value: 'messages[0].role' does not support 'developer' with this model.",
        status="issue",
        source="a recorded request to o1-mini, pydantic/pydantic-ai test_openai_o1_mini_system_role",
        check="developer_refused",
        formats=("openai-chat",),
        scope="no_developer",
        target_only=True,
        repairs=("demote",),
    ),
    Rule(
        id="oc-context-length",
        profiles=("openai-chat", "azure"),
        title="the whole request fits the model",
        statement="A request of more tokens than the model takes is refused, not cut.",
        error="This model's maximum context length is 4097 tokens. However, your messages resulted "
        "in 4822 tokens. Please reduce the length of the messages.",
        status="issue",
        source="Significant-Gravitas/AutoGPT issue 3892",
    ),
    Rule(
        id="oc-reused-id",
        profiles=("openai-chat", "azure"),
        title="an id is used by one call",
        statement="OpenAI pairs round by round and takes an id again for a later call. Stricter "
        "servers behind the same format do not.",
        status="inferred",
        severity="warning",
        source="MetaGLM/zhipuai-sdk-python-v4 issue 14; accepted in recorded runs of tau-bench",
        check="reused_id",
    ),
    Rule(
        id="az-same-validator",
        profiles=("openai-chat", "azure"),
        title="Azure refuses what OpenAI refuses",
        statement="Azure runs the same checks and answers with the same texts. Encrypted content "
        "does not move between the two.",
        error=_CHAT_UNANSWERED,
        status="issue",
        source="Azure-Samples/computer-use issue 22; Portkey-AI/gateway issue 1062",
        # The rules above are the errors; this one says beside them that they hold at Azure.
        check="unanswered_too",
        formats=("openai-chat",),
    ),
)
