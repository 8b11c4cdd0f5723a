"""Table (e): one and eight writers, one session and eight, and what readers see meanwhile.

Writers are threads for a server's clients and processes for SQLite; each has a connection of its
own. Readers are processes, so that what they do costs the writers nothing but the server's time.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import store_data
import store_postgres
import store_redis
import store_sqlite
from report import Section, Table, count, duration, share
from store_contenders import Contender
from store_work import PATIENCE, Child, Job, Spec, Written, lost_and_doubled, read, write

LIMIT = 50
WRITERS = 8
READERS = 2
PAUSE = 0.005  # after each append, where somebody reads
KINDS: dict[str, list[type[Contender]]] = {
    "redis": [
        store_redis.Raw,
        store_redis.Sync,
        store_redis.AgentFramework,
        store_redis.OpenAIAgents,
        store_redis.LangChain,
    ],
    "sqlite": [store_sqlite.Bare, store_sqlite.Normal, store_sqlite.OpenAIAgents],
    "postgres": [store_postgres.Statement, store_postgres.Pooled, store_postgres.Transaction],
}
NAMES = {"redis": "Redis", "sqlite": "SQLite", "postgres": "PostgreSQL"}
PRELOADED = ["lockstitch", "agents", "agent_framework_redis", "psycopg_pool", "store_data"]
Setup = tuple[str, int, int, bool, bool]
SETUPS: list[Setup] = [  # name, writers, sessions, with readers, calls and results apart
    ("one", 1, 1, False, False),
    ("same", WRITERS, 1, False, False),
    ("each", WRITERS, WRITERS, False, False),
    ("read", WRITERS, 1, True, False),
    ("apart", WRITERS, 1, True, True),
]


@dataclass(slots=True)
class Outcome:
    """What one setup came to."""

    rate: float = 0.0
    worst: float = 0.0
    refused: int = 0
    appends: int = 0
    lost: int | None = 0
    doubled: int = 0
    seen: Counter[str] = field(default_factory=Counter)


class Writers:
    """Table (e)."""

    key = "e"

    def __init__(self, units: int, seconds: float) -> None:
        self.units = units
        self.seconds = seconds
        self.outcomes: dict[tuple[str, str, str], Outcome] = {}
        # Each process is a fork of one that has imported all this and done nothing yet.
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(PRELOADED)
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)

    def run(self, family: str, place: str) -> None:
        """Run every setup with every contender of a family."""
        for setup in SETUPS:
            for kind in KINDS[family]:
                where = f"{place}-{kind.key}" if family == "sqlite" else place
                self.outcomes[family, kind.key, setup[0]] = self._one(family, kind, where, setup)

    def _one(self, family: str, kind: type[Contender], place: str, setup: Setup) -> Outcome:
        name, writers, sessions, readers, apart = setup
        pause = PAUSE if readers else 0.0
        specs = [
            Spec(family, kind.key, place, f"e-{kind.key}-{name}-{at}", LIMIT)
            for at in range(sessions)
        ]
        for spec in specs:
            contender = spec.open()
            contender.fill(store_data.batches(LIMIT + 10))
            contender.close()
        jobs = [
            Job(specs[at % sessions], f"w{at}", self.units, self.seconds, apart, pause)
            for at in range(writers)
        ]
        written, seen = self._work(jobs, specs[0] if readers else None, family == "sqlite")
        lost, doubled = lost_and_doubled(specs[0], jobs[::sessions], written[::sessions])
        appends = sum(one.done - len(one.refused) for one in written)
        took = max(one.ended for one in written) - min(one.began for one in written)
        return Outcome(
            rate=appends / took,
            worst=max(one.worst for one in written),
            refused=sum(len(one.refused) for one in written),
            appends=appends,
            lost=lost,
            doubled=doubled,
            seen=seen,
        )

    def _work(
        self,
        jobs: list[Job],
        watched: Spec | None,
        processes: bool,  # noqa: FBT001 - passed on by position
    ) -> tuple[list[Written], Counter[str]]:
        context = self._processes
        readers = READERS if watched else 0
        ready, stop = context.Barrier(readers + 1), context.Event()
        reading = [Child(context, read, (watched, ready, stop)) for _ in range(readers)]
        ready.wait(PATIENCE)
        if processes:
            start: Any = context.Barrier(len(jobs))
            written = [one.answer() for one in [Child(context, write, (j, start)) for j in jobs]]
        else:
            start = threading.Barrier(len(jobs))
            with ThreadPoolExecutor(len(jobs)) as threads:
                written = list(threads.map(write, jobs, [start] * len(jobs)))
        stop.set()
        seen: Counter[str] = sum((one.answer() for one in reading), Counter())
        return written, seen

    def invalid(self) -> tuple[int, int, int] | None:
        """Of Lockstitch: invalid states read, messages lost or doubled, and reads in all."""
        ours = [one for (_, key, _), one in self.outcomes.items() if key == "ours"]
        if not ours:
            return None
        wrong = sum(
            one.seen["invalid"] + one.seen["not portable"] + one.seen["over"] + one.seen["refused"]
            for one in ours
        )
        gone = sum((one.lost or 0) + one.doubled for one in ours)
        return wrong, gone, sum(one.seen["reads"] for one in ours)

    def section(self) -> Section:
        """Two tables a store."""
        lead = f"""
