"""An agent of sixty turns on a model that binds thinking to what stands before it.

The strict server signs each thinking block over everything in front of it, and refuses one that
stands behind anything else. The agent keeps what it sent as its history, and is stored and read
again in the middle. Each contender cuts that history to a limit; what it cuts is found by marks in
the texts, since most contenders work on messages of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import peers
from lockstitch import trim
from lockstitch.testing.servers import AnthropicServer, keep_calling
from report import Section, Table
from world import World

Message = dict[str, Any]
Cutting = Callable[[list[Message]], list[Message]]

TURNS = 60
LIMIT = 40
TARGET = 20
MODEL = "claude-opus-5-5"
TOOLS = [{"name": "look_up", "input_schema": {"type": "object", "properties": {}}}]
PEERS = ("slice", "symfonic", "langchain", "langchain-human", "strands", "af-window")


@dataclass
class Run:
    """What came of one agent."""

    requests: int = 0
    refused: int = 0
    first: int | None = None
    thoughts: int = 0
    longest: int = 0


# --- what contenders cut --------------------------------------------------------------------------


def _marked(messages: Sequence[Message]) -> list[Message]:
    """Chat messages of the same shape, each with its position for a text."""
    chat: list[Message] = []
    for at, message in enumerate(messages):
        mark = f"#{at}#"
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = [block for block in blocks if block["type"] == "tool_result"]
        calls = [
            {
                "id": block["id"],
                "type": "function",
                "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
            }
            for block in blocks
            if block["type"] == "tool_use"
        ]
        if results:
            chat += [
                {"role": "tool", "tool_call_id": one["tool_use_id"], "content": mark}
                for one in results
            ]
        elif calls:
            chat.append({"role": "assistant", "content": mark, "tool_calls": calls})
        else:
            chat.append({"role": message["role"], "content": mark})
    return chat


def _peer(key: str, messages: list[Message]) -> list[Message]:
    contender = next(one for one in peers.CONTENDERS if one.key == key)
    assert contender.by_messages is not None
    if len(messages) <= LIMIT:
        return messages
    entry = contender.by_messages(World(_marked(messages)), LIMIT)
    given = entry.given if entry.prepare is None else entry.prepare()
    kept = {int(one.text.split("#")[1]) for one in contender.read(entry.run(given)) if one.text}
    return [message for at, message in enumerate(messages) if at in kept]


def _ours(messages: list[Message], **options: Any) -> list[Message]:
    window: list[Message] = trim(messages, max_messages=LIMIT, profile="anthropic", **options)
    return window


def _contenders() -> dict[str, tuple[str, Cutting]]:
    bound = partial(_ours, model=MODEL)
    rows: dict[str, tuple[str, Cutting]] = {
        "ours": (f"**lockstitch** `trim`, `trim_to={TARGET}`", partial(bound, trim_to=TARGET)),
        "ours-each": ("**lockstitch** `trim`, a cut at every turn", bound),
        "ours-unnamed": ("**lockstitch** `trim`, the model not named", _ours),
    }
    for key in PEERS:
        contender = next(one for one in peers.CONTENDERS if one.key == key)
        rows[key] = (contender.label, partial(_peer, key))
    return rows


# --- the agent ------------------------------------------------------------------------------------


def _thoughts(messages: Sequence[Message]) -> int:
    return sum(
        block["type"] == "thinking"
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    )


def agent(cut: Cutting) -> Run:
    """Run the agent; a refused turn is given up and the next one is tried."""
    server = AnthropicServer(mode="reject", script=keep_calling(1))
    run = Run()
    messages: list[Message] = []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": f"question {turn}"})
        while True:
            messages = cut(messages)
            run.requests += 1
            run.thoughts += _thoughts(messages)
            run.longest = max(run.longest, len(messages))
            answer = server.ask(
                {
                    "model": MODEL,
                    "max_tokens": 1000,
                    "tools": TOOLS,
                    "thinking": {"type": "adaptive"},
                    "messages": messages,
                }
            )
            if not answer.ok:
                run.refused += 1
                run.first = turn if run.first is None else run.first
                break
            said = answer.json()["content"]
            messages.append({"role": "assistant", "content": said})
            calls = [block["id"] for block in said if block["type"] == "tool_use"]
            if not calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": one, "content": "found"} for one in calls
            ]
            messages.append({"role": "user", "content": results})
        if turn == TURNS // 2:
            messages = json.loads(json.dumps(messages))
    return run


def section() -> Section:
    """The table."""
    lead = f"""
{TURNS} turns, each a question, a tool call and an answer, with thinking in front of every word of
the model; the history is cut to {LIMIT} messages and is stored and read again in the middle.
The server signs thinking over everything in front of it and refuses it behind anything else, as the
newest Claude models do.
*Refused*: turns that ended with HTTP 400. *Thinking*: blocks in a request, on average."""
    rows: list[list[str]] = []
    notes: list[str] = []
    for key, (label, cut) in _contenders().items():
        contender = next((one for one in peers.CONTENDERS if one.key == key), None)
        if contender is not None and contender.missing:
            notes.append(f"{label}: not measured, {contender.missing}.")
            continue
        run = agent(cut)
        first = "-" if run.first is None else f"turn {run.first + 1}"
        mean = run.thoughts / run.requests
        rows.append([label, f"{run.refused} of {TURNS}", first, f"{mean:.1f}", str(run.longest)])
    columns = ["contender", "refused", "first refused", "thinking", "longest request"]
    table = Table("", columns, rows, notes)
    return Section("thinking", "An agent of sixty turns with bound thinking", lead, [table])
