"""Hypothesis profiles: one that is quick and repeatable, one that searches far; no network.

The fixtures of servers that tests run against come from tests/servers/fixtures.py.
"""

import os

import pytest
from hypothesis import settings

# The test kit asserts too: a failure says what was compared.
pytest.register_assert_rewrite("lockstitch.testing")

pytest_plugins = ["servers.fixtures"]  # found through `pythonpath` in pyproject.toml

# LiteLLM fetches its price list when it is imported, unless it is told to take the one it brings.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, print_blob=True
)
settings.register_profile("ci", settings.get_profile("default"))
settings.register_profile("long", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
