"""Seeded agent histories in the shape of OpenAI Chat messages, the common input of every table.

What makes a timing comparable between sizes is the part that is kept. So a history is a *head*
that grows with ``n`` and an *ending* that depends on the seed alone: at 100, 1 000, 10 000 and
100 000 messages the last ninety or so messages are the same, and only the past gets longer.

Two shapes:

* ``conversation``: a system prompt, then turns of a user message, 0-3 tool rounds and an answer; a
  round is one assistant message with 1-4 parallel calls and their results in any order.
* ``coding_run``: a system prompt, one user message with the task, then nothing but tool rounds.

Result sizes are log-uniform from 200 B to 8 KB (JSON rows, log lines, prose with 2 % non-ASCII
words); 40 % of the assistant messages that call tools carry reasoning. About 1.5 KB a message.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

Message = dict[str, Any]

ASCII_WORDS = str.split("""
    account after again agent allow answer argument array batch before begin branch buffer
    build bytes cache call cannot change check client close cluster column commit compare
    config connect copy count crash cursor data default delay delete depth disk domain
    driver each empty entry error event export fail field file filter find first flag folder
    format from graph group handle header host index input insert into issue item join keep
    key last later latency lease limit line list local lock long lost merge metric migrate
    minute missing model module move name never node none note number offset only open order
    output owner packet page parse path pending policy port prefix print queue range read
    ready record region release remove repeat replica report request reset result retry
    return route rule sample scan schema score search second send server shard since size
    skip slow socket source split stage start state step store stream switch table target
    task test then thread ticket time token total trace turn type under unit until update
    user value version view volume wait when where which window with without worker write
    yield zone
""")
OTHER_WORDS = str.split("""
    Änderung größer übermäßig café déjà-vu señal naïveté łączność журнал
    ошибка обновление 设置 错误 日付 サーバー 오류 פרטים جلسة 🙂 ✅
