"""Options that more than one command takes."""

from __future__ import annotations

import click

from lockstitch.formats import FORMATS
from lockstitch.rules.profiles import PROFILES

__all__ = ["as_json", "format_option", "profile_option"]

profile_option = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="portable",
    show_default=True,
    help="Whose acceptance rules apply.",
)
format_option = click.option(
    "--format",
    type=click.Choice(list(FORMATS)),
    help="The format of the messages; found by their shape when not given.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
