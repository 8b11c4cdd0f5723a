"""`lockstitch stats`: what is in a history, how large it is, and where it is in trouble."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

import click
import msgspec

from lockstitch.accepting import check
from lockstitch.cli.failures import UNUSABLE, Unusable, as_document
from lockstitch.cli.files import open_input, read_input
from lockstitch.cli.options import as_json as json_option
from lockstitch.cli.options import format_option
from lockstitch.cli.progress import Bar
from lockstitch.cli.render import console_for, is_fancy, say
from lockstitch.cli.sizes import measure
from lockstitch.explain import count
from lockstitch.facts import CALL, OTHER, RESULT, TOOL, USER
from lockstitch.grouping import ABANDONED, OPEN, ORPHAN
from lockstitch.history import groups
from lockstitch.measure.estimate import estimate
from lockstitch.rules.profiles import PROFILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.facts import Facts
    from lockstitch.grouping import Group
    from lockstitch.transcript import Transcript

__all__ = ["Largest", "Stats", "Tokens", "Verdict", "stats_command", "stats_of"]


class Tokens(msgspec.Struct, frozen=True):
    """Estimated tokens: rarely fewer than `low`, rarely more than `high`."""

    low: int
    high: int


class Largest(msgspec.Struct, frozen=True):
    """The message with the most characters."""

    position: int
    role: str
    chars: int
    tokens: int


class Verdict(msgspec.Struct, frozen=True):
    """How many rules of a profile are broken."""

    errors: int
    warnings: int


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to count in one history. The field names are the keys of `--json`.

    Args:
        turns: user messages.
        open, abandoned, orphans: groups in that state.
        reused_ids: call ids under which more than one call was made.
        far_results: results with something else said between them and their call.
        chars, tokens: sizes of everything, what stands around the messages included.
        violations: by profile.
    """

    format: str
    messages: int
    groups: int
    turns: int
    calls: int
    results: int
    open: int
    abandoned: int
    orphans: int
    reused_ids: int
    far_results: int
    chars: int
    tokens: Tokens
    largest: Largest | None
    violations: dict[str, Verdict]


class _LowEdge:
    name = "low edge"
    kind = "estimate"

    def count(self, text: str) -> int:
        return estimate(text).low


def stats_of(transcript: Transcript) -> Stats:
    """Count what is in a history.

    >>> from lockstitch import load
    >>> from lockstitch.testing import call, result, user
    >>> stats = stats_of(load([user(), call("a"), result("a"), call("b")]))
    >>> stats.groups, stats.calls, stats.open
    (3, 2, 1)
    """
    facts = transcript.facts_from(0)
    units = groups(transcript)
    states = Counter(unit.state for unit in units)
    links = [link for fact in facts for link in fact.ends]
    made = Counter(link.key for link in links if link.kind == CALL and link.id)
    sizes = measure(transcript)
    low = measure(transcript, _LowEdge())
    everything = range(len(transcript))
    biggest = max(everything, key=sizes.chars.__getitem__, default=None)
    return Stats(
        format=transcript.format.name,
        messages=len(transcript),
        groups=len(units),
        turns=sum(fact.role == USER for fact in facts),
        calls=sum(link.kind == CALL for link in links),
        results=sum(link.kind == RESULT for link in links),
        open=states[OPEN],
        abandoned=states[ABANDONED],
        orphans=states[ORPHAN],
        reused_ids=sum(times > 1 for times in made.values()),
        far_results=_far_results(facts, units),
        chars=sizes.total(everything)["chars"],
        tokens=Tokens(low.total(everything)["tokens"], sizes.total(everything)["tokens"]),
        largest=None
        if biggest is None
        else Largest(biggest, facts[biggest].role, sizes.chars[biggest], sizes.tokens[biggest]),
        violations={name: _verdict(transcript, name) for name in PROFILES},
    )


def _far_results(facts: Sequence[Facts], units: Sequence[Group]) -> int:
    """Count the results with something said between them and their call."""
    silent = {TOOL, OTHER}
    speaks = [not (fact.role in silent or fact.linked or fact.reasoning) for fact in facts]
    spoken = list(accumulate(speaks, initial=0))
    far = 0
    for unit in units:
        called: dict[object, int] = {}
        for position in unit.members:
            for link in facts[position].ends:
                if link.kind == CALL:
                    called[link.key] = position
                elif link.kind == RESULT and link.key in called:
                    far += spoken[position] > spoken[called[link.key] + 1]
    return far


def _verdict(transcript: Transcript, profile: str) -> Verdict:
    report = check(transcript, profile=profile)
    return Verdict(len(report.errors), len(report.violations) - len(report.errors))


@click.command("stats")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@format_option
@json_option
def stats_command(files: tuple[str, ...], format: str | None, *, as_json: bool) -> None:
    """Count what is in each FILE ("-" for standard input).

    Exits with 0, or with 2 when a file cannot be used. With --json there is one object a line for
    each file.
    """
    worst = 0
    with Bar(total=len(files)) as bar:
        for name in files:
            bar.step(name)
            try:
                stats = stats_of(open_input(read_input(name), format))
            except Unusable as failure:
                worst = UNUSABLE
                bar.say(partial(say, f"Error: {failure.message}", err=True))
                if as_json:
                    bar.say(partial(say, json.dumps(as_document(name, failure))))
                continue
            bar.say(partial(_print, name, stats, as_json=as_json))
    click.get_current_context().exit(worst)


def _print(name: str, stats: Stats, *, as_json: bool) -> None:
    if as_json:
        say(json.dumps({"file": name, **msgspec.to_builtins(stats)}))
    elif is_fancy():
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE, title=Text(name), title_justify="left", show_header=False)
        for label, value in _lines(stats):
            table.add_row(Text(label, style="dim"), Text(value))
        console_for().print(table)
    else:
        lines = _lines(stats)
        width = max(len(label) for label, _ in lines)
        say("\n".join([name, *(f"  {label:<{width}}  {value}" for label, value in lines)]))


def _lines(stats: Stats) -> list[tuple[str, str]]:
    largest = stats.largest
    lines = [
        ("format", stats.format),
        ("messages", f"{stats.messages:,} in {count(stats.groups, 'group')}"),
        ("turns", f"{stats.turns:,}"),
        ("calls", f"{stats.calls:,}, {count(stats.results, 'result')}"),
        (
            "groups in trouble",
            f"{stats.open:,} open, {stats.abandoned:,} abandoned, {stats.orphans:,} orphan",
        ),
        ("reused ids", f"{stats.reused_ids:,}"),
        ("results far from their call", f"{stats.far_results:,}"),
        ("characters", f"{stats.chars:,}"),
        ("tokens (estimate)", f"{stats.tokens.low:,} to {stats.tokens.high:,}"),
    ]
    if largest is not None:
        said = f"[{largest.position}] {largest.role}, {largest.chars:,} characters"
        lines.append(("largest message", f"{said}, at most about {largest.tokens:,} tokens"))
    for profile, verdict in stats.violations.items():
        said = f"{count(verdict.errors, 'error')}, {count(verdict.warnings, 'warning')}"
        lines.append((f"violations, {profile}", said))
    return lines