Writers append units of 2 to 5 messages (a call with its results, a question with its answer) to
sessions with a limit of {LIMIT}; {READERS} readers read all the while and judge what they read.
*Invalid*: a call without its result or a result without its call, by OpenAI's rules, the calls at
the end set aside.
*Not portable*: refused by some provider, for instance since it begins with an answer.
*Apart*: each call is appended alone and its results after it, while others append in between.
*Lost*: stored, and not to be read back; of what throws old messages away that cannot be said."""
        tables: list[Table] = []
        for family, kinds in KINDS.items():
            if (family, kinds[0].key, SETUPS[0][0]) in self.outcomes:
                tables += [self._rates(family, kinds), self._seen(family, kinds)]
        return Section("e", "Many writers, and what readers see", lead, tables)

    def _rates(self, family: str, kinds: list[type[Contender]]) -> Table:
        columns = ["contender", "1 writer", f"{WRITERS} writers, one session"]
        columns += [f"{WRITERS} writers, {WRITERS} sessions", "longest wait", "refused"]
        rows: list[list[str]] = []
        for kind in kinds:
            one, same, each = (self.outcomes[family, kind.key, s] for s in ("one", "same", "each"))
            rates = [f"{count(round(found.rate))}/s" for found in (one, same, each)]
            refused = share(same.refused, same.refused + same.appends)
            rows.append([kind.label, *rates, duration(same.worst), refused])
        title = (
            f"{NAMES[family]}: appends a second, and the longest wait of {WRITERS} in one session"
        )
        return Table(title, columns, rows)

    def _seen(self, family: str, kinds: list[type[Contender]]) -> Table:
        columns = ["contender", "reads", "invalid", "not portable", "over the limit"]
        columns += ["lost", "doubled"]
        columns += [f"apart: {name}" for name in (*columns[1:4], *columns[5:])]
        rows: list[list[str]] = []
        for kind in kinds:
            row = [kind.label]
            for setup in ("read", "apart"):
                found = self.outcomes[family, kind.key, setup]
                seen, reads = found.seen, found.seen["reads"]
                row += [count(reads), share(seen["invalid"], reads)]
                row.append(share(seen["not portable"], reads))
                if setup == "read":
                    row.append(share(seen["over"], reads) if kind.limits else "no limit")
                row.append("-" if found.lost is None else count(found.lost))
                row.append(count(found.doubled))
            rows.append(row)
        title = f"{NAMES[family]}: what {READERS} readers saw of {WRITERS} writers in one session"
        return Table(title, columns, rows)
