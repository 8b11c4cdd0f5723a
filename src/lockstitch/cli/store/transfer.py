"""`lockstitch store export` and `import`: a session as a file, and a file as a session."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lockstitch.cli.failures import Unusable
from lockstitch.cli.files import read_input, write_pieces
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say
from lockstitch.cli.store.places import id_argument, opened, tenant_option, url_argument
from lockstitch.cli.store.printing import print_json
from lockstitch.errors import FormatError, SchemaTooNew
from lockstitch.explain import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["export_command", "import_command"]


@click.command("export")
@url_argument
@id_argument
@tenant_option
@json_option
@click.option("-o", "--output", metavar="FILE", help="Where the lines go; else to stdout.")
def export_command(
    url: str, id: str, tenant: str | None, *, as_json: bool, output: str | None
) -> None:
    """Write the session ID, whole, as JSON lines that `lockstitch store import` reads.

    They hold the record with everything that happened to it, and not only what the model is shown.
    With --json and -o, standard output is one object that says what was written.
    """
    with Bar(total=1) as bar, opened(url, as_json=as_json) as place:
        info = place.known(id, tenant)
        lines = _ended(place.session(id, tenant).export())
        bar.step(f"exporting {id}")
        if output in {None, "-"}:
            for line in lines:
                sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            return
        write_pieces(str(output), lines)
    if as_json:
        print_json({"session": id, "tenant": tenant, "messages": info.messages, "file": output})
    said = f"session {id!r}: {count(info.messages, 'message')} written to {output}"
    say(said, err=True)


def _ended(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield line + b"\n"


@click.command("import")
@url_argument
@id_argument
@click.argument("file", metavar="FILE")
@tenant_option
@json_option
def import_command(url: str, id: str, file: str, *, tenant: str | None, as_json: bool) -> None:
    """Make the session ID of FILE ("-" for standard input), which `export` wrote.

    Numbers, batches and keys stay as they are. An import that was cut short goes on where it was
    when it is run again; until it is done, nothing can be read of the session.
    """
    with Bar(total=1) as bar:
        bar.step(f"importing {file}")
        with opened(url, make=True, as_json=as_json) as place:
            lines = read_input(file).data.splitlines()
            if not any(line.strip() for line in lines):
                raise Unusable(f"{file}: it is empty, and no export")
            try:
                messages = place.session(id, tenant).import_(lines)
            except (FormatError, SchemaTooNew) as error:
                raise Unusable(f"{file}: {error}", error) from None
    if as_json:
        print_json({"session": id, "tenant": tenant, "messages": messages})
    else:
        say(f"session {id!r}: {count(messages, 'message')}")
