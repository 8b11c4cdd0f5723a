"""`lockstitch repair` and `lockstitch export`: write a history so that a target takes it.

Both write what they read, changed, and account for every change; they differ in what they mend.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec

from lockstitch.accepting import export, repair
from lockstitch.cli.failures import REFUSED, Unusable, as_document
from lockstitch.cli.files import (
    Input,
    open_input,
    open_record,
    raw_json,
    read_input,
    write_file,
    write_stdout,
)
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import (
    format_option,
    model_option,
    profile_option,
    record_option,
    tail_option,
    target_option,
)
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say, show
from lockstitch.document.lines import BOM
from lockstitch.explain import Explanation, document_of, one_line, rows_of
from lockstitch.rules.account import KINDS, Repair
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


__all__ = ["export_command", "repair_command"]

_SHOWN = 200  # characters of instructions that have no place in what is written

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Say what would be changed, and write nothing."
)
explain_option = click.option(
    "--explain", is_flag=True, help="Say on standard error what was changed: each before and after."
)
output_option = click.option(
    "-o", "--output", metavar="FILE", help="Where the result goes; else to stdout."
)


class _Result(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, what became of it, and the bytes to write.

    `homeless`: instructions that left the list and have no place in what is written.
    """

    source: Input
    repair: Repair
    written: bytes
    homeless: str | None


@click.command("repair")
@click.argument("file", metavar="FILE")
@profile_option
@model_option
@tail_option("closed")
@record_option
@click.option(
    "--allow",
    type=click.Choice(KINDS),
    multiple=True,
    help="Use this kind of repair; all of them when none is named. Repeatable. What loses and adds "
    "nothing (restore, rename, replace) is always done.",
)
@format_option
@dry_run_option
@explain_option
@json_option
@output_option
def repair_command(
    file: str,
    *,
    profile: str,
    model: str | None,
    tail: Literal["open", "closed"],
    record: str | None,
    allow: tuple[str, ...],
    format: str | None,
    **output: Any,
) -> None:
    """Mend what the provider would refuse in FILE ("-" for standard input), with the least loss.

    The result is written the way it was read: JSON, JSON lines, gzip, a request body. A message
    that nothing was wrong with keeps its bytes.

    Exits with 0 when nothing is left that the provider refuses, 1 when something is, 2 when the
    input cannot be used.
    """

    def mended(transcript: Transcript) -> Repair:
        kept = open_record(read_input(record), transcript, format) if record is not None else None
        return repair(
            transcript,
            profile=profile,
            model=model,
            tail=tail,
            record=kept,
            allow=allow or KINDS,
        )

    _run(file, format, mended, **output)


@click.command("export")
@click.argument("file", metavar="FILE")
@target_option
@model_option
@format_option
@dry_run_option
@explain_option
@json_option
@output_option
def export_command(
    file: str, *, profile: str, model: str | None, format: str | None, **output: Any
) -> None:
    """Write FILE ("-" for standard input) the way one target wants it: ids, packing, blank content.

    What is broken for every target is for repair. The result is written the way it was read.

    Exits with 0 when nothing is left that the provider refuses, 1 when something is, 2 when the
    input cannot be used.
    """
    _run(
        file, format, lambda transcript: export(transcript, profile=profile, model=model), **output
    )


def _run(
    name: str,
    format: str | None,
    mended: Callable[[Transcript], Repair],
    *,
    dry_run: bool,
    explain: bool,
    as_json: bool,
    output: str | None,
) -> None:
    if dry_run and output is not None:
        raise click.UsageError("--dry-run writes nothing: leave out -o")
    with Bar(total=1) as bar:
        try:
            bar.step(f"reading {name}")
            source = read_input(name)
            transcript = open_input(source, format)
            bar.step("mending")
            result = _result(source, transcript, mended)
        except Unusable as failure:
            if as_json:
                say(json.dumps(as_document(name, failure)))
            raise
        bar.step("writing")
        to_stdout = not dry_run and output in {None, "-"}
        if not dry_run and not to_stdout:
            write_file(str(output), result.written, zipped=source.zipped)
        if as_json:
            write_stdout(_document(result, inside=to_stdout) + b"\n", zipped=False)
        elif to_stdout:
            write_stdout(result.written, zipped=source.zipped)
    told = rows_of(result.repair)
    if not as_json or explain:
        _tell(result, told, every=explain or dry_run, err=not dry_run or as_json)
    click.get_current_context().exit(0 if result.repair.ok else REFUSED)


def _result(
    source: Input, transcript: Transcript, mended: Callable[[Transcript], Repair]
) -> _Result:
    """Mend a history and put it back into what it was read from."""
    document = transcript.document
    fields: dict[str, Any] = {}

    def as_list(changed: Sequence[Any], around: Mapping[str, Any] = fields) -> list[Any]:
        fields.update(around)
        return list(changed)

    # As a list first: a single JSON line is not read back as one.
    bare = Transcript(msgspec.structs.replace(document, rebuild=as_list), transcript.format)
    outcome = mended(bare)
    written: bytes = document.rebuild(outcome.messages, fields)
    body = document.path != "lines" and written.removeprefix(BOM).lstrip()[:1] == b"{"
    homeless = None if body else outcome.system
    return _Result(source=source, repair=outcome, written=written, homeless=homeless)


def _document(result: _Result, *, inside: bool) -> bytes:
    told = document_of(rows_of(result.repair))
    written = json.dumps({"file": result.source.name, **told, "messages": None}).encode()
    if not inside:
        return written
    # The messages as they will stand in the file, not as a writer would spell them.
    inner = b", ".join(map(raw_json, result.repair.messages))
    return written.removesuffix(b"null}") + b"[" + inner + b"]}"


def _tell(result: _Result, told: Explanation, *, every: bool, err: bool) -> None:
    shown = told if every else msgspec.structs.replace(told, rows=())
    show(shown, title=f"{result.source.name}: ", err=err)
    if result.homeless:
        say(
            f"{result.source.name}: these instructions left the list and belong into the request's "
            f"own field: {one_line(result.homeless, _SHOWN)}",
            err=True,
        )
