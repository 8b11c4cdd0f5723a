"""The repairers of the second validity table: from a broken history to what they make of it.

Each is the function with which a library mends a history that it loads or is about to send, called
on the history in the library's own shape. What is read off its result: skeletons for the judge, the
marks that are still there, and the marks that a report names as lost.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import convert
import peers
import shapes
import trimmers
from convert import Chat
from judge import Skeleton
from short_histories import marks


@dataclass(frozen=True, slots=True)
class Mended:
    """What came back: the messages as skeletons, what is in them, and what was said to be lost."""

    messages: list[Skeleton]
    kept: set[str]
    reported: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Repairer:
    """One row of the table."""

    key: str
    label: str
    package: str
    repair: Callable[[list[Chat]], Mended]
    says: str = "nothing"
    items: bool = False
    place: str = "validity"


def _nothing(chat: list[Chat]) -> Mended:
    return Mended(convert.chat_skeletons(chat), marks(chat))


def _ours(chat: list[Chat], profile: str) -> Mended:
    done = peers.ours().repair(chat, profile=profile)
    return Mended(convert.chat_skeletons(done.messages), marks(done.messages), _said(done))


def _ours_responses(chat: list[Chat]) -> Mended:
    done = peers.ours().repair(shapes.to_responses(chat), profile="openai-responses")
    kept = marks(done.messages) | _system(chat)
    return Mended(shapes.responses_skeletons(done.messages), kept, _said(done))


def _said(done: Any) -> set[str]:
    """The marks of what the report names as dropped or replaced, with what stood there before."""
    return marks([change.before for change in done.changes if change.kind in {"drop", "replace"}])


def _litellm(chat: list[Chat]) -> Mended:
    import litellm
    from litellm.litellm_core_utils.prompt_templates.factory import (
        sanitize_messages_for_tool_calling,
    )

    litellm.modify_params = True
    done = sanitize_messages_for_tool_calling(copy.deepcopy(chat))
    return Mended(convert.chat_skeletons(done), marks(done))


def _pydantic(chat: list[Chat]) -> Mended:
    from pydantic_ai.messages import repair_messages

    done = repair_messages(shapes.to_pydantic(chat))
    return Mended(shapes.pydantic_skeletons(done), marks(done))


def _deepagents(chat: list[Chat]) -> Mended:
    from deepagents.middleware.patch_tool_calls import PatchToolCallsMiddleware

    messages = convert.to_langchain(chat)
    changed = PatchToolCallsMiddleware().before_agent({"messages": messages}, None)
    done = messages if changed is None else changed["messages"][1:]
    return Mended(convert.langchain_skeletons(done), marks(done))


def _strands(chat: list[Chat]) -> Mended:
    from strands.session.repository_session_manager import RepositorySessionManager

    # A private method of the session manager, which it calls on what it loads.
    mend = RepositorySessionManager._fix_broken_tool_use  # noqa: SLF001
    done = mend(None, convert.to_bedrock(chat))
    return Mended(convert.bedrock_skeletons(done), marks(done) | _system(chat))


def _drop_orphans(chat: list[Chat]) -> Mended:
    from agents.run_internal.items import drop_orphan_function_calls

    items = shapes.to_responses(chat)
    every = set(range(len(items)))
    done = drop_orphan_function_calls(items, pruning_indexes=every, output_pruning_indexes=every)
    return Mended(shapes.responses_skeletons(done), marks(done) | _system(chat))


def _session(chat: list[Chat]) -> Mended:
    done = trimmers.run_with_session(chat, "go on", None)
    return Mended(shapes.responses_skeletons(done), marks(done) | _system(chat))


def _system(chat: list[Chat]) -> set[str]:
    """The marks of what the shape holds outside the list."""
    return marks([message for message in chat if message["role"] == "system"])


REPORT = "every change, before and after"
LOGGED = "a warning in the log"

REPAIRERS: Sequence[Repairer] = (
    Repairer("nothing", "nothing done", "", _nothing),
    Repairer("ours", "**lockstitch** `repair`", "lockstitch",
             partial(_ours, profile="portable"), REPORT),
    Repairer("ours-chat", '... `profile="openai-chat"`', "lockstitch",
             partial(_ours, profile="openai-chat"), REPORT),
    Repairer("litellm", "litellm `sanitize_messages_for_tool_calling`", "litellm", _litellm,
             "a debug or warning log line"),
    Repairer("pydantic", "pydantic-ai `repair_messages`", "pydantic-ai-slim", _pydantic,
             "a mark on what it made up"),
    Repairer("deepagents", "deepagents `PatchToolCallsMiddleware`", "deepagents", _deepagents),
    Repairer("strands", "strands session repair", "strands-agents", _strands, LOGGED),
    Repairer("ours-responses", '**lockstitch** `profile="openai-responses"`', "lockstitch",
             _ours_responses, REPORT, items=True),
    Repairer("openai-agents", "openai-agents `drop_orphan_function_calls`",
             "openai-agents", _drop_orphans, items=True),
    Repairer("openai-agents-session", "openai-agents session through `Runner`",
             "openai-agents", _session, items=True),
)  # fmt: skip
