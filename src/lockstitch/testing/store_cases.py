"""Cases about stores: carried out on every store that is at hand, and judged.

Knows: how a case says what is stored by whom, and what must be so afterwards. Memory and a SQLite
file are always at hand; Redis and PostgreSQL where the environment names them
(`LOCKSTITCH_TEST_REDIS`, `LOCKSTITCH_TEST_POSTGRES`: the URL of each).

Must not know: how any store works.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lockstitch.accepting import check
from lockstitch.errors import StoreError
from lockstitch.formats import FORMATS
from lockstitch.stores.connecting import open_store
from lockstitch.stores.store import Store
from lockstitch.testing.trials import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lockstitch.stores.running import Driver
    from lockstitch.stores.store import Session

__all__ = ["STORE_OPERATIONS", "judge_store_case"]

STORE_OPERATIONS: Final = ("append", "append_concurrent", "store_round_trip", "store_ttl")
_SERVERS: Final = {"redis": "LOCKSTITCH_TEST_REDIS", "postgres": "LOCKSTITCH_TEST_POSTGRES"}
_LISTS: Final = ("messages", "input", "contents")


def judge_store_case(case: Mapping[str, Any]) -> list[str]:
    """Carry a case out on each store, and list what is not as it was expected.

    Raises:
        Unsupported: the format is not in this release.
    """
    if case["format"] not in FORMATS:
        raise Unsupported(f"the format {case['format']} is not in this release")
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, url in _stores(Path(folder)):
            with open_store(url) as store:
                problems += [f"{name}: {one}" for one in _Case(case, store).problems()]
    return problems


def _stores(folder: Path) -> Iterator[tuple[str, str]]:
    yield "memory", "memory://"
    yield "sqlite", f"sqlite:///{folder / 'case.db'}"
    for name, variable in _SERVERS.items():
        url = os.environ.get(variable)
        if url:
            yield name, url


class _Case:
    """One case on one store."""

    def __init__(self, case: Mapping[str, Any], store: Store) -> None:
        self.operation: Mapping[str, Any] = case["operation"]
        self.expected: Mapping[str, Any] = case["expected"]
        self.format: str = case["format"]
        body = case["input"]
        self.natives: list[Any] = next((body[key] for key in _LISTS if key in body), [])
        self.store = store
        self.name = f"case-{secrets.token_hex(6)}"
        self.batches: list[list[Any]] = [self.natives] if self.natives else []
        self.error: Exception | None = None

    def session(self, store: Store | None = None) -> Session:
        """Return a new handle on the session."""
        return (store or self.store).session(self.name, format=self.format)

    def problems(self) -> Iterator[str]:
        """Do what the case says, and yield what is not as expected."""
        if self.natives:
            self.session().append(self.natives)
        doing = getattr(self, f"_do_{self.operation['op']}")
        try:
            doing()
        except StoreError as error:
            self.error = error
        stored = [entry.message for entry in self.session().record()]
        shown = list(self.session().window())
        for key, value in {**self.expected, **(self.expected.get("after") or {})}.items():
            judge = _JUDGES.get(key)
            if judge is None:
                yield f"the expectation {key!r} is unknown"
            else:
                yield from judge(self, value, stored, shown)

    def _do_store_round_trip(self) -> None:
        """Nothing more: what is stored is read back by new handles."""

    def _do_append(self) -> None:
        driver = _Failing(self.store.driver) if "fault" in self.operation else self.store.driver
        self.session(Store(driver)).append(self.operation["batch"])
        self.batches.append(self.operation["batch"])

    def _do_append_concurrent(self) -> None:
        threads = [
            threading.Thread(target=self._write, args=(writer,))
            for writer in self.operation["writers"]
        ]
        self.batches += [batch for writer in self.operation["writers"] for batch in writer]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _write(self, batches: list[list[Any]]) -> None:
        session = self.session()
        for batch in batches:
            session.append(batch)

    def _do_store_ttl(self) -> None:
        seconds = self.operation.get("ttl", self.operation.get("seconds", 60))
        if not self.session().touch(seconds):
            raise StoreError("the session is not there")


class _Failing:
    """A driver whose store is gone when it is asked to write."""

    def __init__(self, driver: Driver) -> None:
        self.backend = driver.backend

    def perform(self, step: Any) -> Any:
        """Fail."""
        raise StoreError("the backend fails, as the case says")

    def close(self) -> None:
        """Do nothing."""


def _equal(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _is_input(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    if value and not _equal(stored, case.natives):
        yield f"the record is not what was stored: {stored!r:.200}"
    if value and not check(shown, format=case.format, profile="portable", tail="open").ok:
        yield "the window is not accepted"


def _kept(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    if not _equal(stored, [case.natives[at] for at in value]):
        yield f"stored are {len(stored)} messages, not those at {value}"


def _count(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    if len(stored) != value:
        yield f"{len(stored)} messages are stored, not {value}"


def _nothing_lost(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    written = sorted(json.dumps(one, sort_keys=True) for batch in case.batches for one in batch)
    if sorted(json.dumps(one, sort_keys=True) for one in stored) != written:
        yield "what is stored is not what was written"


def _contiguous(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    for batch in case.batches:
        width = len(batch)
        places = range(len(stored) - width + 1)
        if not any(_equal(stored[at : at + width], batch) for at in places):
            yield f"a batch of {width} messages is not together"


def _roles(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    found = [message["role"] for message in stored]
    if found != value:
        yield f"the roles are {found}"


def _valid(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    for profile in value:
        window = list(case.session().window(profile))
        report = check(window, format=case.format, profile=profile, tail="open")
        if not report.ok:
            yield f"{profile} does not accept the window: {report.summary()}"


def _texts(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    told = json.dumps(stored, ensure_ascii=False)
    yield from (f"{text!r} is not there any more" for text in value if text not in told)


def _sendable(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    try:
        json.dumps(shown, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        yield f"the window cannot be sent: {error}"


def _raised(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    if not isinstance(case.error, StoreError):
        yield f"raised {case.error!r}, expected {value}"


def _quiet(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    if case.error is not None:
        yield f"raised {case.error!r}"


def _stored(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    batch = case.operation["batch"]
    there = [one for one in batch if any(_equal(one, other) for other in stored)]
    if value != (len(there) == len(batch)) or (not value and there):
        yield f"{len(there)} of {len(batch)} messages of the batch are stored"


def _said(case: _Case, value: Any, stored: list[Any], shown: list[Any]) -> Iterator[str]:
    """Words for people."""
    yield from ()


_JUDGES: Final[dict[str, Callable[[_Case, Any, list[Any], list[Any]], Iterator[str]]]] = {
    "after": _said,
    "batch_contiguous": _contiguous,
    "batch_stored": _stored,
    "either": _said,
    "final_count": _count,
    "kept_indices": _kept,
    "must_not_raise": _quiet,
    "must_preserve_text": _texts,
    "must_raise": _raised,
    "no_message_lost": _nothing_lost,
    "note": _said,
    "result_equals_input": _is_input,
    "result_valid_for": _valid,
    "roles": _roles,
    "sendable_utf8": _sendable,
    "why": _said,
}
