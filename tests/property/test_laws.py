"""The laws, over every kind of history, in every format, under every profile."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spread import spread

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing import laws
from lockstitch.testing.ask_strategies import asks
from lockstitch.testing.render import SHAPES
from lockstitch.testing.strategies import KINDS
from lockstitch.testing.subject import Subject

in_every_format = pytest.mark.parametrize("format", sorted(SHAPES))
of_every_kind = pytest.mark.parametrize("kind", sorted(KINDS))
profiles = st.sampled_from(sorted(PROFILES))


@in_every_format
@of_every_kind
@given(data=st.data())
@spread(len(KINDS) * len(SHAPES))
def test_every_window_keeps_the_laws_under_every_profile(kind, format, data):
    subject = Subject(data.draw(KINDS[kind](format)), format)
    ask = data.draw(asks(subject, data.draw(profiles)))
    assert not laws.window(subject, ask)


@in_every_format
@of_every_kind
@given(data=st.data())
@spread(len(KINDS) * len(SHAPES))
def test_every_history_is_written_back_as_it_was(kind, format, data):
    history = data.draw(KINDS[kind](format))
    assert not laws.round_trip(history, format=format)


@in_every_format
@given(data=st.data())
@spread(len(SHAPES))
def test_text_is_cut_as_its_messages_are(format, data):
    history = [native for native in data.draw(KINDS["valid"](format)) if isinstance(native, dict)]
    subject = Subject(history, format)
    ask = data.draw(asks(subject, data.draw(profiles)))
    for indent in (None, 1):
        assert not laws.same_kind(json.dumps(history, indent=indent), subject, ask)


@in_every_format
@given(data=st.data())
@spread(len(SHAPES))
def test_a_valid_history_is_accepted_by_its_own_profile_and_the_portable_one(format, data):
    """The strategies keep their word, so that the laws are tried on what they say."""
    history = data.draw(KINDS["valid"](format))
    for profile in {"portable", format} & PROFILES.keys():
        assert ls.check(history, profile=profile, format=format).ok


@in_every_format
@given(data=st.data())
@spread(len(SHAPES))
def test_a_window_of_a_valid_history_is_accepted_by_the_profile_it_was_cut_for(format, data):
    history = data.draw(KINDS["valid"](format))
    limit = data.draw(st.integers(1, len(history)))
    for profile in {"portable", format} & PROFILES.keys():
        options = {"profile": profile, "format": format}
        window = ls.trim(history, max_messages=limit, on_overflow="smallest", **options)
        assert ls.check(window, **options).ok
