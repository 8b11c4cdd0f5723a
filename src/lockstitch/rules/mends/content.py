"""Mends of content: what of a message cannot be sent, and nothing else of it.

Each takes a draft and a breach, changes the draft and accounts for it, or returns False where it
cannot help. Must not know: which rule calls for which mend (`mends`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lockstitch.rules.ids import IdShape, fitting
from lockstitch.rules.mends.links import drop_part
from lockstitch.transcript import Reasoning, Text, ToolCall, ToolResult
from lockstitch.writing import edited, inside, text_of, without

if TYPE_CHECKING:
    from lockstitch.rules.breach import Breach
    from lockstitch.rules.draft import Draft

__all__ = [
    "EMPTY",
    "bring_back_seal",
    "drop_key",
    "drop_message",
    "drop_text",
    "fill",
    "results_first",
    "say_nothing",
    "shorten_name",
    "strip_end",
    "well_formed",
    "wrap_arguments",
    "write_arguments",
]

EMPTY = "(empty)"
"""What stands where a message must say something and had nothing to say."""


def drop_message(draft: Draft, breach: Breach) -> bool:
    """Drop a message that holds nothing, unless nothing would be left to answer."""
    if draft.lonely(breach.entry):
        return False
    draft.remove(breach.entry)
    draft.note(
        "drop", breach.rule.id, breach.entry, breach.finding.message, "", before=breach.entry.native
    )
    return True


def drop_text(draft: Draft, breach: Breach) -> bool:
    """Drop text that says nothing, unless nothing would be left to answer."""
    rest = [part for part in draft.parts(breach.entry) if part.path != breach.finding.path]
    if draft.writer.says_nothing(rest) and draft.lonely(breach.entry):
        return False
    return drop_part(draft, breach)


def fill(draft: Draft, breach: Breach) -> bool:
    """Put a visible placeholder where a message must say something."""
    part = breach.part()
    path = part.path if part is not None else breach.finding.path or draft.writer.key
    fields = draft.fields(breach.entry)
    before = breach.entry.native
    if isinstance(part, ToolResult):
        changed = draft.writer.result(fields, part, EMPTY)
    elif path.endswith("]"):
        changed = edited(fields, path, draft.writer.text(EMPTY))
    else:
        changed = draft.writer.with_text(fields, EMPTY)
    draft.rewrite(breach.entry, changed)
    message = f"the message said nothing and now says {EMPTY!r}"
    draft.note(
        "replace",
        breach.rule.id,
        breach.entry,
        message,
        path,
        before=before,
        after=breach.entry.native,
    )
    return True


def say_nothing(draft: Draft, breach: Breach) -> bool:
    """Write empty text for null."""
    return _replace(draft, breach, breach.finding.path, "", 'null was written as ""')


def _replace(draft: Draft, breach: Breach, path: str, value: Any, message: str) -> bool:
    fields = draft.fields(breach.entry)
    before = _held(fields, path)
    draft.rewrite(breach.entry, edited(fields, path, value))
    draft.note("replace", breach.rule.id, breach.entry, message, path, before=before, after=value)
    return True


def _held(fields: dict[str, Any], path: str) -> Any:
    try:
        return inside(fields, path)
    except (KeyError, IndexError):
        return None


def drop_key(draft: Draft, breach: Breach) -> bool:
    """Take a field away that the target does not take."""
    path = breach.finding.path
    fields = draft.fields(breach.entry)
    before = _held(fields, path)
    draft.rewrite(breach.entry, without(fields, [path]))
    message = f"{path} was taken out: {breach.finding.message}"
    draft.note("drop", breach.rule.id, breach.entry, message, path, before=before)
    return True


def results_first(draft: Draft, breach: Breach) -> bool:
    """Move the results of a message in front of everything else in it."""
    fields = draft.fields(breach.entry)
    results = {part.path for part in draft.parts(breach.entry) if isinstance(part, ToolResult)}
    key = draft.writer.key
    first: list[Any] = []
    rest: list[Any] = []
    for at, block in enumerate(draft.writer.blocks(fields)):
        (first if f"{key}[{at}]" in results else rest).append(block)
    before = breach.entry.native
    draft.rewrite(breach.entry, draft.writer.with_blocks(fields, [*first, *rest]))
    message = "the results were moved in front of what else the message holds"
    draft.note(
        "move", breach.rule.id, breach.entry, message, key, before=before, after=breach.entry.native
    )
    return True


def bring_back_seal(draft: Draft, breach: Breach) -> bool:
    """Bring reasoning back from the record, with the signature it was issued with."""
    part = breach.part()
    if breach.record is None or not isinstance(part, Reasoning):
        return False
    found = breach.record.thought(part)
    if found is None:
        return False
    return _replace(
        draft, breach, part.path, found, "the reasoning was brought back from the record"
    )


def shorten_name(draft: Draft, breach: Breach) -> bool:
    """Give a call a name that the target takes."""
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    shape = IdShape("a-zA-Z0-9_-", 1, 64)
    plain = re.sub(r"[^a-zA-Z0-9_-]+", "_", str(part.name or "tool")).strip("_")[:64] or "tool"
    name = fitting(plain, shape)
    before = breach.entry.native
    draft.rewrite(breach.entry, draft.writer.recalled(draft.fields(breach.entry), part, name))
    message = f"the name of the call was written as {name!r}"
    draft.note(
        "rename",
        breach.rule.id,
        breach.entry,
        message,
        part.path,
        before=before,
        after=breach.entry.native,
    )
    return True


def write_arguments(draft: Draft, breach: Breach) -> bool:
    """Write arguments as JSON text where they are an object."""
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    return _rearrange(draft, breach, part, json.dumps(part.arguments, ensure_ascii=False))


def wrap_arguments(draft: Draft, breach: Breach) -> bool:
    """Keep arguments that are no JSON as text inside an object."""
    part = breach.part()
    if not isinstance(part, ToolCall):
        return False
    kept = {"_unparsed": text_of(part.arguments)}
    return _rearrange(draft, breach, part, json.dumps(kept, ensure_ascii=False))


def _rearrange(draft: Draft, breach: Breach, part: ToolCall, arguments: Any) -> bool:
    fields = draft.writer.rearranged(draft.fields(breach.entry), part, arguments)
    draft.rewrite(breach.entry, fields)
    message = "the arguments were written as JSON text"
    draft.note(
        "replace",
        breach.rule.id,
        breach.entry,
        message,
        part.path,
        before=part.arguments,
        after=arguments,
    )
    return True


def strip_end(draft: Draft, breach: Breach) -> bool:
    """Take the white space at the end of a text away."""
    part = breach.part()
    if not isinstance(part, Text) or part.text is None:
        return False
    path = f"{part.path}.text" if part.path.endswith("]") else part.path
    text = part.text.rstrip()
    draft.rewrite(breach.entry, edited(draft.fields(breach.entry), path, text))
    message = "white space at the end of the text was taken away"
    draft.note(
        "replace", breach.rule.id, breach.entry, message, part.path, before=part.text, after=text
    )
    return True


def well_formed(draft: Draft, breach: Breach) -> bool:
    """Write U+FFFD for every half of a surrogate pair."""
    before = breach.entry.native
    draft.rewrite(breach.entry, _mended(draft.fields(breach.entry)))
    message = "halves of surrogate pairs were replaced by U+FFFD"
    draft.note(
        "replace",
        breach.rule.id,
        breach.entry,
        message,
        breach.finding.path,
        before=before,
        after=breach.entry.native,
    )
    return True


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mended(inner) for inner in value]
    return value
