"""The agent of the demo: a program of its own, which keeps every step in a store as it takes it.

There is no model behind it. What it and its tools say is written down here, so that the demo needs
no network and says the same each time; how it keeps its session is how any agent would.

    python -m lockstitch.cli.demo_agent sqlite:////tmp/demo.db [STEP]

It prints a line for each step, and stops in front of STEP until its standard input is closed.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.stores.store import Session
    from lockstitch.stores.values import Receipt

__all__ = ["KILLED_AT", "LIMIT", "PROFILE", "SCRIPT", "SESSION", "Step", "run"]

SESSION: Final = "shop-incident"
PROFILE: Final = "portable"
"""What every provider takes."""
LIMIT: Final = 12


class Step(msgspec.Struct, frozen=True):
    """What the agent does between two looks at the store: messages, under a name of its own."""

    name: str
    messages: tuple[dict[str, Any], ...]


def _says(name: str, role: str, text: str) -> Step:
    return Step(name, ({"role": role, "content": text},))


def _calls(name: str, *calls: tuple[str, str]) -> Step:
    made = [
        {
            "id": f"{name}-{at}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps({"command": command})},
        }
        for at, (tool, command) in enumerate(calls, 1)
    ]
    return Step(name, ({"role": "assistant", "content": None, "tool_calls": made},))


def _result(call: str, text: str) -> Step:
    return Step(f"{call}-result", ({"role": "tool", "tool_call_id": call, "content": text},))


SCRIPT: Final = (
    Step(
        "task",
        (
            {
                "role": "system",
                "content": "You keep a web shop running. Change as little as needed.",
            },
            {"role": "user", "content": "Orders fail since noon. Find out why, and mend it."},
        ),
    ),
    _calls("look", ("shell", "tail orders.log"), ("sql", "SELECT count(*) FROM orders")),
    _result("look-1", "12:00:03 ERROR currency column: value 'EURO' too long for type char(3)"),
    _result("look-2", "48213"),
    _calls("blame", ("shell", "git log -3 --oneline shop/checkout.py")),
    _result("blame-1", "9f1c2ab Take the currency from the price list"),
    _calls("read", ("shell", "git show 9f1c2ab"), ("sql", "SELECT DISTINCT currency FROM prices")),
    _result("read-2", "EUR, USD, EURO"),
    _result("read-1", "-    currency = 'EUR'\n+    currency = price.currency"),
    _says(
        "found", "assistant", "One row of the price list says EURO instead of EUR. I correct it."
    ),
    _says("go", "user", "Good. Correct the row, run the tests, and deploy."),
    _calls("mend", ("sql", "UPDATE prices SET currency = 'EUR' WHERE currency = 'EURO'")),
    _result("mend-1", "UPDATE 1"),
    _calls("ship", ("shell", "make test"), ("shell", "make deploy")),
    _result("ship-1", "212 passed"),
    _result("ship-2", "deployed 9f1c2ab to production"),
    _calls("watch", ("shell", "tail orders.log")),
    _result("watch-1", "14:07:51 INFO order 48214 stored"),
    _says("done", "assistant", "Orders go through again: one row said EURO. It is deployed."),
    _says("thanks", "user", "Thank you."),
)
KILLED_AT: Final = "ship-2-result"
"""The step in front of which the demo kills the agent: the deployment runs, and is not stored."""


def run(chat: Session) -> Iterator[tuple[Step, Receipt | None]]:
    """Take every step; a step that was stored before is not stored again, for it has its key.

    Yields:
        Each step twice: before it is taken, with nothing, and with its receipt.
    """
    for step in SCRIPT:
        yield step, None
        yield step, chat.append(step.messages, key=step.name)


def _main(url: str, stop: str = "") -> None:
    from lockstitch.stores.connecting import open_store

    with open_store(url) as store:
        chat = store.session(SESSION, profile=PROFILE, max_messages=LIMIT)
        for step, receipt in run(chat):
            if receipt is not None:
                print(step.name, "again" if receipt.replayed else "stored", flush=True)  # noqa: T201 - its one way to talk
            elif step.name == stop:
                print(step.name, "running", flush=True)  # noqa: T201 - as above
                sys.stdin.read()


if __name__ == "__main__":
    _main(*sys.argv[1:])
