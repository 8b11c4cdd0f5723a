"""An agent of sixty turns with thinking and tools, on a model that binds thinking to its prefix.

The server refuses a thinking block that stands behind other messages than those it was made from.
The agent keeps what it sends as its history, so a cut is made once and then only appended to.
"""

import json

import anthropic
import pytest

import lockstitch as ls
from lockstitch.testing.servers import AnthropicServer, keep_calling, serve

MODEL = "claude-opus-5-5"
TOOLS = [{"name": "look_up", "input_schema": {"type": "object", "properties": {}}}]
BOUND = [
    ls.ModelFacts(
        profile="anthropic",
        pattern="claude-opus-5-5*",
        facts={"preserved_thinking": True},
        date="2026-11-30",
        source="Anthropic documentation, preserved thinking",
    )
]
LIMIT = 40
TURNS = 60


@pytest.fixture
def server():
    return AnthropicServer(mode="reject", script=keep_calling(1))


@pytest.fixture
def client(server):
    with (
        serve(server) as url,
        anthropic.Anthropic(base_url=url, api_key="none", max_retries=0) as client,
    ):
        yield client


def thoughts(messages):
    return sum(
        block["type"] == "thinking"
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    )


class Agent:
    """Sends its history, cut by `trim`, and keeps what it sent."""

    def __init__(self, client, trim):
        self.client = client
        self.trim = trim
        self.messages = []
        self.refused = 0
        self.sent = []

    def turn(self, text):
        self.messages.append({"role": "user", "content": text})
        while True:
            self.messages = self.trim(self.messages)
            self.sent.append(thoughts(self.messages))
            try:
                answer = self.client.messages.create(
                    model=MODEL,
                    max_tokens=1000,
                    system="Look things up.",
                    tools=TOOLS,
                    thinking={"type": "adaptive"},
                    messages=self.messages,
                )
            except anthropic.BadRequestError:
                self.refused += 1
                return
            said = answer.to_dict()["content"]
            self.messages.append({"role": "assistant", "content": said})
            if answer.stop_reason == "end_turn":
                return
            self.messages.append(
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": block["id"], "content": "found"}
                        for block in said
                        if block["type"] == "tool_use"
                    ],
                }
            )

    def restart(self):
        """Come back from what was stored."""
        self.messages = json.loads(json.dumps(self.messages))

    def run(self):
        for number in range(TURNS):
            self.turn(f"question {number}")
            if number == TURNS // 2:
                self.restart()


def ours(messages, **options):
    return ls.trim(
        messages, max_messages=LIMIT, profile="anthropic", model=MODEL, models=BOUND, **options
    )


def test_no_turn_is_refused_and_thinking_outlives_the_cuts(server, client):
    agent = Agent(client, lambda messages: ours(messages, trim_to=LIMIT // 2))
    agent.run()
    assert agent.refused == 0
    assert server.refusals == []
    assert len(server.requests) == 2 * TURNS
    assert all(len(request.body["messages"]) <= LIMIT for request in server.requests)
    # Between two cuts thinking is made and kept; without a lower target each turn is a cut.
    assert sum(agent.sent) / len(agent.sent) > 4


def test_no_turn_is_refused_where_every_turn_is_a_cut(server, client):
    agent = Agent(client, ours)
    agent.run()
    assert (agent.refused, server.refusals) == (0, [])


def test_a_naive_window_is_refused_from_its_first_cut_on(server, client):
    agent = Agent(client, lambda messages: messages[-LIMIT:])
    agent.run()
    assert agent.refused > TURNS // 2


def test_a_window_without_the_fact_about_the_model_is_refused(server, client):
    """The same cut by groups, thinking kept: whole groups alone are not enough here."""
    agent = Agent(
        client, lambda messages: ls.trim(messages, max_messages=LIMIT, profile="anthropic")
    )
    agent.run()
    assert agent.refused > TURNS // 2
