"""TOML, written: what a directive holds, which is text, numbers, lists of them and flat tables.

The standard library reads TOML and does not write it; a package for some twenty lines would be the
second thing that everyone who installs Lockstitch has to install.

Must not know: what is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["written"]


def written(held: Mapping[str, Any]) -> str:
    r"""Write a mapping whose tables are lists of flat ones.

    >>> written({"a": 1, "steps": [{"step": "x", "names": ["b"]}]})
    'a = 1\n\n[[steps]]\nstep = "x"\nnames = ["b"]\n'
    """
    tables = {key: value for key, value in held.items() if _is_tables(value)}
    lines = list(_lines({key: value for key, value in held.items() if key not in tables}))
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{key}]]", *_lines(row)]
    return "\n".join(lines) + "\n"


def _lines(held: Mapping[str, Any]) -> Iterator[str]:
    """Write fields; TOML has no word for what is not there."""
    for key, value in held.items():
        if value is not None:
            yield f"{key} = {_value(value)}"


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and isinstance(value[0], Mapping)


def _value(value: Any) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for one character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value)
