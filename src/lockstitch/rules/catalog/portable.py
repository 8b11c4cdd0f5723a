"""The rules that hold for every provider.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["PORTABLE"]


PORTABLE: Final = (
    Rule(
        id="po-call-answered",
        profiles=("portable",),
        title="every call has its result",
        statement="A call is followed by a result before the conversation goes on.",
        status="docs",
        source="common to every provider's rules in this catalogue",
        check="unanswered_call",
        repairs=ANSWER,
    ),
    Rule(
        id="po-result-has-call",
        profiles=("portable",),
        title="every result has its call",
        statement="A result answers a call that stands before it.",
        status="docs",
        source="common to every provider's rules in this catalogue",
        check="orphan_result",
        repairs=HOME,
    ),
    Rule(
        id="po-result-adjacent",
        profiles=("portable",),
        title="a result stands right after its call",
        statement="Between a call and its result there are only results of the same turn.",
        status="docs",
        source="the strictest of Chat Completions, Messages, Gemini and Converse",
        check="displaced_result",
        repairs=("move",),
    ),
    Rule(
        id="po-single-result",
        profiles=("portable",),
        title="one result for each call",
        statement="A call is answered once.",
        status="docs",
        source="Messages, Converse and Gemini count results against calls",
        check="duplicate_result",
        repairs=("merge", "drop"),
    ),
    Rule(
        id="po-starts-with-user",
        profiles=("portable",),
        title="the conversation starts with a user message",
        statement="The first message after the system part is a user's.",
        status="docs",
        source="Bedrock Converse, Gemini, strict chat templates",
        check="first_not_user",
        repairs=("restore", "synthesize"),
    ),
    Rule(
        id="po-not-empty",
        profiles=("portable",),
        title="no empty message",
        statement="Every message holds something: visible text, a call, a result, media.",
        status="docs",
        source="Anthropic, Bedrock, Gemini and xAI refuse empty or blank messages",
        check="empty_message",
        repairs=("drop",),
    ),
    Rule(
        id="po-valid-text",
        profiles=("portable", "openai-chat", "openai-responses", "anthropic"),
        title="text is well-formed Unicode",
        statement="No text holds half of a surrogate pair; it cannot be sent as UTF-8.",
        error="The request body is not valid JSON: no low surrogate in string",
        status="issue",
        source="anomalyco/opencode pull request 17758",
        check="lone_surrogate",
        repairs=("replace",),
    ),
    Rule(
        id="po-no-messages",
        profiles=("portable", "openai-chat", "openai-responses"),
        title="there is something to answer",
        statement="At least one message besides the system part.",
        status="docs",
        source="every provider refuses an empty list; Gemini and Bedrock a system part alone",
        check="no_messages",
        repairs=("restore",),
    ),
)
