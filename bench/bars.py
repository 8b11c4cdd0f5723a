"""The bars: what the library promises about its own speed, each with what was measured.

Nothing here fails a run. A ratio is taken inside one run, so it does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterable

from ladder import Ladder
from measure_codec import Codec
from measure_groups import FRAMEWORK, LOADED, Grouping
from measure_trim import TrimByMessages, TrimByTokens
from peers import BARE, OURS
from report import Section, Table, count, significant

FLAT = 1.5
SPEED = 250
COMPARED = 10_000
LANGCHAIN = ("langchain", "langchain-human")

Row = tuple[str, str, float | None, float, bool]


def section(
    messages: TrimByMessages | None,
    by_tokens: TrimByTokens | None,
    grouping: Grouping | None,
    codec: Codec | None,
) -> Section:
    """Every bar for which something was measured."""
    rows: list[list[str]] = []
    if messages:
        rows += _rows(_trim_messages(messages.ladder))
    if by_tokens:
        rows += _rows(_trim_tokens(by_tokens.ladders["known"]))
    if grouping:
        rows += _rows(_grouping(grouping))
    if codec:
        rows += _codec(codec, "ours", "load + dump")
        rows += _codec(codec, "ours-read", "load, read every message, dump")
    lead = """
What the library promises of itself, and what this run measured.
The figures are ratios within one run, so that another machine gives about the same."""
    table = Table("", ["what", "bar", "measured", "verdict"], rows)
    return Section("bars", "Bars", lead, [table])


def _trim_messages(ladder: Ladder) -> Iterable[Row]:
    first, last = _ends(ladder)
    what = "trim to the last 50 messages"
    flat = f"{count(last)} within 1.5 x of {count(first)}"
    yield what, flat, ladder.growth(OURS, first, last), FLAT, False
    yield what, "at most 8 x the bare walk, at every size", _worst(ladder), 8, False
    at = _compared(ladder)
    known = [r for key in LANGCHAIN if (r := ladder.ratio(key, OURS, at)) is not None]
    least = min(known) if known and ladder.at(OURS, at) else None
    yield what, f"at most 1/20 of langchain-core, at {count(at)}", least, 20, True


def _trim_tokens(ladder: Ladder) -> Iterable[Row]:
    first, last = _ends(ladder)
    what = "trim to 8 000 tokens, sizes known"
    flat = f"{count(last)} within 1.5 x of {count(first)}"
    yield what, flat, ladder.growth(OURS, first, last), FLAT, False
    yield what, "at most 10 x the bare walk, at every size", _worst(ladder), 10, False


def _grouping(grouping: Grouping) -> Iterable[Row]:
    ladder = grouping.ladder
    what = "pair and group a whole history"
    at, last = _compared(ladder), ladder.sizes[-1]
    linear = f"a message at {count(last)} within 1.5 x of one at {count(at)}"
    if at < last:
        yield what, linear, grouping.linearity(LOADED, at, last), FLAT, False
    ratio = ladder.ratio(FRAMEWORK, LOADED, at)
    bar = f"at most 1/10 of agent-framework `group_messages`, at {count(at)}"
    yield what, bar, ratio, 10, True


def _codec(codec: Codec, key: str, what: str) -> list[list[str]]:
    largest = codec.ladder.sizes[-1]
    speed = codec.speed(key, largest)
    bar = f"at least {SPEED} MB/s, lossless ({codec.bytes.get(largest, 0) / 1e6:.0f} MB)"
    if speed is None:
        return [[what, bar, "-", "not measured"]]
    if not codec.same.get((key, largest)):
        verdict = "**missed**: the bytes differ"
    else:
        verdict = "met" if speed >= SPEED else "**missed**"
    return [[what, bar, f"{count(round(speed))} MB/s", verdict]]


def _rows(bars: Iterable[Row]) -> list[list[str]]:
    rows: list[list[str]] = []
    for what, bar, figure, limit, fraction in bars:
        if figure is None:
            rows.append([what, bar, "-", "not measured"])
            continue
        met = figure >= limit if fraction else figure <= limit
        measured = f"1/{significant(figure)}" if fraction else f"{figure:.2f} x"
        rows.append([what, bar, measured, "met" if met else "**missed**"])
    return rows


def _ends(ladder: Ladder) -> tuple[int, int]:
    return ladder.start, ladder.sizes[-1]


def _compared(ladder: Ladder) -> int:
    return COMPARED if COMPARED in ladder.sizes else ladder.sizes[-1]


def _worst(ladder: Ladder) -> float | None:
    ratios = [r for size in ladder.sizes if (r := ladder.ratio(OURS, BARE, size)) is not None]
    return max(ratios, default=None)
