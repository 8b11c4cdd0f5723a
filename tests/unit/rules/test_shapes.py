"""Which targets take messages in which shape."""

import pytest

from lockstitch.formats import FORMATS
from lockstitch.rules.profiles import PROFILES
from lockstitch.rules.shapes import _TARGETS, can_be_written


def test_the_table_names_formats_that_there_are():
    assert set(_TARGETS) <= set(FORMATS)


@pytest.mark.parametrize("format", FORMATS)
def test_portable_takes_every_format_and_each_format_has_a_target(format):
    assert can_be_written("portable", format)
    assert sum(can_be_written(profile, format) for profile in PROFILES) >= 1


@pytest.mark.parametrize("profile", PROFILES)
def test_the_shape_of_chat_is_taken_for_every_target(profile):
    assert can_be_written(profile, "openai-chat")
    assert can_be_written(profile, "langchain")


@pytest.mark.parametrize("name", [name for name in PROFILES if name in FORMATS])
def test_a_target_takes_its_own_format(name):
    assert can_be_written(name, name)
