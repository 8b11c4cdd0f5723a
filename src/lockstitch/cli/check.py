"""`lockstitch check`: what a provider would refuse in these files, and why."""

from __future__ import annotations

import json
from functools import partial
from typing import Literal

import click

from lockstitch.accepting import check
from lockstitch.cli.failures import REFUSED, UNUSABLE, Unusable, as_document
from lockstitch.cli.files import open_input, read_input
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import format_option, profile_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say, show
from lockstitch.explain import Explanation, document_of, rows_of

__all__ = ["check_command"]


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@profile_option
@click.option(
    "--tail",
    type=click.Choice(["open", "closed"]),
    default="open",
    show_default=True,
    help="open: tools are running, the last calls may lack results; closed: the model is next.",
)
@format_option
@json_option
def check_command(
    files: tuple[str, ...],
    profile: str,
    tail: Literal["open", "closed"],
    format: str | None,
    *,
    as_json: bool,
) -> None:
    """Find what a provider would refuse in each FILE ("-" for standard input).

    Exits with 0 when nothing is an error, 1 when something is, 2 when a file cannot be used. With
    --json there is one object a line for each file.
    """
    worst = 0
    with Bar(total=len(files)) as bar:
        for name in files:
            bar.step(name)
            try:
                transcript = open_input(read_input(name), format)
                report = check(transcript, profile=profile, tail=tail)
            except Unusable as failure:
                worst = UNUSABLE
                bar.say(partial(say, f"Error: {failure.message}", err=True))
                if as_json:
                    bar.say(partial(say, json.dumps(as_document(name, failure))))
                continue
            worst = max(worst, 0 if report.ok else REFUSED)
            bar.say(partial(_print, name, tail, rows_of(report, transcript), as_json=as_json))
    click.get_current_context().exit(worst)


def _print(name: str, tail: str, told: Explanation, *, as_json: bool) -> None:
    if as_json:
        say(json.dumps({"file": name, "tail": tail, **document_of(told)}))
    else:
        show(told, title=f"{name}: ")
