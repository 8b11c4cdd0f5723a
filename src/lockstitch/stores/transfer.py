"""Transfer: a session as lines of JSON, and lines as a session again.

Knows: the lines (one that says which session, one for each row, each event, and the view); that
numbers, batches and keys stay as they are; that what was begun goes on where it was.

    {"lockstitch": 1, "session": ..., "source": ..., "newest": ..., "settings": {...}}
    {"seq": 1, "batch": ..., "at": ..., "meta": ..., "message": {...}}
    {"event": {...}}
    {"view": {...}}

Must not know: any backend.
"""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, Any

import msgspec

from lockstitch.errors import Conflict, CorruptRow, FormatError, SchemaTooNew
from lockstitch.stores.base import Change, Commit, Key, Row, Stored, Version
from lockstitch.stores.changing import Changing, head_at
from lockstitch.stores.codec import PLAIN, read, write
from lockstitch.stores.conversation import PAGE, new_mark
from lockstitch.stores.head import Head, Run, ranges_of
from lockstitch.stores.reading import UNREADABLE
from lockstitch.stores.rows import native_of, read_meta
from lockstitch.stores.settings import Settings
from lockstitch.stores.values import Finding, SessionEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lockstitch.stores.base import Backend, Committed, Effect, Reading

__all__ = ["EXPORT", "Transferring"]

EXPORT = 1
"""The version of the lines."""


class Transferring(Changing):
    """What takes sessions from one place to another, and looks whether they are whole."""

    def fork(self, id: str, *, at: int | None = None) -> Effect[str]:
        """Make another session of this one as it was when a message was its newest.

        Args:
            id: of the new session; it must not be there, or be one that this fork has begun.
            at: the number of the message; the newest by default.

        Returns:
            The id.

        Raises:
            Conflict: there is such a session already.
            ValueError: the record has no such message.

        >>> from lockstitch import open_store
        >>> from lockstitch.testing import assistant, user
        >>> store = open_store("memory://")
        >>> chat = store.session("s")
        >>> _ = chat.append([user("1"), assistant("2"), user("3")])
        >>> len(store.session(chat.fork("other", at=2)).window())
        2
        """
        lines = self.lines(at)
        taking = Taking(self.backend, Key(self.key.tenant, id), self.patiently)
        for page in lines:
            for line in (yield from page):
                yield from taking.take(line)
        yield from taking.finish(f"of {self.id!r}" + (f" at {at}" if at is not None else ""))
        return id

    def lines(self, at: int | None = None) -> Iterable[Effect[list[dict[str, Any]]]]:
        """Yield effects, each of which returns some lines of the session, in order."""
        reading: list[Reading] = []
        yield self._first(at, reading)
        version = reading[0].version
        if version is None:
            return
        newest = version.seq if at is None else at
        for first in range(1, newest + 1, PAGE):
            yield self._some(first, min(newest, first + PAGE - 1))
        yield self._rest(newest, reading[0])

    def _first(self, at: int | None, held: list[Reading]) -> Effect[list[dict[str, Any]]]:
        reading: Reading = yield from self.patiently(
            lambda: self.backend.view(self.key, payloads=False)
        )
        held.append(reading)
        self._learn(reading)
        version = reading.version
        if version is None:
            return []
        if at is not None and not 0 <= at <= version.seq:
            raise ValueError(f"session {self.id!r} has messages 1 to {version.seq}, not {at}")
        return [
            {
                "lockstitch": EXPORT,
                "session": self.id,
                "source": f"{version.epoch}:{version.seq if at is None else at}",
                "newest": version.seq if at is None else at,
                "settings": read(reading.settings) if reading.settings else {},
            }
        ]

    def _some(self, first: int, last: int) -> Effect[list[dict[str, Any]]]:
        rows = yield from self.rows_of(first, last, payloads=True)
        return [_line_of(row) for row in rows]

    def _rest(self, newest: int, reading: Reading) -> Effect[list[dict[str, Any]]]:
        happened = yield from self.events()
        version = reading.version
        if version is not None and newest == version.seq:
            head = Head.read(reading.head or b"", reading.through)
        else:
            happened = [event for event in happened if event.seq <= newest]
            head = head_at(happened, newest)
        events = [{"event": msgspec.to_builtins(event)} for event in happened]
        return [*events, {"view": msgspec.to_builtins(head)}]

    def import_(self, lines: Iterable[Any]) -> Effect[int]:
        """Make this session of the lines that `export` wrote.

        An import that was cut short goes on where it was when it is run again.

        Args:
            lines: texts, bytes or mappings, one for each line.

        Returns:
            How many messages the session has.

        Raises:
            Conflict: there is such a session already, and it is no import of the same that was cut
                short.
            FormatError: a line is not one of an export.
            SchemaTooNew: a newer version of Lockstitch wrote them.
        """
        taking = Taking(self.backend, self.key, self.patiently)
        for number, line in enumerate(lines, 1):
            if isinstance(line, (str, bytes, bytearray)) and not line.strip():
                continue
            try:
                yield from taking.take(dict(line) if isinstance(line, dict) else _line(line))
            except (ValueError, TypeError, KeyError) as error:
                raise FormatError(
                    f"not a line of an export: {error}", where=f"line {number}"
                ) from None
        count = yield from taking.finish("from an export")
        self.forget()
        return count

    def verify(self) -> Effect[list[Finding]]:
        """Read everything that is stored of the session, and return what is wrong with it.

        Every row is read and its checksum compared; every batch is looked at whether it is whole;
        every row that the view refers to must be there.

        >>> from lockstitch import open_store
        >>> chat = open_store("memory://").session("s")
        >>> _ = chat.append([{"role": "user", "content": "hi"}])
        >>> chat.verify()
        []
        """
        view = yield from self.read(payloads=False)
        if view is None:
            return []
        happened = yield from self.events()
        found: list[Finding] = []
        # A fork may have begun in the middle of a batch: there it ends as it was meant to.
        batches = _Batches(found, {event.seq for event in happened if event.kind == "fork"})
        newest = view.version.seq
        known = 0
        for first in range(1, newest + 1, PAGE):
            last = min(newest, first + PAGE - 1)
            rows = yield from self.rows_of(first, last, payloads=True)
            for row in rows:
                if row.seq != known + 1:
                    found.append(_missing(known + 1, row.seq - 1))
                known = row.seq
                batches.meet(row)
        if known != newest:
            found.append(_missing(known + 1, newest))
        batches.end()
        for seq, why in view.damaged.items():
            if not any(one.seq == seq for one in found):
                found.append(Finding(seq=seq, kind="view", message=f"the view shows it: {why}"))
        broken = [event.failure for event in happened if event.failure.startswith(UNREADABLE)]
        found += [Finding(seq=0, kind="event", message=why) for why in broken]
        return found


