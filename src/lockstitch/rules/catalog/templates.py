"""The rules of chat templates, as vLLM, llama.cpp, Ollama and LM Studio run them.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import HOME, Rule

__all__ = ["TEMPLATES"]

_PROFILE = ("chat-template",)

TEMPLATES: Final = (
    Rule(
        id="tp-alternate",
        profiles=_PROFILE,
        title="user and model take turns",
        statement="Strict templates (Llama 2, Gemma, Mistral) raise where two messages of one side "
        "follow each other. Tool rounds do not count.",
        error="Conversation roles must alternate user/assistant/user/assistant/...",
        status="issue",
        source="microsoft/autogen issue 1037; run-llama/llama_index issue 11731",
        check="roles_repeat",
        target_only=True,
        repairs=("merge", "synthesize"),
    ),
    Rule(
        id="tp-alternate-after-system",
        profiles=_PROFILE,
        title="the user speaks first",
        statement="Behind the system message, if there is one, strict templates want the user's.",
        error="After the optional system message, conversation roles must alternate user and "
        "assistant roles except for tool calls and results.",
        status="issue",
        source="mistralai/mistral-vibe issue 1006; vllm-project/vllm issue 6862",
        check="user_not_first",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="tp-system-unsupported",
        profiles=_PROFILE,
        title="no system message where the template has none",
        statement="The templates of Gemma 1 and 2 and of Mistral v0.1 know no system role.",
        error="System role not supported",
        status="issue",
        source="anomalyco/opencode issue 5034; the templates of Gemma and Mistral v0.1",
        check="system_anywhere",
        scope="no_system",
        target_only=True,
        repairs=("merge", "demote"),
    ),
    Rule(
        id="tp-no-user-query",
        profiles=_PROFILE,
        title="the user says something",
        statement="Templates like Qwen 3.5's look for a user message and raise without one, as in a "
        "window of tool rounds alone.",
        error="No user query found in messages.",
        status="issue",
        source="vllm-project/vllm issue 36432; langgenius/dify issue 33152",
        check="no_user_message",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="tp-system-first",
        profiles=_PROFILE,
        title="system messages come first",
        statement="Templates like Qwen 3.5's raise at a system message inside the list.",
        error="System message must be at the beginning.",
        status="inferred",
        severity="warning",
        source="recalled from the template",
        check="system_later",
        target_only=True,
        repairs=("demote",),
    ),
    Rule(
        id="tp-tool-orphan-gpt-oss",
        profiles=_PROFILE,
        title="a result has its call before it",
        statement="The template of gpt-oss raises at a result without a call before it.",
        error="Message has tool role, but there was no previous assistant message with a tool call!",
        status="issue",
        source="cubist38/mlx-openai-server pull request 205",
        check="orphan_result",
        scope="orphans_refused",
        repairs=HOME,
    ),
    Rule(
        id="tp-content-and-thinking-gpt-oss",
        profiles=_PROFILE,
        title="content or thinking beside calls",
        statement="The template of gpt-oss raises where a message with calls holds both.",
        error="Cannot pass both content and thinking in an assistant message with tool calls! Put "
        "the analysis message in one or the other, but not both.",
        status="issue",
        source="ggml-org/llama.cpp pull request 19702; huggingface/trl pull request 5109",
        check="content_beside_thinking",
        formats=("openai-chat",),
        scope="content_or_thinking",
        target_only=True,
        repairs=("drop",),
    ),
    Rule(
        id="tp-two-assistants-end",
        profiles=_PROFILE,
        title="no two messages of the model at the end",
        statement="llama.cpp goes on with one final message of the model, not with two.",
        error="Cannot have 2 or more assistant messages at the end of the list.",
        status="issue",
        source="NousResearch/hermes-agent pull request 80265",
        check="two_assistants_last",
        target_only=True,
        repairs=("merge",),
    ),
    Rule(
        id="tp-prefill-vs-thinking",
        profiles=_PROFILE,
        title="no final message of the model with thinking on",
        statement="A model that is to think first cannot go on with words put into its mouth.",
        error="Assistant response prefill is incompatible with enable_thinking.",
        status="issue",
        source="ggml-org/llama.cpp issues 20861 and 21889",
        check="final_assistant_thinking",
        repairs=("synthesize",),
    ),
    Rule(
        id="tp-system-images",
        profiles=_PROFILE,
        title="no images in a system message",
        statement="Templates like Qwen 3.5's raise at an image or a video in a system message.",
        error="System message cannot contain images.",
        status="issue",
        source="langgenius/dify issue 33152",
        check="media_in_system",
        target_only=True,
        repairs=("move",),
    ),
    Rule(
        id="tp-single-tool-call",
        profiles=_PROFILE,
        title="one call for each message",
        statement="Templates like Llama 3.1's raise where a message holds two calls.",
        error="This model only supports single tool-calls at once!",
        status="inferred",
        severity="warning",
        source="recalled from the template",
        check="several_calls",
        formats=("openai-chat",),
        scope="single_call",
        target_only=True,
        repairs=("move",),
    ),
)
