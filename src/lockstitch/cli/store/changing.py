"""`lockstitch store fork`, `rewind` and `purge`: what changes sessions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import click

from lockstitch.cli.failures import Unusable
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.render import say
from lockstitch.cli.store.places import id_argument, opened, tenant_option, url_argument
from lockstitch.cli.store.printing import print_json
from lockstitch.explain import count

if TYPE_CHECKING:
    from lockstitch.cli.store.places import Place
    from lockstitch.stores.settings import Retention
    from lockstitch.stores.values import SessionInfo

__all__ = ["fork_command", "purge_command", "rewind_command"]

_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_AGE: Final = re.compile(r"(\d+)([smhdw])")


@click.command("fork")
@url_argument
@id_argument
@click.argument("new", metavar="NEW")
@tenant_option
@click.option("--at", type=click.IntRange(min=0), help="Its newest message; all by default.")
@json_option
def fork_command(
    url: str, id: str, new: str, *, tenant: str | None, at: int | None, as_json: bool
) -> None:
    """Make the session NEW of the session ID, as that was when a message was its newest.

    A fork that was cut short goes on where it was when it is run again.
    """
    with opened(url, as_json=as_json) as place:
        info = place.known(id, tenant)
        if at is not None and at > info.messages:
            raise Unusable(_no_message(place, info, at))
        place.session(id, tenant).fork(new, at=at)
        messages = place.known(new, tenant).messages
    if as_json:
        print_json({"session": new, "tenant": tenant, "of": id, "messages": messages})
    else:
        say(f"session {new!r}: {count(messages, 'message')} of {id!r}")


@click.command("rewind")
@url_argument
@id_argument
@click.argument("to", type=click.IntRange(min=0), metavar="TO")
@tenant_option
@json_option
def rewind_command(url: str, id: str, to: int, *, tenant: str | None, as_json: bool) -> None:
    """Take the session ID back to how it was when message TO was its newest; 0 is the beginning.

    The record keeps everything, and what is appended next follows.
    """
    with opened(url, as_json=as_json) as place:
        info = place.known(id, tenant)
        if to > info.messages:
            raise Unusable(_no_message(place, info, to))
        left = place.session(id, tenant).rewind(to)
    if as_json:
        print_json({"session": id, "tenant": tenant, "to": to, "left": left})
    else:
        say(f"session {id!r}: back to message {to}; {count(left, 'message')} left the view")


def _no_message(place: Place, info: SessionInfo, at: int) -> str:
    return (
        f"{place.shown}: session {info.id!r} has {count(info.messages, 'message')}, and none has "
        f"the number {at}"
    )


def _seconds(_: click.Context, __: click.Parameter, said: str | None) -> int | None:
    if said is None:
        return None
    found = _AGE.fullmatch(said)
    if found is None:
        raise click.BadParameter(f"{said!r} is no age: write 45s, 90m, 12h, 30d or 2w")
    return int(found[1]) * _SECONDS[found[2]]


@click.command("purge")
@url_argument
@id_argument
@tenant_option
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N.")
@click.option(
    "--older-than",
    callback=_seconds,
    metavar="AGE",
    help="Empty what is older: 45s, 90m, 12h, 30d, 2w.",
)
@click.option("--delete", is_flag=True, help="Remove the session, with all that belongs to it.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def purge_command(
    url: str,
    id: str,
    *,
    tenant: str | None,
    keep: int | None,
    older_than: int | None,
    delete: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Empty old messages of the record of the session ID, for good.

    What the model is shown always stays, and so do the numbers. Without --keep and --older-than the
    session's own retention counts; with both, what either of them gives up is emptied. --delete
    removes the session altogether.

    Exits with 0, with 1 when the question was not answered with y.
    """
    if delete and not (keep is None and older_than is None):
        raise click.UsageError("--delete removes everything: it goes with no other limit")
    with opened(url, as_json=as_json) as place:
        info = place.known(id, tenant)
        asked = _asked(info, keep, older_than, delete=delete)
        if not yes:
            click.confirm(f"{asked} This cannot be undone.", abort=True, err=True)
        document = _deleted(place, info) if delete else _purged(place, info, keep, older_than)
    if as_json:
        print_json({"session": id, "tenant": tenant, **document})
    elif delete:
        say(f"session {id!r}: removed with {count(info.messages, 'message')}")
    else:
        emptied = document["emptied"]
        which = f": {document['which']}" if emptied else ""
        say(f"session {id!r}: {count(emptied, 'message')} emptied{which}")


def _asked(info: SessionInfo, keep: int | None, older_than: int | None, *, delete: bool) -> str:
    if delete:
        return f"Remove session {info.id!r} with {count(info.messages, 'message')}?"
    which = []
    if keep is not None:
        which.append(f"all but the newest {keep:,}")
    if older_than is not None:
        which.append(f"what is older than {_age(older_than)}")
    limits = " and ".join(which) or "what its retention does not keep"
    return f"Empty {limits} of the {count(info.messages, 'message')} of session {info.id!r}?"


def _age(seconds: int) -> str:
    unit = next(unit for unit in "wdhms" if seconds % _SECONDS[unit] == 0)
    return f"{seconds // _SECONDS[unit]}{unit}"


def _deleted(place: Place, info: SessionInfo) -> dict[str, Any]:
    there = place.session(info.id, info.tenant).delete()
    return {"deleted": there, "emptied": info.messages, "which": ""}


def _purged(
    place: Place, info: SessionInfo, keep: int | None, older_than: int | None
) -> dict[str, Any]:
    session = place.session(info.id, info.tenant)
    try:
        emptied = session.purge(_retention(keep, older_than))
    except ValueError:
        raise Unusable(
            f"{place.shown}: session {info.id!r} has no retention of its own: say what is kept "
            "with --keep or --older-than, or remove it with --delete"
        ) from None
    told = session.events()[-1].note if emptied else ""
    return {"deleted": False, "emptied": emptied, "which": told.partition(": ")[2]}


def _retention(keep: int | None, older_than: int | None) -> Retention | None:
    from lockstitch.stores.settings import Retention

    if keep is None and older_than is None:
        return None
    return Retention(messages=keep, seconds=older_than)
