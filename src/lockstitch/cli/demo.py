"""`lockstitch demo`: a recorded agent run, cut naively and not; an agent that is killed."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click

from lockstitch.accepting import check
from lockstitch.cli.render import head, say, show
from lockstitch.explain import count, preview, rows_of
from lockstitch.facts import USER
from lockstitch.history import load, plan, trim
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from lockstitch.transcript import Transcript

__all__ = ["demo_command"]

LIMIT = 40
TARGET = "anthropic"  # where the run was recorded
WIDTH = 100


@click.command("demo")
def demo_command() -> None:
    """Show what a cut does to an agent run, and what becomes of one that is killed.

    A recorded run of some 400 messages is cut to 40, by a plain slice and by Lockstitch. Then an
    agent that keeps its session in SQLite is killed in the middle of a turn, and goes on.
    """
    messages = _recorded()
    history = load(messages)
    head("1. The run")
    say(
        f"{count(len(history), 'message')} of a recorded coding session: an agent with tools to "
        "read, edit and run.\n"
        f"The newest user message, [{_newest_user(history)}]: "
        f"{preview(history, _newest_user(history), WIDTH)}\n"
        "The recording has no system message. Where there is one, Lockstitch keeps it just as it "
        "keeps the task."
    )
    show(rows_of(check(history, profile=TARGET)))

    head(f"2. A plain slice: messages[-{LIMIT}:]")
    naive = messages[-LIMIT:]
    show(rows_of(check(naive, profile=TARGET), naive))

    head(f"3. Lockstitch: trim(messages, max_messages={LIMIT})")
    decision = plan(messages, max_messages=LIMIT)
    show(rows_of(decision))
    for edit in decision.edits:
        if edit.reason in {"lead", "task"}:
            position = edit.start
            cut_off = " (the slice had lost it)" if position < len(messages) - LIMIT else ""
            say(f"[{position}]{cut_off}: {preview(history, position, WIDTH)}")

    head("4. The result, checked against every profile")
    kept = trim(messages, max_messages=LIMIT)
    for profile in PROFILES:
        show(rows_of(check(kept, profile=profile)))
    task = messages[_newest_user(history)]
    say(
        f"The newest user message is there: {_yes(any(one is task for one in kept))}. "
        f"Every kept message is the caller's own object, unchanged: "
        f"{_yes(_untouched(kept, messages))}."
    )
    from lockstitch.cli.demo_session import show_session

    show_session()
    say("\nNext: lockstitch trim FILE --max-messages 40 --explain")
    say("      lockstitch store append sqlite:///chat.db SESSION FILE --max-messages 40")


def _recorded() -> list[Any]:
    packed = files("lockstitch.cli").joinpath("demo_run.json.gz").read_bytes()
    run: dict[str, list[Any]] = json.loads(gzip.decompress(packed))
    return run["messages"]


def _newest_user(history: Transcript) -> int:
    roles = [history.facts_at(at).role for at in range(len(history))]
    return len(roles) - 1 - roles[::-1].index(USER)


def _untouched(kept: list[Any], messages: list[Any]) -> bool:
    own = {id(message) for message in messages}
    return all(id(message) in own for message in kept)


def _yes(true: bool) -> str:  # noqa: FBT001 - a word for a truth value
    return "yes" if true else "no"
