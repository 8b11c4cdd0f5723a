"""`lockstitch trim`: cut a history to a limit, and say what went and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import click
import msgspec

from lockstitch.accepting import check
from lockstitch.cli.failures import DoesNotFit, Unusable, as_document, options_for
from lockstitch.cli.files import (
    Input,
    open_input,
    raw_json,
    read_input,
    write_file,
    write_stdout,
)
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import format_option, model_option, profile_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import say, show
from lockstitch.cli.sizes import measure
from lockstitch.cli.strategies import (
    blobs_option,
    directive_of,
    strategy_option,
    summarize_option,
)
from lockstitch.errors import CannotFit, PinLost
from lockstitch.explain import document_of, rows_of
from lockstitch.facts import SYSTEM
from lockstitch.history import apply, plan
from lockstitch.measure.limits import Limits
from lockstitch.plan import kept_natives
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from lockstitch.blobs import BlobStore
    from lockstitch.plan import Plan
    from lockstitch.rules.report import Report
    from lockstitch.strategies.directive import HistoryDirective

__all__ = ["trim_command"]

# A row for each message up to this many, a row for each range beyond.
MOST_ROWS = 400


class _Ask(TypedDict):
    """The options that say how to decide."""

    profile: str
    model: str | None
    cut: Literal["groups", "prefix"]
    pin: tuple[int, ...]
    keep_system: bool
    counter: Literal["estimate", "bytes"]
    floor: bool
    on_overflow: Literal["raise", "smallest", "empty"]


@click.command("trim")
@click.argument("file", metavar="FILE")
@strategy_option
@summarize_option
@blobs_option
@click.option("--max-messages", type=click.IntRange(min=0), help="Most messages; 0 keeps none.")
@click.option("--max-tokens", type=click.IntRange(min=0), help="Most tokens, see --counter.")
@click.option("--max-chars", type=click.IntRange(min=0), help="Most characters of text.")
@click.option(
    "--trim-to",
    type=click.IntRange(min=0),
    help="Once the only limit is passed, cut to this instead.",
)
@click.option(
    "--reserve",
    type=click.IntRange(min=0),
    default=0,
    help="Tokens (or characters) to keep free for the answer.",
)
@click.option(
    "--counter",
    type=click.Choice(["estimate", "bytes"]),
    default="estimate",
    show_default=True,
    help="What counts tokens: the upper edge of an estimate, or the sure upper bound.",
)
@profile_option
@model_option
@format_option
@click.option(
    "--cut",
    type=click.Choice(["groups", "prefix"]),
    default="groups",
    show_default=True,
    help="groups: whole groups go, oldest first; prefix: everything before one place goes.",
)
@click.option(
    "--pin",
    type=int,
    multiple=True,
    metavar="POSITION",
    help="Keep this message with what belongs to it; negative counts from the end. Repeatable.",
)
@click.option(
    "--keep-system/--no-keep-system",
    default=True,
    show_default=True,
    help="Keep the system messages at the beginning, under --no-floor too.",
)
@click.option(
    "--floor/--no-floor",
    default=True,
    show_default=True,
    help="Protect the newest user message, open calls and the newest complete group.",
)
@click.option(
    "--on-overflow",
    type=click.Choice(["raise", "smallest", "empty"]),
    default="raise",
    show_default=True,
    help="What to do when that is over the limit.",
)
@click.option("--explain", is_flag=True, help="Say on standard error what went and why.")
@json_option
@click.option("-o", "--output", metavar="FILE", help="Where the result goes; else to stdout.")
def trim_command(
    file: str,
    *,
    max_messages: int | None,
    max_tokens: int | None,
    max_chars: int | None,
    trim_to: int | None,
    reserve: int,
    format: str | None,
    output: str | None,
    explain: bool,
    as_json: bool,
    strategy: str | None,
    summarize: str | None,
    blobs: str | None,
    **ask: Any,
) -> None:
    """Cut FILE ("-" for standard input) to a limit so that the provider accepts what is kept.

    Without a strategy whole groups go, oldest first. A strategy may clear old results, leave old
    reasoning out and put a summary in before that.

    What is kept is written the way it was read: JSON, JSON lines, gzip. With --json standard output
    is one object with the decision, its sizes, the kept messages and a check of the result.

    Exits with 0, with 1 when no window fits the limit, with 2 when the input cannot be used.
    """
    options: _Ask = {**ask}  # type: ignore[typeddict-item]
    directive = directive_of(strategy, summarize)
    limits = _limits(
        max_messages, max_tokens, max_chars, trim_to, reserve, needed=not _bounded(directive)
    )
    if options["floor"] and not options["keep_system"]:
        raise click.UsageError(
            "--no-keep-system goes with --no-floor: the floor protects the system part as well"
        )
    with Bar(total=1) as bar:
        try:
            bar.step(f"reading {file}")
            source = read_input(file)
            transcript = open_input(source, format)
            bar.step("deciding")
            decision = _decide(file, transcript, limits, options, directive)
        except (Unusable, DoesNotFit) as failure:
            if as_json:
                say(json.dumps(as_document(file, failure)))
            raise
        bar.step("writing")
        kept: bytes = apply(decision, transcript, blobs=_blobs(blobs, decision))
        result = _result(transcript, decision)
        report = check(result, profile=decision.profile, model=options["model"])
        if output not in {None, "-"}:
            write_file(str(output), kept, zipped=source.zipped)
        if as_json:
            counter = options["counter"]
            write_stdout(
                _document(
                    file,
                    transcript,
                    result,
                    decision,
                    report,
                    counter=counter,
                    inside=output in {None, "-"},
                )
                + b"\n",
                zipped=False,
            )
        elif output in {None, "-"}:
            write_stdout(kept, zipped=source.zipped)
    _tell(source, transcript, decision, report, explain=explain, written=output)


def _limits(
    max_messages: int | None,
    max_tokens: int | None,
    max_chars: int | None,
    trim_to: int | None,
    reserve: int,
    *,
    needed: bool,
) -> Limits:
    try:
        limits = Limits(
            max_messages=max_messages,
            max_tokens=max_tokens,
            max_chars=max_chars,
            trim_to=trim_to,
            reserve=reserve,
        )
    except ValueError as error:
        raise click.UsageError(options_for(str(error))) from None
    if needed and not limits.units:
        raise click.UsageError("no limit given: --max-messages, --max-tokens or --max-chars")
    return limits


def _bounded(directive: HistoryDirective | None) -> bool:
    return directive is not None and directive.bounded


def _decide(
    name: str,
    transcript: Transcript,
    limits: Limits,
    ask: _Ask,
    directive: HistoryDirective | None,
) -> Plan:
    count = len(transcript)
    for pin in ask["pin"]:
        if not -count <= pin < count:
            raise Unusable(f"{name}: --pin {pin} is outside the history of {count} messages")
    pins = [*ask["pin"]]
    if ask["keep_system"] and not ask["floor"]:
        pins += _system_part(transcript)
    try:
        if directive is not None:
            return _directed(transcript, limits, ask, directive, pins)
        return plan(
            transcript,
            max_messages=limits.max_messages,
            max_tokens=limits.max_tokens,
            max_chars=limits.max_chars,
            trim_to=limits.trim_to,
            reserve=limits.reserve,
            profile=ask["profile"],
            model=ask["model"],
            cut=ask["cut"],
            pins=pins,
            counter=ask["counter"],
            floor=ask["floor"],
            on_overflow=ask["on_overflow"],
        )
    except (CannotFit, PinLost) as error:
        raise DoesNotFit(name, error) from None


def _directed(
    transcript: Transcript,
    limits: Limits,
    ask: _Ask,
    directive: HistoryDirective,
    pins: list[int],
) -> Plan:
    """Let a strategy decide; a summary that it asks for is put together without a model."""
    from lockstitch.directing import Direction
    from lockstitch.opening import Opened

    overrides = {
        "window_messages": limits.max_messages,
        "max_tokens": limits.max_tokens,
        "max_chars": limits.max_chars,
        "trim_to": limits.trim_to,
        "reserve": limits.reserve or None,
        "cut": None if ask["cut"] == "groups" else ask["cut"],
        "on_overflow": None if ask["on_overflow"] == "raise" else ask["on_overflow"],
    }
    direction = Direction(
        Opened(transcript, None),
        directive,
        overrides,
        profile=ask["profile"],
        model=ask["model"],
        pins=pins,
        counter=ask["counter"],
        floor=ask["floor"],
    )
    decision, _ = direction.finished(None)
    return decision


def _blobs(folder: str | None, decision: Plan) -> BlobStore | None:
    """Return where the results go that a plan offloads."""
    from lockstitch.blobs import offloads
    from lockstitch.stores.blobs import DirectoryBlobs

    if folder is None and offloads(decision):
        raise Unusable("the strategy offloads results: --blobs FOLDER says where they go")
    return None if folder is None else DirectoryBlobs(folder)


def _system_part(transcript: Transcript) -> list[int]:
    found: list[int] = []
    for position in range(len(transcript)):
        if transcript.facts_at(position).role != SYSTEM:
            break
        found.append(position)
    return found


def _result(transcript: Transcript, decision: Plan) -> Transcript:
    """What is kept, as a history of its own: a single JSON line is not read back as one."""
    kept = kept_natives(decision.edits, transcript)
    return Transcript(msgspec.structs.replace(transcript.document, natives=kept), transcript.format)


def _document(
    name: str,
    transcript: Transcript,
    result: Transcript,
    decision: Plan,
    report: Report,
    *,
    counter: str,
    inside: bool,
) -> bytes:
    document = {
        "file": name,
        "format": decision.format,
        "profile": decision.profile,
        "kept": decision.kept,
        "dropped": decision.dropped,
        "before": measure(transcript, counter).total(range(len(transcript))),
        "after": measure(result, counter).total(range(len(result))),
        "plan": msgspec.to_builtins(decision),
        "report": document_of(rows_of(report)),
        "messages": None,
    }
    written = json.dumps(document).encode()
    if not inside:
        return written
    # The messages as they stand in the file, not as a writer would spell them.
    inner = b", ".join(raw_json(native) for native in result.natives)
    return written.removesuffix(b"null}") + b"[" + inner + b"]}"


def _tell(
    source: Input,
    transcript: Transcript,
    decision: Plan,
    report: Report,
    *,
    explain: bool,
    written: str | None,
) -> None:
    if explain:
        whole = transcript if len(transcript) <= MOST_ROWS else None
        show(rows_of(decision, whole), title=f"{source.name}: ", err=True)
    elif written not in {None, "-"}:
        say(f"{source.name}: {rows_of(decision).summary}; written to {written}", err=True)
    if not report.ok:
        say(
            f"{source.name}: the result still breaks rules of {report.profile} "
            f"({len(report.errors)}; first: {report.errors[0].path}: {report.errors[0].message}). "
            "Trimming does not mend: lockstitch check shows all of them.",
            err=True,
        )
