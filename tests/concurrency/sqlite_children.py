"""What the tests of the SQLite backend start as processes of their own; see who starts it."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import sys
import time

from lockstitch.stores.base import Change, Commit, Key, Row
from lockstitch.stores.running import run
from lockstitch.stores.sqlite import SqliteDriver

KEY = Key("acme", "shared")
BATCH = 3


def batch(mark: str) -> tuple[Row, ...]:
    return tuple(Row(f"{at}".encode(), f"{mark}/{at}".encode() * 50) for at in range(BATCH))


def write(path: str, name: str, batches: int) -> None:
    """Append batches to the session that all share, now and then one again, with cuts."""
    draw = random.Random(name)  # noqa: S311 - a seeded draw, nothing secret
    driver = SqliteDriver(path, timeout=120)
    seen = None
    for at in range(batches):
        mark = f"{name}.{at:04}"
        cut = None
        if seen is not None and draw.random() < 0.3:
            cut = Change(head=mark.encode(), ranges=(1, 1), through=seen.seq, event=mark.encode())
        sent = Commit(
            key=KEY,
            mark=mark,
            rows=batch(mark),
            epoch=mark,
            expected=seen,
            change=cut,
            idempotency=mark if draw.random() < 0.5 else None,
        )
        done = run(driver.backend.commit(sent), driver)
        assert done.outcome == "stored"
        if draw.random() < 0.3:
            assert run(driver.backend.commit(sent), driver).outcome == "replayed"
        if draw.random() < 0.8:
            seen = done.now.version
    driver.close()


def kill(path: str, seed: int, kills: int) -> None:
    """Fork writers and kill each at an instant that was drawn; look at the database after each."""
    draw = random.Random(seed)  # noqa: S311 - as above
    commits = unacknowledged = 0
    for round_ in range(kills):
        if round_ % 10 == 0:  # looking at all of it takes longer the more there is
            fresh, told_of, known = f"{path}.{round_}", set[str](), set[str]()
        acks, told = os.pipe()
        child = os.fork()
        if not child:
            os.close(acks)
            _write_until_killed(fresh, round_, told)
        os.close(told)
        # The first acknowledgement says that it is at work; then it is a matter of chance.
        text = os.read(acks, 16)
        time.sleep(draw.random() * 0.003)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(acks, 65_536):
            text += more
        os.close(acks)
        told_of |= set(text.decode().split())
        stored = _look(fresh)
        assert told_of <= stored
        commits += len(stored - known)
        unacknowledged += len(stored - known - told_of)
        known = stored
    sys.stdout.write(f"{kills} kills, {commits} commits, {unacknowledged} unacknowledged\n")


def _write_until_killed(path: str, round_: int, told: int) -> None:
    driver = SqliteDriver(path)
    seen = None
    for at in itertools.count():
        mark = f"{round_:04}.{at:06}"
        cut = seen and Change(head=mark.encode(), ranges=(1, 1), through=seen.seq, event=b"cut")
        key = KEY if at % 4 else Key("acme", f"{round_}.{at}")
        sent = Commit(
            key=key,
            mark=mark,
            rows=batch(mark),
            epoch=mark,
            expected=seen,
            change=cut,
            idempotency=mark,
            note=b"note",
        )
        done = run(driver.backend.commit(sent), driver)
        seen = done.now.version if key == KEY else seen
        os.write(told, f"{mark}\n".encode())


def _look(path: str) -> set[str]:
    """Check that all of it is whole, and return the marks of the batches that were stored."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    found = connection.execute(
        "SELECT mark, session, count(*), max(seq) - min(seq), count(DISTINCT seq), "
        "(SELECT count(*) FROM lockstitch_keys k WHERE k.session = r.session AND k.key = r.mark) "
        "FROM lockstitch_rows r GROUP BY mark, session"
    ).fetchall()
    for mark, _, count, apart, distinct, keys in found:
        assert (count, apart, distinct, keys) == (BATCH, BATCH - 1, BATCH, 1), mark
    wrong = connection.execute(
        "SELECT session FROM lockstitch_sessions s WHERE "
        "seq <> (SELECT count(*) FROM lockstitch_rows r WHERE r.session = s.session) OR "
        "size <> (SELECT sum(length(payload)) FROM lockstitch_rows r WHERE r.session = s.session)"
        "OR events <> (SELECT count(*) FROM lockstitch_events e WHERE e.session = s.session) OR "
        "events <> revision + seq / 3 OR "
        "(revision > 0) <> (SELECT count(*) FROM lockstitch_heads h WHERE h.session = s.session)"
    ).fetchall()
    assert not wrong
    connection.close()
    return {mark for mark, *_ in found}


def fork(path: str) -> None:
    """Write before and after a fork in both processes, and close in the parent first."""
    driver = SqliteDriver(path)

    def send(mark: str) -> None:
        sent = Commit(key=KEY, mark=mark, rows=batch(mark), epoch=mark)
        assert run(driver.backend.commit(sent), driver).outcome == "stored"

    send("parent before")
    closed, close = os.pipe()
    child = os.fork()
    if not child:
        send("child before")
        os.read(closed, 1)
        send("child after")
        driver.close()
        os._exit(0)
    send("parent after")
    driver.close()
    os.write(close, b"x")
    assert os.waitpid(child, 0)[1] == 0


def fork_lent(path: str) -> None:
    """Fork with databases that belong to one process; the child must be told so."""
    drivers = [SqliteDriver(":memory:"), SqliteDriver(sqlite3.connect(path)), SqliteDriver("")]
    for driver in drivers:
        run(driver.backend.view(KEY), driver)
    child = os.fork()
    if not child:
        said = []
        for driver in drivers:
            try:
                run(driver.backend.view(KEY), driver)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent looks at it
                said.append(f"{type(error).__name__}: {error}")
        sys.stdout.write("\n".join(said) + "\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
    for driver in drivers:
        run(driver.backend.view(KEY), driver)
        driver.close()


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    if what == "write":
        write(arguments[0], arguments[1], int(arguments[2]))
    elif what == "kill":
        kill(arguments[0], int(arguments[1]), int(arguments[2]))
    elif what == "fork":
        fork(arguments[0])
    else:
        fork_lent(arguments[0])
