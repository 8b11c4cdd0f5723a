"""What differs between Claude models, by their names.

Knows: how to read a version out of a name.

Must not know: requests; nor the library's own table of model facts.
"""

from __future__ import annotations

import re

__all__ = ["refuses_prefill", "takes_system_messages"]

_NAME = re.compile(r"claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2}))?(?![\d])")


def _version(model: str) -> tuple[int, int]:
    found = _NAME.search(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def refuses_prefill(model: str) -> bool:
    """Tell whether a model refuses an assistant message at the end: Claude 4.6 and later.

    >>> refuses_prefill("claude-sonnet-4-6"), refuses_prefill("claude-sonnet-4-5-20250929")
    (True, False)
    """
    return _version(model) >= (4, 6)


def takes_system_messages(model: str) -> bool:
    """Tell whether a model takes system messages inside the list: Claude 4.8 and later.

    >>> takes_system_messages("claude-opus-4-8"), takes_system_messages("claude-3-7-sonnet-latest")
    (True, False)
    """
    return _version(model) >= (4, 8)
