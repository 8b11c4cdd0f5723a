"""Measure Lockstitch beside its peers, in one process: ``python bench/run.py --help``.

    a  trim to the last 50 messages           d  load and dump of JSON bytes
    b  trim to 8 000 tokens                   e  how often one cut breaks a clean history
    c  pair and group a whole history         f  the edge: one task, 150 tool rounds
    g  how often the prompt prefix changes

A full run takes some minutes and writes docs/benchmarks.md and the plots in docs/img; a partial or
a quick one only prints, unless it is given a folder with --out.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # its import asks the network else

import bars
import histories
import plots
import report
from measure_codec import Codec
from measure_groups import Grouping
from measure_prefix import Prefix
from measure_trim import TrimByMessages, TrimByTokens
from measure_validity import LIMITS, Edge, Sweep
from peers import CONTENDERS, ours
from timing import Pace
from world import World

SIZES = [100, 1_000, 10_000, 100_000]
CODEC_SIZES = [1_000, 10_000]
PARTS = "abcdefg"
PACKAGES = ["msgspec", "tiktoken"]
DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> int:
    """Run what was asked for; the exit code is 0 whatever was measured."""
    options = _options()
    _quiet()
    started = time.perf_counter()
    pace = (
        Pace(samples=5, seconds=0.3, patience=2.0)
        if options.quick
        else Pace(patience=options.patience)
    )
    sizes = SIZES[:2] if options.quick else SIZES
    wanted = set(options.only)
    if ours() is None:
        print("lockstitch is not importable here: its rows stay empty", file=sys.stderr)

    by_messages = TrimByMessages(sizes, pace) if "a" in wanted else None
    by_tokens = TrimByTokens(sizes, pace) if "b" in wanted else None
    grouping = Grouping(sizes, pace) if "c" in wanted else None
    codec = (
        Codec(sizes[1:2] if options.quick else CODEC_SIZES, pace, options.seed)
        if "d" in wanted
        else None
    )
    sweep = None
    if "e" in wanted:
        sweep = Sweep(2, range(20, 80, 12)) if options.quick else Sweep(10, LIMITS)
    edge = Edge() if "f" in wanted else None
    prefix = Prefix(options.seed) if "g" in wanted else None

    ladders = [part for part in (by_messages, by_tokens, grouping) if part]
    for size in sizes if ladders else ():
        world = World(histories.conversation(size, options.seed))
        for part in ladders:
            _say(f"({part.key}) {report.count(size)} messages", started)
            part.at(size, world)
    for part in (codec, sweep, edge, prefix):
        if part:
            _say(f"({part.key})", started)
            part.run()

    sections = [part.section() for part in (*ladders, codec, sweep, edge, prefix) if part]
    sections.append(bars.section(by_messages, by_tokens, grouping, codec))
    for section in sections:
        report.show(section)
    _say("done", started)

    out = options.out
    if out is None and not options.quick and wanted == set(PARTS):
        out = DOCS
    if out is not None:
        drawn = plots.draw(out / "img", by_messages, by_tokens, grouping, sweep)
        page = _page(sections, set(drawn), sizes, options.seed, time.perf_counter() - started)
        (out / "benchmarks.md").write_text(page, encoding="utf-8")
        _say(f"wrote {out / 'benchmarks.md'} and {len(drawn)} plots", started)
    return 0


def _page(
    sections: list[report.Section], drawn: set[str], sizes: list[int], seed: int, took: float
) -> str:
    """docs/benchmarks.md: the bars first, then each question, then how it was measured."""
    names = ["lockstitch", *dict.fromkeys(c.package for c in CONTENDERS if c.package)]
    names = list(dict.fromkeys(names)) + PACKAGES
    facts = [("date", datetime.now(UTC).strftime("%Y-%m-%d")), *report.machine()]
    lines = [
        "# Benchmarks",
        "",
        "Written by `bench/run.sh`; do not edit by hand.",
        "Every contender runs in one process on the same seeded histories, side by side.",
        "Absolute times are this machine's; ratios hold on others.",
        (
            "What providers refuse after a trim or a repair, beside more libraries, is in "
            "[its own tables](validity.md)."
        ),
        "",
    ]
    for section in [sections[-1], *sections[:-1]]:
        section.plots = [plot for plot in section.plots if plot[0] in drawn]
        lines += [report.markdown(section, "img"), ""]
    lines += ["## How it was measured", ""]
    lines += ["| | |", "| --- | --- |"]
    lines += [f"| {name} | {fact} |" for name, fact in facts]
    lines += [f"| {name} | {version} |" for name, version in report.versions(names)]
    lines += [f"| seed | {seed} |", f"| this run took | {took / 60:.0f} min |", ""]
    lines += [METHOD.format(sizes=", ".join(map(report.count, sizes))).strip(), ""]
    return "\n".join(lines)


METHOD = """
**Histories** (`bench/histories.py`): {sizes} messages of about 1.5 KB.
A system prompt, then turns of a user message, 0-3 tool rounds of 1-4 parallel calls, and an answer.
Results are 200 B to 8 KB, log-uniform: JSON rows, log lines, prose with 2 % non-ASCII words.
40 % of the messages that call tools carry reasoning.
The last ninety or so messages are the same at every size, so that growth shows the cost of the past
and not of another ending.

**Contenders** (`bench/peers.py`): each gets its own message objects, converted outside the clock,
and the options that its documents give for the job.
What a contender changes in place is copied afresh before each call, outside the clock.
agent-framework starts without annotations, as after a load from a store, unless a table says
otherwise.

**The bare walk** (`bench/walks.py`) is the yardstick: about 25 lines of Python over dicts from the
tail, without checks, options or a report.

**Timing** (`bench/timing.py`): a warm-up, then samples of about a millisecond taken in turn, one of
each contender in a rotating order; the figure is the median of up to 15, of 5
where a call is long.
The garbage collector is on; before a long call it is run outside the clock, so that nobody pays for
what another left behind.
A contender that, by its growth so far, would take more than about 20 s at a size is not run there.

**The judge** (`bench/judge.py`) knows the OpenAI Chat rules and shares no code with any contender.

Run it again: `bench/run.sh`, `bench/run.sh --quick`, `bench/run.sh --only a,e`.
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, a smoke test")
    parser.add_argument("--only", type=_parts, default=",".join(PARTS), help="parts to run, as a,b")
    parser.add_argument("--seed", type=int, default=0, help="of the generated histories")
    parser.add_argument("--out", type=Path, help="a folder for the page and the plots")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds a call may take")
    return parser.parse_args()


def _parts(text: str) -> str:
    chosen = [part.strip() for part in text.split(",") if part.strip()]
    if unknown := [part for part in chosen if part not in tuple(PARTS)]:
        raise argparse.ArgumentTypeError(
            f"no part {', '.join(unknown)}; there are {', '.join(PARTS)}"
        )
    return "".join(chosen)


def _quiet() -> None:
    """Keep the contenders' warnings off the terminal; the sweep listens for them itself."""
    warnings.simplefilter("ignore")
    logging.getLogger().addHandler(logging.NullHandler())
    # A contender sets the root logger to DEBUG; what a cut costs while it is logged is no question.
    logging.getLogger("lockstitch").setLevel(logging.WARNING)


def _say(text: str, started: float) -> None:
    print(f"{time.perf_counter() - started:6.1f} s  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
