"""Render: the rows of an explanation on a terminal, in colour, or as plain text anywhere else."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from lockstitch.explain import NUMBERS, Explanation, cells_of, render_text, sides_of

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console_for", "draw", "head", "is_fancy", "say", "show", "show_grid"]

_STYLES: Final = {
    "kept": "green",
    "dropped": "dim",
    "pinned": "bold cyan",
    "error": "bold red",
    "restore": "green",
    "move": "green",
    "merge": "cyan",
    "rename": "cyan",
    "replace": "cyan",
    "synthesize": "yellow",
    "demote": "yellow",
    "drop": "bold red",
    "warning": "yellow",
}


def is_fancy(*, err: bool = False) -> bool:
    """Whether a stream is a terminal that wants colour; NO_COLOR and TERM=dumb say no."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return (sys.stderr if err else sys.stdout).isatty()


def say(text: str, *, err: bool = False) -> None:
    """Print plain text, whatever characters are in it and whatever the stream can encode."""
    encoding = (sys.stderr if err else sys.stdout).encoding or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)


def show(told: Explanation, *, title: str = "", err: bool = False) -> None:
    """Print an explanation: drawn on a terminal, plain anywhere else."""
    if is_fancy(err=err):
        draw(told, console_for(err=err), title=title)
    else:
        say(title + render_text(told), err=err)


def console_for(*, err: bool = False) -> Console:
    """Make a console that prints what it is given and reads no markup into it."""
    from rich.console import Console

    return Console(stderr=err, markup=False, emoji=False, highlight=False)


def draw(told: Explanation, console: Console, *, title: str = "") -> None:
    """Draw an explanation with rich: the summary, then a table, or trees of what was found."""
    console.print(title + told.summary, style="bold")
    if told.changes:
        console.print(_changes(told))
    if told.violations:
        console.print(_violations(told))
    if told.kind in {"ranges", "messages"} and told.rows:
        console.print(_table(*cells_of(told)))


def head(text: str) -> None:
    """Print the title of a part."""
    if is_fancy():
        console_for().print()
        console_for().rule(text, align="left", style="cyan")
    else:
        say(f"\n{text}\n{'-' * len(text)}")


def show_grid(titles: list[str], lines: list[list[str]]) -> None:
    """Print rows under titles: drawn on a terminal, aligned anywhere else."""
    if is_fancy():
        console_for().print(_table(titles, lines, last=titles[-1]))
        return
    widths = [max(map(len, column)) for column in zip(titles, *lines, strict=True)]
    for line in (titles, *lines):
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        say("  ".join(cells).rstrip())


def _table(titles: list[str], lines: list[list[str]], *, last: str = "text") -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for at, title in enumerate(titles):
        # On a narrow terminal the text gives way, not the reason.
        widest = max(len(cell) for cell in (title, *(line[at] for line in lines)))
        table.add_column(
            title,
            justify="right" if title in NUMBERS else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=None if title == last else widest,
        )
    for line in lines:
        style = next((_STYLES[cell] for cell in line[:2] if cell in _STYLES), "")
        table.add_row(*(Text(_safe(cell), style=style, overflow="ellipsis") for cell in line))
    return table


def _changes(told: Explanation) -> Any:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text("changes", style="dim"), hide_root=True, guide_style="dim")
    for change in told.changes:
        line = Text(f"{change.kind:<10} ", style=_STYLES.get(change.kind, ""))
        place = f"{change.path}: " if change.path else ""
        line.append(_safe(f"{place}{change.message} "), style="default")
        line.append(f"[{change.rule}]", style="dim")
        branch = tree.add(line)
        for side, shown in sides_of(change):
            branch.add(Text(_safe(f"{side + ':':<7} {shown}"), style="dim"))
    return tree


def _violations(told: Explanation) -> Any:
    from rich.text import Text
    from rich.tree import Tree

    tree = Tree(Text("violations", style="dim"), hide_root=True, guide_style="dim")
    places: dict[int, Tree] = {}
    for row in told.violations:
        if row.index not in places:
            place = row.path.partition("]")[0] + "]" if row.index >= 0 else row.path
            said = Text(place, style="bold")
            said.append(f"  {told.previews.get(row.index, '')}", style="dim")
            places[row.index] = tree.add(said)
        line = Text(f"{row.severity:<7} ", style=_STYLES.get(row.severity, ""))
        line.append(_safe(f"{row.path}: {row.message} "), style="default")
        line.append(f"[{row.rule}]", style="dim")
        place_of = places[row.index].add(line)
        if row.provider_error:
            place_of.add(Text(f"the provider answers: {_safe(row.provider_error)}", style="italic"))
        if row.source:
            place_of.add(Text(f"source: {_safe(row.source)}", style="dim"))
    return tree


def _safe(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
