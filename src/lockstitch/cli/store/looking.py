"""`lockstitch store ls`, `show`, `window` and `explain`: they look, and write nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from lockstitch.cli.files import write_file, write_stdout
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import model_option, tail_option
from lockstitch.cli.render import say, show_grid
from lockstitch.cli.store.places import (
    id_argument,
    opened,
    prefix_option,
    tenant_option,
    url_argument,
)
from lockstitch.cli.store.printing import json_of, list_of, print_json, ranges, when
from lockstitch.cli.strategies import directive_of, strategy_option
from lockstitch.explain import count, one_line, preview
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from lockstitch.stores.reading import States
    from lockstitch.stores.values import Recorded, SessionEvent, Window

__all__ = ["explain_command", "limit_options", "ls_command", "show_command", "window_command"]

NAME = 60
WHY = 40
TEXT = 80


def limit_options(command: Any) -> Any:
    """Add the options that limit a window."""
    for name, unit in (
        ("--max-chars", "characters of text"),
        ("--max-tokens", "tokens"),
        ("--max-messages", "messages"),
    ):
        option = click.option(name, type=click.IntRange(min=0), help=f"Most {unit} shown.")
        command = option(command)
    return command


@click.command("ls")
@url_argument
@tenant_option
@prefix_option
@json_option
def ls_command(url: str, tenant: str | None, prefix: str, *, as_json: bool) -> None:
    """List the sessions in the store at URL.

    Times are in UTC. With --json there is one object a line for each session.
    """
    with opened(url, as_json=as_json) as place:
        if as_json:
            for one in place.sessions(prefix, tenant):
                print_json(msgspec.to_builtins(one))
            return
        found = list(place.sessions(prefix, tenant))
    if found:
        titles = ["session", "messages", "bytes", "updated", "expires"]
        show_grid(
            titles,
            [
                [
                    one_line(one.id, NAME),
                    f"{one.messages:,}",
                    f"{one.bytes:,}",
                    when(one.updated),
                    "never" if one.expires is None else when(one.expires),
                ]
                for one in found
            ],
        )
    say(count(len(found), "session"))


@click.command("show")
@url_argument
@id_argument
@tenant_option
@click.option("--first", type=click.IntRange(min=1), default=1, help="The first message to show.")
@click.option("--last", type=click.IntRange(min=1), help="The last; the newest by default.")
@json_option
def show_command(
    url: str, id: str, tenant: str | None, first: int, last: int | None, *, as_json: bool
) -> None:
    """Show the record of the session ID: every message, and what became of it.

    With --json there is one object a line for each message, with the message whole.
    """
    with opened(url, as_json=as_json) as place:
        info = place.known(id, tenant)
        record = place.session(id, tenant).record(first, last)
        if as_json:
            for entry in record:
                print_json(_entry(entry))
            return
        rows = [_row(entry) for entry in record]
    if rows:
        show_grid(["message", "state", "why", "role", "text"], rows)
    some = "" if len(rows) == info.messages else f"{len(rows):,} of "
    say(f"session {id!r}: {some}{count(info.messages, 'message')}")


def _entry(entry: Recorded) -> dict[str, Any]:
    role, _ = _said(entry)
    fields = {name: getattr(entry, name) for name in entry.__struct_fields__}
    return {**fields, "role": role}


def _row(entry: Recorded) -> list[str]:
    role, text = _said(entry)
    # What a purge says of itself is in its state already.
    why = "" if entry.state == "purged" else one_line(entry.reason, WHY)
    return [str(entry.seq), entry.state, why, role, text]


def _said(entry: Recorded) -> tuple[str, str]:
    """Return the role of a message and the beginning of what it says."""
    from lockstitch.stores.messages import transcript_of

    if entry.message is None:
        return "", ""
    transcript = transcript_of([entry.message], entry.format or "openai-chat")
    return transcript.facts_at(0).role, preview(transcript, 0, TEXT)


@click.command("window")
@url_argument
@id_argument
@tenant_option
@click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="The target; the session's by default."
)
@model_option
@strategy_option
@limit_options
@tail_option("open")
@json_option
@click.option("-o", "--output", metavar="FILE", help="Where the messages go; else to stdout.")
def window_command(
    url: str,
    id: str,
    tenant: str | None,
    *,
    as_json: bool,
    output: str | None,
    strategy: str | None,
    **ask: Any,
) -> None:
    """Print what the model is shown of the session ID, as a JSON list of messages.

    It is within the limits of the session, or those given here, in a shape that the target accepts.
    Nothing is written. What cannot be shown is told on standard error. With --json standard output
    is one object with the messages, their numbers, and what is hidden, damaged or left out.

    Exits with 0, with 1 when what must stay does not fit.
    """
    directive = directive_of(strategy, None)
    with opened(url, as_json=as_json) as place:
        place.known(id, tenant)
        window = place.session(id, tenant).window(strategy=directive, **ask)
        written = output not in {None, "-"}
        if written:
            write_file(str(output), list_of(window), zipped=False)
        if as_json:
            print_json(_window(id, tenant, window, inside=not written))
        elif not written:
            write_stdout(list_of(window), zipped=False)
    for line in _notes(window):
        say(f"session {id!r}: {line}", err=True)
    if written:
        say(f"session {id!r}: {count(len(window), 'message')} written to {output}", err=True)


def _window(id: str, tenant: str | None, window: Window, *, inside: bool) -> dict[str, Any]:
    return {
        "session": id,
        "tenant": tenant,
        "version": msgspec.to_builtins(window.version),
        "seqs": window.seqs,
        "hidden": window.hidden,
        "damaged": {str(seq): why for seq, why in window.damaged.items()},
        "dropped": [{"seq": seq, "reason": reason} for seq, reason in window.dropped],
        "changes": [msgspec.to_builtins(change) for change in window.changes],
        "system": window.system,
        "messages": list(window) if inside else None,
    }


def _notes(window: Window) -> list[str]:
    notes: list[str] = []
    if window.hidden:
        notes.append(
            f"hidden for now, as a call waits or an answer has no call: {ranges(window.hidden)}"
        )
    if window.damaged:
        notes.append(f"damaged: {ranges(sorted(window.damaged))}")
    if window.changes:
        notes.append(f"mended for the target in {count(len(window.changes), 'place')}")
    if window.system is not None:
        notes.append(f"the target keeps instructions outside the list: {json_of(window.system)}")
    return notes


@click.command("explain")
@url_argument
@id_argument
@tenant_option
@click.option("--events", is_flag=True, help="List what happened to the session as well.")
@json_option
def explain_command(url: str, id: str, tenant: str | None, *, events: bool, as_json: bool) -> None:
    """Say what the model is shown of the session ID, what it is not, and why.

    With --json there is one object with ranges of messages, the newest first.
    """
    with opened(url, as_json=as_json) as place:
        place.known(id, tenant)
        session = place.session(id, tenant)
        states = session.run(session.effects.states())
        happened = session.events() if events else None
        text = "" if as_json else session.explain()
    if as_json:
        print_json(_explained(id, tenant, states, happened))
        return
    say(text)
    if happened:
        titles = ["event", "when", "kind", "gone", "what"]
        lines = [
            [str(at), when(one.at), one.kind, f"{one.dropped:,}" if one.gone else "", _told(one)]
            for at, one in enumerate(happened, 1)
        ]
        show_grid(titles, lines)
    if happened is not None:
        say(count(len(happened), "event"))


def _explained(
    id: str, tenant: str | None, states: States, happened: list[SessionEvent] | None
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for seq in range(states.newest, 0, -1):
        state, reason = states.of(seq)
        row = {"state": state, "reason": reason, "fired": list(states.fired(seq))}
        if rows and all(rows[-1][name] == value for name, value in row.items()):
            rows[-1]["first"] = seq
        else:
            rows.append({"first": seq, "last": seq, **row})
    shown = (row for row in rows if row["state"] in {"shown", "changed"})
    document: dict[str, Any] = {
        "session": id,
        "tenant": tenant,
        "messages": states.newest,
        "shown": sum(row["last"] - row["first"] + 1 for row in shown),
        "ranges": rows,
    }
    if happened is not None:
        # What the view was made of is the store's own business.
        bare = (msgspec.structs.replace(one, head=None) for one in happened)
        document["events"] = [msgspec.to_builtins(one) for one in bare]
    return document


def _told(event: SessionEvent) -> str:
    said = [*event.fired, event.note, event.overflow, event.failure]
    if event.summary:
        said.append(f"a summary of {len(event.summary):,} characters")
    return one_line("; ".join(one for one in said if one), TEXT)
