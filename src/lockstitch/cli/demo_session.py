"""The second half of the demo: an agent's session in SQLite, killed in the middle of a turn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lockstitch.accepting import check
from lockstitch.cli.demo_agent import KILLED_AT, LIMIT, SESSION
from lockstitch.cli.render import head, say, show
from lockstitch.explain import count, preview, rows_of
from lockstitch.history import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.stores.store import Session
    from lockstitch.stores.values import Window

__all__ = ["show_session"]

TARGETS: Final = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock")

_TIME: Final = 60.0
_WIDTH: Final = 70


def show_session() -> None:
    """Show a session that outlives the process that writes it."""
    with tempfile.TemporaryDirectory(prefix="lockstitch-demo-") as folder:
        url = f"sqlite:///{Path(folder) / 'agent.db'}"
        head("5. An agent that keeps its session in SQLite, killed in the middle of a turn")
        _kill(url)
        with _session(url) as chat:
            _look(chat)
        head("6. The same session, from a new process")
        _go_on(url)
        with _session(url) as chat:
            _look_back(chat)


@contextmanager
def _session(url: str) -> Iterator[Session]:
    from lockstitch.stores.connecting import open_store

    with open_store(url) as store:
        # Profile and limit are stored with the session.
        yield store.session(SESSION)


def _agent(url: str, *stop: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "lockstitch.cli.demo_agent", url, *stop]
    return subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _kill(url: str) -> None:
    """Let the agent run until the tool does that it is killed in, and kill it."""
    stored = 0
    with _agent(url, KILLED_AT) as agent:
        try:
            for line in agent.stdout or ():
                if line.endswith("running\n"):
                    break
                stored += 1
        finally:
            agent.kill()
    say(
        f"Process {agent.pid} ran an agent (no network, no model): {count(stored, 'step')}, each "
        f"stored as it was taken;\nthe model is shown {count(LIMIT, 'message')} at most. It was "
        "killed while `make deploy` ran: the call is stored,\nits result is not. kill -9 "
        f"{agent.pid}: exit status {agent.returncode}."
    )


def _look(chat: Session) -> None:
    """Show what can be read after the process is gone."""
    say("\nThe end of the record:")
    entries = list(chat.record())
    for entry in entries[-3:]:
        say(f"  {entry.seq:>3}  {preview(load([entry.message]), 0, _WIDTH)}")
    say(f'\nwindow(tail="open"), while tools run: the call at the end is shown, {_words(chat)}')
    say(
        'window(tail="closed"), for the model: a call without its result would be refused, so it '
        f"is hidden,\n  {_words(chat, closed=True)}"
    )
    chat.append({"role": "user", "content": "Are you still there?"}, key="still-there")
    say("The user writes: Are you still there? The call waits in the middle now, and is hidden:")
    say(f"  {_words(chat)}")


def _go_on(url: str) -> None:
    """Run the agent again, from its beginning to its end."""
    with _agent(url) as agent:
        said, _ = agent.communicate(timeout=_TIME)
    met = Counter(line.split()[1] for line in said.splitlines())
    say(
        f"Process {agent.pid} runs the same agent again. It takes every step under the key that it "
        f"took it before:\n{count(met['again'], 'step')} were stored already and are not stored "
        f"twice, {met['stored']} are new (exit status {agent.returncode})."
    )


def _look_back(chat: Session) -> None:
    """Show that nothing is lost, doubled or torn."""
    say(f"The late result stands with its call again: {_words(chat)}")
    for profile in TARGETS:
        show(rows_of(check(list(chat.window(profile)), profile=profile)))
    entries = list(chat.record())
    batches = {entry.batch for entry in entries}
    findings = chat.verify()
    say(
        f"\nThe record: {count(len(entries), 'message')}, numbered "
        f"{entries[0].seq} to {entries[-1].seq}, in {len(batches)} batches; "
        f"verify() finds {len(findings) or 'nothing'}. explain() says:"
    )
    say(chat.explain())


def _words(chat: Session, *, closed: bool = False) -> str:
    """Say what a window holds, and whether its target accepts it."""
    window: Window = chat.window(tail="closed" if closed else "open")
    report = check(list(window), profile=TARGETS[0], tail="closed" if closed else "open")
    verdict = "accepted" if report.ok else "refused"
    hidden = f", hidden: {', '.join(map(str, window.hidden))}" if window.hidden else ""
    return f"{count(len(window), 'message')}{hidden}; {verdict} by {TARGETS[0]}"
