"""Facts: the fast reading of a message says what its parts say."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from spread import spread

from lockstitch.facts import ANSWER, CHILD, FINAL, TOOL, USER, Link, facts_with
from lockstitch.formats import FORMATS
from lockstitch.formats.base import facts_of
from lockstitch.testing.render import SHAPES
from lockstitch.testing.strategies import KINDS


def told(form, native):
    """Return role, ends and reasoning as the fast reading has them."""
    facts = form.facts(native)
    return facts.role, _told(facts.ends), facts.reasoning


def derived(form, native):
    """Return the same as they follow from the parts, by the definition."""
    role = form.facts(native).role
    # Whether a user's message holds nothing but answers is for the definition to find.
    said = USER if role == TOOL and form.name == "anthropic" else role
    facts = facts_of(said, form.parts(native))
    return facts.role, _told(facts.ends), facts.reasoning


def _told(ends):
    # Links to parents have no part of their own; a name matters only where there is no id; whether
    # a denial closes its call is the format's to know (an event's is followed by a result).
    return [
        msgspec.structs.replace(
            end,
            name=None if end.id is not None else end.name,
            state=FINAL if end.kind == ANSWER else end.state,
        )
        for end in ends
        if end.kind != CHILD
    ]


@pytest.mark.parametrize("format", sorted(SHAPES))
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
@spread(len(KINDS) * len(SHAPES))
def test_facts_of_a_message_follow_from_its_parts(kind, format, data):
    form = FORMATS[format]
    for native in data.draw(KINDS[kind](format)):
        assert told(form, native) == derived(form, native)


@given(
    st.lists(
        st.builds(Link, st.sampled_from(["call", "result"]), st.just("function"), st.just("a"))
    )
)
def test_facts_by_ids_alone_say_what_the_links_say(links):
    assert facts_with("assistant", tuple(links)).ends == tuple(links)
