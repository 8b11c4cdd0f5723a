"""What a writer and a reader of the table of many writers do, in a thread or in a process."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter, sleep
from typing import Any

import store_data
from store_contenders import Contender
from store_data import Unit

PATIENCE = 120.0  # seconds until a process that says nothing is given up


@dataclass(frozen=True, slots=True)
class Spec:
    """Which session through which contender; it can be sent to another process."""

    family: str
    key: str
    place: str
    session: str
    limit: int

    def open(self) -> Contender:
        """Connect."""
        if self.family == "redis":
            from store_redis import CONTENDERS
        elif self.family == "sqlite":
            from store_sqlite import CONTENDERS
        else:
            from store_postgres import CONTENDERS
        kind = next(one for one in CONTENDERS if one.key == self.key)
        return kind(self.place, self.session, self.limit)


@dataclass(frozen=True, slots=True)
class Job:
    """What one writer appends: so many units of a stream, whole or calls and results apart.

    With a pause after each append a run lasts long enough for readers to see something.
    """

    spec: Spec
    name: str
    units: int
    seconds: float
    apart: bool = False
    pause: float = 0.0

    def appends(self) -> Iterator[Unit]:
        """Each append, in order; the same whenever it is asked for."""
        for unit in islice(store_data.units(self.name, wide=True), self.units):
            if self.apart and unit[0].get("tool_calls"):
                yield unit[:1]
                yield unit[1:]
            else:
                yield unit


@dataclass(slots=True)
class Written:
    """What a writer did."""

    began: float = 0.0
    ended: float = 0.0
    done: int = 0  # how many appends of the job were tried
    refused: list[int] = field(default_factory=list)  # which of them raised
    worst: float = 0.0


def write(job: Job, start: Any) -> Written:
    """Append until all is done or the time is over; `start` is a barrier."""
    quiet()
    try:
        contender = job.spec.open()
        prepared = [contender.prepare(unit) for unit in job.appends()]
    except BaseException:
        start.abort()  # the others are not to wait for this one
        raise
    try:
        append, did = contender.append, Written()
        start.wait(PATIENCE)
        did.began = now = perf_counter()
        end = now + job.seconds
        for at, one in enumerate(prepared):
            try:
                append(one)
            except Exception:
                did.refused.append(at)
            before, now = now, perf_counter()
            did.worst = max(did.worst, now - before)
            did.done = at + 1
            if now > end:
                break
            if job.pause:
                sleep(job.pause)
                now = perf_counter()
        did.ended = now
        return did
    finally:
        contender.close()


def read(spec: Spec, ready: Any, stop: Any) -> Counter[str]:
    """Read and judge what was read until told to stop."""
    import lockstitch

    quiet()
    found: Counter[str] = Counter()
    contender = spec.open()
    try:
        contender.read()
        ready.wait(PATIENCE)
        while not stop.is_set():
            try:
                chat = contender.chat(contender.read())
            except Exception:
                found["refused"] += 1
                continue
            found["reads"] += 1
            if chat:
                pairs = lockstitch.check(chat, tail="open", profile="openai-chat")
                found["invalid"] += not pairs.ok
                found["not portable"] += not lockstitch.check(chat, tail="open").ok
            found["over"] += contender.limits and len(chat) > spec.limit
            found["twice"] += any(times > 1 for times in store_data.marks(chat).values())
        return found
    finally:
        contender.close()


class Child:
    """A function that runs in a process of its own."""

    def __init__(self, context: Any, function: Any, arguments: tuple[Any, ...]) -> None:
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_answering, args=(theirs, function, arguments), daemon=True
        )
        self._process.start()
        theirs.close()

    def answer(self) -> Any:
        """What the function returned."""
        try:
            if not self._pipe.poll(PATIENCE):
                raise TimeoutError("a process of the benchmark said nothing")
            answer, error = self._pipe.recv()
            if error:
                raise RuntimeError(error)
            return answer
        finally:
            self._process.kill()
            self._process.join()


def _answering(pipe: Any, function: Any, arguments: tuple[Any, ...]) -> None:
    try:
        pipe.send((function(*arguments), ""))
    except Exception:
        pipe.send((None, traceback.format_exc()))


def lost_and_doubled(spec: Spec, jobs: list[Job], written: list[Written]) -> tuple[int | None, int]:
    """How many messages are not there that were stored, and how many are there more than once."""
    expected: Counter[str] = Counter()
    for job, did in zip(jobs, written, strict=True):
        refused = set(did.refused)
        for at, unit in enumerate(islice(job.appends(), did.done)):
            if at not in refused:
                expected += store_data.marks(unit)
    contender = spec.open()
    try:
        found = store_data.marks(contender.everything())
        keeps = contender.keeps
    finally:
        contender.close()
    lost = sum(1 for mark in expected if mark not in found) if keeps else None
    return lost, sum(1 for times in found.values() if times > 1)


def quiet() -> None:
    """Keep what contenders log and warn off the terminal."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