class _Batches:
    """Looks at rows in order, whether each can be read and each batch is whole."""

    def __init__(self, found: list[Finding], ends: set[int]) -> None:
        self._found = found
        self._ends = ends
        self._mark = ""
        self._first = self._count = self._wanted = 0

    def meet(self, row: Stored) -> None:
        """Look at a row."""
        if row.mark != self._mark:
            self.end()
            self._mark, self._first, self._count, self._wanted = row.mark, row.seq, 0, 0
        self._count += 1
        if not row.meta:
            self._wanted = 0 if row.seq == self._first else self._wanted
            return
        try:
            meta = read_meta(row)
            if row.seq == self._first:
                self._wanted = meta.batch
            native_of(row, meta)
        except CorruptRow as error:
            self._found.append(Finding(seq=row.seq, kind="damaged", message=error.why))

    def end(self) -> None:
        """Look at the batch that has ended."""
        cut = self._count < self._wanted and self._first + self._count - 1 in self._ends
        if self._wanted and self._count != self._wanted and not cut:
            self._found.append(
                Finding(
                    seq=self._first,
                    kind="torn",
                    message=f"{self._count} of the {self._wanted} messages of its batch are there",
                )
            )


def _missing(first: int, last: int) -> Finding:
    at = f"row {first}" if first == last else f"rows {first} to {last}"
    return Finding(seq=first, kind="missing", message=f"{at} of the record: not there")


