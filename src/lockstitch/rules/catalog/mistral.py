"""The rules of Mistral.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["MISTRAL"]

_CODE = "mistral-common, request validator (run offline)"
_COUNT = "Not the same number of function calls and responses"
_ONE_OF = "Assistant message must have either content or tool_calls, but not both."
_SHAPE = ("openai-chat", "mistral")

MISTRAL: Final = (
    Rule(
        id="mi-last-role",
        profiles=("mistral",),
        title="the user or a tool has the last word",
        statement="The list ends with a user message or a result, or with a message of the model "
        "marked prefix, which it goes on with.",
        error="Expected last role User or Tool (or Assistant with prefix True) for serving but got "
        "assistant",
        status="issue",
        source="huggingface/smolagents issue 757; langchain-ai/langchain issue 23703",
        check="model_speaks_last",
        repairs=("synthesize",),
    ),
    Rule(
        id="mi-user-after-tool",
        profiles=("mistral",),
        title="the model speaks between a result and the user",
        statement="The hosted API takes no user message right behind a result; the open validator "
        "does.",
        error="Unexpected role 'user' after role 'tool' (type invalid_request_message_order, code "
        "3230)",
        status="issue",
        source="datapizza-labs/datapizza-ai issue 98; BerriAI/litellm issue 6323",
        check="user_after_result",
        formats=(*_SHAPE, "langchain"),
        repairs=("synthesize",),
    ),
    Rule(
        id="mi-tool-after-user",
        profiles=("mistral",),
        title="a result follows the model or another result",
        statement="A result behind a user message or the system part is refused.",
        error="Unexpected role 'tool' after role 'user' (code 3230)",
        status="issue",
        source="charmbracelet/crush issue 279; " + _CODE,
        check="result_after_user",
        repairs=HOME,
    ),
    Rule(
        id="mi-tool-adjacent",
        profiles=("mistral",),
        title="results stand at their calls",
        statement="Results are counted between one message of the model and the next; one that "
        "comes later is missing at its call and too many where it stands.",
        error=_COUNT,
        status="code",
        source=_CODE,
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="mi-result-before-call",
        profiles=("mistral",),
        title="a result comes after its call",
        statement="A result in front of its call is counted against the message before it.",
        error=_COUNT,
        status="code",
        source=_CODE,
        check="result_before_call",
        repairs=("move",),
    ),
    Rule(
        id="mi-single-result",
        profiles=("mistral",),
        title="one result for each call",
        statement="A second result for a call makes more results than calls.",
        error=_COUNT,
        status="code",
        source=_CODE,
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="mi-surplus-result",
        profiles=("mistral",),
        title="no more results than calls",
        statement="Results behind a message of the model are as many as its calls.",
        error=_COUNT,
        status="code",
        source=_CODE,
        check="surplus_result",
        repairs=HOME,
    ),
    Rule(
        id="mi-count",
        profiles=("mistral",),
        title="as many results as calls",
        statement="Each call of a message has its result before the model speaks again.",
        error=_COUNT,
        status="issue",
        source="mistralai/client-ts issue 106; " + _CODE,
        check="results_counted",
        repairs=ANSWER,
    ),
    Rule(
        id="mi-id-9",
        profiles=("mistral",),
        title="ids of calls are nine letters and digits",
        statement="The id of a call has exactly nine characters of a-z, A-Z and 0-9.",
        error="Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9. (type "
        "invalid_function_call, code 3280)",
        status="issue",
        source="editor-code-assistant/eca issue 233; karthink/gptel issue 1203; " + _CODE,
        check="misshapen_id",
        target_only=True,
        repairs=("rename",),
    ),
    Rule(
        id="mi-system-mid",
        profiles=("mistral",),
        title="no system message behind the model or a result",
        statement="A system message opens the list or follows a system or user message.",
        error="Unexpected role 'system' after role 'assistant'",
        status="code",
        source=_CODE,
        check="system_inside",
        target_only=True,
        repairs=("demote",),
    ),
    Rule(
        id="mi-start",
        profiles=("mistral",),
        title="no result opens the list",
        statement="A list starts with a user or system message.",
        error="Conversation must start with a user message or system message",
        status="code",
        source=_CODE,
        check="leading_result",
        repairs=HOME,
    ),
    Rule(
        id="mi-start-calls",
        profiles=("mistral",),
        title="no call opens the list",
        statement="The calls of the very first message are not counted, so its results are too "
        "many.",
        error=_COUNT,
        status="code",
        source=_CODE,
        check="opens_with_calls",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="mi-empty-assistant",
        profiles=("mistral",),
        title="a message of the model says something",
        statement="Tokenizers up to v3: a message of the model has content or calls.",
        error=_ONE_OF,
        status="code",
        source=_CODE,
        check="neither_content_nor_calls",
        scope="content_or_calls",
        repairs=("drop", "replace"),
    ),
    Rule(
        id="mi-content-and-calls",
        profiles=("mistral",),
        title="no text beside calls",
        statement="Tokenizers up to v3: a message of the model has content or calls, not both.",
        error=_ONE_OF,
        status="code",
        source=_CODE,
        check="content_beside_calls",
        formats=_SHAPE,
        scope="content_or_calls",
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="mi-duplicate-id",
        profiles=("mistral",),
        title="ids in one message differ",
        statement="Tokenizers from v13 on: no two calls of a message share an id.",
        error="Duplicate tool call id abcdefghi in assistant message",
        status="code",
        source=_CODE,
        check="repeated_id_in_turn",
        scope="ids_checked",
        repairs=("rename",),
    ),
    Rule(
        id="mi-unknown-id",
        profiles=("mistral",),
        title="a result names a call of the message before it",
        statement="Tokenizers from v13 on look at the ids; earlier ones only count.",
        error="Unexpected tool call id zzzzzzzzz in tool results",
        status="code",
        source=_CODE,
        check="unknown_result",
        scope="ids_checked",
        disputed=True,
        repairs=HOME,
    ),
    Rule(
        id="mi-empty",
        profiles=("mistral",),
        title="there is a message",
        statement="The list holds at least one message.",
        error="Conversation must have at least one message",
        status="code",
        source=_CODE,
        check="no_messages",
        repairs=("restore",),
    ),
)
