"""Cutting: from a view and the limits to a new head, and what is told of it.

Knows: when there is something to do; that open groups stay, until they alone would fill half of a
limit; how the edits of a plan become references to rows. Where whole groups are all that may go,
facts and sizes are all that is read; else the payloads must have been read.

Must not know: backends, when a cut is written.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import msgspec

from lockstitch.errors import CannotFit
from lockstitch.facts import REQUEST, USER, Facts
from lockstitch.formats import FORMATS
from lockstitch.measure.counters import Counter, Sizer, sizer_for
from lockstitch.measure.limits import MESSAGES, TOKENS
from lockstitch.plan import KEPT
from lockstitch.stores.head import Entry, View
from lockstitch.stores.showing import Shown, show
from lockstitch.strategies.planner import Request, plan_edits
from lockstitch.transcript import Transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockstitch.formats.base import Format
    from lockstitch.stores.rows import Meta
    from lockstitch.stores.settings import Terms

__all__ = ["Cut", "NeedsPayloads", "counter_name", "cut_by_facts", "is_over", "shown"]


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A decision about a view.

    Args:
        entries: what stays, in the order of the view.
        gone: what goes, with the reason of each.
        abandoned: the rows of calls that nobody waits for any more, those before included.
        newly: those of them that are new.
        fired: why there was something to do.
        overflow: what could not be kept within the limit; empty where all that must stay was.
        summary: the text of a new summary; empty where there is none.
        failure: why no summary could be had, where one was wanted.
        passed: how many rows go besides that were passed over.
    """

    entries: list[Entry]
    gone: list[tuple[int, str]]
    abandoned: tuple[int, ...] = ()
    newly: tuple[int, ...] = ()
    fired: tuple[str, ...] = ()
    overflow: str = ""
    summary: str = ""
    failure: str = ""
    passed: int = 0


class NeedsPayloads(Exception):
    """Some message was never counted, so its payload has to be read."""


def counter_name(counter: Any) -> str:
    """Return the name under which sizes are stored that a counter counted."""
    if counter is None:
        return "estimate"
    if isinstance(counter, str):
        return counter
    if isinstance(counter, Counter):
        return counter.name
    return getattr(counter, "__name__", "callable")


def shown(view: View, terms: Terms, *, closed: bool = False) -> Shown:
    """Find what of a view can be shown."""
    abandoned = set(view.head.abandoned)
    entries = view.entries
    return show(
        [entry.meta.facts for entry in entries],
        view.format,
        terms.profile,
        [at for at, entry in enumerate(entries) if entry.seq in abandoned],
        closed=closed,
    )


def is_over(view: View, terms: Terms, more: Sequence[Meta] = ()) -> tuple[str, ...]:
    """Say which limits a view passes.

    Args:
        view: the view.
        terms: what is decided by.
        more: of messages that it is about to grow by.

    Raises:
        NeedsPayloads: a limit cannot be judged by what was counted.
    """
    fired: list[str] = []
    for unit, ceiling in terms.ceilings.items():
        if unit == MESSAGES:
            total = len(view.entries) + len(more)
        else:
            total = _total(view, more, unit, counter_name(terms.counter))
        if total > ceiling:
            fired.append(f"over {ceiling:,} {unit}")
    last = terms.keeps_last
    if last is not None and last.turns is not None:
        turns = sum(entry.meta.facts.role == USER for entry in view.entries)
        turns += sum(meta.facts.role == USER for meta in more)
        if turns > last.turns:
            fired.append(f"over {last.turns:,} turns")
    elif last is not None and len(view.entries) + len(more) > (last.groups or 0):
        fired.append(f"over {last.groups:,} groups")
    return tuple(fired)


def _total(view: View, more: Sequence[Meta], unit: str, counter: str) -> int:
    total = view.size(unit, counter)
    for meta in more:
        size = meta.size(unit, counter)
        total = None if total is None or size is None else total + size
    if total is None:
        raise NeedsPayloads
    return total


def cut_by_facts(view: View, terms: Terms) -> Cut | None:
    """Decide by facts and sizes alone; `None` where there is nothing to do.

    Raises:
        CannotFit: what must stay does not fit, and the session says that this is to be raised.
        NeedsPayloads: a size is not known.
    """
    fired = is_over(view, terms)
    if not fired:
        return None
    seen = shown(view, terms)
    if terms.directive.cut == "prefix":
        # One boundary in the order in which things were said, not in which they are shown.
        seen = msgspec.structs.replace(seen, standing=sorted(seen.standing))
    name = counter_name(terms.counter)
    sizers = [_listed(view, seen.standing, unit, name) for unit in terms.limits.units]
    newly = _given_up(view, seen, sizers, terms)
    facts = [view.entries[at].meta.facts for at in seen.standing]
    transcript = _of_facts(facts, FORMATS[view.format])
    reasons, overflow, newly = _decided(transcript, terms, sizers, _waiting(view, seen), newly)
    kept = {seen.standing[position] for position, why in enumerate(reasons) if why in KEPT}
    gone = [(view.entries[seen.standing[at]].seq, why) for at, why in enumerate(reasons)]
    gone = [(seq, why) for seq, why in gone if why not in KEPT]
    gone += [(view.entries[at].seq, "late") for at in seen.orphans]
    if not gone and not newly:
        return None  # all of it must stay, and may
    given_up = tuple(view.entries[members[0]].seq for members in seen.open[:newly])
    entries = [entry for at, entry in enumerate(view.entries) if at in kept]
    return Cut(
        entries=entries,
        gone=sorted(gone),
        abandoned=still_there((*view.head.abandoned, *given_up), entries),
        newly=given_up,
        fired=fired,
        overflow=overflow,
    )