class Taking:
    """Makes a session of lines, as they come.

    Args:
        backend: where it is made.
        key: the session.
        patiently: asks the backend until it answers.
    """

    def __init__(self, backend: Backend, key: Key, patiently: Callable[[Any], Effect[Any]]) -> None:
        self._backend = backend
        self._key = key
        self._patiently = patiently
        self._version: Version | None = None
        self._settings = Settings()
        self._batch: list[tuple[str, Stored]] = []
        self._events = 0
        self._had = 0
        self._begun = False
        self._newest = 0
        self._head: Head | None = None

    def take(self, line: dict[str, Any]) -> Effect[None]:
        """Take one line in."""
        if "lockstitch" in line:
            yield from self._begin(line)
        elif not self._begun:
            raise ValueError("the first line of an export says which session it is")
        elif "seq" in line:
            row = _row_of(line)
            if self._batch and self._batch[-1][0] != row.mark:
                yield from self._flush()
            self._batch.append((row.mark, row))
        elif "event" in line:
            yield from self._flush()
            event = msgspec.convert(line["event"], SessionEvent)
            self._events += 1
            if self._events > self._had:
                yield from self._send(note=event.written())
        elif "view" in line:
            yield from self._flush()
            self._head = msgspec.convert(line["view"], Head)
        else:
            raise ValueError(f"a line with {', '.join(sorted(line))}")

    def _begin(self, line: dict[str, Any]) -> Effect[None]:
        if line["lockstitch"] > EXPORT:
            raise SchemaTooNew(found=line["lockstitch"], known=EXPORT, where="the export")
        self._settings = msgspec.convert(line["settings"], Settings)
        self._newest = line["newest"]
        source = str(line["source"])
        reading: Reading = yield from self._patiently(
            lambda: self._backend.view(self._key, payloads=False)
        )
        copying = msgspec.structs.replace(self._settings, copying=source)
        if reading.version is not None:
            if Settings.read(reading.settings).copying != source:
                raise Conflict(
                    f"there is a session {self._key.id!r} already: delete it, or choose another id",
                    expected=None,
                    found=reading.version.seq,
                )
            self._version = reading.version
            had: tuple[bytes, ...] = yield from self._patiently(
                lambda: self._backend.events(self._key, 0, 1_000_000)
            )
            self._had = len(had)
        else:
            yield from self._send(settings=copying.written())
        self._begun = True

    def _flush(self) -> Effect[None]:
        """Append the rows of one batch."""
        batch, self._batch = [row for _, row in self._batch], []
        here = self._version.seq if self._version else 0
        batch = [row for row in batch if row.seq > here]
        if not batch:
            return
        if batch[0].seq != here + 1:
            raise ValueError(f"row {here + 1} is missing: the next one is {batch[0].seq}")
        rows = tuple([Row(row.meta, row.payload or b"") for row in batch])
        yield from self._send(rows=rows, mark=batch[0].mark, idempotency=_key_of(batch))

    def _send(self, *, mark: str = "", **fields: Any) -> Effect[Committed]:
        sent = Commit(
            key=self._key,
            mark=mark or new_mark(),
            expected=self._version,
            exclusive=self._version is not None,
            epoch=new_mark(),
            look=False,
            **fields,
        )
        done: Committed = yield from self._patiently(lambda: self._backend.commit(sent))
        if done.outcome == "conflict":
            raise Conflict(
                f"somebody else writes to session {self._key.id!r}",
                expected=self._version.seq if self._version else None,
                found=done.now.version.seq if done.now.version else None,
            )
        self._version = done.now.version
        return done

    def finish(self, note: str) -> Effect[int]:
        """Write the view; from then on the session is there for all.

        The rows of a batch that is not all here are left for the next time.
        """
        here = self._version.seq if self._version else 0
        head = self._head
        if head is None or here != self._newest:
            raise FormatError(
                f"the export ends at row {here} of {self._newest}: nothing can be read of the "
                "session before the rest is here"
            )
        if head.through < here:
            items = (*head.items, Run(head.through + 1, here))
            head = msgspec.structs.replace(head, items=items, through=here)
        head = msgspec.structs.replace(head, mark=new_mark())
        event = SessionEvent(
            kind="fork" if note.startswith("of ") else "import",
            at=time.time(),
            seq=here,
            revision=1,
            head=head,
            note=note,
        )
        yield from self._send(
            settings=self._settings.written(),
            change=Change(
                head=head.written(),
                ranges=ranges_of(head.items),
                through=here,
                strict=True,
                event=event.written(),
            ),
        )
        return here


def _key_of(batch: list[Stored]) -> str | None:
    """Return the key of a batch; a part of one, where a fork ends, has none."""
    row = batch[0]
    try:
        meta = read_meta(row) if row.meta else None
        return meta.key if meta and meta.batch == len(batch) else None
    except CorruptRow:
        return None  # what cannot be read goes along as it is


def _line_of(row: Stored) -> dict[str, Any]:
    line: dict[str, Any] = {"seq": row.seq, "batch": row.mark, "at": row.at}
    line["meta"] = base64.b64encode(row.meta).decode()
    payload = row.payload or b""
    if payload[:1] == PLAIN:
        try:
            message = read(payload[1:])
            if write(message) == payload[1:]:
                return {**line, "message": message}
        except ValueError:
            pass  # what cannot be read goes along as it is: `verify` names it on both sides
    return {**line, "payload": base64.b64encode(payload).decode()}


def _row_of(line: dict[str, Any]) -> Stored:
    if "message" in line:
        payload = PLAIN + write(line["message"])
    else:
        payload = base64.b64decode(line["payload"])
    return Stored(line["seq"], base64.b64decode(line["meta"]), payload, line["batch"], line["at"])


def _line(line: Any) -> dict[str, Any]:
    data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else bytes(line)
    said = read(data)
    if not isinstance(said, dict):
        raise TypeError(f"expected an object, found {type(said).__name__}")
    return said
