"""Hypothesis profiles: one that is quick and repeatable, one that searches far."""

import os

from hypothesis import settings

settings.register_profile(
    "default", max_examples=60, deadline=None, derandomize=True, print_blob=True
)
settings.register_profile("ci", settings.get_profile("default"))
settings.register_profile("long", max_examples=10_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
