"""Table (f): the memory of a process that works on a session of 100 000 stored messages.

As a script it is that process: ``python bench/measure_stores_memory.py FILE SESSION``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import store_data
from report import Section, Table, count

LENGTH = 100_000
WINDOW = 50
LIMIT_MB = 60
SESSIONS = {"bounded": WINDOW, "unbounded": None}


class Memory:
    """Table (f)."""

    key = "f"

    def __init__(self, length: int) -> None:
        self.length = length
        self.found: dict[str, dict[str, float]] = {}
        self.megabytes = 0.0

    def run(self, folder: Path) -> None:
        """Store the sessions in a file, and work on each in a process of its own."""
        from lockstitch import open_store

        path = folder / "f.db"
        with open_store(f"sqlite:///{path}") as store:
            for name, limit in SESSIONS.items():
                session = store.session(name, max_messages=limit)
                for batch in store_data.batches(self.length, size=1_000):
                    session.append(batch)
            self.megabytes = sum(one.bytes for one in store.list()) / len(SESSIONS) / 1e6
        for name in SESSIONS:
            command = [sys.executable, __file__, str(path), name]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            self.found[name] = json.loads(done.stdout)

    @property
    def above(self) -> float | None:
        """Megabytes above the interpreter with the library, at the peak."""
        found = self.found.get("bounded")
        return found["peak"] - found["start"] if found else None

    def section(self) -> Section:
        """The table."""
        lead = f"""
A process opens a session of {count(self.length)} messages ({self.megabytes:.0f} MB) in an SQLite
file with `max_messages={WINDOW}`, appends 20 times two messages and asks for the window 20 times.
Resident memory at its peak, as the kernel counts it."""
        columns = ["the session was filled", "interpreter with the library", "at the peak", "above"]
        words = {"bounded": f"with `max_messages={WINDOW}`", "unbounded": "without a limit"}
        rows = [
            [
                words[name],
                *(f"{mb:.1f} MB" for mb in (one["start"], one["peak"], one["peak"] - one["start"])),
            ]
            for name, one in self.found.items()
        ]
        notes = [
            (
                "The second row is a session that was kept without a limit and gets one now: its "
                "whole view is read to be cut."
            )
        ]
        return Section("f", "Memory", lead, [Table("", columns, rows, notes)])


def main() -> int:
    """Work on a session, and print what memory it took."""
    import lockstitch

    path, name = sys.argv[1:]
    units: list[Any] = store_data.take(store_data.units("memory"), 20)
    start = _megabytes("VmRSS")
    session = lockstitch.open_store(f"sqlite:///{path}").session(name, max_messages=WINDOW)
    for unit in units:
        session.append(unit)
        window = session.window()
    assert 2 <= len(window) <= WINDOW
    print(json.dumps({"start": start, "peak": _megabytes("VmHWM")}))
    return 0


def _megabytes(what: str) -> float:
    """A figure of this process as the kernel has it; getrusage would begin with the parent's."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024 / 1e6
    raise LookupError(what)


if __name__ == "__main__":
    raise SystemExit(main())
