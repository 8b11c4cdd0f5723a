"""Three tables on acceptance, ours beside other libraries' own functions: bench/validity.sh --help.

    trim    what is wrong with the windows that trimmers cut from valid histories
    repair  what is still wrong with broken histories after a repairer, and what it lost
    agent   what a long agent is refused on a model that binds thinking to what stands before it

The work is done by workers, one for each environment and share of the rows, two at a time. A full
run takes some minutes and writes docs/validity.md; a quick one only prints, unless it is given a
file with --out.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # its import asks the network else
os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "1")

import convert
import report
from judge import first_breach, first_breach_of_items, judge
from repairers import REPAIRERS, Repairer
from report import Section, Table, share
from short_histories import BREAKAGES, TURNS, marks, whole
from trimmers import TRIMMERS, NotThisCase, Trimmer

LIMITS = (3, 20)
HISTORIES = {"trim": 1_000, "repair": 500}  # of each kind of ids, and for each breakage
QUICK = {"trim": 20, "repair": 10}
SLOW = {"litellm": 5}  # it counts anew for every message it tries: a fifth of the histories
IDS = ("unique", "reused")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "validity.md"
MAIN, SECOND = "validity", "semantic-kernel"

Found = dict[str, Any]
"""What a worker says of one row: ``missing`` (why) or ``counts``, and the package's version."""


# --- measuring ------------------------------------------------------------------------------------


