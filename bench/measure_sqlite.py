"""What a commit to the SQLite backend costs beside a bare transaction that inserts the same rows.

Both write to files of the same folder, by turns, with the same settings and the same table of rows,
so that what else the machine does falls on both. Give a folder to measure another file system:

    .venv/bin/python bench/measure_sqlite.py [folder]
"""

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from lockstitch.stores.base import Change, Commit, Key, Row, Version
from lockstitch.stores.running import run
from lockstitch.stores.sqlite import SqliteDriver

KEY = Key("acme", "user-42")
ROW = Row(b"m" * 150, os.urandom(1_500))
HEAD, RANGES, EVENT = (
    os.urandom(2_000),
    tuple(at for one in range(1, 21, 2) for at in (one, one)),
    b"e" * 300,
)
INSERT = (
    "INSERT INTO lockstitch_rows (session, seq, mark, at, meta, payload) VALUES (?, ?, ?, ?, ?, ?)"
)
SELECT = "SELECT seq, meta, payload, mark, at FROM lockstitch_rows WHERE session = 1 AND seq > ?"
ROUNDS = 2_000


def filled(path, stored):
    driver, version = SqliteDriver(path), None
    for at in range(0, stored, 50):
        sent = Commit(
            key=KEY, mark=f"{at:032x}", rows=(ROW,) * 50, expected=version, epoch="e" * 32
        )
        version = run(driver.backend.commit(sent), driver).now.version
    driver.close()
    return version


def measure(folder, stored, synchronous, rounds):
    version, seq = filled(folder / "ours.db", stored), filled(folder / "bare.db", stored).seq
    driver = SqliteDriver(folder / "ours.db", synchronous=synchronous)
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute(f"PRAGMA synchronous = {synchronous}")

    def insert(mark):
        nonlocal seq
        bare.execute("BEGIN IMMEDIATE")
        bare.executemany(INSERT, [(1, seq + at, mark, 1.5, ROW.meta, ROW.payload) for at in (1, 2)])
        bare.execute("COMMIT")
        seq += 2

    def commit(mark, event=None, key=None):
        nonlocal version
        change = None
        if event is not None:
            change = Change(head=HEAD, ranges=RANGES, through=version.seq - 20, event=event)
        sent = Commit(
            key=KEY, mark=mark, rows=(ROW, ROW), expected=version, change=change, idempotency=key
        )
        version = run(driver.backend.commit(sent), driver).now.version

    by_turns(
        f"{stored} rows stored, synchronous={synchronous}",
        {
            "bare: two rows": insert,
            "two rows": commit,
            "two rows and a cut": lambda mark: commit(mark, b""),
            "two rows, a cut and its event": lambda mark: commit(mark, EVENT),
            "two rows under a key": lambda mark: commit(mark, None, mark),
        },
        rounds,
    )
    now, grown = version, Version(version.epoch, version.revision, version.seq - 50)
    by_turns(
        "reading",
        {
            "bare: the last 50": lambda _: bare.execute(SELECT, (seq - 50,)).fetchall(),
            "the last 50": lambda _: run(driver.backend.rows(KEY, now.seq - 49, now.seq), driver),
            "50 more than known": lambda _: run(driver.backend.view(KEY, grown), driver),
            "the whole view": lambda _: run(driver.backend.view(KEY), driver),
            "nothing new": lambda _: run(driver.backend.view(KEY, now), driver),
        },
        rounds,
    )
    driver.close()
    bare.close()


def by_turns(title, cases, rounds):
    times = {name: [] for name in cases}
    for at in range(rounds):
        for name, case in cases.items():
            mark = f"{at:016x}{hash(name) & 0xFFFF_FFFF_FFFF_FFFF:016x}"
            start = time.perf_counter()
            case(mark)
            times[name].append((time.perf_counter() - start) * 1e6)
    base = times[next(iter(cases))]
    print(f"\n{title}")
    for name, found in times.items():
        middle, mean = statistics.median(found), statistics.mean(found)
        ratio, of_means = middle / statistics.median(base), mean / statistics.mean(base)
        print(
            f"  {name:30} median {middle:7.1f} us, {ratio:4.2f} x"
            f"   mean {mean:7.1f} us, {of_means:4.2f} x"
        )


if __name__ == "__main__":
    place = sys.argv[1] if len(sys.argv) > 1 else None
    for stored, synchronous, rounds in (
        (50, "NORMAL", ROUNDS),
        (5_000, "NORMAL", ROUNDS),
        (100_000, "NORMAL", ROUNDS),
        (50, "FULL", 300),
    ):
        with tempfile.TemporaryDirectory(dir=place) as made:
            measure(Path(made), stored, synchronous, rounds)
