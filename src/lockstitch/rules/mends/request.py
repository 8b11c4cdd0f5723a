"""Mends of the request around the list: what it must say for the sake of the history.

Each takes a draft and a breach, changes the draft and accounts for it. Must not know: which rule
calls for which mend (`mends`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lockstitch.facts import FUNCTION
from lockstitch.transcript import ToolCall

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = ["define_tools"]

GONE = "Used earlier in this conversation; not available now."
"""What a tool that is defined for the sake of the history says of itself."""
UNNAMED = "tool"
"""How a tool is defined of which only results are left."""


def define_tools(draft: Draft, breach: Breach) -> bool:
    """Define the tools of the history in the request, by name, taking any input."""
    names = sorted(
        {
            part.name
            for entry in draft.entries
            for part in draft.parts(entry)
            if isinstance(part, ToolCall) and part.family == FUNCTION and part.name
        }
    )
    key, tools = draft.writer.defined(names or [UNNAMED], GONE)
    message = "the tools of the history were defined in the request, which had none"
    draft.ask(key, tools, "synthesize", breach.rule.id, message)
    return True
