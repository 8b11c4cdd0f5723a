"""Showing: which messages of a view a model can be shown, and in which order.

Knows: pairing. Several writers append to one session, each in its own time, so here

    an open call    waits until it is answered, declared again or abandoned, however far the
                    conversation has gone on; where it is not at the end it is hidden, with all that
                    belongs to it, and shown in its place once it is answered
    a late result   stands with its call
    an orphan       an answer whose call is not in the view, is hidden

Must not know: payloads, limits, stores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lockstitch.facts import TOOL
from lockstitch.formats import FORMATS
from lockstitch.grouping import Groups, Ties, group

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from lockstitch.facts import Facts
    from lockstitch.formats.base import Format
    from lockstitch.pairing import Pairing
    from lockstitch.rules.profiles import Profile

__all__ = ["Shown", "orphans_of", "show", "ties_of"]


class Shown(msgspec.Struct, frozen=True):
    """What of some messages can be shown.

    Args:
        order: the positions that can, in the order in which they are shown.
        standing: those and the ones that are only hidden for now, in order: what a cut decides on.
        open: the positions of groups that hold a call somebody waits for, oldest group first.
        orphans: the positions of answers to calls that are not there.
        fresh: the positions of groups whose answers are the newest there is: whoever waited for
            them has not seen them yet, however long ago the call was made.
    """

    order: list[int]
    standing: list[int]
    open: list[tuple[int, ...]]
    orphans: list[int]
    fresh: tuple[int, ...] = ()


def ties_of(format: Format, profile: Profile) -> Ties:
    """Combine what a format demands with what a profile demands."""
    return Ties(
        profile.whole_response or format.whole_response,
        profile.bound_system and format.bound_system,
    )


def show(
    facts: Sequence[Facts],
    format: str,
    profile: Profile,
    abandoned: Collection[int] = (),
    *,
    closed: bool = False,
) -> Shown:
    """Find what can be shown.

    Args:
        facts: of the messages of a view, in order.
        format: their format.
        profile: the target.
        abandoned: positions whose calls nobody waits for any more.
        closed: hide open calls at the end as well: the model is about to be called.

    >>> from lockstitch.facts import Facts, USER_FACTS
    >>> from lockstitch.rules.profiles import get_profile
    >>> call, result = Facts("assistant", asks=("c1",)), Facts("tool", answers=("c1",))
    >>> portable = get_profile("portable")
    >>> show([call, USER_FACTS], "openai-chat", portable).order
    [1]
    >>> show([call, USER_FACTS, result], "openai-chat", portable).order
    [0, 2, 1]
    """
    form = FORMATS[format]
    everything = list(range(len(facts)))
    groups = group(facts, 0, ties_of(form, profile), detail=False)
    if not groups.states and not groups.interleaved:
        return Shown(everything, everything, [], [])
    groups = group(facts, 0, ties_of(form, profile))
    orphans = orphans_of(groups.pairing, facts)
    waiting = _open(groups, facts, frozenset(abandoned))
    standing = _standing(groups, form, frozenset(orphans))
    hidden = set() if not waiting else _hidden(groups, form, standing, waiting, closed=closed)
    order = [at for at in standing if at not in hidden] if hidden else standing
    return Shown(
        order,
        standing,
        [groups_members(groups, name) for name in waiting],
        orphans,
        _fresh(groups, facts, frozenset(orphans)),
    )


def groups_members(groups: Groups, name: int) -> tuple[int, ...]:
    """Return the positions of the group with a name."""
    return tuple([at for at, one in enumerate(groups.names) if one == name])


def _fresh(groups: Groups, facts: Sequence[Facts], orphans: frozenset[int]) -> tuple[int, ...]:
    """Return the groups that the answers at the end belong to."""
    names: set[int] = set()
    for at in range(len(facts) - 1, -1, -1):
        if facts[at].calls or not facts[at].linked:
            break
        if at not in orphans:
            names.add(groups.names[at])
    return tuple([at for at, name in enumerate(groups.names) if name in names])


def orphans_of(pairing: Pairing, facts: Sequence[Facts]) -> list[int]:
    """Return the messages that hold nothing but answers to calls that are not there.

    Args:
        pairing: of all of the messages.
        facts: theirs.
    """
    lost: dict[int, int] = {}
    for tie in pairing.ties:
        if tie.call is None:
            lost[tie.message] = lost.get(tie.message, 0) + 1
    return [
        at for at, count in lost.items() if facts[at].role == TOOL and count == len(facts[at].ends)
    ]


def _open(groups: Groups, facts: Sequence[Facts], abandoned: frozenset[int]) -> list[int]:
    """Return the names of the groups somebody waits for: not answered, not declared again."""
    found: dict[int, None] = {}
    newest = {link.key: at for at, fact in enumerate(facts) if fact.calls for link in fact.ends}
    for occurrence, _ in groups.pairing.waiting():
        at = occurrence.message
        again = occurrence.link.id is not None and newest.get(occurrence.link.key, at) > at
        if not again and at not in abandoned:
            found[groups.names[at]] = None
    return sorted(found)


def _standing(groups: Groups, form: Format, orphans: frozenset[int]) -> list[int]:
    """Return all but orphans; where results must stand with their calls, group by group."""
    if form.whole_response or not groups.interleaved:
        # Items of one response stand in the order in which they came.
        return [at for at in range(len(groups.names)) if at not in orphans]
    members: dict[int, list[int]] = {}
    for at, name in enumerate(groups.names):
        if at not in orphans:
            members.setdefault(name, []).append(at)
    return [at for positions in members.values() for at in positions]


def _hidden(
    groups: Groups, form: Format, standing: Sequence[int], waiting: Sequence[int], *, closed: bool
) -> set[int]:
    """Return the messages of open groups that cannot be shown where they stand."""
    names = groups.names
    shown: set[int] = set()
    if not closed:
        answerable = {name for name in waiting if groups.state_of(name) == "open"}
        shown = answerable if form.whole_response else _last(names, standing, answerable)
    unseen = set(waiting) - shown
    return {at for at in standing if names[at] in unseen}


def _last(names: Sequence[int], standing: Sequence[int], answerable: set[int]) -> set[int]:
    """Return the group that the view ends with, if it is one that can still be answered."""
    newest = names[standing[-1]]
    return {newest} & answerable
