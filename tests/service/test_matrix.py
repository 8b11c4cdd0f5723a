"""What the matrix measures with thousands of histories holds for a few of every provider."""

import pytest
from matrix import providers, tried

COUNT = 40


@pytest.mark.parametrize("provider", providers(), ids=lambda provider: provider.name)
def test_what_was_refused_is_taken_when_it_was_mended_and_when_it_was_cut(provider):
    found = tried(provider, COUNT)
    assert found["histories"] == COUNT
    said = [key for key, times in found.items() if key.startswith("said") and times]
    assert (found["mended and taken"], found["cut and taken"]) == (COUNT, COUNT), said
