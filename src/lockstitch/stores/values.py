"""What a session says of itself: receipts, entries of the record, events, findings.

Must not know: backends, how any of it comes about.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from lockstitch.errors import CorruptRow
from lockstitch.stores.base import Version
from lockstitch.stores.codec import read_as, write
from lockstitch.stores.head import Head

__all__ = [
    "EventKind",
    "Finding",
    "Receipt",
    "Recorded",
    "SessionEvent",
    "SessionInfo",
    "Window",
    "spans",
]

EventKind = Literal[
    "cut", "compact", "late", "rewind", "edit", "pop", "clear", "purge", "fork", "import", "set"
]


class SessionEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that happened to a session, as it is stored.

    Args:
        kind: what it was.
        at: when, in seconds since 1970; nothing is ordered by it.
        seq: the newest row that it knew of.
        revision: the revision of the view that it made; 0 where it made none.
        head: that view.
        gone: the rows that left the view: first, last, reason.
        fired: why there was something to do.
        abandoned: rows whose calls nobody waits for any more, since then.
        emptied: the rows that a purge emptied: first, last, first, last, ...
        overflow: what had to go although it should have stayed.
        summary: the text of a new summary.
        failure: why no summary could be had.
        note: what else there is to say.
    """

    kind: EventKind
    at: float
    seq: int = 0
    revision: int = 0
    head: Head | None = None
    gone: tuple[tuple[int, int, str], ...] = ()
    fired: tuple[str, ...] = ()
    abandoned: tuple[int, ...] = ()
    emptied: tuple[int, ...] = ()
    overflow: str = ""
    summary: str = ""
    failure: str = ""
    note: str = ""

    def written(self) -> bytes:
        """Write it."""
        return write(self)

    @classmethod
    def read(cls, data: bytes) -> SessionEvent:
        """Read what was written.

        Raises:
            CorruptRow: it cannot be read.
        """
        try:
            return read_as(data, cls)
        except ValueError as error:
            raise CorruptRow(f"an event cannot be read: {error}") from None

    @property
    def dropped(self) -> int:
        """How many messages left the view."""
        return sum(last - first + 1 for first, last, _ in self.gone)


def spans(gone: list[tuple[int, str]]) -> tuple[tuple[int, int, str], ...]:
    """Write rows that went, each with its reason, as ranges.

    >>> spans([(1, "oldest"), (2, "oldest"), (4, "late")])
    ((1, 2, 'oldest'), (4, 4, 'late'))
    """
    found: list[tuple[int, int, str]] = []
    for seq, reason in gone:
        if found and found[-1][1] + 1 == seq and found[-1][2] == reason:
            found[-1] = (found[-1][0], seq, reason)
        else:
            found.append((seq, seq, reason))
    return tuple(found)


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an append.

    Args:
        first: the number of the first message in the record; 0 where nothing was stored.
        count: how many messages were stored.
        version: the session afterwards; `None` where there is none.
        replayed: whether this very batch had been stored before: nothing was stored now.
        dropped: how many messages a cut that came with it took out of the view.
        late: results among the messages whose call is not in the view any more: they are recorded
            and not shown.
        overflow: what had to leave the view although it should have stayed.
        pending: whether the view is above its limit still, because other writers were quicker:
            readers are shown no more than the limit, and the next append cuts.
    """

    first: int = 0
    count: int = 0
    version: Version | None = None
    replayed: bool = False
    dropped: int = 0
    late: tuple[int, ...] = ()
    overflow: str = ""
    pending: bool = False

    @property
    def last(self) -> int:
        """The number of the last message; 0 where nothing was stored."""
        return self.first + self.count - 1 if self.count else 0


class Window(list[Any]):
    """The messages that a model is shown: a list, with what there is to say about it.

    Attributes:
        seqs: the number of each message in the record; 0 for a summary, and for what a repair put
            in.
        version: the session as it was read; `None` where there is none.
        hidden: the numbers of messages that are in the view and cannot be shown for now: calls that
            wait, answers without a call.
        damaged: what is stored and cannot be read, by its number, with the reason.
        changes: what a repair did to it for the target.
        dropped: messages that this reader left out because the view is over the limit.
        system: instructions that the target keeps outside the list, where a repair took them there.
    """

    def __init__(self, messages: list[Any]) -> None:
        super().__init__(messages)
        self.seqs: list[int] = []
        self.version: Version | None = None
        self.hidden: list[int] = []
        self.damaged: dict[int, str] = {}
        self.changes: tuple[Any, ...] = ()
        self.dropped: list[tuple[int, str]] = []
        self.system: str | None = None


State = Literal["shown", "changed", "hidden", "dropped", "purged", "damaged"]


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the record.

    Args:
        seq: its number.
        message: the message as it was handed over; `None` where it was purged or is damaged.
        state: `shown`, `changed` (shown with something put in its place), `hidden` for now,
            `dropped` from the view, `purged`, or `damaged`.
        reason: why, a key of `lockstitch.plan.reasons.REASONS` where a plan decided it.
        at: when it was appended, in seconds since 1970, by the clock of who stores it.
        batch: names the batch that it came in.
        format: its format; empty where it is the same in most of them.
    """

    seq: int
    message: Any
    state: State
    reason: str = ""
    at: float = 0.0
    batch: str = ""
    format: str = ""


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a list.

    Args:
        id: its id, and `tenant` the tenant.
        messages: how many messages were recorded.
        revision: how often its view was changed other than by growing.
        created: when it was made, and `updated` when it was written last, in seconds since 1970.
        expires: when it expires; `None` for never.
        bytes: what its messages come to.
    """

    id: str
    tenant: str | None
    messages: int
    revision: int
    created: float
    updated: float
    expires: float | None = None
    bytes: int = 0


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that `verify` found.

    Args:
        seq: the row; 0 for what is no row.
        kind: `damaged`, `missing`, `torn` (a batch that is not whole), `view` (the view refers to
            what is not there) or `event`.
        message: what is wrong.
    """

    seq: int
    kind: Literal["damaged", "missing", "torn", "view", "event"]
    message: str
