"""The command line: what the library does, for files.

Exit codes: 0 fine; 1 the provider would refuse what was checked or what a repair came to, no window
fits the limit, or a store is damaged or was not copied whole; 2 the input or the arguments cannot
be used; 3 a bug in Lockstitch. Findings go to standard output, everything else to standard error.
"""

from __future__ import annotations

import os
from typing import Any

import click

from lockstitch.cli.check import check_command
from lockstitch.cli.demo import demo_command
from lockstitch.cli.repair import export_command, repair_command
from lockstitch.cli.rules import rules_command
from lockstitch.cli.stats import stats_command
from lockstitch.cli.store import store_command
from lockstitch.cli.trim import trim_command

__all__ = ["main"]

BUG = 3


class _Commands(click.Group):
    """A group of commands that ends in a message, never in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        # What click itself turns into a message or an exit code; a closed pipe is one of these.
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if os.environ.get("LOCKSTITCH_DEBUG"):
                raise
            said = f"{type(error).__name__}: {error}".strip()[:300]
            click.echo(
                f"This is a bug in lockstitch ({said}).\n"
                "Please report it with the traceback: run the same command with "
                "LOCKSTITCH_DEBUG=1 to see it.",
                err=True,
            )
            ctx.exit(BUG)


def _show_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:  # noqa: FBT001 - click's signature
    if asked and not ctx.resilient_parsing:
        import lockstitch

        click.echo(f"lockstitch {lockstitch.__version__}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Keep an agent's conversation inside its limits, so that the provider accepts it."""


for command in (
    check_command,
    repair_command,
    export_command,
    trim_command,
    stats_command,
    rules_command,
    store_command,
    demo_command,
):
    main.add_command(command)
