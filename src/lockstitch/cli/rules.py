"""`lockstitch rules`: the catalogue and what is known of models, to be looked things up in."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click
import msgspec

from lockstitch.cli.failures import Unusable
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.render import say, show_grid
from lockstitch.cli.sources import links_of
from lockstitch.explain import count
from lockstitch.rules.catalog import RULES
from lockstitch.rules.models import FACTS, MODELS, phrase
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lockstitch.rules.models import ModelFacts
    from lockstitch.rules.rule import Rule

__all__ = ["rules_command"]

NEAREST = 3

_profile = click.option(
    "--profile", type=click.Choice(list(PROFILES)), help="Only what concerns this target."
)


@click.group("rules")
def rules_command() -> None:
    """Look up what providers demand, and what is known of models."""


@rules_command.command("list")
@_profile
@click.option(
    "--severity", type=click.Choice(["error", "warning"]), help="Only rules of this severity."
)
@json_option
def list_command(profile: str | None, severity: str | None, *, as_json: bool) -> None:
    """List the rules: what they demand, how grave a breach is, how they are known.

    With --json there is one object a line for each rule.
    """
    rules = [
        rule
        for rule in RULES.values()
        if (profile is None or profile in rule.profiles) and severity in {None, rule.severity}
    ]
    if as_json:
        for rule in rules:
            say(json.dumps(_document(rule)))
        return
    titles = ["rule", "severity", "status", "demands"]
    show_grid(titles, [[rule.id, rule.severity, rule.status, rule.title] for rule in rules])
    say(count(len(rules), "rule"))


@rules_command.command("show")
@click.argument("name", metavar="ID")
@json_option
def show_command(name: str, *, as_json: bool) -> None:
    """Show all there is to know of the rule ID."""
    rule = RULES.get(name)
    if rule is None:
        near = get_close_matches(name.lower(), RULES, NEAREST, 0.5)
        hint = f"nearest: {', '.join(near)}" if near else "lockstitch rules list shows all"
        raise Unusable(f"no rule is called {name!r}; {hint}")
    if as_json:
        say(json.dumps(_document(rule)))
        return
    say("\n".join(_lines(rule)))


@rules_command.command("models")
@_profile
@json_option
def models_command(profile: str | None, *, as_json: bool) -> None:
    """List what is known of single models, where a target does not treat all of its alike.

    A row holds for the names that its pattern fits; where two fit, the later one counts. With
    --json there is one object a line for each row.
    """
    rows = [row for row in MODELS if profile in {None, row.profile}]
    if as_json:
        for row in rows:
            say(json.dumps(msgspec.to_builtins(row)))
        return
    titles = ["profile", "models", "known", "date", "source"]
    show_grid(
        titles, [[row.profile, row.pattern, _said(row), row.date, row.source] for row in rows]
    )
    for name in dict.fromkeys(name for row in rows for name in row.facts):
        say(f"{name}: {FACTS[name]}")
    say(count(len(rows), "row"))


def _said(row: ModelFacts) -> str:
    return ", ".join(name if holds else f"not {name}" for name, holds in row.facts.items())


def _document(rule: Rule) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(rule)
    return fields | {"links": links_of(rule.source)}


def _lines(rule: Rule) -> Iterator[str]:
    yield f"{rule.id}: {rule.title}"
    yield ""
    yield rule.statement
    if rule.error:
        yield ""
        yield f"The provider answers: {rule.error}"
    yield ""
    rows = {
        "severity": rule.severity,
        "status": rule.status,
        "source": rule.source,
        "profiles": ", ".join(rule.profiles),
        "formats": ", ".join(rule.formats) or "any",
        "models": f"where {rule.scope}: {phrase(rule.scope)}" if rule.scope else "all",
        "repairs": ", ".join(rule.repairs),
        "export": "mends it too" if rule.target_only else "",
        "check": "" if rule.check else "none: messages alone do not show a breach",
    }
    for title, said in rows.items():
        if said:
            yield f"{title + ':':<10}{said}"
    for link in links_of(rule.source):
        yield f"{'':<10}{link}"
