"""Profiles: the acceptance rules of one target, as far as they bear on decisions. Data.

Knows: what each target demands of a window's first message, of the distance between a call and its
result, and of what must stay together. The rules themselves, with texts and sources, are in
`catalog`; a rule names the profiles that it belongs to.

Must not know: formats, checks.
"""

from __future__ import annotations

from typing import Final

import msgspec

from lockstitch.rules.ids import FREE, IdShape

__all__ = ["PROFILES", "Profile", "get_profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The acceptance rules of one target.

    Args:
        name: how it is asked for.
        title: what it stands for.
        start: `user` where the first message after the system part must be a user's, else `any`.
        adjacency: how close a result must stand to its call: `message` (only other results
            between), `run` (only other results between the joined assistant turn and it), or
            `order` (anywhere after it).
        whole_response: all items of one response are kept or dropped together.
        bound_system: a system message inside the list is bound to its neighbours.
        sealed_turns: the thinking of a turn goes back as it was issued, with all that was sealed
            beside it, so a repair looks after what it may have unbound.
        ids: what the id of a call may be.
        parted: the sides (`user`, `assistant`) of which a cut must not put two turns beside each
            other that something parted: two user turns, two turns of the model.
        end: `user` where the last message must be a user's or a result, else `any`.
        current_turn: more is demanded behind the newest user message than before it, so that a cut
            must not take it from between the two.
        rounds_apart: tool rounds (messages with calls, results) are no turns of either side.
        answers_results: the model must speak between a result and the user's next message.
    """

    name: str
    title: str
    start: str = "any"
    adjacency: str = "message"
    whole_response: bool = False
    bound_system: bool = False
    sealed_turns: bool = False
    ids: IdShape = FREE
    parted: tuple[str, ...] = ()
    end: str = "any"
    current_turn: bool = False
    rounds_apart: bool = False
    answers_results: bool = False


PROFILES: Final[dict[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile(
            name="portable",
            title="what every provider accepts",
            start="user",
            bound_system=True,
        ),
        Profile(name="openai-chat", title="OpenAI Chat Completions", ids=IdShape(most=40)),
        Profile(name="azure", title="Azure OpenAI Chat Completions", ids=IdShape(most=40)),
        Profile(
            name="openai-responses",
            title="OpenAI Responses",
            adjacency="order",
            whole_response=True,
            ids=IdShape(most=64),
        ),
        Profile(
            name="anthropic",
            title="Anthropic Messages",
            adjacency="run",
            bound_system=True,
            sealed_turns=True,
            ids=IdShape("a-zA-Z0-9_-", 1, 64),
        ),
        Profile(
            name="gemini",
            title="Gemini generateContent",
            start="user",
            adjacency="run",
            # User contents are joined; a call must come right behind a user turn or a response.
            parted=("assistant",),
            end="user",
            current_turn=True,
        ),
        Profile(
            name="bedrock",
            title="Bedrock Converse",
            start="user",
            ids=IdShape("a-zA-Z0-9_.:-", 1, 64),
            parted=("user", "assistant"),
            end="user",
        ),
        Profile(
            name="mistral",
            title="Mistral",
            start="user",
            ids=IdShape("a-zA-Z0-9", 9, 9),
            bound_system=True,
            end="user",
            answers_results=True,
        ),
        Profile(name="cohere", title="Cohere, in Chat's shape"),
        Profile(name="deepseek", title="DeepSeek"),
        Profile(name="kimi", title="Kimi (Moonshot)"),
        Profile(name="glm", title="GLM (Zhipu, Z.ai)", start="user"),
        Profile(name="qwen", title="Qwen (DashScope)"),
        Profile(name="xai", title="xAI"),
        Profile(name="groq", title="Groq"),
        Profile(
            name="chat-template",
            title="chat templates: vLLM, llama.cpp, Ollama, LM Studio",
            start="user",
            parted=("user", "assistant"),
            end="user",
            rounds_apart=True,
        ),
        Profile(name="langchain", title="LangChain and LangGraph", adjacency="order"),
    )
}


def get_profile(name: str) -> Profile:
    """Return a profile by its name.

    Raises:
        ValueError: no profile has that name.

    >>> get_profile("portable").start
    'user'
    """
    try:
        return PROFILES[name]
    except (KeyError, TypeError):
        known = ", ".join(PROFILES)
        raise ValueError(f"no profile is called {name!r}; there are: {known}") from None
