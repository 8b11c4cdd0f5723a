"""Planning: the decision does not depend on where the walk began, and is the plain one."""

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_planner import TAKE_SIDES, TANGLED, reference
from spread import spread

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES
from lockstitch.strategies import planner
from lockstitch.testing.ask_strategies import asks
from lockstitch.testing.render import SHAPES
from lockstitch.testing.strategies import KINDS
from lockstitch.testing.subject import Subject

profiles = st.sampled_from(sorted(PROFILES))
# The plain planner takes no account of whose turn it is on either hand of a hole: for targets that
# ask for that, what must stay reaches further. Those have the laws, and the test before this one.
plain_profiles = st.sampled_from(sorted(set(PROFILES) - TAKE_SIDES))
in_every_format = pytest.mark.parametrize("format", sorted(SHAPES))
kinds = st.sampled_from(sorted(KINDS))


def _decision(subject, ask):
    """Return what a plan decides: the edits, or what would be needed."""
    try:
        return ls.plan(subject.source(), format=subject.format, **ask.arguments())
    except ls.CannotFit as error:
        return error.needed


@in_every_format
@given(data=st.data())
@spread(len(SHAPES))
def test_a_decision_from_the_tail_is_the_decision_over_the_whole(format, data):
    subject = Subject(data.draw(KINDS[data.draw(kinds)](format)), format)
    ask = data.draw(asks(subject, data.draw(profiles)))
    near = _decision(subject, ask)
    with mock.patch.object(planner, "run_start", return_value=0):
        whole = _decision(subject, ask)
    if isinstance(near, int) or isinstance(whole, int):
        assert near == whole
    else:
        assert near.kept == whole.kept


@in_every_format
@given(data=st.data())
@spread(len(SHAPES))
def test_a_decision_is_that_of_the_plain_planner(format, data):
    subject = Subject(data.draw(KINDS[data.draw(kinds)](format)), format)
    ask = data.draw(asks(subject, data.draw(plain_profiles)))
    expected = reference(subject, ask)
    if expected == TANGLED:
        return
    decision = _decision(subject, ask)
    assert (decision if isinstance(decision, int) else decision.kept) == expected
