"""Pairing: the walk against a plainer one, from the tail against from the front."""

from hypothesis import given
from hypothesis import strategies as st
from reference_pairing import Reference

from lockstitch.facts import ASSISTANT, TOOL, USER
from lockstitch.grouping import ABANDONED, OPEN, ORPHAN, Ties, group
from lockstitch.pairing import pair
from lockstitch.testing.facts_strategies import facts_lists


def _names(pairing):
    """Return for each position the first one of its group, ties beyond the first included."""
    names = list(pairing.names)
    for _ in names:
        for one, other in pairing.edges:
            a, b = names[one - pairing.start], names[other - pairing.start]
            names = [min(a, b) if name in {a, b} else name for name in names]
    return names


def _how(tie):
    if tie.duplicate:
        return "duplicate"
    return "foreign" if tie.foreign else tie.link.kind


@given(facts_lists(), st.booleans())
def test_the_walk_groups_what_the_plain_reading_groups(facts, whole):
    reference = Reference(facts, whole_response=whole)
    assert _names(pair(facts, whole_response=whole)) == reference.components()


@given(facts_lists())
def test_the_walk_ties_every_answer_to_what_the_plain_reading_ties_it_to(facts):
    found = [
        (
            tie.message,
            tie.ordinal,
            (tie.call.message, tie.call.ordinal) if tie.call else None,
            _how(tie),
        )
        for tie in pair(facts).ties
    ]
    assert found == Reference(facts).ties


@given(facts_lists())
def test_the_walk_leaves_waiting_what_the_plain_reading_leaves_waiting(facts):
    found = {(end.message, end.ordinal): can for end, can in pair(facts).waiting()}
    assert found == Reference(facts).waiting()


@given(facts_lists())
def test_the_walk_finds_the_orphans_of_the_plain_reading(facts):
    assert set(pair(facts).unmet) == Reference(facts).orphans


@given(facts_lists(), st.booleans())
def test_passing_over_settled_rounds_changes_no_group(facts, whole):
    quick = pair(facts, whole_response=whole, detail=False)
    assert _names(quick) == _names(pair(facts, whole_response=whole))


@given(facts_lists(), st.booleans())
def test_passing_over_settled_rounds_changes_no_state(facts, whole):
    ties = Ties(whole, bound_system=False)
    assert group(facts, 0, ties, detail=False).states == group(facts, 0, ties).states


def _legal_starts(facts):
    """A walk may begin at a user message without answers, or where the model begins to speak."""
    for at in range(1, len(facts)):
        plain_user = facts[at].role == USER and not facts[at].linked
        begins = facts[at].role == ASSISTANT and facts[at - 1].role in {USER, TOOL}
        if plain_user or begins:
            yield at


@given(facts_lists(), st.booleans(), st.booleans())
def test_a_walk_from_the_tail_groups_the_tail_as_the_whole_walk_does(facts, whole, detail):
    ties = Ties(whole, bound_system=False)
    full = group(facts, 0, ties)
    for start in _legal_starts(facts):
        tail = group(facts[start:], start, ties, detail=detail)
        if tail.pairing.unmet:
            continue
        assert tail.names == full.names[start:]
        states = {name: state for name, state in full.states.items() if name >= start}
        assert tail.states == states


@given(facts_lists())
def test_a_walk_from_the_tail_reports_whatever_it_cannot_tell(facts):
    """Where the whole walk ties the tail to what lies before it, the tail's walk has unmet ends."""
    full = group(facts, 0)
    for start in _legal_starts(facts):
        crosses = any(name < start for name in full.names[start:])
        assert not crosses or group(facts[start:], start).pairing.unmet


@given(facts_lists())
def test_every_state_is_one_of_four(facts):
    assert set(group(facts).states.values()) <= {OPEN, ABANDONED, ORPHAN}
