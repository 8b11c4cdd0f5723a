"""`lockstitch store verify` and `migrate`: whether a store is whole, and which schema it has."""

from __future__ import annotations

from functools import partial
from typing import Any

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
    url_argument,
)
from lockstitch.cli.store.printing import print_json
from lockstitch.errors import StoreError
from lockstitch.explain import count

__all__ = ["migrate_command", "verify_command"]


@click.command("verify")
@url_argument
@click.argument("ids", nargs=-1, metavar="[ID...]")
@all_option
@prefix_option
@tenant_option
@json_option
def verify_command(
    url: str,
    ids: tuple[str, ...],
    *,
    everything: bool,
    prefix: str,
    tenant: str | None,
    as_json: bool,
) -> None:
    """Read everything that is stored of sessions, and say what is wrong with it.

    With --json there is one object a line for each session.

    Exits with 0, or with 1 when something was found.
    """
    worst = 0
    with opened(url, as_json=as_json) as place:
        found = place.chosen(ids, prefix, tenant, everything=everything)
        with Bar(total=len(found)) as bar:
            for one in found:
                bar.step(one.id)
                document: dict[str, Any] = {"session": one.id, "tenant": tenant}
                document |= {"messages": one.messages, "ok": True, "findings": []}
                try:
                    findings = place.session(one.id, tenant).verify()
                    document["findings"] = [msgspec.to_builtins(finding) for finding in findings]
                except StoreError as error:
                    # Not one row of it: the session cannot be read at all.
                    told = {"seq": 0, "kind": "session", "message": place.clean(str(error))}
                    document["findings"] = [told]
                if document["findings"]:
                    document["ok"], worst = False, REFUSED
                bar.say(partial(_print, document, as_json=as_json))
    if not as_json and len(found) != 1:
        say(count(len(found), "session"))
    click.get_current_context().exit(worst)


def _print(document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(document)
        return
    findings = document["findings"]
    verdict = count(len(findings), "finding") if findings else "whole"
    say(f"session {document['session']!r}: {count(document['messages'], 'message')}, {verdict}")
    for finding in findings:
        where = f"message {finding['seq']}: " if finding["seq"] else ""
        say(f"  {finding['kind']:<8} {where}{finding['message']}")


@click.command("migrate")
@url_argument
@json_option
def migrate_command(url: str, *, as_json: bool) -> None:
    """Bring the schema of the store at URL to the newest that this version of Lockstitch knows.

    Whatever opens a store does so as well; here it is done before that, and told.
    """
    from lockstitch.stores.base import Migrating

    with opened(url, make=True, as_json=as_json) as place:
        backend = place.store.backend
        if not isinstance(backend, Migrating):
            found, now = 0, 0
        else:
            found, now = place.store.run(backend.migrate())
    if as_json:
        print_json({"store": place.shown, "found": found, "now": now})
    elif not now:
        say(f"{place.shown}: nothing to do: it has no schema")
    elif found == now:
        say(f"{place.shown}: nothing to do: it has schema {now}, the newest")
    elif not found:
        say(f"{place.shown}: schema {now} was made")
    else:
        say(f"{place.shown}: from schema {found} to {now}")
