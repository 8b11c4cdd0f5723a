"""Sources: where on the web the source of a rule can be read."""

from __future__ import annotations

import re

__all__ = ["links_of"]

_ADDRESS = re.compile(r"https?://[^\s;,)]+")
_THREADS = re.compile(
    r"(?P<repo>[\w.-]+/[\w.-]+)\s+(?P<kind>issues?|pull requests?|PRs?|discussions?)\s+"
    r"(?P<numbers>#?\d+(?:(?:,\s*|\s+and\s+|,\s+and\s+)#?\d+)*)"
)
_FOLDERS = {"i": "issues", "p": "pull", "d": "discussions"}


def links_of(source: str) -> list[str]:
    """Return the addresses that a source names: its URLs, and its issues on GitHub.

    >>> links_of("openai/codex issues 620 and 7; the docs, https://example.org/a")
    ['https://example.org/a', 'https://github.com/openai/codex/issues/620', \
'https://github.com/openai/codex/issues/7']
    """
    found = [address.rstrip(".") for address in _ADDRESS.findall(source)]
    for thread in _THREADS.finditer(source):
        folder = _FOLDERS[thread["kind"][0].lower()]
        found += (
            f"https://github.com/{thread['repo']}/{folder}/{number}"
            for number in re.findall(r"\d+", thread["numbers"])
        )
    return found
