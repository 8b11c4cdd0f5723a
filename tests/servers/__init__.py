"""Real servers for tests: Valkey, Redis and PostgreSQL, started where and when a test wants one.

`fixtures.py` is what tests use; the other modules know nothing of pytest.
"""
