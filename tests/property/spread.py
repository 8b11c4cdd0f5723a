"""How many examples each test draws of a law that is spread over many tests."""

from hypothesis import HealthCheck, settings

# In the short run; a law is spread over dozens of tests, each of which draws from every profile.
_LEAST = 30


def spread(tests):
    """Settings for one of so many tests, which draw together what the profile asks of a law.

    A history and what is asked of it are drawn one after the other, which Hypothesis finds slow.
    """
    asked = settings().max_examples
    return settings(
        max_examples=max(-(-asked // tests), min(asked, _LEAST)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
