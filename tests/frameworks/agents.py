"""Real agents of agent-framework over a model that is a script: tools, reasoning, approvals.

A turn is one user message, `kind number`. What the model does with it follows from the kind:

| kind | the model |
|---|---|
| `say` | answers |
| `call` | calls one tool, then answers |
| `both` | calls two tools at once, then answers |
| `think` | thinks and calls, thinks and calls again, then answers |
| `ask` | calls a tool that needs a yes of the user; `refuse` gets a no |
"""

from __future__ import annotations

import asyncio
import itertools

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

KINDS = ("say", "call", "both", "think", "ask", "say", "refuse")


@tool
def look_up(q: str) -> str:
    """Look something up."""
    return f"found {q}"


@tool(approval_mode="always_require")
def pay(amount: str) -> str:
    """Pay an amount."""
    return f"paid {amount}"


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that does what the turn says; it keeps every request as it saw it."""

    def __init__(self, name="m", pause=None):
        super().__init__()
        self.requests = []
        self._name = name
        self._ids = itertools.count(1)
        self._pause = pause

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        assert not stream
        return self._answer(list(messages))

    async def _answer(self, messages):
        self.requests.append([message.to_dict() for message in messages])
        if self._pause is not None:
            await asyncio.sleep(self._pause())
        contents = list(self._said(messages))
        return ChatResponse(messages=[Message("assistant", contents)])

    def _said(self, messages):
        asked = next(
            at
            for at in range(len(messages) - 1, -1, -1)
            if messages[at].role == "user" and messages[at].text
        )
        kind, _, number = messages[asked].text.partition(" ")
        rounds = sum(
            any(content.type == "function_result" for content in message.contents)
            for message in messages[asked + 1 :]
        )
        if kind == "think" and rounds < 2:
            yield self._thought(f"hm {number}")
            yield self._call("look_up", q=f"{number}-{rounds}")
        elif kind == "call" and not rounds:
            yield self._call("look_up", q=number)
        elif kind == "both" and not rounds:
            yield self._call("look_up", q=f"{number}-a")
            yield self._call("look_up", q=f"{number}-b")
        elif kind in {"ask", "refuse"} and not rounds:
            yield self._call("pay", amount=number)
        else:
            yield Content.from_text("ok")

    def _thought(self, text):
        return Content.from_text_reasoning(
            id=f"rs_{self._name}{next(self._ids)}", text=text, protected_data="gAAAAA"
        )

    def _call(self, name, **arguments):
        return Content.from_function_call(
            call_id=f"call_{self._name}{next(self._ids)}", name=name, arguments=arguments
        )


def agent_of(client, *providers, per_call=False, name="clerk"):
    return Agent(
        client,
        "You keep shop.",
        name=name,
        tools=[look_up, pay],
        context_providers=providers,
        require_per_service_call_history_persistence=per_call,
    )


async def turn(agent, session, kind, number):
    """One turn, with what the user says to a request for approval."""
    answer = await agent.run(f"{kind} {number}", session=session)
    while answer.user_input_requests:
        said = [
            one.to_function_approval_response(kind == "ask") for one in answer.user_input_requests
        ]
        answer = await agent.run(Message("user", said), session=session)
    return answer
