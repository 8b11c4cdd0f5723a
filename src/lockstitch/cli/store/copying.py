"""`lockstitch store copy`: sessions from any store to any other.

A copy that was cut short goes on where it was; one that is done is passed over. Two sessions are
the same where they have as many messages and the newest came in the same batch: batches keep their
names wherever they go.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec

from lockstitch.cli.failures import REFUSED
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say
from lockstitch.cli.store.places import (
    all_option,
    opened,
    prefix_option,
    tenant_option,
)
from lockstitch.cli.store.printing import print_json
from lockstitch.errors import LockstitchError
from lockstitch.explain import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lockstitch.cli.store.places import Place
    from lockstitch.stores.base import Reading, Stored
    from lockstitch.stores.store import Session
    from lockstitch.stores.values import SessionInfo

__all__ = ["copy_command"]

Outcome = Literal["copied", "resumed", "skipped", "failed"]
_OUTCOMES: Final = ("copied", "resumed", "skipped", "failed")


class _Copied(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the copy of one session. The field names are the keys of `--json`."""

    session: str
    tenant: str | None
    outcome: Outcome
    messages: int
    error: str = ""


@click.command("copy")
@click.argument("source", metavar="FROM_URL")
@click.argument("target", metavar="TO_URL")
@click.argument("ids", nargs=-1, metavar="[ID...]")
@all_option
@prefix_option
@tenant_option
@json_option
def copy_command(
    source: str,
    target: str,
    ids: tuple[str, ...],
    *,
    everything: bool,
    prefix: str,
    tenant: str | None,
    as_json: bool,
) -> None:
    """Copy sessions from the store at FROM_URL to the one at TO_URL, each of them whole.

    A copy that was cut short goes on where it was when it is run again, and sessions that are there
    already are skipped. Where one fails, the others are copied all the same. With --json there is
    one object a line for each session.

    Exits with 0, or with 1 when a session could not be copied.
    """
    met: Counter[Outcome] = Counter()
    with opened(source, as_json=as_json) as origin:
        found = origin.chosen(ids, prefix, tenant, everything=everything)
        with (
            opened(target, make=True, as_json=as_json) as place,
            Bar(total=sum(map(_pages, found))) as bar,
        ):
            place.store.list(limit=1)  # a target that cannot be used is one error, not many
            for one in found:
                done = _copied(origin, place, one, partial(bar.step, one.id))
                met[done.outcome] += 1
                bar.say(partial(_print, done, as_json=as_json))
    told = [f"{met[outcome]:,} {outcome}" for outcome in _OUTCOMES if met[outcome]]
    say(f"{count(len(found), 'session')}: {', '.join(told) or 'nothing to copy'}", err=True)
    click.get_current_context().exit(REFUSED if met["failed"] else 0)


def _pages(info: SessionInfo) -> int:
    from lockstitch.stores.conversation import PAGE

    return 2 + -(-info.messages // PAGE)


def _print(done: _Copied, *, as_json: bool) -> None:
    if as_json:
        print_json(msgspec.to_builtins(done))
    elif done.error:
        say(f"session {done.session!r}: failed: {done.error}", err=True)
    else:
        say(f"session {done.session!r}: {done.outcome}, {count(done.messages, 'message')}")


def _copied(origin: Place, place: Place, info: SessionInfo, step: Callable[[], None]) -> _Copied:
    """Copy one session, and say what became of it."""
    done = partial(_Copied, session=info.id, tenant=info.tenant)
    source = origin.session(info.id, info.tenant)
    target = place.session(info.id, info.tenant)
    try:
        there = _reading(target)
        outcome = _planned(source, there)
        if outcome == "skipped" and there.version is not None:
            messages = there.version.seq
            why = _difference(source, target, messages)
            if why:
                return done(outcome="failed", messages=info.messages, error=why)
        else:
            if outcome == "copied" and there.version is not None:
                # A part of what the source was: somebody has written to that since.
                target.delete()
            messages = target.import_(_lines(source, step))
        if info.expires is not None and there.expires is None:
            # An export says nothing of it.
            target.touch(info.expires - info.updated)
    except LockstitchError as error:
        said = origin.clean(place.clean(str(error)))
        return done(outcome="failed", messages=info.messages, error=said)
    return done(outcome=outcome, messages=messages)


def _planned(source: Session, there: Reading) -> Outcome:
    """Say what is to be done where a session may be there already, in whole or in part."""
    from lockstitch.stores.settings import Settings

    if there.version is None:
        return "copied"
    copying = Settings.read(there.settings).copying
    if not copying:
        return "skipped"
    return "resumed" if copying == _name_of(source) else "copied"


def _difference(source: Session, target: Session, seq: int) -> str:
    """Say how a session that is there already differs; empty where it is the same."""
    version = _reading(source).version
    newest = version.seq if version else 0
    both = min(seq, newest)
    if seq > newest or _mark(source, both) != _mark(target, both):
        return "another session has this id there, or it went on there: remove it, or copy a fork"
    if seq < newest:
        return (
            f"it is there with {seq:,} of {count(newest, 'message')}, from an earlier copy: "
            "remove it there, and copy again"
        )
    return ""


def _lines(source: Session, step: Callable[[], None]) -> Iterator[dict[str, Any]]:
    for page in source.effects.lines():
        step()
        yield from source.run(page)


def _name_of(source: Session) -> str:
    """Name what is copied, as the first line of an export does."""
    first = next(iter(source.effects.lines()))
    return "".join(str(line["source"]) for line in source.run(first))


def _reading(session: Session) -> Reading:
    effects = session.effects
    found: Reading = session.run(
        effects.patiently(lambda: effects.backend.view(effects.key, payloads=False))
    )
    return found


def _mark(session: Session, seq: int) -> str:
    """Return the name of the batch that a message came in."""
    effects = session.effects
    rows: tuple[Stored, ...] = session.run(
        effects.patiently(lambda: effects.backend.rows(effects.key, seq, seq, payloads=False))
    )
    return rows[0].mark if rows else ""
