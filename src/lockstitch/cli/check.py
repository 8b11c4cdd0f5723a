"""`lockstitch check`: what providers would refuse in these files, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Literal

import click
import msgspec

from lockstitch.accepting import check
from lockstitch.cli.failures import REFUSED, UNUSABLE, Unusable, as_document
from lockstitch.cli.files import (
    Input,
    open_input,
    open_record,
    read_input,
    write_file,
    write_stdout,
)
from lockstitch.cli.matrix import Row, show_matrix
from lockstitch.cli.options import (
    EVERY_PROFILE,
    format_option,
    model_option,
    profiles_option,
    record_option,
    tail_option,
)
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say, show
from lockstitch.cli.sarif import Log
from lockstitch.explain import Explanation, document_of, rows_of
from lockstitch.rules.profiles import PROFILES
from lockstitch.rules.report import Report
from lockstitch.rules.shapes import can_be_written
from lockstitch.transcript import Transcript

__all__ = ["check_command"]


class _Ask(msgspec.Struct, frozen=True, kw_only=True):
    """The options that say what to check against."""

    profiles: Sequence[str]
    every: bool
    tail: Literal["open", "closed"]
    format: str | None
    model: str | None
    record: Input | None


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    """One file and the reports on it, one for each profile that takes its format."""

    source: Input
    transcript: Transcript
    reports: Sequence[Report]


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@profiles_option
@model_option
@tail_option("open")
@record_option
@format_option
@json_option
@click.option("--sarif", is_flag=True, help="Print a SARIF 2.1.0 log, for code scanning in CI.")
@click.option("-o", "--output", metavar="FILE", help="Where the SARIF log goes; else to stdout.")
def check_command(
    files: tuple[str, ...],
    *,
    profiles: tuple[str, ...],
    model: str | None,
    tail: Literal["open", "closed"],
    record: str | None,
    format: str | None,
    as_json: bool,
    sarif: bool,
    output: str | None,
) -> None:
    """Find what a provider would refuse in each FILE ("-" for standard input).

    With --profile all there is a matrix of files by profiles: errors / warnings, blank where a
    profile does not take the format of the file. With --json there is one object a line for each
    file and profile.

    Exits with 0 when nothing is an error, 1 when something is, 2 when a file cannot be used.
    """
    _check_outputs(as_json=as_json, sarif=sarif, output=output)
    ask = _Ask(
        profiles=list(PROFILES) if EVERY_PROFILE in profiles else list(dict.fromkeys(profiles)),
        every=EVERY_PROFILE in profiles,
        tail=tail,
        format=format,
        model=model,
        record=read_input(record) if record is not None else None,
    )
    log = Log() if sarif else None
    rows: list[Row] = []
    worst = 0
    with Bar(total=len(files)) as bar:
        for name in files:
            bar.step(name)
            try:
                seen = _look(name, ask)
            except Unusable as failure:
                worst = UNUSABLE
                bar.say(partial(say, f"Error: {failure.message}", err=True))
                if as_json:
                    bar.say(partial(say, json.dumps(as_document(name, failure))))
                if log is not None:
                    log.fail(name, failure.message)
                continue
            worst = max(worst, *(0 if report.ok else REFUSED for report in seen.reports))
            rows.append(Row(name, {report.profile: report for report in seen.reports}))
            if log is not None:
                log.add(seen.source, seen.transcript, seen.reports)
            else:
                bar.say(partial(_print, seen, ask, as_json=as_json))
    if log is not None:
        _write(log, output)
    elif rows and not as_json and len(ask.profiles) > 1:
        show_matrix(rows, ask.profiles)
    click.get_current_context().exit(worst)


def _check_outputs(*, as_json: bool, sarif: bool, output: str | None) -> None:
    if as_json and sarif:
        raise click.UsageError("--json and --sarif are two forms of one output: choose one")
    if output is not None and not sarif:
        raise click.UsageError("-o goes with --sarif")


def _look(name: str, ask: _Ask) -> _Seen:
    source = read_input(name)
    transcript = open_input(source, ask.format)
    record = open_record(ask.record, transcript, ask.format) if ask.record is not None else None
    # A profile that was named is asked whatever the format; of all, those that take it.
    profiles = [
        profile
        for profile in ask.profiles
        if not ask.every or can_be_written(profile, transcript.format.name)
    ]
    reports = [
        check(transcript, profile=profile, tail=ask.tail, model=ask.model, record=record)
        for profile in profiles
    ]
    return _Seen(source=source, transcript=transcript, reports=reports)


def _print(seen: _Seen, ask: _Ask, *, as_json: bool) -> None:
    name = seen.source.name
    for report in seen.reports:
        told: Explanation = rows_of(report, seen.transcript)
        if as_json:
            say(json.dumps({"file": name, "tail": ask.tail, **document_of(told)}))
        elif not ask.every:
            show(told, title=f"{name}: ")


def _write(log: Log, output: str | None) -> None:
    written = json.dumps(log.document(), indent=2).encode() + b"\n"
    if output in {None, "-"}:
        write_stdout(written, zipped=False)
    else:
        write_file(str(output), written, zipped=False)
