"""The rules of OpenAI: Chat Completions and Responses.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["CHAT", "RESPONSES"]

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
RESPONSES: Final = (
    Rule(
        id="or-call-needs-output",
        profiles=("openai-responses",),
        title="every function call has its output",
        statement="A function_call needs a function_call_output with its call_id before the model "
        "runs.",
        error="No tool output found for function call call_….",
        status="issue",
        source="openai/codex issue 620; RooCodeInc/Roo-Code issue 12248",
        check="unanswered_function",
        repairs=ANSWER,
    ),
    Rule(
        id="or-output-needs-call",
        profiles=("openai-responses",),
        title="every output has its call",
        statement="The call_id of an output belongs to a call earlier in the input, or in what the "
        "server holds.",
        error="No tool call found for function call output with call_id ….",
        status="issue",
        source="continuedev/continue issue 10092; vellum-ai/vellum-assistant pull request 39909",
        check="orphan_result",
        repairs=HOME,
    ),
    Rule(
        id="or-computer-call-needs-output",
        profiles=("openai-responses",),
        title="every computer call has its output",
        statement="A computer_call needs a computer_call_output with its call_id.",
        error="No tool output found for computer call call_….",
        status="issue",
        source="Azure-Samples/computer-use issue 22",
        check="unanswered_computer",
        repairs=("restore", "drop"),
    ),
    Rule(
        id="or-custom-tool-pair",
        profiles=("openai-responses",),
        title="every custom tool call has its output",
        statement="A custom_tool_call needs a custom_tool_call_output with its call_id.",
        error="No tool output found for custom tool call call_…",
        status="inferred",
        severity="warning",
        source="the same family of checks as for function calls",
        check="unanswered_custom",
        repairs=ANSWER,
    ),
    Rule(
        id="or-shell-pair",
        profiles=("openai-responses",),
        title="every shell or patch call has its output",
        statement="shell_call and apply_patch_call pair with their outputs by call_id.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57",
        check="unanswered_shell",
        repairs=ANSWER,
    ),
    Rule(
        id="or-local-shell-pair-key",
        profiles=("openai-responses",),
        title="every local shell call has its output",
        statement="A local_shell_call_output names its call in `id`, not in `call_id`.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57",
        check="unanswered_local_shell",
        repairs=ANSWER,
    ),
    Rule(
        id="or-single-output",
        profiles=("openai-responses",),
        title="one output for each call",
        statement="A second output for one call answers nothing.",
        status="inferred",
        severity="warning",
        source="public reports disagree",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="or-reasoning-needs-following",
        profiles=("openai-responses", "portable"),
        title="reasoning is followed by the item it led to",
        statement="A reasoning item stands directly before an item of the same response.",
        error="Item 'rs_…' of type 'reasoning' was provided without its required following item.",
        status="issue",
        source="vercel/ai issue 7099; openai/openai-node issue 1567",
        check="lone_reasoning",
        formats=("openai-responses",),
        repairs=("restore", "drop"),
    ),
    Rule(
        id="or-duplicate-item",
        profiles=("openai-responses",),
        title="an item id appears once",
        statement="The same item is not sent twice.",
        error="Duplicate item found with id rs_…. Remove duplicate items from your input and try "
        "again.",
        status="issue",
        source="vercel/ai pull request 15492; openai/openai-agents-js issue 425",
        check="duplicate_item",
        formats=("openai-responses",),
        repairs=("drop",),
    ),
    Rule(
        id="or-approval-needs-request",
        profiles=("openai-responses", "portable"),
        title="an approval answers a request",
        statement="An mcp_approval_response answers a request in the input or in what the server "
        "holds.",
        status="inferred",
        severity="warning",
        source="types of the openai SDK, release 3.57; praxis-proxy/ai issue 637",
        check="orphan_approval",
        repairs=("restore", "drop"),
    ),
)
