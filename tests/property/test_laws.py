"""The laws, over every kind of history, in every format, under every profile."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lockstitch as ls
from lockstitch.rules.profiles import PROFILES
from lockstitch.testing import laws
from lockstitch.testing.ask_strategies import asks
from lockstitch.testing.render import SHAPES
from lockstitch.testing.strategies import KINDS
from lockstitch.testing.subject import Subject

in_every_format = pytest.mark.parametrize("format", sorted(SHAPES))
of_every_kind = pytest.mark.parametrize("kind", sorted(KINDS))
for_every_profile = pytest.mark.parametrize("profile", sorted(PROFILES))
# A history and what is asked of it are drawn one after the other, which Hypothesis finds slow.
slowly = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@for_every_profile
@in_every_format
@of_every_kind
@given(data=st.data())
@slowly
def test_every_window_keeps_the_laws(kind, format, profile, data):
    subject = Subject(data.draw(KINDS[kind](format)), format)
    ask = data.draw(asks(subject, profile))
    assert not laws.window(subject, ask)


@in_every_format
@of_every_kind
@given(data=st.data())
@slowly
def test_every_history_is_written_back_as_it_was(kind, format, data):
    history = data.draw(KINDS[kind](format))
    assert not laws.round_trip(history, format=format)


@in_every_format
@given(data=st.data())
@slowly
def test_every_history_that_is_text_is_cut_as_its_messages_are(format, data):
    history = [native for native in data.draw(KINDS["valid"](format)) if isinstance(native, dict)]
    if not history:
        return
    source = data.draw(st.sampled_from([ls.dump, None])) and _as_json(history)
    subject = Subject(history, format)
    assert not laws.same_kind(source or history, subject, data.draw(asks(subject, "portable")))


def _as_json(history):
    import json

    return json.dumps(history, ensure_ascii=False, indent=1)


@in_every_format
@given(data=st.data())
@slowly
def test_a_valid_history_is_accepted_by_its_own_profile_and_the_portable_one(format, data):
    """The strategies keep their word, so that the laws are tried on what they say."""
    history = data.draw(KINDS["valid"](format))
    for profile in {"portable", format} & PROFILES.keys():
        assert ls.check(history, profile=profile, format=format).ok


@in_every_format
@given(data=st.data())
@slowly
def test_a_valid_history_loses_its_damage_nowhere(format, data):
    """A window of a valid history is valid for every profile that took the whole."""
    history = data.draw(KINDS["valid"](format))
    limit = data.draw(st.integers(1, len(history)))
    window = ls.trim(history, max_messages=limit, on_overflow="smallest", format=format)
    for profile in {"portable", format} & PROFILES.keys():
        assert profile != "portable" or ls.check(window, profile=profile, format=format).ok