""")
TOOLS = ("search", "read_file", "run_query", "fetch_page", "shell")
SYSTEM_PROMPT_CHARACTERS = 900
ENDING_MESSAGES = 90
SMALLEST = 100


class Texts:
    """Text on demand: pools rendered once for each seed, then cut and numbered for each use."""

    def __init__(self, seed: int) -> None:
        pool_rng = Random(f"texts-{seed}")
        self._prose = [_prose(pool_rng, 4_000) for _ in range(64)]
        sizes = [int(200 * 40 ** (i / 255)) for i in range(256)]
        self._results = [_result(pool_rng, size) for size in sizes]

    def prose(self, rng: Random, low: int, high: int) -> str:
        source = rng.choice(self._prose)
        length = rng.randrange(low, high)
        start = rng.randrange(len(source) - length)
        return source[start : start + length]

    def result(self, rng: Random, serial: str) -> str:
        return rng.choice(self._results).replace("@serial@", serial, 1)


def conversation(
    n: int, seed: int = 0, *, rounds: tuple[int, int] = (0, 3), mid_run: bool = False
) -> list[Message]:
    """Exactly ``n`` messages of a chat with tools, at least 100.

    The last message is a new user message, or, with ``mid_run``, the last result of a tool round:
    the two moments at which a model is called, and so at which a history is trimmed.
    """
    if n < SMALLEST:
        raise ValueError(f"a conversation has at least {SMALLEST} messages, got {n}")
    texts = Texts(seed)
    ending = _ending(Random(f"ending-{seed}-{rounds}"), texts, rounds, mid_run=mid_run)
    rng = Random(f"head-{seed}-{rounds}")
    messages: list[Message] = [_system(texts, seed)]
    longest = 2 + 5 * rounds[1]
    while n - len(ending) - len(messages) > longest + 6:
        messages += _turn(rng, texts, rng.randint(*rounds))
    if (n - len(ending) - len(messages)) % 2:
        messages += _turn(rng, texts, 1, parallel=2)
    while len(messages) + len(ending) < n:
        messages += _turn(rng, texts, 0)
    return messages + ending


def coding_run(rounds: int, seed: int = 0) -> list[Message]:
    """A system prompt, one task, then ``rounds`` tool rounds and no further user message."""
    texts = Texts(seed)
    rng = Random(f"coding-{seed}")
    messages: list[Message] = [
        _system(texts, seed),
        {"role": "user", "content": texts.prose(rng, 200, 600)},
    ]
    for _ in range(rounds):
        messages += _round(rng, texts, rng.choice((1, 1, 1, 2, 2, 3, 4)))
    return messages


def size_in_bytes(messages: list[Message]) -> int:
    """The size of the history as UTF-8 JSON."""
    return len(json.dumps(messages, ensure_ascii=False).encode())


def _ending(rng: Random, texts: Texts, rounds: tuple[int, int], *, mid_run: bool) -> list[Message]:
    """Whole turns up to ``ENDING_MESSAGES``, and the moment at which the model is called."""
    if mid_run:
        last = _turn(rng, texts, rng.randint(max(1, rounds[0]), rounds[1]))[:-1]
    else:
        last = [{"role": "user", "content": texts.prose(rng, 100, 300)}]
    turns: list[Message] = []
    while True:
        turn = _turn(rng, texts, rng.randint(*rounds))
        if len(turns) + len(turn) + len(last) > ENDING_MESSAGES:
            return turns + last
        turns += turn


def _turn(rng: Random, texts: Texts, rounds: int, parallel: int | None = None) -> list[Message]:
    turn: list[Message] = [{"role": "user", "content": texts.prose(rng, 30, 600)}]
    for _ in range(rounds):
        turn += _round(rng, texts, parallel or rng.choice((1, 1, 1, 2, 2, 3, 4)))
    turn.append(_answer(rng, texts))
    return turn


def _round(rng: Random, texts: Texts, parallel: int) -> list[Message]:
    calls = [_call(rng, texts) for _ in range(parallel)]
    message: Message = {
        "role": "assistant",
        "content": texts.prose(rng, 40, 120) if rng.random() < 0.5 else None,
    }
    if rng.random() < 0.4:
        message["reasoning_content"] = texts.prose(rng, 100, 1_200)
    message["tool_calls"] = calls
    answered = rng.sample(calls, len(calls))
    return [message] + [
        {"role": "tool", "tool_call_id": call["id"], "content": texts.result(rng, call["id"][5:])}
        for call in answered
    ]


def _call(rng: Random, texts: Texts) -> Message:
    arguments = json.dumps(
        {"query": texts.prose(rng, 10, 120), "limit": rng.randrange(100)}, ensure_ascii=False
    )
    return {
        "id": f"call_{rng.getrandbits(96):024x}",
        "type": "function",
        "function": {"name": rng.choice(TOOLS), "arguments": arguments},
    }


def _answer(rng: Random, texts: Texts) -> Message:
    return {"role": "assistant", "content": texts.prose(rng, 60, 1_500)}


def _system(texts: Texts, seed: int) -> Message:
    rng = Random(f"system-{seed}")
    return {
        "role": "system",
        "content": texts.prose(rng, SYSTEM_PROMPT_CHARACTERS, SYSTEM_PROMPT_CHARACTERS + 1),
    }


def _prose(rng: Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        word = rng.choice(OTHER_WORDS if rng.random() < 0.02 else ASCII_WORDS)
        if rng.random() < 0.1:
            word += rng.choice((".", ",", ":", ".\n", ";"))
        words.append(word)
        length += len(word) + 1
    return " ".join(words)


def _result(rng: Random, size: int) -> str:
    """One tool result of about ``size`` bytes with a place for a serial number."""
    kind = rng.random()
    if kind < 0.45:
        rows: list[dict[str, Any]] = [{"cursor": "@serial@"}]
        length = 30
        while length < size:
            row = {
                "id": rng.randrange(10**8),
                "name": f"{rng.choice(ASCII_WORDS)}-{rng.randrange(1_000)}",
                "ok": rng.random() < 0.9,
                "ms": round(rng.uniform(0, 900), 2),
                "note": _prose(rng, 30),
            }
            rows.append(row)
            length += len(json.dumps(row))
        return json.dumps(rows, ensure_ascii=False)
    if kind < 0.75:
        lines = ["# log @serial@"]
        length = 20
        while length < size:
            clock = f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
            trace = f"{rng.getrandbits(32):08x}"
            line = f"2026-05-{rng.randrange(1, 29):02d}T{clock}Z INFO {trace} {_prose(rng, 50)}"
            lines.append(line)
            length += len(line) + 1
        return "\n".join(lines)
    return f"{_prose(rng, size)} (@serial@)"
