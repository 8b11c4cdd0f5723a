"""`lockstitch store`: what is kept in stores, from a terminal.

The commands, each beside those that are like it; what all of them share is in `places`.
"""

from __future__ import annotations

import click

from lockstitch.cli.store.appending import append_command
from lockstitch.cli.store.changing import fork_command, purge_command, rewind_command
from lockstitch.cli.store.copying import copy_command
from lockstitch.cli.store.looking import explain_command, ls_command, show_command, window_command
from lockstitch.cli.store.transfer import export_command, import_command
from lockstitch.cli.store.upkeep import migrate_command, verify_command

__all__ = ["store_command"]


@click.group("store")
def store_command() -> None:
    """Look into stores, change sessions, and take them from one store to another.

    URL says which store: sqlite:///chat.db (relative), sqlite:////var/lib/chat.db (absolute), or
    what else `lockstitch.open_store` takes. A password in it is never printed.
    """


for command in (
    ls_command,
    show_command,
    window_command,
    explain_command,
    append_command,
    export_command,
    import_command,
    fork_command,
    rewind_command,
    purge_command,
    verify_command,
    migrate_command,
    copy_command,
):
    store_command.add_command(command)