def still_there(abandoned: Sequence[int], entries: Sequence[Entry]) -> tuple[int, ...]:
    """Return the abandoned rows that the view still has."""
    there = {entry.seq for entry in entries}
    return tuple([seq for seq in abandoned if seq in there])


def _listed(view: View, standing: Sequence[int], unit: str, name: str) -> Sizer:
    # All of them were counted, or `is_over` would have asked for the payloads.
    sizes = [view.entries[at].meta.size(unit, name) or 0 for at in standing]
    return Sizer(unit, name if unit == TOKENS else unit, "exact", sizes.__getitem__)


def _given_up(view: View, seen: Shown, sizers: Sequence[Sizer], terms: Terms) -> int:
    """Count the oldest open groups that have to be given up, so that there is room for the rest."""
    place = {at: position for position, at in enumerate(seen.standing)}
    count = 0
    for sizer in sizers:
        half = terms.limits.bounds(sizer.unit)[1] // 2
        sizes = [sum(sizer.size(place[at]) for at in members) for members in seen.open]
        given = 0
        # The newest is the one that is being answered: it is never given up.
        while given < len(sizes) - 1 and sum(sizes[given:]) > half:
            given += 1
        count = max(count, given)
    return count


def _of_facts(facts: list[Facts], form: Format) -> Transcript:
    """Make a transcript whose messages are facts: all that the planner reads of any."""
    return Transcript(_Facts(facts), _fact_format(form))  # type: ignore[arg-type]


class _Facts:
    """What stands in the place of a document."""

    path = "view"
    context: Final[dict[str, Any]] = {}

    def __init__(self, facts: list[Facts]) -> None:
        self.natives = facts


def _fact_format(form: Format) -> Format:
    return msgspec.structs.replace(
        form,
        facts=_itself,
        asks=None if form.asks is None else _asks,
    )


def _itself(facts: Facts) -> Facts:
    return facts


def _asks(facts: Facts) -> bool:
    return any(link.kind == REQUEST for link in facts.links)


# What is tried in turn where what must stay does not fit: less and less is held.
_OVERFLOW: Final = "what must stay is over the limit"


class _Waiting(msgspec.Struct, frozen=True):
    """The groups that hold open calls, the oldest first, by their places among what stands.

    Args:
        groups: their members.
        given_up: the places of calls that nobody has waited for since an earlier cut.
        answered_now: whether the newest of them is at the end: somebody is at it.
        fresh: the members of groups whose answers have only just come.
    """

    groups: list[tuple[int, ...]]
    given_up: frozenset[int]
    answered_now: bool
    fresh: frozenset[int]

    def since(self, newly: int) -> tuple[frozenset[int], frozenset[int]]:
        """Return what is held, and where nobody waits, if so many are given up now."""
        held = frozenset(at for members in self.groups[newly:] for at in members)
        return held | self.fresh, self.given_up.union(*self.groups[:newly])


def _waiting(view: View, seen: Shown) -> _Waiting:
    place = {at: position for position, at in enumerate(seen.standing)}
    groups = [tuple([place[at] for at in members]) for members in seen.open]
    abandoned = set(view.head.abandoned)
    return _Waiting(
        groups=groups,
        given_up=frozenset(
            at for at, one in enumerate(seen.standing) if view.entries[one].seq in abandoned
        ),
        answered_now=bool(groups) and len(seen.standing) - 1 in groups[-1],
        fresh=frozenset(place[at] for at in seen.fresh),
    )


def _decided(
    transcript: Transcript,
    terms: Terms,
    sizers: Sequence[Sizer],
    waiting: _Waiting,
    newly: int,
) -> tuple[list[str], str, int]:
    """Return the reason of each message, what did not fit, and how many groups are given up."""
    pins, abandoned = waiting.since(newly)
    ask = Request(
        limits=terms.limits,
        profile=terms.profile,
        cut=terms.directive.cut,
        pins=pins,
        abandoned=abandoned,
        on_overflow="smallest" if terms.overflow == "smallest" else "raise",
        readable=False,
    )
    try:
        return _reasons(transcript, ask, sizers), "", newly
    except CannotFit as error:
        if terms.overflow == "raise":
            raise
        told = f"{_OVERFLOW}: {error.needed:,} {error.unit} of {error.limit:,}"
    # What could not be shown for now anyway goes before the newest that was said.
    most = len(waiting.groups) - waiting.answered_now
    held, given_up = waiting.since(max(newly, most))
    head = frozenset(_system(transcript))
    for fewer, floor, count in (
        ({"pins": held, "abandoned": given_up}, True, max(newly, most)),
        ({"pins": pins | head}, False, newly),
        ({"pins": waiting.fresh | head}, False, newly),
        ({"pins": head}, False, newly),
        ({"pins": frozenset[int]()}, False, newly),
    ):
        try:
            loose = msgspec.structs.replace(ask, floor=floor, **fewer)
            return _reasons(transcript, loose, sizers), told, count
        except CannotFit:
            continue
    raise AssertionError("a window that holds nothing always fits")  # pragma: no cover


def _system(transcript: Transcript) -> list[int]:
    """Return the positions of the system part at the beginning."""
    roles = (transcript.facts_at(at).role for at in range(len(transcript)))
    return [at for at, _ in enumerate(takewhile("system".__eq__, roles))]


def _reasons(transcript: Transcript, ask: Request, sizers: Sequence[Sizer]) -> list[str]:
    outcome = plan_edits(transcript, ask, sizers)
    return [edit.reason for edit in outcome.edits for _ in range(edit.count)]


def sizers_of(transcript: Transcript, terms: Terms) -> list[Sizer]:
    """Return what counts messages when they are appended."""
    return [
        sizer_for(transcript, unit, terms.counter if unit == TOKENS else None)
        for unit in terms.units
    ]
