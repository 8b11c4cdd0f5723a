"""The test kit: builders, Hypothesis strategies, and the runners over cases and corpora."""

from __future__ import annotations

from lockstitch.testing.builders import assistant, call, result, system, user

__all__ = ["assistant", "call", "result", "system", "user"]
