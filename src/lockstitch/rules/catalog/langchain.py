"""The rules of LangChain and LangGraph: what the frameworks themselves refuse, or do in silence.

Data: no code here but the values. What each field means is said in `rule`.
"""

from __future__ import annotations

from typing import Final

from lockstitch.rules.rule import ANSWER, HOME, Rule

__all__ = ["LANGCHAIN"]

_RUN = "the frameworks, run offline"
_CHAT = ("openai-chat",)

LANGCHAIN: Final = (
    Rule(
        id="lc-invalid-chat-history",
        profiles=("langchain",),
        title="every call is answered somewhere",
        statement="The prebuilt agents of LangGraph refuse a call whose id no ToolMessage names. "
        "Order and orphans are not looked at.",
        error="Found AIMessages with tool_calls that do not have a corresponding ToolMessage.",
        status="code",
        source=_RUN,
        check="call_answered_nowhere",
        repairs=ANSWER,
    ),
    Rule(
        id="lc-message-coercion",
        profiles=("langchain",),
        title="a message dict has role and content",
        statement="A dict is taken for a message only with a known role and the key content.",
        error="Message dict must contain 'role' and 'content' keys, got {'role': 'user'} "
        "(MESSAGE_COERCION_FAILURE)",
        status="code",
        source=_RUN,
        check="incomplete_message",
        formats=_CHAT,
        repairs=("replace",),
    ),
    Rule(
        id="lc-tool-id-missing",
        profiles=("langchain",),
        title="a result names its call",
        statement="A dict of role tool cannot be loaded without tool_call_id.",
        error="KeyError: 'tool_call_id'",
        status="code",
        source=_RUN,
        check="result_without_id",
        formats=(*_CHAT, "langchain"),
        repairs=HOME,
    ),
    Rule(
        id="lc-arguments-json",
        profiles=("langchain",),
        title="arguments are JSON",
        statement="A dict whose call has arguments that are no JSON cannot be loaded.",
        error="JSONDecodeError: Expecting property name enclosed in double quotes",
        status="code",
        source=_RUN,
        check="arguments_not_json",
        formats=_CHAT,
        repairs=("replace",),
    ),
    Rule(
        id="lc-google-drops-orphans",
        profiles=("langchain",),
        title="the Google adapter drops what it cannot place",
        statement="langchain-google-genai leaves out a ToolMessage without its call, and a "
        "SystemMessage inside the list, and says nothing. Repair before handing over.",
        status="code",
        source=_RUN,
        severity="warning",
    ),
    Rule(
        id="lc-system-hoisted",
        profiles=("langchain",),
        title="adapters move later system messages to the top",
        statement="langchain-anthropic and langchain-aws join every SystemMessage at the top, so a "
        "later one loses its place.",
        status="code",
        source=_RUN,
        severity="warning",
    ),
    Rule(
        id="lc-orphans-pass-through",
        profiles=("langchain",),
        title="adapters pass damage on",
        statement="langchain-anthropic and langchain-aws convert results without calls, and calls "
        "without results, as they are; the provider refuses them. Check against its profile.",
        error="(the provider's)",
        status="code",
        source=_RUN,
        severity="warning",
    ),
    Rule(
        id="lc-trim-messages-orphans",
        profiles=("langchain",),
        title="trim_messages cuts tool rounds apart",
        statement="With strategy last and no start_on, its windows may begin with a ToolMessage.",
        error="(the provider's)",
        status="code",
        source=_RUN,
        severity="warning",
    ),
)
