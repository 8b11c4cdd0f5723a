"""The plots of docs/benchmarks.md, as SVG files that are the same for the same figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ladder import Ladder
from measure_groups import FRAMEWORK, FRESH, LISTED, LOADED, READ, WALK, Grouping
from measure_groups import LABELS as GROUP_LABELS
from measure_trim import TrimByMessages, TrimByTokens
from measure_validity import SHAPES, Sweep
from peers import BARE, CONTENDERS, OURS, PREFIX
from report import duration, plain

OURS_COLOUR = "#b3261e"
INK, FAINT, GRID = "#2b2b2b", "#7a7a7a", "#dddddd"
PEER_COLOURS = ("#1b6ca8", "#4c9f70", "#8a5fb0", "#c98a1b", "#5f7d8c", "#a05a3c", "#3a3f8f")
SHORT = {
    BARE: "bare walk",
    "slice": "naive slice",
    OURS: "lockstitch",
    "symfonic": "symfonic-core",
    "langchain": "langchain-core",
    "langchain-human": "langchain-core, start_on",
    "strands": "strands",
    "af-truncation": "agent-framework truncation",
    "af-window": "agent-framework window",
    "litellm": "litellm",
}


def draw(
    folder: Path,
    messages: TrimByMessages | None,
    by_tokens: TrimByTokens | None,
    grouping: Grouping | None,
    sweep: Sweep | None,
) -> list[str]:
    """Write the plots for what was measured; the names of the files."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "lockstitch",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.edgecolor": FAINT,
            "axes.labelcolor": INK,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    )
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[str] = []
    if messages:
        _lines(folder / "trim-messages.svg", messages.ladder, "Trim to the last 50 messages")
        drawn.append("trim-messages.svg")
    if by_tokens:
        title = "Trim to 8 000 tokens, sizes known"
        _lines(folder / "trim-tokens.svg", by_tokens.ladders["known"], title)
        drawn.append("trim-tokens.svg")
    if grouping:
        _bars(folder / "grouping.svg", grouping)
        drawn.append("grouping.svg")
    if sweep:
        _shares(folder / "validity.svg", sweep)
        drawn.append("validity.svg")
    return drawn


def _figure(width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    # one newline at the end and no trailing blanks, as in every text file of the repository
    lines = [line.rstrip() for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _colour(key: str) -> str:
    if key in (OURS, PREFIX, LOADED, READ, FRESH, LISTED):
        return OURS_COLOUR
    if key in (BARE, WALK, "slice"):
        return FAINT
    known = list(SHORT)
    return PEER_COLOURS[known.index(key) % len(PEER_COLOURS)] if key in known else "#1b6ca8"


def _lines(path: Path, ladder: Ladder, title: str) -> None:
    """Time by history length, both axes logarithmic, each line named at its end."""
    figure, axes = _figure(8.6, 4.8)
    ends: list[tuple[float, float, str, str]] = []
    keys = [key for key in SHORT if key in ladder.seconds]
    for key in keys:
        points = sorted(ladder.seconds[key].items())
        sizes = [size for size, _ in points]
        micros = [seconds * 1e6 for _, seconds in points]
        ours = key == OURS
        axes.plot(
            sizes, micros, color=_colour(key), linewidth=3 if ours else 1.6,
            marker="o", markersize=6 if ours else 4, zorder=3 if ours else 2,
            linestyle="--" if key in (BARE, "slice") else "-",
        )  # fmt: skip
        ends.append((micros[-1], sizes[-1], SHORT[key], _colour(key)))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("messages in the history")
    axes.set_title(title, loc="left", fontsize=12)
    axes.grid(which="major", color=GRID, linewidth=0.6)
    axes.yaxis.set_major_formatter(lambda value, _: duration(value / 1e6))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace(",", " "))
    axes.set_xlim(ladder.sizes[0] * 0.8, ladder.sizes[-1] * 14)
    axes.set_xticks(ladder.sizes)
    axes.minorticks_off()
    _label_ends(axes, ends)
    _save(figure, path)


def _label_ends(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Names beside the ends of lines, moved apart where they would overlap."""
    low, high = axes.get_ylim()
    step = (high / low) ** (1 / 20)
    last: dict[float, float] = {}
    for height, size, name, colour in sorted(ends):
        place = max(height, last.get(size, 0) * step)
        last[size] = place
        axes.annotate(
            name, (size, height), xytext=(size * 1.25, place), color=colour, va="center",
            fontsize=9, fontweight="bold" if name == "lockstitch" else "normal",
        )  # fmt: skip


def _bars(path: Path, grouping: Grouping) -> None:
    """Microseconds a message at the largest size that all ran at."""
    keys = [key for key in GROUP_LABELS if key in grouping.ladder.seconds]
    size = max(s for s in grouping.ladder.sizes if grouping.ladder.at(FRAMEWORK, s))
    figure, axes = _figure(8.6, 0.55 * len(keys) + 1.2)
    for position, key in enumerate(reversed(keys)):
        micros = (grouping.ladder.at(key, size) or 0) / size * 1e6
        axes.barh(position, micros, color=_colour(key), height=0.6)
        axes.annotate(f" {micros:.2f} µs", (micros, position), va="center", fontsize=9, color=INK)
    axes.set_yticks(range(len(keys)), [plain(GROUP_LABELS[key]) for key in reversed(keys)])
    axes.set_xlabel("microseconds a message")
    axes.set_title(f"Pair and group {size:,} messages".replace(",", " "), loc="left", fontsize=12)
    axes.margins(x=0.15)
    _save(figure, path)


def _shares(path: Path, sweep: Sweep) -> None:
    """For each shape: how many windows are invalid, and how many valid but without the task."""
    from matplotlib.figure import Figure

    contenders = [c for c in CONTENDERS if not c.missing and c.key != PREFIX]
    figure = Figure(figsize=(8.6, 4.6), facecolor="white", layout="constrained")
    panels = figure.subplots(1, len(SHAPES), sharey=True)
    for axes, shape in zip(panels, SHAPES, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        for position, contender in enumerate(reversed(contenders)):
            tally = sweep.found[shape][contender.key]
            left = 0.0
            for what, colour in (("invalid", OURS_COLOUR), ("valid, no task", "#d9a441")):
                share = 100 * tally[what] / max(tally["windows"], 1)
                axes.barh(position, share, left=left, color=colour, height=0.6)
                left += share
            axes.annotate(f" {left:.0f} %", (left, position), va="center", fontsize=9)
        axes.set_yticks(range(len(contenders)), [SHORT[c.key] for c in reversed(contenders)])
        axes.set_xlim(0, 115)
        axes.set_title(shape, loc="left", fontsize=10)
        axes.set_xlabel("% of windows")
    figure.suptitle(
        "Windows a provider refuses (red), or that have lost the task (yellow)",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    _save(figure, path)
