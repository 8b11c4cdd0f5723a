"""Options that more than one command takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lockstitch.formats import FORMATS
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "EVERY_PROFILE",
    "as_json",
    "format_option",
    "model_option",
    "profile_option",
    "profiles_option",
    "record_option",
    "tail_option",
    "target_option",
]

EVERY_PROFILE = "all"

profile_option = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    default="portable",
    show_default=True,
    help="Whose acceptance rules apply.",
)
target_option = click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    required=True,
    help="The target to write for.",
)
profiles_option = click.option(
    "--profile",
    "profiles",
    type=click.Choice([*PROFILES, EVERY_PROFILE]),
    multiple=True,
    default=("portable",),
    show_default="portable",
    help="Whose acceptance rules apply. Repeatable; all: every profile, shown as a matrix.",
)
model_option = click.option(
    "--model",
    metavar="NAME",
    help="The model; some rules hold for some models only. Else as the request body names it.",
)
record_option = click.option(
    "--record",
    metavar="FILE",
    help="The history as it was first recorded, in the same format.",
)
format_option = click.option(
    "--format",
    type=click.Choice(list(FORMATS)),
    help="The format of the messages; found by their shape when not given.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def tail_option(default: str) -> Callable[[Any], Any]:
    """Make the option that says where the conversation stands."""
    return click.option(
        "--tail",
        type=click.Choice(["open", "closed"]),
        default=default,
        show_default=True,
        help="open: tools are running, the last calls may lack results; closed: the model is next.",
    )
