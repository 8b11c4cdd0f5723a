"""The bars of the stores: what the library promises of them, each with what was measured.

Nothing here fails a run. A ratio is taken inside one run, so it does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from measure_stores_growth import Growth
from measure_stores_memory import LIMIT_MB, Memory
from measure_stores_redis import Redis
from measure_stores_tables import Postgres, Sqlite, Stored
from measure_stores_writers import WRITERS, Writers
from report import Section, Table, count, significant

FLAT = 1.5
Row = tuple[str, str, str, bool | None]


def section(
    *,
    redis: Redis,
    sqlite: Sqlite,
    postgres: Postgres,
    growth: Growth,
    writers: Writers,
    memory: Memory,
) -> Section:
    """Every bar; what was not measured says so."""
    bars = [*_redis(redis), *_stored(sqlite, "SQLite", ("ours", "ours-full"), 2.0)]
    found = [r for n in sqlite.lengths if (r := sqlite.over("ours", "bare-json", n)) is not None]
    told = _times(max(found, default=None))
    bars.append(("SQLite: append 2", "the transaction that makes its bytes", told, None))
    bars += _stored(postgres, "PostgreSQL", ("ours",), 1.5)
    bars += [*_growth(growth), *_writers(writers), *_memory(memory)]
    verdicts = {None: "no bar", True: "met", False: "**missed**"}
    rows = [
        [what, bar, measured, "not measured" if measured == "-" else verdicts[met]]
        for what, bar, measured, met in bars
    ]
    lead = """
What the library promises of its stores, and what this run measured.
Times are medians, and ratios are taken within this run."""
    table = Table("", ["what", "bar", "measured", "verdict"], rows)
    return Section("bars", "Bars", lead, [table])


def _redis(redis: Redis) -> Iterator[Row]:
    what = "Redis: append 2 with a cut at 50"
    for key, name in (
        ("ours", ""),
        ("ours-exact", ", a cut each time"),
        ("ours-async", ", awaited"),
    ):
        ratio = redis.ratio(key, 50)
        met = None if ratio is None else ratio <= 1.5
        yield f"{what}{name}", "at most 1.5 x the bare transaction", _times(ratio), met
    encoding = redis.over("ours", "raw-json", 50)
    yield what, "the transaction that makes its bytes", _times(encoding), None
    seen = [redis.traffic.get((key, n)) for key in ("ours", "ours-exact") for n in redis.limits]
    trips = max((one.trips for one in seen if one), default=None)
    shown = "-" if trips is None else significant(trips)
    yield what, "one round trip", shown, None if trips is None else trips == 1
    for key, name in (("ours", ""), ("ours-exact", ", a cut each time")):
        first, last = redis.limits[0], redis.limits[-1]
        flat = redis.growth(key)
        bar = f"a limit of {count(last)} within {FLAT} x of {count(first)}"
        yield f"Redis: append 2{name}", bar, _times(flat), None if flat is None else flat <= FLAT


def _stored(stored: Stored, store: str, keys: tuple[str, ...], limit: float) -> Iterator[Row]:
    for key in keys:
        found = [r for length in stored.lengths if (r := stored.ratio(key, length)) is not None]
        worst = max(found, default=None)
        name = " (FULL)" if key.endswith("full") else ""
        bar = f"at most {limit:g} x the bare one, at every length"
        met = None if worst is None else worst <= limit
        yield f"{store}{name}: append 2", bar, _times(worst), met


def _growth(growth: Growth) -> Iterator[Row]:
    first, last = growth.lengths[0], growth.lengths[-1]
    bar = f"{count(last)} stored within {FLAT} x of {count(first)}"
    for store, ratios in growth.ratios().items():
        for what, ratio in zip(("append 2", "window"), ratios, strict=True):
            yield f"{store}: {what}", bar, _times(ratio), ratio <= FLAT


def _writers(writers: Writers) -> Iterator[Row]:
    found = writers.invalid()
    what = f"{WRITERS} writers, one session, all stores"
    wrong, gone, reads = found or (0, 0, 0)
    shown = f"{count(wrong)} of {count(reads)} reads" if found else "-"
    yield what, "0 invalid states read", shown, None if found is None else wrong == 0
    shown = count(gone) if found else "-"
    yield what, "0 messages lost or doubled", shown, None if found is None else gone == 0


def _memory(memory: Memory) -> Iterator[Row]:
    above = memory.above
    what = f"memory above the library, {count(memory.length)} stored"
    shown = "-" if above is None else f"{above:.1f} MB"
    yield what, f"under {LIMIT_MB} MB", shown, None if above is None else above < LIMIT_MB


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f} x"
