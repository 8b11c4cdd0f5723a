"""Tables and sections: to the terminal, with rich where it is installed, and to Markdown."""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Table:
    """A table of text; the first column is a name, the others are figures."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Section:
    """One question, the tables that answer it, and the names of its plots."""

    key: str
    heading: str
    lead: str
    tables: list[Table]
    plots: list[tuple[str, str]] = field(default_factory=list)


def duration(seconds: float | None) -> str:
    """Seconds in the unit that leaves two or three digits."""
    if seconds is None:
        return "-"
    for unit, scale in (("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 1_000:
            return f"{significant(seconds * scale)} {unit}"
    return f"{significant(seconds)} s"


def times(ratio: float | None) -> str:
    """A ratio as "x 3.4"."""
    return "-" if ratio is None else f"x {significant(ratio)}"


def share(part: int, whole: int) -> str:
    """A share of a whole in per cent; a share that is not zero never reads as zero."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    return f"{percent:.0f} %" if percent == 0 or percent >= 1 else f"{percent:.1f} %"


def significant(number: float) -> str:
    """Two significant digits below ten, whole numbers above a hundred, grouped by thin blanks."""
    if number < 0.01:
        return f"{number:.1g}"
    if number < 0.1:
        return f"{number:.2f}"
    if number < 10:
        return f"{number:.2g}" if number < 1 else f"{number:.1f}"
    return f"{number:,.0f}".replace(",", " ")


def count(number: int) -> str:
    """A count with its thousands apart."""
    return f"{number:,}".replace(",", " ")


def machine() -> list[tuple[str, str]]:
    """What the figures depend on, with nothing in it that names the machine."""
    model = platform.processor() or platform.machine()
    memory = ""
    try:
        cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        if found := re.search(r"^model name\s*:\s*(.+)$", cpu, re.MULTILINE):
            model = found[1].strip()
        info = Path("/proc/meminfo").read_text(encoding="utf-8")
        if found := re.search(r"^MemTotal:\s*(\d+) kB", info, re.MULTILINE):
            memory = f"{int(found[1]) / 2**20:.0f} GiB"
    except OSError:
        pass
    facts = [
        ("processor", f"{model}, {os.cpu_count()} cores"),
        ("memory", memory),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
    ]
    return [(name, fact) for name, fact in facts if fact]


def versions(packages: list[str]) -> list[tuple[str, str]]:
    """The installed version of each package."""
    found: list[tuple[str, str]] = []
    for package in packages:
        try:
            found.append((package, metadata.version(package)))
        except metadata.PackageNotFoundError:
            found.append((package, "not installed"))
    return found


def show(section: Section) -> None:
    """Print a section to the terminal."""
    try:
        from rich.console import Console
        from rich.table import Table as RichTable
    except ImportError:
        _show_plain(section)
        return
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=180)
    console.print(f"\n[bold]{section.heading}[/bold]")
    for table in section.tables:
        drawn = RichTable(title=plain(table.title), title_justify="left", title_style="italic")
        for position, column in enumerate(table.columns):
            drawn.add_column(plain(column), justify="right" if position else "left")
        for row in table.rows:
            ours = row[0].startswith("**")
            drawn.add_row(*(plain(cell) for cell in row), style="bold" if ours else "")
        console.print(drawn, markup=False)
        for note in table.notes:
            console.print(plain(note), style="dim", markup=False)


def _show_plain(section: Section) -> None:
    print(f"\n{section.heading}")
    for table in section.tables:
        lines = [[plain(cell) for cell in row] for row in [table.columns, *table.rows]]
        widths = [max(len(line[i]) for line in lines) for i in range(len(table.columns))]
        print(f"\n{plain(table.title)}")
        for line in lines:
            cells = [
                cell.rjust(width) if i else cell.ljust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            print("  ".join(cells).rstrip())
        for note in table.notes:
            print(plain(note))


def plain(text: str) -> str:
    """Markdown as plain text."""
    return text.replace("**", "").replace("`", "")


def markdown(section: Section, images: str) -> str:
    """A section as Markdown; ``images`` is the folder of the plots as seen from the page."""
    lines = [f"## {section.heading}", "", section.lead.strip(), ""]
    for name, alternative in section.plots:
        lines += [f"![{alternative}]({images}/{name})", ""]
    for table in section.tables:
        if table.title:
            lines += [f"### {table.title}", ""]
        lines += ["| " + " | ".join(_cell(c) for c in table.columns) + " |"]
        lines += ["|" + "|".join(" --- " if not i else " ---: " for i in _range(table)) + "|"]
        lines += ["| " + " | ".join(_cell(c) for c in row) + " |" for row in table.rows]
        lines.append("")
        lines += [f"- {note}" for note in table.notes]
        lines += [""] if table.notes else []
    return "\n".join(lines)


def _range(table: Table) -> range:
    return range(len(table.columns))


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|")
