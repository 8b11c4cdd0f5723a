"""The scripts that run on the server, as text and by the names that the server gives them.

Knows: which parts a script is made of. They lie beside this module, one file each.

Must not know: clients.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Final

from lockstitch.stores.base import LOOK_BACK, TAIL

__all__ = ["SCHEMA", "SCRIPTS"]

SCHEMA: Final = 1
"""How a session is laid out; a session of a later layout is refused before anything is written."""

_PARTS: Final = {
    "commit": ("session", "reading", "commit"),
    "view": ("session", "reading", "view"),
    "rows": ("session", "reading", "rows"),
    "events": ("session", "events"),
    "delete": ("session", "delete"),
    "touch": ("session", "touch"),
}


def _sources() -> dict[str, tuple[str, str]]:
    """Return the digest and the text of every script."""
    folder = files("lockstitch.stores.redis") / "scripts"
    known = f"local SCHEMA, LOOK_BACK, TAIL = {SCHEMA}, {LOOK_BACK}, {TAIL}\n"
    found = {}
    for name, parts in _PARTS.items():
        texts = [(folder / f"{part}.lua").read_text(encoding="utf-8") for part in parts]
        text = known + "".join(texts)
        digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        found[name] = digest, text
    return found


SCRIPTS: Final = _sources()
