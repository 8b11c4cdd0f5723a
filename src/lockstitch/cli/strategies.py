"""Strategies on the command line: a preset by its name, or a directive in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from lockstitch.cli.failures import Unusable
from lockstitch.errors import FormatError

if TYPE_CHECKING:
    from lockstitch.strategies.directive import HistoryDirective

__all__ = ["blobs_option", "directive_of", "strategy_option", "summarize_option"]

strategy_option = click.option(
    "--strategy",
    metavar="NAME|FILE",
    help="What is done before whole groups go: chat, agent, coding-agent, long-running, or a "
    "directive in a TOML or JSON file. Limits given here overrule its own.",
)
summarize_option = click.option(
    "--summarize",
    type=click.Choice(["digest"]),
    help="Put a summary in the place of older groups; digest needs no model.",
)


blobs_option = click.option(
    "--blobs",
    metavar="FOLDER",
    help="Where results go that the strategy offloads.",
)


def directive_of(strategy: str | None, summarize: str | None) -> HistoryDirective | None:
    """Return the directive that the options name, `None` where they name none.

    Raises:
        Unusable: there is no such preset, and the file cannot be read or holds no directive.
    """
    if strategy is None and summarize is None:
        return None
    from lockstitch.strategies.directive import HistoryDirective
    from lockstitch.strategies.steps import Summarize

    directive = HistoryDirective(kind="steps") if strategy is None else _named(strategy)
    steps = directive.planned_steps()
    if summarize is None or any(isinstance(step, Summarize) for step in steps):
        return directive
    return msgspec.structs.replace(directive, steps=(*steps, Summarize()))


def _named(strategy: str) -> HistoryDirective:
    from lockstitch.strategies.presets import PRESETS

    if strategy in PRESETS:
        return PRESETS[strategy].directive
    path = Path(strategy)
    if path.suffix not in {".toml", ".json"}:
        raise Unusable(
            f"--strategy {strategy}: no preset has that name ({', '.join(PRESETS)}), and a file "
            "ends in .toml or .json"
        )
    return _read(path)


def _read(path: Path) -> HistoryDirective:
    from lockstitch.strategies.directive import HistoryDirective

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"--strategy {path}: {error}") from None
    try:
        read = HistoryDirective.from_toml if path.suffix == ".toml" else HistoryDirective.from_json
        return read(text)
    except FormatError as error:
        raise Unusable(f"--strategy {path}: {error}", error) from None
