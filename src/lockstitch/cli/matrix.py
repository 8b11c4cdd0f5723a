"""The matrix of a check: files by profiles, errors / warnings in each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.cli.render import console_for, is_fancy, say
from lockstitch.rules.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Row", "show_matrix"]

HEAD = "errors / warnings; lockstitch check FILE --profile NAME says which"


class Row(msgspec.Struct, frozen=True):
    """One file, and the report of each profile that it was checked against."""

    name: str
    reports: dict[str, Report]


def show_matrix(rows: Sequence[Row], profiles: Sequence[str]) -> None:
    """Print the matrix: drawn on a terminal, plain anywhere else."""
    if is_fancy():
        console_for().print(_table(rows, profiles))
        console_for().print(HEAD, style="dim")
        return
    lines = [["", *profiles], *([row.name, *_cells(row, profiles)] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for first, *cells in lines:
        aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        say("  ".join([first.ljust(widths[0]), *aligned]).rstrip())
    say(HEAD)


def _cells(row: Row, profiles: Sequence[str]) -> list[str]:
    return [_cell(row.reports.get(profile)) for profile in profiles]


def _cell(report: Report | None) -> str:
    if report is None:
        return ""
    errors = len(report.errors)
    return f"{errors} / {len(report.violations) - errors}"


def _table(rows: Sequence[Row], profiles: Sequence[str]) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("file", overflow="fold")
    for profile in profiles:
        table.add_column(profile, justify="right", overflow="fold")
    for row in rows:
        cells = [Text(row.name.encode("utf-8", "backslashreplace").decode())]
        for profile in profiles:
            report = row.reports.get(profile)
            cells.append(Text(_cell(report), style=_style(report)))
        table.add_row(*cells)
    return table


def _style(report: Report | None) -> str:
    if report is None or not report.violations:
        return "green"
    return "yellow" if report.ok else "bold red"