def trimmed(trimmer: Trimmer, histories: int) -> Counter[str]:
    """Cut every history once; the first word of a count's name is the kind of ids."""
    counts: Counter[str] = Counter()
    for ids in IDS:
        for number in range(histories // SLOW.get(trimmer.key, 1)):
            rng = Random(f"trim-{ids}-{number}")
            history = whole(rng, reused=ids == "reused", mid_run=bool(number % 2))
            limit = rng.randint(*LIMITS)
            try:
                cut = trimmer.cut(history, limit)
            except NotThisCase:
                continue
            except ImportError:
                raise
            except Exception:
                counts.update([f"{ids} windows", f"{ids} refused"])
                continue
            verdict = judge(
                convert.chat_skeletons(history),
                cut.window,
                size=cut.size,
                limit=cut.limit,
                system_apart=trimmer.system_apart,
                items=trimmer.items,
            )
            counts[f"{ids} windows"] += 1
            counts[f"{ids} invalid"] += bool(verdict.invalid)
            counts[f"{ids} model first"] += not verdict.start
            counts[f"{ids} no system"] += not verdict.system
            counts[f"{ids} no task"] += not verdict.task
            counts[f"{ids} over"] += verdict.over
    return counts


def repaired(repairer: Repairer, histories: int) -> Counter[str]:
    """Break and repair every history in each way."""
    breach = first_breach_of_items if repairer.items else first_breach
    counts: Counter[str] = Counter()
    for ids in IDS:
        for name, damage in BREAKAGES.items():
            for number in range(histories):
                rng = Random(f"repair-{ids}-{number}")
                broken = damage(rng, whole(rng, reused=ids == "reused", mid_run=False))
                counts[f"{ids} {name} broken"] += 1
                try:
                    mended = repairer.repair(broken)
                except ImportError:
                    raise
                except Exception:
                    counts.update([f"{ids} {name} invalid", "raised"])
                    continue
                counts[f"{ids} {name} invalid"] += bool(breach(mended.messages))
                lost = marks(broken) - mended.kept
                counts[f"{ids} {name} lost"] += bool(lost)
                counts[f"{ids} {name} unreported"] += bool(lost - mended.reported)
    return counts


def work(part: str, keys: Sequence[str], histories: int) -> dict[str, Found]:
    """Measure some rows in this environment."""
    rows: dict[str, Any] = {row.key: row for row in (TRIMMERS if part == "trim" else REPAIRERS)}
    found: dict[str, Found] = {}
    for key in keys:
        row = rows[key]
        try:
            version = metadata.version(row.package) if row.package else ""
            measure: Any = trimmed if part == "trim" else repaired
            found[key] = {"version": version, "counts": measure(row, histories)}
        except metadata.PackageNotFoundError:
            found[key] = {"missing": "not installed"}
        except ImportError as error:
            found[key] = {"missing": f"cannot be imported: {error}"}
    return found


# --- sharing the work out -------------------------------------------------------------------------


def share_out(pythons: dict[str, str], quick: bool) -> dict[str, dict[str, Found]]:  # noqa: FBT001
    """Run every row in a worker of its environment; what each row came to, by part."""
    jobs: list[tuple[str, str, list[str]]] = []
    for part, rows in (("trim", TRIMMERS), ("repair", REPAIRERS)):
        for place in (MAIN, SECOND):
            keys = [row.key for row in rows if row.place == place]
            slow = [key for key in keys if part == "trim" and key in SLOW]
            jobs += [(part, place, slow), (part, place, [k for k in keys if k not in slow])]
    jobs = [job for job in jobs if job[2]]

    def run(job: tuple[str, str, list[str]]) -> tuple[str, dict[str, Found]]:
        part, place, keys = job
        if place not in pythons:
            return part, {key: {"missing": "its environment could not be made"} for key in keys}
        histories = (QUICK if quick else HISTORIES)[part]
        command = [pythons[place], __file__, "--worker", part, *keys, "--histories", str(histories)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return part, json.loads(done.stdout.splitlines()[-1])

    found: dict[str, dict[str, Found]] = {"trim": {}, "repair": {}}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for part, rows in pool.map(run, jobs):
            found[part] |= rows
    return found


# --- the tables -----------------------------------------------------------------------------------


def trim_section(found: dict[str, Found]) -> Section:
    """The first table."""
    lead = f"""
Random histories of {TURNS} turns that are valid: 0-4 tool steps a turn, 1-3 parallel calls a step,
results in any order.
Half of them end with a new user message, half with the result of a tool.
Each is cut once, to a random limit of {LIMITS[0]} to {LIMITS[1]} messages, or to what comes nearest
in the unit that the trimmer counts in.
The limits are small on purpose: the last turn alone is often longer.

- *Invalid*: a call without its result, or a result without its call; every provider refuses that.
  First where every call id is unique, then where ids start anew with every tool step.
- *Model first*: the first message after the system part is not a user message. Gemini and Bedrock
  refuse that, OpenAI does not.
- *No newest user message*: what the user asked last is gone, so the model answers something else.
- *No system*: the system message is gone. *Apart*: the library holds it outside the list.
- *Over*: the window is larger than the limit, in the trimmer's own unit.
- *Refused*: it raised instead of cutting. Ours says then what must stay and how much that needs."""
    columns = ["trimmer", "limit in", "windows", "invalid, unique / reused ids", "model first"]
    columns += ["no newest user message", "no system", "over", "refused", "says what it dropped"]
    rows = [_trim_row(trimmer, found[trimmer.key]) for trimmer in TRIMMERS]
    notes = [
        (
            "litellm is given a fifth of the histories, since a cut takes it long. Where it fails "
            "on a call without text it logs an error and returns the whole list."
        ),
        (
            "openai-agents cuts a session when a user message comes, so it is given only histories "
            "that end with one, and is judged by the rules of the Responses API."
        ),
        (
            "google-adk and agent-framework's window count turns and groups and inspect-ai takes a "
            "share: they are given what comes nearest, and *over* is not asked."
        ),
        (
            "haystack, AutoGen's token limit and ctx-compact count with a function of the "
            "caller's: here every message is one token."
        ),
        *_missing(TRIMMERS, found),
    ]
    return Section("trim", "Trimming", lead, [Table("", columns, rows, notes)])


def _trim_row(trimmer: Trimmer, found: Found) -> list[str]:
    if "missing" in found:
        return [trimmer.label, trimmer.unit, *["-"] * 7, "not measured"]
    counts = Counter(found["counts"])
    windows = sum(counts[f"{ids} windows"] for ids in IDS)
    shares = {
        what: share(sum(counts[f"{ids} {what}"] for ids in IDS), windows)
        for what in ("model first", "no task", "no system", "over", "refused")
    }
    if trimmer.system_apart:
        shares["no system"] = "apart"
    if trimmer.unit in ("turns", "groups", "a share"):
        shares["over"] = "-"
    pair = _pair(counts, "invalid", "windows")
    return [trimmer.label, trimmer.unit, str(windows), pair, *shares.values(), trimmer.says]


def repair_section(found: dict[str, Found]) -> Section:
    """The second pair of tables."""
    lead = f"""
The same histories, each broken once at a random place in one of six ways; {HISTORIES["repair"]} of
each way and each kind of ids.
Every figure is given twice: where call ids are unique, and where they start anew with every step.
The last three rows are in the Responses shape and judged by its rules: a call may stand far from
its result, but must come before it, and there must be as many of the one as of the other.
A second result for a call counts as invalid: every provider but OpenAI refuses it, and of the
servers that speak OpenAI's Chat protocol some do."""
    columns = ["repairer", *BREAKAGES]
    still = Table("Share that is still invalid after the repairer", columns, [])
    lost = Table(
        "Share in which something was lost that could be kept, without a report",
        [*columns, "says what it did"],
        [],
        [
            (
                "*Lost*: the text of a message or the arguments of a call that were in the broken "
                "history are nowhere in the repaired one. A dropped copy of a result is no loss."
            ),
            "A *report* is part of what the function returns. A line in the log is none.",
            (
                "openai-agents takes two items with one call id for the same item and sends the "
                "newer alone, so a session in which ids are used again loses its older steps, "
                "broken or not."
            ),
            (
                "strands gets a duplicate in the same message as the first result, which is how it "
                "joins parallel results."
            ),
            (
                "Judged is the list that the function returns. What a library does to it later, on "
                "the way to one provider, may mend more."
            ),
            *_missing(REPAIRERS, found),
        ],
    )
    for row in REPAIRERS:
        one = found[row.key]
        if "missing" in one:
            still.rows.append([row.label, *["-"] * len(BREAKAGES)])
            lost.rows.append([row.label, *["-"] * len(BREAKAGES), "not measured"])
            continue
        counts = Counter(one["counts"])
        pairs = [(f"{name} invalid", f"{name} broken") for name in BREAKAGES]
        still.rows.append([row.label, *(_pair(counts, part, all_) for part, all_ in pairs)])
        pairs = [(f"{name} unreported", f"{name} broken") for name in BREAKAGES]
        cells = (_pair(counts, part, all_) for part, all_ in pairs)
        lost.rows.append([row.label, *cells, row.says])
    return Section("repair", "Repair", lead, [still, lost])


def _pair(counts: Counter[str], part: str, all_: str) -> str:
    unique, reused = (share(counts[f"{ids} {part}"], counts[f"{ids} {all_}"]) for ids in IDS)
    return f"{unique.removesuffix(' %')} / {reused}"


def _missing(rows: Sequence[Any], found: dict[str, Found]) -> list[str]:
    """Name every row that could not be measured, with the reason."""
    return [
        f"{row.label} ({row.package}) was not measured: {found[row.key]['missing']}."
        for row in rows
        if "missing" in found[row.key]
    ]


def page(sections: list[Section], found: dict[str, dict[str, Found]], took: float) -> str:
    """docs/validity.md."""
    facts = [("date", datetime.now(UTC).strftime("%Y-%m-%d")), *report.machine()]
    versions = {
        row.package: found[part][row.key].get("version", "not measured")
        for part, rows in (("trim", TRIMMERS), ("repair", REPAIRERS))
        for row in rows
        if row.package
    }
    lines = [
        "# Validity beside other libraries",
        "",
        "Written by `make bench-validity`; do not edit by hand.",
        (
            "What is accepted after a trimmer, and after a repairer: each library's own function, "
            "called with the options of its documents, on the same seeded histories."
        ),
        "How long they take is in the [benchmarks](benchmarks.md).",
        "",
    ]
    for section in sections:
        lines += [report.markdown(section, "img"), ""]
    lines += ["## How it was measured", "", "| | |", "| --- | --- |"]
    lines += [f"| {name} | {fact} |" for name, fact in facts]
    lines += [f"| {name} | {version} |" for name, version in versions.items()]
    lines += [f"| this run took | {took / 60:.0f} min |", "", METHOD.strip(), ""]
    return "\n".join(lines)


METHOD = """
**Histories** (`bench/short_histories.py`) are made from a seed and are the same for everyone.
Every text and every call in them carries a word that occurs nowhere else, which tells what was
lost.

**Trimmers** (`bench/trimmers.py`) and **repairers** (`bench/repairers.py`) get the history as their
library's own objects (`bench/convert.py`, `bench/shapes.py`).

**The judge** (`bench/judge.py`) knows the rules of OpenAI Chat and of the Responses API and shares
no code with any contender.

**The agent** (`bench/thinking.py`) talks to the strict Anthropic server of `lockstitch.testing`,
which judges by checks of its own.

**Versions** are pinned by hash in `requirements/bench-validity.txt` and, since its pins collide
with the others', `requirements/bench-semantic-kernel.txt`.

Run it again: `make bench-validity`, or for a quick look `bench/validity.sh --quick`.
"""


# --- running --------------------------------------------------------------------------------------


def main() -> int:
    """Print the tables; the exit code is 0 whatever was measured."""
    options = _options()
    if options.worker:
        _quiet()
        part, *keys = options.worker
        print(json.dumps(work(part, keys, options.histories)))
        return 0
    # It needs Lockstitch, which a worker in the second environment does not have.
    import thinking

    started = time.perf_counter()
    pythons = {MAIN: sys.executable}
    if options.semantic_kernel:
        pythons[SECOND] = options.semantic_kernel
    found = share_out(pythons, options.quick)
    sections = [
        trim_section(found["trim"]),
        repair_section(found["repair"]),
        thinking.section(),
    ]
    for section in sections:
        report.show(section)
    took = time.perf_counter() - started
    out = options.out or (None if options.quick else PAGE)
    if out is not None:
        out.write_text(page(sections, found, took), encoding="utf-8")
        print(f"wrote {out}", file=sys.stderr)
    print(f"took {took:.0f} s", file=sys.stderr)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few histories, a smoke test")
    parser.add_argument("--out", type=Path, help="a file for the page")
    parser.add_argument("--semantic-kernel", help="the interpreter of its environment")
    parser.add_argument("--worker", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--histories", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def _quiet() -> None:
    """Keep what the contenders log and warn off the terminal."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)


if __name__ == "__main__":
    raise SystemExit(main())
